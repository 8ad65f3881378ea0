"""The parts of a form, found among the options of a kind: bins, a measured column, a condition, coordinates, several
rows of a person, a promise. Whatever no part asks for is a field of its own. Nothing here knows a kind by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hubbub.protocol.option import HOW, WHERE, Option
from hubbub.protocol.spec import TABLE, Kind
from hubbub.runtime.frozen import dataclass
from hubbub.studio.folder import Folder
from hubbub.studio.forms.bins import Column, chosen, quoted, specs
from hubbub.studio.forms.fields import options_of
from hubbub.studio.forms.guided import Question, protection
from hubbub.studio.forms.misfilled import Misfilled

SIGNS: Final = {
    "=": "is",
    "!=": "is not",
    ">=": "is at least",
    ">": "is above",
    "<=": "is at most",
    "<": "is below",
    "missing": "is missing",
    "there": "is not missing",
}
_AXES: Final = ("x", "y")
_ROWS: Final = (
    "one_row_per_person", "distinct", "rows_per_person", "any_row", "rows_called", "count_rows", "unique_person",
)  # fmt: skip
_SEVERAL: Final = {
    "": ("No, one row each", "If somebody has more, the table is refused and nothing is spent."),
    "rows": ("Yes: count the rows", "Counts visits, calls or purchases. At most so many of each person count:"),
    "bins": ("Yes: count the people", "Counts who was ever there. Each person counts in at most so many bins:"),
    "one": ("Yes: keep one row of each", "Counts each person once, by one of their rows, chosen in secret."),
    "unique": (
        "No, and do not check it",
        "Faster for large tables. You declare it, and the certificate says that nobody checked. The promise holds only "
        "if no person has two rows.",
    ),
}

_FLAGS: Final = {"one": "one_row_per_person", "unique": "unique_person"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to deal with people of several rows, and the option that takes its number, if it has one."""

    name: str
    title: str
    description: str
    number: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a form asks; each is the name of an option, or "" where the kind has none such."""

    by: str = ""
    record: str = ""
    measure: str = ""
    per: str = ""
    condition: str = ""
    point: str = ""
    several: tuple[Choice, ...] = ()
    plain: tuple[Option, ...] = ()  # fields about what is published
    plain_promise: tuple[Option, ...] = ()  # fields about how people are protected, and where it goes
    more: tuple[Option, ...] = ()  # few need them

    @property
    def names(self) -> frozenset[str]:
        """The fields that are asked for by themselves."""
        return frozenset(option.name for option in (*self.plain, *self.plain_promise, *self.more))


def parts_of(question: Question, kind: Kind) -> Parts:
    """The parts of the form for a question."""
    options = {option.name: option for option in kind.options if not option.for_cluster}
    by = _first(kind, lambda each: each.many and (each.metavar or "").startswith("SPEC"))
    record = _first(kind, lambda each: each.metavar == "LIST")
    measure = _first(kind, lambda each: each.name == "of" and each.metavar == "RANGE")
    per = _first(kind, lambda each: each.name == "per" and each.metavar == "RANGE")
    condition = _first(kind, lambda each: each.metavar == "CONDITION")
    point = "columns" if {"columns", "box", "grid"} <= set(options) else ""
    claimed = {by, record, measure, per, condition, *(("columns", "box", "grid") if point else ())}
    several = _several(options, bool(measure)) if kind.data == TABLE else ()
    claimed |= {name for name in _ROWS if name in options} if several else set()
    claimed |= {name for names in question.ways.values() for name in names}
    claimed |= {"outlier"} if "rare" in question.ways else set()
    claimed |= set(question.fixed)
    left = [option for option in options.values() if option.name not in claimed]
    usual = [option for option in left if not option.advanced]
    return Parts(
        by=by,
        record=record,
        measure=measure,
        per=per,
        condition=condition,
        point=point,
        several=several,
        plain=tuple(option for option in usual if option.group not in (HOW, WHERE)),
        plain_promise=tuple(option for option in usual if option.group in (HOW, WHERE)),
        more=tuple(option for option in left if option.advanced),
    )


def _first(kind: Kind, fits: Any) -> str:
    return next((option.name for option in kind.options if fits(option)), "")


def _several(options: Mapping[str, Option], measured: bool) -> tuple[Choice, ...]:
    """The ways that a kind has; people with a measured value have no bins to be counted in."""
    found = [Choice("", *_SEVERAL[""])]
    if "rows_per_person" in options:
        found.append(Choice("rows", *_SEVERAL["rows"], number="rows_per_person"))
    if "distinct" in options and not measured:
        found.append(Choice("bins", *_SEVERAL["bins"], number="distinct"))
    if "one_row_per_person" in options:
        found.append(Choice("one", *_SEVERAL["one"]))
    if "unique_person" in options:
        found.append(Choice("unique", *_SEVERAL["unique"]))
    return tuple(found) if len(found) > 1 else ()


def options_from(
    question: Question, kind: Kind, form: Mapping[str, str], columns: tuple[Column, ...], folder: Folder
) -> dict[str, Any]:
    """What was filled in, as the words of the kind; what was not said is left out."""
    parts = parts_of(question, kind)
    given = options_of((*parts.plain, *parts.plain_promise, *parts.more), form, folder)
    defaults = {option.name: option.default for option in kind.options}
    options = {
        name: value for name, value in given.items() if value not in (None, False, ()) and value != defaults.get(name)
    }
    by: tuple[str, ...] = ()
    if parts.by:
        by = specs(columns)
        if not by and not question.optional:
            raise Misfilled("columns", "choose at least one column to count by")
        options |= {parts.by: by} if by else {}
    if parts.record:
        options[parts.record] = ",".join(column.coarser for column in chosen(columns)) or _no_columns()
    if parts.point:
        options |= point(form, columns)
    if parts.measure:
        options[parts.measure] = measured(form, columns)
    if parts.per:
        options[parts.per] = measured(form, columns, "per")
    if parts.condition and (text := condition(form, columns)):
        options[parts.condition] = text
    if parts.several:
        options |= several(form, parts.several, has_bins=bool(by), kind=kind)
    return options | dict(question.fixed) | protection(question, kind, form, by)


def _no_columns() -> str:
    raise Misfilled("columns", "choose at least one column of the records")


def several(form: Mapping[str, str], choices: Sequence[Choice], *, has_bins: bool, kind: Kind) -> dict[str, Any]:
    """What becomes of people with several rows."""
    wanted = form.get("several", "")
    found = next((each for each in choices if each.name == wanted), None)
    if found is None or not wanted or not form.get("who", "").startswith("column:"):
        return {}
    if wanted in _FLAGS:
        return {_FLAGS[wanted]: True}
    number = form.get(found.number, "").strip()
    if not number:
        raise Misfilled(found.number, "say how much of one person counts, a whole number like 3; fill it in")
    known = {option.name for option in kind.options}
    if wanted == "bins":
        ever = {"any_row": True} if "any_row" in known else {}
        return ever | ({"distinct": number} if has_bins or not ever else {})
    noun = form.get("rows_called", "").strip()
    rows = {"count_rows": True} if "count_rows" in known else {}
    return {"rows_per_person": number} | rows | ({"rows_called": noun} if noun and "rows_called" in known else {})


def measured(form: Mapping[str, str], columns: Sequence[Column], which: str = "of") -> str:
    """The column that is added up, averaged or ranked, with its declared range."""
    column = _named(form, f"{which}-column", columns)
    if column is None:
        raise Misfilled(f"{which}-column", "choose the column that is measured, one of numbers")
    low, high, step = (form.get(f"{which}-{part}", "").strip() for part in ("low", "high", "step"))
    for part, value in (("low", low), ("high", high), ("step", step)):
        if not value:
            raise Misfilled(
                f"{which}-{part}",
                f"say from where to where {column.label} goes and in which steps it is rounded, from what is public; "
                "fill in all three",
            )
    reads = form.get(f"{which}-reads", "").strip()
    return f"{quoted(column.name)}:{low}..{high}:{step}{f',{reads}' if reads and column.is_text else ''}"


def condition(form: Mapping[str, str], columns: Sequence[Column]) -> str:
    """Of whom, as a condition; "" where nothing was said."""
    if own := form.get("where", "").strip():
        return own
    column = _named(form, "where-column", columns)
    if column is None:
        return ""
    sign, value = form.get("where-sign", "="), form.get("where-value", "").strip()
    name = '"' + column.name.replace('"', '""') + '"'
    if sign in ("missing", "there"):
        return f"{name} is {'' if sign == 'missing' else 'not '}missing"
    if sign not in SIGNS:
        raise Misfilled("where-sign", "there is no such comparison; choose one of those listed")
    if not value:
        raise Misfilled("where-value", f"say what {column.label} is compared with; fill it in")
    plain = re.fullmatch(r"[+-]?\d+(\.\d+)?|\d{4}-\d\d-\d\d", value, re.ASCII)
    return f"{name} {sign} {value if plain else _text(value)}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def point(form: Mapping[str, str], columns: Sequence[Column]) -> dict[str, str]:
    """The coordinates of a point, the box they lie in and the size of a cell."""
    names, box, grid = [], [], []
    for axis in _AXES:
        column = _named(form, f"{axis}-column", columns)
        if column is None:
            raise Misfilled(f"{axis}-column", "choose the two columns that say where somebody is")
        low, high, cell = (form.get(f"{axis}-{part}", "").strip() for part in ("low", "high", "cell"))
        for part, value in (("low", low), ("high", high), ("cell", cell)):
            if not value:
                raise Misfilled(
                    f"{axis}-{part}",
                    f"say from where to where {column.label} goes and how wide a cell is, from what is public; fill in "
                    "all three",
                )
        if "," in column.name:
            raise Misfilled(
                f"{axis}-column", "a column of coordinates has no comma in its name; rename it, or choose another"
            )
        names.append(column.name)
        box.append(f"{low}..{high}")
        grid.append(cell)
    return {"columns": ",".join(names), "box": ",".join(box), "grid": ",".join(grid)}


def _named(form: Mapping[str, str], field: str, columns: Sequence[Column]) -> Column | None:
    wanted = form.get(field, "")
    if not wanted:
        return None
    found = next((column for column in columns if column.name == wanted), None)
    if found is None:
        raise Misfilled(field, "there is no such column; choose one of those listed")
    return found
