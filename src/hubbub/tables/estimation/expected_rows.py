"""Intervals for the expected number of kept rows of a bin, and for their mean, from what was kept.

A release that keeps one row of each person, or each person in at most B bins, counts X, a sum of independent 0/1
variables given the table. Its mean mu is the expected number of kept rows; nothing else about the table is known. With
h(x, mu) = x ln(x/mu) - x + mu, Chernoff's bounds are

    P(X >= x) <= e^-h(x, mu) for x >= mu,     P(X <= x) <= e^-h(x, mu) for x <= mu.

Given that X is shown, that is X >= k:

* P(X <= x | X >= k) <= e^-h(x, mu) / P(X >= k), and for mu >= k P(X >= k) is at least 1/2 (the median of X is its mean
  rounded down or up: Jogdeo and Samuels), and at least 1 - e^-h(k-1, mu). The same divides P(X >= x).
* For mu < k the numbers r_j = (j + 1) P(X = j+1)/P(X = j) fall with j (Newton's inequalities), and their mean over X
  is mu; so r_k P(X <= k) <= mu, and P(X <= k) is at least 1/2 and at least 1 - e^-h(k+1, mu). From k on X falls at
  least as fast as Poisson's law with lambda = mu / P(X <= k), so P(X >= x | X >= k) is at most what it is for that law.

A secret sample at rate p makes X such a sum with the mean p mu. Sums are in floating-point numbers, good to more than
ten digits; ends are rounded outwards to whole numbers, and a bound counts as small only if it is so by a millionth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Channel, Published
from hubbub.channels.visibility import hides
from hubbub.errors import WrongUse
from hubbub.tables.estimation.scaling import population_estimate, split_doubt

_SLACK: Final = 1e-6
_STEPS: Final = 80  # of a bisection between real numbers
_PARTS: Final = 10**9  # of a range, to which the ends of a mean are rounded outwards


def check(channel: Channel) -> None:
    """Refuse a channel for which no such interval is known."""
    if hides(channel) and channel.exact_from is None:
        raise WrongUse(
            "intervals for the expected rows are known where counts are exact or hidden, and where nothing is hidden; "
            "leave out `expected_rows`, or use `crowd` or `epsilon`"
        )


def expected_intervals(
    channel: Channel, published: Published, p: Fraction, coverage: Fraction
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Intervals for mu from what was published about X, or about a sample of it at rate p (1: everybody).

    Guarantee: whatever the table is, given that the bin is shown the interval misses mu with probability at most 1 -
    coverage; and a bin with a larger mu than a hidden one's interval holds is hidden with probability at most 1 -
    coverage. An interval contains the estimate.
    """
    certain = channel.certain
    low, high = intervals(channel, published, coverage if certain else split_doubt(coverage))
    doubt = float(1 - coverage) / (1 if certain else 2)
    first, rate = channel.exact_from or 0, float(p)
    hidden = np.array([name.startswith(SUPPRESSED) for name in published.names], dtype=bool)[published.tags]
    below, above = np.zeros_like(low), np.full_like(high, -1)
    above[hidden] = _each(high[hidden], lambda x: -1 if x < 0 else math.ceil(largest_mean(x, doubt) / rate))
    some, tail = ~hidden, doubt / 2
    below[some] = _each(low[some], lambda x: 0 if x <= first else math.floor(smallest_mean(x, tail, first) / rate))
    above[some] = _each(high[some], lambda x: -1 if x < 0 else math.ceil(largest_mean(x, tail, first) / rate))
    estimates = _each(published.values[some], lambda value: population_estimate(value, p))
    below[some] = np.minimum(below[some], estimates)
    above[some] = np.where(above[some] < 0, -1, np.maximum(above[some], estimates))
    return below, above


def expected_of_known(low: int, high: int, people: int, miss: Fraction) -> tuple[int, int]:
    """An interval for mu from one for the number X of kept rows, where it is public how many people there are.

    Guarantee: if X lies from `low` to `high`, mu is outside with a chance of at most `miss`: X and people - X are both
    such sums, and of two bounds for one probability the smaller holds.
    """
    tail = float(miss) / 2
    least = max(_smallest(low, tail), people - largest_mean(people - low, tail))
    most = min(largest_mean(high, tail), people - _smallest(people - high, tail))
    return max(math.floor(least), 0), min(math.ceil(most), people)


