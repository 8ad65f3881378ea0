"""Many marginals with least error: Gaussian noise on what each table says beyond the tables it contains.

The mechanism and its reconstruction are in :mod:`hubbub.query_classes.marginals.residual`, the plans in
:mod:`hubbub.query_classes.marginals.plan`; here it is a method that answers marginals and conjunctions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.source import Source
from hubbub.numeric.exact import rational, to_text
from hubbub.query_classes.classes import Box, ColumnCells, Halfspace, NamedTables, Query
from hubbub.query_classes.marginals.plan import above_least_largest, above_least_mean, largest_weights, planned
from hubbub.query_classes.marginals.residual import Reconstruction, Residuals
from hubbub.query_classes.marginals.tables import Columns, Tables
from hubbub.query_classes.setting import MOST_QUERIES, Cells, Drawn, Setting, TableAnswers, table_of
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

OBJECTIVES: Final = ("mean", "largest")
"""What a plan makes least: the mean of the variances of all cells, or the largest of them."""


@lru_cache(maxsize=32)
def tables_of(
    queries: ColumnCells, replaced: bool = False, outside: bool = True, rows: int = 1, squares: int = 1
) -> Tables:
    """The tables of a class. In the mean every cell of marginals counts alike, and of conjunctions every table, with the
    grand total, so that the small ones are good as well. Of named tables a cell counts by the cube of its table's share:
    with such weights these shares are the best ones of separate tables."""
    if isinstance(queries, NamedTables):
        cubes = tuple(each.share**3 for each in queries.tables)
        return Tables(queries.shape, queries.sets, cubes, replaced, outside, rows, squares)
    sizes = range(queries.ways + 1) if queries.at_most else (queries.ways,)
    workload = tuple(each for size in sizes for each in combinations(range(len(queries.shape)), size))
    plain = Tables(queries.shape, workload, (1,) * len(workload), replaced, outside, rows, squares)
    return plain if queries.at_most else replace(plain, weights=tuple(map(plain.cells, workload)))


def of_setting(setting: Setting) -> Tables:
    """The tables of a setting: where the number of people is public, neighbours have one person replaced."""
    assert isinstance(setting.queries, ColumnCells)
    replaced = setting.rows is not None
    return tables_of(setting.queries, replaced, setting.outside, setting.moved, setting.moved_squared)


def loss_of_person(setting: Setting) -> Fraction:
    """What one person may lose, with all of their rows."""
    return setting.half_way * setting.moved


@dataclass(frozen=True)
class Residual:
    """Gaussian noise on the residual of every table below the class; `variances` are s2_A in the order of the tables.

    With `weights` the plan has the least largest variance, and they are the proof of it; without, the least mean.

    Guarantee: (epsilon, delta)-differential privacy with the delta that Lemma C gives for these variances.
    """

    name: ClassVar[str] = "residual"
    blank: ClassVar[Blank] = Blank.HALF_WAY
    delta: str
    variances: tuple[str, ...]
    weights: tuple[str, ...] = ()

    @cached_property
    def s2(self) -> tuple[Fraction, ...]:
        """The variances as numbers."""
        return tuple(rational(text, "a variance") for text in self.variances)

    @property
    def objective(self) -> str:
        """What the plan makes least."""
        return OBJECTIVES[bool(self.weights)]

    def plan(self, setting: Setting) -> Residuals:
        """The noise of all tables."""
        return Residuals(of_setting(setting), self.s2)

    def spent_delta(self, setting: Setting) -> Fraction:
        """Guarantee: the delta of all tables together at the epsilon that may be lost, by Lemma C, rounded up."""
        return self.plan(setting).delta(loss_of_person(setting))

    def above_least(self, setting: Setting) -> Fraction:
        """The variance that the plan makes least, over what is proved to be the least for its rho.

        Guarantee: no plan with this rho has one that is smaller by more than this factor.
        """
        plan = self.plan(setting)
        if not self.weights:
            return above_least_mean(plan, plan.tables.weights)
        return above_least_largest(plan, tuple(rational(text, "a weight") for text in self.weights))

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, ColumnCells):
            return "it answers marginals and conjunctions"
        if not 0 < rational(self.delta, "delta") < 1:
            return "it needs a delta beside epsilon"
        tables = of_setting(setting)
        if tables.number > 4 * MOST_QUERIES:
            return f"its tables have more than {4 * MOST_QUERIES:,} cells in all"
        if self.weights:
            weights = [rational(text, "a weight") for text in self.weights]
            if len(weights) != len(tables.workload) or min(weights) < 0 or sum(weights) <= 0:
                return "its weights are none for these tables"
        return self.plan(setting).why_not()

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: epsilon, where the delta that follows is at most the one that may be lost; else more than that. Of
        several rows of a person, their part of it."""
        return setting.half_way * (1 if self.spent_delta(setting) <= rational(self.delta, "delta") else 2)

    def bound(self, setting: Setting) -> Fraction:
        """Guarantee: Lemma I for every cell of the class at once: each may miss its share of `doubt`."""
        return max(_reaches(self, setting).values())

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        return _reaches(self, setting)[table_of(setting.queries, query)]

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: Lemma I for this number alone; it may be any box of columns of one table."""
        assert not isinstance(query, Halfspace)
        return self.plan(setting).reach_of(_wide(setting, query), setting.doubt)

    def answers_box(self, setting: Setting, query: Box) -> bool:
        """Whether the box leaves bins out of columns of one table alone."""
        return tuple(sorted(_wide(setting, query))) in of_setting(setting).closure

    def table_variances(self, setting: Setting) -> Mapping[Columns, float]:
        """Of a cell of each table."""
        assert isinstance(setting.queries, ColumnCells)
        return {each: float(self.plan(setting).variance(each)) for each in setting.queries.sets}

    def seconds(self, setting: Setting) -> float:
        return 0.5 + 2e-6 * of_setting(setting).number

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: that of :meth:`hubbub.query_classes.marginals.residual.Residuals.draw`."""
        tables = of_setting(setting)
        bins = np.unravel_index(cells.codes, tables.shape)

        def counted(columns: Columns) -> NDArray[np.int64]:
            found = np.zeros(tables.cells(columns), dtype=np.int64)
            if not columns:
                found[0] = cells.counts.sum()
                return found
            np.add.at(found, np.ravel_multi_index([bins[i] for i in columns], tables.sizes(columns)), cells.counts)
            return found

        return Drawn(self.plan(setting).draw(counted, source))

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        """The sum of the cells of a box, in the table of the columns of which it leaves bins out."""
        assert not isinstance(query, Halfspace)
        columns = tuple(sorted(_wide(setting, query)))
        scaled = reconstruction(setting, drawn).scaled(columns)
        total = scaled[tuple(slice(*query[i]) for i in columns)].sum()
        return Fraction(int(total), of_setting(setting).cells(columns) ** 2)

    def every_answer(self, setting: Setting, drawn: Drawn) -> Iterator[TableAnswers]:
        """What the published numbers say about every query, table by table, and how far each may be off."""
        assert isinstance(setting.queries, ColumnCells)
        tables, plan = of_setting(setting), self.plan(setting)
        for columns in setting.queries.sets:
            scaled = reconstruction(setting, drawn).scaled(columns)
            at_once, own = _reaches(self, setting)[columns], plan.reach(columns, setting.doubt)
            yield TableAnswers(columns, scaled, tables.cells(columns) ** 2, at_once, own)


