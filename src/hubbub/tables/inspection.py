"""What a steward sees of a table before anything is published: how it reads, who is in it, how much would be shown.

Private, all of it: it is made from the data without noise, it is entered nowhere and written nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.numeric.binomial import at_least
from hubbub.numeric.exact import ball
from hubbub.runtime.frozen import dataclass
from hubbub.tables.cell_format import Missing

MOST_BINS_OF_A_PERSON: Final = 2**31
FEW: Final = 20  # values that are named
LEAST_IDS: Final = 20  # with no more values a column is a category, however short the table
MOST_CATEGORIES: Final = 50  # with more values a column may be of ids, if each has at most ten rows on average
CROWDS: Final = (5, 10, 20, 50)
BOUNDS: Final = (1, 2, 3, 5, 10, 20)  # on the rows, or the bins, of a person
RATES: Final = (Fraction(1), Fraction(1, 2), Fraction(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a column: how many are missing, cannot be read, or are in no bin; `spec` is None if none was asked.

    `shapes` say how unreadable cells look, letters and digits masked; `reads` is a way in which nearly all can be read.
    `nearly` has the listed values that other cells differ from in capitals or blanks alone, with how many do; `unused`
    the listed values that no cell has; `misspelt` those of them that others nearly are, with how many cells these have.
    `spelled` has spellings that often mean a missing cell, with how many there are.
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
    misspelt: tuple[tuple[str, int], ...] = ()
    spelled: tuple[tuple[str, int], ...] = ()

    def missing_option(self) -> str:
        """The option that declares these spellings missing in this column."""
        return Missing(((self.column, tuple(text for text, _ in self.spelled)),)).to_json()[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept if at most so many rows, or bins, of a person count (None: all): how many of them, of so many, and
    how many people lose none."""

    most: int | None
    kept: int
    of: int
    people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Persons:
    """Who is in the table: people, rows without one, and how many have 1, 2, ... rows."""

    column: str
    people: int
    nobody: int
    rows: tuple[tuple[int, int], ...]  # (rows, people who have so many)

    @property
    def once(self) -> bool:
        """Whether each person has one row."""
        return not self.nobody and all(rows == 1 for rows, _ in self.rows)

    @property
    def like_ids(self) -> bool:
        """Whether there are far more values than a category has, and some of them come again, as those of ids do."""
        rows = sum(rows * people for rows, people in self.rows)
        many = 2 * self.people > rows or (self.people > MOST_CATEGORIES and 10 * self.people >= rows)
        return many and LEAST_IDS < self.people < rows

    @property
    def rows_kept(self) -> tuple[Kept, ...]:
        """By how many rows of a person count at most."""
        every = sum(rows * people for rows, people in self.rows)
        found = []
        for most in (*BOUNDS, None):
            kept = sum(rows * people if most is None else min(rows, most) * people for rows, people in self.rows)
            people_kept = sum(people for rows, people in self.rows if most is None or rows <= most)
            found.append(Kept(most=most, kept=kept, of=every, people=people_kept))
        return tuple(found)


def values_kept(capped: Callable[[int], tuple[int, int]], largest: int, rows: int) -> tuple[Kept, ...]:
    """By the cap on what a person's values sum up to, in times the `largest` value; `capped` says for a cap in steps
    what the capped sums of everybody come to, and how many people it takes nothing from. Nobody has more `rows`."""
    every, people = capped(max(largest * rows, 1))
    found = []
    for times in BOUNDS:
        kept, untouched = capped(largest * times)
        found.append(Kept(most=times, kept=kept, of=every, people=untouched))
    return (*found, Kept(most=None, kept=every, of=every, people=people))


def bins_kept(kept: Callable[[int], int], people: int) -> tuple[Kept, ...]:
    """By in how many bins a person counts at most; `kept` says how many times people are then counted in all, of so
    many people who are in a bin.

    One bin more keeps one more of everybody who is in more bins, so that two such numbers say how many these are.
    """
    every, found = kept(MOST_BINS_OF_A_PERSON), []
    here = 0
    for most in BOUNDS:
        here = here if here == every else kept(most)
        above = 0 if here == every else kept(most + 1) - here
        found.append(Kept(most=most, kept=here, of=every, people=people - above))
    return (*found, Kept(most=None, kept=every, of=every, people=people))


