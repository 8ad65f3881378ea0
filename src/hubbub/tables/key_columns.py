"""The names of the columns of a published table: its keys, its numbers and its status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hubbub.tables.bins import Countable

_NUMBERS: Final = ("count", "low", "high")
_BESIDE: Final = ("count", "estimate", "low", "high")
STATUS: Final = "status"


def number_columns(estimated: bool, counted: str = "count") -> tuple[str, ...]:
    """The names of the columns of numbers, with an estimate or without; the first says what is counted."""
    return (counted, *(_BESIDE if estimated else _NUMBERS)[1:])


def key_columns(axes: Sequence[Countable], ours: Sequence[str] = (*_BESIDE, STATUS)) -> list[str]:
    """The names of the key columns; one that would collide with a column of ours gets `by_` in front."""
    taken, names = set(ours), []
    for axis in axes:
        name = axis.column
        while name in taken:
            name = f"by_{name}"
        taken.add(name)
        names.append(name)
    return names