def _wide(setting: Setting, query: Box) -> dict[int, int]:
    """How many bins a box has of each column of which it leaves some out."""
    pairs = zip(query, setting.shape, strict=True)
    return {i: stop - start for i, ((start, stop), size) in enumerate(pairs) if stop - start < size}


@lru_cache(maxsize=4)
def reconstruction(setting: Setting, drawn: Drawn) -> Reconstruction:
    """All tables, from what was published."""
    return Reconstruction(of_setting(setting), drawn.numbers, setting.rows)


@lru_cache(maxsize=64)
def _reaches(method: Residual, setting: Setting) -> dict[Columns, Fraction]:
    assert isinstance(setting.queries, ColumnCells)
    plan, miss = method.plan(setting), setting.doubt / setting.queries.number
    return {each: plan.reach(each, miss) for each in setting.queries.sets}


def best(setting: Setting) -> Residual:
    """The plan with the least mean, or the least largest, variance for what may be lost; none where it cannot be run."""
    nothing = Residual(to_text(setting.delta), ())
    if not isinstance(setting.queries, ColumnCells) or not 0 < setting.delta < 1:
        return nothing
    tables = of_setting(setting)
    if tables.number > 4 * MOST_QUERIES:
        return nothing
    weights = largest_weights(tables) if setting.least == OBJECTIVES[1] else ()
    found = planned(tables, weights or tuple(map(Fraction, tables.weights)), loss_of_person(setting), setting.delta)
    return Residual(to_text(setting.delta), tuple(map(to_text, found.s2)), tuple(map(to_text, weights)))
