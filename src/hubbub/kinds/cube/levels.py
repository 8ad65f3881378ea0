"""Noise at every level of a cube: how epsilon is split among the tables, for the least worst error.

A table of m numbers with noise of rate e has all of them within r of the truth with a chance of (1 - P(|X| > r))^m.
Every table gets the same share of the chance that is left to be wrong, so a table needs at least some rate e_i(r) for a
worst error r, whatever the data are. The smallest r for which these add up to no more than epsilon is the best that any
split reaches; what is then left of epsilon goes to all tables alike. Only public sizes go into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.channels.mechanisms.noise_reach import beyond, misses, reach_of_all
from hubbub.channels.protocol import SMALLEST_RATE
from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball
from hubbub.runtime.frozen import dataclass

_PARTS: Final = (10**6, 10**9, 10**12)  # into which epsilon is cut: coarse ones make short numbers


@dataclass(frozen=True, slots=True)
class Split:
    """The share of epsilon of each table, and how far every number of it is from the truth at most."""

    shares: tuple[Fraction, ...]
    reaches: tuple[int, ...]

    @property
    def worst(self) -> int:
        return max(self.reaches)


def reaches(shares: Sequence[Fraction], sizes: Sequence[int], coverage: Fraction) -> tuple[int, ...]:
    """How far all numbers of each table are from the truth at most.

    Guarantee: with a chance of at least `coverage`, every number of every table is as near.
    """
    return tuple(reach_of_all(share, miss) for share, miss in zip(shares, misses(sizes, coverage), strict=True))


@lru_cache(maxsize=256)
def best_split(epsilon: Fraction, sizes: tuple[int, ...], coverage: Fraction) -> Split:
    """The split of epsilon with the least worst error over all tables.

    Guarantee: the shares add up to epsilon; with a chance of at least `coverage` every number of every table is within
    its reach of the truth; and no split has a worst error below the largest reach, if every table is to be wrong with
    the same chance (the rates that a smaller one needs add up to more than epsilon, worked out with balls; were they
    epsilon to twelve digits, it may be one more).
    """
    allowed = misses(sizes, coverage)
    reach = first_from(lambda r: _possible(epsilon, allowed, r), 0)  # the rates that are needed fall with the reach
    for parts in _PARTS:
        needed = [math.ceil(_least(miss, reach) * parts / epsilon) for miss in allowed]
        if sum(needed) <= parts:
            return _fill_up(epsilon, needed, parts, sizes, coverage)
    needed = [math.ceil(_least(miss, reach + 1) * _PARTS[-1] / epsilon) for miss in allowed]
    return _fill_up(epsilon, needed, _PARTS[-1], sizes, coverage)


def _fill_up(epsilon: Fraction, needed: Sequence[int], parts: int, sizes: Sequence[int], coverage: Fraction) -> Split:
    """What is left of epsilon goes to all in proportion, rounded down, and the rest of that to the first."""
    given = [many * parts // sum(needed) for many in needed]
    given[0] += parts - sum(given)
    shares = tuple(epsilon * many / parts for many in given)
    if min(shares) < SMALLEST_RATE:
        raise WrongUse(f"epsilon is too small to be split among {len(sizes)} tables; raise it, or drop margins")
    return Split(shares, reaches(shares, sizes, coverage))


def _possible(epsilon: Fraction, allowed: Sequence[Fraction], reach: int) -> bool:
    """Whether the rates that this reach needs, each from below, fit into epsilon."""
    return sum((_root(miss, reach)[0] for miss in allowed), Fraction(0)) <= epsilon


def _least(miss: Fraction, reach: int) -> Fraction:
    """A rate at which P(|X| > reach) <= miss, hardly more than needed."""
    return _root(miss, reach)[1]


@lru_cache(maxsize=4096)
def _root(miss: Fraction, reach: int) -> tuple[Fraction, Fraction]:
    """Rates around the one with P(|X| > reach) = miss: at the first it is more, at the second no more."""

    def enough(rate: Fraction) -> bool:
        tail: arb = beyond(rate, reach)
        return bool(tail <= ball(miss))

    low, high = Fraction(0), Fraction(1)
    while not enough(high):
        low, high = high, 2 * high
    while (high - low) * 10**15 > high:
        middle = Fraction((low + high) / 2).limit_denominator(10**18)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high
