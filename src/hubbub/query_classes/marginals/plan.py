"""How much noise each table gets: the least weighted mean of variances, or the least largest one.

**Mean.** With weights w_A the sum of w_A Var_A is a sum of V_B sigma_B^2, and rho one of m_B/(2 sigma_B^2), m_B the squared
length that one person moves. By Cauchy and Schwarz it is at least T^2/(2 rho), T = sum of sqrt(V_B m_B), whatever the
variances are, with equality at sigma_B^2 = sqrt(m_B/V_B) T/(2 rho) (after Xiao, He, Zhang, Kifer, ResidualPlanner, 2023).

**Largest.** A weighted mean, with weights that add up to 1, is at most the largest: so T^2/(2 rho) with any such weights
bounds the largest variance of every plan from below, and with the best weights it is attained (strong duality). The
weights are found by w_A <- w_A sqrt(Var_A/mean). Weights that were written down are the certificate that a plan is near
the best: whoever verifies works T^2/(2 rho) out again.

Any plan is private: only the error depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from hubbub.guarantees.accountant.gaussian import least_normal_variance, lemma_c
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import rounded
from hubbub.query_classes.marginals.residual import LEAST_VARIANCE, Residuals
from hubbub.query_classes.marginals.tables import Columns, Tables, subsets

SLACK: Final = Fraction(51, 50)
"""How far above the least variance a plan may be."""
_DIGITS: Final = 7
_ROUNDS: Final = 400
_GAP: Final = 1e-4  # of the largest variance over the bound from below: a search for weights ends there
_PARTS: Final = 10**6  # of a weight


@lru_cache(maxsize=32)
def plan_residuals(tables: Tables, weights: tuple[Fraction, ...], epsilon: Fraction, delta: Fraction) -> Residuals:
    """The plan with the least weighted variance for an epsilon and a delta.

    Guarantee: its delta was worked out by Lemma C from the rounded variances, and is at most the one that was allowed.
    """
    double_rho = 1 / least_normal_variance(epsilon, delta)
    demands = tables.demands(weights)
    roots = {b: _root(demands[b] * tables.squared_sensitivity(b)) for b in tables.measured_tables}
    total = sum(roots.values(), Fraction(0))

    def with_parts(parts: int) -> Residuals:
        scale = (1 + Fraction(parts, 20_000)) * total / double_rho
        return Residuals(tables, tuple(_variance(scale, tables, b, roots[b]) for b in tables.measured_tables))

    return with_parts(first_from(lambda n: lemma_c(with_parts(n).noises, epsilon) <= delta, 0))


def _variance(scale: Fraction, tables: Tables, columns: Columns, root: Fraction) -> Fraction:
    """s2_B, rounded up; of a table that says nothing of its own, since a column has one bin, the least."""
    if not root:
        return Fraction(LEAST_VARIANCE)
    exact = scale * tables.cells(columns) ** 2 * tables.squared_sensitivity(columns) / root
    return max(rounded(exact, up=True, digits=_DIGITS), Fraction(LEAST_VARIANCE))


def _root(x: Fraction) -> Fraction:
    """A square root to some digits, rounded down, the same on every machine."""
    scale = 10 ** (2 * max(0, 24 - len(str(x.numerator // x.denominator))))
    return Fraction(math.isqrt(x.numerator * scale // x.denominator), math.isqrt(scale))


@lru_cache(maxsize=32)
def largest_weights(tables: Tables) -> tuple[Fraction, ...]:
    """Weights, adding up to 1, with which the plan of the least mean has about the least largest variance.

    A search in floats: whatever it finds is a proof of how near its plan is to the best.
    """
    order = {each: i for i, each in enumerate(tables.measured_tables)}
    parts = np.zeros((len(tables.workload), len(order)))
    for a, each in enumerate(tables.workload):
        for below in subsets(each):
            if below in order:
                parts[a, order[below]] = tables.share(below) * tables.spread(each, below)
    moved = np.array([float(tables.squared_sensitivity(each)) for each in tables.measured_tables])
    weights = best = np.full(len(tables.workload), 1 / len(tables.workload))
    least = math.inf
    for _ in range(_ROUNDS):
        demands = weights @ parts
        roots = np.sqrt(demands * moved)
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma2 = np.where(roots > 0, moved / roots, 0) * roots.sum()
        variances = parts @ sigma2
        gap = float(variances.max() / roots.sum() ** 2) - 1
        if gap < least:
            least, best = gap, weights
        if gap < _GAP:
            break
        weights = weights * np.sqrt(variances)
        weights = weights / weights.sum()
    integers = [max(round(float(each) * _PARTS), 1) for each in best]
    return tuple(Fraction(each, sum(integers)) for each in integers)


def above_least_mean(plan: Residuals, weights: Sequence[Fraction | int]) -> Fraction:
    """The weighted variance of a plan over the least there is for its rho, rounded up.

    Guarantee: no plan with this rho has one that is smaller by more than this factor.
    """
    pairs = zip(plan.tables.workload, weights, strict=True)
    weighted = sum((weight * plan.variance(a) for a, weight in pairs if weight), Fraction(0))
    return _above(plan, weighted, weights)


def above_least_largest(plan: Residuals, weights: Sequence[Fraction | int]) -> Fraction:
    """The largest variance of a plan over what these weights prove to be the least for its rho, rounded up.

    Guarantee: no plan with this rho has a largest variance that is smaller by more than this factor.
    """
    largest = max(plan.variance(a) for a in plan.tables.workload)
    return _above(plan, largest * sum(weights), weights)


def _above(plan: Residuals, reached: Fraction, weights: Sequence[Fraction | int]) -> Fraction:
    demands = plan.tables.demands(weights)
    roots = (_root(demands[b] * plan.tables.squared_sensitivity(b)) for b in plan.tables.measured_tables)
    least = sum(roots, Fraction(0)) ** 2
    return rounded(2 * plan.rho * reached / least, up=True, digits=_DIGITS) if least else Fraction(1)
