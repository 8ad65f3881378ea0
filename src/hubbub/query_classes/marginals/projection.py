"""Tables of at least 0 that agree with one another, nearest to tables that agree: a Euclidean projection.

All tables of a workload, stacked, are one vector; those that agree in all sums are a linear space L, and the truth lies in
its part of at least 0. Given y in L, wanted is the x of at least 0 in L with the least |x - y|, which is never further from
the truth than y is (a projection onto a convex set that holds the truth). The projection P onto L is closed form: residuals
of a table, averaged over all tables that have them (:mod:`hubbub.query_classes.marginals.geometric`).

**How near it is.** For multipliers l >= 0 let x(l) = y + P l, and z any tables of at least 0 that agree. Then
|z - x*|^2/2 <= |z - y|^2/2 - (|x(l) - y|^2/2 - l.x(l)), the duality gap. Accelerated gradient steps, restarted where they
overshoot, find l; z is x(l) moved towards even tables until it is nowhere below 0.

Floats: nothing is promised of the result but the gap.

Cells of at least 0 that are nearest to a table and to its margins, where one finest table has all of them as sums.

Given cells y, a table S of margins is M_S y. Wanted are the cells x >= 0 with the least sum, over the cells and over all
margins, of squared distances: the projection of all tables together onto those that some people could have. Let mu_S be
multipliers; the cells that are best for them are x(mu) = max(y - sum of M_S' mu_S, 0), and the duality gap between x(mu)
and the best cells is half the square of

    r = M x(mu) - M y - mu,   so that all tables of x(mu) are within |r| of the projection in Euclidean distance.

mu = M x - M y holds at the projection alone, so that for any x the same bound can be worked out without solving anything:
that is how a published file is checked. Semismooth Newton steps with conjugate gradients find mu: r is piecewise linear.

Floats: nothing is promised of the result but what :func:`distance` bounds. Cells that are `fixed` stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.query_classes.marginals.tables import Columns, Tables, columns_without, subsets
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]
Stack = list[Floats]

_ROUNDS: Final = 5000
_LOOK: Final = 25  # rounds between two looks at the gap


@dataclass(frozen=True, eq=False)
class Agreeing:
    """The space of tables that agree."""

    tables: Tables

    @cached_property
    def _wide(self) -> dict[Columns, list[tuple[Columns, Columns, int, float]]]:
        """For each table, from the largest to the smallest set within it: the set, one with a column more, the axis of
        that column, and 1 over the bins that are summed up."""
        found = {}
        for each in self.tables.workload:
            steps = []
            for below in reversed(subsets(each)):
                more = next((i for i in each if i not in below), None)
                above = below if more is None else tuple(sorted((*below, more)))
                axis = -1 if more is None else above.index(more)
                steps.append((below, above, axis, 1 / self.tables.cells(columns_without(each, below))))
            found[each] = steps
        return found

    @cached_property
    def _weights(self) -> dict[Columns, float]:
        found = dict.fromkeys(self.tables.closure, 0.0)
        for each in self.tables.workload:
            for below in subsets(each):
                found[below] += 1 / self.tables.cells(columns_without(each, below))
        return found

    def project(self, stack: Sequence[Floats]) -> Stack:
        """The nearest tables that agree."""
        tables = self.tables
        means = {each: np.zeros(tables.sizes(each)) for each in tables.closure}
        for each, table in zip(tables.workload, stack, strict=True):
            sums = {each: table}
            for below, above, axis, share in self._wide[each]:
                if below != each:
                    sums[below] = sums[above].sum(axis=axis)
                means[below] += share * sums[below]
        for below, table in means.items():
            rest = table / self._weights[below]
            for axis in range(len(below)):
                rest = rest - rest.mean(axis=axis, keepdims=True)
            means[below] = rest
        found = []
        for each in tables.workload:
            total = np.zeros(tables.sizes(each))
            for below, _, _, share in self._wide[each]:
                total += share * means[below].reshape([tables.shape[i] if i in below else 1 for i in each])
            found.append(total)
        return found

    def disagreement(self, stack: Sequence[Floats]) -> float:
        """How far some tables are from agreeing."""
        return _length([one - other for one, other in zip(stack, self.project(stack), strict=True)])


def tolerance(stack: Sequence[Floats]) -> float:
    """How far, over all numbers together, a projection may be from the exact one."""
    return TOLERANCE * math.sqrt(sum(table.size for table in stack))


def project_tables(tables: Tables, aims: Sequence[Floats]) -> tuple[Stack, float]:
    """Tables of at least 0 that agree, nearest to these, which agree; and at most how far they are from the exact ones.

    Guarantee: the bound is that of the duality gap, up to the rounding of double precision.
    """
    space = Agreeing(tables)
    multipliers = [np.zeros_like(aim) for aim in aims]
    ahead, pace = multipliers, 1.0
    best, far = list(aims), math.inf
    for i in range(_ROUNDS):
        slopes = [aim + moved for aim, moved in zip(aims, space.project(ahead), strict=True)]
        following = [np.maximum(one - slope, 0) for one, slope in zip(ahead, slopes, strict=True)]
        turned = sum(float(((a - b) * (b - c)).sum()) for a, b, c in zip(ahead, following, multipliers, strict=True))
        pace, before = (1.0, 1.0) if turned > 0 else ((1 + math.sqrt(1 + 4 * pace * pace)) / 2, pace)
        ahead = [b + (before - 1) / pace * (b - c) for b, c in zip(following, multipliers, strict=True)]
        multipliers = following
        if i % _LOOK == _LOOK - 1:
            found = [aim + moved for aim, moved in zip(aims, space.project(multipliers), strict=True)]
            feasible = _lift_above_zero(tables, found)
            gap = _squares(feasible, aims) / 2 - _squares(found, aims) / 2
            gap += sum(float((a * b).sum()) for a, b in zip(multipliers, found, strict=True))
            near = math.sqrt(max(2 * gap, 0.0))
            if near < far:
                best, far = feasible, near
            if far <= tolerance(aims) / 4:
                break
    return best, far


def _lift_above_zero(tables: Tables, stack: Sequence[Floats]) -> Stack:
    """Tables that agree, moved towards even ones until none is below 0."""
    total = max(float(stack[0].sum()), 0.0)
    share = 0.0
    for each, table in zip(tables.workload, stack, strict=True):
        least, even = float(table.min()), total / tables.cells(each)
        if least < 0:
            share = max(share, -least / (even - least))
    return [
        np.maximum((1 - share) * table + share * total / tables.cells(each), 0)
        for each, table in zip(tables.workload, stack, strict=True)
    ]


def _squares(stack: Sequence[Floats], aims: Sequence[Floats]) -> float:
    return sum(float(((one - other) ** 2).sum()) for one, other in zip(stack, aims, strict=True))


def _length(stack: Sequence[Floats]) -> float:
    return math.sqrt(sum(float((one**2).sum()) for one in stack))


TOLERANCE: Final = 0.01
"""How far, in people, the numbers of a projection may be from the exact one: the root of the mean square."""
_STEPS: Final = 200
_INNER: Final = 300


@dataclass(frozen=True, eq=False)
class FinestTable:
    """Cells in order, last column fastest, and which margins count beside them."""

    sizes: tuple[int, ...]
    margins: tuple[Columns, ...]
    cells: Floats
    fixed: NDArray[np.bool_] | None = None

    @cached_property
    def _aims(self) -> Floats:
        return self._sums(self.cells)

    @cached_property
    def _starts(self) -> list[int]:
        many = [math.prod(self.sizes[i] for i in margin) for margin in self.margins]
        return [0, *np.cumsum(many, dtype=np.int64).tolist()]

    def _sums(self, cells: Floats) -> Floats:
        """All margins of some cells, one after the other."""
        table, axes = cells.reshape(self.sizes), range(len(self.sizes))
        parts = [table.sum(axis=tuple(i for i in axes if i not in margin)).ravel() for margin in self.margins]
        return np.concatenate([np.zeros(0), *parts])

    def _spread(self, sums: Floats) -> Floats:
        """For each cell, the sum of these numbers over the margins that it is in."""
        found = np.zeros(self.sizes)
        for margin, start, stop in zip(self.margins, self._starts, self._starts[1:], strict=False):
            found += sums[start:stop].reshape([n if i in margin else 1 for i, n in enumerate(self.sizes)])
        return found.ravel()

    def _best(self, multipliers: Floats) -> Floats:
        found = np.maximum(self.cells - self._spread(multipliers), 0)
        return found if self.fixed is None else np.where(self.fixed, self.cells, found)

    def distance(self, found: Floats) -> float:
        """At most how far these cells, with all their margins, are from the projection.

        Guarantee: |x - x*| <= |x - x(mu)| + |x(mu) - x*| over all tables, with mu = M x - M y, and the second is at most
        |M x(mu) - M y - mu| (above), up to the rounding of double precision.
        """
        moved = self._best(self._sums(found) - self._aims) - found
        sums = self._sums(moved)
        return math.sqrt(float(moved @ moved) + float(sums @ sums)) + math.sqrt(float(sums @ sums))

    @property
    def tolerance(self) -> float:
        """How far, over all numbers together, a projection may be from the exact one."""
        return TOLERANCE * math.sqrt(self.cells.size + self._starts[-1])

    def project(self) -> Floats:
        """The cells, within the tolerance of the projection."""
        mu = np.zeros(self._aims.size)
        cells = self._best(mu)
        left = self._sums(cells) - self._aims - mu
        value = self._value(mu, cells)
        for _ in range(_STEPS):
            far = math.sqrt(float(left @ left))
            if far <= self.tolerance and self.distance(cells) <= self.tolerance / 4:
                break
            step = self._newton(cells, left, min(0.1, far) if far < 1 else 0.1)
            slope, pace = float(left @ step), 1.0
            while True:
                following = mu + pace * step
                cells = self._best(following)
                gained = self._value(following, cells)
                if gained >= value + 1e-4 * pace * slope or pace < 1e-8:
                    break
                pace /= 2
            mu, value = following, gained
            left = self._sums(cells) - self._aims - mu
        return cells

    def _value(self, mu: Floats, cells: Floats) -> float:
        """The dual function."""
        off = cells - self.cells
        return float(off @ off) / 2 + float(mu @ (self._sums(cells) - self._aims)) - float(mu @ mu) / 2

    def _newton(self, cells: Floats, left: Floats, accuracy: float) -> Floats:
        """The solution of (I + M D M') step = left, D the cells above 0: conjugate gradients, scaled by the diagonal."""
        moving = cells > 0 if self.fixed is None else (cells > 0) & ~self.fixed
        bins = np.unravel_index(np.flatnonzero(moving), self.sizes)
        where = [
            np.ravel_multi_index([bins[i] for i in margin], [self.sizes[i] for i in margin])
            if margin
            else np.zeros(bins[0].size, dtype=np.int64)
            for margin in self.margins
        ]
        many = [stop - start for start, stop in zip(self._starts, self._starts[1:], strict=False)]
        diagonal = 1.0 + np.concatenate([np.bincount(at, minlength=n) for at, n in zip(where, many, strict=True)])

        def times(vector: Floats) -> Floats:
            inside = np.zeros(bins[0].size)
            for at, start, stop in zip(where, self._starts, self._starts[1:], strict=False):
                inside += vector[start:stop][at]
            sums = [np.bincount(at, weights=inside, minlength=n) for at, n in zip(where, many, strict=True)]
            return vector + np.concatenate(sums)

        return _conjugate_gradients(times, left, diagonal, accuracy)


def _conjugate_gradients(times: Callable[[Floats], Floats], left: Floats, diagonal: Floats, accuracy: float) -> Floats:
    found, rest = np.zeros_like(left), left.copy()
    scaled = rest / diagonal
    ahead, size, goal = scaled.copy(), float(rest @ scaled), accuracy * math.sqrt(float(left @ left))
    for _ in range(_INNER):
        moved = times(ahead)
        pace = size / float(ahead @ moved)
        found += pace * ahead
        rest -= pace * moved
        if math.sqrt(float(rest @ rest)) <= goal:
            break
        scaled = rest / diagonal
        size, before = float(rest @ scaled), size
        ahead = scaled + size / before * ahead
    return found


def largest_remainders(cells: Floats | Sequence[float]) -> NDArray[np.int64]:
    """Whole numbers near cells of at least 0: rounded down, and the largest remainders up, so that the sum stays.

    Guarantee: the same for the same cells on every machine; each is less than 1 away.
    """
    given = np.asarray(cells, dtype=np.float64)
    found: NDArray[np.int64] = np.floor(given).astype(np.int64)
    rest = given - found
    missing = round(math.fsum(rest.tolist()))
    found[np.argsort(-rest, kind="stable")[:missing]] += 1
    return found
