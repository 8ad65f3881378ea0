"""Which tables get geometric noise, and which part of epsilon each: the least error, and no table worse than by itself.

**Separate tables.** A count with noise of rate r has the variance v(r) = 1/(cosh r - 1), about 2/r^2. With weights w_i the
sum of w_i v(r_i), the rates adding up to epsilon, is least where w_i sinh(r_i) v(r_i)^2 is the same for all, since v is
convex; for 2/r^2 that is r_i ~ w_i^(1/3). So rates r_i say that a table has the weight r_i^3, and in units of v(r_i), what
it would have by itself, the weight r_i.

**Together.** The tables that are measured need not be those that are asked for. With noise of variance t_A on each measured
table A, the residual of B has the precision 1/sigma_B^2 = sum over A with B of 1/(t_A prod over A \\ B of n_j) after least
squares, and a table A the variance sum over B within A of sigma_B^2 p_B prod over A \\ B of n_j^-2.

**Theorem (Gauss and Markov).** If every table is measured with the rate that it would have by itself, then no table has
a larger variance than by itself: its own numbers are one unbiased linear estimate, and least squares has the least variance
of all. So the search below, which starts there, ends at a plan with at most the error of separate tables, table by table.

Whatever the search finds is private: the rates add up to epsilon. It is in floats, and only the error depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.query_classes.classes import Shape
from hubbub.query_classes.marginals.tables import Columns, subsets
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]

PARTS: Final = 10**6
_MOST_CELLS: Final = 100_000  # of a table that nobody asked for
_MOST_UNIONS: Final = 60
_STEPS: Final = 150
_ROUNDS: Final = 12
_LESS: Final = 1e-3  # of the error: a change that gains less is none
_NOTHING: Final = 1e-7  # of epsilon: so little is none
_TRIED: Final = (0.05, 0.3)  # of epsilon, for a table that was not measured


def precision(rates: Floats) -> Floats:
    """One over the variance of two-sided geometric noise: cosh r - 1."""
    return np.asarray(2 * np.sinh(rates / 2) ** 2)


@dataclass(frozen=True, eq=False)
class Design:
    """Tables that are asked for, with the rates that they would have by themselves, and those that may be measured."""

    shape: Shape
    tables: tuple[Columns, ...]
    rates: tuple[float, ...]

    @cached_property
    def candidates(self) -> tuple[Columns, ...]:
        """What may be measured: the tables themselves, unions of two of them, and that of all."""
        unions = [tuple(sorted({*a, *b})) for a, b in combinations(self.tables, 2)]
        every = tuple(sorted({i for each in self.tables for i in each}))
        known = dict.fromkeys(each for each in (every, *sorted(unions, key=self._cells)) if each not in self.tables)
        return (*self.tables, *[each for each in known if self._cells(each) <= _MOST_CELLS][:_MOST_UNIONS])

    def _cells(self, columns: Sequence[int]) -> int:
        return math.prod(self.shape[i] for i in columns)

    @cached_property
    def _closure(self) -> tuple[Columns, ...]:
        return tuple(dict.fromkeys(below for each in self.tables for below in subsets(each)))

    @cached_property
    def _information(self) -> Floats:
        """How much a measured table tells of the residual of each table: closure x candidates."""
        found = np.zeros((len(self._closure), len(self.candidates)))
        for j, each in enumerate(self.candidates):
            for i, below in enumerate(self._closure):
                if set(below) <= set(each):
                    found[i, j] = 1 / self._cells([k for k in each if k not in below])
        return found

    @cached_property
    def _counts(self) -> Floats:
        """How much the variance of a residual counts in that of each table: tables x closure."""
        found = np.zeros((len(self.tables), len(self._closure)))
        for j, below in enumerate(self._closure):
            share = math.prod(1 - 1 / self.shape[k] for k in below)
            for i, each in enumerate(self.tables):
                if set(below) <= set(each):
                    found[i, j] = share / self._cells([k for k in each if k not in below]) ** 2
        return found

    @cached_property
    def separate(self) -> Floats:
        """The variances of separate tables."""
        return np.asarray(1 / precision(np.array(self.rates)))

    def ratios(self, rates: Floats) -> Floats:
        """The variance of each table after least squares, over what it would have by itself."""
        told = self._information @ precision(rates)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self._counts @ np.where(told > 0, 1 / told, np.inf)
        return np.asarray(np.where(np.isnan(found), np.inf, found) / self.separate)

    def slopes(self, rates: Floats, weights: Floats) -> Floats:
        """By how much a little more of each rate lowers the weighted ratios."""
        told = self._information @ precision(rates)
        of_residuals = (weights / self.separate) @ self._counts / told**2
        return np.asarray((of_residuals @ self._information) * np.sinh(rates))

    @property
    def start(self) -> Floats:
        """Every table measured as by itself."""
        return np.array([*self.rates, *([0.0] * (len(self.candidates) - len(self.tables)))])


def best_parts(design: Design) -> tuple[tuple[Columns, ...], tuple[int, ...]]:
    """The tables to measure and the part of epsilon of each, in whole numbers.

    Guarantee: no table has a larger variance than by itself, up to the rounding of double precision.
    """
    if len(design.tables) == 1:
        return design.tables, (1,)
    found = _parts(design, _improve(design, min(_starting_rates(design), key=lambda each: _error(design, each))))
    if max(design.ratios(_rates(design, found))) <= 1:
        kept = [i for i, part in enumerate(found) if part]
        return tuple(design.candidates[i] for i in kept), tuple(found[i] for i in kept)
    return design.tables, tuple(max(round(PARTS * rate / sum(design.rates)), 1) for rate in design.rates)


def _starting_rates(design: Design) -> Iterator[Floats]:
    yield _settle(design, design.start)
    largest = [each for each in design.tables if not any(set(each) < set(other) for other in design.tables)]
    spread = np.zeros(len(design.candidates))
    for each, rate in zip(design.tables, design.rates, strict=True):
        spread[design.tables.index(next(other for other in largest if set(each) <= set(other)))] += rate
    yield _settle(design, spread)
    for i in range(len(design.tables), len(design.candidates)):
        one = np.zeros(len(design.candidates))
        one[i] = sum(design.rates)
        if np.isfinite(design.ratios(one)).all():
            yield one


def _improve(design: Design, rates: Floats) -> Floats:
    """With tables left out, or others measured too, as long as that helps."""
    error = _error(design, rates)
    for _ in range(_ROUNDS):
        tried = min((_settle(design, each) for each in _neighbours(rates)), key=lambda each: _error(design, each))
        if _error(design, tried) > error * (1 - _LESS):
            break
        rates, error = tried, _error(design, tried)
    return rates


def _neighbours(rates: Floats) -> Iterator[Floats]:
    for i, rate in enumerate(rates.tolist()):
        for part in (0.0,) if rate else _TRIED:
            moved = rates * (1 - part)
            moved[i] = part * rates.sum()
            if moved.sum() > 0:
                yield moved * (rates.sum() / moved.sum())


def _error(design: Design, rates: Floats) -> float:
    """The mean of the ratios by their weights; infinite where a table is worse than by itself."""
    ratios = design.ratios(rates)
    return float(np.average(ratios, weights=design.rates)) if ratios.max() <= 1 else math.inf


def _settle(design: Design, start: Floats) -> Floats:
    """A plan near a start with the least mean of ratios, or the start; what is worse than by itself gets more weight."""
    weights, best = np.array(design.rates), start
    if not np.isfinite(design.ratios(start)).all():
        return start
    rates = start
    for _ in range(_ROUNDS):
        rates = _descend(design, rates, weights)
        if _error(design, rates) < _error(design, best):
            best = rates
        ratios = design.ratios(rates)
        if ratios.max() <= 1:
            break
        weights = weights * np.maximum(ratios, 1) ** 3
    return best


def _descend(design: Design, rates: Floats, weights: Floats) -> Floats:
    total, pace = rates.sum(), 1 / 3  # for separate tables, one step with 1/3 ends at r ~ w^(1/3)
    value = float(weights @ design.ratios(rates))
    for _ in range(_STEPS):
        slopes = design.slopes(rates, weights)
        moved = rates * np.where(rates > 0, slopes / slopes.max(), 0) ** pace
        moved = np.where(moved > _NOTHING * moved.sum(), moved, 0)
        moved = moved * (total / moved.sum())
        gained = float(weights @ design.ratios(moved))
        if not gained < value:
            pace /= 2
        elif gained > value * (1 - 1e-9):
            break
        else:
            rates, value = moved, gained
        if pace < 0.01:
            break
    return rates


def _parts(design: Design, rates: Floats) -> list[int]:
    """In millionths, rounded down; the largest gets the rest."""
    found = [int(PARTS * rate / float(rates.sum())) for rate in rates.tolist()]
    found[found.index(max(found))] += PARTS - sum(found)
    return found


def _rates(design: Design, parts: Sequence[int]) -> Floats:
    return np.array(parts, dtype=np.float64) * (sum(design.rates) / sum(parts))
