"""Tables by some columns of one domain, and the numbers that all formulas about them are made of.

Columns 1..c with n_i bins; a table A is a set of columns and has N_A = prod n_i cells. C = I - 11'/n takes a column's mean
out; the *residual* of a table is what is left when C was applied to every column, and p_A = prod (1 - 1/n_i) is the share
of one person's unit that is left. The tables that are asked for are the workload, and they with all tables below them
the closure, the grand total (the empty set) among these.

**What one person moves.** N_A times the residual is a vector of whole numbers, which one person who comes or goes moves
by a vector of squared length N_A^2 p_A, whoever it is. One person replaced by another moves it by

    2 (p_A - prod over A of ([both are in one bin] - 1/n_i)) N_A^2,

which is largest where the two differ in one column alone, the one with the fewest bins n: 2 p_A n/(n - 1). The grand
total does not move then, unless somebody may be in no cell: the number of people is public and need not be measured.

**Several rows of a person.** With x_i rows in cell i, sum x_i <= t and sum x_i^2 <= q, a person moves the residual by a
vector of squared length N_A^2 sum_ij x_i x_j K(i, j), K(i, j) = prod over A of ([i and j are in one bin] - 1/n_k). On the
diagonal K is p_A. Beside it, K is at most k p_A: k = 1 where a column is not in A, since i and j may differ in that one
alone; else i and j differ in some columns of A, each of which makes a factor -1/(n - 1) of p_A, so that an odd number of
them is below 0 and k = 1/((n - 1)(n' - 1)) for the two columns with the fewest bins (0 where A has one column). So

    N_A^2 p_A (q + k (t^2 - q)),

since the x_i x_j with i and j unlike sum up to t^2 - q' at most, q' the sum of squares, and k <= 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.source import Source
from hubbub.query_classes.classes import Shape
from hubbub.runtime.frozen import dataclass

Columns: TypeAlias = tuple[int, ...]


def subsets(columns: Columns) -> list[Columns]:
    """All sets of these columns, the empty one first."""
    return [each for size in range(len(columns) + 1) for each in combinations(columns, size)]


@dataclass(frozen=True)
class Tables:
    """A workload on a domain. `weights` say how much the variance of a cell of each table counts in the mean.

    With `replaced`, neighbours are one person replaced by another; with `outside`, somebody may be in no cell. One person
    who comes or goes moves the counts of the cells by at most `rows` in all, with squares that sum up to `squares`.
    """

    shape: Shape
    workload: tuple[Columns, ...]
    weights: tuple[int, ...]
    replaced: bool = False
    outside: bool = True
    rows: int = 1
    squares: int = 1

    @cached_property
    def closure(self) -> tuple[Columns, ...]:
        """The workload and all tables below it, the grand total first."""
        found = {below for each in self.workload for below in subsets(each)}
        return tuple(sorted(found, key=lambda each: (len(each), each)))

    @property
    def total_is_public(self) -> bool:
        """Whether the grand total is the number of people, which is public."""
        return self.replaced and not self.outside

    @cached_property
    def measured_tables(self) -> tuple[Columns, ...]:
        """The tables whose residuals get noise."""
        return self.closure[1:] if self.total_is_public else self.closure

    @cached_property
    def number(self) -> int:
        """How many cells the closure has."""
        return sum(map(self.cells, self.closure))

    def sizes(self, columns: Columns) -> list[int]:
        """The bins of each of these columns."""
        return [self.shape[i] for i in columns]

    def cells(self, columns: Columns) -> int:
        """N_A."""
        return prod(self.shape[i] for i in columns)

    def share(self, columns: Columns) -> Fraction:
        """p_A."""
        return prod((1 - Fraction(1, self.shape[i]) for i in columns), start=Fraction(1))

    def squared_sensitivity(self, columns: Columns) -> Fraction:
        """The squared length by which one person moves a residual, over N_A^2.

        Guarantee: no two neighbouring tables of people are further apart.
        """
        if not self.replaced:
            apart = self._cross_factor(columns)
            return self.share(columns) * (self.squares + apart * (self.rows**2 - self.squares))
        assert self.rows == 1, "a person with several rows comes or goes"
        if not columns:
            return Fraction(int(self.outside))
        fewest = min((n for n in self.sizes(columns) if n > 1), default=2)
        return 2 * self.share(columns) * Fraction(fewest, fewest - 1)

    def _cross_factor(self, columns: Columns) -> Fraction:
        """k: how much two rows in unlike cells move a residual together, over what two in one cell do; at most."""
        if len(columns) < len(self.shape):
            return Fraction(1)
        fewest = sorted(n for n in self.sizes(columns) if n > 1)[:2]
        return Fraction(1, (fewest[0] - 1) * (fewest[1] - 1)) if len(fewest) == 2 else Fraction(0)

    def spread(self, columns: Columns, below: Columns) -> Fraction:
        """prod over A \\ B of n_j^-2."""
        return Fraction(1, self.cells(columns_without(columns, below)) ** 2)

    def differences(self, columns: Columns) -> int:
        """How many differences to the first bins a table has."""
        return prod(self.shape[i] - 1 for i in columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the differences of each measured table begin, and where the last one ends."""
        found = [0]
        for each in self.measured_tables:
            found.append(found[-1] + self.differences(each))
        return tuple(found)

    def demands(self, weights: Sequence[Fraction | int]) -> Mapping[Columns, Fraction]:
        """For each measured B, with how much sigma_B^2 counts in the sum of variances with these weights."""
        found = dict.fromkeys(self.measured_tables, Fraction(0))
        for each, weight in zip(self.workload, weights, strict=True):
            for below in subsets(each) if weight else ():
                if below in found:
                    found[below] += weight * self.share(below) * self.spread(each, below)
        return found


def columns_without(columns: Columns, others: Columns) -> Columns:
    """These columns but for the others."""
    return tuple(i for i in columns if i not in others)


class FittedTables(Protocol):
    """All tables of a closure, from what was published: unbiased, and all of them agree in all sums exactly."""

    def scaled_table(self, columns: Columns) -> tuple[NDArray[Any], int]:
        """The table of some columns times a whole number, in whole numbers, and that number."""
        ...


class TableNoise(Protocol):
    """Which rows of a public matrix are drawn of the tables of a workload, with which noise, and what follows from them."""

    @property
    def tables(self) -> Tables:
        """The tables that are asked for."""
        ...

    def draw(self, table: Callable[[Columns], NDArray[np.int64]], source: Source) -> NDArray[np.int64]:
        """What is published; `table` counts people by some columns."""
        ...

    def fit(self, drawn: NDArray[np.int64], people: int | None = None) -> FittedTables:
        """All tables, from what was published, and from the number of people where that is public."""
        ...

    def variance(self, columns: Columns) -> Fraction | float:
        """Of each cell of a table."""
        ...

    def reach(self, columns: Columns, miss: Fraction) -> Fraction:
        """How far a cell of a table is from the truth, but for a chance of `miss`."""
        ...
