"""Many marginals without a delta: noise on every table for its share of epsilon, then least squares by residuals.

A person is in one cell of each table, so with shares of epsilon that add up to it the noisy tables lose epsilon in all.
They are fitted together as :mod:`hubbub.query_classes.residual` takes them apart: the residual of B is estimated from
every table A that contains it, each with the weight 1/(t_A prod over A \\ B of n_j), t_A = 2/epsilon_A^2, and a table is
the sum of the residuals within it. That is unbiased whatever the weights, all tables agree in all sums exactly, and no
cell of the whole domain is ever listed. Shares ~ N_A^(1/3) have the least mean square over cells, before the fit.

**How far an answer may be off.** It is the truth plus sum a_i X_i over the noises of all tables, and a_i depends only on
which columns of the cell agree with the one that is asked for. With v the variance of a two-sided geometric number,
E e^(t X) = 1/(1 - v (cosh t - 1)), so P(|sum| > h) <= 2 exp(sum over i of -ln(1 - v_i (cosh(a_i t) - 1)) - t h) for every t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Final

import numpy as np
from flint import arb

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, exp, precision, rounded, upper
from hubbub.query_classes.classes import ColumnCells, Halfspace, Query
from hubbub.query_classes.residual import Columns, Numbers, Tables, of_class, subsets, table_of
from hubbub.query_classes.setting import Cells, Drawn, Setting, too_wide, unlisted
from hubbub.sampling.sanitize import Blank

_FINE: Final = 1000  # parts of a cube root
_DIGITS: Final = 7
_LARGEST: Final = 50  # a share of epsilon beyond which moments leave the range of numbers


@dataclass(frozen=True)
class SplitTables:
    """Two-sided geometric noise on every table of the class, each for its share of what may be lost.

    Guarantee: a person is in one cell of each table and moves it by one, so the losses add up to the sum of the shares.
    """

    name: ClassVar[str] = "split-tables"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def rates(self, setting: Setting) -> dict[Columns, Fraction]:
        """The share of each table."""
        assert isinstance(setting.queries, ColumnCells)
        tables, sets = of_class(setting.queries), setting.queries.sets
        roots = [round(_FINE * tables.cells(each) ** (1 / 3)) for each in sets]
        return {each: setting.half_way * Fraction(root, sum(roots)) for each, root in zip(sets, roots, strict=True)}

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, ColumnCells):
            return "it answers marginals and conjunctions"
        if setting.rows is not None:
            return "it is for people who come or go, and the number of people is declared"
        rates = self.rates(setting).values()
        if max(rates) > _LARGEST:
            return "a table would have a share of epsilon above 50, which is next to no noise"
        return unlisted(setting) or too_wide(min(rates))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: the sum of the shares (Dwork, McSherry, Nissim, Smith 2006)."""
        return sum(self.rates(setting).values(), Fraction(0))

    def bound(self, setting: Setting) -> Fraction:
        """Guarantee: Chernoff, for every cell of the class at once: each may miss its share of `doubt`."""
        return max(_reaches(self, setting).values())

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        return _reaches(self, setting)[table_of(setting.queries, query)]

    def seconds(self, setting: Setting) -> float:
        assert isinstance(setting.queries, ColumnCells)
        return 0.5 + 3e-6 * setting.queries.number

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise of the rates that :meth:`spends` adds up."""
        assert isinstance(setting.queries, ColumnCells)
        queries = setting.queries
        truth = queries.of_listed(cells.codes, cells.counts)
        parts = [
            truth[start:stop] + two_sided_geometric(rate, stop - start, source)
            for rate, start, stop in zip(self.rates(setting).values(), queries.starts, queries.starts[1:], strict=False)
        ]
        return Drawn(np.concatenate(parts))

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        columns = table_of(setting.queries, query)
        scaled, scale = _fitted(self, setting, drawn, columns)
        return Fraction(int(scaled[tuple(query[i][0] for i in columns)]), scale)

    def every_answer(self, setting: Setting, drawn: Drawn) -> tuple[list[Fraction], list[Fraction]]:
        """What the published numbers say about every query, in their order, and how far each may be off."""
        assert isinstance(setting.queries, ColumnCells)
        said: list[Fraction] = []
        bounds: list[Fraction] = []
        for columns in setting.queries.sets:
            scaled, scale = _fitted(self, setting, drawn, columns)
            said += [Fraction(int(each), scale) for each in scaled.ravel()]
            bounds += [_reaches(self, setting)[columns]] * scaled.size
        return said, bounds

    def variance(self, setting: Setting, columns: Columns) -> float:
        """Of each cell of a table, from the coefficients of all noises."""
        rates = self.rates(setting)
        return math.fsum(
            float(a) ** 2 * many * _variance(rates[each]) for each, a, many in _terms(self, setting, columns)
        )


def _variance(rate: Fraction) -> float:
    q = math.exp(-rate)
    return 2 * q / (1 - q) ** 2


@lru_cache(maxsize=4096)
def _shares(method: SplitTables, setting: Setting, below: Columns) -> dict[Columns, Fraction]:
    """With which weight each table that contains B tells its residual; they add up to 1."""
    assert isinstance(setting.queries, ColumnCells)
    tables, rates = of_class(setting.queries), method.rates(setting)
    found = {
        each: rates[each] ** 2 / tables.cells(tuple(i for i in each if i not in below))
        for each in setting.queries.sets
        if set(below) <= set(each)
    }
    total = sum(found.values(), Fraction(0))
    return {each: weight / total for each, weight in found.items()}


@lru_cache(maxsize=4096)
def _residual(method: SplitTables, setting: Setting, drawn: Drawn, below: Columns) -> tuple[Numbers, int]:
    """N_B times a residual in whole numbers over one denominator."""
    assert isinstance(setting.queries, ColumnCells)
    queries, tables = setting.queries, of_class(setting.queries)
    shares = _shares(method, setting, below)
    scale = math.lcm(*(share.denominator for share in shares.values()))
    total: Any = np.zeros([tables.shape[i] for i in below], dtype=object)
    for each, share in shares.items():
        start = queries.starts[queries.sets.index(each)]
        table = (
            drawn.numbers[start : start + tables.cells(each)].reshape([tables.shape[i] for i in each]).astype(object)
        )
        gone = tuple(at for at, i in enumerate(each) if i not in below)
        total = total + int(share * scale) * np.asarray(table.sum(axis=gone), dtype=object)
    for axis, i in enumerate(below):
        total = tables.shape[i] * total - total.sum(axis=axis, keepdims=True)
    return np.asarray(total, dtype=object), scale


@lru_cache(maxsize=4096)
def _fitted(method: SplitTables, setting: Setting, drawn: Drawn, columns: Columns) -> tuple[Numbers, int]:
    """A table times a whole number: N_A sum over B of residual_B/(N_B prod over A \\ B of n_j) is the sum of residual_B."""
    assert isinstance(setting.queries, ColumnCells)
    tables = of_class(setting.queries)
    parts = {below: _residual(method, setting, drawn, below) for below in subsets(columns)}
    scale = math.lcm(*(denominator for _, denominator in parts.values()))
    total: Any = np.zeros([tables.shape[i] for i in columns], dtype=object)
    for below, (part, denominator) in parts.items():
        total = total + part.reshape([tables.shape[i] if i in below else 1 for i in columns]) * (scale // denominator)
    return np.asarray(total, dtype=object), scale * tables.cells(columns)


@lru_cache(maxsize=512)
def _terms(method: SplitTables, setting: Setting, columns: Columns) -> list[tuple[Columns, Fraction, int]]:
    """(table, coefficient, number of its cells) of all noises in the answer to a cell of a table."""
    assert isinstance(setting.queries, ColumnCells)
    return list(_each_term(method, setting, of_class(setting.queries), setting.queries, columns))


def _each_term(
    method: SplitTables, setting: Setting, tables: Tables, queries: ColumnCells, columns: Columns
) -> Iterator[tuple[Columns, Fraction, int]]:
    shape = tables.shape
    for each in queries.sets:
        common = tuple(i for i in each if i in columns)
        free = tables.cells(tuple(i for i in each if i not in columns))
        for agree in product((True, False), repeat=len(common)):
            like = dict(zip(common, agree, strict=True))
            value = Fraction(0)
            for below in subsets(common):
                away = tables.cells(tuple(i for i in columns if i not in below))
                sign = math.prod((Fraction(int(like[i])) - Fraction(1, shape[i]) for i in below), start=Fraction(1))
                value += _shares(method, setting, below)[each] * sign / away
            many = free * math.prod(1 if like[i] else shape[i] - 1 for i in common)
            if value and many:
                yield each, value, many


@lru_cache(maxsize=64)
def _reaches(method: SplitTables, setting: Setting) -> dict[Columns, Fraction]:
    assert isinstance(setting.queries, ColumnCells)
    miss = setting.doubt / setting.queries.number
    return {each: reach(method, setting, each, miss) for each in setting.queries.sets}


def reach(method: SplitTables, setting: Setting, columns: Columns, miss: Fraction) -> Fraction:
    """How far a cell of a table is from the truth, but for a chance of `miss`.

    Guarantee: Chernoff with one t, which is a proof whatever it is; the sum is a ball, rounded up.
    """
    terms, rates = _terms(method, setting, columns), method.rates(setting)
    wide = math.log(2 / miss)
    spread = math.sqrt(method.variance(setting, columns))
    most = min(float(rates[each]) / abs(float(a)) for each, a, _ in terms)  # beyond it a moment is infinite

    def rough(t: float) -> float:
        grown = (math.log1p(-_variance(rates[each]) * (math.cosh(float(a) * t) - 1)) * many for each, a, many in terms)
        return (wide - math.fsum(grown)) / t

    good = math.sqrt(2 * wide) / spread
    grid = [good * f for f in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05)] + [most * f for f in (0.5, 0.7, 0.8)]
    t = Fraction(f"{min((x for x in grid if x < 0.9 * most), key=rough, default=0.5 * most):.6g}")
    with precision():
        grown = arb(0)
        for each, a, many in terms:
            q = exp(-rates[each])
            variance = 2 * q / (1 - q) ** 2
            grown = grown - (1 - variance * ((ball(a * t)).cosh() - 1)).log() * many
        return rounded(upper((grown + (2 / ball(miss)).log()) / ball(t)), up=True, digits=_DIGITS)
