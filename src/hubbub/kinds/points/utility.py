"""How good noisy points are, in numbers: how far all of them may have moved, and their mean (Proposition 11, exactly).

Along each column a point moves by two-sided geometric noise X, q = e^-rate. |X| is a coin of q/(1 + q) plus a geometric
number, so that the L1 distance S over d columns is Bin(d, q/(1 + q)) plus a negative binomial number, and

    P(S > m) = sum over i of C(d, i) q^i / (1 + q)^d  P(Bin(m - i + d, 1 - q) < d),

a few terms however large m is. Points move independently: all n stay within m with probability (1 - P(S > m))^n. The
paper has 1 - d n e^(-epsilon M / (d L)) for that. A function that changes by at most K when every point moves by at
most M is then right to K as often.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt
from math import exp as approximately_exp
from math import log as approximately_log
from typing import TYPE_CHECKING

from flint import arb

from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import Infinite, ball, exp, rounded, upper

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints

_DIGITS = 12


def farther(rate: Fraction, columns: int, steps: int) -> arb:
    """P(S > steps): the chance that one point moves further in L1, exactly."""
    if steps < 0:
        return arb(1)
    q = exp(-rate)
    total = arb(0)
    for i in range(columns + 1):
        left = steps - i
        share = comb(columns, i) * q**i / (1 + q) ** columns
        total += share * (arb(1) if left < 0 else _negative_binomial_above(q, columns, left))
    return total


def _negative_binomial_above(q: arb, columns: int, m: int) -> arb:
    """P(the sum of so many geometric numbers > m) = P(Bin(m + columns, 1 - q) < columns)."""
    trials = m + columns
    return sum((comb(trials, i) * (1 - q) ** i * q ** (trials - i) for i in range(columns)), arb(0))


def chance_missed(spec: NoisyPoints, points: int, distance: Fraction) -> Fraction:
    """A bound on the chance that one of so many points is further than `distance` from its own, in L1 over columns.

    Guarantee: at least the exact chance, for every table of so many points that are kept: 1 - (1 - P(S > m))^n at the
    largest number m of the longest steps that fit into the distance, once putting points on the lattice is paid for.
    """
    spare = distance - sum((spec.space.rounding(i) for i in range(len(spec.space.columns))), Fraction(0))
    if points == 0:
        return Fraction(0)
    if spare < 0:
        return Fraction(1)
    rate = spec.rate
    if isinstance(rate, Infinite):
        return Fraction(0)
    steps = spare // max(axis.step for axis, moves in zip(spec.space.axes, spec.space.moving, strict=True) if moves)
    return _one_of(points, farther(rate, sum(spec.space.moving), int(steps)))


def _one_of(points: int, chance: arb) -> Fraction:
    """1 - (1 - chance)^points, rounded up."""
    if not chance < 1:
        return Fraction(1)
    found = upper(-(points * (-chance).log1p()).expm1())
    return Fraction(1) if found >= 1 else max(rounded(found, up=True, digits=_DIGITS), Fraction(0))


def paper_chance_missed(spec: NoisyPoints, points: int, distance: Fraction) -> Fraction:
    """What Proposition 11 says about the same, with the diameter of a cell in the units of its columns."""
    space = spec.space
    d = len(space.axes)
    diameter = sum(axis.step * many for axis, many in zip(space.axes, space.per_cell, strict=True))
    if space.areas is not None:
        diameter = max(axis.step for axis in space.axes) * max(space.diameter, 1)
    bound = d * points * exp(-spec.epsilon * distance / (d * diameter))
    return min(rounded(bound, up=True, digits=_DIGITS), Fraction(1))


def reach(spec: NoisyPoints, points: int, chance: Fraction) -> Fraction:
    """The smallest distance, in steps, for which `missed` is at most `chance`."""
    spare = sum((spec.space.rounding(i) for i in range(len(spec.space.columns))), Fraction(0))
    if points == 0 or isinstance(spec.rate, Infinite):
        return spare
    step = max(axis.step for axis, moves in zip(spec.space.axes, spec.space.moving, strict=True) if moves)
    return spare + step * first_from(lambda m: chance_missed(spec, points, spare + m * step) <= chance, 0)


def each_within(spec: NoisyPoints, points: int, chance: Fraction) -> tuple[Fraction, ...]:
    """How far any of the points may be from its own along each column, except with that chance for all together.

    Guarantee: P(|X| > m) = 2 q^(m + 1) / (1 + q) along a column, over all points and columns that move at once.
    """
    rate, columns, steps = spec.rate, sum(spec.space.moving), 0
    if points and not isinstance(rate, Infinite):
        steps = _farthest(rate, chance / (points * columns))
    axes = enumerate(zip(spec.space.axes, spec.space.moving, strict=True))
    return tuple(spec.space.rounding(i) + (steps * axis.step if moves else 0) for i, (axis, moves) in axes)


def _farthest(rate: Fraction, chance: Fraction) -> int:
    """The smallest m with P(|X| > m) at most that chance, or one that is hardly larger."""
    guess = max(int(-approximately_log(chance) / float(rate)) - 2, 0)
    q, most = exp(-rate), ball(chance)
    return first_from(lambda m: bool(2 * q ** (m + 1) / (1 + q) <= most), guess)


def mean_within(spec: NoisyPoints, points: int, chance: Fraction) -> tuple[Fraction, ...]:
    """How far the mean of points as they were drawn, before any was put back on the edge, may be from that of the
    points they came from, along each column.

    Guarantee: except with that chance for all columns together, by Chernoff's bound with the exact moments of the
    noise, E e^(tX) = (1 - q)^2 / ((1 - q e^t)(1 - q e^-t)): every t gives a bound, and it is rounded up.
    """
    rate, found = spec.rate, []
    for i, (axis, moves) in enumerate(zip(spec.space.axes, spec.space.moving, strict=True)):
        steps = Fraction(0)
        if moves and points and not isinstance(rate, Infinite):
            steps = _mean_steps(rate, points, chance / sum(spec.space.moving))
        found.append(rounded(spec.space.rounding(i) + steps * axis.step, up=True, digits=_DIGITS))
    return tuple(found)


def _mean_steps(rate: Fraction, points: int, chance: Fraction) -> Fraction:
    """a with 2 e^(-n (t a - ln E e^(tX))) <= chance, for a good t below the rate."""
    about = approximately_exp(-float(rate))
    variance = 2 * about / (1 - about) ** 2
    need = approximately_log(2 / float(chance)) / points
    guess = min(sqrt(2 * need / variance) / float(rate), 0.9)  # as a share of the rate; the best one for a normal law
    t = rate * max(Fraction(round(guess * 10**6), 10**6), Fraction(1, 10**6))
    moments = (1 - exp(-rate)) ** 2 / ((1 - exp(t - rate)) * (1 - exp(-t - rate)))
    return upper((moments.log() + (2 / ball(chance)).log() / points) / ball(t))
