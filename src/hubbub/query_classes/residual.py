"""Many marginals with least error: Gaussian noise on what each table says beyond the tables it contains.

The mechanism and its reconstruction are in :mod:`hubbub.query_classes.marginals.residual`, the plans in
:mod:`hubbub.query_classes.marginals.plan`; here it is a method that answers marginals and conjunctions.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import ClassVar, Final

from hubbub.numeric.exact import rational, to_text
from hubbub.query_classes.classes import Box, ColumnCells, NamedTables, Query, box_of
from hubbub.query_classes.marginals.plan import above_least_largest, above_least_mean, largest_weights, plan_residuals
from hubbub.query_classes.marginals.residual import Residuals
from hubbub.query_classes.marginals.tables import Tables
from hubbub.query_classes.setting import MOST_QUERIES, Setting
from hubbub.query_classes.table_method import TableMethod, narrowed_columns, tables_in
from hubbub.runtime.frozen import dataclass

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
    replaced = setting.rows is not None
    return tables_of(tables_in(setting), replaced, setting.outside, setting.moved, setting.moved_squared)


def loss_of_person(setting: Setting) -> Fraction:
    """What one person may lose, with all of their rows."""
    return setting.half_way * setting.moved


@dataclass(frozen=True)
class Residual(TableMethod):
    """Gaussian noise on the residual of every table below the class; `variances` are s2_A in the order of the tables.

    With `weights` the plan has the least largest variance, and they are the proof of it; without, the least mean.

    Guarantee: (epsilon, delta)-differential privacy with the delta that Lemma C gives for these variances.
    """

    name: ClassVar[str] = "residual"
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

    def noise(self, setting: Setting) -> Residuals:
        """The noise of all tables."""
        return Residuals(of_setting(setting), self.s2)

    def spent_delta(self, setting: Setting) -> Fraction:
        """Guarantee: the delta of all tables together at the epsilon that may be lost, by Lemma C, rounded up."""
        return self.noise(setting).delta(loss_of_person(setting))

    def above_least(self, setting: Setting) -> Fraction:
        """The variance that the plan makes least, over what is proved to be the least for its rho.

        Guarantee: no plan with this rho has one that is smaller by more than this factor.
        """
        plan = self.noise(setting)
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
        return self.noise(setting).why_not()

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: epsilon, where the delta that follows is at most the one that may be lost; else more than that. Of
        several rows of a person, their part of it."""
        return setting.half_way * (1 if self.spent_delta(setting) <= rational(self.delta, "delta") else 2)

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: Lemma I for this number alone; it may be any box of columns of one table."""
        return self.noise(setting).reach_of(narrowed_columns(setting, box_of(query)), setting.doubt)

    def answers_box(self, setting: Setting, query: Box) -> bool:
        """Whether the box leaves bins out of columns of one table alone."""
        return tuple(sorted(narrowed_columns(setting, query))) in of_setting(setting).closure

    def seconds(self, setting: Setting) -> float:
        return 0.5 + 2e-6 * of_setting(setting).number


def best(setting: Setting) -> Residual:
    """The plan with the least mean, or the least largest, variance for what may be lost; none where it cannot be run."""
    nothing = Residual(to_text(setting.delta), ())
    if not isinstance(setting.queries, ColumnCells) or not 0 < setting.delta < 1:
        return nothing
    tables = of_setting(setting)
    if tables.number > 4 * MOST_QUERIES:
        return nothing
    weights = largest_weights(tables) if setting.least == OBJECTIVES[1] else ()
    found = plan_residuals(
        tables, weights or tuple(map(Fraction, tables.weights)), loss_of_person(setting), setting.delta
    )
    return Residual(to_text(setting.delta), tuple(map(to_text, found.s2)), tuple(map(to_text, weights)))