@dataclass(frozen=True, slots=True)
class Partners:
    """How the two tables of a join meet in the column `on`."""

    on: str
    people: int  # ids of the first table
    repeated: int  # of them, those with several rows there
    nobody: int  # rows of the first table without an id
    rows_without: int  # rows of the second table whose person is not in the first
    people_without: int
    idle: int  # people of the first table without a row in the second

    @property
    def can_join(self) -> bool:
        """Whether each person has one row in the first table, so that a release is not refused."""
        return not self.repeated and not self.nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """Of one untouched column: the fewest different values in a crowd that is published (l), the largest distance
    between the values of such a crowd and those of everybody (t, total variation), and how many people stand in a crowd
    with one value. Private."""

    column: str
    least_values: int | None  # None where no crowd is published
    largest_distance: Fraction | None
    people_alike: int

    def as_json(self) -> dict[str, Any]:
        distance = self.largest_distance
        return {
            "column": self.column,
            "l_diversity": self.least_values,
            "t_closeness": None if distance is None else round(float(distance), 6),
            "people_in_crowds_of_one_value": self.people_alike,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """What a release of records would keep, of everybody, and how alike the people of its crowds are. Private."""

    crowd: int
    people: int
    kept: int
    diversity: tuple[Diversity, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "crowd": self.crowd,
            "people": self.people,
            "kept": self.kept,
            "untouched": [each.as_json() for each in self.diversity],
        }


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
    sizes: tuple[tuple[int, int], ...] = ()  # (people, bins that have so many), where bins were asked for
    met: int | None = None  # people (rows, where no column says who) who meet the condition, by any of their rows
    bins_kept: tuple[Kept, ...] = ()  # by in how many bins a person counts, where people have several rows
    measured: Cells | None = None  # of the column that is measured; what is in no bin is outside of the range
    values_kept: tuple[
        Kept, ...
    ] = ()  # by the cap on a person's sum, in times the largest value, where people have several rows
    partners: Partners | None = None  # of a join; where it cannot be made, nothing else is there
    broken: tuple[str, ...] = ()  # what the data dictionary declares and is not so

    possible_ids: tuple[str, ...] = ()  # columns that may say who a row is about by their values alone
    unnamed_person: str | None = None  # a column that may say who a row is about, where each row is taken for a person

    def misses(self) -> tuple[str, ...]:
        """Where what is declared and what is there do not meet: zeros would be published, and paid for."""
        found: list[str] = []
        for cells in self.columns:
            found += _misses(cells, self.rows)
        if self.measured is not None:
            found += _misses(replace(self.measured, spec=None), self.rows)
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

    def up_to(self, most: int) -> tuple[int, int]:
        """How many bins have somebody and at most so many people, and how many people are in these."""
        few = [(people, bins) for people, bins in self.sizes if 0 < people <= most]
        return sum(bins for _, bins in few), sum(people * bins for people, bins in few)

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
                "rows_kept": [_kept_json("rows_per_person", "rows", each) for each in persons.rows_kept],
                "bins_kept": [_kept_json("distinct", "bins", each) for each in self.bins_kept],
                "values_kept": [_kept_json("cap_in_largest_values", "steps", each) for each in self.values_kept],
            },
            "possible_ids": list(self.possible_ids),
            "bins": self.bins,
            "met": self.met,
            "join": None
            if self.partners is None
            else {name: getattr(self.partners, name) for name in Partners.__slots__},
            "measured": None if self.measured is None else {"outside": self.measured.outside},
            "misses": list(self.misses()),
            "broken": list(self.broken),
            "shown": [
                {"crowd": fare.crowd, "sample": str(fare.rate), "bins": fare.bins, "people": fare.people}
                for fare in self.fares
            ],
        }


def _kept_json(name: str, what: str, kept: Kept) -> dict[str, Any]:
    return {name: kept.most, what: kept.kept, "of": kept.of, "people": kept.people}


def _misses(cells: Cells, rows: int) -> list[str]:
    spelled = ", ".join(f"{text} ({many:,})" for text, many in cells.spelled)
    blank = [f"{cells.column}: some cells read {spelled}, which often means that they are missing."]
    return [*(blank if cells.spelled else []), *_bins_missed(cells, rows)]


def _bins_missed(cells: Cells, rows: int) -> list[str]:
    if cells.spec is None:
        return []
    found = [
        f"{cells.spec}: {many:,} cells differ from {value} in capitals or blanks alone, and are not counted there."
        for value, many in cells.nearly
    ]
    found += [
        f"{cells.spec}: no cell is {value}, but {many:,} read much like it; is it misspelt?"
        for value, many in cells.misspelt
        if value not in dict(cells.nearly)
    ]
    readable = rows - cells.missing - cells.unreadable
    if readable and cells.outside == readable:
        return [*found, f"{cells.spec}: no cell lies in any of these bins."]
    unused = [value for value in cells.unused if value not in dict(cells.misspelt)]
    if unused:
        listed = ", ".join(unused[:FEW]) + (" ..." if len(unused) > FEW else "")
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
