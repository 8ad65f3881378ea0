"""Intervals of margins whose small cells have noise: exactly how often they hold the truth, near the threshold too."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hubbub.channels.mechanisms.exact_above import NoisyBelow
from hubbub.kinds.cube.margin_bounds import sum_crowds, sum_noisy_cells

FAR = 40  # beyond which there is less than 1e-12 of the noise
MOST = Fraction(19, 20)


def exact_coverage(channel: NoisyBelow, counts: tuple[int, ...], coverage: Fraction) -> float:
    """The chance that the interval of their sum holds the sum of the counts, over all that can be published."""
    laws = []
    for count in counts:
        if count >= channel.k:
            laws.append([(count, 1.0)])
        else:
            rate = float(channel.epsilon)
            laws.append([(count + x, np.tanh(rate / 2) * np.exp(-rate * abs(x))) for x in range(-FAR, FAR + 1)])
    outcomes = list(product(*laws))
    values = np.array([[value for value, _ in outcome] for outcome in outcomes], dtype=np.int64)
    chances = np.array([np.prod([chance for _, chance in outcome]) for outcome in outcomes])
    which = np.repeat(np.arange(len(outcomes)), len(counts))
    found = sum_noisy_cells(channel.k, channel.epsilon, values.reshape(-1), which, len(outcomes), len(counts), coverage)
    right = (found.low <= sum(counts)) & (sum(counts) <= found.high)
    return float(chances[right].sum())


@pytest.mark.parametrize(
    "counts", [(0,), (4,), (5,), (60,), (0, 0), (4, 4), (4, 5), (4, 6), (3, 40), (5, 5), (1, 4, 9)]
)
def test_margins_hold_the_truth_as_often_as_they_say(counts: tuple[int, ...]) -> None:
    channel = NoisyBelow(5, Fraction(1))
    assert exact_coverage(channel, counts, MOST) >= float(MOST)


def test_a_reach_that_is_too_short_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.kinds.cube.margin_bounds.reach_of_sum", lambda rate, many, tail: 2)
    assert exact_coverage(NoisyBelow(5, Fraction(1)), (4, 4), MOST) < float(MOST)


def test_large_cells_add_no_doubt() -> None:
    channel = NoisyBelow(5, Fraction(1))
    found = sum_noisy_cells(channel.k, channel.epsilon, np.array([1000, 900, 3]), np.array([0, 0, 1]), 2, 2, MOST)
    assert (found.low[0], found.high[0]) == (1900, 1900)
    assert found.low[1] < 3 < found.high[1]


@pytest.mark.parametrize(("k", "inside"), [(5, 2**62), (11, 10**18), (100_000, 3 * 10**14)])
def test_more_hidden_people_than_64_bits_count_have_no_upper_end(k: int, inside: int) -> None:
    """4 * 2^62 is 0 in 64 bits: the margin would have said that surely nobody is there."""
    found = sum_crowds(k, np.array([0, 7]), np.array([0, 1]), inside)
    assert found.high.tolist() == [-1, -1]
    assert found.low.tolist() == [0, 7]


def test_just_below_that_the_end_is_exact() -> None:
    found = sum_crowds(2, np.array([0, 7]), np.array([0, 1]), 2**62)
    assert found.high.tolist() == [2**62, 2**62 + 6]
