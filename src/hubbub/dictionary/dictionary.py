"""What a data dictionary declares about a table, as words that a release could have been asked with.

A dictionary changes no meaning: each thing that it declares stands for an option that somebody could have typed, and a
release that rests on it has the spec of the one that spells everything out. So whatever it declares is public by
declaration, and stands in the certificate. What is typed goes before it.

A first data dictionary of a table, from the names and the types of its columns; what only data could say is asked.

A table held against its data dictionary, for its steward alone: what is declared and is not so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Discovered, parse, with_reading
from hubbub.tables.cell_format import Missing
from hubbub.tables.schema import ColumnType, Schema, check, unnamed_person

if TYPE_CHECKING:
    from hubbub.tables.inspection import Cells, Persons

_BINNED: Final = ("by", "columns")
"""Options that name columns by their bins; a column that is only named has those of the dictionary."""

_MEASURED: Final = ("of", "per", "weight")
"""Options that name a column by its range."""

_NUMBER: Final = re.compile(r"(\s*(?:\w+\s*=\s*)?(?:sum|mean)\s+)(.+)", re.DOTALL)
"""A NUMBER of a summary that is of a column."""

_COLLECTED: Final = ("collected", "collected_between", "exempt")
_ALONE: Final = ("sample", "rows_per_person", "rows_per_bin")
"""What a release cannot have beside a sample that somebody else drew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column, as declared: its `bins` and its `range` as a release is asked for them, and what its cells are."""

    name: str
    title: str = ""
    bins: str | None = None  # SPEC, as in `by`
    range: str | None = None  # RANGE, as in `of`
    reads: str = ""  # how cells of a column of text are written
    held: str | None = None  # SPEC that every cell must be in, for hubbub check
    missing: tuple[str, ...] | None = None  # how missing cells are spelled, if not as in the other columns
    required: bool = False
    unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """What is declared about one table; `where` is the file that says it, for people."""

    where: str = ""
    fields: tuple[Field, ...] = ()
    missing: tuple[str, ...] = ()
    person: str | None = None
    rows_are_people: bool = False
    keys: tuple[str, ...] = ()  # the primary key
    partners: tuple[tuple[str, str], ...] = ()  # of foreign keys: (column, the table that it is a key of)
    opening: tuple[tuple[str, Any], ...] = ()  # other words of hubbub.open
    collected: tuple[tuple[str, Any], ...] = ()

    def field(self, name: str) -> Field | None:
        """The column of that name, if it is declared."""
        return next((each for each in self.fields if each.name == name), None)

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """What columns are called, in reports."""
        return tuple((each.name, each.title) for each in self.fields if each.title)

    @property
    def spellings(self) -> tuple[str, ...]:
        """How missing cells are spelled, as `missing` takes it."""
        own = any(each.missing is not None for each in self.fields)
        if not own:
            return tuple(Missing(((None, self.missing),)).to_json()) if self.missing else ()
        listed = ((each.name, self.missing if each.missing is None else each.missing) for each in self.fields)
        return tuple(Missing(tuple((name, spelled) for name, spelled in listed if spelled)).to_json())

    def with_second(self, other: Dictionary) -> Dictionary:
        """This and that of a table which is joined with it."""
        if not other.where:
            return self
        of_columns = tuple(
            replace(each, missing=found.missing if each.missing is None else each.missing)
            for found in (self, other)
            for each in found.fields
        )
        return replace(self, fields=of_columns, missing=())

    def open_words(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What hubbub.open is told, with what the dictionary says where nothing was said."""
        found = dict(given)
        if found.get("person") is None and not found.get("rows_are_people"):
            found |= {"person": self.person, "rows_are_people": self.rows_are_people}
        if not found.get("missing"):
            found["missing"] = self.spellings
        return found | {name: value for name, value in self.opening if not found.get(name)}

    def with_words(self, words: Mapping[str, Any]) -> Dictionary:
        """This with what hubbub.open was told, which goes before it."""
        how = {name: value for name, value in words.items() if value and name not in ("person", "rows_are_people")}
        return replace(self, opening=tuple(how.items()))

    def with_collected(self, rate: Any, between: Any, exempt: Any) -> Dictionary:
        """This with how people came into the table, where hubbub.open was told."""
        words = {"collected": rate, "collected_between": between, "exempt": exempt}
        given = tuple((name, value) for name, value in words.items() if value is not None)
        return replace(self, collected=given) if given else self

    def say(self, name: str) -> Any:
        """What is declared about opening the table, by its name in hubbub.open; None if nothing is."""
        return dict(self.opening).get(name)

    def offer(self) -> str:
        """The primary key, as who a person may be: that each row has its own says nothing of who they are."""
        if len(self.keys) != 1:
            return ""
        return (
            f"; its dictionary has the key {self.keys[0][:60]!r}: is that a person, or something that happens to one?"
        )

    def fill_options(self, options: Sequence[Option], given: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        """The words that ask for a release, spelled out: bins, ranges and how people were collected.

        Guarantee: none of its own. The result is words that somebody could have typed, so that the spec, its promises
        and its certificate are those of these words; nothing in them comes from the rows of the table.
        """
        found, takes = dict(given), {option.name: option for option in options}
        for name in _BINNED:
            if name in takes and (text := found.get(name)):
                found[name] = self._fill_bins(text, schema) if takes[name].many else text
        for name in _MEASURED:
            if name in takes and isinstance(found.get(name), str):
                found[name] = self.range(found[name], schema)
        if "number" in takes and isinstance(found.get("number"), list | tuple):
            found["number"] = [self._fill_range(each, schema) for each in found["number"]]
        if isinstance(found.get("spec"), Mapping):
            found["spec"] = {
                **found["spec"],
                "question": [self._question(each, schema) for each in found["spec"]["question"]],
            }
        said = any(found.get(name) for name in (*_COLLECTED[:2], *_ALONE))
        if not said and all(name in takes for name in _COLLECTED):
            found |= dict(self.collected)
        return found

    def _question(self, given: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        """A question on a sample, with the bins and the range of columns that it only names."""
        found = dict(given)
        if isinstance(found.get("by"), list):
            found["by"] = self._fill_bins(found["by"], schema)
        if isinstance(found.get("of"), str):
            found["of"] = self.range(found["of"], schema)
        return found

    def _fill_range(self, given: Any, schema: Schema) -> Any:
        """A NUMBER of a summary, with the range of a column that it only names."""
        found = _NUMBER.fullmatch(given) if isinstance(given, str) else None
        return given if found is None else f"{found[1]}{self.range(found[2], schema)}"

    def _fill_bins(self, given: Any, schema: Schema) -> Any:
        """Each column that stands alone, with its bins."""
        if isinstance(given, str):
            return given
        return type(given)(self.bins(each, schema) if isinstance(each, str) else each for each in given)

    def bins(self, spec: str, schema: Schema) -> str:
        """The bins that a SPEC means: its own, or those that are declared for the column that it names."""
        axis = parse(spec) if self.fields else None
        if not isinstance(axis, Discovered) or axis.unit is not None or axis.coarser is not None:
            return spec
        found = self.field(axis.column)
        return spec if found is None or found.bins is None else _read(found.bins, found, schema)

    def range(self, spec: str, schema: Schema) -> str:
        """The range that a RANGE means: its own, or the one that is declared for the column that it names."""
        axis = parse(spec) if self.fields else None
        found = self.field(axis.column) if isinstance(axis, Discovered) else None
        return spec if found is None or found.range is None else _read(found.range, found, schema)


def _read(spec: str, field: Field, schema: Schema) -> str:
    """The bins, with how the cells of a column of text are written."""
    if not field.reads or schema.get(field.name) is not ColumnType.TEXT:
        return spec
    return with_reading(spec, field.reads)


def held_as(field: Field, schema: Schema) -> str | None:
    """What every cell of a column must be in, as bins; None if nothing is declared, or the column's own type says it."""
    column_type = schema.get(field.name)
    if field.held is None or column_type is None:
        return None
    spec = _read(field.held, field, schema)
    try:
        check(parse(spec), column_type)
    except WrongUse:
        return None
    return spec


NONE: Final = Dictionary()
"""A table about which nothing is declared."""


_TYPES: Final = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "integer",
    ColumnType.DECIMAL: "number",
    ColumnType.FLOAT: "number",
    ColumnType.DATE: "date",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.OTHER: "any",
}


def describe(
    schema: Schema, *, public: Mapping[str, Sequence[str]] = {}, words: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """The description of a table, with questions where a steward has to say something that no `words` answer yet.

    `public` has the values of columns whose values are declared to be public.

    Guarantee: without `public` it is a function of the schema and of these words alone.
    """
    questions = [] if words.get("person") or words.get("rows_are_people") else [_who(schema)]
    fields = []
    for column, column_type in schema.items():
        field: dict[str, Any] = {"name": column, "type": _TYPES[column_type]}
        if column in public:
            field |= {"constraints": {"enum": list(public[column])}, "hubbub": {"public": True}}
        elif asked := _question(column_type):
            field["hubbub"] = {"questions": [asked]}
        fields.append(field)
    questions.append("Which cells mean that something is missing? List them as missingValues of the schema.")
    return {"schema": {"fields": fields, "missingValues": [""]}, "hubbub": {"questions": questions}}


def _who(schema: Schema) -> str:
    named = unnamed_person(schema)
    may = f" It may be {named}." if named else ""
    return f"Who is a person? Say person: the column that says it; or rows_are_people: true.{may}"


def _question(column_type: ColumnType) -> str:
    if column_type is ColumnType.TEXT:
        return (
            "Is it a number or a date? Then change its type, and say its format. Which values can it have? List those "
            "that are public as constraints.enum."
        )
    if column_type in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT):
        return (
            "Between which numbers can it lie, by what it means? Say constraints.minimum and maximum, the step in which "
            "it counts, and its bins, like 0..90:10."
        )
    return (
        "Which periods are public? Say its bins, like month:2024-01..2024-12." if column_type is ColumnType.DATE else ""
    )


def package_text(package: Mapping[str, Any]) -> str:
    """As a file."""
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def held_specs(declared: Dictionary, schema: Schema) -> list[tuple[str, str]]:
    """The columns whose cells are looked at, each with the bins that every cell must be in."""
    found = [(each, held_as(each, schema)) for each in declared.fields if each.name in schema]
    return [(each.name, spec or _name_columns(each.name)) for each, spec in found if spec or each.required]


def _name_columns(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def held_keys(declared: Dictionary, schema: Schema) -> list[str]:
    """The columns in which no two rows have the same."""
    return [each.name for each in declared.fields if each.unique and each.name in schema]


def broken(declared: Dictionary, schema: Schema, cells: Sequence[Cells], keys: Sequence[Persons]) -> Iterator[str]:
    """One sentence for each thing that is declared and is not so."""
    names = [each.name for each in declared.fields]
    if absent := [name for name in names if name not in schema]:
        yield f"The dictionary lists {', '.join(absent)}, and the table has no such column."
    if more := [name for name in schema if name not in names]:
        yield f"The table has {', '.join(more)}, and the dictionary does not list it."
    for each in cells:
        field = declared.field(each.column)
        if field is not None:
            yield from _broken(field, each)
    for key in keys:
        if many := sum(people for rows, people in key.rows if rows > 1):
            yield f"{key.column}: each row should have its own, and {many:,} are in several rows."


def _broken(field: Field, cells: Cells) -> Iterator[str]:
    if field.required and cells.missing:
        yield f"{field.name}: {_cells(cells.missing)} missing, and the dictionary says that none is."
    if cells.unreadable:
        yield f"{field.name}: {_cells(cells.unreadable)} not written as the dictionary says."
    if cells.outside:
        yield f"{field.name}: {_cells(cells.outside)} none of the values that the dictionary allows."


def _cells(many: int) -> str:
    return "1 cell is" if many == 1 else f"{many:,} cells are"
