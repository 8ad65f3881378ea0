"""A cap that is drawn from the data: the grid, the number of people that it should leave above, and the draw.

The error of a capped sum is about the noise, sqrt(2)/loss caps, and what is cut off, so it is least where about
sqrt(2)/loss people lie above the cap. A private choice errs by (2/loss') ln(points/0.02) ranks but for a chance of 1 in
50, so that many people are aimed at if they are more. A point y of the grid is drawn with a weight of
exp(-(loss'/2) |#{people with y or more} - aim|), by permute-and-flip (:mod:`hubbub.kinds.statistic.quantile`): one person
moves every distance by at most 1, and so the chance of each point by at most a factor e^loss'.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

from hubbub.kinds.statistic.quantile import Run, draw
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, log, precision, upper

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


@lru_cache(maxsize=64)
def aim(points: int, for_sum: Fraction, for_cap: Fraction) -> int:
    """How many people should lie at the cap or above it."""
    with precision():
        best = ball(2).sqrt() / ball(for_sum)
        sure = 2 * log(50 * points) / ball(for_cap)
        return int(max(upper(best), upper(sure))) + 1


def runs(spec: Sum, above: Sequence[int]) -> list[Run]:
    """The weights of the points, given how many people lie at each or above it.

    Guarantee: between two tables that differ by one person the law of a point drawn by these weights changes by at most
    a factor e^loss', loss' being what :attr:`hubbub.kinds.sum.spec.Sum.shares` keeps for the choice.
    """
    for_sum, for_cap, _ = spec.shares
    wanted = aim(len(above), for_sum, for_cap)
    return [Run(i, 1, for_cap / 2 * abs(people - wanted)) for i, people in enumerate(above)]


def drawn(spec: Sum, above: Sequence[int], source: Source) -> int:
    """A point of the grid, in steps."""
    return spec.cap_points[draw(runs(spec, above), source)]
