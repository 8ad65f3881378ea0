"""How far sums of two-sided geometric noise go, for many of them at once. Rounded up; the noise is whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.numeric.exact import ball, exp, precision, upper

_STEPS: Final = 60


@lru_cache(maxsize=4096)
def farthest(terms: int, rate: Fraction, log_sums: Fraction, doubt: Fraction) -> int:
    """The number that none of e^log_sums sums, each of at most `terms` noises, exceeds but with probability `doubt`.

    Guarantee: if each noise x has P(x) ~ exp(-rate |x|) and those of one sum are independent, then with probability at
    least 1 - doubt every sum is at most this, up and down. One noise: its exact tail 2 a^(m+1)/(1+a), a = e^-rate.
    Several: Chernoff's bound for a rational l near the best one, evaluated in balls, with the exact moment generating
    function (1-a)^2/((1 - a e^l)(1 - a e^-l)). Any l would do; the search for a good one decides nothing.
    """
    with precision():
        tests = ball(log_sums) + ball(2 / doubt).log()
        single = _integer((tests - (1 + exp(-rate)).log()) / ball(rate)) if terms == 1 else None
        if single is not None:
            return max(single, 0)  # P(|x| >= m + 1) = 2 a^(m+1)/(1+a) for the whole number m below that
        slope = _good_slope(terms, float(rate), float(tests.mid()), rate)
        a, up = exp(-rate), exp(slope)
        moment = 2 * (1 - a).log() - (1 - a * up).log() - (1 - a / up).log()
        return _integer((terms * moment + tests) / ball(slope))


def _integer(x: arb) -> int:
    """Whole sums above x are at least the next whole number above it."""
    return math.floor(upper(x))


def _good_slope(terms: int, rate: float, tests: float, exact: Fraction) -> Fraction:
    """By golden section: t(l) = (terms ln M(l) + tests)/l has one minimum between 0 and the rate."""

    def reach(share: float) -> float:
        step = share * rate
        moment = (
            2 * math.log(-math.expm1(-rate)) - math.log(-math.expm1(step - rate)) - math.log(-math.expm1(-step - rate))
        )
        return (terms * moment + tests) / step

    low, high, golden = 1e-9, 1 - 1e-9, (math.sqrt(5) - 1) / 2
    for _ in range(_STEPS):
        one, two = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, two) if reach(one) < reach(two) else (one, high)
    return exact * Fraction((low + high) / 2).limit_denominator(10**12)


def selected(rate: Fraction, log_number: Fraction, doubt: Fraction) -> int:
    """By how much the exponential mechanism misses the best score, but with probability `doubt`.

    Guarantee: with whole scores and P ~ exp(-rate gap), P(gap > t) <= number e^(-rate t).
    """
    with precision():
        return _integer((ball(log_number) + ball(1 / doubt).log()) / ball(rate))
