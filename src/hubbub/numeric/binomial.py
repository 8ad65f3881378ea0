"""The binomial law in certified numbers: masses and tails for any size, however far out.

b_m = Pr[Bin(n, p) = m] comes from the logarithm of the gamma function as a ball. A tail is b_m times
1 + r_m + r_m r_(m+1) + ..., with r_j = b_(j+1)/b_j = (n - j) p/((j + 1)(1 - p)), which falls with j: beyond the peak
all terms are positive and shrink, and what is left out after a term t is at most t r/(1 - r). The series is summed in
integers, each term rounded down and the loss counted, so that a million people cost some milliseconds.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.numeric.exact import PRECISION, ball, precision, rounded

_UNIT: Final = 192  # the first term of a tail is 2^192 units
_SMALL: Final = 1 << 48  # a term of so many units ends the sum: 2^-144 of the first


def spare(n: int) -> int:
    """Bits to work with, so that ln n! costs none of the usual precision."""
    return PRECISION + 2 * n.bit_length()


def mass(n: int, p: Fraction, m: int) -> arb:
    """A ball around Pr[Bin(n, p) = m], for 0 < p < 1."""
    if not 0 <= m <= n:
        return arb(0)
    with precision(spare(n)):
        ways = arb(n + 1).lgamma() - arb(m + 1).lgamma() - arb(n - m + 1).lgamma()
        return (ways + m * ball(p).log() + (n - m) * ball(1 - p).log()).exp()


def at_least(n: int, p: Fraction, m: int) -> arb:
    """A ball around Pr[Bin(n, p) >= m], for 0 < p < 1.

    Guarantee: the ball holds the probability, and is narrow relative to it however small it is.
    """
    if m <= 0 or m > n:
        return arb(1 if m <= 0 else 0)
    q = 1 - p
    if (n - m) * p > (m + 1) * q:  # before the peak: the other side is the shorter
        return 1 - at_most(n, p, m - 1)
    return mass(n, p, m) * _series(n, p / q, m)


def at_most(n: int, p: Fraction, m: int) -> arb:
    """A ball around Pr[Bin(n, p) <= m], for 0 < p < 1: as many failures as Bin(n, 1 - p) successes."""
    return at_least(n, 1 - p, n - m)


@lru_cache(maxsize=4096)
def _series(n: int, odds: Fraction, m: int) -> arb:
    """1 + r_m + r_m r_(m+1) + ... up to n, for r_m <= 1."""
    up, down = odds.numerator, odds.denominator
    term = total = 1 << _UNIT
    j = m
    while j < n and term > _SMALL:
        term = term * ((n - j) * up) // ((j + 1) * down)
        total += term
        j += 1
    # A term is too small by at most one unit for each step so far, since the ratios are at most 1.
    steps = j - m
    lost = steps * (steps + 1) // 2
    if j < n:
        following, ratio_down = (n - j) * up, (j + 1) * down  # the next ratio; later ones are smaller
        lost += (term + steps) * following // (ratio_down - following) + 1
    with precision():
        return (arb(total).union(arb(total + lost))) / arb(1 << _UNIT)


def masses(n: int, p: Fraction, missing: Fraction) -> tuple[int, list[arb], Fraction]:
    """(lo, b_lo..b_hi, left out): the law around its peak, leaving out at most about `missing` in all.

    Guarantee: `left out` is proved to be at least the mass outside lo..hi, and 0 if nothing is outside.
    """
    if p in (0, 1) or n == 0:
        return n * int(p), [arb(1)], Fraction(0)
    peak = min(int((n + 1) * p), n)
    with precision(spare(n)):
        top, odds, share = mass(n, p, peak), ball(p / (1 - p)), ball(missing / 2)
        right = _outwards(n, peak, top, odds, share)
        left = _outwards(n, n - peak, top, 1 / odds, share)
    listed = [*reversed(left), top, *right]
    lo, hi = peak - len(left), peak + len(right)
    outside = arb(0)
    if hi < n:
        outside += at_least(n, p, hi + 1)
    if lo > 0:
        outside += at_most(n, p, lo - 1)
    return lo, listed, rounded(outside, up=True) if hi < n or lo > 0 else Fraction(0)


def _outwards(n: int, start: int, top: arb, odds: arb, share: arb) -> list[arb]:
    """b_(start+1), b_(start+2), ... until what follows is below `share`."""
    found = []
    term = top
    for j in range(start, n):
        ratio = odds * (n - j) / (j + 1)
        if term < share and term * ratio < share * (1 - ratio):
            break
        term = term * ratio
        found.append(term)
    return found
