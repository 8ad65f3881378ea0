"""From a sampled count back to the population: an estimate and an interval that counts both kinds of doubt.

A sampled count m of a bin with c people is Binomial(c, p). Excluding the c for which m or more, or m or fewer, would be
rarer than a tail probability works exactly as for a published value; so the ends of an interval for m become ends of
an interval for c, and the two tail probabilities add. A channel that says the count itself, or between which counts it
surely lies, has no doubt of its own, and all of it is left for the sampling.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.binomial_law import at_least, at_most
from hubbub.bisection import first_from
from hubbub.exact import ball


def split(coverage: Fraction) -> Fraction:
    """The coverage to ask of the channel so that half of the doubt is left for the sampling."""
    return (1 + coverage) / 2


@lru_cache(maxsize=65536)
def smallest_population(m: int, p: Fraction, tail: Fraction) -> int:
    """The smallest c for which m or more sampled is not rarer than `tail`."""
    if m <= 0:
        return 0
    return first_from(lambda c: not at_least(c, p, m) <= ball(tail), m)


@lru_cache(maxsize=65536)
def largest_population(m: int, p: Fraction, tail: Fraction) -> int:
    """The largest c for which m or fewer sampled is not rarer than `tail`."""
    return first_from(lambda c: at_most(c, p, m) <= ball(tail), m) - 1


def population_intervals(
    low: NDArray[np.int64], high: NDArray[np.int64], p: Fraction, coverage: Fraction, *, certain: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Intervals for the counts of everybody from intervals (at :func:`split` coverage) for the sampled counts.

    Guarantee: if [low, high] misses the sampled count with probability at most (1 - coverage)/2, or never if `certain`,
    the result misses the population count with probability at most 1 - coverage.
    """
    tail = (1 - coverage) / (2 if certain else 4)
    lows, at_low = np.unique(low, return_inverse=True)
    highs, at_high = np.unique(high, return_inverse=True)
    below = np.array([smallest_population(m, p, tail) for m in lows.tolist()], dtype=np.int64)
    above = np.array([-1 if m < 0 else largest_population(m, p, tail) for m in highs.tolist()], dtype=np.int64)
    return below[at_low], above[at_high]
