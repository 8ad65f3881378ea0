"""Noise at every level of a cube: which tables get it, how much, and what is promised of all of them together.

The cells and the margins are a workload of tables (:mod:`hubbub.query_classes.marginals.tables`), and their noise is one of
two strategies: geometric noise on every table for its share of epsilon (:mod:`hubbub.kinds.cube.levels`), all of them fitted together; or Gaussian noise on
what each table says beyond the tables that it contains, after which all tables add up by themselves. Asked for neither, a
cube has the one with the smaller worst error, from public numbers alone.

**How all are fitted.** Least squares, with about 1 over the variance of its noise as the weight of a table
(:class:`hubbub.query_classes.marginals.geometric.Fitted`): in rational numbers, with no matrix. Margins are sums of the fitted
cells, so all tables add up, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.mechanisms.noise_reach import reach_of_all
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.kinds.cube.levels import best_split, reaches
from hubbub.kinds.histogram import promises
from hubbub.numeric.exact import exp, rounded, to_text
from hubbub.protocol.channel_checks import laws
from hubbub.protocol.check import Check
from hubbub.query_classes.marginals.geometric import GeometricTables
from hubbub.query_classes.marginals.plan import SLACK, above_least_largest, largest_weights, plan_residuals
from hubbub.query_classes.marginals.residual import Residuals
from hubbub.query_classes.marginals.tables import Tables
from hubbub.tables.bins import rule

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube
    from hubbub.kinds.histogram.spec import Histogram

GAUSSIAN, GEOMETRIC, AUTO = "gaussian", "geometric", "auto"
PLANNER: Final = "Xiao, He, Zhang, Kifer, An optimal and scalable matrix mechanism for noisy marginals, NeurIPS 2023"
THEOREM: Final = Theorem("cube.residual", "Gaussian noise on the residual of every table", f"{PLANNER}; {HERE}")
ONE_CELL: Final = Assumption("cube.one-cell", "each person is in one cell of the declared domain, or in none")
ROW_IN_CELL: Final = Assumption("cube.row-in-cell", "each row is in one cell of the declared domain, or in none")
_DIGITS: Final = 9
_WEIGHT_DIGITS: Final = 4  # the noise is no worse for it
_MOST_WORK: Final = 20_000  # coefficients of noises, for all tables; of larger cubes numbers have their own noise alone


def weight(rate: Fraction) -> Fraction:
    """About 1 over the variance of the noise, (1 - q)^2/(2 q), to a few digits; any weight is fair."""
    q = exp(-rate)
    return rounded((1 - q) ** 2 / (2 * q), up=True, digits=_WEIGHT_DIGITS)


@lru_cache(maxsize=64)
def noise_of(spec: Cube) -> GeometricTables | Residuals:
    """Which rows of the tables are drawn, the cells first, with which noise."""
    workload = tuple(tuple(sorted(level)) for level in spec.levels)
    outside = not all(axis.null and axis.other for axis in spec.declared_axes)
    replaced, bounds = spec.public_number is not None, spec.cells.unit.bounds
    rows, squares = (1, 1) if bounds is None else bounds.rows(spec.sizes[0])
    tables = Tables(spec.shape, workload, (1,) * len(workload), replaced, outside, rows, squares)
    if not spec.gaussian:
        return GeometricTables(tables, spec.shares, tuple(map(weight, spec.shares)))
    return Residuals(tables, spec.variances)


def residuals_of(spec: Cube) -> Residuals:
    """The same, where it is Gaussian."""
    noise = noise_of(spec)
    assert isinstance(noise, Residuals)
    return noise


def choose_noise(spec: Cube) -> Cube:
    """With the noise that was asked for, or the one with the smaller worst error, from public numbers alone."""
    cells, public = spec.cells, spec.public_number is not None
    if spec.noise == GEOMETRIC or not spec.delta:
        if spec.noise == GAUSSIAN:
            raise WrongUse(
                "Gaussian noise needs a delta beside epsilon; add `delta=1e-9`, or use `mechanism=geometric`"
            )
        return _with_geometric(spec)
    if cells.unit.counts_rows and public:
        raise WrongUse("several rows of a person count whoever comes or goes; leave out `people`")
    if not counts_everybody(cells):
        if spec.noise == GAUSSIAN or public:
            raise WrongUse(
                "Gaussian noise on a cube needs everybody counted, with one row each or several within bounds; use "
                "`mechanism=geometric`, or leave out the sample and the choice of one row"
            )
        return _with_geometric(spec)
    blank = replace(spec, noise=GAUSSIAN)
    tables = residuals_of(blank).tables
    weights = largest_weights(tables)
    found = replace(
        blank, variances=plan_residuals(tables, weights, spec.person_epsilon, spec.delta).s2, weights=weights
    )
    if spec.noise == GAUSSIAN or public:
        return found
    geometric = _with_geometric(spec)
    return found if max(joint_reaches(found)) < max(joint_reaches(geometric)) else geometric


def counts_everybody(cells: Histogram) -> bool:
    """Whether everybody counts, by their one row or by several within bounds."""
    chooses = cells.unit.chooses and not cells.unit.counts_rows
    return not chooses and cells.sample is None and cells.collected is None


def _with_geometric(spec: Cube) -> Cube:
    if spec.public_number is not None:
        raise WrongUse(
            "`people` goes with Gaussian noise on a cube; add `mechanism=gaussian` and `delta=1e-9`, or leave it out"
        )
    split = best_split(spec.epsilon, spec.sizes, spec.cells.coverage)
    return replace(spec, noise=GEOMETRIC, delta=Fraction(0), shares=split.shares)


@lru_cache(maxsize=64)
def joint_reaches(spec: Cube) -> tuple[Fraction, ...]:
    """How far every number of each table is from the truth at most, all of them at once; of geometric noise, every number
    as it was drawn."""
    if not spec.gaussian:
        return tuple(map(Fraction, reaches(spec.shares, spec.sizes, spec.cells.coverage)))
    plan, miss = residuals_of(spec), (1 - spec.cells.coverage) / sum(spec.sizes)
    return tuple(plan.reach(each, miss) for each in plan.tables.workload)


@lru_cache(maxsize=64)
def own_reaches(spec: Cube) -> tuple[tuple[bool, Fraction], ...]:
    """For each table: whether the estimate is the better teller of a number by itself, and how far it is from the truth.

    With geometric noise a number has two tellers: its own noise, whose tail is exact, and the estimate, a sum over the noises
    of all tables. The shorter interval is taken, table by table, from public numbers alone.

    Guarantee: but for a chance of 1 - coverage a number is within this of the truth, whatever the others do.
    """
    noise, miss = noise_of(spec), 1 - spec.cells.coverage
    workload = noise.tables.workload
    if spec.gaussian:
        return tuple((True, noise.reach(each, miss)) for each in workload)
    unfitted = [Fraction(reach_of_all(share, miss)) for share in spec.shares]
    if sum(4 ** len(each) for each in workload) * len(workload) > _MOST_WORK:
        return tuple((False, reach) for reach in unfitted)
    fitted = [noise.reach(each, miss) for each in workload]
    return tuple((two < one, min(one, two)) for one, two in zip(unfitted, fitted, strict=True))


# --- what is promised, and checked again ---------------------------------------------------------------------------


@lru_cache(maxsize=64)
def gaussian_promise(spec: Cube) -> Derivation:
    """Guarantee: (epsilon, delta)-differential privacy of all files together, with the delta of Lemma C for the variances,
    rounded up; for one person replaced by another where the number of people is public, and for all rows of a person
    where several count. Refused if it is too large."""
    plan = residuals_of(spec)
    delta = plan.delta(spec.person_epsilon)
    if delta > spec.delta:
        raise Refused("the noise of the tables has a larger delta than the description says; get the original")
    neighbours = Neighbours.ADD_REMOVE if spec.public_number is None else Neighbours.REPLACE
    declared: tuple[Assumption, ...] = ()
    if spec.public_number is not None:
        sentence = "it is public and true that there are {people} people in the table"
        declared = (Assumption("cube.people", sentence, texts(people=spec.public_number)),)
    return state_promise(
        DifferentialPrivacy(epsilon=spec.person_epsilon, delta=delta, neighbours=neighbours),
        theorem=THEOREM,
        numbers=texts(
            tables=len(plan.s2),
            rho=rounded(plan.rho, up=True, digits=_DIGITS),
            loss=spec.person_epsilon,
            delta_out=delta,
        ),
        assumptions=(
            promises.PARTITION,
            ROW_IN_CELL if spec.cells.unit.counts_rows else ONE_CELL,
            *map(rule, spec.declared_axes),
            spec.cells.unit.assumption,
            *declared,
        ),
        people=spec.people,
    )


def checks(spec: Cube) -> Iterator[Check]:
    """The delta of Gaussian noise, and its plan against the least largest variance that there is for its rho; the shares
    of geometric noise, their laws, and the worst error against the best split."""
    if spec.gaussian:
        plan = residuals_of(spec)
        delta, above = plan.delta(spec.person_epsilon), above_least_largest(plan, spec.weights)
        found = f"{to_text(delta)} of {to_text(spec.delta)}"
        yield Check("the delta of all tables together", delta <= spec.delta, found)
        yield Check("the plan of the noise", above <= SLACK, f"{float(above):.4f} times the least largest variance")
        return
    for share in dict.fromkeys(spec.shares):
        yield from laws(Geometric(share))
    total = sum(spec.shares, Fraction(0))
    if spec.cells.unit.counts_rows:
        yield promises.person_holds(spec.cells.unit, spec.sizes[0], total, spec.person_epsilon)
    sum_text = f"{' + '.join(map(to_text, spec.shares))} = {to_text(spec.epsilon)}"
    yield Check("the shares of epsilon", total == spec.epsilon, sum_text)
    worst, least = max(spec.reaches), best_split(spec.epsilon, spec.sizes, spec.cells.coverage).worst
    yield Check("the worst error of all numbers", worst >= least, f"{worst:,}; the best split of epsilon has {least:,}")


def check_noise(spec: Cube) -> None:
    """Refuse a description whose tables cannot have this noise."""
    total, people, tables = spec.cells.channel.plain_noise, spec.public_number, len(spec.margins) + 1
    if spec.noise not in ((GAUSSIAN, GEOMETRIC) if total is not None else ("",)):
        raise CheckFailed("the description does not say which noise its tables have; get the original certificate")
    if not spec.gaussian and (spec.delta or spec.variances or spec.weights or people is not None):
        raise CheckFailed("the description has a delta and variances that no noise of it has; get the original")
    if total is None and spec.shares:
        raise CheckFailed("sums of published cells have no shares of epsilon; get the original certificate")
    if spec.gaussian:
        if not counts_everybody(spec.cells) or (spec.cells.unit.counts_rows and people is not None):
            raise CheckFailed("Gaussian noise on a cube is for everybody in the table; get the original certificate")
        if people is not None and people < 1:
            raise CheckFailed("the description has a number of people that is none; get the original certificate")
        fits = len(spec.weights) == tables and min(spec.weights, default=0) >= 0 and sum(spec.weights) > 0
        if not 0 < spec.delta < 1 or spec.shares or not fits or residuals_of(spec).why_not():
            raise CheckFailed("the noise of the description is none for these tables; get the original certificate")
    elif total is not None and (len(spec.shares) != tables or sum(spec.shares) != total or min(spec.shares) <= 0):
        raise CheckFailed("the shares of the tables do not add up to epsilon; get the original certificate")
