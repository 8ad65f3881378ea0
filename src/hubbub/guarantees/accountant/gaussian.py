"""The privacy loss of discrete Gaussian noise: the exact profile, one dominating pair for many releases, and rho.

Noise N_Z(s2) on each number of a vector that one person moves by an integer vector v, of squared length at most
`squared` with at most `moved` entries that are not 0.

**The exact profile.** The loss of an outcome x is the rational (|v|^2 - 2 v.x)/(2 s2), in both directions of one law
(x -> v - x exchanges them). Where v has entries -1, 0 and 1 only, d of them not 0, it is (d + 2 S)/(2 s2) with S a sum
of d independent N_Z(s2), and fewer entries are a marginal of more: the pair with d ones dominates all others.

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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Final

from flint import arb, fmpz_poly

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.privacy_loss import DominatingPair, LossLaw, laws, step_of
from hubbub.guarantees.parameters import chance
from hubbub.numeric.bisection import first, first_from
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, exp, precision, rounded, upper
from hubbub.numeric.gaussian_sums import gaussian_delta, masses, normal, ripple, tail
from hubbub.runtime.frozen import dataclass

SMOOTHINGS: Final = tuple(Fraction(n, 8) for n in (4, 6, 8, 10, 12, 16, 24))
"""The k2 that Lemma C is tried with; each of them is a proof."""

_BITS: Final = 256
_ONE: Final = 1 << _BITS
_REACH: Final = 90  # nats that a tabulated law leaves out at each end; its mass counts as shown
WIDEST_TABULATED: Final = Fraction(3_000)
"""Of d s2: up to here the exact profile is tabulated."""
_CELLS: Final = 400  # of a normal pair's loss law, for each unit of its distance
_DIGITS: Final = 12
_EPSILONS: Final = 10_000  # steps of an epsilon that is searched for
_LONG: Final = 1 << 9  # bits of a denominator; longer ones are rounded against us
_KEPT: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise:
    """N_Z(s2) on integers that one person moves by v, |v|^2 <= `squared`, at most `moved` of them.

    With `ones` no number moves by more than 1. That cannot be seen from the two others: 4 and 4 are four numbers that
    move by 1, or one that moves by 2. With `signed` a person may move some numbers down and others up.
    """

    s2: Fraction
    squared: Fraction = Fraction(1)
    moved: int = 1
    ones: bool = False
    signed: bool = False

    def __post_init__(self) -> None:
        if self.s2 <= 0 or self.squared < 0 or self.moved < 0:
            raise WrongUse("Gaussian noise has a variance above 0, and nobody moves a number by less than nothing")

    @property
    def rho(self) -> Fraction:
        """The rho of its zCDP.

        Guarantee: every Renyi divergence of order a, of outputs with and without the person, is at most a rho.
        """
        return self.squared / (2 * self.s2)

    @property
    def most_ones(self) -> int | None:
        """How many numbers move, where none does by more than 1: at most so many; else None."""
        return min(self.moved, math.floor(self.squared)) if self.ones or self.squared == 1 else None

    def group(self, people: int) -> GaussianNoise:
        """The same noise where a group of so many people moves the numbers.

        Guarantee: vectors add, so the length is at most `people` times as large, and at most as many times the entries.
        """
        return replace(
            self, squared=people**2 * self.squared, moved=people * self.moved, ones=self.ones and people == 1
        )

    def under_replacement(self) -> GaussianNoise:
        """The same noise where the data of one person are replaced.

        Guarantee: |v - v'|^2 <= |v|^2 + |v'|^2 for entries of at least 0: twice the square, not four times, and entries
        of at most 1 stay so. Where some are below 0, four times.
        """
        if self.signed:
            return replace(self, squared=4 * self.squared, moved=2 * self.moved, ones=False)
        return replace(
            self, squared=2 * self.squared, moved=2 * self.moved, ones=self.most_ones is not None, signed=True
        )


def by_ones(s2: Fraction, moved: int) -> GaussianNoise:
    """Noise on numbers of which one person moves so many, by 1 each."""
    return GaussianNoise(s2=s2, squared=Fraction(moved), moved=moved, ones=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far one person moves all published whole numbers together: the sum of absolute values, the sum of squares, at
    most how many of them, and whether none by more than 1 (`ones`) and some up while others go down (`signed`)."""

    l1: int
    l2_squared: int
    moved: int
    ones: bool = False
    signed: bool = False

    def gaussian(self, s2: Fraction) -> GaussianNoise:
        """Gaussian noise on numbers that one person moves so."""
        squared = Fraction(self.l2_squared)
        return GaussianNoise(s2=s2, squared=squared, moved=self.moved, ones=self.ones, signed=self.signed)


