"""A cube with Gaussian noise on what each table says beyond the tables that it contains: all tables add up by themselves.

The cells and the margins are a workload (:mod:`hubbub.query_classes.marginals`), and its closure holds every sum of them,
the grand total too. The plan makes the largest variance of all numbers least. What is drawn are the residuals of all tables
of the closure, in a file of their own; every number of every table follows from them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Theorem, stated, texts
from hubbub.kinds.cube.levels import best_split
from hubbub.kinds.histogram import mechanism as histogram_mechanism
from hubbub.kinds.histogram.promises import PARTITION
from hubbub.noise.source import Source
from hubbub.numeric.exact import rounded
from hubbub.protocol.measurement import LABELS, Measurement, loaded, release
from hubbub.protocol.result import Sheet
from hubbub.query_classes.marginals.plan import SLACK, above_least_largest, largest_weights, planned
from hubbub.query_classes.marginals.residual import Reconstruction, Residuals, positions
from hubbub.query_classes.marginals.tables import Columns, Tables
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.serialization.published_files import Files
from hubbub.tables.bins import all_labels, rule
from hubbub.tables.engine import Engine, ExactCounts
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube
    from hubbub.kinds.histogram.spec import Histogram

GAUSSIAN, GEOMETRIC, AUTO = "gaussian", "geometric", "auto"
DIFFERENCE: Final = "difference"
RESIDUALS: Final = "residuals"
ANY: Final = "(any)"
PLANNER: Final = "Xiao, He, Zhang, Kifer, An optimal and scalable matrix mechanism for noisy marginals, NeurIPS 2023"
THEOREM: Final = Theorem("cube.residual", "Gaussian noise on the residual of every table", f"{PLANNER}; {HERE}")
ONE_CELL: Final = Assumption("cube.one-cell", "each person is in one cell of the declared domain, or in none")
ROW_IN_CELL: Final = Assumption("cube.row-in-cell", "each row is in one cell of the declared domain, or in none")
_DIGITS: Final = 9


def tables_of(spec: Cube) -> Tables:
    """The cells and the margins as a workload, in this order."""
    workload = tuple(tuple(sorted(level)) for level in spec.levels)
    outside = not all(axis.null and axis.other for axis in spec.declared)
    replaced, bounds = spec.public_number is not None, spec.cells.unit.bounds
    rows, squares = (1, 1) if bounds is None else bounds.rows(spec.sizes[0])
    return Tables(spec.shape, workload, (1,) * len(workload), replaced, outside, rows, squares)


def plan_of(spec: Cube) -> Residuals:
    """The noise of all tables."""
    return Residuals(tables_of(spec), spec.variances)


def with_noise(spec: Cube) -> Cube:
    """With the noise that was asked for, or the one with the smaller worst error, from public numbers alone."""
    epsilon = spec.person_epsilon
    if spec.noise == GEOMETRIC or not spec.delta:
        if spec.noise == GAUSSIAN:
            raise WrongUse("Gaussian noise needs a delta beside epsilon; add `delta=1e-9`, or use `noise=geometric`")
        return _geometric(spec)
    cells = spec.cells
    if cells.unit.counts_rows and spec.public_number is not None:
        raise WrongUse("several rows of a person count whoever comes or goes; leave out `people`")
    if not is_plain(cells):
        if spec.noise == GAUSSIAN or spec.public_number is not None:
            raise WrongUse(
                "Gaussian noise on a cube needs everybody counted, with one row each or several within bounds; use "
                "`noise=geometric`, or leave out the sample and the choice of one row"
            )
        return _geometric(spec)
    tables = tables_of(spec)
    weights = largest_weights(tables)
    plan = planned(tables, weights, epsilon, spec.delta)
    found = replace(spec, noise=GAUSSIAN, variances=plan.s2, weights=weights)
    if spec.noise == GAUSSIAN or spec.public_number is not None:
        return found
    geometric = _geometric(spec)
    return found if max(reaches(found)) < max(geometric.reaches) else geometric


def is_plain(cells: Histogram) -> bool:
    """Whether everybody counts, by their one row or by several within bounds."""
    chooses = cells.unit.chooses and not cells.unit.counts_rows
    return not chooses and cells.sample is None and cells.collected is None


def _geometric(spec: Cube) -> Cube:
    if spec.public_number is not None:
        raise WrongUse(
            "`people` goes with Gaussian noise on a cube; add `noise=gaussian` and `delta=1e-9`, or leave it out"
        )
    split = best_split(spec.epsilon, spec.sizes, spec.cells.coverage)
    return replace(spec, noise=GEOMETRIC, delta=Fraction(0), shares=split.shares)


@lru_cache(maxsize=64)
def reaches(spec: Cube) -> tuple[Fraction, ...]:
    """How far every number of each table is from the truth at most, all of them at once."""
    plan, miss = plan_of(spec), (1 - spec.cells.coverage) / sum(spec.sizes)
    return tuple(plan.reach(each, miss) for each in plan.tables.workload)


@lru_cache(maxsize=64)
def own_reaches(spec: Cube) -> tuple[Fraction, ...]:
    """How far a number of each table is from the truth at most, by itself."""
    plan = plan_of(spec)
    return tuple(plan.reach(each, 1 - spec.cells.coverage) for each in plan.tables.workload)


# --- the promise ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def promise(spec: Cube) -> Derivation:
    """Guarantee: (epsilon, delta)-differential privacy of all files together, with the delta of Lemma C for the variances,
    rounded up; for one person replaced by another where the number of people is public, and for all rows of a person
    where several count. Refused if it is too large."""
    plan = plan_of(spec)
    delta = plan.delta(spec.person_epsilon)
    if delta > spec.delta:
        raise Refused("the noise of the tables has a larger delta than the description says; get the original")
    neighbours = Neighbours.ADD_REMOVE if spec.public_number is None else Neighbours.REPLACE
    declared: tuple[Assumption, ...] = ()
    if spec.public_number is not None:
        sentence = "it is public and true that there are {people} people in the table"
        declared = (Assumption("cube.people", sentence, texts(people=spec.public_number)),)
    return stated(
        DifferentialPrivacy(epsilon=spec.person_epsilon, delta=delta, neighbours=neighbours),
        theorem=THEOREM,
        numbers=texts(
            tables=len(plan.s2),
            rho=rounded(plan.rho, up=True, digits=_DIGITS),
            loss=spec.person_epsilon,
            delta_out=delta,
        ),
        assumptions=(
            PARTITION,
            ROW_IN_CELL if spec.cells.unit.counts_rows else ONE_CELL,
            *map(rule, spec.declared),
            spec.cells.unit.assumption,
            *declared,
        ),
        people=spec.people,
    )


def plan_is_near_the_best(spec: Cube) -> tuple[bool, str]:
    """Whether the largest variance is near the least there is for its rho, with the dual value worked out again."""
    above = above_least_largest(plan_of(spec), spec.weights)
    return above <= SLACK, f"{float(above):.4f} times the least largest variance"


def check(spec: Cube) -> None:
    """Refuse a description whose noise cannot be drawn."""
    tables = tables_of(spec)
    fits = len(spec.weights) == len(tables.workload) and min(spec.weights, default=0) >= 0 and sum(spec.weights) > 0
    if not 0 < spec.delta < 1 or spec.shares or not fits or plan_of(spec).why_not():
        raise CheckFailed("the noise of the description is none for these tables; get the original certificate")


# --- drawing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GaussianLevels:
    """The mechanism: exact counts of the cells, and Gaussian noise on the residual of every table of the closure.

    Guarantee: that of :meth:`hubbub.query_classes.marginals.residual.Residuals.draw`.
    """

    spec: Cube

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(DIFFERENCE, pa.int64())])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec, inside = self.spec, exact.codes >= 0
        cells = replace(exact, codes=exact.codes[inside], counts=exact.counts[inside])
        counts = histogram_mechanism.every_bin(cells, spec.sizes[0]).reshape(spec.shape)

        def table(columns: Columns) -> NDArray[np.int64]:
            found = counts.sum(axis=tuple(i for i in range(counts.ndim) if i not in columns))
            return np.asarray(found, dtype=np.int64)

        return _batch(self, plan_of(spec).draw(table, source))


def _batch(mechanism: GaussianLevels, numbers: NDArray[np.int64]) -> pa.RecordBatch:
    return pa.record_batch([integer_array(numbers)], schema=mechanism.schema)


def measure(spec: Cube, engine: Engine, source: Source) -> Measurement:
    """Count the cells, and draw. A table of another number of people is refused before a word is drawn."""
    exact = histogram_mechanism.count_cells(spec.axes, spec.cells.unit, engine, source, spec.public_number)
    return Measurement(residuals=release(GaussianLevels(spec), exact, source))


def cells_of(spec: Cube, drawn: NDArray[np.int64]) -> tuple[NDArray[np.object_], int]:
    """The reconstructed cells, as whole numbers over one denominator."""
    tables = tables_of(spec)
    scaled = Reconstruction(tables, drawn, spec.public_number).scaled(tables.workload[0])
    return scaled.astype(object).ravel(), tables.cells(tables.workload[0]) ** 2


# --- the file of what was drawn ------------------------------------------------------------------------------------


def _schema(spec: Cube) -> pa.Schema:
    return pa.schema([*((name, LABELS) for name in key_columns(spec.axes, (DIFFERENCE,))), (DIFFERENCE, pa.int64())])


def sheet(spec: Cube, drawn: NDArray[np.int64]) -> Sheet:
    """What was drawn: for each table of the closure, differences to the first bin of every column."""
    schema = _schema(spec)

    def batch() -> pa.RecordBatch:
        bins = zip(spec.declared, positions(tables_of(spec)), strict=True)
        keys = [labelled(each, (*all_labels(axis), ANY)) for axis, each in bins]
        return pa.record_batch([*keys, integer_array(drawn)], schema=schema)

    return Sheet(RESIDUALS, schema, lambda: iter((batch(),)), int(drawn.size))


def load(spec: Cube, files: Files) -> Measurement:
    """What was drawn, read back.

    Guarantee: as many differences as the tables have; every whole number can be drawn.
    """
    column = files.table(RESIDUALS, _schema(spec), [DIFFERENCE]).column(DIFFERENCE)
    if len(column) != tables_of(spec).starts[-1] or column.null_count:
        raise CheckFailed("its tables are others")
    mechanism = GaussianLevels(spec)
    numbers = np.array(column.to_pylist(), dtype=np.int64)
    return Measurement(residuals=loaded(mechanism.schema, _batch(mechanism, numbers)))
