"""The move of a pile as a compiled loop, for processes that have numba loaded already.

It does what `Piles` does with arrays. Loading numba takes longer than a count, so nothing here loads it for that.
"""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator]
def advance(flat: Any, width: int, tops: Any, place: Any, dead: Any, origin: int, moved: Any) -> None:
    """Each ballot whose top is `origin` goes on to its next candidate who is in; `moved` counts where to."""
    none = dead.size - 1
    for i in range(tops.size):
        if tops[i] == origin:
            at, stop = place[i] + 1, (i + 1) * width
            while at < stop and dead[flat[at]]:
                at += 1
            top = flat[at] if at < stop else none
            place[i] = at
            tops[i] = top
            moved[top] += 1
