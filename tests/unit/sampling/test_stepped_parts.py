"""The parts of the check of a stepped simulator, each against what it stands for."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from hubbub.sampling import paper
from hubbub.sampling.exact_count import _Check, _Noise, _Sums


@pytest.mark.parametrize(("left", "right", "holds"), [(1.0, 1.0, True), (1.0, 0.0, False), (0.0, 1.0, False)])
def test_between_two_counts_the_lower_line_is_looked_at_up_to_both_ends(left: float, right: float, holds: bool) -> None:
    check = cast(Any, SimpleNamespace(a=0.0, low=0.1, high=2.0))
    outcomes = np.arange(9, 16)
    ends = [(np.full(7, value), np.full(7, 1.0)) for value in (left, right)]
    assert _Check._holds_between(check, 10, 13, outcomes, ends, 0.0) is holds


def test_outcomes_are_looked_at_on_both_sides_of_every_jump() -> None:
    check = cast(Any, SimpleNamespace(noise=SimpleNamespace(edge=5)))
    found = set(_Check._breakpoints(check, np.array([1000]), 10, 13).tolist())
    around = {1000 + offset for offset in (-6, -5, -4, -3, 0, 1, 4, 5, 6, 7)}
    assert {each for each in found if each > 500} == around
    assert {10, 11, 13, 14} <= found


@pytest.mark.parametrize("edge", [0, 1, 3])
def test_sums_over_atoms_are_those_of_the_stepped_law(edge: int) -> None:
    noise = _Noise(0.4, 0.25, edge, 1.1)
    at, weights = np.array([0, 2, 3, 7]), np.array([0.1, 0.4, 0.3, 0.2])
    outcomes = np.arange(-6, 14)

    def law(away: int) -> float:
        step = noise.at_edge if away == edge else math.exp(0.25 if away < edge else -0.25)
        return step * math.exp(-0.4 * away)

    sums = _Sums(at, noise, 2)
    expected = [sum(w * law(abs(int(x) - int(a))) for a, w in zip(at, weights, strict=True)) for x in outcomes]
    assert sums.values(weights, sums.index(outcomes)).tolist() == pytest.approx(expected, rel=1e-12)


def test_uneven_rates_say_something_for_every_band_above_1() -> None:
    rates = paper._grid(*(2 * [Fraction(1, 5)]))
    assert rates == [Fraction(1, 5)]
    assert paper._split_band(60, rates, 1.7, Fraction(1)) < Fraction(1, 2)
    assert paper._split_band(60, rates, 1.0, Fraction(1)) == 1
