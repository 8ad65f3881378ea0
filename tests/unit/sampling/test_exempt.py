"""People who are sampled at a higher rate than others: counted as often as they are there."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from hubbub.channels.sampled import sharpest
from hubbub.sampling.amplification import delta_at, epsilon_at, floor, robust
from hubbub.sampling.sampled_crowd import Case, worst

ROBUST = [(20, 5, "0.5"), (20, 5, "0.2"), (10, 3, "0.5"), (12, 1, "0.9")]  # k, exempt, their rate


def suppressed_delta(others: int, k: int, exempt: int, rate: float, epsilon: float) -> float:
    """Counts below k hidden, by convolution: a person like the others at 0.1, or one of the exempt; both directions."""
    found = 0.0
    for own, left in ((0.1, exempt), (rate, exempt - 1)):
        law = np.ones(1)
        for chance in [0.1] * others + [rate] * left:
            law = np.convolve(law, [1 - chance, chance])
        without = np.append(law, 0.0)
        having = (1 - own) * without + own * np.append(0.0, law)
        for one, other in ((having, without), (without, having)):
            hidden = max(one[:k].sum() - exp(epsilon) * other[:k].sum(), 0.0)
            found = max(found, hidden + np.maximum(one[k:] - exp(epsilon) * other[k:], 0.0).sum())
    return found


@pytest.mark.parametrize(("k", "exempt", "rate"), ROBUST)
@pytest.mark.parametrize("epsilon", ["0.2", "1"])
def test_theorem_16_counts_exempt_people_as_often_as_they_are_there(
    k: int, exempt: int, rate: str, epsilon: str
) -> None:
    setting = robust(k, 0, "0.1", rate, exempt, bins=True)
    claimed = float(delta_at(setting, epsilon).delta)
    true = max(suppressed_delta(n, k, exempt, float(rate), float(epsilon)) for n in range(0, 160, 3))
    always = max(
        float(
            _upper(
                Case(rate=case.rate, own=case.own, crowd=case.crowd, removal=Fraction(0), blending=Fraction(0)), epsilon
            )
        )
        for case in setting.cases
    )
    assert exempt == 1 or claimed < always
    assert true * (1 - 1e-9) <= claimed <= always


def _upper(case: Case, epsilon: str) -> float:
    found = worst(case, Fraction(epsilon)).delta
    return float(found) if isinstance(found, Fraction) else float(found.upper())


def test_who_is_always_there_is_counted_so() -> None:
    setting = robust(20, 0, "0.1", 1, 5, bins=True)
    assert all(case.exempt == 0 for case in setting.cases)
    assert [case.crowd for case in setting.cases] == [15, 16]
    assert robust(200, 0, "0.1", "0.5", 41, bins=True).cases[0].exempt == 0  # so many that it would take long


def test_an_epsilon_that_is_found_reaches_its_delta_and_no_delta_is_below_the_floor() -> None:
    setting = robust(20, "0.5", "0.1", "0.5", 5)
    found = epsilon_at(setting, "1e-6")
    assert isinstance(found.epsilon, Fraction)
    assert delta_at(setting, found.epsilon).delta <= Fraction(1, 10**6)
    assert delta_at(setting, found.epsilon * Fraction(99, 100)).delta > Fraction(1, 10**6)
    assert floor(setting) <= delta_at(setting, 40).delta


def test_tables_of_counts_take_the_smaller_epsilon() -> None:
    setting = robust(20, 1, "0.1", "0.5", 5, bins=True)
    always = robust(20, 1, "0.1", 1, 5, bins=True)
    assert sharpest(setting, "1e-6").epsilon < sharpest(always, "1e-6").epsilon
    assert sharpest(setting, "1e-6").epsilon <= epsilon_at(setting, "1e-6").epsilon
