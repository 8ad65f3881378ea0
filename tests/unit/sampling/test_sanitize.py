"""Theorems A1 and A1': both ways, their edges, and what the paper says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, ZeroKnowledge
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.implications import sanitize_sample
from hubbub.sampling.sanitize import Blank, inside, outside


def test_theorem_a1_is_that_of_the_derivation() -> None:
    premise = state_promise(
        DifferentialPrivacy(epsilon=Fraction(2), delta=Fraction(1, 10**6), neighbours=Neighbours.REPLACE)
    )
    derived = sanitize_sample(premise, k=30, n=100).conclusion
    found = outside(30, 100, 2, "1e-6")
    assert isinstance(derived, ZeroKnowledge)
    assert (found.epsilon_zk, found.delta_zk) == (derived.epsilon, derived.delta)


def test_everybody_is_sampled_or_nothing_is_spent() -> None:
    assert outside(10, 10, 1).epsilon_zk == 1
    assert inside(10, 10, 1).epsilon_dp == pytest.approx(1)
    for blank in Blank:
        assert outside(3, 10, 0, blank=blank).epsilon_zk == 0
        assert inside(3, 10, 0, blank=blank).epsilon_dp == 0


def test_the_papers_number_is_the_better_of_its_two() -> None:
    small = outside(1, 100, 1, "1e-6")
    assert small.paper_epsilon == 2 * small.epsilon_zk  # type: ignore[operator]
    whole = outside(99, 100, 1, "1e-6")
    assert (whole.paper_epsilon, whole.paper_delta) == (Fraction(1), Fraction(1, 10**6))
    assert whole.epsilon_zk < 1


def test_theorem_a1_prime_gains_up_to_two() -> None:
    for k, epsilon in ((1, "0.5"), (50, "0.1"), (100, "3")):
        plain, half = outside(k, 100, epsilon), outside(k, 100, epsilon, blank=Blank.HALF_WAY)
        assert plain.epsilon_zk / 2 <= half.epsilon_zk <= plain.epsilon_zk  # type: ignore[operator]


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(WrongUse, match="at most all the rows"):
        outside(11, 10, 1)
    with pytest.raises(WrongUse, match="finite"):
        inside(1, 10, "inf")
    with pytest.raises(WrongUse, match="delta-dp must be"):
        outside(1, 10, 1, 1)
    with pytest.raises(Refused, match="pure mechanisms"):
        inside(1, 10, 1, "1e-9", blank=Blank.COIN)
