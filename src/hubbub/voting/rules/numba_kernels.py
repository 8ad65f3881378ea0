"""The move of a pile as a compiled loop, for processes that have numba loaded already.

It does what `Piles` does with arrays. Loading numba takes longer than a count, so nothing here loads it for that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


def advance(flat: Any, width: int, tops: Any, rank: Any, dead: Any, origin: int, moved: Any) -> None:
    """Each ballot whose top is `origin` goes on to its next candidate who is in; `moved` counts where to."""
    none = dead.size - 1
    for i in range(tops.size):
        if tops[i] == origin:
            at, stop = rank[i] + 1, (i + 1) * width
            while at < stop and dead[flat[at]]:
                at += 1
            top = flat[at] if at < stop else none
            rank[i] = at
            tops[i] = top
            moved[top] += 1


@cache
def compiled_advance() -> Callable[..., None]:
    """`advance`, compiled when it is first asked for."""
    from numba import njit

    made: Callable[..., None] = njit(cache=True)(advance)
    return made
