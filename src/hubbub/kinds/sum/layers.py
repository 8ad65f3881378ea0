"""A person's total cut into layers 0 < t_1 < ... < t_J = M, each with noise of its own; and what a person loses by it.

The piece of x in layer j is x_j = clamp(x, t_(j-1), t_j) - t_(j-1), and the sum of the first k pieces is min(x, t_k).
Each layer's sum gets two-sided geometric noise of rate e/(J w_j), w_j = t_j - t_(j-1). Somebody with x in a bin moves
layer j by x_j, and so loses at most e loss(x),

    loss(x) = (x_1/w_1 + ... + x_J/w_J)/J,     loss(M) = 1.

Layers are not narrower than those below them but for the last, and so loss need not be concave there: what somebody
loses who is in several bins is bounded by its least concave majorant (:meth:`Layers.spread`).

One layer, J = 1, is a sum with the cap M.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.numeric.exact_sums import sums_by
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Layers:
    """Where the layers end, in steps."""

    tops: tuple[int, ...]

    @property
    def most(self) -> int:
        """M."""
        return self.tops[-1]

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(top - below for below, top in zip((0, *self.tops), self.tops, strict=False))

    def __len__(self) -> int:
        return len(self.tops)

    def loss(self, x: Fraction | int) -> Fraction:
        """What somebody with x steps in one bin loses, as a part of what somebody with M does."""
        found = Fraction(0)
        for below, top in zip((0, *self.tops), self.tops, strict=False):
            found += (min(max(Fraction(x), Fraction(below)), Fraction(top)) - below) / (top - below)
        return found / len(self.tops)

    def spread(self, bins: int, total: int) -> Fraction:
        """The most that somebody loses who is in at most `bins` bins with at most M in each and `total` in all.

        Guarantee: no less than the sum of loss(x_b) over any such x_b: each is at most the least concave function above
        loss, and of a concave one the sum is largest where all x_b are equal.
        """
        return bins * _above(self, min(Fraction(self.most), Fraction(total, bins)))

    def sums(
        self, bins: int, indices: NDArray[np.int64], x: NDArray[Any], counts: NDArray[np.int64], most: int
    ) -> list[list[int]]:
        """The sum of each layer's pieces, of every bin, of so many people with x steps in the bins of those numbers, of
        whom one row adds at most `most`."""
        pieces = (np.clip(x, below, top) - below for below, top in zip((0, *self.tops), self.tops, strict=False))
        return [sums_by(indices, each, bins, most, counts).tolist() for each in pieces]


@lru_cache(maxsize=256)
def _above(layers: Layers, x: Fraction) -> Fraction:
    """The least concave function above loss: it is linear between tops, so a chord between two of them."""
    points = [(Fraction(top), layers.loss(top)) for top in (0, *layers.tops)]
    best = layers.loss(x)
    for left, low in points:
        for right, high in points:
            if left < x < right:
                best = max(best, low + (high - low) * (x - left) / (right - left))
    return best


@lru_cache(maxsize=256)
def octaves(most: int) -> Layers:
    """1, 2, 4, ... up to the most."""
    tops = [1]
    while tops[-1] < most:
        tops.append(min(2 * tops[-1], most))
    return Layers(tuple(tops))
