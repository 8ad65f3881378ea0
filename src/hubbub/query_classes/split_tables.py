"""Many marginals without a delta: noise on every table for its share of epsilon, then least squares by residuals.

Shares ~ N_A^(1/3) (of tables with names, their own) have the least mean square over cells, before the fit
(:mod:`hubbub.query_classes.marginals.geometric`).

Some tables with names, all planned together: noise on the tables that tell most, and least squares.

What is measured, and with which part of epsilon, is worked out in :mod:`hubbub.query_classes.marginals.shares`; a table
that was asked for may follow from a finer one. The fit is that of :mod:`hubbub.query_classes.marginals.geometric`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import exp, lower, precision
from hubbub.query_classes.classes import Class, ColumnCells, NamedTable, NamedTables, Shape
from hubbub.query_classes.marginals.geometric import GeometricTables
from hubbub.query_classes.marginals.shares import PARTS, Design, best_parts
from hubbub.query_classes.marginals.tables import Columns, Tables
from hubbub.query_classes.setting import MOST_QUERIES, Setting, too_wide, why_unlisted
from hubbub.query_classes.table_method import TableMethod, tables_in
from hubbub.runtime.frozen import dataclass

_FINE: Final = 1000  # parts of a cube root
_LARGEST: Final = 50  # a share of epsilon beyond which moments leave the range of numbers


@dataclass(frozen=True)
class SplitTables(TableMethod):
    """Two-sided geometric noise on every table of the class, each for its share of what may be lost.

    Guarantee: a person is in one cell of each table and moves it by one, so the losses add up to the sum of the shares.
    """

    name: ClassVar[str] = "split-tables"

    def noise(self, setting: Setting) -> GeometricTables:
        """The noise of every table."""
        return _noise(tables_in(setting), setting.half_way)

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
        return why_unlisted(setting) or too_wide(min(rates))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: the sum of the shares (Dwork, McSherry, Nissim, Smith 2006)."""
        return sum(self.noise(setting).rates, Fraction(0))

    def seconds(self, setting: Setting) -> float:
        return 0.5 + 3e-6 * tables_in(setting).number


@lru_cache(maxsize=64)
def _noise(queries: ColumnCells, loss: Fraction) -> GeometricTables:
    tables = Tables(queries.shape, queries.sets, (1,) * len(queries.sets))
    if isinstance(queries, NamedTables):
        roots = [each.share for each in queries.tables]
    else:
        roots = [round(_FINE * tables.cells(each) ** (1 / 3)) for each in queries.sets]
    rates = tuple(loss * Fraction(root, sum(roots)) for root in roots)
    return GeometricTables(tables, rates, tuple(rate**2 for rate in rates))


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
