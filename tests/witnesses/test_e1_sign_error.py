"""E1: both choices of A that work on 1/epsilon subtract the safety margin that they must add.

With n = t(k) + X - s in place of n = t(k) + X + s, epsilon_tot is too large with probability 1 - e^-alpha/2, and not e^-alpha/2. On
the first curve the exact count comes out, without any noise, in all but four cases of a hundred thousand.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from hubbub.channels.estimators import lower_bound
from hubbub.channels.law import Law
from hubbub.channels.lower_bound import Cell, Estimator, LowerBound, estimator_law
from hubbub.channels.profile import exact_delta, judge, profile
from hubbub.exact import INFINITY, exp, rounded, upper
from hubbub.guarantees.curve import Curve, steps
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.verdict import Proved, Refuted
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
    epsilon = setting.curve.at(count)
    assert rounds_to(exact_delta(setting.printed, count, epsilon), printed)
    assert rounds_to(exact_delta(setting.corrected, count, epsilon), corrected)


@pytest.mark.parametrize(("setting", "count"), [(WALL, 1), (WALL, 99), (LINEAR, 500)])
def test_e1_as_printed_is_refuted_and_with_plus_it_is_proved(setting: Setting, count: int) -> None:
    found = judge(setting.printed, profile(setting.printed, [count]))
    assert isinstance(found, Refuted)
    assert dict(found.witness)["count"] == str(count)
    right = setting.corrected
    rows = profile(right, [count])
    assert not isinstance(judge(right, rows), Refuted)
    assert upper(rows[0].exact_delta) <= rows[0].claimed_delta
    ours = setting.channel
    assert isinstance(judge(ours, profile(ours, [count])), Proved)


def test_e1_keeping_n_above_the_least_t_only_helps() -> None:
    """The channel clamps n at min t, so epsilon_tot never exceeds the top of the curve: where the curve ends nothing is lost."""
    for count, at_most in ((1, "6.48e-6"), (99, "1e-70")):
        clamped = exact_delta(WALL.channel, count, WALL.curve.at(count))
        assert upper(clamped) <= upper(exact_delta(WALL.corrected, count, WALL.curve.at(count)))
        assert upper(clamped) <= Fraction(at_most)


@pytest.mark.parametrize(
    ("setting", "count", "printed"),
    [
        (WALL, 1, "0.99996"),
        (WALL, 99, "0.99998"),
        (LINEAR, 1, "2e-12"),
        (LINEAR, 500, "2.1e-2"),
        (LINEAR, 1000, "0.9995"),
    ],
)
def test_e1_hiding_what_a_said_does_not_help(setting: Setting, count: int, printed: str) -> None:
    """The published count alone, as if epsilon_tot were kept secret. (It helps at count 1 of the second curve, as luck has it.)"""

    def alone(c: int) -> Law:
        reach = 4000 if setting is WALL else 700
        return untagged(setting.printed.law(c), count - reach, count + reach, Fraction(1, 10**13))

    hidden = Family(alone, setting.claim)
    assert rounds_to(exact_delta(hidden, count, setting.curve.at(count)), printed)


def test_e1_the_margin_fails_nearly_always_instead_of_nearly_never() -> None:
    """P(epsilon_tot > epsilon(k)): 1 - e^-alpha/2 at least as printed, e^-alpha/2 at most with the sign corrected."""
    for setting, count in ((WALL, 50), (LINEAR, 500)):
        epsilon: Any = setting.curve.at(count)
        for shift, least, most in ((-setting.shift, 1 - exp(-ALPHA) / 2, 1), (setting.shift, 0, exp(-ALPHA) / 2)):
            too_large = sum(
                (p for total, p in setting.shifted_by(shift).law(count) if total > epsilon), start=exp(0) * 0
            )
            assert too_large >= least
            assert too_large <= most
