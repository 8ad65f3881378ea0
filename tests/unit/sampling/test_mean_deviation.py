"""The largest mean deviation: against every 0/1 table in rationals, and against tables that are not 0/1."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.numeric.exact import lower, upper
from hubbub.sampling import averages
from hubbub.sampling.averages import largest_mean_deviation, scale_for


def deviation(k: int, n: int, ones: int) -> Fraction:
    drawn = range(max(0, k - (n - ones)), min(k, ones) + 1)
    ways = ((j, comb(ones, j) * comb(n - ones, k - j)) for j in drawn)
    return sum((abs(Fraction(j, k) - Fraction(ones, n)) * Fraction(w, comb(n, k)) for j, w in ways), Fraction(0))


@pytest.mark.parametrize("n", [2, 3, 7, 12, 19, 24])
def test_it_is_the_largest_over_every_0_1_table(n: int) -> None:
    for k in range(1, n + 1):
        right, found = max(deviation(k, n, ones) for ones in range(n + 1)), largest_mean_deviation(k, n)
        assert lower(found) <= right <= upper(found)
        assert upper(found) - lower(found) < Fraction(1, 10**30)


def test_the_middle_is_never_less_than_any_0_1_table_and_hardly_more() -> None:
    for k, n in [(1, 2), (2, 5), (9, 20), (20, 41), (60, 200), (61, 200)]:
        right = max(deviation(k, n, ones) for ones in range(n + 1))
        middle = 2 * averages._middle(k, n) / (k * n * arb(comb(n, k)))
        assert right * (1 - Fraction(1, 10**30)) <= upper(middle) <= right * (1 + Fraction(1, 2 * k))


@given(data=st.data(), n=st.integers(2, 7))
@settings(max_examples=60)
def test_no_rows_between_0_and_1_stray_further(data: st.DataObject, n: int) -> None:
    rows = data.draw(st.lists(st.fractions(0, 1, max_denominator=6), min_size=n, max_size=n))
    k = data.draw(st.integers(1, n))
    chosen = [abs(sum(each, Fraction(0)) / k - sum(rows, Fraction(0)) / n) for each in combinations(rows, k)]
    assert sum(chosen, Fraction(0)) / len(chosen) <= upper(largest_mean_deviation(k, n))


def test_the_noise_of_an_average_needs_the_mean_deviation_only() -> None:
    assert float(scale_for(100, 10_000, "0.1").scale) == pytest.approx(0.39844, rel=1e-4)  # once 0.498


def test_large_samples_are_answered_at_once() -> None:
    assert float(largest_mean_deviation(10**8, 10**12).mid()) == pytest.approx(0.79788 / 2 * 1e-4, rel=1e-3)
