"""How far two-sided geometric noise reaches: of one number, of all numbers at once, and of a sum.

With q = e^-epsilon, P(|X| > r) = 2 q^(r+1)/(1 + q). Of a sum the law itself is worked out
(:mod:`hubbub.channels.mechanisms.noise_sum`), as far as Chernoff's bound leaves anything: for every 0 < t < epsilon,
P(|X_1 + ... + X_n| > r) <= 2 e^(-t(r+1)) M(t)^n with M(t) = (1-q)^2/((1 - q e^t)(1 - q e^-t)). Where t lies best is
searched with floats; that the bound holds there is worked out with balls.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.channels.mechanisms.noise_sum import UNIT, inside
from hubbub.numeric.bisection import first, first_from
from hubbub.numeric.exact import ball, exp

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

    Guarantee: that inequality, worked out with balls.
    """
    return first_from(lambda r: bool(beyond(rate, r) <= ball(miss)), 0)


def reach_of_sum(rate: Fraction, many: int, tail: Fraction) -> int:
    """An r that the sum of so many numbers, or of fewer, exceeds on either side with a chance of at most `tail`.

    Guarantee: P(|X_1 + ... + X_n| > r) <= tail for every n <= many. The law of the sum is symmetric and falls away from
    0 (each noise is log-concave, and so are sums of them), so one noise more can only spread it: the tail grows with n.
    For `many` itself it is bounded by the law of the sum, or by Chernoff's bound where that is too wide to write down.
    """
    few = max(many.bit_length() - _BITS, 0)  # a few numbers serve all: the next larger of so many bits
    return _reach_of_sum(rate, -(-many >> few) << few, tail)


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
