"""What lies far below a count is one part of the warped law, with the mass of all its values."""

from __future__ import annotations

from flint import arb

from hubbub.channels.mechanisms.warped import Warped
from hubbub.guarantees.curve import read, slope
from hubbub.numeric.exact import exp


def test_a_lump_of_low_values_has_the_mass_of_its_values() -> None:
    """Steps of 50 just below the count, and values up to 100 hidden: the sums of W1, less what is hidden."""
    channel = Warped(read("1:0.01,200:50").curve, 100)
    (lump,) = (block for block in channel.law(203).blocks if (block.lo, block.hi) == (101, 199))
    here = channel.total_loss(203)
    exact = sum(
        (channel.weight(j).value * exp(channel.total_loss(j) - here) for j in range(101, 200)),
        arb(0),
    )
    assert abs(lump.total() / exact - 1) < arb(10) ** -20
    assert exact > 0


def test_a_slope_on_either_side_of_a_count_has_the_mass_of_its_values() -> None:
    channel = Warped(slope("0.02", cap=1), None)
    for law, count in zip(channel.neighbours(20), (20, 19), strict=True):
        by_value = channel.law(count)
        lumps = [block for block in law.blocks if block.hi is not None and block.hi > block.lo and block.hi < 50]
        assert {block.hi < 20 for block in lumps} == {True, False}, "one below the cut and one from it on"
        for lump in lumps:
            assert lump.hi is not None
            exact = sum((by_value.mass(value) for value in range(lump.lo, lump.hi + 1)), arb(0))
            assert abs(lump.total() / exact - 1) < arb(10) ** -20
