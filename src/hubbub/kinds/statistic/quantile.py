"""A quantile of a bin, drawn with the exponential mechanism, exactly.

Of c people with steps 0..W let L(i) be how many lie below the point i and U(i) how many lie at it or below. The points
tile the ranks 0..c by [L(i), U(i)], and a point is as far from a target rank r as its interval is:

    d(i) = max(0, L(i) - r, r - U(i)),     P(i) ~ e^(-rate d(i)).

(The distance to L(i) alone, as it is often written, makes all points of a bin in which everybody has one value equally
likely at the median.) r = slope c + offset. One person more or less moves L and U by 0 or 1, both alike but at the
person's own point, and r by the slope: d by at most s = max(|slope|, |1 - slope|). Two people of one bin exchanged
leave c and r, and move d by at most 1. Weights and their sum then move by e^(rate s) each, so that rate = epsilon/(2 s)
costs epsilon.

Two points beyond the ends, where they are asked for, stand for "below everybody" and "above everybody": the intervals
(-inf, 0] and [c, inf). With them some point has d = 0 whatever r is, and then d > t has probability at most
(points) e^(-rate t).

Points with the same d that lie side by side are a run: its weight is their number times e^(-rate d). The run is drawn
from a certified table, and a point of it uniformly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from flint import arb

from hubbub.noise.source import Source
from hubbub.noise.table import CertifiedTable
from hubbub.noise.uniform import below
from hubbub.numeric.exact import ball, exp, log, rounded

_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The rank that is aimed at; `ends` if the points beyond both ends are there, `replacing` if c cannot change."""

    slope: Fraction
    offset: Fraction
    ends: bool
    replacing: bool

    @property
    def moved(self) -> Fraction:
        """s: how far one person moves a distance."""
        return Fraction(1) if self.replacing else max(abs(self.slope), abs(1 - self.slope))


@dataclass(frozen=True, slots=True)
class Run:
    """Points first .. first + points - 1 (-1 and W + 1 are beyond the ends), each with the weight e^-exponent."""

    first: int
    points: int
    exponent: Fraction


def shares(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """What the value itself may lose, and each end of its interval: three quarters, and an eighth each.

    The value is what people read: its chance to be a wrong step falls exponentially with its part, the width of the
    interval only inversely with the rest.
    """
    return epsilon * 3 / 4, epsilon / 8


def rate_of(target: Target, epsilon: Fraction) -> Fraction:
    """The rate of the exponential mechanism that costs epsilon."""
    return epsilon / (2 * target.moved)


def rank_error(target: Target, epsilon: Fraction, points: int, miss: Fraction) -> Fraction:
    """How far from the target a drawn point is at most, but for a probability `miss`; rounded up.

    Guarantee: if some point has d = 0, a drawn one has d above this with probability at most `miss`.
    """
    return rounded(log(points / miss) / ball(rate_of(target, epsilon)), up=True, digits=_DIGITS)


def weights(table: Sequence[tuple[int, int]], steps: int, target: Target, epsilon: Fraction) -> list[Run]:
    """The runs of a bin, given (step, people) in rising order of steps.

    Guarantee: between two tables that differ by one person (or, with `replacing`, by one person's step) the law of a
    point drawn by these weights changes by at most a factor e^epsilon.
    """
    rate, people = rate_of(target, epsilon), sum(n for _, n in table)
    rank = target.slope * people + target.offset
    runs = [Run(-1, 1, rate * max(rank, Fraction(0)))] if target.ends else []
    at, passed = 0, 0
    for step, n in table:
        if step > at:
            runs.append(Run(at, step - at, rate * abs(passed - rank)))
        away = max(Fraction(0), passed - rank, rank - (passed + n))
        runs.append(Run(step, 1, rate * away))
        at, passed = step + 1, passed + n
    if at <= steps:
        runs.append(Run(at, steps + 1 - at, rate * abs(passed - rank)))
    return [*runs, Run(steps + 1, 1, rate * max(people - rank, Fraction(0)))] if target.ends else runs


def draw(runs: Sequence[Run], source: Source) -> int:
    """A point.

    Guarantee: exactly by the weights, if the words of the source are uniform and independent.
    """
    if len(runs) == 1:
        return runs[0].first + int(below(runs[0].points, 1, source)[0])
    least = min(run.exponent for run in runs)
    table = CertifiedTable(partial(_boundaries, tuple((run.points, run.exponent - least) for run in runs)))
    run = runs[int(table.sample(1, source)[0])]
    return run.first + int(below(run.points, 1, source)[0])


def _boundaries(runs: Sequence[tuple[int, Fraction]]) -> list[arb]:
    total, found = arb(0), []
    for points, exponent in runs:
        total += points * exp(-exponent)
        found.append(total)
    return [each / total for each in found[:-1]]
