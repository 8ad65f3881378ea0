"""Where a condition that stays true once it is true begins to hold."""

from __future__ import annotations

from collections.abc import Callable


def first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number in low..high where it holds; `high` itself is taken to be one.

    >>> first(lambda n: n * n >= 50, 0, 100)
    8
    """
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def first_from(holds: Callable[[int], bool], low: int) -> int:
    """The smallest number from `low` on where it holds, which it must somewhere.

    >>> first_from(lambda n: n * n >= 5000, 3)
    71
    """
    if holds(low):
        return low
    step = 1
    while not holds(low + step):
        step *= 2
    return first(holds, low + step // 2 + 1, low + step)
