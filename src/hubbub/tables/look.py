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

from hubbub.binomial_law import at_least
from hubbub.exact import ball

CROWDS: Final = (5, 10, 20, 50)
RATES: Final = (Fraction(1), Fraction(1, 2), Fraction(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a column: how many are missing, cannot be read, or are in no bin; `spec` is None if none was asked.

    `shapes` say how unreadable cells look, letters and digits masked; `reads` is a way in which nearly all can be read.
    """

    column: str
    spec: str | None = None
    missing: int = 0
    unreadable: int = 0
    outside: int = 0
    shapes: tuple[tuple[str, int], ...] = ()
    reads: str | None = None
    values: int | None = None  # about how many there are


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
class Look:
    """All of it. `left_out` are records of a file that the reader skips, by rule."""

    rows: int
    left_out: tuple[tuple[str, int], ...]
    columns: tuple[Cells, ...]
    persons: Persons | None
    bins: int | None = None
    fares: tuple[Fare, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For JSON, marked as private."""
        told = [
            {name: value for name in Cells.__slots__ if (value := getattr(cells, name)) not in (None, ())}
            for cells in self.columns
        ]
        persons = self.persons
        return {
            "private": True,
            "rows": self.rows,
            "left_out": dict(self.left_out),
            "columns": told,
            "people": None
            if persons is None
            else {
                "column": persons.column,
                "people": persons.people,
                "rows_without": persons.nobody,
                "people_by_rows": {str(rows): people for rows, people in persons.rows},
            },
            "bins": self.bins,
            "shown": [
                {"crowd": fare.crowd, "sample": str(fare.rate), "bins": fare.bins, "people": fare.people}
                for fare in self.fares
            ],
        }


def fares(counts: NDArray[np.int64], bins: int) -> tuple[Fare, ...]:
    """The shares shown, in the mean over samples: a bin is shown if its sample has at least k people."""
    by_size = Counter(sorted(counts.tolist()))  # in one order: sums of floats depend on it
    people = sum(count * many for count, many in by_size.items()) or 1
    found = []
    for rate in RATES:
        for k in CROWDS:
            chance = {count: _chance(count, rate, k) for count in by_size}
            shown = sum(many * chance[count] for count, many in by_size.items())
            crowd = sum(many * count * chance[count] for count, many in by_size.items())
            found.append(Fare(crowd=k, rate=rate, bins=shown / max(bins, 1), people=crowd / people))
    return tuple(found)


def _chance(count: int, rate: Fraction, k: int) -> float:
    if rate == 1 or count < k:
        return float(count >= k)
    mean = float(count * rate)
    if abs(mean - k) > 12 * mean**0.5 + 12:  # a chance below 1e-12 is none
        return float(mean > k)
    return float(ball(0) + at_least(count, rate, k))
