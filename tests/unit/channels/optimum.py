"""The best pure mechanism there is for a curve, a prior and a loss, as a linear program: for comparison only.

A mechanism on the counts 0..n with answers 0..n is a matrix x[c, y] >= 0 whose rows sum to one. It is private for the
curve, with delta = 0, if and only if for every count c >= 1 and answer y

    e^-epsilon(c) x[c, y] <= x[c - 1, y]      and      e^-epsilon(c) x[c - 1, y] <= x[c, y]

(equal where epsilon(c) = 0, unrelated where it is infinite), and its expected loss is linear in x. So the best one is
the solution of a linear program. Theorem W2 says that for a loss which never falls as the answer moves away from the
count, the warped channel with its best remap (:mod:`tests.unit.channels.remap`) is exactly as good; the tests hold the two
against each other.

These are floating-point numbers out of an optimiser: good to about 1e-11, and no certificate of anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.numeric.exact import Exact, Infinite
from hubbub.numeric.linear_programs import Program, SparseRows, sparse_rows
from tests.unit.channels.remap import Penalty, penalty, prior_weights

Matrix = NDArray[np.float64]  # count, answer -> number

_TOLERANCE: Final = 1e-10  # the least that HiGHS takes
_REACH: Final = 8.0
"""x[c, y] is solved for in units of e^-min(|E(c) - E(y)|, this). HiGHS has absolute tolerances: without units it was
off by up to 5e-9 at 21 counts, with this limit by 2e-12; with no limit it drops coefficients below 1e-9 and fails."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A best mechanism and its expected loss, in floating-point numbers."""

    risk: float
    mechanism: Matrix  # count, answer -> probability


def optimum(curve: Curve, prior: Sequence[Exact], loss: Penalty = "absolute") -> Optimum:
    """The least expected loss of any mechanism for the curve with delta = 0, counts and answers in 0..n.

    The prior has weights for the counts 0..n, n = len(prior) - 1, which need not sum to one.
    """
    weights, price = prior_weights(prior), penalty(loss)
    total, size = sum(weights), len(weights)
    cost = np.array([[float(weights[c] * price(c, y) / total) for y in range(size)] for c in range(size)])
    mechanism = cheapest(curve, cost)
    return Optimum(float((cost * mechanism).sum()), mechanism)


def cheapest(curve: Curve, cost: Matrix) -> Matrix:
    """The private mechanism x with the smallest sum of cost[c, y] x[c, y]: a vertex of the set of all of them."""
    unit = _units(curve, cost)
    matrix, least, most = _constraints(curve, unit)
    scale = float(np.abs(cost).max()) or 1.0
    program = Program(
        cost=(cost / scale * unit).ravel(),
        matrix=matrix,
        row_low=least,
        row_high=most,
        low=np.zeros(cost.size),
        high=np.full(cost.size, np.inf),
        tolerance=_TOLERANCE,
    )
    solved = program.solve()
    if not solved.optimal or solved.point is None:
        raise CheckFailed(f"the linear program was not solved ({solved.message}); try fewer counts or a flatter curve")
    x: Matrix = np.maximum(solved.point, 0).reshape(cost.shape) * unit
    return x


def _units(curve: Curve, cost: Matrix) -> Matrix:
    """e^-min(|E(c) - E(y)|, _REACH), and 1 across an infinite step."""
    if cost.ndim != 2 or cost.shape[0] != cost.shape[1]:
        raise WrongUse("the costs must be a square matrix, a row for each count and a column for each answer")
    losses = [curve.at(c) for c in range(1, cost.shape[0])]
    infinite = np.cumsum([0, *(isinstance(loss, Infinite) for loss in losses)])
    position = np.cumsum([0.0, *(0.0 if isinstance(loss, Infinite) else float(loss) for loss in losses)])
    distance = np.abs(np.subtract.outer(position, position))
    distance[np.not_equal.outer(infinite, infinite)] = 0
    units: Matrix = np.exp(-np.minimum(distance, _REACH))
    return units


def _constraints(curve: Curve, unit: Matrix) -> tuple[SparseRows, Matrix, Matrix]:
    """Rows, and between what they lie: each law sums to 1, and neighbouring laws are as close as the curve says."""
    size = len(unit)
    index = np.arange(size * size).reshape(size, size)
    blocks = [(np.repeat(np.arange(size), size), index.ravel(), unit.ravel())]
    least = [np.ones(size)]

    def lines(left: Matrix, one: int, other: int, low: float) -> None:
        """low <= left[y] x[one, y] - x[other, y] <= 0, one row for each y."""
        rows = len(least) * size + np.arange(size)
        entries = np.concatenate([index[one], index[other]]), np.concatenate([left, np.full(size, -1.0)])
        blocks.append((np.concatenate([rows, rows]), *entries))
        least.append(np.full(size, low))

    for c in range(1, size):
        loss = curve.at(c)
        if loss == 0:
            lines(np.ones(size), c, c - 1, 0.0)
        elif not isinstance(loss, Infinite):
            for one, other in ((c, c - 1), (c - 1, c)):
                lines(math.exp(-loss) * unit[one] / unit[other], one, other, -np.inf)
    rows, columns, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    low = np.concatenate(least)
    high = np.where(np.arange(low.size) < size, 1.0, 0.0)
    return sparse_rows(rows, columns, values, (low.size, size * size)), low, high
