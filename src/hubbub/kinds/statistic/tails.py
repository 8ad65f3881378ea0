"""How far the noise of several layers reaches together: the exact law of a sum of two-sided geometric numbers.

Of independent numbers with q_j = e^(-rate_j), all unlike, the generating function is the product of
(1 - q_j)^2/((1 - q_j z)(1 - q_j/z)), and its poles outside of the unit circle, at 1/q_j, give for x >= 0

    P(N = x) = sum_j c_j q_j^x,     c_j = (1 - q_j)/(1 + q_j) prod_(i != j) (1 - q_i)^2/((1 - q_i/q_j)(1 - q_i q_j)).

Rates that are equal are told apart by making one of them a little smaller, which makes its noise wider and every tail
of the sum heavier: for X symmetric and unimodal on the integers P(|X + y| <= t) falls in |y|, so that a Y that is
stochastically wider makes |X + Y| so too, and sums of symmetric unimodal numbers are such again.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball, exp, precision

_BITS: Final = 1024
_APART: Final = Fraction(1, 1000)


def distinct(rates: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The rates, each at least a thousandth below any larger one; never above what they were."""
    found: list[Fraction] = []
    for rate in sorted(rates, reverse=True):
        found.append(min(rate, found[-1] * (1 - _APART)) if found else rate)
    return tuple(found)


@lru_cache(maxsize=4096)
def reach(rates: tuple[Fraction, ...], miss: Fraction) -> int:
    """An r such that the sum of two-sided geometric noises of these rates is above r with a chance of at most `miss`.

    Guarantee: P(N > r) <= miss, by the exact law in certified balls; the smallest such r if no two rates are close.
    """
    with precision(_BITS):
        law, limit = _law(distinct(rates)), ball(miss)
        return first_from(lambda r: bool(_above(law, r) <= limit), 0)  # P(N > -1) is above a half


def _above(law: list[tuple[Fraction, arb]], r: int) -> arb:
    """P(N > r), r >= 0."""
    return sum((c * exp(-rate * (r + 1)) for rate, c in law), arb(0))


def _law(rates: tuple[Fraction, ...]) -> list[tuple[Fraction, arb]]:
    """(rate_j, c_j/(1 - q_j))."""
    found = []
    for rate in rates:
        q = exp(-rate)
        c = 1 / (1 + q)
        for other in rates:
            if other != rate:
                p = exp(-other)
                c *= (1 - p) ** 2 / ((1 - p / q) * (1 - p * q))
        found.append((rate, c))
    return found
