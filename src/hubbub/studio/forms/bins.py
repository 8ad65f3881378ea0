"""The columns of a table as a form: which are chosen, and their bins, in the same SPEC text that a command takes. The
schema is public.

Bins that are suggested for a column, from its type and its name alone, which are public; nothing is read.

A suggestion is a beginning for whoever fills in the form. It names no value of a text: those are the publisher's to
list, or are found in the data where a promise covers that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from functools import lru_cache
from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.studio.forms.fields import no_file
from hubbub.studio.forms.misfilled import Misfilled
from hubbub.tables.bins import UNITS
from hubbub.tables.schema import ColumnType

WORDS, NUMBERS, DATES, FLAGS, NEVER = "words", "numbers", "dates", "flags", "never"
"""What the cells of a column are, as far as a form cares."""

_BY_TYPE: Final = {
    ColumnType.TEXT: WORDS,
    ColumnType.INTEGER: NUMBERS,
    ColumnType.DECIMAL: NUMBERS,
    ColumnType.FLOAT: NUMBERS,
    ColumnType.DATE: DATES,
    ColumnType.BOOLEAN: FLAGS,
    ColumnType.OTHER: NEVER,
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What the cells are taken for, the fields of their bins, and why."""

    cells: str
    bins: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


def _steps(low: str, high: str, step: str) -> dict[str, str]:
    return {"low": low, "high": high, "step": step}


_NUMBERS_BY_NAME: Final = (
    (("age", "ages", "alter"), _steps("0", "100", "10")),
    (("year", "yr", "birthyear"), _steps("1900", "2030", "10")),
    (("month",), _steps("1", "13", "1")),
    (("hour",), _steps("0", "24", "1")),
    (("percent", "pct", "percentage"), _steps("0", "100", "10")),
    (("share", "rate", "ratio", "probability", "fraction"), _steps("0", "1", "0.1")),
    (("score", "grade", "mark", "marks", "points"), _steps("0", "100", "10")),
    (("bmi",), _steps("10", "60", "5")),
    (("height",), _steps("100", "220", "10")),
    (("weight",), _steps("0", "200", "10")),
    (("salary", "wage", "wages", "income", "pay", "earnings"), _steps("0", "200000", "10000")),
    (("cost", "costs", "price", "fare", "fee", "amount", "total", "charge", "spend"), _steps("0", "1000", "50")),
    (("days", "stay", "los"), _steps("0", "30", "1")),
    (("hours", "minutes", "duration"), _steps("0", "60", "5")),
    (("lat", "latitude"), _steps("-90", "90", "10")),
    (("lon", "lng", "long", "longitude"), _steps("-180", "180", "10")),
)
_DATES_BY_NAME: Final = ("date", "day", "birthday", "dob", "time", "timestamp", "datetime", "startdate", "enddate")
_FLAGS_BY_NAME: Final = ("is", "has", "flag")
_PERSON: Final = ("id", "person", "patient", "user", "member", "customer", "respondent", "resident", "employee", "ssn")


