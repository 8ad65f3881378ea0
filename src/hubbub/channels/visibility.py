"""Which counts are shown, and what is published given that they are.

Whoever reads a release sees the bins that show a number, and asks what *that* number says. A count near a threshold is
shown only if its noise, or its sample, came out high; so the law behind a number that is shown is the law of the
channel conditioned on showing one. Hidden outcomes are those whose tag begins with ``suppressed``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.channels.law import SUPPRESSED, Law
from hubbub.channels.mechanisms.exact_or_suppressed import ExactOrSuppressed
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.papers.lower_bound import LowerBound
from hubbub.channels.papers.outliers import OutlierSuppressed
from hubbub.channels.papers.simple_outliers import SimpleSuppressed
from hubbub.channels.papers.staircase import Staircase
from hubbub.channels.protocol import LARGEST_COUNT, Channel
from hubbub.numeric.exact import Infinite, Loss, ball

STEADY: Final = Fraction(1, 10**9)
"""How far the chance of being hidden may still move where it counts as settled."""

_FAR: Final = 1 << 40


def given_visible(law: Law) -> Law:
    """The outcomes that show a number, as they stand: their total is the chance of being shown."""
    if not any(tag.startswith(SUPPRESSED) for tag in law.tags):
        return law
    return Law(
        tuple(block for block in law.blocks if not block.tag.startswith(SUPPRESSED)),
        tuple(table for table in law.dense if not table.tag.startswith(SUPPRESSED)),
        law.tags,
        law.missing,
        law.order,
    )


@lru_cache(maxsize=256)
def hides(channel: Channel) -> bool:
    """Whether it hides anything."""
    if isinstance(channel, Warped):
        return channel.show_above is not None
    if isinstance(channel, LowerBound):
        return True
    tags = channel.tags if isinstance(channel, Staircase) else channel.law(0).tags  # its law may be a wide table
    return any(tag.startswith(SUPPRESSED) for tag in tags)


@lru_cache(maxsize=65536)
def chance_visible(channel: Channel, count: int) -> arb:
    """A ball around the probability that a bin of so many shows a number; narrow relative to it where it is small."""
    if isinstance(channel, Warped):
        return channel.mass_at_least(count, 0)
    return given_visible(channel.law(count)).total()


def exact_from(channel: Channel) -> int | None:
    """The count from which everything is shown as it is, below which everything is hidden; None if it is not so."""
    if isinstance(channel, ExactOrSuppressed):
        return channel.k
    return channel.k + 1 if isinstance(channel, SimpleSuppressed) else None


@lru_cache(maxsize=256)
def steady_from(channel: Channel) -> int | None:
    """A count from which the chance of being hidden stays within :data:`STEADY` of what it is there; None if unknown.

    For noise and then a threshold it is a tail of the first noise; where A of example 8 is on a grid, it does not
    change any more; else it only falls with the count.
    """
    if not hides(channel):
        return 0
    first = exact_from(channel)
    if first is not None:
        return first
    if isinstance(channel, Staircase | OutlierSuppressed):
        rate: Loss = channel.epsilons[0] if isinstance(channel, Staircase) else channel.epsilon
        return channel.last_change + 1 + (0 if isinstance(rate, Infinite) else math.ceil(21 / rate))
    if isinstance(channel, LowerBound) and channel.made.settled is not None:
        return channel.made.settled
    return _first_visible(channel)


def _first_visible(channel: Channel) -> int | None:
    def is_visible(count: int) -> bool:
        return bool(chance_visible(channel, count) >= 1 - ball(STEADY))

    high = 1
    while not is_visible(high):
        high *= 2
        if high > min(_FAR, LARGEST_COUNT):
            return None
    low = high // 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_visible(middle) else (middle + 1, high)
    return low
