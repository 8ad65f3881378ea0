"""Classes of queries on a finite domain: every query counts the people in some set of cells.

A domain is a shape, the number of bins of each column; a cell is one bin of each. All sets here but half-spaces are
boxes: a run of bins of each column.

Every class knows ln of the number of its queries (rounded up), at most which VC `dimension` it has, and how many cells
its `widest` query has. A listed class also knows its queries by their places, `answers` all of them at once, and in how
many of them one cell lies at most (`depth`).

::

    marginals:2      every cell of every table by two columns
    tables:a=1+2*3,b=3   every cell of the table a, by the first two columns, and of b, by the third; by itself a would have
                     three parts of what may be lost, and b one
    conjunctions:3   every condition of the form a = x and b = y and c = z, on one, two or three columns
    intervals        every run of consecutive bins of one column
    boxes            every run of bins of each of several columns, all at once
    halfspaces       all cells whose bin numbers, weighted and added up, stay at or below a limit

How far the shares of a sample can be from those of everybody, for every query of a class at once.

Only the n people of the table matter, so a class has at most Pi(n) different queries: a union bound over them with
Serfling's inequality for k people drawn without replacement (theory A5, in place of Proposition 23).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb, prod
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.runtime.frozen import dataclass

Span: TypeAlias = tuple[int, int]
"""From a bin up to, and not including, another."""
Box: TypeAlias = tuple[Span, ...]
Shape: TypeAlias = tuple[int, ...]
Numbers: TypeAlias = NDArray[Any]

Spans: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

MOST_TABLES: Final = 100_000
NAMES: Final = ("marginals:W", "conjunctions:W", "tables:NAME=I+J,..", "intervals", "boxes", "halfspaces")
MOST_NAMED: Final = 200
"""Tables that are listed by their names."""
OURS: Final = (
    "release",
    "answers",
    "consistent",
    "rounds",
    "report",
    "certificate",
    "datapackage",
    "withdrawn",
    "replaced",
)
"""Names of files of ours, which no table has."""
TABLE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
MOST_SHARE: Final = 10**6


@dataclass(frozen=True)
class Halfspace:
    """The cells whose bin numbers (0, 1, ...) times their weights add up to at most `limit`."""

    weights: tuple[Fraction, ...]
    limit: Fraction

    def cells(self, shape: Shape) -> NDArray[np.bool_]:
        """Which cells these are, exactly: weights are made whole numbers first."""
        scale = prod({each.denominator for each in (*self.weights, self.limit)})
        weights, limit = [int(each * scale) for each in self.weights], int(self.limit * scale)
        if sum(abs(each) * size for each, size in zip(weights, shape, strict=True)) + abs(limit) >= 2**62:
            raise WrongUse("the weights of a half-space are too large or too fine; write them with fewer digits")
        total = np.zeros(shape, dtype=np.int64)
        for axis, (weight, size) in enumerate(zip(weights, shape, strict=True)):
            steps = weight * np.arange(size, dtype=np.int64)
            total += steps.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        found: NDArray[np.bool_] = total <= limit
        return found


Query: TypeAlias = Box | Halfspace


def box_of(query: Query) -> Box:
    """The query, of a class that has boxes alone."""
    assert not isinstance(query, Halfspace), "a half-space is no box"
    return query


def cells_of(shape: Shape) -> int:
    """How many cells a domain has."""
    return prod(shape)


def sum_cells(query: Query, cells: Numbers) -> Any:
    """The sum of the cells of a query."""
    if isinstance(query, Halfspace):
        return cells[query.cells(cells.shape)].sum()
    return cells[tuple(slice(*span) for span in query)].sum()


def width(query: Query, shape: Shape) -> int:
    """How many cells it has."""
    if isinstance(query, Halfspace):
        return int(query.cells(shape).sum())
    return prod(stop - start for start, stop in query)


def _log(number: int) -> Fraction:
    with precision():
        return rounded(ball(number).log(), up=True) if number > 1 else Fraction(0)


def _inside(box: object, shape: Shape) -> bool:
    return (
        isinstance(box, tuple)
        and len(box) == len(shape)
        and all(0 <= start < stop <= size for (start, stop), size in zip(box, shape, strict=True))
    )


def _only(spans: Spans) -> Box:
    return tuple((int(start), int(stop)) for start, stop in zip(*(ends[:, 0] for ends in spans), strict=True))


@dataclass(frozen=True)
class ColumnCells:
    """Cells of the tables by exactly (`marginals`) or at most (`conjunctions`) so many columns."""

    shape: Shape
    ways: int
    at_most: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.ways <= len(self.shape):
            raise WrongUse(
                f"{self.name} needs between 1 and {len(self.shape)} columns, as many as are given; "
                "name more columns, or lower the number"
            )
        sizes = range(1, self.ways + 1) if self.at_most else (self.ways,)
        if sum(comb(len(self.shape), size) for size in sizes) > MOST_TABLES:
            raise WrongUse(f"{self.name} of so many columns are more than {MOST_TABLES:,} tables; name fewer columns")

    @property
    def name(self) -> str:
        return f"{'conjunctions' if self.at_most else 'marginals'}:{self.ways}"

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each table."""
        sizes = range(1, self.ways + 1) if self.at_most else (self.ways,)
        return tuple(each for size in sizes for each in combinations(range(len(self.shape)), size))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the cells of each table begin in the list, and where it ends."""
        found = [0]
        for each in self.sets:
            found.append(found[-1] + prod(self.shape[i] for i in each))
        return tuple(found)

    @property
    def number(self) -> int:
        """How many queries there are."""
        return self.starts[-1]

    @property
    def log_number(self) -> Fraction:
        return _log(self.starts[-1])

    @property
    def dimension(self) -> int:
        """To tell each of m people from all others, every one needs a column in which the others agree, and with three
        or more people a column serves one of them: so m is at most the number of columns, or 2."""
        return min(max(2, len(self.shape)), self.starts[-1].bit_length() - 1)

    @property
    def widest(self) -> int:
        return max(prod(size for i, size in enumerate(self.shape) if i not in each) for each in self.sets)

    @property
    def depth(self) -> int:
        return len(self.sets)

    def has(self, query: Query) -> bool:
        return not isinstance(query, Halfspace) and _inside(query, self.shape) and self._columns(query) is not None

    def _columns(self, box: Box) -> tuple[int, ...] | None:
        """The columns whose bin a query fixes; of a column with one bin either is true."""
        ones = [i for i, (start, stop) in enumerate(box) if stop - start == 1]
        fixed = [i for i in ones if self.shape[i] > 1]
        if any(stop - start not in (1, size) for (start, stop), size in zip(box, self.shape, strict=True)):
            return None
        least = 1 if self.at_most else self.ways
        fixed += [i for i in ones if i not in fixed][: max(0, least - len(fixed))]
        return tuple(sorted(fixed)) if least <= len(fixed) <= self.ways else None

    def around(self, columns: Sequence[int]) -> tuple[int, ...] | None:
        """A table of the class that has all of these columns: with others of the fewest bins; None if there is none."""
        rest = sorted((i for i in range(len(self.shape)) if i not in columns), key=lambda i: self.shape[i])
        return None if len(columns) > self.ways else tuple(sorted([*columns, *rest[: self.ways - len(columns)]]))

    def index_of(self, query: Box) -> int:
        columns = self._columns(query)
        assert columns is not None
        sizes, bins = [self.shape[i] for i in columns], [query[i][0] for i in columns]
        return self.starts[self.sets.index(columns)] + int(np.ravel_multi_index(bins, sizes))

    def at(self, index: int) -> Box:
        """The query at a place of the list."""
        return _only(self.spans(np.array([index])))

    def spans(self, indices: NDArray[np.int64]) -> Spans:
        """For queries at some places, where the run of each column starts and stops: columns x queries."""
        starts = np.zeros((len(self.shape), indices.size), dtype=np.int64)
        stops = np.repeat(np.array(self.shape, dtype=np.int64)[:, None], indices.size, axis=1)
        which = np.searchsorted(self.starts, indices, side="right") - 1
        for i in np.unique(which).tolist():
            here, columns = np.flatnonzero(which == i), self.sets[i]
            bins = np.unravel_index(indices[here] - self.starts[i], [self.shape[column] for column in columns])
            for column, each in zip(columns, bins, strict=True):
                starts[column, here], stops[column, here] = each, each + 1
        return starts, stops

    def answers(self, cells: Numbers) -> Numbers:
        """For every query, as listed, the sum of its cells: whole numbers of whole numbers, exactly.

        A table is summed up from one with a column more, so that few sums go over the whole domain.
        """
        tables = {tuple(range(len(self.shape))): cells}

        def table(kept: tuple[int, ...]) -> Numbers:
            if kept not in tables:
                more = max(i for i in range(len(self.shape)) if i not in kept)
                wider = tuple(sorted((*kept, more)))
                tables[kept] = table(wider).sum(axis=wider.index(more))
            return tables[kept]

        return np.concatenate([table(each).ravel() for each in self.sets])

    def of_listed(self, codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same from the cells that are not empty alone, for domains that nobody can list."""
        bins = np.unravel_index(codes, self.shape)
        found = np.zeros(self.starts[-1], dtype=np.int64)
        for each, start in zip(self.sets, self.starts, strict=False):
            indices = np.ravel_multi_index([bins[i] for i in each], [self.shape[i] for i in each])
            np.add.at(found, start + indices, counts)
        return found


