"""What a method is told before it starts, all of it public, and what it is handed of the data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.sampler import SMALLEST_EPSILON
from hubbub.noise.source import Source
from hubbub.query_classes.classes import (
    Boxes,
    Class,
    ColumnCells,
    Halfspaces,
    Listed,
    NamedTables,
    Query,
    Shape,
    cells_of,
)
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

MOST_CELLS: Final = 10**7
"""The largest domain that a method lists cell by cell."""
MOST_QUERIES: Final = 5 * 10**6
"""The largest class that a method lists query by query."""
TOO_WIDE: Final = "the noise would be wider than a million people"
NOT_PUBLIC: Final = "it needs the number of people to be public"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A class of queries, what may be lost, and how many people there are where that is public.

    `half_way` is what may be lost between a person and nobody (under replacement, and between any two people, that is
    twice as much); `any_row` what may be lost however one person changes. `rows` are the people that the method sees:
    all, or those of a sample. With `outside`, some of them may be in no cell. But with probability `doubt`, every
    answer is within the bound. `delta` is what a method may fail with beside what is lost; most have no use for it. A
    plan of Gaussian noise makes the mean of the variances `least`, or the largest of them.

    Where several rows of a person count, `half_way` and `any_row` are about one row, and one person moves the counts of
    all cells by `moved` at most, with squares that sum up to `moved_squared`.
    """

    queries: Class
    half_way: Fraction
    any_row: Fraction
    doubt: Fraction
    rows: int | None = None
    outside: bool = True
    delta: Fraction = Fraction(0)
    least: str = "mean"
    moved: int = 1
    moved_squared: int = 1

    @property
    def shape(self) -> Shape:
        return self.queries.shape

    @property
    def listed_queries(self) -> Listed:
        """The queries, for a method that lists them."""
        assert not isinstance(self.queries, Halfspaces), "half-spaces are not listed"
        return self.queries

    @property
    def public_rows(self) -> int:
        """The number of people, for a method that needs it to be public."""
        assert self.rows is not None, "the number of people is not public"
        return self.rows

    @property
    def cells(self) -> int:
        """How many cells there are, with the one of those who are in none."""
        return cells_of(self.shape) + self.outside


@dataclass(frozen=True, eq=False)
class Cells:
    """Exact counts of the cells that are not empty, and how many people are in none. Private."""

    shape: Shape
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    outside: int = 0

    def table(self) -> NDArray[np.int64]:
        """Every cell."""
        found = np.zeros(cells_of(self.shape), dtype=np.int64)
        found[self.codes] = self.counts
        return found.reshape(self.shape)

    @cached_property
    def _bins(self) -> tuple[NDArray[np.intp], ...]:
        """The bin of each cell by each column."""
        return np.unravel_index(self.codes, self.shape)

    def by(self, columns: tuple[int, ...]) -> NDArray[np.int64]:
        """The table by some columns."""
        sizes = [self.shape[i] for i in columns]
        found = np.zeros(prod(sizes), dtype=np.int64)
        where = np.ravel_multi_index([self._bins[i] for i in columns], sizes) if columns else np.zeros_like(self.codes)
        np.add.at(found, where, self.counts)
        return found

    def answers(self, queries: Class) -> NDArray[np.int64]:
        """The exact answers to all queries of a listed class."""
        if isinstance(queries, ColumnCells) and cells_of(self.shape) > MOST_CELLS:
            return queries.of_listed(self.codes, self.counts)
        assert not isinstance(queries, Halfspaces)
        found: NDArray[np.int64] = queries.answers(self.table())
        return found


@dataclass(frozen=True, eq=False)
class Drawn:
    """What came out of a method: its numbers in their order, and for rounds the query and what was measured.

    `times` are the rounds of these where a round has several.
    """

    numbers: NDArray[Any]
    rounds: tuple[tuple[Query, int], ...] = ()
    times: tuple[int, ...] = ()


