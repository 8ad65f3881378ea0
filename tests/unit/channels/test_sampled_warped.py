"""Warped noise on a secret sample: the loss of every crowd is a ratio of means, by the laws, and the curve is just above."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.channels.catalogue import channel as build
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.profile import exact_delta
from hubbub.channels.sampled_warped import WITHIN, sampled_losses, sampled_warped_curve
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.curve import Curve, Piece, read
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.implications import CURVE_OF_WARPED, subsampled_curve
from hubbub.kinds.histogram.request import histogram
from hubbub.numeric.exact import lower, upper

CURVES = ["slope:0.05<=1", "1:0.01,11:1", "0.3+slope:0.2<=2", "1:0,4:0.5", "1:0.2,3:0.2+slope:0.1,9:2"]
TENTH, HALF = Fraction(1, 10), Fraction(1, 2)
ALMOST = Fraction(9999, 10000)


def sampled_law(levels: list[float], p: float, count: int, outcomes: int) -> list[float]:
    """By enumeration: who is kept, and the warped law of each number that is."""
    heights = [0.0]
    for level in levels:
        heights.append(heights[-1] + level)
    b = [1.0, *(1 / (1 + math.exp(-level)) for level in levels)]
    weights = [b[j] + b[j + 1] - 1 for j in range(outcomes)]
    kept = [math.comb(count, m) * p**m * (1 - p) ** (count - m) for m in range(count + 1)]
    return [
        sum(kept[m] * weights[j] * math.exp(-abs(heights[m] - heights[j])) for m in range(count + 1))
        for j in range(outcomes)
    ]


@given(
    steps=st.lists(st.integers(0, 8), min_size=12, max_size=12),
    count=st.integers(1, 8),
    rate=st.sampled_from([1, 5, 9]),
)
@settings(max_examples=60, deadline=None)
def test_warped_noise_on_a_sample_loses_the_ratio_of_two_means(steps: list[int], count: int, rate: int) -> None:
    levels = [Fraction(sum(steps[: i + 1]), 16) for i in range(len(steps))]
    curve = Curve((*(Piece(i, level) for i, level in enumerate(levels, 1)),))
    more, fewer = (sampled_law([float(x) for x in levels], rate / 10, c, 11) for c in (count, count - 1))
    seen = [
        abs(math.log(one / other)) for one, other in zip(more, fewer, strict=True) if one > 1e-300 and other > 1e-300
    ]
    expected = float(sampled_losses(curve, Fraction(rate, 10), count)[-1])
    assert all(each <= expected + 1e-9 for each in seen)
    if more[10] > 1e-300:
        assert abs(math.log(more[10] / fewer[10])) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("text", CURVES)
@pytest.mark.parametrize("p", [TENTH, HALF], ids=str)
def test_the_laws_of_the_sample_reach_the_loss_and_no_more(text: str, p: Fraction) -> None:
    curve = read(text).curve
    sampled = Subsampled(p, Warped(curve))
    for count, loss in enumerate(sampled_losses(curve, p, 9), 1):
        assert upper(exact_delta(sampled, count, loss)) < Fraction(1, 10**25)
        if loss > Fraction(1, 10**6):
            assert lower(exact_delta(sampled, count, loss * ALMOST)) > 0


@pytest.mark.parametrize("text", CURVES)
@pytest.mark.parametrize("p", [TENTH, HALF, Fraction(97, 100)], ids=str)
def test_the_curve_is_nowhere_below_the_loss_and_within_one_percent_of_it(text: str, p: Fraction) -> None:
    curve = read(text).curve
    found = sampled_warped_curve(Warped(curve), p)
    assert found is not None
    assert found.is_monotone
    assert found.at_most(subsampled_curve(curve, p))
    assert len(found.pieces) <= 40
    losses = sampled_losses(curve, p, found.pieces[-1].start + 300)
    rounding, nothing = Fraction(1, 10**11), Fraction(1, 10**60)
    for count, loss in enumerate(losses, 1):
        level = found.at(count)
        assert isinstance(level, Fraction)
        assert loss * (1 - rounding) - nothing <= level <= loss * WITHIN * (1 + rounding)


def test_a_release_of_a_sample_promises_this_curve() -> None:
    own, *_ = histogram(["a=x,y"], outlier="1:0.01,101:1", sample="0.1").promises()
    assert own.theorem == CURVE_OF_WARPED
    assert isinstance(own.conclusion, OutlierPrivacy)
    assert own.conclusion.curve == sampled_warped_curve(Warped(read("1:0.01,101:1").curve), TENTH)
    level = own.conclusion.curve.at(500)
    assert isinstance(level, Fraction)
    assert level < Fraction(102, 100_000)  # of a crowd of 500 a sample has some 50: not the 0.1586 of crowds of 101


def test_hiding_small_numbers_costs_no_more() -> None:
    shown = Warped(read("slope:0.05<=1").curve, show_above=5)
    assert sampled_warped_curve(shown, TENTH) == sampled_warped_curve(Warped(shown.curve), TENTH)
    assert upper(exact_delta(Subsampled(TENTH, shown), 9, sampled_losses(shown.curve, TENTH, 9)[-1])) < Fraction(
        1, 10**25
    )


@pytest.mark.parametrize("text", ["1", "1:0.1,11:inf", "slope:0.1", "1:0.1,100001:1"])
def test_no_curve_where_nothing_is_gained_or_known(text: str) -> None:
    assert sampled_warped_curve(Warped(read(text).curve), TENTH) is None


def test_no_curve_for_another_channel_or_for_everybody() -> None:
    assert sampled_warped_curve(build("geometric", epsilon=1), TENTH) is None
    assert sampled_warped_curve(Warped(read("slope:0.05<=1").curve), Fraction(1)) is None
