"""Gaussian noise on what each table says beyond the tables that it contains.

For every measured set A of columns, N_A times the counts of A get noise N_Z(s2_A), and of the noisy table only its residual
is published, as differences to the first bin of every column: what is left when all sums over a column are taken out.

**Privacy.** The residual does not see what C takes out, so it is a function of the whole numbers N_A (C x .. x C) counts + Z,
which one person moves as :meth:`hubbub.query_classes.marginals.tables.Tables.moved` says. All tables together are one
Gaussian release for Lemma C (:mod:`hubbub.guarantees.accountant.gaussian`).

**Reconstruction.** The table A is the sum over B within A of the residual of B, spread evenly over the bins of A \\ B:
rational, unbiased, and all tables agree in all sums exactly. A count of people in a box, m_i of n_i bins of each column,
has a variance of at most

    sum over B of sigma_B^2 prod over B of (m_i - m_i^2/n_i) prod over the others of (m_i/n_i)^2,   sigma_B^2 = s2_B/N_B^2;

only columns of which the box leaves bins out count, and for one cell of A it is that of the theory note.

**Intervals** are those of Lemma I (:func:`hubbub.numeric.gaussian_sums.reach_of_sum`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.guarantees.accountant.gaussian import GaussianNoise, lemma_c
from hubbub.noise.gaussian import LARGEST, discrete_gaussian
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, precision, rounded, upper
from hubbub.numeric.gaussian_sums import LEAST_SMOOTHED, reach_of_sum
from hubbub.query_classes.marginals.tables import Columns, Tables, columns_without, subsets
from hubbub.runtime.frozen import dataclass

Numbers: TypeAlias = NDArray[Any]

LEAST_VARIANCE: Final = LEAST_SMOOTHED
"""Of the noise on scaled counts: what Lemma I asks for."""
_DIGITS: Final = 7
_NARROW: Final = 1 << 62  # numbers below it are added and multiplied in 64 bits


@dataclass(frozen=True)
class Residuals:
    """The noise of all measured tables: `s2` in their order.

    Guarantee: (epsilon, delta)-differential privacy for the neighbours of `tables` with the delta of :meth:`delta`, and
    zero-concentrated differential privacy with :attr:`rho`.
    """

    tables: Tables
    s2: tuple[Fraction, ...]

    def why_not(self) -> str:
        """Why it cannot be drawn, in words; empty if it can."""
        if len(self.s2) != len(self.tables.measured_tables) or min(self.s2) < LEAST_VARIANCE or max(self.s2) > LARGEST:
            return "its variances are none for these tables"
        return ""

    @cached_property
    def of_table(self) -> Mapping[Columns, Fraction]:
        """The variance of each measured table."""
        return dict(zip(self.tables.measured_tables, self.s2, strict=True))

    @cached_property
    def noises(self) -> tuple[GaussianNoise, ...]:
        """What one person moves of each scaled table, and its noise.

        Guarantee: |v|^2 is at most N_A^2 times what :meth:`Tables.moved` says, in at most N_A cells.
        """
        tables = self.tables
        return tuple(
            GaussianNoise(
                s2=s2, squared=tables.cells(a) ** 2 * tables.squared_sensitivity(a), moved=tables.cells(a), signed=True
            )
            for a, s2 in self.of_table.items()
        )

    @property
    def rho(self) -> Fraction:
        """Guarantee: the zCDP of all tables together."""
        return sum((noise.rho for noise in self.noises), Fraction(0))

    def delta(self, epsilon: Fraction) -> Fraction:
        """Guarantee: the delta of all tables together at this epsilon, by Lemma C, rounded up."""
        return _delta(self, epsilon)

    # --- how exact it is -------------------------------------------------------------------------------------------

    def variance(self, columns: Columns) -> Fraction:
        """Of each cell of a table, an upper bound, exact but for 1e-15."""
        return self.variance_of(dict.fromkeys(columns, 1))

    def variance_of(self, bins: Mapping[int, int]) -> Fraction:
        """Of the number of people in so many bins of each of some columns."""
        return self._squares(bins, self.of_table)

    def reach(self, columns: Columns, miss: Fraction) -> Fraction:
        """How far a cell of a table is from the truth, but for a chance of `miss`."""
        return self.reach_of(dict.fromkeys(columns, 1), miss)

    def reach_of(self, bins: Mapping[int, int], miss: Fraction) -> Fraction:
        """How far the number of people in so many bins of each of some columns is from the truth, but for `miss`.

        Guarantee: Lemma I, with the factors of Poisson summation for all its terms, rounded up.
        """
        smooth = self._squares(bins, dict.fromkeys(self.of_table, Fraction(1)))
        if not smooth:  # everybody, and their number is public
            return Fraction(0)
        below = subsets(tuple(sorted(bins)))
        terms = sum(self.tables.cells(each) for each in below)
        return reach_of_weights(self.variance_of(bins), smooth, terms, miss)

    def _squares(self, bins: Mapping[int, int], s2: Mapping[Columns, Fraction]) -> Fraction:
        """The sum over all noises of their squared coefficient times these numbers."""
        tables, total = self.tables, Fraction(0)
        for below in subsets(tuple(sorted(i for i, m in bins.items() if m < tables.shape[i]))):
            if below in s2:
                inside = prod(Fraction(bins[i]) * (1 - Fraction(bins[i], tables.shape[i])) for i in below)
                other = prod(Fraction(m, tables.shape[i]) for i, m in bins.items() if i not in below)
                total += s2[below] / tables.cells(below) ** 2 * inside * other**2
        return total

    # --- drawing ---------------------------------------------------------------------------------------------------

    def draw(self, table: Callable[[Columns], NDArray[np.int64]], source: Source) -> NDArray[np.int64]:
        """The differences of every measured table, one after the other; `table` counts people by some columns.

        Guarantee: exact counts, scaled, with exact noise, of which the differences are published: the vectors that
        :attr:`noises` is about.
        """
        found = []
        for columns, s2 in self.of_table.items():
            exact = table(columns).ravel()
            noisy = self.tables.cells(columns) * exact + discrete_gaussian(s2, exact.size, source)
            found.append(differences(noisy.reshape(self.tables.sizes(columns))).ravel())
        return np.concatenate(found)

    def fit(self, drawn: NDArray[np.int64], people: int | None = None) -> Reconstruction:
        """All tables, each the sum of the residuals within it."""
        return Reconstruction(self.tables, drawn, people)


@lru_cache(maxsize=64)
def _delta(plan: Residuals, epsilon: Fraction) -> Fraction:
    return lemma_c(plan.noises, epsilon)


def reach_of_weights(
    variance: Fraction, squares: Fraction, terms: int, miss: Fraction, *, smooth: bool = True
) -> Fraction:
    """How far a weighted sum of so many noises is from 0, but for a chance of `miss`, given its variance and the sum of
    the squared weights.

    Guarantee: Lemma I (:func:`hubbub.numeric.gaussian_sums.reach_of_sum`), rounded up; where it is not `smooth`, since a
    parameter s2 is below 9, Chernoff's bound sqrt(2 Var ln(2/miss)), which holds for every s2.
    """
    with precision():
        if not smooth:
            return rounded(upper((2 * ball(variance) * (ball(2 / miss)).log()).sqrt()), up=True, digits=_DIGITS)
        return rounded(upper(reach_of_sum(variance, squares, terms, miss / 2)), up=True, digits=_DIGITS)


def differences(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Differences to the first bin of every column."""
    for axis in range(table.ndim):
        table = table.take(range(1, table.shape[axis]), axis=axis) - table.take([0], axis=axis)
    return table


