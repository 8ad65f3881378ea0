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
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.kinds.statistic import tails
from hubbub.kinds.statistic.quantile import Target, Window, margin, offsets, shares
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import ball, exp, log, precision, rounded, upper
from hubbub.numeric.gaussian_sums import reach_of_equals
from hubbub.runtime.frozen import dataclass
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.statistic.spec import Statistic

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

    Guarantee: of few noises by the exact law of their sum (:mod:`hubbub.kinds.statistic.tails`); of many by Markov's inequality for e^(s N), at the best of 63 values of s
    below every rate, with E e^(s Z) = (1 - q)^2/((1 - q e^s)(1 - q e^-s)), q = e^-rate, in certified balls.
    """
    if len(rates) * bins <= _FEW:
        return tails.reach(rates * bins, miss)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """What is drawn for a quantile: the value, and the offset of its interval if there is one; each with what it may lose."""

    value: Target
    value_loss: Fraction
    window: Window | None
    window_loss: Fraction


def aims(spec: Statistic, people: int | None = None) -> Aims:
    """What is drawn for a quantile of a bin.

    Guarantee: of a bin of c people an interval holds every q-quantile if fewer than q c lie below its low end, and more
    at its high one or below; it does but for 1 - coverage, by :func:`hubbub.kinds.statistic.quantile.margin`. Of a sample
    that has half of it, and instead of q c stand q c less and more sqrt(c ln(1/b)/2), or a line above that where c is
    not public: by Hoeffding's inequality whoever lies below the q-quantile of all is then not too many, or too few, in
    the sample, but for a quarter each. Where several rows of a person count, c is how many rows those have who were
    drawn, and the sample is of people.
    """
    loss, ranked = spec.unit_loss, spec.ranked
    assert loss is not None
    assert ranked is not None
    measure, q = ranked
    replacing, miss = isinstance(spec.protection, Crowd), 1 - spec.coverage
    middle, rest = shares(loss, spec.interval_share)
    value = Target(slope=q, offset=Fraction(0), replacing=replacing)
    if not rest:
        return Aims(value=value, value_loss=middle, window=None, window_loss=rest)
    slope, away = _line(spec, miss / 4, people) if spec.sampled else (Fraction(0), Fraction(0))
    low, high = (Target(slope=q + sign * slope, offset=sign * away, replacing=replacing) for sign in (-1, 1))
    choices = offsets(measure.steps)
    moved = Window(low=low, high=high, aim=Fraction(0), offsets=choices).moved
    aim = margin(moved, rest, len(choices), miss / 2 if spec.sampled else miss)
    window = Window(low=low, high=high, aim=aim, offsets=choices)
    return Aims(value=value, value_loss=middle, window=window, window_loss=rest)


def _line(spec: Statistic, miss: Fraction, people: int | None) -> Ends:
    """(slope, offset) of a line that is nowhere below sqrt(c ln(1/miss)/2): at the c that is public, or touching it at
    the number of people that a bin has on average. Of K people with several rows it is what Serfling's inequality says:
    how many rows of somebody lie up to the quantile of all, less q of their rows, is of an interval as long as a person
    has rows in a bin, and everybody's add up to no less than 0."""
    with precision():
        double = rounded(log(1 / miss) / 2, up=True, digits=_DIGITS)
        if isinstance(spec.protection, Crowd):
            assert people is not None
            return Fraction(0), rounded((ball(double) * people).sqrt(), up=True, digits=_DIGITS)
        assert isinstance(spec.protection, Knowledge)
        if spec.unit.counts_rows:
            k, n = spec.protection.rows, spec.protection.people
            return Fraction(0), k * spec.most_in_a_bin * drawn_from(k, n, miss)
        about = max(Fraction(spec.protection.rows, spec.bins), Fraction(1))
        slope = rounded((ball(double / (4 * about))).sqrt(), up=True, digits=_DIGITS)
    return slope, double / (4 * slope)  # sqrt(c d) <= slope c + d/(4 slope)
