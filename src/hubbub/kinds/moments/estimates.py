"""Estimates of a variance or standard deviation and of the mean, with intervals, from the published sums.

The chance to be wrong is for the noise of the sums, equally, and where people were sampled half of it for the sample.
The sums then lie in a box, and the ends are the least and the largest variance and mean in it: mean and variance hold
at once. Of c people drawn from more, the mean of anything between 0 and 1 is within sqrt(ln(2/b)/(2 c)) of that of all but for a chance b (Hoeffding).

The ends of a standard deviation are half a step further out: rounding moves every value by at most that, and no standard
deviation by more (it is a norm of the distances from the mean).

**The least and the largest variance, and mean, of values whose sums lie in a box**, in rationals. Of x in 0..W let B0 be the sum of (W - x)^2, B1 that of 2 x (W - x) and B2 that of x^2, and S their sum, W^2 times how
many there are. In parts of the range the mean is (B1/2 + B2)/S and the variance

    V = B2/S - ((B1/2 + B2)/S)^2 = (B0 B2 - B1^2/4)/S^2.

V falls in B1: its derivative has the sign of -(B1 (B0 + B2)/2 + 2 B0 B2). In B0 it rises up to B1 + B2 + B1^2/(2 B2) and
falls from there, and in B2 alike. So it is least at a corner with the largest B1; and as both cannot be where they are
best but with B1 = 0 and B0 = B2, it is largest on an edge with the least B1, at an end or where the other one is best.
The mean falls in B0 and rises in B2, and B1 moves it one way only while the others stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

from hubbub.kinds.statistic.drawn_columns import Row
from hubbub.kinds.statistic.intervals import drawn, reach
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, UNTOLD
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments


ZERO, ONE = Fraction(0), Fraction(1)
_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and where it lies."""

    value: Fraction | None
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: what was published, the spread that was asked for and the mean."""

    published: Row
    spread: Estimate
    mean: Estimate
    status: str


def answers_of(spec: Moments, rows: Sequence[Row]) -> list[Answer]:
    """The answers that follow from the integers of every bin: three sums; of a crowd people, sum and squares.

    Guarantee: whatever is true, the intervals of spread and mean both hold it with the coverage of the release, for
    values cut to the declared range, rounded to the step or not. Integers that such a release cannot publish are
    refused with a ValueError.
    """
    of_bin = _of_crowd if isinstance(spec.protection, Crowd) else _of_sums
    return [of_bin(spec, row) for row in rows]


def _of_sums(spec: Moments, row: Row) -> Answer:
    """B0, B1 and B2, each with noise."""
    b0, b1, b2 = (_known(each) for each in row)
    miss = (1 - spec.coverage) / (2 if spec.sampled else 1)
    off = reach(spec.rates[0], miss / 3)
    box: Box = _side(b0, off), _side(b1, off), _side(b2, off)
    if spec.sampled:
        box = _widened(box, drawn(int(sum(low for low, _ in box)) // spec.of.steps**2, miss / 3))
    total = b0 + b1 + b2
    about = None
    if total > 0:
        about = Fraction(4 * b0 * b2 - b1 * b1, 4 * total * total), Fraction(b1 + 2 * b2, 2 * total)
    return _answer(spec, row, about, variances(box), means(box))


def _side(value: int, off: int) -> Side:
    low, high = clamped_interval(value, off, 0)
    return Fraction(low), Fraction(high)


def _widened(box: Box, by: Fraction) -> Box:
    """The parts of the whole that the three sums of everybody have, if those of a sample are within `by` of them."""
    least, most = sum(low for low, _ in box), sum(high for _, high in box)
    if not least:
        return ((ZERO, ONE),) * 3
    sides = [(low / (low + most - high), high / (high + least - low)) for low, high in box]
    one, two, three = ((max(low - by, ZERO), min(high + by, ONE)) for low, high in sides)
    return one, two, three


def _of_crowd(spec: Moments, row: Row) -> Answer:
    """How many they are, exactly; the sum of x and that of (2 x - W)^2 with noise."""
    crowd, width = spec.protection, spec.of.steps
    assert isinstance(crowd, Crowd)
    if not any(each is not None for each in row):
        nothing = Estimate(None, ZERO, _reported_variance(spec, QUARTER)), Estimate(None, spec.of.low, spec.of.high)
        return Answer(row, *nothing, HIDDEN)
    people, total, squares = (_known(each) for each in row)
    if people < crowd.k:
        raise ValueError("so small a crowd is hidden")
    miss = (1 - spec.coverage) / (2 if spec.sampled else 1)
    offs = [reach(rate, miss / 2) for rate in spec.rates]
    away = drawn(people, miss / 2) if spec.sampled else ZERO
    mean = _part(total, offs[0], width * people, away)
    square = _part(squares, offs[1], width**2 * people, away)  # of the mean of (2 m - 1)^2
    nearest = min(max(Fraction(1, 2), mean[0]), mean[1])
    furthest = max(abs(2 * end - 1) for end in mean)
    ends = (square[0] - furthest**2) / 4, (square[1] - (2 * nearest - 1) ** 2) / 4
    middle = Fraction(total, width * people)
    about = (Fraction(squares, width**2 * people) - (2 * middle - 1) ** 2) / 4, middle
    return _answer(spec, row, about, _possible_variances(*ends), mean)


def _possible_variances(least: Fraction, most: Fraction) -> Side:
    """What a variance of the range 0..1 can be between these; all of that where the noise was beyond its reach."""
    return (max(least, ZERO), min(most, QUARTER)) if most > 0 or least == most == 0 else (ZERO, QUARTER)


def _part(value: int, off: int, total: int, away: Fraction) -> Side:
    """Where a part of the whole lies, in 0..1."""
    return clamped_interval(Fraction(value, total), Fraction(off, total) + away, ZERO, ONE)


def _answer(
    spec: Moments, row: Row, about: tuple[Fraction, Fraction] | None, spread: Side, mean: Side
) -> Answer:  # fmt: skip
    of = spec.of
    low, high = _root(spread[0], up=False), _root(spread[1], up=True)
    half, length = of.step / 2, of.steps * of.step
    ends = max(low * length - half, ZERO), min(high * length + half, length / 2)
    ends = (ends[0] ** 2, ends[1] ** 2) if spec.squared else ends
    means_ = of.unrounded(of.value(mean[0] * of.steps), of.value(mean[1] * of.steps))
    if about is None:
        return Answer(row, Estimate(None, *ends), Estimate(None, *means_), UNTOLD)
    variance, middle = min(max(about[0], spread[0]), spread[1]), min(max(about[1], mean[0]), mean[1])
    reported = min(max(_reported_variance(spec, variance), ends[0]), ends[1])
    spread_known, mean_known = ends != (ZERO, _reported_variance(spec, QUARTER)), means_ != (of.low, of.high)
    return Answer(
        row,
        Estimate(reported if spread_known else None, *ends),
        Estimate(of.value(middle * of.steps) if mean_known else None, *means_),
        SHOWN if spread_known else UNTOLD,
    )


def _reported_variance(spec: Moments, variance: Fraction) -> Fraction:
    """A variance of the range 0..1 as what was asked for."""
    length = spec.of.steps * spec.of.step
    return variance * length**2 if spec.squared else _root(variance, up=True) * length


def _root(value: Fraction, *, up: bool) -> Fraction:
    """The square root, rounded; exact at 0 and a quarter."""
    if value in (0, QUARTER):
        return ZERO if not value else Fraction(1, 2)
    with precision():
        return rounded(ball(value).sqrt(), up=up, digits=_DIGITS)


def _known(value: int | None) -> int:
    if value is None:
        raise ValueError("a number is missing")
    return value


# --- over a box of sums -------------------------------------------------------------------------------------------


Side = tuple[Fraction, Fraction]
Box = tuple[Side, Side, Side]
"""From where to where B0, B1 and B2 lie, none below 0."""

QUARTER: Final = Fraction(1, 4)  # the variance of values half at each end of a range of length 1


def variances(box: Box) -> Side:
    """The least and the largest variance, in squares of the range; at least 0 and at most a quarter.

    Guarantee: whatever B0, B1, B2 >= 0 in the box, not all 0, the variance is inside.
    """
    (low0, high0), (low1, high1), (low2, high2) = box
    if low0 + low1 + low2 <= 0:
        return Fraction(0), QUARTER
    least = min(_variance(b0, high1, b2) for b0, b2 in product((low0, high0), (low2, high2)))
    most = max(_variance(b0, low1, b2) for b0, b2 in _edges((low0, high0), low1, (low2, high2)))
    return _possible_variances(least, most)


def means(box: Box) -> Side:
    """The least and the largest mean, in parts of the range.

    Guarantee: as :func:`variances`.
    """
    (low0, high0), middle, (low2, high2) = box
    if low0 + middle[0] + low2 <= 0:
        return Fraction(0), Fraction(1)
    return min(_mean(high0, b1, low2) for b1 in middle), max(_mean(low0, b1, high2) for b1 in middle)


def _edges(first: Side, middle: Fraction, last: Side) -> Iterator[tuple[Fraction, Fraction]]:
    for end in first:
        yield from ((end, other) for other in (*last, *_best(end, middle, last)))
    for end in last:
        yield from ((other, end) for other in (*first, *_best(end, middle, first)))


def _best(end: Fraction, middle: Fraction, side: Side) -> tuple[Fraction, ...]:
    """Where on its side the other one makes the variance largest."""
    if not end:
        return ()
    return (min(max(middle + end + middle**2 / (2 * end), side[0]), side[1]),)


def _variance(b0: Fraction, b1: Fraction, b2: Fraction) -> Fraction:
    total = b0 + b1 + b2
    return (b0 * b2 - b1**2 / 4) / total**2 if total else Fraction(0)


def _mean(b0: Fraction, b1: Fraction, b2: Fraction) -> Fraction:
    return (b1 / 2 + b2) / (b0 + b1 + b2)