@dataclass(frozen=True)
class NamedTable:
    """A table by some columns. By itself it would have `share` parts of what may be lost."""

    name: str
    columns: tuple[int, ...]
    share: int = 1

    @property
    def text(self) -> str:
        """As it is written, columns counted from 1."""
        return f"{self.name}={'+'.join(str(i + 1) for i in self.columns)}*{self.share}"


@dataclass(frozen=True)
class NamedTables(ColumnCells):
    """Cells of some tables, each with a name: not all tables by so many columns, but those that somebody asked for."""

    tables: tuple[NamedTable, ...] = ()

    def __post_init__(self) -> None:
        names, sets = [each.name for each in self.tables], [each.columns for each in self.tables]
        if not 1 <= len(sets) <= MOST_NAMED or len(set(names)) < len(names) or len(set(sets)) < len(sets):
            raise WrongUse(f"tables are from 1 to {MOST_NAMED}, each with a name and columns of its own; write them so")
        if not all(map(is_table_name, names)):
            raise WrongUse(
                f"a table has a name of small letters, digits and hyphens that is none of {', '.join(OURS)}; give it another"
            )
        if not all(
            each and list(each) == sorted(set(each)) and each[0] >= 0 and each[-1] < len(self.shape) for each in sets
        ):
            raise WrongUse(
                f"the columns of a table are numbers from 1 to {len(self.shape)}, in their order, like 1+3; write them so"
            )
        if not all(1 <= each.share <= MOST_SHARE for each in self.tables):
            raise WrongUse(f"the part of a table is a whole number from 1 to {MOST_SHARE:,}; write it so")

    @property
    def name(self) -> str:
        return f"tables:{','.join(each.text for each in self.tables)}"

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        return tuple(each.columns for each in self.tables)

    def around(self, columns: Sequence[int]) -> tuple[int, ...] | None:
        wider = [each for each in self.sets if set(columns) <= set(each)]
        return min(wider, key=lambda each: prod(self.shape[i] for i in each), default=None)

    def _columns(self, box: Box) -> tuple[int, ...] | None:
        ones = {i for i, (start, stop) in enumerate(box) if stop - start == 1}
        if any(stop - start not in (1, size) for (start, stop), size in zip(box, self.shape, strict=True)):
            return None
        fixed = {i for i in ones if self.shape[i] > 1}
        return next((each for each in self.sets if fixed <= set(each) <= ones), None)


