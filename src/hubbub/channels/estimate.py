"""Estimates of the count from a published value: maximum likelihood, unbiased, and a confidence interval.

All three come from the laws, so they hold for every channel. The interval of a value that is shown is the set of counts
for which it is not in a tail of probability at most (1 - coverage)/2 on either side, *given that it is shown*, and the
value itself: whatever the true count is, of the values that show a number at most 1 - coverage leave it out. A bin that
is hidden has the counts that are hidden with a probability above 1 - coverage. A value below 0 has the interval of 0: it
is no shorter, since both its ends fall with the value, and it begins with 0 too, so that no count is lost.

Given that they are shown, larger counts still publish more. Each noise here, and a secret sample, has a likelihood
ratio that grows with the value; keeping a value with a probability that depends on it alone leaves that ratio as it
was, and what comes after a level of noise depends on its value alone. So tails move one way with the count, and ends
are searched for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import LARGEST_COUNT, Channel, Published
from hubbub.channels.visibility import STEADY, steady_from
from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import Exact, Loss, ball, exp, lower, rational
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """The counts from low to high (None: no upper end), right with probability at least `coverage`."""

    low: int
    high: int | None
    coverage: Fraction


_HALF = Fraction(49, 100)


@lru_cache(maxsize=65536)
def interval(channel: Channel, value: int | None, tag: str = "", coverage: Exact = "0.95") -> Interval:
    """The confidence interval of an outcome: the counts that it does not reject.

    Guarantee: for every count c, of the values drawn from law(c) that show a number a share of at least `coverage` has
    an interval that contains c; and if c is not in the interval of a hidden outcome, that outcome has a probability of
    at most 1 - `coverage` under law(c). Tails are compared as balls, so that doubt widens the interval.
    """
    level = rational(coverage, "coverage")
    if not 0 < level < 1:
        raise WrongUse(f"coverage must lie between 0 and 1, not {level}")
    hidden = tag.startswith(SUPPRESSED)
    tail = ball(min(1 - level, _HALF) if hidden else (1 - level) / 2)
    at = 0 if value is None else max(value, 0)
    rate = channel.noise_given(tag)
    if rate is not None:
        return _around(at, rate, tail, level)
    within = channel.counts_within(None if hidden else at, tail)
    if within is not None:
        return Interval(*within, level)
    return _search_interval(channel, at, tag, tail, level)


def _search_interval(channel: Channel, at: int, tag: str, tail: arb, level: Fraction) -> Interval:
    hidden = tag.startswith(SUPPRESSED)

    def is_reached(count: int) -> bool:  # grows with the count
        more, total = channel.tail(count, at, tag, up=True)
        return not total.is_zero() and not more <= tail * total

    def is_passed(count: int) -> bool:  # falls with the count, so it holds up to some count
        less, total = channel.tail(count, at, tag, up=False)
        return not less <= tail * total

    starts = channel.segments
    low, high = LARGEST_COUNT, 0
    for start, following in zip(starts, (*starts[1:], LARGEST_COUNT + 1), strict=True):
        last, guess = following - 1, min(max(at, start), following - 1)
        if is_reached(start):
            low = min(low, start)
        elif is_reached(last):
            low = min(low, _first(is_reached, start, last, guess))
        if is_passed(start):
            high = max(high, _first(lambda c: not is_passed(c), start, last, guess) - (not is_passed(last)))
    if hidden:
        low = min(low, high)
    else:  # a value just above a threshold may be rare whatever the count: it says itself, at least
        low, high = min(low, max(at, 0)), max(high, at)
    return Interval(low, None if high >= LARGEST_COUNT else high, level)


def _around(value: int, rate: Loss, tail: arb, level: Fraction) -> Interval:
    """For a channel whose tag tells the noise around the count: the value, as far as the noise reaches."""
    if rate == 0:
        return Interval(0, None, level)
    reach = 0
    if isinstance(rate, Fraction):  # P(X > r) = q^(r+1)/(1+q)
        beyond = 1 / (1 + exp(-rate))
        reach = max(math.floor(lower((beyond / tail).log() / ball(rate))) - 1, 0)
        while not beyond * exp(-rate * (reach + 1)) <= tail:
            reach += 1
    return Interval(max(value - reach, 0), max(value + reach, 0), level)


def _first(holds: Callable[[int], bool], lo: int, hi: int, guess: int) -> int:
    """The smallest count in lo..hi where a condition that stays true holds (hi if it holds nowhere below)."""
    step = 1
    if holds(guess):
        while guess > lo and holds(max(guess - step, lo)):
            guess, step = max(guess - step, lo), 2 * step
        lo, hi = max(guess - step, lo), guess
    else:
        while guess < hi and not holds(min(guess + step, hi)):
            guess, step = min(guess + step, hi), 2 * step
        lo, hi = guess, min(guess + step, hi)
    return first(holds, lo, hi)


@lru_cache(maxsize=65536)
def most_likely(channel: Channel, value: int | None, tag: str = "") -> int:
    """The count under which the outcome is most probable; of equals, the smallest that was found.

    The likelihood has one peak on each stretch of `segments` for every channel here, and is searched there.
    """
    at = 0 if value is None else value
    known = channel.most_likely(at)
    if known is not None:
        return known

    def likelihood(count: int) -> arb:
        return channel.likelihood(count, at, tag)

    best, most = 0, arb(0)
    starts = channel.segments
    for start, following in zip(starts, (*starts[1:], LARGEST_COUNT + 1), strict=True):
        for count in {start, min(max(at, start), following - 1), _peak(likelihood, at, start, following - 1)}:
            mass = likelihood(count)
            if mass > most:
                best, most = count, mass
    return best


def _peak(likelihood: Callable[[int], arb], at: int, lo: int, hi: int) -> int:
    """The top of a likelihood that rises and then falls (ternary search with integer steps)."""
    return first(lambda c: not likelihood(c) < likelihood(c + 1), lo, min(hi, max(2 * at, lo + 4096)))


def unbiased_estimate(channel: Channel, value: int | None, tag: str = "") -> Fraction | arb | None:
    """An estimate whose mean is the count, whatever the count is; None where the channel has none.

    For noise around the count it is the value. For the warped channel it is j + (u_j - u_(j+1)) / w_j with
    u_m = 1/(2 sinh epsilon(m)), u_0 = 0, which needs every epsilon(m) above 0 and nothing hidden.
    """
    return None if value is None or tag.startswith(SUPPRESSED) else channel.unbiased_estimate(value)


def intervals(
    channel: Channel, published: Published, coverage: Exact = "0.95"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The interval of every bin, as arrays (low, high); high is -1 where there is no upper end.

    Above `channel.last_change` the laws are shifts of one another, so one interval, shifted, serves all larger values.
    """
    low, high = np.empty_like(published.values), np.empty_like(published.values)
    for index, tag in enumerate(published.names):
        here = slice(None) if len(published.names) == 1 else np.flatnonzero(published.tags == index)
        values = published.values[here]
        if values.size:
            low[here], high[here] = _each_value(channel, values, tag, coverage)
    return low, high


