"""Certified privacy loss distributions: many releases together lose, for a delta, far less than the sum.

For two laws P and Q the loss is ln P(o)/Q(o) for an outcome o drawn from P. The delta at an epsilon is
E (1 - e^(epsilon - loss))_+, independent losses add, and whoever has upper bounds for the laws of losses convolves
them. Here a law is a row of integers, one for each step upwards from the least loss. The two losses of a coin lie some
steps apart; where they do not, the larger one is spread over the two steps beside it; masses are rounded up to a multiple
of 2^-256. Both only raise every delta.

**Between two steps.** A mass at a loss x between two steps l < x < u is spread over l and u so that the mean of e^-loss
stays. Whatever the other losses add up to, (1 - e^(epsilon - loss))_+ is a convex function of e^-loss, so every delta can
only grow (Jensen), by a quantity of second order in the step; moving all of it to u, which the same argument allows,
costs one of first order at every release (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the dots, PETS 2022).

**Randomized response dominates every (epsilon, delta)-close pair.** If P and Q are (epsilon, delta)-close both ways, then one
random map makes P of A and Q of B, where A and B show who is there with probability delta, and otherwise toss a coin
that is right with probability e^epsilon/(1 + e^epsilon) (Kairouz, Oh, Viswanath, The composition theorem for
differential privacy, ICML 2015; Murtagh, Vadhan 2016). Two-sided geometric noise and the warped channel are such coins
themselves, so for them the bound is exact.

**On a secret sample** of rate p the pair is A' = p A + (1 - p) B against B (Zhu, Dong, Wang, Optimal accounting of
differential privacy via characteristic function, AISTATS 2022). It is no worse than what shows everything with
probability p delta and otherwise tosses the mixed coin: for every e^E >= 1, H(A'||B) = p H_g(A||B) and H(B||A') =
w H_g'(B||A) with w <= p, as in :mod:`hubbub.sampling.sampled_crowd`, and below 1 each follows from the other.

**One after the other.** Given what came before, each release is made from its coin by some map; so all of them together
are made from all the coins, whatever was asked, and why. That needs each coin to be known beforehand: where an epsilon
is itself chosen after seeing earlier results, :mod:`hubbub.guarantees.accountant.odometer` says what holds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Final, Protocol

from flint import arb, fmpz, fmpz_poly

from hubbub.errors import WrongUse
from hubbub.guarantees.parameters import chance
from hubbub.numeric.exact import INFINITY, Loss, ball, exp, precision, rounded, upper
from hubbub.runtime.frozen import dataclass

_BITS: Final = 256  # of a mass
_CELLS: Final = 1 << 14  # of a law, unless its losses fit a step exactly: more for many releases, each rounded up
_MOST_CELLS: Final = 1 << 17
_ONE: Final = 1 << _BITS
_FINE: Final = 200  # steps in the spread of a loss of more than two values
_DIGITS: Final = 12


class DominatingPair(Protocol):
    """A dominating pair: two laws at least as easy to distinguish as a release with and without a person. `gap` is how far
    apart its two losses are, None if there are more, `spread` about how far its losses spread, and `symmetric` whether both directions
    have one law."""

    def __hash__(self) -> int: ...

    @property
    def gap(self) -> Fraction | None: ...

    @property
    def spread(self) -> Fraction: ...

    @property
    def symmetric(self) -> bool: ...

    @property
    def infinite_mass(self) -> Fraction:
        """The probability of an infinite loss."""
        ...

    @property
    def most(self) -> Loss:
        """The largest other loss, rounded up."""
        ...

    def law(self, way: int, step: Fraction) -> LossLaw:
        """Of the loss with the person against without (0), or the other way round (1), in multiples of a step from the
        least one; each rounded up."""
        ...

    def log_moment(self, a: Fraction) -> arb | Fraction:
        """A ball around ln E e^(a loss) in the worse direction, without the infinite loss; its upper end is the bound."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponsePair:
    """A release that is (epsilon, delta)-close with and without a person; with `rate`, on a fresh secret sample.

    `epsilon` and `delta` are those of what runs on the sample.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rate: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if self.epsilon < 0:
            raise WrongUse("a loss below 0 does not exist; give an epsilon of at least 0")
        chance(self.delta, "delta")
        chance(self.rate, "the sampling rate")

    def ways(self) -> tuple[list[tuple[arb, arb]], list[tuple[arb, arb]]]:
        """(loss, mass) of the two sides of the coin, with the person against without, and the other way round.

        The share `delta` that shows everything is left out; it is rate * delta both ways.
        """
        right = 1 / (1 + exp(-self.epsilon))
        up = [right, 1 - right]  # of the two sides, with the person sampled
        down = [1 - right, right]
        mixed = [ball(self.rate) * a + ball(1 - self.rate) * b for a, b in zip(up, down, strict=True)]
        with_, without = [], []
        for side, (m, d) in enumerate(zip(mixed, down, strict=True)):
            sign = Fraction(1 if side == 0 else -1)
            loss = (ball(self.rate) * ball(sign * self.epsilon).expm1()).log1p()
            with_.append((loss, m))
            without.append((-loss, d))
        return with_, without

    @property
    def most(self) -> Fraction:
        """The largest loss, rounded up."""
        return upper((ball(self.rate) * ball(self.epsilon).expm1()).log1p()) if self.rate < 1 else self.epsilon

    @property
    def gap(self) -> Fraction:
        return _sides(self, 0).gap

    @property
    def spread(self) -> Fraction:
        return self.gap / 2

    @property
    def symmetric(self) -> bool:
        return self.rate == 1

    @property
    def infinite_mass(self) -> Fraction:
        return self.rate * self.delta

    def law(self, way: int, step: Fraction) -> LossLaw:
        return _sides(self, way).law(step)

    def log_moment(self, a: Fraction) -> arb | Fraction:
        x = ball(a)
        sums = [sum((mass * (x * loss).exp() for loss, mass in way), arb(0)) for way in self.ways()]
        found = sums[0].max(sums[1]).log()
        return found if found.is_finite() else a * self.most  # of huge losses: no loss is above the largest


@dataclass(frozen=True, slots=True)
class LossLaw:
    """At most `masses`[i] 2^-256 on a loss of `least` + i `step`, and at most `shown` on an infinite one."""

    step: Fraction
    least: Fraction
    masses: fmpz_poly
    infinite_mass: Fraction

    def __add__(self, other: LossLaw) -> LossLaw:
        """The law of the sum of two independent losses."""
        return LossLaw(
            self.step,
            self.least + other.least,
            _rounded_up(self.masses * other.masses),
            1 - (1 - self.infinite_mass) * (1 - other.infinite_mass),
        )

    def times(self, n: int) -> LossLaw:
        """The law of n such losses."""
        found, square = None, self
        while n:
            if n & 1:
                found = square if found is None else found + square
            n >>= 1
            square = square + square if n else square
        assert found is not None
        return found

    def delta_at(self, epsilon: Fraction) -> arb:
        """A ball whose upper end is at least the delta at this epsilon."""
        start = max(math.floor((epsilon - self.least) / self.step) + 1, 0)
        fall, weighed, total_mass = exp(-self.step), arb(0), arb(0)
        for i in range(self.masses.degree(), start - 1, -1):
            mass = arb(self.masses[i])
            weighed, total_mass = weighed * fall + mass, total_mass + mass
        gap = exp(epsilon - self.least - start * self.step)
        return ball(self.infinite_mass) + (total_mass - gap * weighed).nonnegative_part() / arb(fmpz(_ONE))

    def epsilon_at(self, delta: Fraction) -> Loss:
        """An epsilon, rounded up, at which the delta is at most `delta`; infinite if there is none."""
        if self.infinite_mass > delta:
            return INFINITY
        goal = ball(delta - self.infinite_mass) * arb(fmpz(_ONE))
        fall, weighed, total_mass = exp(-self.step), arb(0), arb(0)
        for i in range(self.masses.degree(), -1, -1):
            mass = arb(self.masses[i])
            weighed, total_mass = weighed * fall + mass, total_mass + mass
            # Between this loss and the one below, delta is whole - e^(epsilon - loss) weighed.
            if not total_mass - fall * weighed <= goal:
                share = (total_mass - goal) / weighed
                at = ball(self.least + i * self.step) + (share.log() if share > 0 else -ball(self.step))
                most = max(self.least + self.masses.degree() * self.step, Fraction(0))
                return min(rounded(max(upper(at), Fraction(0)), up=True, digits=_DIGITS), most)
        return Fraction(0)


def _rounded_up(masses: fmpz_poly) -> fmpz_poly:
    return fmpz_poly([-((-int(mass)) >> _BITS) for mass in masses.coeffs()])


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    """One coin in one direction: the smaller loss, how much larger the other one is, and their masses; rounded up."""

    least: Fraction
    gap: Fraction
    masses: tuple[arb, arb]
    infinite_mass: Fraction

    def law(self, step: Fraction) -> LossLaw:
        steps, (low, high) = math.ceil(self.gap / step), self.masses
        placed = [(0, low), (steps, high)]
        if (over := steps * step - self.gap) > 0:
            down = ball(over).expm1() / ball(step).expm1()  # (e^-x - e^-u)/(e^-l - e^-u)
            placed = [(0, low), (steps - 1, high * down), (steps, high * (1 - down))]
        row = [0] * (steps + 1)
        for at, mass in placed:
            row[at] += math.ceil(upper(mass) * (1 - self.infinite_mass) * _ONE)
        return LossLaw(step, self.least, fmpz_poly(row), self.infinite_mass)


def _sides(pair: RandomizedResponsePair, way: int) -> _Sides:
    (one, p), (two, q) = pair.ways()[way]
    infinite_mass = pair.rate * pair.delta
    if pair.rate == 1:  # the losses are epsilon and -epsilon, exactly
        return _Sides(-pair.epsilon, 2 * pair.epsilon, (q, p) if way == 0 else (p, q), infinite_mass)
    if way == 0:
        return _Sides(upper(two), upper(one - two), (q, p), infinite_mass)
    return _Sides(upper(one), upper(two - one), (p, q), infinite_mass)


def _step(several: Mapping[DominatingPair, int]) -> Fraction:
    """A step that all gaps are multiples of, if there is one that is not too small; else a small one."""
    gaps = {pair.gap for pair in several if pair.gap}
    if any(pair.gap is None for pair in several):
        return step_of(several)
    if not gaps:
        return Fraction(1)
    total = sum((pair.gap * many for pair, many in several.items() if pair.gap), Fraction(0))
    common = reduce(_gcd, gaps)
    if total / common <= 2 * _CELLS or len(gaps) == 1:
        return common
    cells = min(max(_CELLS, 128 * sum(several.values())), _MOST_CELLS)
    return rounded(total / cells, up=True, digits=6)


def step_of(several: Mapping[DominatingPair, int]) -> Fraction:
    """A step that is small beside the spread of each loss: rounding up moves the sum by little beside its own spread."""
    widest = max(float(pair.spread) for pair in several)
    total = math.fsum(many * float(pair.spread) for pair, many in several.items())
    return rounded(Fraction(max(widest / _FINE, 20 * total / _MOST_CELLS, 1e-9)), up=True, digits=3)


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    below = a.denominator * b.denominator // math.gcd(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


def laws(pairs: Sequence[DominatingPair], step: Fraction | None = None) -> Iterator[LossLaw]:
    """The law of all losses together, with a person against without, and where it is another the other way round.

    Losses are rounded up to multiples of `step`, from the least one; without one, of a step that suits them.

    Guarantee: for both, the delta at every epsilon is at least that of publishing all the releases, each made from its
    coin by a map that may depend on what came before; and it is theirs, but for rounding, if the releases are these
    coins.
    """
    if not pairs:
        raise WrongUse("the law of no release at all was asked for; give at least one")
    with precision():
        several = Counter(pairs)
        steps = _step(several) if step is None else step
        for way in range(1 if all(pair.symmetric for pair in several) else 2):
            yield reduce(LossLaw.__add__, [pair.law(way, steps).times(many) for pair, many in several.items()])


def composed_epsilon(pairs: Sequence[DominatingPair], delta: Fraction) -> Loss:
    """An epsilon with which all the releases together are (epsilon, delta)-close, with and without a person.

    Guarantee: never below the smallest one for the coins; never above the sum of their largest losses.
    """
    with precision():
        found = max(law.epsilon_at(delta) for law in laws(pairs))
    basic = sum((pair.most for pair in pairs), Fraction(0))
    return min(found, basic) if sum((pair.infinite_mass for pair in pairs), Fraction(0)) <= delta else found


def composed_delta(pairs: Sequence[DominatingPair], epsilon: Fraction) -> Fraction:
    """A delta with which all the releases together are (epsilon, delta)-close, rounded up."""
    with precision():
        found = max(upper(law.delta_at(epsilon)) for law in laws(pairs))
    return min(rounded(found, up=True), Fraction(1))
