"""The offsets of a staircase for a delta that was asked for: the smallest whose exact delta is no larger."""

from __future__ import annotations

import math
from collections.abc import Callable

from hubbub.channels.papers.staircase import Staircase, certified, exact_bound, level_certified, level_delta, parsed
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, Infinite, Loss, positive, upper


def calibrated(
    thresholds: tuple[Exact, ...], epsilons: tuple[Exact | Infinite, ...], delta: Exact, *, nested: bool = True
) -> Staircase:
    """The smallest offsets, level by level, whose exact delta is at most `delta` at every count; it is claimed.

    The exact delta is found at c = k_i, where it is largest in every case computed; then every other count of the
    level is certified, by the coupling bound where that is small enough and by the exact law where it is not.
    """
    ks, es = parsed(thresholds, epsilons)
    target = positive(delta, "delta")
    if target >= 1:
        raise WrongUse(f"delta must lie between 0 and 1, not {target}")
    offsets: tuple[int, ...] = ()
    for level in range(1, len(ks) + 1):
        before = offsets[-1] if offsets else 0

        def suffices(offset: int, level: int = level, offsets: tuple[int, ...] = offsets) -> bool:
            trial = Staircase(ks[:level], es[: level + 1], (*offsets, offset), target, nested)
            return upper(level_delta(trial, level, ks[level - 1])) <= target

        offset = _smallest(before, suffices, es[level - 1])
        while not level_certified(Staircase(ks[:level], es[: level + 1], (*offsets, offset), target, nested), level):
            offset += 1
        offsets = (*offsets, offset)
    exact = exact_bound(ks, es, offsets, nested)
    if exact is None:
        certified(Staircase(ks, es, offsets, target, nested))  # refuses what nobody could check again in a while
    return Staircase(ks, es, offsets, target if exact is None else min(exact, target), nested)


def _smallest(least: int, suffices: Callable[[int], bool], rate: Loss) -> int:
    if suffices(least):
        return least
    step = 1 if isinstance(rate, Infinite) else max(math.ceil(1 / rate), 1)
    high = least + step
    while not suffices(high):
        high += step * 4
    low = max(high - step * 4, least)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
