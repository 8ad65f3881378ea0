"""What lies far below a count is one part of the warped law, with the mass of all its values."""

from __future__ import annotations

from flint import arb

from hubbub.channels.mechanisms.warped import Warped
from hubbub.guarantees.curve import read
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
