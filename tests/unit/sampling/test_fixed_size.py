"""Gaussian noise on K of N people: the maximum over everybody else's kind is attained, and nothing is above it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import SampledGaussianPair
from tests.unit.sampling.fixed_size import fixed_size_delta

KINDS = ((1, 0), (0, 1), (0, 0))  # two bins, and nobody's


def enumerated(others: tuple[tuple[int, int], ...], drawn: int, s2: float, epsilon: float) -> float:
    """Both directions between a person in the first bin and the same table with the row blanked, over every sample."""
    reach = math.ceil(9 * math.sqrt(s2)) + drawn + 1
    line = np.arange(-reach, reach + 1)
    weights = np.exp(-(np.arange(-2 * reach, 2 * reach + 1) ** 2) / (2 * s2))
    weights = weights / weights.sum()

    def law(person: tuple[int, int]) -> NDArray[np.float64]:
        people = (person, *others)
        samples = list(combinations(range(len(people)), drawn))
        found = np.zeros((line.size, line.size))
        for sample in samples:
            a, b = (sum(people[i][bin_] for i in sample) for bin_ in (0, 1))
            found += np.multiply.outer(weights[line - a + 2 * reach], weights[line - b + 2 * reach]) / len(samples)
        return found

    with_, blank, grow = law((1, 0)), law((0, 0)), math.exp(epsilon)
    return max(float(np.maximum(p - grow * q, 0).sum()) for p, q in ((with_, blank), (blank, with_)))


@pytest.mark.parametrize(
    ("people", "drawn", "s2", "epsilon"), [(4, 2, "3", "0.3"), (5, 2, "2", "0.5"), (4, 1, "4", "0.1")]
)
def test_the_maximum_over_overlaps_is_exact_for_this_simulator(people: int, drawn: int, s2: str, epsilon: str) -> None:
    claimed = float(fixed_size_delta(Fraction(s2), 1, Fraction(drawn, people), Fraction(epsilon)))
    every = {
        others: enumerated(others, drawn, float(s2), float(epsilon))
        for others in combinations_with_replacement(KINDS, people - 1)
    }
    assert max(every.values()) == pytest.approx(claimed, abs=1e-13)
    worst = max(every, key=lambda others: every[others])
    assert set(worst) == {(0, 1)}, "everybody else in another bin"


def test_it_has_the_noise_of_the_table_and_loses_more_than_poisson_sampling() -> None:
    """2.3: p = .1, E = 1, delta 1e-9: a standard deviation of 2.33, and of 1.89 with people drawn one by one."""
    found = float(fixed_size_delta(Fraction("2.33") ** 2, 1, Fraction(1, 10), Fraction(1)))
    assert found == pytest.approx(1e-9, rel=0.05)
    assert (
        float(SampledGaussianPair(s2=Fraction("2.33") ** 2, moved=1, rate=Fraction(1, 10)).delta_at(Fraction(1)))
        < found
    )


def test_what_is_too_wide_is_refused_in_words() -> None:
    with pytest.raises(WrongUse, match="lower the variance"):
        fixed_size_delta(Fraction(10**6), 3, Fraction(1, 10), Fraction(1))
    with pytest.raises(WrongUse, match="above 0"):
        fixed_size_delta(Fraction(0), 1, Fraction(1, 10), Fraction(1))