def in_bins(bins: int) -> Sensitivity:
    """The sensitivity of a person who moves so many counts by 1 each."""
    return Sensitivity(l1=bins, l2_squared=bins, moved=bins, ones=True)


@lru_cache(maxsize=256)
def exact_law(s2: Fraction, moved: int) -> LossLaw:
    """The law of the loss where one person moves `moved` numbers by one each.

    Guarantee: every delta that it gives is at least the true one: masses are rounded up, and the ends that are left out
    count as infinite losses. It exceeds the true one by at most 2^-120.
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
    if ones is not None and ones * noise.s2 <= WIDEST_TABULATED:
        with precision():
            return min(rounded(upper(exact_law(noise.s2, ones).delta_at(epsilon)), up=True), Fraction(1))
    return lemma_c([noise], epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGaussianPair:
    """Noise N_Z(s2) on a fresh secret sample of a rate, of which one person moves `moved` numbers by one each.

    Given who else is in the sample the pair is a shift by v, or nothing; mixtures of close laws are close, and
    people who move nothing attain it. So with h(g) = H_g of the exact profile, delta(E) = rate h((e^E - 1 + rate)/rate)
    upwards, which is no less than what is lost downwards. A simulator that draws a sample without the person *is* the
    mechanism without the person: this is the zero-knowledge loss too.
    """

    s2: Fraction
    moved: int
    rate: Fraction

    def __post_init__(self) -> None:
        if self.s2 <= 0 or self.moved < 1:
            raise WrongUse("Gaussian noise has a variance above 0, on numbers of which somebody moves at least one")
        chance(self.rate, "the sampling rate")

    @property
    def gap(self) -> None:
        return None

    @property
    def spread(self) -> Fraction:
        return self.rate * Fraction(math.isqrt(math.ceil(10**12 * self.moved / self.s2)), 10**6)

    @property
    def symmetric(self) -> bool:
        return False

    @property
    def infinite_mass(self) -> Fraction:
        return exact_law(self.s2, self.moved).infinite_mass

    @property
    def most(self) -> Loss:
        return INFINITY

    def losses(self, way: int) -> Iterator[tuple[arb, arb]]:
        """Each loss with its mass; the tail of the noise that is cut off counts as an infinite loss.

        Guarantee: P' = rate P + (1 - rate) Q against Q has the loss ln(1 - rate + rate e^l) where P has l against Q,
        and Q has the mass e^-l of P's there. The other way round it is the negative, with the mass of Q.
        """
        law, rate = exact_law(self.s2, self.moved), ball(self.rate)
        for i, mass in enumerate(law.masses.coeffs()):
            odds = exp(law.least + i * law.step)
            above, below = ball(Fraction(int(mass), _ONE)), ball(Fraction(int(mass), _ONE)) / odds
            loss = (1 - rate + rate * odds).log()
            yield (loss, rate * above + (1 - rate) * below) if way == 0 else (-loss, below)

    def law(self, way: int, step: Fraction) -> LossLaw:
        """Guarantee: every loss is rounded up to a multiple of the step, every mass upwards."""
        found: dict[int, int] = {}
        with precision():
            for loss, mass in self.losses(way):
                at = math.ceil(upper(loss) / step)
                found[at] = found.get(at, 0) + math.ceil(upper(mass) * _ONE)
        low = min(found)
        row = [found.get(i, 0) for i in range(low, max(found) + 1)]
        return LossLaw(step, low * step, fmpz_poly(row), self.infinite_mass)

    def log_moment(self, a: Fraction) -> arb:
        """Guarantee: of the law whose masses are rounded up; what it leaves out is paid for as a delta."""
        sums = [sum((mass * (ball(a) * loss).exp() for loss, mass in self.losses(way)), arb(0)) for way in (0, 1)]
        return sums[0].max(sums[1]).log()

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """The delta of one release, rounded up: exact for the simulator that draws a sample without the person."""
        if not self.rate:
            return Fraction(0)
        with precision():
            inner = ((ball(epsilon).expm1() + ball(self.rate)) / ball(self.rate)).log()
            level = rounded(inner, up=False, digits=30)  # the profile falls in epsilon: a smaller one is a larger delta
        return self.rate * delta_of(by_ones(self.s2, self.moved), max(level, Fraction(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianTotal:
    """Gaussian releases of the same people as Lemma C adds them up, however many.

    `squares` has for each of :data:`SMOOTHINGS` the squared distance mu^2 of their one normal pair, infinite where that
    k2 is not below every variance; `moved` how many numbers one person moves in all of them.
    """

    rho: Fraction
    moved: int
    squares: tuple[Loss, ...]

    def __add__(self, other: GaussianTotal) -> GaussianTotal:
        """Both."""
        return GaussianTotal(
            rho=_shorten(self.rho + other.rho),
            moved=self.moved + other.moved,
            squares=tuple(map(_sum, self.squares, other.squares)),
        )

    def group(self, people: int) -> GaussianTotal:
        """What so many people lose together.

        Guarantee: their vectors add, so every distance is at most `people` times as large.
        """
        square = people**2
        return GaussianTotal(
            rho=square * self.rho,
            moved=people * self.moved,
            squares=tuple(INFINITY if isinstance(each, Infinite) else square * each for each in self.squares),
        )

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """The delta of Lemma C, rounded up, by the k2 that gives the least."""
        return min(
            (_smoothed_delta(square, self.moved, epsilon, k2) for k2, square in self.proofs()), default=Fraction(1)
        )

    def epsilon_at(self, delta: Fraction) -> Loss:
        """An epsilon at which that delta is at most `delta`, rounded up; infinite if there is none."""
        return _least_epsilon(self, delta)

    def proofs(self) -> list[tuple[Fraction, Fraction]]:
        """Each k2 that may be used, with mu^2."""
        pairs = zip(SMOOTHINGS, self.squares, strict=True)
        return [(k2, square) for k2, square in pairs if not isinstance(square, Infinite)]


@lru_cache(maxsize=4096)
def _least_epsilon(total: GaussianTotal, delta: Fraction) -> Loss:
    if delta <= 0 or not total.proofs():
        return INFINITY

    def suffices(steps: int) -> bool:
        return total.delta_at(Fraction(steps, _EPSILONS)) <= delta

    return Fraction(first_from(suffices, 0), _EPSILONS)


def gaussian_total(noises: Iterable[GaussianNoise]) -> GaussianTotal:
    """All of these releases together.

    Guarantee: Lemma C holds of the numbers, for releases each chosen from what came before while their variances and
    lengths, or bounds on these sums, were fixed beforehand.
    """
    several = [
        GaussianTotal(
            rho=noise.rho,
            moved=noise.moved,
            squares=tuple(noise.squared / (noise.s2 - k2) if k2 < noise.s2 else INFINITY for k2 in SMOOTHINGS),
        )
        for noise in noises
    ]
    if not several:
        raise WrongUse("no Gaussian release was given; give at least one")
    return reduce(GaussianTotal.__add__, several)


def _sum(one: Loss, two: Loss) -> Loss:
    found = one + two
    return found if isinstance(found, Infinite) else _shorten(found)


def _shorten(number: Fraction) -> Fraction:
    """The number, or a little more if it is too long to be carried along."""
    return number if number.denominator.bit_length() <= _LONG else rounded(number, up=True, digits=_KEPT)


def lemma_c(noises: Sequence[GaussianNoise], epsilon: Fraction) -> Fraction:
    """The delta of Lemma C for all of these releases together, rounded up.

    Guarantee: publishing all of them, each chosen from what came before while their variances and lengths were fixed
    beforehand, is (epsilon, delta)-close with and without a person.
    """
    return gaussian_total(noises).delta_at(epsilon)


def _smoothed_delta(square: Fraction, moved: int, epsilon: Fraction, k2: Fraction) -> Fraction:
    with precision():
        shift = _shift(k2, moved)
        found = shift.exp() * gaussian_delta(ball(epsilon) - 2 * shift, ball(square).sqrt())
        return min(rounded(upper(found), up=True), Fraction(1)) if found.is_finite() else Fraction(1)


def _shift(k2: Fraction, moved: int) -> arb:
    """nu d of Lemma C."""
    r = ripple(k2)
    return moved * ((1 + r) / (1 - r)).log()


# --- together with other releases --------------------------------------------------------------------------------


def epsilon_with(pairs: Sequence[DominatingPair], gaussian: GaussianTotal, delta: Fraction) -> Loss:
    """An epsilon with which geometric and Gaussian releases together are (epsilon, delta)-close, rounded up.

    Guarantee: the losses of the pairs are convolved with that of the one normal pair of Lemma C, every loss rounded up
    to a step and every mass upwards; nothing is left out, no delta of a pair is dropped, and the factors of the lemma
    are paid. What is asked may depend on earlier results; the variances, lengths and epsilons were fixed beforehand.
    """
    proofs = gaussian.proofs()
    if not proofs:
        return INFINITY
    k2, square = min(proofs, key=lambda each: _price(each[1], gaussian.moved, delta, each[0]))
    with precision():
        shift = _shift(k2, gaussian.moved)
        goal = delta / upper(shift.exp())
        step = _step(pairs, square)
        normal_law = pair_law(square, step)
        composed = [normal_law + law for law in laws(pairs, step)] if pairs else [normal_law]
        worst = max(law.epsilon_at(goal) for law in composed)
        return INFINITY if worst == INFINITY else worst + rounded(upper(2 * shift), up=True, digits=_DIGITS)


def _price(square: Fraction, moved: int, delta: Fraction, k2: Fraction) -> float:
    """A rough estimate of the epsilon that a k2 costs. The bound holds for every k2, so the estimate need not be exact."""
    if delta <= 0:
        return 0.0
    far = math.sqrt(2 * math.log(1 / max(delta, Fraction(1, 10**300))))
    return 2 * float(_shift(k2, moved).mid()) + far * math.sqrt(square)


def _step(pairs: Sequence[DominatingPair], square: Fraction) -> Fraction:
    """A step that is small beside the normal loss and divides the gaps of all coins, where they have one divisor."""
    wanted = rounded(Fraction(math.isqrt(math.ceil(square * 10**12)) + 1, 10**6) / _CELLS, up=True, digits=3)
    gaps = {pair.gap for pair in pairs if pair.gap}
    if any(pair.gap is None for pair in pairs):
        return min(wanted, step_of(Counter(pairs)))
    if not gaps:
        return wanted
    common = Fraction(math.gcd(*(gap.numerator for gap in gaps)), math.lcm(*(gap.denominator for gap in gaps)))
    if common * (1 << 14) < sum((pair.gap for pair in pairs if pair.gap), Fraction(0)):
        return wanted  # no divisor worth the name: each is rounded up
    return common / math.ceil(common / wanted)


def pair_law(square: Fraction, step: Fraction) -> LossLaw:
    """The loss N(mu^2/2, mu^2) of two unit normal laws, each loss rounded up to a multiple of the step.

    Guarantee: every delta that it gives is at least that of the pair; the tails that are cut off count as infinite losses.
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


# --- how much noise ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def least_variance(epsilon: Fraction, delta: Fraction, sensitivity: Sensitivity) -> Fraction:
    """An s2, next to the smallest, whose noise is (epsilon, delta)-close where one person moves the numbers so.

    Guarantee: its delta was computed by :func:`delta_of` and is at most `delta`. Since delta is not monotone in s2,
    that is checked for the number itself, after rounding.
    """
    if not 0 < delta < 1 or epsilon < 0:
        raise Refused("Gaussian noise needs a delta above 0 and below 1 beside epsilon; add one, like 1e-9")

    def suffices(thousandths: int) -> bool:
        s2 = near * (1 + Fraction(thousandths, 10**4))
        return delta_of(sensitivity.gaussian(rounded(s2, up=True, digits=6)), epsilon) <= delta

    near = least_normal_variance(epsilon, delta) * sensitivity.l2_squared
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
