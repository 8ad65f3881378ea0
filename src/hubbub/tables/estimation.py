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

From a sampled count back to the population: an estimate and an interval that counts both kinds of doubt.

A sampled count m of a bin with c people is Binomial(c, p), and given that the bin is shown it is that law times the
chance that m is shown, scaled to one. Its likelihood ratio grows with c either way, so excluding the c for which m or
more, or m or fewer, would be rarer than a tail probability works exactly as for a published value: the ends of an
interval for m become ends of an interval for c, and the two tail probabilities add. A channel that says the count
itself, or between which counts it surely lies, has no doubt of its own, and all of it is left for the sampling.

The law of a sampled count given that its bin is shown, where noise decides what is shown.

Of a bin with c people, m are sampled with probability b_m = Pr[Bin(c, p) = m], and shown with probability s(m); given
that the bin is shown, m has the weight b_m s(m). Only ratios matter, so the weights are summed from ratios
b_(m+1)/b_m in floating-point numbers: N logarithms of size L add up to an error of at most about N L 2^-52, below 1e-7
for the widest table here, and a tail counts as rare only if it is so by a millionth. Doubt widens the interval.
Where hardly anything is hidden any more, the binomial law itself is used, as certified balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Channel, Published
from hubbub.channels.visibility import chance_visible, hides, steady_from
from hubbub.errors import WrongUse
from hubbub.numeric import bisection
from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.exact import ball
from hubbub.runtime.frozen import dataclass


def split_doubt(coverage: Fraction) -> Fraction:
    """The coverage to ask of the channel so that half of the doubt is left for the sampling."""
    return (1 + coverage) / 2


@lru_cache(maxsize=65536)
def smallest_population(m: int, p: Fraction, tail: Fraction, first: int = 0) -> int:
    """The smallest c for which m or more sampled is not rarer than `tail`, given that at least `first` were."""
    if m <= first:
        return max(m, 0)
    return _first(lambda c: not at_least(c, p, m) <= ball(tail) * at_least(c, p, first), m, _about(m, p, tail, -1))


@lru_cache(maxsize=65536)
def largest_population(m: int, p: Fraction, tail: Fraction, first: int = 0) -> int:
    """The largest c for which m or fewer sampled is not rarer than `tail`, given that at least `first` were."""

    def rare(c: int) -> bool:
        if not first:
            return bool(at_most(c, p, m) <= ball(tail))
        visible_mass = at_least(c, p, first)
        return bool(visible_mass - at_least(c, p, m + 1) <= ball(tail) * visible_mass)

    return _first(rare, m, _about(m, p, tail, 1)) - 1


def _first(holds: Callable[[int], bool], least: int, guess: int) -> int:
    """The smallest c >= least where a condition that stays true holds, searched for in growing steps from a guess."""
    guess, step = max(guess, least), 1
    if holds(guess):
        while guess > least and holds(max(guess - step, least)):
            guess, step = max(guess - step, least), 4 * step
        lo, hi = max(guess - step, least), guess
    else:
        while not holds(guess + step):
            guess, step = guess + step, 4 * step
        lo, hi = guess + 1, guess + step
    return bisection.first(holds, lo, hi)


def _about(m: int, p: Fraction, tail: Fraction, sign: int) -> int:
    """Where an end lies, about, if nothing is hidden: the normal law, corrected for how skew the binomial one is."""
    rate, z = float(p), NormalDist().inv_cdf(1 - float(tail))
    skew = (z * z - 1) * (1 - 2 * rate) / 6
    half = sign * z * math.sqrt(1 - rate) / 2
    room = half * half + max(m + sign / 2 - skew, 0)
    return int((half + math.sqrt(room)) ** 2 / rate) + (sign < 0)


def population_estimate(value: int, p: Fraction) -> int:
    """What a sampled count says about everybody: itself divided by the rate, to the nearest whole number, at least 0.

    >>> population_estimate(7, Fraction(1, 10)), population_estimate(-3, Fraction(1, 10))
    (70, 0)
    """
    return int(max(value, 0) / p + Fraction(1, 2))


