"""Geometric noise on every table for its share of epsilon, and all tables fitted together, without a delta.

A person is in one cell of each table, so with shares of epsilon that add up to it the noisy tables lose epsilon in all.
They are fitted together as :mod:`hubbub.query_classes.marginals.residual` takes them apart: the residual of B is estimated
from every table A that contains it, each with the weight w_A/prod over A \\ B of n_j, w_A about 1 over the variance of its
noise, and a table is the sum of the residuals within it. That is unbiased whatever the weights, all tables agree in all
sums exactly, and no cell of the whole domain is ever listed.

**How far an answer may be off.** It is the truth plus sum a_i X_i over the noises of all tables, and a_i depends only on
which columns of the cell agree with the one that is asked for. With v the variance of a two-sided geometric number,
E e^(t X) = 1/(1 - v (cosh t - 1)), so P(|sum| > h) <= 2 exp(sum over i of -ln(1 - v_i (cosh(a_i t) - 1)) - t h) for every t;
and, far closer, by its Fourier series (:mod:`hubbub.query_classes.marginals.fourier_tail`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, exp, precision, rounded, upper
from hubbub.query_classes.marginals.fourier_tail import BEYOND, LEAST_MISS, Series, series
from hubbub.query_classes.marginals.residual import Numbers
from hubbub.query_classes.marginals.tables import Columns, Tables, columns_without, subsets
from hubbub.runtime.frozen import dataclass

_DIGITS: Final = 7
_T = TypeVar("_T")


@dataclass(frozen=True)
class GeometricTables:
    """Two-sided geometric noise on every table of a workload: the rate of each, and its weight in the fit.

    Guarantee: a person is in one cell of each table and moves it by one, so the losses add up to the sum of the rates.
    """

    tables: Tables
    rates: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]

    @cached_property
    def of_table(self) -> Mapping[Columns, Fraction]:
        """The rate of each table."""
        return dict(zip(self.tables.workload, self.rates, strict=True))

    def draw(self, table: Callable[[Columns], NDArray[np.int64]], source: Source) -> NDArray[np.int64]:
        """The noisy tables, one after the other; `table` counts people by some columns.

        Guarantee: exact counts, each with exact noise of the rate of its table.
        """
        exact = (table(each).ravel() for each in self.tables.workload)
        pairs = zip(exact, self.rates, strict=True)
        return np.concatenate([counts + two_sided_geometric(rate, counts.size, source) for counts, rate in pairs])

    def fit(self, drawn: NDArray[np.int64], people: int | None = None) -> Fitted:
        """All tables by least squares; the number of `people` says nothing about them."""
        return Fitted(self, drawn)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the numbers of each table begin, and where the last one ends."""
        found = [0]
        for each in self.tables.workload:
            found.append(found[-1] + self.tables.cells(each))
        return tuple(found)

    @cached_property
    def shares(self) -> Mapping[Columns, Mapping[Columns, Fraction]]:
        """For each B of the closure, with which weight each table that contains it tells its residual: they add up to 1."""
        found: dict[Columns, dict[Columns, Fraction]] = {}
        for each, weight in zip(self.tables.workload, self.weights, strict=True):
            for below in subsets(each):
                found.setdefault(below, {})[each] = weight / self.tables.cells(columns_without(each, below))
        return {
            below: {each: weight / sum(some.values()) for each, weight in some.items()} for below, some in found.items()
        }

    def variance(self, columns: Columns) -> float:
        """Of each cell of a fitted table, from the coefficients of all noises."""
        a, v, many = self.groups(columns)
        return math.fsum((a**2 * v * many).tolist())

    @cached_property
    def _variances(self) -> Mapping[Columns, float]:
        """Of the noise of each table."""
        return {each: geometric_variance(rate) for each, rate in self.of_table.items()}

    @cached_property
    def _cache(self) -> dict[object, Any]:
        """What was worked out already; a hash of all rates takes longer than looking it up here."""
        return {}

    def _once(self, key: object, work: Callable[[], _T]) -> _T:
        if key not in self._cache:
            self._cache[key] = work()
        found: _T = self._cache[key]
        return found

    def terms(self, columns: Columns) -> tuple[tuple[Columns, Fraction, int], ...]:
        """(table, coefficient, number of its cells) of all noises in the answer to a cell of a table."""
        return self._once(("terms", columns), lambda: tuple(_each_term(self, columns)))

    def groups(self, columns: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Their coefficients without signs, variances and numbers."""

        def work() -> tuple[NDArray[np.float64], ...]:
            found = ((abs(a.numerator / a.denominator), self._variances[each], n) for each, a, n in self.terms(columns))
            return tuple(np.array(column, dtype=np.float64) for column in zip(*found, strict=True))

        a, v, many = self._once(("groups", columns), work)
        return a, v, many

    def series(self, columns: Columns) -> Series | None:
        """The law of how far a cell of a fitted table is off."""

        def work() -> Series | None:
            return series(*self.groups(columns), float(chernoff(self, columns, BEYOND)) * (1 + 1e-9))

        return self._once(("series", columns), work)

    def reach(self, columns: Columns, miss: Fraction) -> Fraction:
        """How far a cell of a fitted table is from the truth, but for a chance of `miss`.

        Guarantee: the Fourier series of :mod:`hubbub.query_classes.marginals.fourier_tail`; of a very small chance, or
        where that would take too long, Chernoff with one t, which is a proof whatever it is, in a ball.
        """

        def work() -> Fraction:
            found = self.series(columns) if miss >= LEAST_MISS else None
            return chernoff(self, columns, miss) if found is None else found.reach(miss)

        return self._once(("reach", columns, miss), work)


class Fitted:
    """The tables of a closure, fitted to what was published: whole numbers over one denominator each."""

    def __init__(self, noise: GeometricTables, drawn: NDArray[np.int64]) -> None:
        self.noise = noise
        self._drawn = drawn
        self._residuals: dict[Columns, tuple[Numbers, int]] = {}

    def scaled_table(self, columns: Columns) -> tuple[Numbers, int]:
        """A table times a whole number, and that number: N_A sum over B of residual_B/(N_B prod over A \\ B of n_j) is the
        sum of residual_B."""
        tables = self.noise.tables
        parts = {below: self._residual(below) for below in subsets(columns)}
        scale = math.lcm(*(denominator for _, denominator in parts.values()))
        total: Any = np.zeros(tables.sizes(columns), dtype=object)
        for below, (part, denominator) in parts.items():
            wide = part.reshape([tables.shape[i] if i in below else 1 for i in columns])
            total = total + wide * (scale // denominator)
        return np.asarray(total, dtype=object), scale * tables.cells(columns)

    def _residual(self, below: Columns) -> tuple[Numbers, int]:
        """N_B times a residual in whole numbers over one denominator."""
        if below not in self._residuals:
            self._residuals[below] = self._estimate_residual(below)
        return self._residuals[below]

    def _estimate_residual(self, below: Columns) -> tuple[Numbers, int]:
        noise, tables = self.noise, self.noise.tables
        shares = noise.shares[below]
        scale = math.lcm(*(share.denominator for share in shares.values()))
        total: Any = np.zeros(tables.sizes(below), dtype=object)
        for i, each in enumerate(tables.workload):
            if each in shares:
                table = self._drawn[noise.starts[i] : noise.starts[i + 1]].reshape(tables.sizes(each))
                gone = tuple(at for at, j in enumerate(each) if j not in below)
                summed = np.asarray(table.sum(axis=gone), dtype=np.int64).astype(object)
                total = total + int(shares[each] * scale) * summed
        for axis, i in enumerate(below):
            total = tables.shape[i] * total - total.sum(axis=axis, keepdims=True)
        return np.asarray(total, dtype=object), scale


def _each_term(noise: GeometricTables, columns: Columns) -> Iterator[tuple[Columns, Fraction, int]]:
    tables, shape, shares = noise.tables, noise.tables.shape, noise.shares
    for each in tables.workload:
        common = tuple(i for i in each if i in columns)
        free = tables.cells(columns_without(each, columns))
        below = subsets(common)
        parts = [
            shares[some][each] / (tables.cells(columns_without(columns, some)) * tables.cells(some)) for some in below
        ]
        scale = math.lcm(*(part.denominator for part in parts))
        integers = [part.numerator * (scale // part.denominator) for part in parts]
        for agree in product((True, False), repeat=len(common)):
            sign = {i: shape[i] * like - 1 for i, like in zip(common, agree, strict=True)}
            value = sum(part * math.prod(sign[i] for i in some) for part, some in zip(integers, below, strict=True))
            many = free * math.prod(1 if like else shape[i] - 1 for i, like in zip(common, agree, strict=True))
            if value and many:
                yield each, Fraction(value, scale), many


def geometric_variance(rate: Fraction) -> float:
    """Of two-sided geometric noise, to some fifteen digits."""
    return 2 * math.exp(-rate) / math.expm1(-float(rate)) ** 2


def chernoff(noise: GeometricTables, columns: Columns, miss: Fraction) -> Fraction:
    """How far a cell of a fitted table is from the truth, but for a chance of `miss`, by Chernoff.

    Guarantee: the bound for one t, which is a proof whatever it is; the sum is a ball, rounded up.
    """
    found, rates = noise.terms(columns), noise.of_table
    wide = math.log(2 / miss)
    spread = math.sqrt(noise.variance(columns))
    a, v, many = noise.groups(columns)
    slowest = {each: rate.numerator / rate.denominator for each, rate in rates.items()}
    most = min(slowest[each] / size for (each, _, _), size in zip(found, a.tolist(), strict=True))  # beyond: infinite

    def rough(t: float) -> float:
        return (wide - float(many @ np.log1p(-v * (np.cosh(a * t) - 1)))) / t

    good = math.sqrt(2 * wide) / spread
    grid = [good * f for f in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05)] + [most * f for f in (0.5, 0.7, 0.8)]
    t = Fraction(f"{min((x for x in grid if x < 0.9 * most), key=rough, default=0.5 * most):.6g}")
    with precision():
        grown, moments = arb(0), {}
        for each in noise.tables.workload:
            q = exp(-rates[each])
            moments[each] = 2 * q / (1 - q) ** 2
        for each, coefficient, n in found:
            grown = grown - (1 - moments[each] * ((ball(coefficient) * ball(t)).cosh() - 1)).log() * n
        return rounded(upper((grown + (2 / ball(miss)).log()) / ball(t)), up=True, digits=_DIGITS)
