"""A cap that is drawn from the data: the grid, the weights of its points, and the draw.

The error of a capped sum is its noise, about sqrt(2)/loss caps, and what is cut off. Over b bins each is short of a b-th part
of that, so the error is least where about t = sqrt(2) b/loss people lie above the cap. Let M(y) be how many people have
more than y. The i-th point y of the grid is drawn with a weight of

    exp(-i - loss' max(M(y) - t, 0))

by permute-and-flip (:mod:`hubbub.kinds.quantile.ranks`). The first part is public: the noise of a cap that is far too
high costs as much as the cap is wide, so that a step of the grid upwards has to be worth it. Without it the points that
nobody reaches are as likely as each other, one draw in fifty goes astray among them, and that is nearly all of the error.

**What it costs.** Whoever comes is above the points below what they have. So M only rises, at each point by 0 or 1, and the
difference of two exponents moves by loss' at most: not by twice that, as a distance to a target does, which rises here and
falls there. Given the numbers of all other points, a point is drawn if its own is above something that moves by loss': its
chance moves by a factor of e^loss' at most. Of two people of a crowd who stand in for each other the one with more has
the larger M everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

from hubbub.kinds.quantile.ranks import Run, draw
from hubbub.noise.source import Source

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum


@lru_cache(maxsize=64)
def grid(bottom: int, top: int) -> tuple[int, ...]:
    """Powers of the square root of two, upwards to whole steps, between the ends of a range."""
    points, i = {top}, 0
    while (point := isqrt((1 << i) - 1) + 1) < top:
        points.add(max(point, bottom + 1, 1))
        i += 1
    return tuple(sorted(points))


def may_exceed(for_sum: Fraction, bins: int = 1) -> int:
    """t: how many people may lie above a cap before it is too low, if the noise of a bin has this loss for each cap.

    >>> may_exceed(Fraction(4, 5))
    1
    """
    per_bin = max(bins, 1) / for_sum
    return isqrt(int(2 * per_bin**2))


def grid_runs(above: Sequence[int], allowed: int, loss: Fraction) -> list[Run]:
    """The weights of the points, given how many lie above each, and how many may.

    Guarantee: where these numbers all rise by 0 to m, or all fall, the law of a point drawn by these weights changes by at
    most a factor e^(m loss).
    """
    return [Run(i, 1, i + loss * max(people - allowed, 0)) for i, people in enumerate(above)]


def allowed(spec: Sum) -> int:
    """t of a release."""
    return may_exceed(spec.shares[0], spec.bins)


def runs(spec: Sum, above: Sequence[int]) -> list[Run]:
    """The weights of the points, given how many people lie above each.

    Guarantee: between two tables that differ by one person the law of a point drawn by these weights changes by at most
    a factor e^loss', loss' being what :attr:`hubbub.kinds.sum.spec.Sum.shares` keeps for the choice.
    """
    return grid_runs(above, allowed(spec), spec.shares[1])


def drawn(spec: Sum, above: Sequence[int], source: Source) -> int:
    """A point of the grid, in steps."""
    return spec.cap_points[draw(runs(spec, above), source)]
