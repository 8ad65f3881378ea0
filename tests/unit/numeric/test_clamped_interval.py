"""A number that noise made impossible has the interval of the nearest possible one: no certainty, and no truth is lost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from hubbub.channels.estimate import interval
from hubbub.channels.mechanisms.gaussian import Gaussian
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel
from hubbub.kinds.sums.intervals import of_sums
from hubbub.numeric.clamped_interval import clamp, clamped_interval, clamped_intervals
from hubbub.numeric.exact import ball

COVERAGE = Fraction(95, 100)


@pytest.mark.parametrize("most", [None, 3, 9])
def test_whatever_is_drawn_a_truth_within_reach_stays_in_the_interval(most: int | None) -> None:
    for value in range(-12, 22):
        for reach in range(1, 8):
            low, high = clamped_interval(value, reach, 0, most)
            assert low <= clamp(value, 0, most) <= high
            assert high - low >= min(reach, 9 if most is None else most), "never a certainty"
            held = [truth for truth in range((most or 40) + 1) if abs(value - truth) <= reach]
            assert all(low <= truth <= high for truth in held)


def test_cutting_an_interval_alone_leaves_nothing_of_it() -> None:
    """The control: what was told of -39."""
    cut = max(-39 - 20, 0), max(-39 + 20, 0)
    assert cut == (0, 0)
    assert clamped_interval(-39, 20, 0) == (0, 20)


def test_many_counts_are_as_one() -> None:
    values = np.array([-39, -4, 0, 3, 50])
    low, high = clamped_intervals(values, 7)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [clamped_interval(v, 7, 0) for v in values.tolist()]


@pytest.mark.parametrize("channel", [Geometric("0.5"), Gaussian.with_delta("1", "1e-6")], ids=lambda each: each.name)
def test_no_value_of_a_channel_is_told_as_a_certainty_and_the_coverage_is_kept(channel: Channel) -> None:
    ends = {value: interval(channel, value, "", COVERAGE) for value in range(-80, 81)}
    for value, found in ends.items():
        assert found.high is not None
        assert found.high > found.low
        assert found.low <= max(value, 0) <= found.high
    assert (ends[-40].low, ends[-40].high) == (ends[0].low, ends[0].high)
    for count in (0, 1, 2, 7):
        law = channel.law(count)
        held = arb(0)
        for value, found in ends.items():
            held += law.mass(value, "") if found.low <= count <= (found.high or 0) else 0
        assert held >= ball(COVERAGE)


def test_sums_that_noise_made_impossible_are_put_to_the_nearest_possible_ones() -> None:
    for first in range(-9, 10):
        for second in range(-9, 10):
            low, high = of_sums(first, first + second, 4)
            assert 0 <= low < high <= 1
            for a in range(max(first - 4, 0), first + 5):
                for b in range(max(second - 4, 0), second + 5):
                    assert a + b == 0 or low <= Fraction(a, a + b) <= high, (first, second, a, b)
