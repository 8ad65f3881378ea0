"""What discrete Gaussian noise loses: the exact profile, one pair for many releases, and rho.

Noise N_Z(s2) on each number of a vector that one person moves by an integer vector v, of squared length at most
`squared` with at most `moved` entries that are not 0.

**The exact profile.** The loss of an outcome x is the rational (|v|^2 - 2 v.x)/(2 s2), in both directions of one law
(x -> v - x exchanges them). Where v has entries -1, 0 and 1 only, d of them not 0, it is (d + 2 S)/(2 s2) with S a sum
of d independent N_Z(s2), and fewer entries are a marginal of more: the pair with d ones is no better than any.

**Lemma C.** Let 0 < k2 < s2, r = 2 sum over j >= 1 of e^(-2 pi^2 k2 j^2) < 1, nu = ln((1+r)/(1-r)). For every integer v
with d entries that are not 0, delta(epsilon) <= e^(nu d) G(epsilon - 2 nu d, |v|/sqrt(s2 - k2)), G that of two unit
normal laws. *Proof.* Draw Y ~ N(m, s2 - k2), then an integer x with chance ~ e^(-(x-Y)^2/(2 k2)). By Poisson summation
the constant lies in sqrt(2 pi k2) [1-r, 1+r], so the law of x is N_Z(s2) around the integer m up to a factor e^(+-nu) in
each coordinate, and a post-processing of a normal law of variance s2 - k2. QED Normal pairs compose into one, whose
squared distance is the sum, also where each release is chosen from what came before, if the squared lengths, or a bound
on their sum, were fixed beforehand (Dong, Roth, Su, Gaussian differential privacy, JRSS B 2022).

**rho.** Every Renyi divergence of order a is at most a |v|^2/(2 s2): rho-zCDP (Bun, Steinke 2016; Canonne, Kamath,
Steinke 2020). Sums over releases, without a delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, fmpz_poly

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.privacy_loss import LossLaw, RandomizedResponsePair, laws
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import INFINITY, Loss, ball, precision, rounded, upper
from hubbub.numeric.gaussian_sums import gaussian_delta, masses, normal, ripple, tail

SMOOTHINGS: Final = tuple(Fraction(n, 8) for n in (4, 6, 8, 10, 12, 16, 24))
"""The k2 that Lemma C is tried with; each of them is a proof."""

_BITS: Final = 256
_ONE: Final = 1 << _BITS
_REACH: Final = 90  # nats that a tabulated law leaves out at each end; its mass counts as shown
_WIDEST: Final = Fraction(3_000)  # of d s2: up to here the exact profile is tabulated
_CELLS: Final = 400  # of a normal pair's loss law, for each unit of its distance
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise:
    """N_Z(s2) on integers that one person moves by v, |v|^2 <= `squared`, at most `moved` of them.

    With `ones` no number moves by more than 1. That cannot be seen from the two others: 4 and 4 are four numbers that
    move by 1, or one that moves by 2.
    """

    s2: Fraction
    squared: Fraction = Fraction(1)
    moved: int = 1
    ones: bool = False

    def __post_init__(self) -> None:
        if self.s2 <= 0 or self.squared < 0 or self.moved < 0:
            raise WrongUse("Gaussian noise has a variance above 0, and nobody moves a number by less than nothing")

    @property
    def rho(self) -> Fraction:
        """Its zCDP.

        Guarantee: every Renyi divergence of order a, of outputs with and without the person, is at most a rho.
        """
        return self.squared / (2 * self.s2)

    @property
    def most_ones(self) -> int | None:
        """How many numbers move, where none does by more than 1: at most so many; else None."""
        return min(self.moved, math.floor(self.squared)) if self.ones or self.squared == 1 else None

    def group(self, people: int) -> GaussianNoise:
        """What so many people together move.

        Guarantee: vectors add, so the length is at most `people` times as large, and at most as many times the entries.
        """
        return GaussianNoise(s2=self.s2, squared=people**2 * self.squared, moved=people * self.moved)

    def swapped(self) -> GaussianNoise:
        """What one person moves whose data are replaced, where the entries of v are at least 0.

        Guarantee: |v - v'|^2 <= |v|^2 + |v'|^2 for entries of at least 0: twice the square, not four times.
        """
        return GaussianNoise(
            s2=self.s2, squared=2 * self.squared, moved=2 * self.moved, ones=self.most_ones is not None
        )


def by_ones(s2: Fraction, moved: int) -> GaussianNoise:
    """Noise on numbers of which one person moves so many, by 1 each."""
    return GaussianNoise(s2=s2, squared=Fraction(moved), moved=moved, ones=True)


@lru_cache(maxsize=256)
def exact_law(s2: Fraction, moved: int) -> LossLaw:
    """The law of the loss where one person moves `moved` numbers by one each.

    Guarantee: every delta that it gives is at least the true one: masses are rounded up, and the ends that are left out
    count as shown. It is the true one but for 2^-120.
    """
    reach = math.isqrt(math.ceil(2 * _REACH * s2)) + 1
    with precision():
        points = [math.ceil(upper(point) * _ONE) for point in masses(reach, s2)]
        left = rounded(2 * tail(reach, s2), up=True)
    row = fmpz_poly([*reversed(points[1:]), *points])
    return LossLaw(1 / s2, Fraction(1 - 2 * reach) / (2 * s2), row, left).times(moved)


def delta_of(noise: GaussianNoise, epsilon: Fraction) -> Fraction:
    """A delta with which the outputs with and without a person are (epsilon, delta)-close, rounded up.

    Guarantee: by the exact profile where numbers move by ones and the law is not too wide, else by Lemma C.
    """
    if not noise.squared:
        return Fraction(0)
    ones = noise.most_ones
    if ones is not None and ones * noise.s2 <= _WIDEST:
        with precision():
            return min(rounded(upper(exact_law(noise.s2, ones).delta_at(epsilon)), up=True), Fraction(1))
    return lemma_c([noise], epsilon)


def lemma_c(noises: Sequence[GaussianNoise], epsilon: Fraction) -> Fraction:
    """The delta of Lemma C for all of these releases together, rounded up.

    Guarantee: publishing all of them, each chosen from what came before while their variances and lengths were fixed
    beforehand, is (epsilon, delta)-close with and without a person.
    """
    found = [_smoothed(noises, epsilon, k2) for k2 in SMOOTHINGS if all(k2 < noise.s2 for noise in noises)]
    return min(found, default=Fraction(1))


def _smoothed(noises: Sequence[GaussianNoise], epsilon: Fraction, k2: Fraction) -> Fraction:
    with precision():
        shift = _shift(k2, sum(noise.moved for noise in noises))
        mu = ball(distance(noises, k2)).sqrt()
        found = shift.exp() * gaussian_delta(ball(epsilon) - 2 * shift, mu)
        return min(rounded(upper(found), up=True), Fraction(1)) if found.is_finite() else Fraction(1)


def _shift(k2: Fraction, moved: int) -> arb:
    """nu d of Lemma C."""
    r = ripple(k2)
    return moved * ((1 + r) / (1 - r)).log()


def distance(noises: Sequence[GaussianNoise], k2: Fraction) -> Fraction:
    """The squared distance mu^2 of the one normal pair for all of these releases."""
    return sum((noise.squared / (noise.s2 - k2) for noise in noises), Fraction(0))


# --- together with other releases --------------------------------------------------------------------------------


def epsilon_with(pairs: Sequence[RandomizedResponsePair], noises: Sequence[GaussianNoise], delta: Fraction) -> Loss:
    """An epsilon with which geometric and Gaussian releases together are (epsilon, delta)-close, rounded up.

    Guarantee: the losses of the pairs are convolved with that of the one normal pair of Lemma C, every loss rounded up
    to a step and every mass upwards; nothing is left out, no delta of a pair is dropped, and the factors of the lemma
    are paid. What is asked may depend on earlier results; the variances, lengths and epsilons were fixed beforehand.
    """
    if not noises:
        raise WrongUse("no Gaussian release was given; use the composition of the others alone")
    several = [k2 for k2 in SMOOTHINGS if all(k2 < noise.s2 for noise in noises)]
    return _with(pairs, noises, delta, min(several, key=lambda k2: _price(noises, delta, k2))) if several else INFINITY


def _price(noises: Sequence[GaussianNoise], delta: Fraction, k2: Fraction) -> float:
    """About what a k2 costs in epsilon: each of them is a proof, so this may be a guess."""
    if delta <= 0:
        return 0.0
    far = math.sqrt(2 * math.log(1 / max(delta, Fraction(1, 10**300))))
    return 2 * float(_shift(k2, sum(noise.moved for noise in noises)).mid()) + far * math.sqrt(distance(noises, k2))


def _with(
    pairs: Sequence[RandomizedResponsePair], noises: Sequence[GaussianNoise], delta: Fraction, k2: Fraction
) -> Loss:
    with precision():
        shift = _shift(k2, sum(noise.moved for noise in noises))
        goal = delta / upper(shift.exp())
        square = distance(noises, k2)
        step = _step(pairs, square)
        normal_law = pair_law(square, step)
        composed = [normal_law + law for law in laws(pairs, step)] if pairs else [normal_law]
        worst = max(law.epsilon_at(goal) for law in composed)
        return INFINITY if worst == INFINITY else worst + rounded(upper(2 * shift), up=True, digits=_DIGITS)


def _step(pairs: Sequence[RandomizedResponsePair], square: Fraction) -> Fraction:
    """A step that is small beside the normal loss and divides twice the epsilons, where they have one divisor."""
    wanted = rounded(Fraction(math.isqrt(math.ceil(square * 10**12)) + 1, 10**6) / _CELLS, up=True, digits=3)
    gaps = {2 * pair.epsilon for pair in pairs if pair.epsilon}
    if not gaps:
        return wanted
    common = Fraction(math.gcd(*(gap.numerator for gap in gaps)), math.lcm(*(gap.denominator for gap in gaps)))
    if common * (1 << 14) < sum((2 * pair.epsilon for pair in pairs), Fraction(0)):
        return wanted  # no divisor worth the name: each is rounded up
    return common / math.ceil(common / wanted)


def pair_law(square: Fraction, step: Fraction) -> LossLaw:
    """The loss N(mu^2/2, mu^2) of two unit normal laws, each loss rounded up to a multiple of the step.

    Guarantee: every delta that it gives is at least that of the pair; the ends that are left out count as shown.
    """
    with precision():
        mu = ball(square).sqrt()
        wide = math.ceil(upper(mu * math.isqrt(2 * _REACH) / ball(step))) + 1
        middle = math.ceil(square / 2 / step)
        low, high = middle - wide, middle + wide
        ends = [(ball(i * step) - ball(square) / 2) / mu for i in range(low, high + 1)]
        below = [normal(end) if i + low <= middle else normal(-end) for i, end in enumerate(ends)]
        row = [math.ceil(upper(below[0]) * _ONE)]  # all that is below the first step, on it
        for i in range(1, len(ends)):
            if i + low <= middle:
                part = below[i] - below[i - 1]
            elif i - 1 + low > middle:
                part = below[i - 1] - below[i]
            else:
                part = 1 - below[i] - below[i - 1]
            row.append(max(math.ceil(upper(part) * _ONE), 0))
        infinite_mass = rounded(upper(below[-1]), up=True)
    return LossLaw(step, low * step, fmpz_poly(row), infinite_mass)


# --- rho ---------------------------------------------------------------------------------------------------------


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The delta at an epsilon that follows from rho-zCDP, rounded up.

    Guarantee: delta = inf over a > 1 of e^((a-1)(a rho - epsilon)) (1 - 1/a)^a/(a - 1) (Canonne, Kamath, Steinke 2020);
    every a is a proof, and the best of a public grid is taken.
    """
    if not rho:
        return Fraction(0)
    best = max((float(epsilon) + float(rho)) / (2 * float(rho)), 1.000001)
    with precision():
        found = [_of_order(rho, epsilon, 1 + Fraction(f"{(best - 1) * 1.02**i:.6g}")) for i in range(-60, 61)]
    return min(*found, Fraction(1))