_WIDE = 1 << 22


def _each_value(
    channel: Channel, values: NDArray[np.int64], tag: str, coverage: Exact
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The intervals of values with one tag; each distinct value is computed once."""
    least, span = int(values.min()), int(values.max()) - int(values.min()) + 1
    if span <= _WIDE:  # a table over the whole span is faster than sorting millions of bins
        seen = np.zeros(span, dtype=bool)
        seen[values - least] = True
        distinct = np.flatnonzero(seen) + least
        low, high = np.zeros(span, dtype=np.int64), np.zeros(span, dtype=np.int64)
        low[distinct - least], high[distinct - least] = _distinct_values(channel, distinct, tag, coverage)
        return low[values - least], high[values - least]
    distinct, which = np.unique(values, return_inverse=True)
    low, high = _distinct_values(channel, distinct, tag, coverage)
    return low[which], high[which]


def _distinct_values(
    channel: Channel, values: NDArray[np.int64], tag: str, coverage: Exact
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    edge = _shifts_from(channel)
    low, high = np.empty_like(values), np.empty_like(values)
    for i, value in enumerate(values.tolist()):
        found = interval(channel, None if tag.startswith(SUPPRESSED) else value, tag, coverage)
        low[i], high[i] = found.low, -1 if found.high is None else found.high
        if edge is not None and min(found.low, value) > edge and found.high is not None:
            wider = interval(channel, value, tag, 1 - (1 - rational(coverage, "coverage")) * (1 - 2 * STEADY))
            assert wider.high is not None
            low[i:], high[i:] = values[i:] - (value - wider.low), values[i:] + (wider.high - value)
            break
    return low, high


def _shifts_from(channel: Channel) -> int | None:
    """The count above which the laws are shifts of one another, and hardly anything is hidden; None if there is none.

    There being shown divides a tail by at least 1 - STEADY, which intervals with tails that are smaller by as much
    make up for.
    """
    edge, steady = channel.last_change, steady_from(channel)
    return None if edge is None or steady is None else max(edge, steady)
