"""A confidence interval for a share of n people, from a noisy count of k of them: exact laws, inverted.

S, the number among k people drawn without replacement, is hypergeometric; what is published is T = S + Z with
P(Z = z) ~ e^(-rate |z|), or discrete Gaussian. T grows with the number M of those who have it (in law: one more of them among the n never
lowers S), so the M that an outcome does not contradict are an interval, and its ends are found by halving.

Probabilities are sums of floating-point numbers, all positive, made from ratios of neighbouring terms: each ratio has
five roundings, so a term r places from the middle is off by a factor within 1 +- 5 r 2^-53. With r at most a million
that is below 10^-9, which is granted to every tail, so that doubt widens an interval. Terms beyond 6 sqrt(k) + 60 from
the mean together weigh less than 2 e^-72 (Hoeffding 1963), and so do those beyond 30 s + 100, s^2 at least the variance
and 1 (Bernstein's inequality); they are granted as well.

The worst-case loss of a noisy count of k of n rows, computed over all databases.

Rows are 0 or 1. The law of T = S + Z depends on a database through how many of the other n - 1 rows are ones and on the
person's own row, so that all databases are n laws for each row; beyond the counts 0..k a ratio of two such laws no
longer changes. What is found is therefore the supremum over every database and every outcome.

Everything is in logarithms: a count of 300 is, of a sample of nobody, far less likely than the smallest double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.numeric.bisection import first

_SLACK: Final = 1e-9
_BEYOND: Final = 1e-30

Floats = NDArray[np.float64]


def masses(n: int, have: int, k: int) -> tuple[int, Floats]:
    """(first, Pr[S = first], Pr[S = first + 1], ...): the hypergeometric law, but for what weighs nothing.

    >>> low, law = masses(5, 2, 2)
    >>> low, [round(float(p), 12) for p in law]
    (0, [0.3, 0.6, 0.1])
    """
    least, most = max(0, k - (n - have)), min(k, have)
    rarer = k * min(have, n - have) // n + 1  # at least the variance
    reach = min(6 * math.isqrt(k) + 66, 30 * math.isqrt(rarer) + 130)
    middle = min(max((k + 1) * (have + 1) // (n + 2), least), most)
    low, high = max(least, middle - reach), min(most, middle + reach)
    s = np.arange(low, high, dtype=np.float64)
    ratios = (have - s) * (k - s) / ((s + 1) * (n - have - k + s + 1))  # Pr[s + 1]/Pr[s]
    at = middle - low
    terms = np.concatenate([np.cumprod(1 / ratios[:at][::-1])[::-1], [1.0], np.cumprod(ratios[at:])])
    return low, terms / terms.sum()


Tail = Callable[[NDArray[np.int64]], Floats]
"""Pr[Z >= x] of the noise, which is symmetric: the same as Pr[Z <= -x]."""


def at_least(n: int, have: int, k: int, noise: float | Tail, t: int) -> float:
    """Pr[T >= t]."""
    low, law = masses(n, have, k)
    return float((law * _reaches(t - np.arange(low, low + law.size), noise)).sum())


def at_most(n: int, have: int, k: int, noise: float | Tail, t: int) -> float:
    """Pr[T <= t]."""
    low, law = masses(n, have, k)
    return float((law * _reaches(np.arange(low, low + law.size) - t, noise)).sum())


def _reaches(x: NDArray[np.int64], noise: float | Tail) -> Floats:
    if callable(noise):
        return noise(x)
    a = math.exp(-noise)
    tail = np.exp(-noise * np.abs(np.where(x > 0, x, 1 - x))) / (1 + a)
    found: Floats = np.where(x > 0, tail, 1 - tail)
    return found


@lru_cache(maxsize=256)
def gaussian_tail(variance: Fraction) -> Tail:
    """Of discrete Gaussian noise: sums of its law, all terms above 0, up to 13 standard deviations; what is beyond weighs
    less than 10^-36."""
    far = 13 * (math.isqrt(math.ceil(variance)) + 1)
    law = np.exp(-(np.arange(far + 1, dtype=np.float64) ** 2) / (2 * float(variance)))
    beyond = np.append(np.cumsum(law[::-1])[::-1], 0.0)  # of x and more, for x = 0, 1, ...
    beyond /= 2 * beyond[0] - 1  # the law at 0 is 1

    def tail(x: NDArray[np.int64]) -> Floats:
        above = beyond[np.minimum(np.where(x > 0, x, 1 - x), far + 1)]
        found: Floats = np.where(x > 0, above, 1 - above)
        return found

    return tail


@lru_cache(maxsize=65536)
def interval(
    n: int, k: int, rate: Fraction | None, t: int, miss: Fraction, variance: Fraction | None = None
) -> tuple[int, int]:
    """The confidence interval for the number of people, of n, given the published t; noise is geometric, or Gaussian.

    Guarantee: whatever M is, the interval of T misses it with a probability of at most `miss`, half on either side.
    """
    tail = float(miss) / 2 * (1 - _SLACK) - _BEYOND
    noise: float | Tail
    if variance is None:
        assert rate is not None
        noise, own = float(rate), 2 / (math.expm1(min(float(rate), 300)) * -math.expm1(-float(rate)))
    else:
        noise, own = gaussian_tail(variance), float(variance)

    def enough(have: int) -> bool:
        return at_least(n, have, k, noise, t) > tail

    def too_many(have: int) -> bool:
        return at_most(n, have, k, noise, t) <= tail

    least, most = _about(n, k, own, t, float(miss))
    low = first(enough, *_around(enough, least, n))
    high = first(too_many, *_around(too_many, most, n)) - 1 if too_many(n) else n
    return min(low, max(high, 0)), max(high, low, 0)


def _about(n: int, k: int, own: float, t: int, miss: float) -> tuple[int, int]:
    """A guess of the ends of the interval, by the normal approximation, with the noise's own variance."""
    share = min(max(t / k, 0.0), 1.0)
    spread = share * (1 - share) * k * (n - k) / max(n - 1, 1) + own
    off = -NormalDist().inv_cdf(max(miss / 2, 1e-300)) * math.sqrt(spread) / k
    return int(n * (share - off)), int(n * (share + off)) + 1


