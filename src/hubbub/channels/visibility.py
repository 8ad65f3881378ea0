"""The probability that a bin shows a number, and the law of the number given that it is shown.

Whoever reads a release sees the bins that show a number, and asks what *that* number says. A count near a threshold is
shown only if its noise, or its sample, came out high; so the law behind a number that is shown is the law of the
channel conditioned on showing one. Hidden outcomes are those whose tag begins with ``suppressed``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from hubbub.channels.law import given_visible as given_visible
from hubbub.channels.protocol import LARGEST_COUNT, Channel
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball

STEADY: Final = Fraction(1, 10**9)
"""How far the chance of being hidden may still move where it counts as settled."""

_FAR: Final = 1 << 40


@lru_cache(maxsize=256)
def hides(channel: Channel) -> bool:
    """Whether it hides anything."""
    return channel.hides


@lru_cache(maxsize=65536)
def chance_visible(channel: Channel, count: int) -> arb:
    """A ball around the probability that a bin of so many shows a number; narrow relative to it where it is small."""
    return channel.chance_visible(count)


@lru_cache(maxsize=256)
def steady_from(channel: Channel) -> int | None:
    """A count from which the chance of being hidden stays within :data:`STEADY` of what it is there; None if unknown.

    For noise and then a threshold it is a tail of the first noise; where A of example 8 is on a grid, it does not
    change any more; else it only falls with the count.
    """
    if not hides(channel):
        return 0
    known = channel.exact_from if channel.steady_from is None else channel.steady_from
    return _first_visible(channel) if known is None else known


@lru_cache(maxsize=256)
def largest_usually_hidden(channel: Channel) -> int:
    """About how many people a bin has at most that is more likely hidden than shown; 0 where none is.

    It follows from the laws alone, so that it can be said before anything is counted.
    """
    if not hides(channel):
        return 0

    def is_usually_visible(count: int) -> bool:
        return bool(chance_visible(channel, count) >= ball(Fraction(1, 2)))

    high = 1
    while not is_usually_visible(high):
        high *= 2
        if high > min(_FAR, LARGEST_COUNT):
            return high
    return first(is_usually_visible, high // 2, high) - 1


def describe_hidden_groups(channel: Channel, what: str) -> str:
    """About which bins are not shown of those that are found in the data, in a sentence; nothing where all are. `what`
    they count: people, or rows."""
    most = largest_usually_hidden(channel)
    if not most:
        return ""
    return f"Groups of about {most:,} {what} or fewer are not shown, and nobody is told how many such groups there are."


def _first_visible(channel: Channel) -> int | None:
    def is_visible(count: int) -> bool:
        return bool(chance_visible(channel, count) >= 1 - ball(STEADY))

    high = 1
    while not is_visible(high):
        high *= 2
        if high > min(_FAR, LARGEST_COUNT):
            return None
    return first(is_visible, high // 2, high)
