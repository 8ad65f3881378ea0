"""Many marginals without a delta: noise on every table for its share of epsilon, then least squares by residuals.

Shares ~ N_A^(1/3) (of tables with names, their own) have the least mean square over cells, before the fit
(:mod:`hubbub.query_classes.marginals.geometric`).

Some tables with names, all planned together: noise on the tables that tell most, and least squares.

What is measured, and with which part of epsilon, is worked out in :mod:`hubbub.query_classes.marginals.shares`; a table
that was asked for may follow from a finer one. The fit is that of :mod:`hubbub.query_classes.marginals.geometric`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from hubbub.errors import WrongUse
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import exp, lower, precision
from hubbub.query_classes.classes import Box, Class, ColumnCells, Halfspace, NamedTable, NamedTables, Query, Shape
from hubbub.query_classes.marginals.geometric import Fitted, GeometricTables
from hubbub.query_classes.marginals.shares import PARTS, Design, best_parts
from hubbub.query_classes.marginals.tables import Columns, Tables
from hubbub.query_classes.setting import MOST_QUERIES, Cells, Drawn, Setting, TableAnswers, table_of, too_wide, unlisted
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

_FINE: Final = 1000  # parts of a cube root
_LARGEST: Final = 50  # a share of epsilon beyond which moments leave the range of numbers


@dataclass(frozen=True)
class SplitTables:
    """Two-sided geometric noise on every table of the class, each for its share of what may be lost.

    Guarantee: a person is in one cell of each table and moves it by one, so the losses add up to the sum of the shares.
    """

    name: ClassVar[str] = "split-tables"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def noise(self, setting: Setting) -> GeometricTables:
        """The noise of every table."""
        assert isinstance(setting.queries, ColumnCells)
        return _noise(setting.queries, setting.half_way)

    def drawn_tables(self, queries: Class) -> ColumnCells:
        """The tables that get noise: those that are asked for."""
        assert isinstance(queries, ColumnCells)
        return queries

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, ColumnCells):
            return "it answers marginals and conjunctions"
        if setting.rows is not None:
            return "it is for people who come or go, and the number of people is declared"
        rates = self.noise(setting).rates
        if max(rates) > _LARGEST:
            return "a table would have a share of epsilon above 50, which is next to no noise"
        return unlisted(setting) or too_wide(min(rates))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: the sum of the shares (Dwork, McSherry, Nissim, Smith 2006)."""
        return sum(self.noise(setting).rates, Fraction(0))

    def bound(self, setting: Setting) -> Fraction:
        """Guarantee: for every cell of the class at once: each may miss its share of `doubt`."""
        assert isinstance(setting.queries, ColumnCells)
        return max(self._at_once(setting, each) for each in setting.queries.sets)

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        return self._at_once(setting, table_of(setting.queries, query))

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: :meth:`GeometricTables.reach` for this cell alone."""
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        return self.noise(setting).reach(table_of(setting.queries, query), setting.doubt)

    def _at_once(self, setting: Setting, columns: tuple[int, ...]) -> Fraction:
        assert isinstance(setting.queries, ColumnCells)
        return self.noise(setting).reach(columns, setting.doubt / setting.queries.number)

    def table_variances(self, setting: Setting) -> Mapping[tuple[int, ...], float]:
        """Of a cell of each table after the fit."""
        assert isinstance(setting.queries, ColumnCells)
        return {each: self.noise(setting).variance(each) for each in setting.queries.sets}

    def seconds(self, setting: Setting) -> float:
        assert isinstance(setting.queries, ColumnCells)
        return 0.5 + 3e-6 * setting.queries.number

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise of the rates that :meth:`spends` adds up."""
        assert isinstance(setting.queries, ColumnCells)
        queries = self.drawn_tables(setting.queries)
        truth = queries.of_listed(cells.codes, cells.counts)
        parts = [
            truth[start:stop] + two_sided_geometric(rate, stop - start, source)
            for rate, start, stop in zip(self.noise(setting).rates, queries.starts, queries.starts[1:], strict=False)
        ]
        return Drawn(np.concatenate(parts))

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        columns = table_of(setting.queries, query)
        scaled, scale = _fitted(self.noise(setting), drawn).scaled(columns)
        return Fraction(int(scaled[_bins(query, columns)]), scale)

    def every_answer(self, setting: Setting, drawn: Drawn) -> Iterator[TableAnswers]:
        """What the published numbers say about every query, table by table, and how far each may be off."""
        assert isinstance(setting.queries, ColumnCells)
        for columns in setting.queries.sets:
            scaled, scale = _fitted(self.noise(setting), drawn).scaled(columns)
            own = self.noise(setting).reach(columns, setting.doubt)
            yield TableAnswers(columns, scaled, scale, self._at_once(setting, columns), own)


