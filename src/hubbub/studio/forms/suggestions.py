"""Bins that are suggested for a column, from its type and its name alone, which are public; nothing is read.

A suggestion is a beginning for whoever fills in the form. It names no value of a text: those are the publisher's to
list, or are found in the data where a promise covers that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

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


def suggested(name: str, holds: ColumnType, today: date | None = None) -> Suggestion:
    """What a form begins with for a column.

    >>> suggested("age", ColumnType.INTEGER).bins
    {'low': '0', 'high': '100', 'step': '10'}
    >>> suggested("age", ColumnType.TEXT).cells, suggested("town", ColumnType.TEXT).cells
    ('numbers', 'words')
    """
    words, cells = words_in(name), _BY_TYPE[holds]
    named = next((bins for names, bins in _NUMBERS_BY_NAME if set(names) & set(words)), None)
    if holds is ColumnType.TEXT:
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
