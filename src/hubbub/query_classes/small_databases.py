"""A small invented database instead of the true one (Blum, Ligett, Roth 2008): drawn among all of a size, exactly.

Every multiset of m cells is a candidate, and its loss is how far its worst answer is from the truth, in whole people.
The exponential mechanism draws one, over the whole list of candidates: only for tiny domains, but with its true law. (A
Markov chain that comes near that law would void the promise.)
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, lgamma, log
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.query_classes.classes import Boxes, Listed, Query, cells_of, sum_cells
from hubbub.query_classes.setting import NOT_PUBLIC, Cells, Drawn, Setting, too_wide, why_unlisted
from hubbub.query_classes.tails import exponential, selection_error
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

MOST_CANDIDATES: Final = 300_000
MOST_WORK: Final = 10**8  # candidates times queries
_DIGITS: Final = 12
_CHUNK: Final = 1 << 12


@dataclass(frozen=True)
class SmallDatabase:
    """So many rows, invented."""

    size: int
    name: ClassVar[str] = "small-database"
    blank: ClassVar[Blank] = Blank.ANY

    def why_not(self, setting: Setting) -> str:
        if setting.rows is None:
            return NOT_PUBLIC
        listing = why_unlisted(setting)
        if listing:
            return listing
        if too_many(setting.cells, self.size, setting.listed_queries.number):
            return f"it lists every database of {self.size:,} rows, and there are too many of them"
        return too_wide(setting.any_row / 2)

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: one person, added, removed or replaced, changes the loss of every candidate by at most one, so the
        exponential mechanism of half this rate loses this."""
        return setting.any_row

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: some candidate is within the radius of the net, the one drawn misses the best by what
        :func:`hubbub.query_classes.tails.selection_error` says, and one person is for whole losses."""
        return rounded(
            setting.public_rows * radius(setting, self.size)
            + selection_error(setting.any_row / 2, log_candidates(setting.cells, self.size), setting.doubt)
            + 1,
            up=True,
            digits=_DIGITS,
        )

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self.error_bound(setting)

    def seconds(self, setting: Setting) -> float:
        return 0.1 + 2e-6 * candidates(setting.cells, self.size) * (1 + setting.listed_queries.number / 500)

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: one draw of the exact exponential mechanism, so what :meth:`spends` says is lost and no more."""
        databases = databases_of(setting.cells, self.size)
        losses = _losses(
            databases, setting.listed_queries, cells.answers(setting.listed_queries), setting.public_rows, self.size
        )
        return Drawn(databases[exponential(losses, setting.any_row / 2, source)].astype(np.int64))

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        inside = drawn.numbers[: cells_of(setting.shape)].reshape(setting.shape)
        return Fraction(setting.public_rows * int(sum_cells(query, inside)), self.size)


def candidates(cells: int, size: int) -> int:
    """How many multisets of so many of the cells there are."""
    return comb(cells + size - 1, size)


def too_many(cells: int, size: int, queries: int) -> bool:
    """Whether nobody can list them; what is far too many is not counted exactly."""
    if lgamma(cells + size) - lgamma(size + 1) - lgamma(cells) > 2 * log(MOST_CANDIDATES):
        return True
    number = candidates(cells, size)
    return number > MOST_CANDIDATES or number * queries > MOST_WORK


@lru_cache(maxsize=1024)
def log_candidates(cells: int, size: int) -> Fraction:
    with precision():
        return rounded(ball(candidates(cells, size)).log(), up=True)


def radius(setting: Setting, size: int) -> Fraction:
    """How near some database of so many rows is to any table, in shares, for every query at once; rounded up.

    Guarantee: the smallest of three. sqrt(ln(2|Q|)/(2m)): m rows drawn at random do it with positive probability.
    |X|/(4m): rounding every cell down or up to a multiple of 1/m, the F largest fractions up, moves sets of cells by at
    most F(1 - F/|X|)/m. For intervals 1/m: rounding the running sums moves each by at most 1/(2m).
    """
    with precision():
        drawn = ((ball(setting.queries.log_number) + ball(2).log()) / (2 * size)).sqrt()
        found = min(rounded(drawn, up=True, digits=_DIGITS), Fraction(setting.cells, 4 * size))
    line = isinstance(setting.queries, Boxes) and len(setting.shape) == 1
    return min(found, Fraction(1, size)) if line else found


@lru_cache(maxsize=2)
def databases_of(cells: int, size: int) -> NDArray[np.int32]:
    """Every candidate, as its number of rows in each cell."""
    found, left = np.empty((1, 0), dtype=np.int32), np.array([size])
    for _ in range(cells - 1):  # a cell takes 0 to as many rows as are left
        ways = left + 1
        taken = np.arange(ways.sum()) - np.repeat(np.cumsum(ways) - ways, ways)
        found = np.column_stack([np.repeat(found, ways, axis=0), taken.astype(np.int32)])
        left = np.repeat(left, ways) - taken
    return np.column_stack([found, left.astype(np.int32)])


def _losses(
    databases: NDArray[np.int32], queries: Listed, truth: NDArray[np.int64], rows: int, size: int
) -> NDArray[np.int64]:
    """max over q of |c_q - rows y_q / m|, rounded down: one person moves c_q by one, and that by at most one."""
    return farthest_off(databases, of_cells(queries), truth, rows, size) // size


def of_cells(queries: Listed) -> NDArray[np.int64]:
    """Whether a cell is in a query: cells x queries."""
    ones = np.eye(cells_of(queries.shape), dtype=np.int64)
    return np.stack([queries.answers(each.reshape(queries.shape)) for each in ones])


def farthest_off(
    databases: NDArray[np.int32], every: NDArray[np.int64], answers: NDArray[np.int64], rows: int, size: int
) -> NDArray[np.int64]:
    """For each database m times how far its worst answer is from what is told, in people of so many `rows`."""
    found = np.empty(len(databases), dtype=np.int64)
    for start in range(0, len(databases), _CHUNK):
        part = databases[start : start + _CHUNK, : len(every)].astype(np.int64)
        found[start : start + _CHUNK] = np.abs(size * answers - rows * (part @ every)).max(axis=1)
    return found


def best(setting: Setting) -> SmallDatabase:
    """The size with the smallest bound among those that can be listed."""
    one = SmallDatabase(1)
    if one.why_not(setting):
        return one
    found, size = [], 1
    while not SmallDatabase(size).why_not(setting):
        found.append(SmallDatabase(size))
        size += 1
        if size > MOST_CANDIDATES:
            break
    return min(found, key=lambda each: each.error_bound(setting))
