"""Staircases at their edges: what is refused, what the tags are, what a delta is at most, and draws at the cut."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from hubbub.channels.papers import outliers, staircase
from hubbub.channels.papers.outliers import suppressed_delta
from hubbub.channels.papers.staircase import Staircase, _fails, from_alpha
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import upper

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


@pytest.mark.parametrize("thresholds", [(10, 20), (10, 10), (10, 0)])
def test_thresholds_that_do_not_fall_or_reach_0_are_refused(thresholds: tuple[int, int]) -> None:
    with pytest.raises(WrongUse, match="thresholds of a staircase must fall"):
        Staircase(thresholds, (Fraction(1), HALF, QUARTER), (5, 9), Fraction(1, 100))


def test_each_way_through_the_levels_has_one_tag() -> None:
    losses = (Fraction(1), HALF, QUARTER)
    assert Staircase((20, 10), losses, (5, 9), Fraction(1, 100), False).tags == ("11", "10", "01", "00")
    assert Staircase((20, 10), losses, (5, 9), Fraction(1, 100)).tags == ("11", "10", "00")


def test_the_claim_of_theorem_18_is_at_most_1() -> None:
    assert from_alpha((20, 10), (1, HALF, QUARTER), "0.1").delta == 1  # 2 e^-0.1 is above 1
    assert from_alpha((20, 10), (1, HALF, QUARTER), 3).delta == pytest.approx(2 * 2.718281828459045**-3)


@pytest.mark.parametrize("count", [3, 20])
def test_the_chance_that_a_test_fails_is_the_rest_of_those_that_pass(count: int) -> None:
    channel = Staircase((20, 10), (Fraction(1), HALF, QUARTER), (5, 9), Fraction(1, 100))
    law = channel.law(count)
    passed = sum((part.total() for part in law.blocks if part.tag == "11"), arb(0))
    passed += sum((sum(part.masses, arb(0)) for part in law.dense if part.tag == "11"), arb(0))
    assert float(_fails(channel, 2, count)) == pytest.approx(1 - float(passed.mid()), rel=1e-9)


@pytest.mark.parametrize(("limit", "kept"), [(1, False), (2, True), (3, True)])
def test_above_the_cut_a_value_is_kept_as_often_as_noise_reaches_it(
    limit: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three above the cut: kept with the chance that geometric noise is at least 2."""
    monkeypatch.setattr(staircase, "_tilted_noise", lambda *_: np.array([8]))
    monkeypatch.setattr(staircase, "two_sided_geometric", lambda *_: np.array([0]))
    monkeypatch.setattr(staircase, "geometric", lambda *_: np.array([limit]))
    values, found = staircase._try_bins((Fraction(1), HALF), (9, 5), 1, 1, ScriptedSource())
    assert (values.tolist(), found.tolist()) == ([8], [kept])


@pytest.mark.parametrize("delta", ["1e-9", "1/100", "1/3", "0.0123"])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_an_offset_is_the_smallest(epsilon: str, delta: str) -> None:
    target = Fraction(delta)
    found = outliers.smallest(lambda s: suppressed_delta(5, Fraction(epsilon), s), Fraction(epsilon), target)
    assert upper(suppressed_delta(5, Fraction(epsilon), found)) <= target
    assert found == 0 or upper(suppressed_delta(5, Fraction(epsilon), found - 1)) > target