def expected_mean(part: int, total: int, off: int, steps: int, miss: Fraction) -> tuple[Fraction, Fraction]:
    """Where a mean m of all rows lies, of the range 0..1, each row weighing one over how many its person has.

    What is kept has sums A of steps x and W c, c rows in the bin; `part` is A and `whole` is W c, each with noise, so
    that part - m whole is within `off` of A - m W c = sum of xi, xi = x - m W for a row that is kept in the bin and 0
    for others. The xi of people are independent, at most W either way; their means add up to 0, and their squares on
    average to at most W^2 mu m (1 - m), mu the expected number of rows in the bin (the largest variance of numbers in
    0..W that have the mean m W). So by Bernstein's inequality |sum of xi| > W t has a chance of at most
    2 exp(-t^2/(2 (mu m (1 - m) + t/3))). Of K people drawn without replacement the same holds, with mu for the sample:
    the moment generating function is a mean over all K of them of products, at most the K-th power of the mean
    (Maclaurin's inequality). mu is at most :func:`largest_mean` of c, by the same argument.

    Guarantee: if the noises are within `off`, m is outside with a chance of at most `miss`.
    """
    everything = Fraction(0), Fraction(1)
    rows = (total + 2 * off) // steps
    if total <= 0 or rows < 1:
        return everything
    doubt = float(miss) / 2 * (1 - _SLACK)
    mu, log = largest_mean(rows, doubt), math.log(2 / doubt)

    def excess(m: float) -> float:
        away = log / 3 + math.sqrt(log * log / 9 + 2 * log * mu * m * (1 - m))
        return abs(part - m * total) - off - steps * away

    low, high = 0.0, 1.0
    for _ in range(_STEPS):  # it is convex
        third = (high - low) / 3
        low, high = (low, high - third) if excess(low + third) < excess(high - third) else (low + third, high)
    best = (low + high) / 2
    if excess(best) > 0:
        return everything
    least = 0.0 if excess(0.0) <= 0 else _edge(lambda m: excess(m) <= 0, 0.0, best)
    most = 1.0 if excess(1.0) <= 0 else _edge(lambda m: excess(m) > 0, best, 1.0, above=True)
    ends = math.floor(least * _PARTS) - 1, math.ceil(most * _PARTS) + 1
    return Fraction(max(ends[0], 0), _PARTS), Fraction(min(ends[1], _PARTS), _PARTS)


def _smallest(x: int, tail: float) -> float:
    return 0.0 if x <= 0 else smallest_mean(x, tail)


def _each(values: NDArray[np.int64], answer: Callable[[int], int]) -> NDArray[np.int64]:
    """The answer to every value; each distinct one is worked out once."""
    distinct, where = np.unique(values, return_inverse=True)
    return np.array([answer(value) for value in distinct.tolist()], dtype=np.int64)[where]


@lru_cache(maxsize=65536)
def smallest_mean(x: int, tail: float, first: int = 0) -> float:
    """The smallest mu for which x or more is not proved rarer than `tail`, given that at least `first` is shown."""
    small = tail * (1 - _SLACK)
    if first and _poisson_tail(2 * first, x, first) > small:
        return _edge(lambda mu: _poisson_tail(_steepest(mu, first), x, first) > small, 0.0, float(first))
    return _edge(lambda mu: _chernoff(x, mu) > small * _visible_mass(mu, first), float(first), float(x))


@lru_cache(maxsize=65536)
def largest_mean(x: int, tail: float, first: int = 0) -> float:
    """The largest mu for which x or fewer is not proved rarer than `tail`, given that at least `first` is shown."""
    small = tail * (1 - _SLACK)
    far = x + 2.0
    while _chernoff(x, far) > small * _visible_mass(far, first):
        far *= 2
    return _edge(lambda mu: _chernoff(x, mu) <= small * _visible_mass(mu, first), float(x), far, above=True)


def _chernoff(x: int, mu: float) -> float:
    """e^-h(x, mu)."""
    if x <= 0 or mu <= 0:
        return math.exp(-mu) if x <= 0 else 0.0
    return math.exp(min(x - mu - x * math.log(x / mu), 0.0))


def _visible_mass(mu: float, first: int) -> float:
    """At most P(X >= first), for mu >= first."""
    return 1.0 if not first else max(0.5, 1 - _chernoff(first - 1, mu))


def _steepest(mu: float, first: int) -> float:
    """At least r_first, for mu < first."""
    return mu / max(0.5, 1 - _chernoff(first + 1, mu))


def _poisson_tail(mean: float, x: int, first: int) -> float:
    """P(Y >= x | Y >= first) for Poisson's law."""
    if mean <= 0:
        return 1.0 if x <= first else 0.0
    top = max(float(x), mean)
    j = np.arange(first, int(top + 12 * math.sqrt(top) + 60), dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(math.log(mean) - np.log(j + 1))])
    weights = np.exp(logs - logs.max())
    return float(weights[x - first :].sum() / weights.sum())


def _edge(holds: Callable[[float], bool], lo: float, hi: float, *, above: bool = False) -> float:
    """Where a condition that stays true begins to hold between lo and hi: just before it, or `above` it."""
    for _ in range(_STEPS):
        middle = (lo + hi) / 2
        lo, hi = (lo, middle) if holds(middle) else (middle, hi)
    return hi if above else lo
