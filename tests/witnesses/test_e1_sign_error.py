"""E1: both choices of A that work on 1/epsilon subtract the safety margin that they must add.

With n = t(k) + X - s in place of n = t(k) + X + s, epsilon_tot is too large with probability 1 - e^-alpha/2 and not
e^-alpha/2. On the first curve the exact count comes out, without any noise, but for four times in a hundred thousand.
The corrected column of the theory's table is for n <= 0 still meaning "no noise"; the channel keeps n at min t or above
as well, which only helps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from flint import arb

from hubbub.channels.law import Law
from hubbub.channels.papers.lower_bound import Cell, Estimator, LowerBound, estimator_law, lower_bound
from hubbub.channels.profile import exact_delta, judge, profile
from hubbub.guarantees.curve import Curve, steps
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.numeric.exact import INFINITY, exp, rounded, upper
from tests.witnesses.family import Family, rounds_to, untagged

ALPHA = 10


class Setting:
    """A curve given by t(k) = 1/(u epsilon(k)) on a grid u, with steps of one: 1/epsilon(k) is u t(k)."""

    def __init__(self, t: list[int], unit: Fraction, epsilon_a: Fraction) -> None:
        self.t, self.unit, self.epsilon_a = t, unit, epsilon_a
        self.shift = math.ceil(ALPHA / epsilon_a)

    @property
    def curve(self) -> Curve:
        return steps(*((k, 1 / (self.unit * self.t[k])) for k in range(1, len(self.t))))

    @property
    def claim(self) -> OutlierPrivacy:
        return OutlierPrivacy(curve=self.curve, delta=rounded(exp(-ALPHA) / 2, up=True))

    def shifted_by(self, shift: int) -> Estimator:
        """n = t(k) + X + shift means 1/(u n), at least epsilon_A, and no noise at all from 0 down."""
        bottom = math.ceil(1 / (self.unit * self.epsilon_a))

        def cells(lo: int, hi: int) -> list[Cell]:
            inner: list[Cell] = [(n, n, 1 / (self.unit * n)) for n in range(1, bottom)]
            return [(None, 0, INFINITY), *inner, (bottom, None, self.epsilon_a)]

        return Estimator(
            centre=lambda k: self.t[min(k, len(self.t) - 1)] + shift, rate=lambda k: self.epsilon_a, cells=cells
        )

    def family(self, shift: int) -> Family:
        estimator = self.shifted_by(shift)
        return Family(cache(lambda count: estimator_law(estimator, self.epsilon_a, count)), self.claim)

    @property
    def printed(self) -> Family:
        return self.family(-self.shift)

    @property
    def corrected(self) -> Family:
        """With plus s, before n is kept at min t or above."""
        return self.family(self.shift)

    @property
    def channel(self) -> LowerBound:
        return lower_bound(self.curve, "scale-global", self.epsilon_a, ALPHA, grid=self.unit)


WALL = Setting([max(100 - k, 1) for k in range(101)], Fraction(1), Fraction(1, 200))
LINEAR = Setting([1111 - k for k in range(1001)], Fraction(9, 1000), Fraction(1, 20))


@pytest.mark.parametrize(
    ("setting", "count", "no_noise", "printed", "corrected"),
    [
        (WALL, 1, "0.99996", "0.99996", "1.40e-5"),
        (WALL, 99, "0.99998", "0.99998", "2.26e-5"),
        (LINEAR, 1, None, "6.5e-3", "2.2e-8"),
        (LINEAR, 500, "6e-10", "2.8e-2", "7.7e-8"),
        (LINEAR, 1000, "0.994", "0.9995", "3.9e-6"),
    ],
)
def test_e1_the_table(setting: Setting, count: int, no_noise: str | None, printed: str, corrected: str) -> None:
    if no_noise is not None:
        told = dict(setting.shifted_by(-setting.shift).law(count))
        assert rounds_to(told[INFINITY], no_noise)
    wrong, right = profile(setting.printed, [count]), profile(setting.corrected, [count])
    assert rounds_to(wrong[0].exact_delta, printed)
    assert rounds_to(right[0].exact_delta, corrected)
    found = judge(setting.printed, wrong)
    assert isinstance(found, Refuted)
    assert dict(found.witness)["count"] == str(count)
    assert not isinstance(judge(setting.corrected, right), Refuted)
    assert upper(right[0].exact_delta) <= right[0].claimed_delta


def test_e1_the_channel_is_proved_and_keeping_n_above_the_least_t_only_helps() -> None:
    for count, at_most in ((1, "6.48e-6"), (99, "1e-70")):
        ours = profile(WALL.channel, [count])
        assert isinstance(judge(WALL.channel, ours), Proved)
        assert upper(ours[0].exact_delta) <= Fraction(at_most)


@pytest.mark.parametrize(("count", "printed"), [(1, "0.99996"), (99, "0.99998")])
def test_e1_hiding_what_a_said_does_not_help(count: int, printed: str) -> None:
    """The published count alone, as if epsilon_tot were kept secret: one event is enough, that the count comes out."""
    one, other = WALL.printed.law(count), WALL.printed.law(count - 1)
    here, there = (sum((law.mass(count, tag) for tag in law.tags), start=arb(0)) for law in (one, other))
    assert rounds_to(here - exp(WALL.curve.at(count)) * there, printed)


@pytest.mark.parametrize(("count", "printed"), [(500, "2.1e-2"), (1000, "0.9995")])
def test_e1_hiding_what_a_said_does_not_help_on_the_linear_curve_either(count: int, printed: str) -> None:
    def alone(c: int) -> Law:
        return untagged(LINEAR.printed.law(c), count - 250, count + 250, Fraction(1, 10**7))

    assert rounds_to(exact_delta(Family(alone, LINEAR.claim), count, LINEAR.curve.at(count)), printed)


def test_e1_the_margin_fails_nearly_always_instead_of_nearly_never() -> None:
    """As printed, P(epsilon_tot >= epsilon(k)) is at least 1 - e^-alpha/2; corrected, P(>) is at most e^-alpha/2."""
    for setting, count in ((WALL, 50), (LINEAR, 500)):
        epsilon = setting.curve.at(count)
        printed, corrected = (setting.shifted_by(s).law(count) for s in (-setting.shift, setting.shift))
        assert sum((p for total, p in printed if total >= epsilon), start=arb(0)) >= 1 - exp(-ALPHA) / 2
        assert sum((p for total, p in corrected if total > epsilon), start=arb(0)) <= exp(-ALPHA) / 2
