"""A mechanism's own curve after sampling: its edges, and where it gives way to the theorem."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub.exact import INFINITY
from hubbub.sampling.amplification import delta_at, epsilon_at, noisy_below
from hubbub.sampling.own_curve import THEOREM, own_delta_at, own_epsilon_at


def test_marked_noise_has_the_curve_of_suppression_above_both_limits() -> None:
    own = own_delta_at(20, 1, "0.1", "0.6", tagged=True)
    assert own.delta == delta_at(noisy_below(20, 1, "0.1"), "0.6").delta
    assert own.theorem == THEOREM


def test_below_them_it_is_smaller_than_the_bound() -> None:
    own = own_delta_at(10, 1, "0.3", "0.15", tagged=True)
    # Alone in the bin (n = 0) only the noise counts: p (1 - g e^-1)/(1 + e^-1), g = (e^0.15 - 1 + p)/p.
    g = (math.exp(0.15) - 0.7) / 0.3
    assert float(own.delta) == pytest.approx(0.3 * (1 - g / math.e) / (1 + 1 / math.e))
    assert own.worst_class_size == 0
    assert own.delta < delta_at(noisy_below(10, 1, "0.3"), "0.15").delta


@pytest.mark.parametrize("tagged", [True, False])
def test_an_epsilon_that_was_searched_for_is_proved_and_nearly_the_smallest(tagged: bool) -> None:
    found = own_epsilon_at(20, 1, "0.1", "1e-9", tagged=tagged)
    assert isinstance(found.epsilon, Fraction)
    assert own_delta_at(20, 1, "0.1", found.epsilon, tagged=tagged).delta <= Fraction(1, 10**9)
    below = found.epsilon * (1 - Fraction(1, 10**6))
    assert own_delta_at(20, 1, "0.1", below, tagged=tagged).delta > Fraction(1, 10**9)
    assert found.epsilon <= epsilon_at(noisy_below(20, 1, "0.1"), "1e-9").epsilon


def test_unmarked_noise_goes_below_the_floor_of_the_theorem() -> None:
    assert epsilon_at(noisy_below(4, "0.5", "0.1"), "1e-6").epsilon is INFINITY  # 0.1^4 is above it
    assert own_epsilon_at(4, "0.5", "0.1", "1e-6", tagged=True).epsilon is INFINITY
    found = own_epsilon_at(4, "0.5", "0.1", "1e-6", tagged=False)
    assert isinstance(found.epsilon, Fraction)
    assert own_delta_at(4, "0.5", "0.1", found.epsilon, tagged=False).delta <= Fraction(1, 10**6)


def test_the_edges_are_the_theorems() -> None:
    assert own_delta_at(20, 1, 0, "0.1", tagged=False).delta == 0
    assert own_delta_at(20, 1, 1, "0.1", tagged=True).delta == 1
    large = own_delta_at(100_000, "0.5", "0.1", "0.2", tagged=False)  # too many classes to look at
    assert large.theorem != THEOREM
    assert large.delta == delta_at(noisy_below(100_000, "0.5", "0.1"), "0.2").delta
