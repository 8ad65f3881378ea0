"""What a steward sees of a table before anything is published: how it reads, who is in it, how much would be shown.

Private, all of it: it is made from the data without noise, it is entered nowhere and written nowhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.numeric.binomial import at_least
from hubbub.numeric.exact import ball

FEW: Final = 20  # values that are named
CROWDS: Final = (5, 10, 20, 50)
RATES: Final = (Fraction(1), Fraction(1, 2), Fraction(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a column: how many are missing, cannot be read, or are in no bin; `spec` is None if none was asked.

    `shapes` say how unreadable cells look, letters and digits masked; `reads` is a way in which nearly all can be read.
    `nearly` has the listed values that other cells differ from in capitals or blanks alone, with how many do; `unused`
    the listed values that no cell has.
    """

    column: str
    spec: str | None = None
    missing: int = 0
    unreadable: int = 0
    outside: int = 0
    shapes: tuple[tuple[str, int], ...] = ()
    reads: str | None = None
    values: int | None = None  # about how many there are
    nearly: tuple[tuple[str, int], ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Persons:
    """Who is in the table: people, rows without one, and how many have 1, 2, ... rows."""

    column: str
    people: int
    nobody: int
    rows: tuple[tuple[int, int], ...]  # (rows, people who have so many)

    @property
    def once(self) -> bool:
        """Whether each has one row."""
        return not self.nobody and all(rows == 1 for rows, _ in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fare:
    """How much of the bins and of the people in them would be shown with crowds of k, on a sample at a rate."""

    crowd: int
    rate: Fraction
    bins: float
    people: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All of it. `left_out` are records of a file that the reader skips, by rule."""

    rows: int
    left_out: tuple[tuple[str, int], ...]
    columns: tuple[Cells, ...]
    persons: Persons | None
    bins: int | None = None
    fares: tuple[Fare, ...] = ()
    met: int | None = None  # people (rows, where no column says who) who meet the condition, by any of their rows
    measured: Cells | None = None  # of the column that is measured; what is in no bin is outside of the range

    def misses(self) -> tuple[str, ...]:
        """Where what is declared and what is there do not meet: zeros would be published, and paid for."""
        found: list[str] = []
        for cells in self.columns:
            found += _misses(cells, self.rows)
        if self.measured is not None and (readable := self._readable(self.measured)):
            cells = self.measured
            if cells.outside == readable:
                found.append(f"{cells.spec}: every value lies outside of this range, and would count as an end of it.")
            elif cells.outside:
                found.append(f"{cells.spec}: {cells.outside:,} of {readable:,} values lie outside of this range.")
        if self.met == 0:
            found.append("Nobody meets the condition: zeros would be published, and paid for.")
        return tuple(found)

    def _readable(self, cells: Cells) -> int:
        return self.rows - cells.missing - cells.unreadable

    def as_json(self) -> dict[str, Any]:
        """For JSON, marked as private."""
        columns = [
            {name: value for name in Cells.__slots__ if (value := getattr(cells, name)) not in (None, ())}
            for cells in self.columns
        ]
        persons = self.persons
        return {
            "private": True,
            "rows": self.rows,
            "left_out": dict(self.left_out),
            "columns": columns,
            "people": None
            if persons is None
            else {
                "column": persons.column,
                "people": persons.people,
                "rows_without": persons.nobody,
                "people_by_rows": {str(rows): people for rows, people in persons.rows},
            },
            "bins": self.bins,
            "met": self.met,
            "measured": None if self.measured is None else {"outside": self.measured.outside},
            "misses": list(self.misses()),
            "shown": [
                {"crowd": fare.crowd, "sample": str(fare.rate), "bins": fare.bins, "people": fare.people}
                for fare in self.fares
            ],
        }


def _misses(cells: Cells, rows: int) -> list[str]:
    if cells.spec is None:
        return []
    found = [
        f"{cells.spec}: {many:,} cells differ from {value} in capitals or blanks alone, and are not counted there."
        for value, many in cells.nearly
    ]
    readable = rows - cells.missing - cells.unreadable
    if readable and cells.outside == readable:
        return [*found, f"{cells.spec}: no cell lies in any of these bins."]
    if cells.unused:
        listed = ", ".join(cells.unused[:FEW]) + (" ..." if len(cells.unused) > FEW else "")
        found.append(f"{cells.spec}: no cell is {listed}.")
    return found


def fares(counts: NDArray[np.int64], bins: int) -> tuple[Fare, ...]:
    """The shares shown, in the mean over samples: a bin is shown if its sample has at least k people."""
    by_size = Counter(sorted(counts.tolist()))  # in one order: sums of floats depend on it
    people = sum(count * many for count, many in by_size.items()) or 1
    found = []
    for rate in RATES:
        for k in CROWDS:
            chance = {count: _chance(count, rate, k) for count in by_size}
            visible = sum(many * chance[count] for count, many in by_size.items())
            crowd = sum(many * count * chance[count] for count, many in by_size.items())
            found.append(Fare(crowd=k, rate=rate, bins=visible / max(bins, 1), people=crowd / people))
    return tuple(found)


def _chance(count: int, rate: Fraction, k: int) -> float:
    if rate == 1 or count < k:
        return float(count >= k)
    mean = float(count * rate)
    if abs(mean - k) > 12 * mean**0.5 + 12:  # a chance below 1e-12 is none
        return float(mean > k)
    return float(ball(0) + at_least(count, rate, k))
