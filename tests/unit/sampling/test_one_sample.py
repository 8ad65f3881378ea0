"""Several questions on one sample, in numbers: one alone, many, and what may be lost for a target."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.sampling.sanitize import Blank, joint_epsilon, may_lose, outside

LOSSES = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)
PARTS = st.lists(st.tuples(LOSSES, st.sampled_from(Blank)), min_size=1, max_size=5)
SIZES = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))
NEAR = Fraction(1, 10**15)


@given(SIZES, LOSSES, st.sampled_from(Blank))
def test_one_question_alone_is_what_sample_and_sanitize_says_of_it(
    sizes: tuple[int, int], loss: Fraction, blank: Blank
) -> None:
    k, n = sizes
    alone = outside(k, n, loss, blank=blank).epsilon_zk
    assert isinstance(alone, Fraction)
    assert abs(joint_epsilon(k, n, [(loss, blank)]) - alone) <= NEAR * max(alone, 1)


def test_the_theorem_in_plain_numbers() -> None:
    """Four of ten rows, a table that loses 1 and two coins that lose 1/2 and 2."""
    half, first, second = 1.0, 0.5, 2.0
    whole = half + first + second
    up = half / 2 + log(2 / (1 + exp(-first))) + log(2 / (1 + exp(-second)))
    down = half / 2 + log((1 + exp(first)) / 2) + log((1 + exp(second)) / 2)
    real, simulated = (0.6 + 0.4 * exp(whole)) / (0.6 + 0.4 * exp(whole - up)), 0.6 + 0.4 * exp(down)
    coins = [(Fraction(1, 2), Blank.COIN), (Fraction(2), Blank.COIN)]
    assert simulated > real
    assert float(joint_epsilon(4, 10, [(Fraction(1), Blank.HALF_WAY), *coins])) == pytest.approx(
        log(simulated), rel=1e-12
    )


@given(SIZES, PARTS)
def test_together_they_lose_no_more_than_theorem_a1_says_and_no_less_than_each_alone(
    sizes: tuple[int, int], parts: list[tuple[Fraction, Blank]]
) -> None:
    k, n = sizes
    found, swapped = (
        joint_epsilon(k, n, parts),
        subsampled_loss(sum((loss for loss, _ in parts), Fraction(0)), Fraction(k, n)),
    )
    assert isinstance(swapped, Fraction)
    assert found <= swapped + NEAR * max(swapped, 1)
    assert 2 * found >= swapped - NEAR * max(swapped, 1)  # zero-knowledge privacy is half of a differential one at best
    assert all(joint_epsilon(k, n, [part]) <= found + NEAR * max(found, 1) for part in parts)


@settings(max_examples=25)
@given(SIZES, PARTS, st.fractions(min_value=Fraction(1, 100), max_value=5, max_denominator=100))
def test_what_may_be_lost_for_a_target_reaches_it_and_not_more(
    sizes: tuple[int, int], shares: list[tuple[Fraction, Blank]], target: Fraction
) -> None:
    k, n = sizes
    loss, every = may_lose(k, n, target, shares), sum((share for share, _ in shares), Fraction(0))
    split = [(loss * share / every, blank) for share, blank in shares]
    assert joint_epsilon(k, n, split) <= target
    more = [(each * Fraction(1_000_001, 1_000_000), blank) for each, blank in split]
    assert joint_epsilon(k, n, more) > target
