"""The numbers that a summary has of each bin: people, rows, a total, an average of averages.

::

    people                      how many people have a row there
    rows 5                      how many rows, of a person at most 5 in a bin; `rows` alone: the cap is drawn
    sum cost:0..9000:10         what everybody has there together, of a person between 0 and 9,000
    mean cost:0..50000:1        the mean of what each person has there on average, between 0 and 50,000

`visits = rows 5` gives a number a name, which its columns begin with.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.numeric.exact import integer, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import MOST_STEPS, Measure, measured
from hubbub.tables.contribution import MOST_ROWS

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,29}")
_TEXT: Final = re.compile(r"\s*(?:(\w+)\s*=\s*)?(people|rows|sum|mean)\b(.*)", re.DOTALL)
_WIDEST: Final = 2**49  # steps of 1 from 0, as far as floating-point numbers of rows are read exactly
_FORMS: Final = "people, rows 5, rows, sum cost:0..9000:10 or mean cost:0..50000:1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCount:
    """How many people have a row in the bin."""

    name: str

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount:
    """How many rows the bin has, of a person at most `cap`; None: a cap that is drawn from the data."""

    name: str
    cap: int | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.cap is not None and not 1 <= self.cap <= MOST_ROWS:
            raise WrongUse(f"of a person from 1 to {MOST_ROWS:,} rows count in a bin; say so many, like rows 5")


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What people have in the bin together, each cut to the range if they have a value there."""

    name: str
    of: Measure

    def __post_init__(self) -> None:
        _check_name(self.name)
        if (self.of.low / self.of.step).denominator != 1:
            raise WrongUse(
                f"a sum counts in whole steps from 0, and {to_text(self.of.low)} is no multiple of "
                f"{to_text(self.of.step)}; declare a range whose ends are multiples of its step"
            )

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most that a person adds, in steps."""
        return int(self.of.low / self.of.step), int(self.of.high / self.of.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """The mean over people of what each has in the bin on average, cut to the range and rounded to its step."""

    name: str
    of: Measure

    def __post_init__(self) -> None:
        _check_name(self.name)


Number: TypeAlias = PeopleCount | RowCount | Total | Average


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise WrongUse("a number is called by a word of small letters, digits and _, like visits; choose such a one")


def drawn_columns(number: Number) -> tuple[str, ...]:
    """The columns of the integers that are drawn of it for a bin."""
    if isinstance(number, Average):
        return f"{number.name}_part", f"{number.name}_whole"
    if isinstance(number, RowCount) and number.cap is None:
        return f"{number.name}_drawn", f"{number.name}_cap"
    return (f"{number.name}_drawn",)


def interval_columns(number: Number) -> tuple[str, str, str]:
    """The columns of the estimate and of the ends of its interval."""
    return number.name, f"{number.name}_low", f"{number.name}_high"


def status_column(number: Number) -> str:
    """The column that says whether the number is shown."""
    return f"{number.name}_status"


@lru_cache(maxsize=256)
def as_read(of: Measure) -> Measure:
    """How the cells of rows are read: in the steps of the range, and as far beyond it as steps may be counted.

    What a person has in a bin is cut to the range, not each row: two rows of -100 and 300 are 200 together. So cells are
    read in a wider range, which is public too.
    """
    room = (MOST_STEPS - of.steps) // 2
    far = _WIDEST * min(of.step, Fraction(1)) - max(abs(of.low), abs(of.high))
    more = min(room, max(int(far / of.step), 0))
    return replace(of, low=of.low - more * of.step, steps=of.steps + 2 * more)


def read_number(text: object) -> Number:
    """The number that a text says, or one sentence."""
    found = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise WrongUse(f"a number is one of {_FORMS}, perhaps with a name, as in 'visits = rows 5'; write it so")
    name, what, rest = found[1], found[2], found[3].strip()
    if what == "people":
        if rest:
            raise WrongUse("people count once in a bin; write people alone")
        return PeopleCount(name=name or "people")
    if what == "rows":
        return RowCount(name=name or "rows", cap=integer(rest, "rows", least=1) if rest else None)
    of = measured(rest)
    plain = re.sub(r"\W+", "_", of.column.lower()).strip("_")
    called = name or f"{what}_{plain}"[:30]
    return Total(name=called, of=of) if what == "sum" else Average(name=called, of=of)


def spelled(number: Number) -> str:
    """What it is, in words."""
    match number:
        case PeopleCount():
            return "people"
        case RowCount():
            return "rows"
        case Total(of=of):
            return f"total {of.column}"
        case Average(of=of):
            return f"mean {of.column} of people"
