"""The papers' numbers for uneven rates: comparisons, and what they are not about."""

from __future__ import annotations

import pytest

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY
from hubbub.sampling import paper_uneven
from hubbub.sampling.amplification import delta_at, distributional, robust


def test_ours_is_smaller_wherever_the_papers_say_anything() -> None:
    for at in ("0.4", "0.8", "1.5"):
        theirs = paper_uneven.robust(50, "0.2", "0.1", "0.15", 1, 3).delta_at(at)
        assert delta_at(robust(50, "0.2", "0.15", 1, 3), at).delta <= theirs
        theirs = paper_uneven.distributional(50, 1, "0.1", "0.15", 3, 0).delta_at(at)
        assert delta_at(distributional(50, 1, "0.15", 3), at).delta <= theirs


def test_where_the_papers_say_nothing() -> None:
    assert paper_uneven.robust(50, "0.5", "0.1", "0.2", "0.2", 0).delta_at("0.1") == 1  # below ln of the factor
    assert paper_uneven.distributional(50, 100, "0.1", "0.1", 0, 0).delta_at(1) == 1  # below epsilon/k
    assert paper_uneven.robust(5, 0, "0.1", "0.2", 1, 4).delta_at(3) == 1  # more exempt people than a crowd has others
    assert paper_uneven.distributional(10, 0, "0.5", "0.5", 0, 0).epsilon_at("1e-9") is INFINITY
    assert paper_uneven.robust(20, 0, "0.2", "0.3", "0.3", 0).epsilon_at("1e-9") is INFINITY


def test_rates_that_the_theorems_are_not_about() -> None:
    with pytest.raises(WrongUse, match="0 < low <= high < 1"):
        paper_uneven.robust(50, 0, 0, "0.1", 1, 0).delta_at(1)
    with pytest.raises(WrongUse, match="0 < low <= high < 1"):
        paper_uneven.distributional(50, 0, "0.3", "0.1", 0, 0).delta_at(1)
    with pytest.raises(WrongUse, match="finite"):
        paper_uneven.robust(50, "inf", "0.1", "0.1", 1, 0).delta_at(1)


@pytest.mark.parametrize("half", [0, 10, 5_000, 500_000])
def test_half_of_a_fair_binomial_law_lies_above_its_middle(half: int) -> None:
    assert paper_uneven._at_least(2 * half + 1, 0.5, half + 1) == pytest.approx(0.5, rel=1e-8)
