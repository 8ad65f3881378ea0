"""Tables of at least 0 that agree with one another, nearest to tables that agree: a Euclidean projection.

All tables of a workload, stacked, are one vector; those that agree in all sums are a linear space L, and the truth lies in
its part of at least 0. Given y in L, wanted is the x of at least 0 in L with the least |x - y|, which is never further from
the truth than y is (a projection onto a convex set that holds the truth). The projection P onto L is closed form: residuals
of a table, averaged over all tables that have them (:mod:`hubbub.query_classes.marginals.geometric`).

**How near it is.** For multipliers l >= 0 let x(l) = y + P l, and z any tables of at least 0 that agree. Then
|z - x*|^2/2 <= |z - y|^2/2 - (|x(l) - y|^2/2 - l.x(l)), the duality gap. Accelerated gradient steps, restarted where they
overshoot, find l; z is x(l) moved towards even tables until it is nowhere below 0.

Floats: nothing is promised of the result but the gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.query_classes.marginals.finest import TOLERANCE
from hubbub.query_classes.marginals.tables import Columns, Tables, subsets, without
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
                steps.append((below, above, axis, 1 / self.tables.cells(without(each, below))))
            found[each] = steps
        return found

    @cached_property
    def _weights(self) -> dict[Columns, float]:
        found = dict.fromkeys(self.tables.closure, 0.0)
        for each in self.tables.workload:
            for below in subsets(each):
                found[below] += 1 / self.tables.cells(without(each, below))
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


def projected(tables: Tables, aims: Sequence[Floats]) -> tuple[Stack, float]:
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
            feasible = _lifted(tables, found)
            gap = _squares(feasible, aims) / 2 - _squares(found, aims) / 2
            gap += sum(float((a * b).sum()) for a, b in zip(multipliers, found, strict=True))
            near = math.sqrt(max(2 * gap, 0.0))
            if near < far:
                best, far = feasible, near
            if far <= tolerance(aims) / 4:
                break
    return best, far


def _lifted(tables: Tables, stack: Sequence[Floats]) -> Stack:
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
