"""From a sampled count back to the population: an estimate and an interval that counts both kinds of doubt.

A sampled count m of a bin with c people is Binomial(c, p), and given that the bin is shown it is that law times the
chance that m is shown, scaled to one. Its likelihood ratio grows with c either way, so excluding the c for which m or
more, or m or fewer, would be rarer than a tail probability works exactly as for a published value: the ends of an
interval for m become ends of an interval for c, and the two tail probabilities add. A channel that says the count
itself, or between which counts it surely lies, has no doubt of its own, and all of it is left for the sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Channel, Published
from hubbub.channels.visibility import hides
from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.exact import ball
from hubbub.tables.estimation.visible_sample import VisibleSample, visible_sample


def split(coverage: Fraction) -> Fraction:
    """The coverage to ask of the channel so that half of the doubt is left for the sampling."""
    return (1 + coverage) / 2


@lru_cache(maxsize=65536)
def smallest_population(m: int, p: Fraction, tail: Fraction, first: int = 0) -> int:
    """The smallest c for which m or more sampled is not rarer than `tail`, given that at least `first` were."""
    if m <= first:
        return max(m, 0)
    return _first(lambda c: not at_least(c, p, m) <= ball(tail) * at_least(c, p, first), m, _about(m, p, tail, -1))


@lru_cache(maxsize=65536)
def largest_population(m: int, p: Fraction, tail: Fraction, first: int = 0) -> int:
    """The largest c for which m or fewer sampled is not rarer than `tail`, given that at least `first` were."""

    def rare(c: int) -> bool:
        if not first:
            return bool(at_most(c, p, m) <= ball(tail))
        visible_mass = at_least(c, p, first)
        return bool(visible_mass - at_least(c, p, m + 1) <= ball(tail) * visible_mass)

    return _first(rare, m, _about(m, p, tail, 1)) - 1


def _first(holds: Callable[[int], bool], least: int, guess: int) -> int:
    """The smallest c >= least where a condition that stays true holds, searched for in growing steps from a guess."""
    guess, step = max(guess, least), 1
    if holds(guess):
        while guess > least and holds(max(guess - step, least)):
            guess, step = max(guess - step, least), 4 * step
        lo, hi = max(guess - step, least), guess
    else:
        while not holds(guess + step):
            guess, step = guess + step, 4 * step
        lo, hi = guess + 1, guess + step
    while lo < hi:
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if holds(middle) else (middle + 1, hi)
    return lo


def _about(m: int, p: Fraction, tail: Fraction, sign: int) -> int:
    """Where an end lies, about, if nothing is hidden: the normal law, corrected for how skew the binomial one is."""
    rate, z = float(p), NormalDist().inv_cdf(1 - float(tail))
    skew = (z * z - 1) * (1 - 2 * rate) / 6
    half = sign * z * math.sqrt(1 - rate) / 2
    room = half * half + max(m + sign / 2 - skew, 0)
    return int((half + math.sqrt(room)) ** 2 / rate) + (sign < 0)


def population_estimate(value: int, p: Fraction) -> int:
    """What a sampled count says about everybody: itself divided by the rate, to the nearest whole number, at least 0.

    >>> population_estimate(7, Fraction(1, 10)), population_estimate(-3, Fraction(1, 10))
    (70, 0)
    """
    return int(max(value, 0) / p + Fraction(1, 2))


def population_intervals(
    channel: Channel, published: Published, p: Fraction, coverage: Fraction, *, found: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Intervals for the counts of everybody from what was published about a sample; high is -1 without an end.

    With `found`, bins that nobody of the sample is in are not listed.

    Guarantee: for every count c, given that the bin is shown the interval misses c with probability at most 1 -
    coverage; and a bin with a count outside the interval of a hidden outcome has that outcome with probability at most
    1 - coverage. An interval contains the estimate.
    """
    certain = channel.certain
    low, high = intervals(channel, published, coverage if certain else split(coverage))
    doubt = (1 - coverage) / (1 if certain else 2)
    hidden = np.array([name.startswith(SUPPRESSED) for name in published.names], dtype=bool)[published.tags]
    below, above = np.empty_like(low), np.empty_like(high)
    below[hidden], above[hidden] = _ends(low[hidden], high[hidden], p, doubt, None, 0)
    some = ~hidden
    first = channel.exact_from
    weights = None if first is not None or not (found or hides(channel)) else visible_sample(channel, p, found)
    below[some], above[some] = _ends(low[some], high[some], p, doubt / 2, weights, first or 0)
    values, where = np.unique(published.values[some], return_inverse=True)
    estimates = np.array([population_estimate(m, p) for m in values.tolist()], dtype=np.int64)[where]
    open_end = above[some] < 0
    below[some] = np.minimum(below[some], estimates)
    above[some] = np.where(open_end, -1, np.maximum(above[some], estimates))
    return below, above


def _ends(
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    p: Fraction,
    tail: Fraction,
    weights: VisibleSample | None,
    first: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends for c from those for m; each distinct one is worked out once."""

    def smallest(m: int) -> int:
        if weights is None or m <= 0:
            return smallest_population(m, p, tail, first)
        return _first(lambda c: not weights.rarer(c, m, tail, up=True), m, _about(m, p, tail, -1))

    def largest(m: int) -> int:
        if m < 0:
            return -1
        if weights is None:
            return largest_population(m, p, tail, first)
        return _first(lambda c: weights.rarer(c, m, tail, up=False), m, _about(m, p, tail, 1)) - 1

    lows, at_low = np.unique(low, return_inverse=True)
    highs, at_high = np.unique(high, return_inverse=True)
    below = np.array([smallest(m) for m in lows.tolist()], dtype=np.int64)
    above = np.array([largest(m) for m in highs.tolist()], dtype=np.int64)
    return below[at_low], above[at_high]
