"""From a sampled count to everybody: ends of intervals against the binomial law, summed here in plain fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from hubbub.channels.catalogue import channel
from hubbub.channels.estimate import intervals
from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed, NoisyBelow, SimpleSuppressed
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel, Published
from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.exact import ball, lower, upper
from hubbub.tables.estimation import (
    largest_population,
    population_estimate,
    population_intervals,
    smallest_population,
    split_doubt,
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


def published(*values: int, tag: str = "") -> Published:
    return Published(np.array(values), np.zeros(len(values), dtype=np.intp), (tag,))


def test_ends_that_are_missing_stay_missing() -> None:
    silent = channel("warped", curve="0")
    below, above = population_intervals(silent, published(0), Fraction(1, 4), Fraction(19, 20))
    assert (below.tolist(), above.tolist()) == ([0], [-1])


@pytest.mark.parametrize("p", RATES, ids=str)
def test_given_that_five_were_sampled_the_ends_are_those_of_the_cut_law(p: Fraction) -> None:
    """In plain fractions: Pr[Bin(c, p) >= m] / Pr[Bin(c, p) >= 5] for the lower end, and the rest for the upper one."""

    def more(m: int, c: int) -> Fraction:
        return exactly_at_least(m, c, p) / exactly_at_least(5, c, p)

    for m in (5, 6, 9):
        fewest, most = smallest_population(m, p, TAIL, 5), largest_population(m, p, TAIL, 5)
        assert fewest == next(c for c in range(m, 10**6) if more(m, c) > TAIL)
        if most < 300:
            assert 1 - more(m + 1, most + 1) <= TAIL < 1 - more(m + 1, most)


def test_half_of_the_doubt_is_left_for_the_sampling() -> None:
    assert split_doubt(Fraction(19, 20)) == Fraction(39, 40)


def test_exact_counts_leave_all_of_the_doubt_for_the_sampling() -> None:
    below, above = population_intervals(ExactOrSuppressed(20), published(100, 1000), Fraction(1, 10), Fraction(19, 20))
    for i, m in enumerate((100, 1000)):
        assert below[i] == smallest_population(m, Fraction(1, 10), 2 * TAIL, 20)
        assert above[i] == largest_population(m, Fraction(1, 10), 2 * TAIL, 20)
        halved = largest_population(m, Fraction(1, 10), TAIL) - smallest_population(m, Fraction(1, 10), TAIL)
        assert 0.115 < 1 - (above[i] - below[i]) / halved < 0.145


def test_a_hidden_bin_has_the_counts_that_are_hidden_more_than_one_time_in_twenty() -> None:
    hidden = published(0, tag="suppressed")
    below, above = population_intervals(ExactOrSuppressed(20), hidden, Fraction(1, 10), Fraction(19, 20))
    assert below[0] == 0
    assert at_most(int(above[0]) + 1, Fraction(1, 10), 19) <= ball(Fraction(1, 20))
    assert not at_most(int(above[0]), Fraction(1, 10), 19) <= ball(Fraction(1, 20))


def test_an_interval_holds_its_estimate_even_just_above_a_large_threshold() -> None:
    """Just above 5,000, being shown is luck for every count whose number would be so small."""
    p = Fraction(1, 10)
    below, above = population_intervals(ExactOrSuppressed(5000), published(5000, 5001), p, Fraction(19, 20))
    assert largest_population(5000, p, 2 * TAIL, 5000) < population_estimate(5000, p) == 50_000
    assert ((below <= 50_000) & (above >= 50_000)).all()


def test_only_channels_without_noise_are_certain() -> None:
    certain: list[Channel] = [ExactOrSuppressed(20), SimpleSuppressed(19), channel("warped", curve="1:0,21:inf")]
    doubtful: list[Channel] = [NoisyBelow(20, Fraction(1)), NoisyBelow(20, Fraction(1), True), Geometric(Fraction(1))]
    doubtful += [channel("warped", curve="1:0,21:1"), channel("warped", curve="slope:0.1")]
    assert all(each.certain for each in certain)
    assert not any(each.certain for each in doubtful)
    for made in certain:
        for count in (0, 1, 19, 20, 21, 50):
            for tag, value, _ in made.law(count).atoms(Fraction(1, 10**9)):
                told = published(value, tag=tag)
                low, high = intervals(made, told, split_doubt(Fraction(1, 2)))
                assert low[0] <= count
                assert count <= high[0] or high[0] == -1
