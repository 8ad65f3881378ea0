"""How much work the laws of a staircase are, known before any is made: whoever signs a certificate chooses how wide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol

from hubbub.numeric.exact import Infinite, Loss

MOST_VALUES: Final = 600_000  # in all tables of laws that are worked out to one end: some seconds
_REACH: Final = 74  # a table reaches 74 / epsilon from where its noise begins: beyond that lies less than 10^-32


class Tabulated(Protocol):
    """A channel whose laws are tables."""

    def table_values(self, count: int) -> int:
        """How many values those of a count have."""
        ...  # pragma: no cover


def table_values(count: int, epsilons: Sequence[Loss], cuts: Sequence[int], *, nested: bool) -> int:
    """How many values the tables of a count's law have, about, and not much less than that: each reaches from where the
    noises so far may have led up to the cut of its level, however far above the count that lies."""
    first, total, ways = count - _reach(epsilons[0]), 0, 1
    for rate, cut in zip(epsilons[1:], cuts, strict=True):
        if not rate or cut < first:
            break
        total += ways * (cut - first + 1 + _reach(rate))
        first -= _reach(rate)
        ways *= 1 if nested else 2
    return total


def _reach(rate: Loss) -> int:
    return 0 if isinstance(rate, Infinite) or not rate else math.ceil(_REACH / rate)


class Room:
    """How many values of tables may still be worked out: a share of :data:`MOST_VALUES`."""

    def __init__(self, parts: int = 1) -> None:
        self._left = MOST_VALUES // parts

    def has(self, channel: Tabulated, *counts: int) -> bool:
        """Whether there is room for the laws of these counts; then it is taken."""
        self._left -= sum(map(channel.table_values, counts))
        return self._left >= 0
