"""Intervals from a noisy count of a sample: the law against binomial coefficients, and the coverage exactly."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, tanh

import pytest

from hubbub.sampling.sampled_share import at_least, at_most, interval, masses, widest

MISS = Fraction(1, 20)


@pytest.mark.parametrize(("n", "have", "k"), [(5, 2, 2), (30, 11, 7), (30, 29, 30), (12, 0, 5), (400, 3, 200)])
def test_masses_are_hypergeometric(n: int, have: int, k: int) -> None:
    low, law = masses(n, have, k)
    right = [Fraction(comb(have, s) * comb(n - have, k - s), comb(n, k)) for s in range(low, low + law.size)]
    assert sum(right) > 1 - Fraction(1, 10**30)
    assert law == pytest.approx([float(each) for each in right], rel=1e-12)


@pytest.mark.parametrize(("n", "k", "rate"), [(20, 5, "1"), (60, 30, "0.5"), (40, 40, "2"), (50, 3, "4")])
def test_an_interval_misses_no_number_more_often_than_it_says(n: int, k: int, rate: str) -> None:
    """Summed over all outcomes, for every number of people: not a simulation."""
    slope, reach = Fraction(rate), 60
    noise = {z: tanh(float(slope) / 2) * exp(-float(slope) * abs(z)) for z in range(-reach, reach + 1)}
    ends = {t: interval(n, k, slope, t, MISS) for t in range(-reach, k + reach + 1)}
    for have in range(n + 1):
        low, law = masses(n, have, k)
        missed = sum(
            float(mass) * chance
            for s, mass in enumerate(law, low)
            for z, chance in noise.items()
            if not ends[s + z][0] <= have <= ends[s + z][1]
        )
        assert missed <= float(MISS), (have, missed)


def test_tails_add_up_and_grow_with_the_number() -> None:
    for t in (-3, 0, 4, 12):
        assert at_least(50, 20, 10, 0.7, t) + at_most(50, 20, 10, 0.7, t - 1) == pytest.approx(1, abs=1e-12)
        grown = [at_least(50, have, 10, 0.7, t) for have in range(51)]
        assert grown == sorted(grown)


def test_large_samples_of_very_many_people() -> None:
    low, high = interval(10**9, 10**6, Fraction(4), 500_000, MISS)
    assert 10**9 // 2 - low == pytest.approx(980_000, rel=0.01)  # 1.96 standard deviations of the sample
    assert high - 10**9 // 2 == pytest.approx(980_000, rel=0.01)
    assert widest(10**6, 10**4, Fraction(4), MISS) == pytest.approx(9_752, rel=0.02)


def test_a_coverage_that_no_double_can_tell_from_one_has_an_interval() -> None:
    low, high = interval(300, 50, Fraction(8), 20, Fraction(1, 10**20))
    assert 0 < low < 60
    assert 200 < high < 300
    assert interval(300, 50, Fraction(2), 20, Fraction(1, 10**40)) == (0, 300)
