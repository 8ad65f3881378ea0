"""The arithmetic of closeness at known points and at its edges."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub.guarantees.indistinguishability import (
    cap_probability,
    chain_losses,
    chance_sample_includes,
    exp_times,
    odds_below,
    subsampled_loss,
    times,
    total,
    total_delta,
    total_variation,
)
from hubbub.numeric.exact import INFINITY, Loss, to_float

MILLIONTH = Fraction(1, 10**6)


def near(value: Loss, expected: float) -> bool:
    return math.isclose(to_float(value, round_up=True), expected, rel_tol=1e-12)


def test_a_chain_of_c_links() -> None:
    epsilon, delta = chain_losses(Fraction(1, 2), MILLIONTH, 3)
    assert epsilon == Fraction(3, 2)
    assert near(delta, 1e-6 * (1 + math.exp(0.5) + math.e))
    assert chain_losses(Fraction(1, 2), MILLIONTH, 1) == (Fraction(1, 2), MILLIONTH)
    assert chain_losses(Fraction(0), MILLIONTH, 5) == (Fraction(0), 5 * MILLIONTH)
    assert chain_losses(Fraction(9), Fraction(0), 5) == (Fraction(45), Fraction(0))


def test_the_outlier_group_of_100_costs_171_delta() -> None:
    _, delta = chain_losses(Fraction(1, 100), MILLIONTH, 100)
    assert round(delta / MILLIONTH) == 171


@pytest.mark.parametrize("epsilon", [INFINITY, Fraction(10**6), Fraction(10) ** 999])
def test_hopeless_deltas_are_one(epsilon: Loss) -> None:
    assert chain_losses(epsilon, MILLIONTH, 2)[1] == 1
    assert exp_times(epsilon, MILLIONTH) == 1
    assert total_variation(epsilon, Fraction(1)) == 1


def test_mixtures() -> None:
    assert near(subsampled_loss(Fraction(1), Fraction(1, 10)), math.log(1 + 0.1 * (math.e - 1)))
    assert subsampled_loss(Fraction(1), Fraction(0)) == 0
    assert subsampled_loss(Fraction(0), Fraction(1, 2)) == 0
    assert subsampled_loss(Fraction(1, 3), Fraction(1)) == Fraction(1, 3)
    assert subsampled_loss(INFINITY, Fraction(1, 2)) is INFINITY
    assert subsampled_loss(INFINITY, Fraction(0)) == 0
    assert subsampled_loss(Fraction(10) ** 999, Fraction(1, 2)) == Fraction(10) ** 999
    tiny = Fraction(1, 10**300)
    assert tiny / 2 <= subsampled_loss(tiny, Fraction(1, 2)) <= tiny / 2 * (1 + Fraction(1, 10**18))


def test_total_variation() -> None:
    assert near(total_variation(Fraction(1), Fraction(0)), math.tanh(0.5))
    assert near(total_variation(Fraction(1), MILLIONTH), (math.e - 1 + 2e-6) / (math.e + 1))
    assert total_variation(Fraction(0), MILLIONTH) == MILLIONTH


@pytest.mark.parametrize(
    ("rows", "k", "n"), [(1, 1, 1), (2, 3, 10), (3, 2, 10), (5, 5, 10), (1, 999, 1000), (7, 100, 500)]
)
def test_the_chance_of_meeting_a_group(rows: int, k: int, n: int) -> None:
    exact = 1 - Fraction(math.comb(n - rows, k), math.comb(n, k))
    assert exact <= chance_sample_includes(rows, k, n) <= exact * (1 + Fraction(1, 10**17))
    assert chance_sample_includes(rows, k, n) <= Fraction(rows * k, n) * (1 + Fraction(1, 10**17))


def test_nobody_is_met_where_there_is_nobody() -> None:
    assert chance_sample_includes(0, 10, 10) == 0
    assert chance_sample_includes(3, 0, 10) == 0
    assert chance_sample_includes(6, 5, 10) == 1
    assert Fraction(1, 10**30) <= chance_sample_includes(1, 1, 10**30) <= Fraction(2, 10**30)


def test_sums_know_infinity_and_one() -> None:
    assert total([Fraction(1), Fraction(1, 2)]) == Fraction(3, 2)
    assert total([Fraction(1), INFINITY]) is INFINITY
    assert total_delta([Fraction(2, 3)] * 2) == 1
    assert times(INFINITY, 3) is INFINITY
    assert cap_probability(Fraction(5)) == 1


@pytest.mark.parametrize(("epsilon", "text"), [("0", "1"), ("1/10", "1.106"), ("1", "2.72"), ("1/1000", "1.00101")])
def test_odds_are_short_and_never_below(epsilon: str, text: str) -> None:
    odds = odds_below(Fraction(epsilon), 3)
    assert odds == Fraction(text)
    assert float(odds) >= math.exp(float(Fraction(epsilon)))
