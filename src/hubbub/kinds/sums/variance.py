"""The variance or the standard deviation of a column, and its mean.

Of x in 0..W, v(x) = ((W - x)^2, 2 x (W - x), x^2), whose parts are never below 0 and add up to W^2 whatever x is: noise
of rate loss/W^2 on each costs the loss, and nothing is split between the number of people, the mean and the squares.

Crowds, whose number is exact, publish v(x) = (x, (2 x - W)^2). Of two people with u = x/W and v = y/W, u >= v, the sums
differ by (u - v) W and the squares by |(2 u - 1)^2 - (2 v - 1)^2| W^2. The first and that of the squares without the
bars are convex in u, so largest at u = 1, and there (1 - v) + 1 - (2 v - 1)^2 is largest at v = 3/8: 25/16; with the
other sign alike, from the other end. So rates of 16/25 loss/W and 16/25 loss/W^2 cost the loss.

**Estimates.** The chance to be wrong is for the noise of the sums, equally, and where people were sampled half of it for
the sample. The sums then lie in a box, and the ends are the least and the largest variance and mean in it: mean and
variance hold at once. Of c people drawn from more, the mean of anything between 0 and 1 is within sqrt(ln(2/b)/(2 c)) of
that of all but for a chance b (Hoeffding). The ends of a standard deviation are half a step further out: rounding moves
every value by at most that, and no standard deviation by more (it is a norm of the distances from the mean).

**The least and the largest variance, and mean, of values whose sums lie in a box**, in rationals. Let B0, B1 and B2 be
the three sums and S what they add up to, W^2 times how many there are. In parts of the range the mean is (B1/2 + B2)/S
and the variance

    V = B2/S - ((B1/2 + B2)/S)^2 = (B0 B2 - B1^2/4)/S^2.

V falls in B1: its derivative has the sign of -(B1 (B0 + B2)/2 + 2 B0 B2). In B0 it rises up to B1 + B2 + B1^2/(2 B2) and
falls from there, and in B2 alike. So it is least at a corner with the largest B1; and as both cannot be where they are
best but with B1 = 0 and B0 = B2, it is largest on an edge with the least B1, at an end or where the other one is best.
The mean falls in B0 and rises in B2, and B1 moves it one way only while the others stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Final, Unpack

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import texts
from hubbub.kinds.histogram.request import UNIQUE
from hubbub.kinds.sums import text
from hubbub.kinds.sums.intervals import drawn, reach
from hubbub.kinds.sums.request import BY, OF, ONE_ROW, WHERE, WITHOUT_DELTA, Common, common_words, from_options
from hubbub.kinds.sums.spec import Declared, check_kept_rows, needs_epsilon, read
from hubbub.kinds.sums.sums import Estimate, Number, Phrases, Sums, each_bin
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.protocol.spec import Kind
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.condition import Condition
from hubbub.tables.protection import Crowd, Knowledge

CROWD_SHARE: Final = Fraction(16, 25)
"""Of the loss, for either sum of a crowd."""

ZERO, ONE = Fraction(0), Fraction(1)
QUARTER: Final = Fraction(1, 4)  # the variance of values half at each end of a range of length 1
_DIGITS: Final = 18

Side = tuple[Fraction, Fraction]
Box = tuple[Side, Side, Side]
"""From where to where B0, B1 and B2 lie, none below 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(Declared):
    """The spread of a column, and its mean, over the people of each bin, or over all, who have a value there."""

    of: Measure

    def __post_init__(self) -> None:
        needs_epsilon(self.protection)
        check_kept_rows(self)
        Declared.__post_init__(self)

    @property
    def squared(self) -> bool:
        """Whether the variance is asked for, and not its root."""
        return False

    @property
    def measured(self) -> Measure | Condition | None:
        return self.of

    def declare(self) -> Sums:
        loss, width = self.noise_loss, self.of.steps
        if isinstance(self.protection, Crowd):
            rates = CROWD_SHARE * loss / width, CROWD_SHARE * loss / width**2
            bends = {0, width, *(end * width // 8 + up for end in (3, 5) for up in (0, 1))}
            nothing = Estimate(None, None, ZERO, report_variance(self, QUARTER))
            return Sums(
                columns=("sum", "squares"),
                measures=(self.of,),
                contribution=lambda one, x: (x, one * (2 * x - width) ** 2),
                peaks=tuple((x,) for x in sorted(bends) if x <= width),
                rates=rates,
                numbers=numbers(self),
                estimate=each_bin(
                    partial(estimate_in_crowd, self), (nothing, Estimate(None, None, self.of.low, self.of.high))
                ),
                phrases=partial(phrases, self),
                stated=texts(steps=width, sums=rates[0], squares=rates[1]),
            )
        return Sums(
            columns=("low_squares", "products", "high_squares"),
            measures=(self.of,),
            contribution=lambda one, x: (one * (width - x) ** 2, 2 * x * (width - x), x**2),
            peaks=((0,), (width,)),
            rates=(loss / width**2,) * 3,
            numbers=numbers(self),
            estimate=each_bin(partial(estimate_of_sums, self)),
            phrases=partial(phrases, self),
            stated=texts(steps=width, rate=loss / width**2),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance(Spread):
    """The mean squared distance from the mean."""

    @property
    def squared(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation(Spread):
    """The standard deviation, the root of the variance."""


# --- estimates ----------------------------------------------------------------------------------------------------


def estimate_of_sums(spec: Spread, b0: int, b1: int, b2: int) -> tuple[Estimate, ...]:
    """Spread and mean from B0, B1 and B2, each with noise.

    Guarantee: whatever is true, the intervals of spread and mean both hold it with the coverage of the release, for
    values cut to the declared range, rounded to the step or not.
    """
    miss = (1 - spec.coverage) / (2 if spec.sampled else 1)
    off = reach(spec.sums.rates[0], miss / 3)
    box: Box = _side(b0, off), _side(b1, off), _side(b2, off)
    if spec.sampled:
        box = _widened(box, drawn(int(sum(low for low, _ in box)) // spec.of.steps**2, miss / 3))
    total = b0 + b1 + b2
    about = None
    if total > 0:
        about = Fraction(4 * b0 * b2 - b1 * b1, 4 * total * total), Fraction(b1 + 2 * b2, 2 * total)
    return _estimates(spec, about, variances(box), means(box))


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


def estimate_in_crowd(spec: Spread, people: int, total: int, squares: int) -> tuple[Estimate, ...]:
    """Spread and mean from how many they are, exactly, and the sum of x and that of (2 x - W)^2 with noise.

    Guarantee: as :func:`estimate_of_sums`.
    """
    width = spec.of.steps
    miss = (1 - spec.coverage) / (2 if spec.sampled else 1)
    offs = [reach(rate, miss / 2) for rate in spec.sums.rates]
    away = drawn(people, miss / 2) if spec.sampled else ZERO
    mean = _part(total, offs[0], width * people, away)
    square = _part(squares, offs[1], width**2 * people, away)  # of the mean of (2 m - 1)^2
    nearest = min(max(Fraction(1, 2), mean[0]), mean[1])
    furthest = max(abs(2 * end - 1) for end in mean)
    ends = (square[0] - furthest**2) / 4, (square[1] - (2 * nearest - 1) ** 2) / 4
    middle = Fraction(total, width * people)
    about = (Fraction(squares, width**2 * people) - (2 * middle - 1) ** 2) / 4, middle
    return _estimates(spec, about, _possible_variances(*ends), mean)


def _possible_variances(least: Fraction, most: Fraction) -> Side:
    """What a variance of the range 0..1 can be between these; all of that where the noise was beyond its reach."""
    return (max(least, ZERO), min(most, QUARTER)) if most > 0 or least == most == 0 else (ZERO, QUARTER)


def _part(value: int, off: int, total: int, away: Fraction) -> Side:
    """Where a part of the whole lies, in 0..1."""
    return clamped_interval(Fraction(value, total), Fraction(off, total) + away, ZERO, ONE)


def _estimates(spec: Spread, about: Side | None, spread: Side, mean: Side) -> tuple[Estimate, ...]:
    """Both numbers in the unit of the column, from variance and mean of the range 0..1 and where these lie."""
    of = spec.of
    low, high = _root(spread[0], up=False), _root(spread[1], up=True)
    half, length = of.step / 2, of.steps * of.step
    ends = max(low * length - half, ZERO), min(high * length + half, length / 2)
    ends = (ends[0] ** 2, ends[1] ** 2) if spec.squared else ends
    mean_ends = of.unrounded(of.value(mean[0] * of.steps), of.value(mean[1] * of.steps))
    reported = middle = None
    if about is not None and ends != (ZERO, report_variance(spec, QUARTER)):
        variance = report_variance(spec, min(max(about[0], spread[0]), spread[1]))
        reported = min(max(variance, ends[0]), ends[1])
    if about is not None and mean_ends != (of.low, of.high):
        middle = of.value(min(max(about[1], mean[0]), mean[1]) * of.steps)
    return Estimate(reported, reported, *ends), Estimate(middle, middle, *mean_ends)


def report_variance(spec: Spread, variance: Fraction) -> Fraction:
    """A variance of the range 0..1 as what was asked for."""
    length = spec.of.steps * spec.of.step
    return variance * length**2 if spec.squared else _root(variance, up=True) * length


def _root(value: Fraction, *, up: bool) -> Fraction:
    """The square root, rounded; exact at 0 and a quarter."""
    if value in (0, QUARTER):
        return ZERO if not value else Fraction(1, 2)
    with precision():
        return rounded(ball(value).sqrt(), up=up, digits=_DIGITS)


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


# --- words and options --------------------------------------------------------------------------------------------


def heading(spec: Spread) -> str:
    """What each number is."""
    return f"{'variance' if spec.squared else 'standard deviation'} of {spec.of.column}"


def numbers(spec: Spread) -> tuple[Number, Number]:
    """The spread, and the mean beside it."""
    return Number(heading(spec)), Number(f"mean of {spec.of.column}", "mean")


def phrases(spec: Spread) -> Phrases:
    """Its nouns."""
    of, values = spec.of, f"values {spec.of.cut}"
    route, split = text.route(spec), "on the sum and the squares together; how many they are is exact"
    if isinstance(spec.protection, Knowledge):
        rows, people = spec.protection.rows, spec.protection.people
        route = f"{rows:,} of {people:,} people were drawn in secret and what they tell got noise"
    if not isinstance(spec.protection, Crowd):
        split = f"once on three sums, which tell the spread, the mean and how many {text.many(spec)} there are"
    both = f"the {heading(spec)} and, in its own, the mean, of {values}, of {text.whom(spec)}, both at once"
    return Phrases(
        heading=heading(spec),
        title=f"{'variance' if spec.squared else 'standard deviation'} and mean of {of.column}",
        each=f"the {heading(spec)}, or the mean beside it, of {text.whom(spec)}",
        values=values,
        unit=f"{of.column}, squared" if spec.squared else of.column,
        method=text.method(spec),
        route=route,
        split=text.split(spec, f"epsilon = {{loss}} is spent {split}"),
        interval=text.interval_sentence(spec, both),
        interval_headline=text.interval_headline(spec, "the spread or the mean of these values, both at once,"),
        caution=f"{text.beyond_range(of, 'spread')}. It is that of these people (divided by how many they are, and not by "
        "one fewer)",
    )


def spread(made: type[Spread], *, of: str | None = None, **common: Unpack[Common]) -> Spread:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None:
        raise WrongUse("say of what, with its range and step: `of=salary:0..300000:1000`")
    return made(**common_words(**common), of=measured(of))


def _kind(name: str, made: type[Spread], what: str) -> Kind:
    found = Kind(
        name=name,
        wire=f"{name}/1",
        help=f"""Publish the {what} of a column and its mean, over all people or over those of each bin.

RANGE is declared: values below LOW count as LOW, those above HIGH as HIGH, all to the nearest STEP; people without a
value are left out. Three sums of squares get noise, which one person moves together by the same whatever the value, so
that the mean comes with it for nearly nothing. Both intervals hold at once. A coarser step costs little and a range that
is too wide costs much.

Say how people are protected, in one way, as for a mean: `epsilon=E`; `crowd=K` `epsilon=E` (and `sample=P`); or
`zero_knowledge=EPS` `rows=K` `people=N`. SPEC declares bins, as for a histogram. A person with several rows counts by one
of them (`one_row_per_person=True`).""",
        examples=(
            f"hubbub release {name} hubbub-demo/millbrook.parquet --person resident --of salary:0..300000:1000 "
            f"--epsilon 1 --out {name}/",
        ),
        options=(OF, BY, WHERE, ONE_ROW, UNIQUE, *WITHOUT_DELTA),
        from_options=partial(from_options, partial(spread, made)),
        from_json=partial(read, made),
    )
    made.kind = found
    return found


VARIANCE: Final = _kind("variance", Variance, "variance")
STD: Final = _kind("std", Deviation, "standard deviation")
