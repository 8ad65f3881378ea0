"""What a data dictionary declares about a table, as words that a release could have been asked with.

A dictionary changes no meaning: each thing that it declares stands for an option that somebody could have typed, and a
release that rests on it has the spec of the one that spells everything out. So whatever it declares is public by
declaration, and stands in the certificate. What is typed goes before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Discovered, parse, with_reading
from hubbub.tables.cell_format import Missing
from hubbub.tables.schema import ColumnType, Schema, check

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
