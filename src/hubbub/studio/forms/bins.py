"""The bins of a column as a form, which writes the same SPEC text that a command takes. The schema is public."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hubbub.errors import WrongUse
from hubbub.studio.forms.fields import no_file
from hubbub.tables.bins import UNITS
from hubbub.tables.schema import ColumnType

_NUMBERS: Final = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)
_FORMS: Final = {
    ColumnType.TEXT: "values",
    ColumnType.DATE: "dates",
    ColumnType.BOOLEAN: "none",
    ColumnType.OTHER: "never",
} | dict.fromkeys(_NUMBERS, "range")
_PARTS: Final = ("use", "values", "low", "high", "step", "unit", "first", "last", "null", "other", "own")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column with what was filled in about its bins; `number` names its fields, since its name is a stranger's."""

    number: int
    name: str
    holds: str
    form: str  # values, range, dates, none or never
    given: Mapping[str, str]

    @property
    def used(self) -> bool:
        return bool(self.given.get("use"))

    @property
    def spec(self) -> str:
        """The SPEC of its bins, as a command takes it."""
        return spec_text(self.name, self.form, self.given)


def columns(schema: Mapping[str, ColumnType], form: Mapping[str, str]) -> tuple[Column, ...]:
    """Every column of a table; at first, a missing value is a bin of its own."""
    submitted = "asked" in form
    found = []
    for number, (name, holds) in enumerate(schema.items()):
        given = {part: form.get(f"by{number}-{part}", "") for part in _PARTS}
        if not submitted:
            given["null"] = "on"
        found.append(Column(number=number, name=name, holds=holds.value, form=_FORMS[holds], given=given))
    return tuple(found)


def specs(found: Sequence[Column]) -> tuple[str, ...]:
    """The bins of the columns that are counted by."""
    declared = tuple(column.spec for column in found if column.used)
    for each in declared:
        no_file(each)
    return declared


def spec_text(name: str, form: str, given: Mapping[str, str]) -> str:
    """The SPEC that the fields of a column say.

    >>> spec_text("age", "range", {"low": "0", "high": "90", "step": "10", "null": "on"})
    'age:0..90:10,null'
    >>> spec_text("a=b", "values", {"values": "x, y", "other": "on"}), spec_text("hired", "dates", {"unit": "year"})
    ('"a=b"=x, y,other', 'hired:year')
    """
    parts = {part: given.get(part, "").strip() for part in _PARTS}
    column = quoted(name)
    ends = "".join(f",{part}" for part in ("null", "other") if parts[part])
    if parts["own"]:
        return f"{column}{parts['own']}" if parts["own"][0] in "=:" else f"{column}:{parts['own']}"
    if form == "values" and parts["values"]:
        return f"{column}={parts['values']}{ends}"
    if form in ("range", "values") and any(parts[part] for part in ("low", "high", "step")):
        if not all(parts[part] for part in ("low", "high", "step")):
            raise WrongUse(
                "a range of numbers has a beginning, an end and a step, like 0, 100 and 10; fill in all three"
            )
        return f"{column}:{parts['low']}..{parts['high']}:{parts['step']}{ends}"
    if form == "dates":
        unit = parts["unit"] if parts["unit"] in UNITS else "month"
        if not parts["first"] and not parts["last"]:
            return f"{column}:{unit}"
        return f"{column}:{unit}:{parts['first']}..{parts['last']}{ends}"
    return f"{column}=false,true{ends}" if form == "none" else column


def quoted(name: str) -> str:
    """A column's name in a SPEC, in quotes where it could be taken for something else."""
    plain = re.fullmatch(r'[^=:,"]+', name) and name == name.strip()
    return name if plain else '"' + name.replace('"', '""') + '"'
