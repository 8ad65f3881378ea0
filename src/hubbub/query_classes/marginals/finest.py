"""Cells of at least 0 that are nearest to a table and to its margins, where one finest table has all of them as sums.

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

from hubbub.query_classes.marginals.tables import Columns
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]

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

    def projected(self) -> Floats:
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