def _of_order(rho: Fraction, epsilon: Fraction, a: Fraction) -> Fraction:
    order = ball(a)
    log = (order - 1) * (order * ball(rho) - ball(epsilon)) + order * (1 - 1 / order).log() - (order - 1).log()
    return rounded(upper(log.exp()), up=True) if log < 0 else Fraction(1)


# --- how much noise ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def least_variance(epsilon: Fraction, delta: Fraction, moved: int) -> Fraction:
    """An s2, next to the smallest, whose noise is (epsilon, delta)-close where one person moves so many numbers by 1.

    Guarantee: its delta was worked out by :func:`delta_of` and is at most `delta`. Since delta is not monotone in s2,
    that is checked for the number itself, after rounding.
    """
    if not 0 < delta < 1 or epsilon < 0:
        raise Refused("Gaussian noise needs a delta above 0 and below 1 beside epsilon; add one, like 1e-9")

    def suffices(thousandths: int) -> bool:
        s2 = near * (1 + Fraction(thousandths, 10**4))
        return delta_of(by_ones(rounded(s2, up=True, digits=6), moved), epsilon) <= delta

    near = least_normal_variance(epsilon, delta) * moved
    best = first(suffices, -2000, 4000)
    while not suffices(best):
        best += 100
    return rounded(near * (1 + Fraction(best, 10**4)), up=True, digits=6)


@lru_cache(maxsize=1024)
def least_normal_variance(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The variance of a normal number, for a move of 1, to some digits: where a search for s2 begins, and no promise."""

    def suffices(log: int) -> bool:
        with precision():
            return bool(gaussian_delta(ball(epsilon), (ball(Fraction(-log, 10000))).exp()) <= ball(delta))

    deviation = Fraction(f"{math.exp(first(suffices, -90000, 300000) / 10000):.6g}")
    return deviation**2
