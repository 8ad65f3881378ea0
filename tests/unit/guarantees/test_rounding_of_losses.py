"""Losses are rounded up, and never above their sum; noise without width is none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.guarantees.accountant import privacy_loss
from hubbub.guarantees.accountant.gaussian import GaussianNoise
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_delta, composed_epsilon
from hubbub.guarantees.aggregates import ExplorationSample


@pytest.mark.parametrize("delta", ["1/100", "1e-6"])
def test_an_epsilon_is_rounded_up_to_the_digits_that_are_kept(delta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy_loss, "_DIGITS", 3)
    pairs = [RandomizedResponsePair(epsilon=Fraction(1, 10))] * 20
    found = composed_epsilon(pairs, Fraction(delta))
    assert isinstance(found, Fraction)
    assert composed_delta(pairs, found) <= Fraction(delta)


def test_without_a_delta_losses_without_a_divisor_cost_their_sum() -> None:
    losses = [Fraction(1, 3), Fraction(10**9 + 7, 10**10), Fraction(10**9 + 9, 10**10)]
    assert composed_epsilon([RandomizedResponsePair(epsilon=each) for each in losses], Fraction(0)) == sum(losses)


def test_noise_has_a_variance_and_a_swap_of_signs_is_twice_as_far() -> None:
    with pytest.raises(WrongUse, match="variance above 0"):
        GaussianNoise(s2=Fraction(0))
    noise = GaussianNoise(s2=Fraction(5), squared=Fraction(3), moved=3, signed=True).under_replacement()
    assert (noise.squared, noise.moved, noise.ones) == (12, 6, False)


def test_a_simulator_may_sample_nobody() -> None:
    assert str(ExplorationSample(k=0, s=1)) == "RSE(0, 1)"