def _around(holds: Callable[[int], bool], guess: int, n: int) -> tuple[int, int]:
    """A stretch in which a condition that stays true begins to hold, if it does at n; narrow if the guess is good."""
    step = max(n // 1000, 1)
    low, high = min(max(guess - step, 0), n), min(max(guess + step, 0), n)
    while low > 0 and holds(low):
        low, high, step = max(low - 8 * step, 0), low, 8 * step
    while high < n and not holds(high):
        low, high, step = high, min(high + 8 * step, n), 8 * step
    return low, high


def widest(n: int, k: int, rate: Fraction, miss: Fraction) -> Fraction:
    """Half the length of the longest interval, at a share of about one half: the error of such a release.

    It depends on public numbers alone, and serves to choose between releases.
    """
    low, high = interval(n, k, rate, k // 2, miss)
    return Fraction(high - low, 2)


LARGEST: Final = 400  # people


def worst_loss(n: int, k: int, rate: float, *, coin: bool = False) -> float:
    """The largest |ln| of the ratio between the release and the simulator that has the person's row blanked.

    The blank is the other value of the row (any row will do, Theorem A1), or a fair coin (`coin`). Worked out in
    floating-point numbers, to some twelve digits.
    """
    laws = _noisy(np.stack([_log_law(n, have, k) for have in range(n + 1)]), rate)
    one, none = laws[1:], laws[:-1]
    if not coin:
        return float(np.abs(one - none).max())
    blank = np.logaddexp(one, none) - math.log(2)
    return float(max(np.abs(real - blank).max() for real in (one, none)))


def _noisy(laws: Floats, rate: float) -> Floats:
    """ln Pr[T = t] for t = 0..k and every row of ln Pr[S = s], but for a number that all have in common.

    What comes from counts up to t is what came from those up to t - 1, e^-rate times, and t itself; so from above.
    """
    up, down = laws.copy(), laws.copy()
    for t in range(1, laws.shape[1]):
        up[:, t] = np.logaddexp(laws[:, t], up[:, t - 1] - rate)
        down[:, -1 - t] = np.logaddexp(laws[:, -1 - t], down[:, -t] - rate)
    beyond = np.full((laws.shape[0], 1), -np.inf)
    found: Floats = np.logaddexp(up, np.hstack([down[:, 1:] - rate, beyond]))
    return found


def _log_law(n: int, have: int, k: int) -> Floats:
    low, law = masses(n, have, k)
    found = np.full(k + 1, -np.inf)
    found[low : low + law.size] = np.log(law)
    return found
