"""E5: the staircase as printed keeps its promise and hides nearly everything; nested, it keeps both promise and counts.

The i-th threshold contains the noise of all levels before, for bins too that never got any of it. With thresholds 1000,
100, 10 the last cut is 1120, above the first one, and every bin below it is hidden.
"""

from __future__ import annotations

import pytest
from flint import arb

from hubbub.channels.law import SUPPRESSED, Block, Dense
from hubbub.channels.papers import staircase
from hubbub.channels.papers.staircase import Staircase
from hubbub.channels.profile import exact_delta, judge, profile
from hubbub.guarantees.verdict import Refuted
from hubbub.numeric.exact import ball, upper
from tests.witnesses.family import rounds_to

STAIRS = ((1000, 100, 10), ("1", "0.1", "0.01", "0"))
NESTED = staircase.from_alpha(*STAIRS, 10)
PRINTED = staircase.from_alpha(*STAIRS, 10, nested=False)


def hidden(channel: Staircase, count: int) -> arb:
    """The probability that nothing is shown."""
    law = channel.law(count)
    return sum((part.total() for part in law.blocks if part.tag.startswith(SUPPRESSED)), arb(0))


def expected_error(channel: Staircase, count: int) -> arb:
    """E|what is published - count|; a hidden bin counts as 0 and a negative value as 0."""
    total = arb(0)
    for part in channel.law(count).parts:
        if isinstance(part, Dense):
            values = enumerate(part.masses, part.lo)
            total += sum((abs(max(value, 0) - count) * mass for value, mass in values), arb(0))
        elif part.tag.startswith(SUPPRESSED):
            total += count * part.total()
        else:
            total += sum((abs(max(value, 0) - count) * part.mass(value) for value in near(part, count)), arb(0))
    return total


def near(block: Block, count: int) -> range:
    """The values of a block within 300 of the count, where all but e^-30 of these laws is."""
    cut = block.restrict(count - 300, count + 300)
    return range(0) if cut is None or cut.lo is None or cut.hi is None else range(cut.lo, cut.hi + 1)


def test_e5_the_cuts_cross() -> None:
    assert PRINTED.cuts == NESTED.cuts == (1010, 210, 1120)


@pytest.mark.parametrize("count", [300, 800, 1005, 1030, 1100])
def test_e5_as_printed_every_bin_is_hidden(count: int) -> None:
    assert hidden(PRINTED, count) > ball("0.9999")
    assert hidden(NESTED, count) < ball("1e-4")


@pytest.mark.parametrize(("count", "nested"), [(300, "10.1"), (800, "10.1"), (1005, "10.1"), (1030, "0.85")])
def test_e5_the_expected_error(count: int, nested: str) -> None:
    assert rounds_to(expected_error(PRINTED, count), str(count))
    assert rounds_to(expected_error(NESTED, count), nested)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_e5_the_promise_is_the_same(count: int) -> None:
    """With the bits released, at the worst count of each level."""
    epsilon, delta = NESTED.claim.loss_at(count)
    one, other = (exact_delta(channel, count, epsilon) for channel in (NESTED, PRINTED))
    assert upper(one) <= delta
    assert upper(other) <= delta
    for channel in (NESTED, PRINTED):
        assert not isinstance(judge(channel, profile(channel, [count])), Refuted)
