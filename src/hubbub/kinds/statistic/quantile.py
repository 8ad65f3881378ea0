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
and a point of its run uniformly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from flint import arb, arb_poly

from hubbub.noise.bernoulli import permute_and_flip
from hubbub.noise.source import Source
from hubbub.numeric.exact import PRECISION, ball, exp, log, precision, rounded
from hubbub.runtime.frozen import dataclass

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


def weights(table: Table, steps: int, target: Target, epsilon: Fraction) -> list[Run]:
    """The runs of a bin.

    Guarantee: between two tables that differ by one person (or, with `replacing`, by one person's step) the law of a
    point drawn by these weights changes by at most a factor e^epsilon.
    """
    rate, rank = rate_of(target.moved, epsilon), target.rank(sum(n for _, n in table))
    runs, at, passed = list[Run](), 0, 0
    for step, n in table:
        if step > at:
            runs.append(Run(at, step - at, rate * abs(passed - rank)))
        runs.append(Run(step, 1, rate * max(passed - rank, rank - (passed + n))))
        at, passed = step + 1, passed + n
    if at <= steps:
        runs.append(Run(at, steps + 1 - at, rate * abs(passed - rank)))
    return runs


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
    least = min(run.exponent for run in runs)
    which, at = permute_and_flip([run.points for run in runs], [run.exponent - least for run in runs], source)
    return runs[which].first + at


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
