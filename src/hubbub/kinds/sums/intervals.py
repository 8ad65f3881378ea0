"""How far a published statistic can be from the truth: exact laws of the noise, and of the sample where there are any.

Of people with several rows K are drawn. What somebody's rows of a bin count lies between 0 and what one person adds at
most, so that Serfling's inequality is about people. Of a mean m the sum of a - m t over everybody is 0, where a and t
are the sums of x and of W of somebody's rows: its terms lie in an interval of the length of the largest t, so that the
sums of those who were drawn are off by at most K times that, and m lies where |A' - m (A' + B')| is at most that more.

Everything is worked out from what was published and from public numbers. The chance to be wrong, 1 - coverage, is all
for the noise where nobody was sampled; else half is for the noise and half for the sample, whatever the data are.

Of two sums A and B with noise the mean A/(A + B) = m satisfies (1 - m) A - m B = 0, so that the published ones are off
by (1 - m) Z - m Z', at most t if both noises are: m lies where |A' - m (A' + B')| <= t.

A mean of c people of a bin, drawn from more of them, differs from that of all by at most sqrt(ln(2/b)/(2 c)) of the
range but for a probability b, whatever the others are (Hoeffding 1963, Theorem 4; Serfling's factor is left out, since
how many people a bin has in all is not public). A single share of all people has its exact law instead
(:mod:`hubbub.sampling.sampled_share`).

How far the noise of several layers reaches together: the exact law of a sum of two-sided geometric numbers.

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
from math import ceil
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.numeric.bisection import first_from
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import ball, exp, log, precision, rounded, upper
from hubbub.numeric.gaussian_sums import reach_of_equals

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Statistic

_DIGITS: Final = 12
_FEW: Final = 12  # noises whose sum has a law that is worked out; of more it takes too many digits
Ends = tuple[Fraction, Fraction]
Part = tuple[int, int]
"""A part of the range 0..1: over and under, the latter above 0."""


@lru_cache(maxsize=4096)
def reach(rate: Fraction, miss: Fraction) -> int:
    """The smallest r such that two-sided geometric noise is beyond r, either way, with a chance of at most `miss`.

    Guarantee: P(|Z| > r) = 2 e^(-rate (r + 1))/(1 + e^-rate) <= miss.
    """
    with precision():
        beyond = 2 / ((1 + exp(-rate)) * ball(miss))
        found = max(ceil(upper(beyond.log() / ball(rate))) - 1, 0)
        while found and beyond * exp(-rate * found) <= 1:
            found -= 1
    return found


@lru_cache(maxsize=4096)
def reach_of_many(rates: tuple[Fraction, ...], bins: int, miss: Fraction) -> int:
    """An r such that the sum of two-sided geometric noises of these rates, in so many bins, is above r with a chance of
    at most `miss`.

    Guarantee: of few noises by the exact law of their sum; of many by Markov's inequality for e^(s N), at the best of 63 values of s
    below every rate, with E e^(s Z) = (1 - q)^2/((1 - q e^s)(1 - q e^-s)), q = e^-rate, in certified balls.
    """
    if len(rates) * bins <= _FEW:
        return reach_of_sum(rates * bins, miss)
    return min(ceil(upper(_chernoff(rates, bins, miss, min(rates) * i / 64))) for i in range(1, 64))


def _chernoff(rates: tuple[Fraction, ...], bins: int, miss: Fraction, s: Fraction) -> arb:
    with precision():
        found = log(1 / miss)
        for rate in rates:
            moment = (1 - exp(-rate)) ** 2 / ((1 - exp(s - rate)) * (1 - exp(-s - rate)))
            found += bins * moment.log()
        return found / ball(s)


def noise_reach(spec: Statistic, miss: Fraction) -> int:
    """An r such that the noise of one sum is beyond r, either way, with a chance of at most `miss`."""
    if spec.gaussian is not None:
        return reach_of_equals(spec.gaussian.s2, 1, miss / 2)
    assert spec.sum_rate is not None
    return reach(spec.sum_rate, miss)


def noise_reach_of_many(spec: Statistic, bins: int, miss: Fraction) -> int:
    """An r such that the noise of one sum in each of so many bins is together above r with a chance of at most `miss`."""
    if spec.gaussian is not None:
        return reach_of_equals(spec.gaussian.s2, bins, miss)
    assert spec.sum_rate is not None
    return reach_of_many((spec.sum_rate,), bins, miss)


def of_sums(part: int, total: int, off: int) -> Ends:
    """Where a mean, of the range 0..1, lies if both noises are at most `off`.

    Guarantee: if A' and B' are each within `off` of sums that have the mean m, m is inside; what cannot be is cut off.
    """
    low, high = parts_of_sums(part, total, off)
    return Fraction(*low), Fraction(*high)


def parts_of_sums(part: int, total: int, off: int) -> tuple[Part, Part]:
    """:func:`of_sums`, each end as two integers."""
    part, rest = max(part, 0), max(total - part, 0)  # as near to sums that cannot be below 0, or nearer
    total = part + rest
    if not total:
        return (0, 1), (1, 1)
    low, high = clamped_interval(part, off, 0, total)
    return (low, total), (high, total)


@lru_cache(maxsize=65536)
def drawn(people: int, miss: Fraction) -> Fraction:
    """How far the mean of so many people, drawn from more, is from the mean of all, in parts of the range.

    Guarantee: at most this, but for a probability of at most `miss` (Hoeffding 1963); rounded up.
    """
    if people < 1:
        return Fraction(1)
    with precision():
        return min(rounded((log(2 / miss) / (2 * people)).sqrt(), up=True, digits=_DIGITS), Fraction(1))


@lru_cache(maxsize=4096)
def drawn_from(rows: int, people: int, miss: Fraction) -> Fraction:
    """How far the mean of `rows` numbers of an interval of length 1, drawn from `people` without replacement, is from
    the mean of all, on one side.

    Guarantee: at most this, but for a probability of at most `miss`: sqrt(f ln(1/miss)/(2 rows)) with f the smaller of
    1 - (rows - 1)/people and (1 - rows/people)(1 + 1/rows) (Serfling; Bardenet and Maillard); rounded up.
    """
    factor = min(1 - Fraction(rows - 1, people), (1 - Fraction(rows, people)) * (1 + Fraction(1, rows)))
    if factor <= 0:
        return Fraction(0)
    with precision():
        return rounded((ball(factor) * log(1 / miss) / (2 * rows)).sqrt(), up=True, digits=_DIGITS)


_NOTHING, _ALL = Fraction(0), Fraction(1)


def widened(ends: Ends, by: Fraction) -> Ends:
    """An interval of the range 0..1, longer on both sides."""
    low, high = ends[0] - by, ends[1] + by
    return low if low.numerator > 0 else _NOTHING, high if high.numerator < high.denominator else _ALL


# --- several noises together --------------------------------------------------------------------------------------

_BITS: Final = 1024
_APART: Final = Fraction(1, 1000)


def _distinct(rates: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The rates, each at least a thousandth below any larger one; never above what they were."""
    found: list[Fraction] = []
    for rate in sorted(rates, reverse=True):
        found.append(min(rate, found[-1] * (1 - _APART)) if found else rate)
    return tuple(found)


@lru_cache(maxsize=4096)
def reach_of_sum(rates: tuple[Fraction, ...], miss: Fraction) -> int:
    """An r such that the sum of two-sided geometric noises of these rates is above r with a chance of at most `miss`.

    Guarantee: P(N > r) <= miss, by the exact law in certified balls; the smallest such r if no two rates are close.
    """
    with precision(_BITS):
        law, limit = _law(_distinct(rates)), ball(miss)
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