class Method(Protocol):
    """A way to answer every query of a class. Its parameters are public and chosen before the data is seen."""

    @property
    def name(self) -> str:
        """What is typed."""
        ...

    @property
    def blank(self) -> Blank:
        """What the row is to it that nobody sees: half way between two people, or a row like others."""
        ...

    def why_not(self, setting: Setting) -> str:
        """Why it cannot be run, in words; empty if it can."""
        ...

    def spends(self, setting: Setting) -> Fraction:
        """What it loses between a person and nobody (`half_way`), or however one person changes (`any_row`).

        Where it is the former, one person replaced by another costs at most twice as much: once for each of them.
        """
        ...

    def error_bound(self, setting: Setting) -> Fraction:
        """How far any answer is from the truth, in people, but with probability `doubt`; rounded up."""
        ...

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        """The same for one query, all of them holding at once."""
        ...

    def seconds(self, setting: Setting) -> float:
        """About how long it takes."""
        ...

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Carry it out on the data."""
        ...

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        """What the published numbers say about a query, in people that the method saw."""
        ...


@runtime_checkable
class HasOwnBound(Protocol):
    """A method that knows how far one answer is off by itself, and not only all of them at once."""

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """How far the answer to a query is from the truth but with probability `doubt`, whatever the others do."""
        ...


@runtime_checkable
class HasVariances(Protocol):
    """A method whose answers to the cells of tables are unbiased, with a variance that is the same for all of a table."""

    def table_variances(self, setting: Setting) -> Mapping[tuple[int, ...], float]:
        """Of a cell of each table of the class; nothing where it answers no tables."""
        ...


@runtime_checkable
class HasIntervals(Protocol):
    """A method whose answers to the intervals of one column are unbiased."""

    def interval_mean_square(self, setting: Setting) -> float | None:
        """The mean of the variances of all intervals; None where that would take too long."""
        ...


def mean_square(method: object, setting: Setting) -> float | None:
    """The mean of the variances of all answers (of named tables, by the cubes of their shares), or of tables the largest,
    as the setting says; None where it is not known beforehand, and of intervals where the number of people is public."""
    if isinstance(setting.queries, Boxes) and len(setting.shape) == 1 and setting.rows is None:
        return method.interval_mean_square(setting) if isinstance(method, HasIntervals) else None
    found = method.table_variances(setting) if isinstance(method, HasVariances) else {}
    if not found or not isinstance(setting.queries, ColumnCells):
        return None
    if setting.least == "largest":
        return max(found.values())
    if isinstance(setting.queries, NamedTables):
        cubes = {each.columns: each.share**3 for each in setting.queries.tables}
        return sum(cubes[each] * variance for each, variance in found.items()) / sum(cubes.values())
    cells = {each: prod(setting.shape[i] for i in each) for each in found}
    return sum(cells[each] * variance for each, variance in found.items()) / sum(cells.values())


def too_many_cells(setting: Setting) -> str:
    """Why a domain cannot be listed, in words."""
    cells = cells_of(setting.shape)
    return f"it lists every cell, and {cells:,} are more than {MOST_CELLS:,}" if cells > MOST_CELLS else ""


def why_unlisted(setting: Setting) -> str:
    """Why a class cannot be listed, in words."""
    if isinstance(setting.queries, Halfspaces):
        return "it lists every query, and half-spaces are not listed"
    number = setting.queries.number
    return f"it lists every query, and {number:,} are more than {MOST_QUERIES:,}" if number > MOST_QUERIES else ""


def too_wide(rate: Fraction) -> str:
    """Why a noise is not drawn, in words."""
    return TOO_WIDE if rate < SMALLEST_EPSILON else ""


def check_method(method: Method, setting: Setting) -> None:
    """Refuse a method that cannot be run."""
    why = method.why_not(setting)
    if why:
        way = "declare it (`people=N`)" if why == NOT_PUBLIC else "declare coarser bins"
        raise WrongUse(f"the method {method.name} cannot answer this: {why}; choose another, or {way}")
