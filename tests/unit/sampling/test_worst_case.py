"""Theorem A1 and its coin, worked out over every database: not a bound that is quoted."""

from __future__ import annotations

from math import exp, expm1, log, log1p

import pytest

from hubbub.sampling.sampled_share import worst_loss

SIZES = [(20, 5, 1.0), (50, 10, 2.0), (200, 20, 0.7), (6, 6, 1.0), (30, 29, 0.3), (12, 1, 3.0)]


@pytest.mark.parametrize(("n", "k", "rate"), SIZES)
def test_the_worst_database_of_a_sampled_count_loses_what_theorem_a1_says(n: int, k: int, rate: float) -> None:
    assert worst_loss(n, k, rate) == pytest.approx(log1p(k / n * expm1(rate)), abs=1e-9)


@pytest.mark.parametrize(("n", "k", "rate"), SIZES)
def test_a_fair_coin_for_the_blank_halves_the_share(n: int, k: int, rate: float) -> None:
    assert worst_loss(n, k, rate, coin=True) == pytest.approx(log1p(k / n / 2 * expm1(rate)), abs=1e-9)


RARE = [(400, 300, 3.949), (400, 380, 4.73), (400, 400, 2.62), (300, 300, 1000.0)]


@pytest.mark.parametrize(("n", "k", "rate"), RARE)
def test_outcomes_that_no_double_can_hold_are_worked_out_too(n: int, k: int, rate: float) -> None:
    whole, half = (rate + log1p((1 / share - 1) * exp(-rate)) + log(share) for share in (k / n, k / n / 2))
    assert worst_loss(n, k, rate) == pytest.approx(whole, rel=1e-9)
    assert worst_loss(n, k, rate, coin=True) == pytest.approx(half, rel=1e-9)
