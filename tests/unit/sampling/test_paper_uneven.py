"""The papers' numbers for uneven rates: comparisons, and what they are not about."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY
from hubbub.sampling import paper
from hubbub.sampling.amplification import delta_at, distributional, robust


def test_ours_is_smaller_wherever_the_papers_say_anything() -> None:
    for at in ("0.4", "0.8", "1.5"):
        theirs = paper.robust(50, "0.2", "0.1", "0.15", 1, 3).delta_at(at)
        assert delta_at(robust(50, "0.2", "0.15", 1, 3), at).delta <= theirs
        theirs = paper.distributional(50, 1, "0.1", "0.15", 3, 0).delta_at(at)
        assert delta_at(distributional(50, 1, "0.15", 3), at).delta <= theirs


def test_where_the_papers_say_nothing() -> None:
    assert paper.robust(50, "0.5", "0.1", "0.2", "0.2", 0).delta_at("0.1") == 1  # below ln of the factor
    assert paper.distributional(50, 100, "0.1", "0.1", 0, 0).delta_at(1) == 1  # below epsilon/k
    assert paper.robust(5, 0, "0.1", "0.2", 1, 4).delta_at(3) == 1  # more exempt people than a crowd has others
    assert paper.distributional(10, 0, "0.5", "0.5", 0, 0).epsilon_at("1e-9") is INFINITY
    assert paper.robust(20, 0, "0.2", "0.3", "0.3", 0).epsilon_at("1e-9") is INFINITY


def test_rates_that_the_theorems_are_not_about() -> None:
    with pytest.raises(WrongUse, match="0 < low <= high < 1"):
        paper.robust(50, 0, 0, "0.1", 1, 0).delta_at(1)
    with pytest.raises(WrongUse, match="0 < low <= high < 1"):
        paper.distributional(50, 0, "0.3", "0.1", 0, 0).delta_at(1)
    with pytest.raises(WrongUse, match="finite"):
        paper.robust(50, "inf", "0.1", "0.1", 1, 0).delta_at(1)


@pytest.mark.parametrize("half", [0, 10, 5_000, 500_000])
def test_half_of_a_fair_binomial_law_lies_above_its_middle(half: int) -> None:
    assert paper._at_least(2 * half + 1, 0.5, half + 1) == pytest.approx(0.5, rel=1e-8)


RATES = [Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]


@pytest.mark.parametrize("low", RATES)
@pytest.mark.parametrize("high", RATES)
def test_the_factor_is_how_far_the_odds_of_two_rates_are_apart(low: Fraction, high: Fraction) -> None:
    assert paper._factor(low, high) == (high / (1 - high)) / (low / (1 - low))


@pytest.mark.parametrize(("low", "high", "odds"), [("0.1", "0.1", 1), ("0.1", "0.2", "2.25"), ("0.2", "0.5", 4)])
def test_where_the_papers_begin_to_say_something(low: str, high: str, odds: str | int) -> None:
    """The band has a width from e^epsilon' = p_max R e^epsilon + 1 - p_max on, and from ln R + blend on: below it delta is 1."""
    factor, epsilon, blend = Fraction(odds), Fraction(1, 10), Fraction(1, 5)
    for most in (Fraction(high), Fraction(1)):
        edge = math.log(float(most * factor) * math.exp(epsilon) + 1 - float(most))
        of_crowd = paper.robust(500, epsilon, low, high, most, 3)
        assert of_crowd.delta_at(f"{edge - 1e-6:.9f}") == 1
        assert of_crowd.delta_at(f"{edge + 0.5:.9f}") < most
    edge = math.log(float(factor)) + float(blend)
    of_population = paper.distributional(500, 1, low, high, 3, blend)
    assert of_population.delta_at(f"{edge - 1e-6:.9f}") == 1
    assert of_population.delta_at(f"{edge + 0.5:.9f}") < 1


def test_whoever_is_exempt_is_none_of_the_others() -> None:
    """k - l - 1: the person and the exempt are left out, and so many more people in a crowd make up for them."""
    for at in ("1.5", "2"):
        found = [paper.robust(40 + exempt, "0.2", "0.1", "0.15", 1, exempt).delta_at(at) for exempt in (0, 1, 7)]
        assert found[0] == found[1] == found[2]
        assert paper.robust(41, "0.2", "0.1", "0.15", 1, 0).delta_at(at) < found[0]
