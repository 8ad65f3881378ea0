"""Certified quantiles of two-sided geometric noise: of one number, of the largest of several, and of a sum.

With q = e^-epsilon, P(|X| > r) = 2 q^(r+1)/(1 + q). Of a sum the law itself is computed
(:func:`inside`), as far as Chernoff's bound leaves anything: for every 0 < t < epsilon,
P(|X_1 + ... + X_n| > r) <= 2 e^(-t(r+1)) M(t)^n with M(t) = (1-q)^2/((1 - q e^t)(1 - q e^-t)). Where t lies best is
searched with floats; that the bound holds there is computed with balls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final

from flint import arb, fmpz_poly

from hubbub.numeric.bisection import first, first_from
from hubbub.numeric.exact import ball, exp, lower, rounded

_FAR: Final = Fraction(1, 2**44)  # what is left out of the law of a sum
_BITS: Final = 6
_WIDEST: Final = 5_000  # of a law that is written down


def beyond(rate: Fraction, reach: int) -> arb:
    """A ball around P(|X| > reach).

    Guarantee: the ball holds 2 q^(reach+1)/(1 + q).
    """
    return 2 * exp(-rate * (reach + 1)) / (1 + exp(-rate))


@lru_cache(maxsize=4096)
def reach_of_one_side(rate: Fraction, many: int, tail: Fraction) -> int:
    """The smallest r that none of so many numbers exceeds, but with a chance of at most `tail` (added up).

    Guarantee: many P(X > r) <= tail.
    """
    return first_from(lambda r: bool(many * beyond(rate, r) / 2 <= ball(tail)), 0)


@lru_cache(maxsize=4096)
def reach_of_all(rate: Fraction, miss: Fraction) -> int:
    """The smallest r with P(|X| > r) <= miss.

    Guarantee: that inequality, computed with balls.
    """
    return first_from(lambda r: bool(beyond(rate, r) <= ball(miss)), 0)


def misses(sizes: Sequence[int], coverage: Fraction) -> tuple[Fraction, ...]:
    """For each table the chance that one number may be wrong, rounded down.

    Guarantee: if each number of table i is wrong with at most this chance, independently, then none of all tables is
    with a chance of at least `coverage`: the chances 1 - misses multiply to coverage.
    """
    return tuple(rounded(1 - (ball(coverage).log() / (len(sizes) * size)).exp(), up=False) for size in sizes)


def reach_of_sum(rate: Fraction, many: int, tail: Fraction) -> int:
    """An r that the sum of so many numbers, or of fewer, exceeds on either side with a chance of at most `tail`.

    Guarantee: P(|X_1 + ... + X_n| > r) <= tail for every n <= many. The law of the sum is symmetric and falls away from
    0 (each noise is log-concave, and so are sums of them), so one noise more can only spread it: the tail grows with n.
    For `many` itself it is bounded by the law of the sum, or by Chernoff's bound where that is too wide to write down.
    """
    few = max(many.bit_length() - _BITS, 0)  # a few numbers serve all: the next larger of so many bits
    return _reach_of_sum(rate, -(-many >> few) << few, tail)


@lru_cache(maxsize=65536)
def reach_of_mixed_sum(groups: tuple[tuple[Fraction, int], ...], tail: Fraction) -> int:
    """An r that the sum of so many numbers of each of some rates exceeds on either side with a chance of at most `tail`.

    Guarantee: P(|sum| > r) <= tail: by the law of the sum from below, or, where that is too wide to write down, by a share of
    the tail for each rate.
    """
    if len(groups) == 1:
        return reach_of_sum(*groups[0], tail)
    part = tail / len(groups)
    far = sum(_chernoff_reach(rate, many, min(part, _FAR)) for rate, many in groups)
    if far > _WIDEST:
        return sum(reach_of_sum(rate, many, part) for rate, many in groups)
    window = 1 << far.bit_length()  # one for many sums, so that laws are shared
    law, *others = (_law_of_sum(rate, many, window) for rate, many in groups)
    for other in others:
        law = _product(law, other, window)
    within = _cumulate(law)
    return first(lambda r: UNIT - within[r] <= tail * UNIT, 0, far)


@lru_cache(maxsize=65536)
def _reach_of_sum(rate: Fraction, many: int, tail: Fraction) -> int:
    if many == 0:
        return 0
    if many == 1:
        return reach_of_all(rate, tail)
    far = _chernoff_reach(rate, many, min(tail, _FAR))
    if far > _WIDEST:
        return _chernoff_reach(rate, many, tail)
    within = inside(rate, many, far)
    return first(lambda r: UNIT - within[r] <= tail * UNIT, 0, far)


def _chernoff_reach(rate: Fraction, many: int, tail: Fraction) -> int:
    return first_from(lambda r: bool(_chernoff(rate, many, r) <= ball(tail)), reach_of_all(rate, tail))


def _chernoff(rate: Fraction, many: int, reach: int) -> arb:
    t = _best(float(rate), many, reach)
    q, up, down = exp(-rate), exp(t - rate), exp(-t - rate)
    moment = (1 - q) ** 2 / ((1 - up) * (1 - down))
    return 2 * (many * moment.log() - ball(t * (reach + 1))).exp()


def _best(rate: float, many: int, reach: int) -> Fraction:
    """About where the exponent is least: there the slope of n ln M is reach + 1. It grows from 0 to infinity."""
    low, high = 0.0, rate
    for _ in range(60):
        t = (low + high) / 2
        up, down = math.exp(t - rate), math.exp(-t - rate)
        slope = math.inf if up >= 1 else many * (up / (1 - up) - down / (1 - down))
        low, high = (t, high) if slope < reach + 1 else (low, t)
    return Fraction(max(low, rate / 1e6)).limit_denominator(10**9)


# The law of a sum of two-sided geometric noises, from below: how much of it surely lies within a distance of 0.
#
# Masses are whole numbers of units of 2^-128, rounded down, and laws are multiplied as polynomials; what is rounded away,
# or lies beyond a window that Chernoff's bound leaves next to nothing outside of, is missing from the sum. So what is
# found inside is at most what is there, and one minus it bounds the tail.


UNIT: Final = 1 << 128


@lru_cache(maxsize=512)
def inside(rate: Fraction, many: int, window: int) -> tuple[int, ...]:
    """For r = 0 .. window, in units: a number of them that P(|X_1 + ... + X_many| <= r) is at least.

    Guarantee: that, for every window.
    """
    return _cumulate(_law_of_sum(rate, many, window))


def _cumulate(integers: list[int]) -> tuple[int, ...]:
    """How much of a law lies within each distance of its middle."""
    middle = len(integers) // 2
    return tuple(
        accumulate([integers[middle], *(integers[middle - r] + integers[middle + r] for r in range(1, middle + 1))])
    )


@lru_cache(maxsize=512)
def _law_of_sum(rate: Fraction, many: int, window: int) -> list[int]:
    """The masses of a sum of so many numbers around their middle, in units, rounded down."""
    integers: list[int] = []
    power, left = _one(rate, window), many
    while True:
        if left & 1:
            integers = power if not integers else _product(integers, power, window)
        left >>= 1
        if not left:
            break
        power = _product(power, power, window)
    return integers


@lru_cache(maxsize=64)
def _one(rate: Fraction, window: int) -> list[int]:
    top = (1 - exp(-rate)) / (1 + exp(-rate))
    side = [math.floor(lower(top * exp(-rate * x) * ball(UNIT))) for x in range(window + 1)]
    return [*reversed(side[1:]), *side]


def _product(first: list[int], second: list[int], window: int) -> list[int]:
    """Of two laws around their middles, cut to the window."""
    found = [int(mass) for mass in (fmpz_poly(first) * fmpz_poly(second)).coeffs()]
    found += [0] * (len(first) + len(second) - 1 - len(found))
    middle = len(found) // 2
    return [mass // UNIT for mass in found[max(middle - window, 0) : middle + window + 1]]