def residual_of(differences: Numbers, sizes: Sequence[int]) -> Numbers:
    """N (C x .. x C) of the table whose differences these are: with zeros in the first bins, n x - sum by each column."""
    largest = int(np.abs(differences).max(initial=0))
    kind = np.int64 if largest * prod(2 * size for size in sizes) < _NARROW else object
    table: Numbers = np.zeros(sizes, dtype=kind)
    table[tuple(slice(1, None) for _ in sizes)] = differences.reshape([size - 1 for size in sizes]).astype(kind)
    for axis, size in enumerate(sizes):
        table = size * table - table.sum(axis=axis, keepdims=True)
    return table


class Reconstruction:
    """All tables of a closure, from what was published: whole numbers over N_A^2."""

    def __init__(self, tables: Tables, drawn: NDArray[np.int64], people: int | None = None) -> None:
        self.tables = tables
        parts = (drawn[start:stop] for start, stop in zip(tables.starts, tables.starts[1:], strict=False))
        self._residuals = {
            columns: residual_of(part, tables.sizes(columns))
            for columns, part in zip(tables.measured_tables, parts, strict=True)
        }
        if tables.total_is_public:
            assert people is not None
            self._residuals[()] = np.array(people, dtype=np.int64)
        self._largest = {each: int(np.abs(part).max(initial=0)) for each, part in self._residuals.items()}

    def scaled_table(self, columns: Columns) -> tuple[Numbers, int]:
        """N_A^2 times the table of some columns, in whole numbers, and N_A^2.

        Guarantee: N_A^2 sum over B of residual_B/(N_B^2 prod over A \\ B of n_j) = sum over B of residual_B prod over A \\ B
        of n_j, exactly; so all tables agree in all sums.
        """
        tables = self.tables
        below = {each: tables.cells(columns_without(columns, each)) for each in subsets(columns)}
        largest = sum(self._largest[each] * times for each, times in below.items())
        total: Numbers = np.zeros(tables.sizes(columns), dtype=np.int64 if largest < _NARROW else object)
        for each, times in below.items():
            wide = self._residuals[each].reshape([tables.shape[i] if i in each else 1 for i in columns])
            total = total + (wide if total.dtype == np.int64 else wide.astype(object)) * times
        return total, tables.cells(columns) ** 2


def positions(tables: Tables) -> list[NDArray[np.int64]]:
    """For every published number the bin of each column; the number of its bins where the column is not in the table."""
    found = [np.full(tables.starts[-1], size, dtype=np.int64) for size in tables.shape]
    for i, columns in enumerate(tables.measured_tables):
        part = slice(tables.starts[i], tables.starts[i + 1])
        sizes = [tables.shape[j] - 1 for j in columns]
        if columns and part.stop > part.start:
            for j, bins in zip(columns, np.unravel_index(np.arange(part.stop - part.start), sizes), strict=True):
                found[j][part] = bins + 1
    return found
