"""From a sampled count to everybody: ends of intervals against the binomial law, summed here in plain fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from hubbub.binomial_law import at_least, at_most
from hubbub.channels.catalogue import channel
from hubbub.channels.channel import Channel, Published
from hubbub.channels.estimate import intervals
from hubbub.channels.exact_or_suppressed import ExactOrSuppressed
from hubbub.channels.geometric import Geometric
from hubbub.channels.noisy_below import NoisyBelow
from hubbub.channels.simple_outliers import SimpleSuppressed
from hubbub.exact import ball, lower, upper
from hubbub.tables.scaling import (
    largest_population,
    population_intervals,
    smallest_population,
    split,
)

RATES = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 20), Fraction(99, 100)]
TAIL = Fraction(1, 80)


def exactly_at_least(m: int, count: int, p: Fraction) -> Fraction:
    return sum((comb(count, j) * p**j * (1 - p) ** (count - j) for j in range(max(m, 0), count + 1)), Fraction(0))


@pytest.mark.parametrize("p", RATES, ids=str)
def test_tails_are_those_of_the_binomial_law(p: Fraction) -> None:
    for count in (0, 1, 7, 30):
        for m in range(-1, count + 2):
            right = exactly_at_least(m, count, p)
            assert lower(at_least(count, p, m)) <= right <= upper(at_least(count, p, m))
            assert lower(at_most(count, p, m)) <= 1 - exactly_at_least(m + 1, count, p) <= upper(at_most(count, p, m))
            assert upper(at_least(count, p, m)) - right < Fraction(1, 10**40)


@pytest.mark.parametrize("p", RATES, ids=str)
def test_populations_are_the_least_and_the_largest_that_the_tails_allow(p: Fraction) -> None:
    for m in (0, 1, 2, 5, 12):
        fewest, most = smallest_population(m, p, TAIL), largest_population(m, p, TAIL)
        assert fewest == next(c for c in range(m, 10**6) if exactly_at_least(m, c, p) > TAIL)
        assert at_most(most + 1, p, m) <= ball(TAIL)
        assert not at_most(most, p, m) <= ball(TAIL)
        assert m <= fewest <= m / p <= most


def test_large_counts_get_wider_intervals_and_not_wrong_ones() -> None:
    p, m = Fraction(1, 10), 20_000
    fewest, most = smallest_population(m, p, TAIL), largest_population(m, p, TAIL)
    spread = (m * 0.9) ** 0.5 * 10  # one standard deviation of m/p
    assert 200_000 - 4 * spread < fewest < 200_000 - 2 * spread
    assert 200_000 + 2 * spread < most < 200_000 + 4 * spread


def test_ends_that_are_missing_stay_missing() -> None:
    low, high = np.array([0, 0, 7]), np.array([4, -1, -1])
    below, above = population_intervals(low, high, Fraction(1, 4), Fraction(19, 20))
    assert below.tolist() == [0, 0, smallest_population(7, Fraction(1, 4), TAIL)]
    assert above.tolist() == [largest_population(4, Fraction(1, 4), TAIL), -1, -1]


def test_half_of_the_doubt_is_left_for_the_sampling() -> None:
    assert split(Fraction(19, 20)) == Fraction(39, 40)


def test_exact_counts_leave_all_of_the_doubt_for_the_sampling() -> None:
    low = high = np.array([20, 100, 1000])
    narrow = population_intervals(low, high, Fraction(1, 10), Fraction(19, 20), certain=True)
    wide = population_intervals(low, high, Fraction(1, 10), Fraction(19, 20))
    saved = 1 - (narrow[1] - narrow[0]) / (wide[1] - wide[0])
    assert ((saved > 0.115) & (saved < 0.145)).all()
    for m, below, above in zip(low.tolist(), *(each.tolist() for each in narrow), strict=True):
        assert below == smallest_population(m, Fraction(1, 10), 2 * TAIL)
        assert above == largest_population(m, Fraction(1, 10), 2 * TAIL)


def test_only_channels_without_noise_are_certain() -> None:
    certain: list[Channel] = [ExactOrSuppressed(20), SimpleSuppressed(19), channel("warped", curve="1:0,21:inf")]
    doubtful: list[Channel] = [NoisyBelow(20, Fraction(1)), NoisyBelow(20, Fraction(1), True), Geometric(Fraction(1))]
    doubtful += [channel("warped", curve="1:0,21:1"), channel("warped", curve="slope:0.1")]
    assert all(each.certain for each in certain)
    assert not any(each.certain for each in doubtful)
    for made in certain:
        for count in (0, 1, 19, 20, 21, 50):
            for tag, value, _ in made.law(count).atoms(Fraction(1, 10**9)):
                published = Published(np.array([value]), np.array([0]), (tag,))
                low, high = intervals(made, published, split(Fraction(1, 2)))
                assert low[0] <= count
                assert count <= high[0] or high[0] == -1
