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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TypeAlias

from hubbub.query_classes.classes import Shape

Columns: TypeAlias = tuple[int, ...]


def subsets(columns: Columns) -> list[Columns]:
    """All sets of these columns, the empty one first."""
    return [each for size in range(len(columns) + 1) for each in combinations(columns, size)]


@dataclass(frozen=True)
class Tables:
    """A workload on a domain. `weights` say how much the variance of a cell of each table counts in the mean.

    With `replaced`, neighbours are one person replaced by another; with `outside`, somebody may be in no cell.
    """

    shape: Shape
    workload: tuple[Columns, ...]
    weights: tuple[int, ...]
    replaced: bool = False
    outside: bool = True

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
    def measured(self) -> tuple[Columns, ...]:
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

    def moved(self, columns: Columns) -> Fraction:
        """The squared length by which one person moves a residual, over N_A^2.

        Guarantee: no two neighbouring tables of people are further apart.
        """
        if not self.replaced:
            return self.share(columns)
        if not columns:
            return Fraction(int(self.outside))
        fewest = min((n for n in self.sizes(columns) if n > 1), default=2)
        return 2 * self.share(columns) * Fraction(fewest, fewest - 1)

    def spread(self, columns: Columns, below: Columns) -> Fraction:
        """prod over A \\ B of n_j^-2."""
        return Fraction(1, self.cells(without(columns, below)) ** 2)

    def differences(self, columns: Columns) -> int:
        """How many differences to the first bins a table has."""
        return prod(self.shape[i] - 1 for i in columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the differences of each measured table begin, and where the last one ends."""
        found = [0]
        for each in self.measured:
            found.append(found[-1] + self.differences(each))
        return tuple(found)

    def demands(self, weights: Sequence[Fraction | int]) -> Mapping[Columns, Fraction]:
        """For each measured B, with how much sigma_B^2 counts in the sum of variances with these weights."""
        found = dict.fromkeys(self.measured, Fraction(0))
        for each, weight in zip(self.workload, weights, strict=True):
            for below in subsets(each) if weight else ():
                if below in found:
                    found[below] += weight * self.share(below) * self.spread(each, below)
        return found


def without(columns: Columns, others: Columns) -> Columns:
    """These columns but for the others."""
    return tuple(i for i in columns if i not in others)
