"""A quantile of a bin and an interval around it, drawn by permute-and-flip, exactly.

**The value.** Of c people with steps 0..W let L(i) be how many lie below the point i and U(i) how many lie at it or below.
The points tile the ranks 0..c by [L(i), U(i)], and a target rank r = slope c + offset lies

    d(i) = max(L(i) - r, r - U(i))

outside of the tile of i; inside it d is below 0, by how far the nearer end is. So a point that is surely the quantile is
also surely drawn: at a depth of t its neighbours are 2 t away from it. (With max(0, d) they are t away; with the distance
to L(i) alone all points of a bin in which everybody has one value are equally likely at the median.)

One person more or less moves L and U by 0 or 1, both alike but at the person's own point, and r by the slope: d by at most
s = max(|slope|, |1 - slope|). Two people of one bin exchanged leave c and r, and move d by at most 1.

**The interval.** Around the value v that was drawn it is [v - k, v + k], k one of few public offsets. It holds every
quantile if its margin

    m(k) = min(r_low - L(v - k), U(v + k) - r_high)

is above 0 (an end at or beyond the range has no part in it): r_low = r_high = q c, of a sample a little less and more. m
rises with k, and a person moves it by s at most. The offsets tile the line by [m(previous k), m(k)], and one is drawn for
a target t above 0 as the value is for r.

**The draw.** Every point throws a coin that falls heads with chance p(i) = e^(-rate (d(i) - least d)), and one of the heads
is drawn, all alike (permute-and-flip, McKenna and Sheldon 2020). With i at a uniform time u, no head being earlier,

    P(i) = p(i) * integral over u in 0..1 of the product over j != i of (1 - u p(j))
         = integral over z in 0..e^(rate least d) of e^(-rate d(i)) * product of (1 - z e^(-rate d(j))),

which is the chance that an exponential number less rate d is the largest at i. Given the other numbers, i is the largest
if its own is above something that a person moves by rate s, twice: so P moves by e^(2 rate s) at most, and rate =
epsilon/(2 s) costs epsilon. A point is never drawn more often than by the exponential mechanism if it is worse than
another: at most with p(i)/2, since the best one is a head as well.

Points with the same d that lie side by side are a run: how many of its coins fall heads is drawn, then one of all heads,
and a point of its run uniformly. All exponents of a bin are whole multiples of one number, so that a bin of 100,000 steps
is a few arrays of whole numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any, Final, overload

import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from hubbub.noise.bernoulli import Multiples, permute_and_flip
from hubbub.noise.source import Source
from hubbub.numeric.exact import PRECISION, ball, exp, log, precision, rounded
from hubbub.numeric.exact_sums import MOST_ROWS
from hubbub.runtime.frozen import dataclass

LARGEST: Final = 1 << 61  # above it whole numbers are Python's own
Integers = NDArray[np.int64]

Table = Sequence[tuple[int, int]]
"""(step, people) in rising order of steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The rank that is aimed at; `replacing` if c cannot change."""

    slope: Fraction
    offset: Fraction
    replacing: bool

    @property
    def moved(self) -> Fraction:
        """s: how far one person moves a distance."""
        return Fraction(1) if self.replacing else max(abs(self.slope), abs(1 - self.slope))

    def rank(self, people: int) -> Fraction:
        """r, of so many people."""
        return self.slope * people + self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """An interval around the value: the ranks that it should hold with a margin of `aim`, and the offsets to choose from."""

    low: Target
    high: Target
    aim: Fraction
    offsets: tuple[int, ...]

    @property
    def moved(self) -> Fraction:
        """s: how far one person moves a margin."""
        return max(self.low.moved, self.high.moved)


@dataclass(frozen=True, slots=True)
class Run:
    """Points first .. first + points - 1, each with the weight e^-exponent."""

    first: int
    points: int
    exponent: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Runs(Sequence[Run]):
    """Many runs: the i-th begins at first[i], has points[i] points, and its exponent is units[i] times `unit`."""

    first: Integers
    points: Integers
    units: NDArray[Any]  # whole numbers, of any size
    unit: Fraction

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Runs:
        """The same runs."""
        if isinstance(runs, cls):
            return runs
        unit = Fraction(1, lcm(*(run.exponent.denominator for run in runs)))
        units = np.array([int(run.exponent / unit) for run in runs], dtype=object)
        return cls(np.array([run.first for run in runs]), np.array([run.points for run in runs]), units, unit)

    def __len__(self) -> int:
        return self.first.size

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> list[Run]: ...
    def __getitem__(self, at: int | slice) -> Run | list[Run]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return Run(int(self.first[at]), int(self.points[at]), int(self.units[at]) * self.unit)


def shares(epsilon: Fraction, interval: Fraction) -> tuple[Fraction, Fraction]:
    """What the value may lose, and what its interval: that share."""
    return epsilon * (1 - interval), epsilon * interval


def offsets(steps: int) -> tuple[int, ...]:
    """How far an interval may reach on either side: 0, 1, 2, .. and then by a quarter more each, up to the whole range."""
    found = [0]
    while found[-1] < steps:
        found.append(min(max(found[-1] + 1, found[-1] * 5 // 4), steps))
    return tuple(found)


def around(value: int, reach: int, steps: int) -> tuple[int, int]:
    """The ends of an interval that reaches so far on both sides, within the range."""
    return max(value - reach, 0), min(value + reach, steps)


def rate_of(moved: Fraction, epsilon: Fraction) -> Fraction:
    """The rate that costs epsilon, if a person moves every distance by so much at most."""
    return epsilon / (2 * moved)


def margin(moved: Fraction, epsilon: Fraction, choices: int, miss: Fraction) -> Fraction:
    """The margin to aim at among so many offsets; rounded up.

    Guarantee: an offset whose margin is 0 or less has d of at least this, and some offset has d of 0 or less. Each of
    the former is drawn with a chance of at most e^(-rate d)/2, and all of them together with at most `miss`.
    """
    wrong = (choices - 1) / (2 * miss)
    if wrong <= 1:
        return Fraction(0)
    return rounded(log(wrong) / ball(rate_of(moved, epsilon)), up=True, digits=12)


def weights(table: Table, steps: int, target: Target, epsilon: Fraction) -> Runs:
    """The runs of a bin.

    Guarantee: between two tables that differ by one person (or, with `replacing`, by one person's step) the law of a
    point drawn by these weights changes by at most a factor e^epsilon.
    """
    at, people = (np.array(each, dtype=np.int64) for each in (zip(*table, strict=True) if table else ((), ())))
    rate, rank = rate_of(target.moved, epsilon), target.rank(everybody := int(people.sum()))
    parts = lcm(target.slope.denominator, target.offset.denominator)
    most = max(abs(target.slope), Fraction(1)) * max(MOST_ROWS, everybody) + abs(
        target.offset
    )  # of a rank, and of people
    wide = 2 * most * parts >= LARGEST
    passed = np.concatenate([[0], people.cumsum()]).astype(object if wide else np.int64) * parts - int(rank * parts)
    # Before every value the points that nobody has, if there are any; and those after the last.
    begins = np.concatenate([[0], at + 1])
    gaps = np.concatenate([at, [steps + 1]]) - begins
    first, points, units = (np.empty(2 * at.size + 1, dtype=each.dtype) for each in (begins, gaps, passed))
    first[::2], first[1::2] = begins, at
    points[::2], points[1::2] = gaps, 1
    units[::2], units[1::2] = abs(passed), np.maximum(passed[:-1], -passed[1:])
    there = points > 0
    return Runs(first[there], points[there], units[there], rate / parts)


def window_weights(table: Table, steps: int, window: Window, value: int, epsilon: Fraction) -> list[Run]:
    """The weights of the offsets around a value, by their place; those that go beyond the range on both sides are one.

    Guarantee: that of :func:`weights`, whatever the value is; and an offset that is drawn has a margin of 0 or less at
    most as often as :func:`margin` says.
    """
    rate, margins = rate_of(window.moved, epsilon), _margins(table, steps, window, value)
    runs: list[Run] = []
    before: Fraction | None = None
    for i, found in enumerate(margins):
        ends = [before - window.aim] if before is not None else []
        ends += [window.aim - found] if found is not None else []
        runs.append(Run(i, 1, rate * max(ends, default=Fraction(0))))
        before = found
    return runs


def _margins(table: Table, steps: int, window: Window, value: int) -> list[Fraction | None]:
    """m of each offset up to the first that holds the whole range, which has none."""
    at, passed = [step for step, _ in table], list(accumulate((n for _, n in table), initial=0))
    low, high = (target.rank(passed[-1]) for target in (window.low, window.high))
    found: list[Fraction | None] = []
    for k in window.offsets:
        ends = [low - passed[bisect_left(at, value - k)]] if value > k else []
        ends += [passed[bisect_right(at, value + k)] - high] if value + k < steps else []
        found.append(min(ends) if ends else None)
        if not ends:
            break
    return found


def draw(runs: Sequence[Run], source: Source) -> int:
    """A point.

    Guarantee: exactly by permute-and-flip, as :func:`law` has it, if the words of the source are uniform and
    independent: the heads of a run are as likely any of its points as any other.
    """
    every = Runs.of(runs)
    exponents = Multiples(every.units - every.units.min(), every.unit)
    which, at = permute_and_flip(every.points, exponents, source)
    return int(every.first[which]) + at


def law(runs: Sequence[Run]) -> dict[int, arb]:
    """The chance of every point, by the integral above; for few points, since the product has one factor for each.

    Guarantee: each ball holds the chance.
    """
    least = min(run.exponent for run in runs)
    with precision(PRECISION + 4 * sum(run.points for run in runs)):
        chances = [exp(least - run.exponent) for run in runs]
        factors = [arb_poly([1, -p]) for p in chances]
        found: dict[int, arb] = {}
        for i, run in enumerate(runs):
            others = arb_poly([1])
            for j, other in enumerate(runs):
                others *= factors[j] ** (other.points - (i == j))
            chance = chances[i] * others.integral()(arb(1))
            found |= dict.fromkeys(range(run.first, run.first + run.points), chance)
    return found


def largest_loss(one: Sequence[Run], other: Sequence[Run]) -> arb:
    """The largest |ln| of the ratio of what both laws give a point.

    Guarantee: the ball holds it, if both have the same points, few of them.
    """
    first, second = law(one), law(other)
    worst = arb(0)
    for point, chance in first.items():
        worst = worst.max(abs((chance / second[point]).log()))
    return worst
