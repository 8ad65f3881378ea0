"""E2: the printed smooth sensitivity sup |epsilon(k) - epsilon(k')| e^(-beta |k - k'|) is not smooth, and too small.

On the curve 1, 1 + J, 1 + 2J with its steps at 49 and 50, it doubles from 49 to 50: A itself gives away which of the
two it saw. The noise is real in the paper; here it is put on a grid of J/50, which moves no figure by a hundredth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from flint import arb

from hubbub.channels.law import SUPPRESSED, Law, two_sided
from hubbub.channels.papers.lower_bound import Cell, Estimator, estimator_law, lower_bound
from hubbub.channels.profile import exact_delta, judge, profile
from hubbub.channels.protocol import Channel
from hubbub.guarantees.curve import Curve, steps
from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierPrivacy
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.numeric.exact import ball, exp, rounded, upper
from tests.witnesses.family import Family, rounds_to

EPSILON_A = Fraction(1, 2)
DELTA_A = Fraction(1, 10**6)
BETA = Fraction("0.01723")  # the printed limit epsilon_A / (2 ln(2/delta_A))
ALPHAS = [Fraction(5), Fraction(10), Fraction("14.5")]
CLOSE = Fraction(1, 100)


def curve(base: int, jump: Fraction) -> Curve:
    return steps((1, base), (49, base + jump), (50, base + 2 * jump))


def printed_sensitivity(told: Curve, k: int) -> Fraction:
    """sup over k' >= 1 of |epsilon(k) - epsilon(k')| e^(-beta |k - k'|), to twelve digits; beyond 50 nothing is new."""
    values = [abs(told.at(k) - told.at(j)) * math.exp(-BETA * abs(k - j)) for j in range(1, 200)]
    return Fraction(max(values)).limit_denominator(10**12)


def printed_estimator(told: Curve, jump: Fraction, alpha: Fraction, width: int) -> Estimator:
    """epsilon(k) + (2 S(k)/epsilon_A)(Z - alpha) on a grid of jump/50; `width` grid points are told as one."""
    unit = jump / 50
    bottom = math.floor(EPSILON_A / unit)

    @cache
    def place(k: int) -> tuple[int, Fraction]:
        scale = 2 * printed_sensitivity(told, k) / EPSILON_A
        return round((told.at(k) - alpha * scale) / unit), (unit / scale).limit_denominator(10**7)

    centres = [place(k)[0] for k in (49, 50)]
    reach = math.ceil(10 / min(place(k)[1] for k in (49, 50)))
    first, last = max(min(centres) - reach, bottom + 1), max(centres) + reach

    def cells(lo: int, hi: int) -> list[Cell]:
        starts = range(first, last, width)
        below: list[Cell] = [(None, bottom, EPSILON_A)]
        below += [(bottom + 1, first - 1, unit * (bottom + 1))] if first > bottom + 1 else []
        inside: list[Cell] = [(n, n + width - 1, unit * n) for n in starts]
        beyond = starts[-1] + width
        return [*below, *inside, (beyond, None, unit * beyond)]

    return Estimator(centre=lambda k: place(k)[0], rate=lambda k: place(k)[1], cells=cells)


def alone(estimator: Estimator) -> Family:
    """A by itself, with what it is said to be: (epsilon_A, delta_A)-differentially private."""
    laws = cache(lambda k: Law(two_sided(estimator.centre(k), estimator.rate(k))))
    return Family(laws, DifferentialPrivacy(epsilon=EPSILON_A, delta=DELTA_A))


def near(channel: Channel, count: int, epsilon: Fraction, printed: str) -> bool:
    found = exact_delta(channel, count, epsilon)
    return bool(abs(found - ball(printed)) < ball(CLOSE))


def test_e2_the_printed_sensitivity_is_neither_an_upper_bound_nor_smooth() -> None:
    jump = Fraction(1, 1000)
    told = curve(1, jump)
    at_49, at_50 = printed_sensitivity(told, 49), printed_sensitivity(told, 50)
    assert at_49 < jump, "the local sensitivity at 49 is a whole jump"
    assert at_50 / at_49 > Fraction(math.exp(BETA)), "one person changes it by more than e^beta"
    assert abs(at_50 / at_49 - 2 * Fraction(math.exp(-BETA))) < Fraction(1, 10**6)


@pytest.mark.parametrize(("alpha", "printed"), list(zip(ALPHAS, ("0.761", "0.953", "0.989"), strict=True)))
def test_e2_a_alone_is_refuted(alpha: Fraction, printed: str) -> None:
    jump = Fraction(1, 1000)
    wrong = alone(printed_estimator(curve(1, jump), jump, alpha, 1))
    assert near(wrong, 50, EPSILON_A, printed)
    found = judge(wrong, profile(wrong, [50]))
    assert isinstance(found, Refuted)
    assert dict(found.witness)["count"] == "50"


@pytest.mark.parametrize(("alpha", "printed"), list(zip(ALPHAS, ("0.722", "0.945", "0.987"), strict=True)))
def test_e2_the_whole_mechanism_is_refuted(alpha: Fraction, printed: str) -> None:
    jump = Fraction(1, 1000)
    told = curve(1, jump)
    estimator = printed_estimator(told, jump, alpha, 10)
    claim = OutlierPrivacy(curve=told, delta=DELTA_A + rounded(exp(-alpha) / 2, up=True))
    wrong = Family(cache(lambda count: estimator_law(estimator, EPSILON_A, count)), claim)
    rows = profile(wrong, [50])
    assert abs(rows[0].exact_delta - ball(printed)) < ball(CLOSE)
    found = judge(wrong, rows)
    assert isinstance(found, Refuted)
    assert dict(found.witness)["count"] == "50"


@pytest.mark.parametrize(("alpha", "claimed"), list(zip(ALPHAS, ("3.4e-3", "2.4e-5", "1.3e-6"), strict=True)))
def test_e2_what_was_claimed(alpha: Fraction, claimed: str) -> None:
    assert rounds_to(ball(DELTA_A) + exp(-alpha) / 2, claimed)


def test_e2_hiding_what_a_said_does_not_help() -> None:
    """One event: nothing is shown, or a value at least 5 away. (The theory's 0.075 is "nothing is shown" alone.)"""
    jump, alpha = Fraction(1, 20), Fraction(10)
    told = curve(5, jump)
    estimator = printed_estimator(told, jump, alpha, 10)

    def far(count: int) -> arb:
        chance = arb(0)
        for block in estimator_law(estimator, EPSILON_A, count).blocks:
            hidden = block.tag.startswith(SUPPRESSED)
            parts = (block,) if hidden else (block.restrict(None, 45), block.restrict(55, None))
            chance += sum((part.total() for part in parts if part is not None), arb(0))
        return chance

    assert far(50) - exp(told.at(50)) * far(49) > ball("0.14")
    assert rounds_to(ball(DELTA_A) + exp(-alpha) / 2, "2.4e-5"), "and this was claimed"


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_e2_with_the_right_sensitivity_and_beta_it_is_proved(alpha: Fraction) -> None:
    jump = Fraction(1, 1000)
    right = lower_bound(curve(1, jump), "epsilon-smooth", EPSILON_A, alpha, delta_a=DELTA_A, grid=jump)
    counts = (49, 50)
    assert isinstance(judge(right, profile(right, counts)), Proved)
    noise = alone(right.made)
    for row in profile(noise, counts):
        assert upper(row.exact_delta) <= DELTA_A