def words_in(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters.

    >>> words_in("BirthYear"), words_in("age_years#2"), words_in("q0004_0001")
    (('birth', 'year'), ('age', 'years'), ('q', '0004', '0001'))
    """
    apart = re.sub(r"#\d+$", "", name)
    return tuple(part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+", apart))


def suggested(name: str, column_type: ColumnType, today: date | None = None) -> Suggestion:
    """What a form begins with for a column.

    >>> suggested("age", ColumnType.INTEGER).bins
    {'low': '0', 'high': '100', 'step': '10'}
    >>> suggested("age", ColumnType.TEXT).cells, suggested("town", ColumnType.TEXT).cells
    ('numbers', 'words')
    """
    words, cells = words_in(name), _BY_TYPE[column_type]
    named = next((bins for names, bins in _NUMBERS_BY_NAME if set(names) & set(words)), None)
    if column_type is ColumnType.TEXT:
        if set(_DATES_BY_NAME) & set(words):
            cells = DATES
        elif words[:1] and words[0] in _FLAGS_BY_NAME:
            cells = FLAGS
        elif named is not None:
            cells = NUMBERS
    if cells == NUMBERS and named is not None:
        return Suggestion(cells, named, "These steps are a suggestion from the column's name. Change them as you like.")
    if cells == DATES:
        year = (today or date.today()).year
        bins = {"unit": "year", "first": str(year - 10), "last": str(year)}
        return Suggestion(cells, bins, "The last ten years are a suggestion. Change them as you like.")
    return Suggestion(cells)


def reads_as_person(name: str) -> bool:
    """Whether a column's name reads as if it said who a row is about.

    >>> reads_as_person("patient_nbr"), reads_as_person("town"), reads_as_person("id")
    (True, False, True)
    """
    return bool(set(_PERSON) & set(words_in(name)))


CELLS: Final = {WORDS: "words", NUMBERS: "numbers", DATES: "dates", FLAGS: "yes or no"}
"""What the cells of a column may be taken for, in words."""

CHIPS: Final = {
    ColumnType.INTEGER: "whole numbers",
    ColumnType.DECIMAL: "numbers",
    ColumnType.FLOAT: "numbers",
    ColumnType.DATE: "dates",
    ColumnType.BOOLEAN: "yes or no",
    ColumnType.OTHER: "cannot be counted",
}
WRITTEN: Final = {
    NUMBERS: (("", "like 55314.00"), ("money", "like $55,314.00"), ("decimal=,", "like 55.314,00")),
    DATES: (
        ("", "like 2026-03-14"),
        ("date=%m/%d/%Y", "like 03/14/2026"),
        ("date=%d/%m/%Y", "like 14/03/2026"),
        ("date=%d.%m.%Y", "like 14.03.2026"),
    ),
}
"""How cells of text are written."""

_MAY_BE: Final = {
    ColumnType.TEXT: (WORDS, NUMBERS, DATES, FLAGS),
    ColumnType.INTEGER: (NUMBERS, WORDS, FLAGS),
    ColumnType.DECIMAL: (NUMBERS,),
    ColumnType.FLOAT: (NUMBERS,),
    ColumnType.DATE: (DATES,),
    ColumnType.BOOLEAN: (FLAGS,),
    ColumnType.OTHER: (),
}
_PARTS: Final = (
    "cells",
    "values",
    "low",
    "high",
    "step",
    "unit",
    "first",
    "last",
    "null",
    "other",
    "reads",
    "own",
    "keep",
    "width",
    "signs",
)
_STEPS: Final = ("low", "high", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column with what was filled in about its bins; `number` names its fields, since its name is a stranger's."""

    number: int
    name: str
    label: str  # as it is shown: of two with one name the first has it
    column_type: ColumnType
    used: bool
    given: Mapping[str, str]
    suggestion: Suggestion
    person: bool  # its name reads as if it said who a row is about

    @property
    def chip(self) -> str:
        """What it holds; where that is text, what its name lets one take it for."""
        return CELLS[self.suggestion.cells] if self.is_text else CHIPS[self.column_type]

    @property
    def may_be(self) -> tuple[str, ...]:
        return _MAY_BE[self.column_type]

    @property
    def countable(self) -> bool:
        return bool(self.may_be)

    @property
    def cells(self) -> str:
        """What its cells are taken for."""
        return self.given["cells"] if self.given["cells"] in self.may_be else self.suggestion.cells

    @property
    def is_text(self) -> bool:
        return self.column_type is ColumnType.TEXT

    def field(self, part: str) -> str:
        """The name of one of its fields."""
        return f"by{self.number}-{part}"

    @property
    def spec(self) -> str:
        """The SPEC of its bins, as a command takes it."""
        return spec_text(self)

    @property
    def coarser(self) -> str:
        """The column with its public function, as records take it."""
        return coarser_text(self)


def columns(schema: Mapping[str, ColumnType], form: Mapping[str, str]) -> tuple[Column, ...]:
    """Every column of a table. One whose fields were not shown yet has what is suggested; a missing value is a bin."""
    labels = display_names(tuple(schema))
    found = []
    for number, (name, column_type) in enumerate(schema.items()):
        suggestion = _suggested(name, column_type)
        if any(f"by{number}-{part}" in form for part in (*_PARTS, "said")):
            given = {part: form.get(f"by{number}-{part}", "") for part in _PARTS}
        else:
            given = dict.fromkeys(_PARTS, "") | first_of(suggestion)
        found.append(
            Column(
                number=number,
                name=name,
                label=labels[number],
                column_type=column_type,
                used=bool(form.get(f"by{number}-use")),
                given=given,
                suggestion=suggestion,
                person=reads_as_person(name),
            )
        )
    return tuple(found)


_suggested = lru_cache(maxsize=4096)(suggested)


def first_of(suggestion: Suggestion) -> dict[str, str]:
    """What the fields of a column begin with."""
    other = "on" if suggestion.cells == WORDS else ""
    return {"cells": suggestion.cells, "null": "on", "other": other, **suggestion.bins}


def display_names(names: Sequence[str]) -> tuple[str, ...]:
    """How columns are called on a page: of several with one name the first has it, the others have their number.

    >>> display_names(["id", "town#1", "Town#2", "a#1"])
    ('id', 'town', 'Town#2', 'a#1')
    """
    known = {name.lower() for name in names}

    def displayed(name: str) -> str:
        bare = name.removesuffix("#1")
        first = bare != name and f"{bare}#2".lower() in known and bare.lower() not in known
        return bare if first else name

    return tuple(map(displayed, names))


def chosen(found: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that were ticked."""
    return tuple(column for column in found if column.used)


def specs(found: Sequence[Column]) -> tuple[str, ...]:
    """The bins of the columns that are counted by."""
    declared = tuple(column.spec for column in chosen(found))
    for each in declared:
        no_file(each)
    return declared


def spec_text(column: Column) -> str:
    """The SPEC that the fields of a column say."""
    parts = {part: column.given.get(part, "").strip() for part in _PARTS}
    name = quoted(column.name)
    ends = "".join(f",{part}" for part in ("null", "other") if parts[part])
    reads = _reads(column, parts["reads"])
    if parts["own"]:
        return f"{name}{parts['own']}" if parts["own"][0] in "=:" else f"{name}:{parts['own']}"
    if column.cells == NEVER:
        raise Misfilled(
            column.field("use"), f"the column {column.label} holds {column.column_type.value}; choose another"
        )
    if column.cells == FLAGS:
        return f"{name}=false,true{ends}" if column.column_type is ColumnType.BOOLEAN else f"{name}:boolean{ends}"
    if column.cells == WORDS:
        return f"{name}={parts['values'].rstrip(',')}{ends}" if parts["values"] else name
    if column.cells == NUMBERS:
        for part in _STEPS:
            if not parts[part]:
                raise Misfilled(
                    column.field(part),
                    f"say from where to where {column.label} is counted and in which steps, like 0, 100 and 10; fill in "
                    "all three",
                )
        return f"{name}:{parts['low']}..{parts['high']}:{parts['step']}{reads}{ends}"
    unit = parts["unit"] if parts["unit"] in UNITS else "month"
    if not parts["first"] and not parts["last"]:
        return f"{name}:{unit}{reads}"
    if not parts["first"] or not parts["last"]:
        wanting = "first" if not parts["first"] else "last"
        raise Misfilled(
            column.field(wanting), f"dates of {column.label} have a beginning and an end, like 2020 and 2026; fill both"
        )
    return f"{name}:{unit}:{parts['first']}..{parts['last']}{reads}{ends}"


def _reads(column: Column, text: str) -> str:
    known = dict(WRITTEN.get(column.cells, ()))
    return f",{text}" if column.is_text and text and text in known else ""


def coarser_text(column: Column) -> str:
    """A column of a record with the public function that makes it coarser."""
    name, keep = quoted(column.name), column.given.get("keep", "")
    if keep == "ranges":
        return f"{name}:{_needed(column, 'width', '10')}"
    if keep == "signs":
        return f"{name}/{_needed(column, 'signs', '3')}"
    if keep in UNITS:
        return f"{name}:{keep}"
    return name


def _needed(column: Column, part: str, like: str) -> str:
    if value := column.given.get(part, "").strip():
        return value
    raise Misfilled(column.field(part), f"say how coarse {column.label} becomes, like {like}; fill it in")


def quoted(name: str) -> str:
    """A column's name in a SPEC, in quotes where it could be taken for something else.

    >>> quoted("town"), quoted("a=b")
    ('town', '"a=b"')
    """
    plain = re.fullmatch(r'[^=:,"/@]+', name) and name == name.strip()
    return name if plain else '"' + name.replace('"', '""') + '"'
