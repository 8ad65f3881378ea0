"""The warped law at its ends: nothing told, everything told, values that are hidden, and slopes that are parted."""

from __future__ import annotations

import pytest
from flint import arb

from hubbub.channels.law import SUPPRESSED
from hubbub.channels.mechanisms.warped import Warped
from hubbub.guarantees.curve import read
from hubbub.numeric.exact import exp

CLOSE = arb(10) ** -20


def one_by_one(channel: Warped, count: int, lo: int, hi: int) -> arb:
    here = channel.total_loss(count)
    return sum(
        (channel.weight(j).value * exp(-abs(channel.total_loss(j) - here)) for j in range(lo, hi + 1)),
        arb(0),
    )


@pytest.mark.parametrize("count", [0, 2, 4, 5, 9])
def test_what_is_shown_up_to_a_value_is_the_sum_of_its_values(count: int) -> None:
    channel = Warped(read("1:0.5,6:1").curve, 3)
    for value in (3, 4, 6, 12):
        assert abs(channel.mass_at_most(count, value) - one_by_one(channel, count, 4, value)) < CLOSE


def test_beyond_an_endless_step_a_count_is_itself() -> None:
    channel = Warped(read("1:0.5,5:inf").curve)
    assert [float(channel.mass_at_most(7, value).mid()) for value in (5, 6, 7, 8)] == [0, 0, 1, 1]
    assert [float(channel.mass_at_least(7, value).mid()) for value in (6, 7, 8)] == [1, 1, 0]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_where_only_0_is_hidden_it_is_an_outcome(count: int) -> None:
    channel = Warped(read("1:0.5").curve, 0)
    law = channel.law(count)
    (hidden,) = (block for block in law.blocks if block.tag == SUPPRESSED)
    assert abs(hidden.total() - one_by_one(channel, count, 0, 0)) < CLOSE
    assert abs(sum((block.total() for block in law.blocks), arb(0)) - 1) < CLOSE


def test_a_number_that_tells_nothing_leaves_every_count_open() -> None:
    assert Warped(read("1:0").curve).counts_within(0, arb(1) / 100) == (0, None)
    low, high = Warped(read("1:1").curve).counts_within(50, arb(1) / 100) or (0, None)
    assert 40 < low <= 50 <= (high or 0) < 60


@pytest.mark.parametrize(("lo", "cut", "first"), [(10, 10, (10, 20)), (10, 15, (10, 14)), (16, 15, (16, 20))])
def test_a_slope_is_parted_where_it_goes_past_the_cut(lo: int, cut: int, first: tuple[int, int]) -> None:
    channel = Warped(read("slope:0.01").curve)
    assert next(channel._segments(lo, 20, cut)) == first


def test_what_is_certain_is_one_value() -> None:
    nothing, steps = Warped(read("1:0").curve), Warped(read("1:0.5,5:inf").curve)
    assert [(block.lo, block.hi) for block in nothing.law(3).blocks] == [(0, 0)]
    assert [(block.lo, block.hi) for block in steps.law(7).blocks] == [(7, 7)]
    curves = ("1:0", "1:0,5:inf", "1:0.5,5:inf", "slope:0.01")
    assert [Warped(read(curve).curve).certain for curve in curves] == [True, True, False, False]