def is_table_name(name: str) -> bool:
    """Whether a file of this name may have a table."""
    return TABLE_NAME.fullmatch(name) is not None and name not in OURS


def _named_tables(text: str, shape: Shape) -> NamedTables:
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"([^=*+]+)=([0-9]{1,3}(?:\+[0-9]{1,3})*)(?:\*([0-9]{1,7}))?", part.strip())
        if match is None:
            raise WrongUse(
                f"a table is written NAME=I+J, its columns by their places, like ages=1+2, not {part[:40]!r}"
            )
        columns = tuple(int(each) - 1 for each in match[2].split("+"))
        found.append(NamedTable(match[1].strip(), columns, int(match[3] or 1)))
    return NamedTables(shape, max(len(each.columns) for each in found), tables=tuple(found))


@dataclass(frozen=True)
class Boxes:
    """Runs of bins of every column at once; of a single column, intervals."""

    shape: Shape
    line: bool = False

    def __post_init__(self) -> None:
        if self.line and len(self.shape) != 1:
            raise WrongUse(f"intervals are of one column, not of {len(self.shape)}; name one, or use boxes")

    @property
    def name(self) -> str:
        return "intervals" if self.line else "boxes"

    @property
    def runs(self) -> tuple[int, ...]:
        """How many runs of bins each column has."""
        return tuple(size * (size + 1) // 2 for size in self.shape)

    @property
    def number(self) -> int:
        """How many queries there are."""
        return prod(self.runs)

    @property
    def log_number(self) -> Fraction:
        return _log(prod(self.runs))

    @property
    def dimension(self) -> int:
        return min(2 * len(self.shape), prod(self.runs).bit_length() - 1)

    @property
    def widest(self) -> int:
        return prod(self.shape)

    @property
    def depth(self) -> int:
        return prod((size + 1) ** 2 // 4 for size in self.shape)

    def has(self, query: Query) -> bool:
        return not isinstance(query, Halfspace) and _inside(query, self.shape)

    def index_of(self, query: Box) -> int:
        found = 0
        for (start, stop), size, runs in zip(query, self.shape, self.runs, strict=True):
            found = found * runs + start * size - start * (start - 1) // 2 + stop - start - 1
        return found

    def at(self, index: int) -> Box:
        """The query at a place of the list."""
        return _only(self.spans(np.array([index])))

    def spans(self, indices: NDArray[np.int64]) -> Spans:
        """For queries at some places, where the run of each column starts and stops: columns x queries."""
        starts, stops = (np.empty((len(self.shape), indices.size), dtype=np.int64) for _ in range(2))
        for axis, which in enumerate(np.unravel_index(indices, self.runs)):
            first, last = _runs(self.shape[axis])
            starts[axis], stops[axis] = first[which], last[which]
        return starts, stops

    def answers(self, cells: Numbers) -> Numbers:
        """For every query, as listed, the sum of its cells: whole numbers of whole numbers, exactly."""
        found = cells
        for axis, size in enumerate(self.shape):
            before = np.zeros_like(found.take([0], axis=axis))
            sums = np.concatenate([before, np.cumsum(found, axis=axis)], axis=axis)
            starts, stops = _runs(size)
            found = sums.take(stops, axis=axis) - sums.take(starts, axis=axis)
        return found.ravel()


@lru_cache(maxsize=16)
def _runs(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Starts and stops of all runs of so many bins, in the order of their places."""
    return np.triu_indices(size + 1, k=1)


@dataclass(frozen=True)
class Halfspaces:
    """All half-spaces of the grid of bin numbers. They are too many to list, and are counted by Cover's theorem."""

    shape: Shape
    name: ClassVar[str] = "halfspaces"

    @property
    def log_number(self) -> Fraction:
        return log_halfspaces(prod(self.shape), len(self.shape))

    @property
    def dimension(self) -> int:
        return len(self.shape) + 1

    @property
    def widest(self) -> int:
        return prod(self.shape)

    def has(self, query: Query) -> bool:
        return isinstance(query, Halfspace) and len(query.weights) == len(self.shape)


Listed: TypeAlias = ColumnCells | Boxes
"""Classes whose queries can be listed one by one."""
Class: TypeAlias = Listed | Halfspaces


def log_halfspaces(points: int, dimension: int) -> Fraction:
    """ln of in how many ways half-spaces split so many points, rounded up: 2 sum of C(points - 1, i), i = 0..dimension.

    Guarantee: at least the logarithm of the number of splits, for points in any position (Cover 1965).
    """
    return _log(2 * sum(comb(points - 1, i) for i in range(dimension + 1)))


def parse(text: str, shape: Shape) -> Class:
    """The class that ``marginals:2`` says, on a domain of that shape."""
    name, colon, number = text.strip().partition(":")
    if name in ("marginals", "conjunctions") and number.isascii() and number.isdigit() and len(number) < 4:
        return ColumnCells(shape, int(number), at_most=name == "conjunctions")
    if name == "tables" and colon:
        return _named_tables(number, shape)
    if not colon:
        match name:
            case "intervals":
                return Boxes(shape, line=True)
            case "boxes":
                return Boxes(shape)
            case "halfspaces":
                return Halfspaces(shape)
    raise WrongUse(f"a class of queries is one of {', '.join(NAMES)}, like marginals:2, not {text[:40]!r}")


DIGITS = 12


def log_growth(queries: Class, people: int) -> Fraction:
    """ln of the growth function: in how many ways the queries split so many people, rounded up.

    Guarantee: at least ln Pi(people): the smaller of ln of the number of queries and of Sauer's sum of C(people, i) up
    to the VC dimension (Lemma 22; for half-spaces Cover's number).
    """
    known = queries.log_number
    if isinstance(queries, Halfspaces):
        return min(known, log_halfspaces(people, len(queries.shape)))
    if queries.dimension >= people:
        return known
    with precision():
        sauer = sum(comb(people, i) for i in range(queries.dimension + 1))
        return min(known, rounded(ball(sauer).log(), up=True))


def finite(rows: int, people: int) -> Fraction:
    """What drawing without replacement saves.

    Guarantee: the f = min{1 - (k-1)/n, (1 - k/n)(1 + 1/k)} of Serfling 1974 and Bardenet-Maillard 2015, with which
    P(|mean of k - mean of n| > t) <= 2 exp(-2 k t^2 / f) for values in [0, 1].
    """
    k, n = Fraction(rows), Fraction(people)
    return min(1 - (k - 1) / n, (1 - k / n) * (1 + 1 / k))


def sampling_error(queries: Class, rows: int, people: int, doubt: Fraction) -> Fraction:
    """How far any share of the sample is from that of everybody, but with probability `doubt`, rounded up.

    Guarantee: sqrt(f (ln Pi(n) + ln(2/doubt)) / (2k)): Serfling and Bardenet-Maillard for each of at most Pi(n)
    queries, both ways. Nothing where everybody is in the sample.
    """
    saved = finite(rows, people)
    if saved == 0:
        return Fraction(0)
    with precision():
        found = ball(saved) * (ball(log_growth(queries, people)) + ball(2 / doubt).log()) / (2 * rows)
        return min(rounded(found.sqrt(), up=True, digits=DIGITS), Fraction(1))
