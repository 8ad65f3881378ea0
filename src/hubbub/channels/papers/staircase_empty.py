"""What empty bins show through a nested staircase that hides its smallest values.

Level i is the first whose test fails: X_0 <= c_0, X_0 + X_1 <= c_1, ..., and then V + X_i > c_i with V the sum of the
noises before. Since P(X_i > c - v) is at most e^(-epsilon_i (c + 1 - v)) for every v, the level is tried with

    chance_i = e^(-epsilon_i (c_i + 1)) E[e^(epsilon_i X_0)] ... E[e^(epsilon_i X_(i-1))],

the earlier noises are drawn from laws tilted by e^(epsilon_i x) (finite, since epsilons fall), and what was tried is
kept with the ratio of the probability to its bound. Each tilted law is two geometric ones: all of it is drawn exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.empty_bins import EmptyBins
from hubbub.channels.published import Published
from hubbub.noise.sampler import SMALLEST_EPSILON, bernoulli_certified, geometric, two_sided_geometric
from hubbub.noise.source import Source
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.exact import Infinite, Loss, ball, exp

_OFTEN: Final = Fraction(1, 2)


def nested(rates: Sequence[Loss], cuts: Sequence[int], names: tuple[str, ...]) -> EmptyBins | None:
    """The noises before each test, the cuts, and the tags of levels 0, 1, ... followed by the hidden one.

    None if empty bins are tried more often than not, or two rates are too close for the tilted noise to be drawn.

    Guarantee: that of :class:`EmptyBins`, by the argument at the top of this file: levels exclude one another, and at
    each the kept tries have exactly the law of the channel.
    """
    finite = [rate for rate in rates if not isinstance(rate, Infinite)]
    if any(first - rate < SMALLEST_EPSILON for first, rate in pairwise(finite)):
        return None

    def chances() -> list[arb]:
        return [_chance(rates, i, cut) for i, cut in enumerate(cuts)]

    def draw(size: int, source: Source) -> Published:
        values, tags = np.zeros(size, dtype=np.int64), np.full(size, len(cuts), dtype=np.intp)
        level = _levels(len(cuts), chances, size, source)
        for i in range(len(cuts)):
            here = np.flatnonzero(level == i)
            found, kept = _tried(rates, cuts, i, here.size, source)
            values[here[kept]], tags[here[kept]] = found[kept], i
        return Published(values, tags, names)

    found = EmptyBins(lambda: sum(chances(), arb(0)), draw)
    return found if found.chance() < ball(_OFTEN) else None


def _chance(rates: Sequence[Loss], level: int, cut: int) -> arb:
    rate = rates[level]
    if isinstance(rate, Infinite):
        return arb(0)  # an empty bin stays at 0, and cuts are above it
    chance = exp(-rate * (cut + 1))
    for first in rates[:level]:
        if not isinstance(first, Infinite):
            right, left = _sides(first, rate)
            chance *= (ball(first) / 2).tanh() * (right + left)
    return chance


def _sides(first: Fraction, tilt: Fraction) -> tuple[arb, arb]:
    """The sums of e^(-first |x| + tilt x) over x >= 0 and over x < 0."""
    return -1 / ball(tilt - first).expm1(), 1 / ball(first + tilt).expm1()


def _levels(many: int, chances: Callable[[], list[arb]], size: int, source: Source) -> NDArray[np.int32]:
    def boundaries() -> list[arb]:
        found = chances()
        total, below = sum(found, arb(0)), arb(0)
        shares = []
        for each in found[:-1]:
            below += each
            shares.append(below / total)
        return shares

    return np.zeros(size, dtype=np.int32) if many == 1 else CertifiedTable(boundaries).sample(size, source)


def _tried(
    rates: Sequence[Loss], cuts: Sequence[int], level: int, size: int, source: Source
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """What bins publish that are tried at a level, and which of them are kept."""
    rate, cut = rates[level], cuts[level]
    before, kept = np.zeros(size, dtype=np.int64), np.ones(size, dtype=bool)
    if isinstance(rate, Infinite) or not size:
        return before, ~kept
    for first, test in zip(rates[:level], cuts, strict=False):
        before += _tilted(first, rate, size, source)
        kept &= before <= test
    noise, limit = two_sided_geometric(rate, size, source), geometric(rate, size, source)
    # At most c: the value is c + 1 + X with X >= 0, kept with the chance of that, P(X > c - v) e^(epsilon (c + 1 - v)).
    # Above c: kept with e^(-epsilon (v - c - 1)), and if v + X stays above c.
    low = before <= cut
    values = np.where(low, cut + 1 + noise, before + noise)
    kept &= (values > cut) & (low | (limit >= before - cut - 1))
    return values, kept


def _tilted(first: Loss, tilt: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Two-sided geometric noise whose law is tilted by e^(tilt x)."""
    if isinstance(first, Infinite):
        return np.zeros(size, dtype=np.int64)

    def share() -> arb:
        right, left = _sides(first, tilt)
        return right / (right + left)

    upwards = bernoulli_certified(share, size, source)
    return np.where(upwards, geometric(first - tilt, size, source), -1 - geometric(first + tilt, size, source))
