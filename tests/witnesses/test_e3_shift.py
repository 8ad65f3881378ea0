"""E3: with the right smooth sensitivity, the printed beta still covers no shift, and the shift depends on the data.

A = epsilon(k) + (2 S*(k)/epsilon_A)(Z - alpha). A change of scale by e^beta moves the point Z = 0 by about beta alpha,
so beta must shrink with alpha. On epsilon(k) = 1 - c e^(-beta k) the slide of the centre and the move of the shift add
up. S* is the local sensitivity there, and falls by exactly e^-beta from one count to the next.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest

from hubbub.channels.law import Law, two_sided
from hubbub.channels.papers.lower_bound import Cell, Estimator, estimator_law, smoothness
from hubbub.channels.profile import judge, profile
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierPrivacy
from hubbub.guarantees.verdict import Refuted
from hubbub.numeric.exact import ball, exp, rounded, upper
from tests.witnesses.family import Family, rounds_to

EPSILON_A = Fraction(1, 2)
DELTA_A = Fraction(1, 10**6)
C = 1e-4
GRID = 2000  # grid points per unit of scale, so that rounding a centre moves the loss by 1/4000
COUNT = 3
PRINTED = 0.5 / (2 * math.log(2e6))
ALPHAS = [Fraction(10), Fraction("14.5"), Fraction(30)]


def corrected(alpha: Fraction) -> float:
    """epsilon_A / (2 (alpha + ln(1/delta_A) + 1)), the proved one for real noise."""
    return 0.5 / (2 * (float(alpha) + math.log(1e6) + 1))


def value(beta: float, k: int) -> float:
    return 1 - C * math.exp(-beta * k)


def scale(beta: float, k: int) -> float:
    """2 S*(k)/epsilon_A with S*(k) = epsilon(k) - epsilon(k - 1), the larger of the two steps beside k >= 1."""
    return 2 * (value(beta, k) - value(beta, k - 1)) / 0.5


def estimator(beta: float, alpha: Fraction, width: int = 1) -> Estimator:
    """A at COUNT and at COUNT - 1 on a grid of scale(COUNT)/GRID."""
    unit = Fraction(scale(beta, COUNT) / GRID)

    def centre(k: int) -> int:
        return round((Fraction(value(beta, k)) - alpha * Fraction(scale(beta, k))) / unit)

    def rate(k: int) -> Fraction:
        return (unit / Fraction(scale(beta, k))).limit_denominator(10**9)

    first, last = centre(COUNT - 1) - 18 * GRID, centre(COUNT) + 18 * GRID

    def cells(lo: int, hi: int) -> list[Cell]:
        starts = range(first, last, width)
        beyond = starts[-1] + width
        inside: list[Cell] = [(n, n + width - 1, unit * n) for n in starts]
        return [(None, first - 1, EPSILON_A), *inside, (beyond, None, unit * beyond)]

    return Estimator(centre=centre, rate=rate, cells=cells)


def alone(made: Estimator) -> Family:
    laws = cache(lambda k: Law(two_sided(made.centre(k), made.rate(k))))
    return Family(laws, DifferentialPrivacy(epsilon=EPSILON_A, delta=DELTA_A))


def agrees(found: object, printed: str) -> bool:
    """To two digits, give or take one in the second: the noise is on a grid."""
    target = Fraction(printed)
    return bool(abs(found - ball(target)) < ball(target / 20))  # type: ignore[operator]


@pytest.mark.parametrize(("alpha", "printed"), list(zip(ALPHAS, ("4.0e-5", "3.6e-3", "0.126"), strict=True)))
def test_e3_a_alone_is_refuted_with_the_printed_beta(alpha: Fraction, printed: str) -> None:
    wrong = alone(estimator(PRINTED, alpha))
    rows = profile(wrong, [COUNT])
    assert agrees(rows[0].exact_delta, printed), rows[0].exact_delta
    found = judge(wrong, rows)
    assert isinstance(found, Refuted)
    assert dict(found.witness)["neighbour"] == str(COUNT - 1)


@pytest.mark.parametrize("alpha", [Fraction(5), *ALPHAS], ids=str)
def test_e3_with_the_corrected_beta_a_is_what_it_is_said_to_be(alpha: Fraction) -> None:
    rows = profile(alone(estimator(corrected(alpha), alpha)), [COUNT])
    assert upper(rows[0].exact_delta) <= DELTA_A
    assert upper(rows[0].exact_delta) <= Fraction("5.6e-9"), "what the theory found over all slides and dilations"
    ours = float(smoothness(EPSILON_A, alpha, DELTA_A))
    assert ours < corrected(alpha), "on integers a little more is paid"
    assert upper(profile(alone(estimator(ours, alpha)), [COUNT])[0].exact_delta) <= DELTA_A


@pytest.mark.parametrize(
    ("alpha", "real", "largest_remainders"),
    list(zip(ALPHAS, ("2.0e-5", "1.8e-3", "6.7e-2"), ("2.47e-5", "2.20e-3", "7.83e-2"), strict=True)),
)
def test_e3_the_whole_mechanism_is_refuted(alpha: Fraction, real: str, largest_remainders: str) -> None:
    """The theory's figures are for real noise on the count, which shows its full loss with probability 1/2.

    On integers that is 1/(1 + q) = 0.62, and then the claim e^-alpha/2 + delta_A = 2.37e-5 falls at alpha = 10 already.
    """
    made = estimator(PRINTED, alpha, width=50)
    told = steps(*((k, Fraction(value(PRINTED, k))) for k in range(1, 6)))
    claim = OutlierPrivacy(curve=told, delta=DELTA_A + rounded(exp(-alpha) / 2, up=True))
    whole = Family(cache(lambda count: estimator_law(made, EPSILON_A, count)), claim)
    rows = profile(whole, [COUNT])
    assert rounds_to(rows[0].exact_delta, largest_remainders), rows[0].exact_delta
    assert isinstance(judge(whole, rows), Refuted)
    half = profile(alone(made), [COUNT])[0].exact_delta / 2
    if alpha < 30:  # there the stretch between the two counts, where the loss of real noise is partial, adds nothing
        assert agrees(half, real), half
    else:
        assert half < ball(real) < rows[0].exact_delta
