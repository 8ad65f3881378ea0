"""Noise for an average in [0, 1], zero-knowledge private with respect to RS(k) though all n rows are used.

Theorem A3 (Proposition 12 for averages, proved without its slack). San(D) = avg(D) + Lap(scale); the simulator takes
the mean of k rows of D with the person's own row set to 1/2. With d = 1/(2n), mad the largest mean deviation of a mean
of k of n rows (:mod:`hubbub.sampling.averages`) and f = min{1 - (k - 1)/n, (1 - k/n)(1 + 1/k)},

    epsilon = max{ (d + mad)/scale,  d/scale + f/(8 k scale^2) }.

With u = T - avg(D), the ratio of densities is at least E e^(-|u|/scale) >= e^(-E|u|/scale) (Jensen), and u is the
deviation of a mean of k rows from the mean of D with 1/2 in the person's place, which is at most d from avg(D).

Beside it stand, in floating-point numbers and claimed by nobody: the paper's scale (1/n + k^(-1/3))/(epsilon -
2 e^(-k^(1/3))); its Proposition 12 with the best delta, by Hoeffding's and by Serfling's tail; the same theorem with
the largest standard deviation, (1/2) sqrt((n - k)/(k (n - 1))), in the place of mad; the least scale that 0/1 data
allow with this simulator; and the root mean square errors of this release and of the other way to get the same
promise, a noisy mean of k rows (Theorem A1).

That least scale is exact but for the scan over shares of ones: the ratio of densities at a
distance t from avg(D) is E e^((|t| - |t - u|)/scale), which never falls as t moves away from 0, so that the loss is
max{ln E e^(u/scale), ln E e^(-u/scale), -ln E e^(-|u|/scale)}.

The largest mean absolute deviation of the mean of k of n rows in [0, 1] from the mean of all rows.

E|mean of k rows - mean of all| is convex in the rows, so it is largest for rows that are 0 or 1. With K ones, the
number of ones drawn is hypergeometric, and de Moivre's telescope gives, for every v,

    sum over j >= v of (j - k K/n) Pr[j ones] = v (n - K - k + v)/n Pr[v ones],

which is largest at the first v above the mean and then half of k times the mean deviation. So the largest of all is

    max over K and v of  2/(k n C(n, k)) h(K, v) h(n - K, k + 1 - v),     h(K, v) = K!/((v - 1)! (K - v)!).

**Every K at once.** For a given v, one more 1 multiplies this by (K + 1)(n - K - 1 - k + v)/((K + 1 - v)(n - K)), at
least 1 exactly while K <= (v n - (k + 1 - v))/(k + 1): one peak, at a K that is known. Exchanging zeros and ones
exchanges v and k + 1 - v. So half of the v, each at its K, are all 0/1 tables (:func:`_scan`).

**Every v at once.** With factorials read as gamma functions, ln h is concave in (K, v): the determinant of its second
derivatives is not negative if 1/psi' is superadditive, psi' being the trigamma function; and it is, because it is 0 at
0 and convex, 2 psi''^2 > psi' psi''' (Alzer and Wells, Inequalities for the polygamma functions, SIAM J. Math. Anal.
29, 1998). So ln h(K, v) + ln h(n - K, k + 1 - v) is concave, does not change when the two exchange places, and is
largest in the middle, K = n/2 and v = (k + 1)/2 (:func:`_middle`): reached if n is even and k is odd, and little more
than the best whole numbers give otherwise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.numeric.exact import PRECISION, Exact, ball, integer, positive, precision, rounded, to_float
from hubbub.runtime.frozen import dataclass

THEOREM: Final = "Theorem A3 (Proposition 12 for averages, without slack)"
_DIGITS: Final = 20
_STEPS: Final = 400  # deltas tried in Proposition 12, in each of two rounds
_TABLES: Final = 8  # shares of ones looked at for the least scale
_LARGE: Final = 10**8  # samples of more rows are not scanned for it

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """The scale of the noise and the epsilon it gives, both rounded up; `beside` has the comparisons."""

    rows: int
    of: int
    scale: Fraction
    epsilon: Fraction
    beside: dict[str, float | None]


def scale_for(rows: Exact, of: Exact, epsilon: Exact) -> Average:
    """The scale of Laplace noise that makes an average epsilon-zero-knowledge private with respect to RS(rows).

    Guarantee: avg(D) + Lap(scale) has that privacy, with no delta (Theorem A3). The scale is rounded up.
    """
    k, n = _sizes(rows, of)
    z = positive(epsilon, "epsilon-zk")
    d, f = _quantities(k, n)
    with precision():
        first = (ball(d) + largest_mean_deviation(k, n)) / ball(z)
        second = (ball(d) + (ball(d * d) + ball(z * f / (2 * k))).sqrt()) / (2 * ball(z))
        scale = rounded(first.max(second), up=True, digits=_DIGITS)
    return Average(rows=k, of=n, scale=scale, epsilon=z, beside=_comparison(k, n, float(z)))


def epsilon_for(rows: Exact, of: Exact, scale: Exact) -> Average:
    """The epsilon that Laplace noise of this scale gives an average.

    Guarantee: avg(D) + Lap(scale) is epsilon-zero-knowledge private with respect to RS(rows) (Theorem A3). The epsilon
    is rounded up.
    """
    k, n = _sizes(rows, of)
    noise = positive(scale, "the scale of the noise")
    d, f = _quantities(k, n)
    with precision():
        first = (ball(d) + largest_mean_deviation(k, n)) / ball(noise)
        second = ball(d / noise + f / (8 * k * noise**2))
        epsilon = rounded(first.max(second), up=True, digits=_DIGITS)
    return Average(rows=k, of=n, scale=noise, epsilon=epsilon, beside=_comparison(k, n, float(epsilon)))


def _sizes(rows: Exact, of: Exact) -> tuple[int, int]:
    k, n = integer(rows, "rows", least=1), integer(of, "of", least=2)
    if k > n:
        raise WrongUse(f"the simulator samples at most all rows, not {k} of {n}; lower rows")
    return k, n


def _quantities(k: int, n: int) -> tuple[Fraction, Fraction]:
    f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
    return Fraction(1, 2 * n), f


# --- comparisons, in floating-point numbers ---------------------------------------------------------------------


def _comparison(k: int, n: int, epsilon: float) -> dict[str, float | None]:
    exactly, f = _quantities(k, n)
    d, sd = float(exactly), math.sqrt((n - k) / (k * (n - 1))) / 2
    slack = epsilon - 2 * math.exp(-(k ** (1 / 3)))
    second = (d + math.sqrt(d**2 + epsilon * float(f) / (2 * k))) / (2 * epsilon)
    ours = max((d + to_float(largest_mean_deviation(k, n), round_up=True)) / epsilon, second)
    spent = math.log1p(n / k * math.expm1(epsilon)) if epsilon < 700 else epsilon + math.log(n / k)
    return {
        "paper_scale": (1 / n + k ** (-1 / 3)) / slack if slack > 0 else None,
        "hoeffding_scale": _proposition_12(k, n, epsilon, 1.0),
        "serfling_scale": _proposition_12(k, n, epsilon, float(f)),
        "variance_scale": max((d + sd) / epsilon, second),
        "binary_scale": _binary_scale(k, n, epsilon, ours) if k <= _LARGE else None,
        "noise_error": math.sqrt(2) * ours,
        "sample_error": math.sqrt(sd**2 + 2 / (spent * k) ** 2),
    }


def _proposition_12(k: int, n: int, epsilon: float, f: float) -> float:
    """The least scale with ln((1 - b) e^((1/n + d)/scale) + b e^(1/scale)) <= epsilon, b = 2 e^(-2 k d^2/f)."""
    if f <= 0:
        return 1 / (n * epsilon)
    low, high = math.log(1 / (4 * math.sqrt(k))), 0.0
    best = math.inf
    for _ in range(2):
        grid = np.linspace(low, high, _STEPS + 1)
        found = _scales_12(1 / n + np.exp(grid), math.log(2) - 2 * k * np.exp(2 * grid) / f, epsilon)
        at = int(found.argmin())
        best = min(best, float(found[at]))
        low, high = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, _STEPS)])
    return best


def _scales_12(shifts: Floats, log_betas: Floats, epsilon: float) -> Floats:
    """The same for each (1/n + d, ln b); infinite where b is 1 or more."""
    near, usable = np.minimum(shifts, 1.0), log_betas < 0
    logs = np.where(usable, log_betas, -1.0)
    rest = np.log1p(-np.exp(logs))
    low, high = np.zeros_like(near), epsilon / near * 2 + 1  # of 1/scale
    for _ in range(60):
        x = (low + high) / 2
        fits = np.logaddexp(rest + near * x, logs + x) <= epsilon
        low, high = np.where(fits, x, low), np.where(fits, high, x)
    found: Floats = np.where(usable & (low > 0), 1 / np.maximum(low, 1e-300), np.inf)
    return found


def _binary_scale(k: int, n: int, epsilon: float, start: float) -> float:
    """The least scale for 0/1 data: searched at the worst share of ones, which hardly depends on the scale."""
    reach = int((12 + 3 * epsilon) * math.sqrt(k)) + 40  # sample counts further out weigh nothing
    tables = {ones: _deviations(k, n, ones, reach) for ones in _near_half(k, n, _TABLES)}
    ones = max(tables, key=lambda each: _binary_loss(*tables[each], start))
    low, high = start / 16, 2 * start
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if _binary_loss(*tables[ones], middle) <= epsilon else (middle, high)
    return high


def _binary_loss(u: Floats, logs: Floats, scale: float) -> float:
    def log_mean(exponent: Floats) -> float:
        found = logs + exponent / scale
        top = float(found.max())
        return top + math.log(float(np.exp(found - top).sum()))

    return max(log_mean(u), log_mean(-u), -log_mean(-np.abs(u)))


def _deviations(k: int, n: int, ones: int, reach: int) -> tuple[Floats, Floats]:
    """(u, ln Pr[u]), u = T - avg: the person has a 1, T is the mean of k of the n rows with 1/2 in its place."""
    parts = [(k, Fraction(n - k, n), 0.0), (k - 1, Fraction(k, n), 0.5)]
    values, logs = [], []
    for drawn, chance, blank in parts:
        if not chance:
            continue
        middle = drawn * (ones - 1) // max(n - 1, 1)
        low, high = max(0, drawn - (n - ones), middle - reach), min(drawn, ones - 1, middle + reach)
        m = np.arange(low, high + 1, dtype=np.float64)
        # ln Pr[m ones], from the ratios of neighbouring terms, which lose no digits to factorials.
        steps = np.log((ones - 1 - m[:-1]) * (drawn - m[:-1]) / ((m[:-1] + 1) * (n - ones - drawn + m[:-1] + 1)))
        terms = np.concatenate([[0.0], np.cumsum(steps)])
        terms -= terms.max()
        values.append((m + blank) / k - ones / n)
        logs.append(terms - math.log(float(np.exp(terms).sum())) + math.log(chance))
    return np.concatenate(values), np.concatenate(logs)


def _near_half(k: int, n: int, most: int) -> range:
    """Numbers of ones from a half on, over one period of the rounding of k times their share."""
    step = max(n // (k * most), 1)
    return range(max(n // 2, 1), min(n // 2 + n // k + 1, n) + 1, step)


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
        largest = _scan(k, n) if k <= _SCANNED else _middle(k, n)
        total = (arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()).exp()
        return 2 * largest / (k * n * total)


def _scan(k: int, n: int) -> arb:
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