def population_intervals(
    channel: Channel, published: Published, p: Fraction, coverage: Fraction, *, found: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Intervals for the counts of everybody from what was published about a sample; high is -1 without an end.

    With `found`, bins that nobody of the sample is in are not listed.

    Guarantee: for every count c, given that the bin is shown the interval misses c with probability at most 1 -
    coverage; and a bin with a count outside the interval of a hidden outcome has that outcome with probability at most
    1 - coverage. An interval contains the estimate.
    """
    certain = channel.certain
    low, high = intervals(channel, published, coverage if certain else split_doubt(coverage))
    doubt = (1 - coverage) / (1 if certain else 2)
    hidden = np.array([name.startswith(SUPPRESSED) for name in published.names], dtype=bool)[published.tags]
    below, above = np.empty_like(low), np.empty_like(high)
    below[hidden], above[hidden] = _ends(low[hidden], high[hidden], p, doubt, None, 0)
    some = ~hidden
    first = channel.exact_from
    weights = None if first is not None or not (found or hides(channel)) else visible_sample(channel, p, found)
    below[some], above[some] = _ends(low[some], high[some], p, doubt / 2, weights, first or 0)
    values, where = np.unique(published.values[some], return_inverse=True)
    estimates = np.array([population_estimate(m, p) for m in values.tolist()], dtype=np.int64)[where]
    open_end = above[some] < 0
    below[some] = np.minimum(below[some], estimates)
    above[some] = np.where(open_end, -1, np.maximum(above[some], estimates))
    return below, above


def _ends(
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    p: Fraction,
    tail: Fraction,
    weights: VisibleSample | None,
    first: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends for c from those for m; each distinct one is worked out once."""

    def smallest(m: int) -> int:
        if weights is None or m <= 0:
            return smallest_population(m, p, tail, first)
        return _first(lambda c: not weights.rarer(c, m, tail, up=True), m, _about(m, p, tail, -1))

    def largest(m: int) -> int:
        if m < 0:
            return -1
        if weights is None:
            return largest_population(m, p, tail, first)
        return _first(lambda c: weights.rarer(c, m, tail, up=False), m, _about(m, p, tail, 1)) - 1

    lows, at_low = np.unique(low, return_inverse=True)
    highs, at_high = np.unique(high, return_inverse=True)
    below = np.array([smallest(m) for m in lows.tolist()], dtype=np.int64)
    above = np.array([largest(m) for m in highs.tolist()], dtype=np.int64)
    return below[at_low], above[at_high]


# --- given that the bin is shown ----------------------------------------------------------------------------------


_EXACT_SLACK: Final = Fraction(1, 10**6)
_WIDEST: Final = 1_000_000
_DEVIATIONS: Final = 12


@dataclass(frozen=True, slots=True, eq=False)
class VisibleSample:
    """`logs[m]` is ln s(m), up to the count from which s stays the same."""

    p: Fraction
    logs: NDArray[np.float64]

    def rarer(self, c: int, m: int, tail: Fraction, *, up: bool) -> bool:
        """Whether m or more (or m or fewer) sampled of c is surely no more probable than `tail`, given it is shown."""
        mean, steady = c * float(self.p), self.logs.size - 1
        reach = _DEVIATIONS * math.sqrt(mean * (1 - float(self.p))) + 2 * _DEVIATIONS
        less = ball(tail * (1 - _EXACT_SLACK))
        if mean - reach > steady:
            return bool((at_least if up else at_most)(c, self.p, m) <= less)
        weights = self._weights(c, min(c, max(steady, int(mean + reach))))
        total = float(weights.sum())
        part = float((weights[m:] if up else weights[: m + 1]).sum())
        return total == 0 or part <= float(tail * (1 - _EXACT_SLACK)) * total

    def _weights(self, c: int, last: int) -> NDArray[np.float64]:
        """b_m s(m) for m = 0..last, times a number."""
        m = np.arange(last, dtype=np.float64)
        odds = math.log(self.p / (1 - self.p))
        logs = np.concatenate([[0.0], np.cumsum(np.log((c - m) / (m + 1)) + odds)])
        known = min(last + 1, self.logs.size)
        logs[:known] += self.logs[:known]
        logs[known:] += self.logs[-1]
        top = logs.max()
        return np.exp(logs - top) if math.isfinite(top) else np.zeros_like(logs)


@lru_cache(maxsize=64)
def visible_sample(channel: Channel, p: Fraction, found: bool) -> VisibleSample:
    """The chances that a sampled count is shown; with `found`, nobody in the sample is never shown."""
    steady = steady_from(channel)
    if steady is None or steady > _WIDEST:
        raise WrongUse(
            "the noise of this channel spreads over too many counts for intervals that are right given that a bin is "
            "shown; leave out `scale_up`, or use a larger epsilon"
        )
    chances = [arb(0) if found and not m else chance_visible(channel, m) for m in range(max(steady, 1) + 1)]
    logs = [float(chance.log().mid()) if chance > 0 else -math.inf for chance in chances]
    return VisibleSample(p, np.array(logs, dtype=np.float64))


_SLACK: Final = 1e-6
_STEPS: Final = 80  # of a bisection between real numbers
_PARTS: Final = 10**9  # of a range, to which the ends of a mean are rounded outwards


def check_expected_rows(channel: Channel) -> None:
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
