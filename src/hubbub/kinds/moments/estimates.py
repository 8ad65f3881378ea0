"""What the published sums of a spread say: a variance or its root, a mean, and intervals that are right at their rate.

The chance to be wrong is for the noise of the sums, equally, and where people were sampled half of it for the sample.
The sums then lie in a box, and the ends are the least and the largest variance and mean in it
(:mod:`hubbub.kinds.moments.box`): mean and variance hold at once. Of c people drawn from more, the mean of anything
between 0 and 1 is within sqrt(ln(2/b)/(2 c)) of that of all but for a chance b (Hoeffding).

The ends of a standard deviation are half a step further out: rounding moves every value by at most that, and no standard
deviation by more (it is a norm of the distances from the mean).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.kinds.moments.box import QUARTER, Box, Side, means, variances
from hubbub.kinds.statistic.intervals import drawn, reach
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, UNTOLD
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments

Row = tuple[int | None, ...]
"""The integers of a bin: three sums; of a crowd people, sum and squares, None where it is hidden."""

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
    """The answers that follow from the integers of every bin.

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
    whole = b0 + b1 + b2
    about = None
    if whole > 0:
        about = Fraction(4 * b0 * b2 - b1 * b1, 4 * whole * whole), Fraction(b1 + 2 * b2, 2 * whole)
    return _answer(spec, row, about, variances(box), means(box))


def _side(value: int, off: int) -> Side:
    return Fraction(max(value - off, 0)), Fraction(max(value + off, 0))


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
    return _answer(spec, row, about, (max(ends[0], ZERO), min(max(ends[1], ZERO), QUARTER)), mean)


def _part(value: int, off: int, total: int, away: Fraction) -> Side:
    """Where a part of the whole lies, in 0..1."""
    low, high = Fraction(value - off, total) - away, Fraction(value + off, total) + away
    low, high = max(low, ZERO), min(high, ONE)
    return (low, high) if low <= high else (ZERO, ONE)  # else the noise was beyond its reach: nothing is told


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
    return Answer(row, Estimate(reported, *ends), Estimate(of.value(middle * of.steps), *means_), SHOWN)


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
