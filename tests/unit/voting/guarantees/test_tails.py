"""Tails of the difference of two counts: above the truth, close to it, and sayable far below what a float can say."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from flint import arb

from hubbub.numeric.exact import ball, lower, upper
from hubbub.voting.guarantees.tails import MOST_SUMMED, _sum_tail, lead_at_least, moment, parts, relative_entropy, stays

HALF, QUARTER, THIRD = Fraction(1, 2), Fraction(1, 4), Fraction(1, 3)


def exactly(n: int, p: Fraction, q: Fraction, z: int) -> Fraction:
    """Pr[#x - #y >= z], term by term."""
    return sum(
        (
            comb(n, x) * comb(n - x, y) * p**x * q**y * (1 - p - q) ** (n - x - y)
            for x in range(n + 1)
            for y in range(n + 1 - x)
            if x - y >= z
        ),
        Fraction(0),
    )


CASES = [
    (p, q, z)
    for p, q in ((QUARTER, QUARTER), (QUARTER, HALF), (THIRD, THIRD), (Fraction(1, 50), HALF))
    for z in range(-24, 25, 3)
]


@pytest.mark.parametrize(("p", "q", "z"), CASES)
def test_the_bound_holds_and_is_close(p: Fraction, q: Fraction, z: int) -> None:
    n = 24
    truth = exactly(n, p, q, z)
    bound = upper(lead_at_least(n, p, q, z))
    assert truth <= bound <= 1
    assert truth <= upper(moment(n, p, q, z))
    deviation = float(n * (p + q - (p - q) ** 2)) ** 0.5
    if z - n * (p - q) > 3 * deviation:
        assert bound <= truth * Fraction(12, 10)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (HALF, HALF),
        (QUARTER, 1 - QUARTER),
        (HALF, Fraction(0)),
        (Fraction(0), THIRD),
        (Fraction(1), Fraction(0)),
        (Fraction(0), Fraction(0)),
        (Fraction(0), Fraction(1)),
    ],
)
def test_two_outcomes_are_exact(p: Fraction, q: Fraction) -> None:
    for z in range(-13, 14):
        found = lead_at_least(12, p, q, z)
        truth = exactly(12, p, q, z)
        assert lower(found) <= truth <= upper(found)
        assert upper(found) - lower(found) < Fraction(1, 10**40)


def test_small_probabilities_are_said_and_not_rounded_to_zero() -> None:
    """Alpha = 1/4, margin N alpha/2: some 1e-49 at n = 10,001 and below 1e-482 at n = 100,001 (theory B3)."""
    for n, margin, text in ((10_001, 1249, "1e-49"), (100_001, 12_499, "1e-482")):
        bound = upper(4 * lead_at_least(n - 1, QUARTER, HALF, -(margin + 1)))
        assert 0 < bound < Fraction(text)
        assert upper(4 * moment(n - 1, QUARTER, HALF, -(margin + 1))) > bound


def test_the_sum_in_doubles_is_above_the_sum_in_balls() -> None:
    """What rounding could take away is less than what the slack adds."""
    n, p, q, z = 400, QUARTER, Fraction(1, 3), 25
    share, s = p / (p + q), p + q
    total = arb(0)
    for t in range(n + 1):
        least = -((-t - z) // 2)
        if 0 <= least <= t:
            ratio = (t - least) * share / ((least + 1) * (1 - share))
            tail = ball(comb(t, least)) * ball(share) ** least * ball(1 - share) ** (t - least)
            tail = (tail / ball(1 - ratio)).min(arb(1)) if ratio < 1 else arb(1)
            total += ball(comb(n, t)) * ball(s) ** t * ball(1 - s) ** (n - t) * tail
    found = _sum_tail(n, p, q, z)
    assert total < found < total * ball("1.00001")


def test_beyond_the_sum_the_moment_takes_over() -> None:
    n = MOST_SUMMED + 1
    assert upper(lead_at_least(n, QUARTER, QUARTER, n // 100)) == upper(moment(n, QUARTER, QUARTER, n // 100))
    assert upper(lead_at_least(n, QUARTER, QUARTER, n // 100)) < Fraction(1, 10**100)


@pytest.mark.parametrize("n", [7, 12])
def test_keep_and_drop_parts_of_theorem_b1_hold_for_every_step_law(n: int) -> None:
    """Steps +1, 0, -1 with any chances: Z >= edge with equal chances, Z <= reach with chances alpha apart."""
    for twelfths in range(7):
        share = Fraction(twelfths, 12)
        for edge in range(n + 2):
            assert exactly(n, share, share, edge) <= upper(stays(n, edge))
        for alpha in (Fraction(1, 4), Fraction(1, 2), Fraction(1)):
            if 2 * share + alpha <= 1:
                for reach in range(-n - 1, n):
                    close = 1 - exactly(n, share + alpha, share, reach + 1)
                    assert close <= upper(parts(n, reach, alpha))


def test_relative_entropy() -> None:
    assert relative_entropy(HALF, HALF).contains(0)
    assert relative_entropy(Fraction(1), QUARTER).overlaps(ball(4).log())
    assert upper(stays(10, 11)) == 0  # further than ten steps reach
    assert upper(parts(10, 2, Fraction(1))) == 0  # all steps are +1
    assert upper(parts(10, 5, HALF)) == 1
