"""A few people of a table, chosen by their ids alone: the same ones in every table that they are in.

An engine ranks ids by a hash that somebody's secret number turns, and lists those with the lowest ranks. So two tables
of the same people list the same ids, however they are sorted, converted or named, and of a part of them the part. What
is listed are ids: it stays between the engine and the ledger, which keeps a keyed hash of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final

from hubbub.runtime.frozen import dataclass

EVERYBODY: Final = 1 << 64
"""Above every rank."""


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Everybody whose rank is below `limit`. Private: no message and no file has any of it."""

    way: str  # by which hash they were ranked: ranks of two ways say nothing of each other
    ids: tuple[str, ...] = field(repr=False)
    ranks: tuple[int, ...] = field(repr=False)  # 0..2^64-1
    limit: int = EVERYBODY


@dataclass(frozen=True, slots=True, eq=False)
class IdObserver:
    """Whom an engine tells, before it counts, who is in a table; `on_chosen` may refuse."""

    turn: int  # the secret number, 0..2^64-1
    most: int  # how many are wanted
    on_chosen: Callable[[Chosen], None]