def _bins(query: Box, columns: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(query[i][0] for i in columns)


@lru_cache(maxsize=64)
def _noise(queries: ColumnCells, loss: Fraction) -> GeometricTables:
    tables = _tables(queries.shape, queries.sets)
    if isinstance(queries, NamedTables):
        roots = [each.share for each in queries.tables]
    else:
        roots = [round(_FINE * tables.cells(each) ** (1 / 3)) for each in queries.sets]
    rates = tuple(loss * Fraction(root, sum(roots)) for root in roots)
    return GeometricTables(tables, rates, tuple(rate**2 for rate in rates))


def _tables(shape: Shape, sets: tuple[tuple[int, ...], ...]) -> Tables:
    return Tables(shape, sets, (1,) * len(sets))


def fitted_tables(method: SplitTables, setting: Setting, drawn: Drawn) -> Fitted:
    """All tables, fitted to what was published."""
    return _fitted(method.noise(setting), drawn)


@lru_cache(maxsize=4)
def _fitted(noise: GeometricTables, drawn: Drawn) -> Fitted:
    return Fitted(noise, drawn.numbers)


_FINE_WEIGHTS: Final = 10**6  # parts of the largest weight in the fit


@dataclass(frozen=True)
class JointTables(SplitTables):
    """Two-sided geometric noise on the `measured` tables, each for its part of what may be lost.

    Guarantee: a person is in one cell of each measured table and moves it by one, so the losses add up to the sum of the
    rates, which is what may be lost; the tables that were asked for follow from these by least squares.
    """

    name: ClassVar[str] = "joint-tables"
    measured: tuple[str, ...]  # 1+3: columns counted from 1
    parts: tuple[int, ...]

    def measured_tables(self, shape: Shape) -> NamedTables:
        """The tables that get noise."""
        columns = [tuple(int(i) - 1 for i in text.split("+")) for text in self.measured]
        found = tuple(NamedTable(f"{i}", each) for i, each in enumerate(columns))
        return NamedTables(shape, max(map(len, columns)), tables=found)

    def noise(self, setting: Setting) -> GeometricTables:
        return _joint_noise(self.measured_tables(setting.shape), self.parts, setting.half_way)

    def drawn_tables(self, queries: Class) -> ColumnCells:
        return self.measured_tables(queries.shape)

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, NamedTables):
            return "it answers tables that have names"
        if (
            not self.measured
            or len(self.parts) != len(self.measured)
            or not all(0 < each <= PARTS for each in self.parts)
        ):
            return "its parts are none for these tables"
        try:
            tables = self.measured_tables(setting.shape)
        except WrongUse:
            return "its tables are none of this domain"
        if tables.number > MOST_QUERIES:
            return f"it lists every cell that it measures, and these are more than {MOST_QUERIES:,}"
        if not all(any(set(each) <= set(other) for other in tables.sets) for each in setting.queries.sets):
            return "a table does not follow from what it measures"
        return super().why_not(setting)


@lru_cache(maxsize=64)
def _joint_noise(measured: NamedTables, parts: tuple[int, ...], loss: Fraction) -> GeometricTables:
    tables = Tables(measured.shape, measured.sets, (1,) * len(measured.sets))
    rates = tuple(loss * Fraction(part, sum(parts)) for part in parts)
    return GeometricTables(tables, rates, fit_weights(rates))


def fit_weights(rates: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """About cosh r - 1, one over the variance of each noise, in whole parts of the largest; the same on every machine.

    Guarantee: at least 1. Least squares is unbiased with any weights, and has the least variance with these.
    """
    with precision():
        exact = [(exp(rate) + exp(-rate)) / 2 - 1 for rate in rates]
        largest = exact[rates.index(max(rates))]
        return tuple(Fraction(max(int(lower(_FINE_WEIGHTS * each / largest)), 1)) for each in exact)


def best(setting: Setting) -> JointTables:
    """The plan that has the least error, and no table worse than by itself; none where there are no named tables."""
    queries = setting.queries
    if not isinstance(queries, NamedTables) or setting.rows is not None:
        return JointTables((), ())
    shares = [each.share for each in queries.tables]
    rates = tuple(float(setting.half_way * Fraction(share, sum(shares))) for share in shares)
    measured, parts = _best(queries.shape, queries.sets, rates)
    return JointTables(tuple("+".join(str(i + 1) for i in each) for each in measured), parts)


@lru_cache(maxsize=64)
def _best(
    shape: Shape, sets: tuple[Columns, ...], rates: tuple[float, ...]
) -> tuple[tuple[Columns, ...], tuple[int, ...]]:
    return best_parts(Design(shape, sets, rates))
