"""The largest mean absolute deviation of the mean of k of n rows in [0, 1] from the mean of all rows.

E|mean of k rows - mean of all| is convex in the rows, so it is largest for rows that are 0 or 1. With K ones, the
number of ones drawn is hypergeometric, and de Moivre's telescope gives, for every v,

    sum over j >= v of (j - k K/n) Pr[j ones] = v (n - K - k + v)/n Pr[v ones],

which is largest at the first v above the mean and then half of k times the mean deviation. So the largest of all is

    max over K and v of  2/(k n C(n, k)) h(K, v) h(n - K, k + 1 - v),     h(K, v) = K!/((v - 1)! (K - v)!).

**Every K at once.** For a given v, one more 1 multiplies this by (K + 1)(n - K - 1 - k + v)/((K + 1 - v)(n - K)), at
least 1 exactly while K <= (v n - (k + 1 - v))/(k + 1): one peak, at a K that is known. Exchanging zeros and ones
exchanges v and k + 1 - v. So half of the v, each at its K, are all 0/1 tables (:func:`_scanned`).

**Every v at once.** With factorials read as gamma functions, ln h is concave in (K, v): the determinant of its second
derivatives is not negative if 1/psi' is superadditive, psi' being the trigamma function; and it is, because it is 0 at
0 and convex, 2 psi''^2 > psi' psi''' (Alzer and Wells, Inequalities for the polygamma functions, SIAM J. Math. Anal.
29, 1998). So ln h(K, v) + ln h(n - K, k + 1 - v) is concave, does not change when the two exchange places, and is
largest in the middle, K = n/2 and v = (k + 1)/2 (:func:`_middle`): reached if n is even and k is odd, and little more
than the best whole numbers give otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.numeric.exact import PRECISION, ball, precision

_SCANNED: Final = 4000  # rows drawn, up to which every 0/1 table is looked at


@lru_cache(maxsize=256)
def largest_mean_deviation(k: int, n: int) -> arb:
    """A ball whose upper end bounds E|mean of k rows - mean of all n| for all rows in [0, 1].

    Guarantee: if k or n - k is at most 4000, the supremum, reached by 0/1 rows, is in the ball; beyond, the upper end
    is at least the supremum, and above it by less than one part in ten thousand.
    """
    if k == n:
        return arb(0)
    if 2 * k > n:  # the rows left out stray as far, in sum, the other way
        return largest_mean_deviation(n - k, n) * (n - k) / k
    with precision(PRECISION + 4 * n.bit_length()):
        largest = _scanned(k, n) if k <= _SCANNED else _middle(k, n)
        total = (arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()).exp()
        return 2 * largest / (k * n * total)


def _scanned(k: int, n: int) -> arb:
    best = arb(0)
    for v in range(1, (k + 1) // 2 + 1):
        ones = max(-((k + 1 - v - v * n) // (k + 1)), v)
        best = best.max(_h(Fraction(ones), Fraction(v)) * _h(Fraction(n - ones), Fraction(k + 1 - v)))
    return best


def _middle(k: int, n: int) -> arb:
    return _h(Fraction(n, 2), Fraction(k + 1, 2)) ** 2


def _h(ones: Fraction, v: Fraction) -> arb:
    """K!/((v - 1)! (K - v)!), and 0 where fewer than v ones are there."""
    if ones < v:
        return arb(0)
    return (ball(ones + 1).lgamma() - ball(v).lgamma() - ball(ones - v + 1).lgamma()).exp()
