"""From the sampled count of a path that is shown to how many ballots went that way: an interval for each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.exact import ball


@lru_cache(maxsize=65536)
def path_interval(count: int, k: int, sample: Fraction | None, coverage: Fraction) -> tuple[int, int]:
    """Guarantee: given that the path is shown (at least k of its ballots were sampled), the interval misses its number
    of ballots with probability at most 1 - coverage, at most half of it on either side. A number c is left out below if
    Pr[Bin(c, p) >= count] is at most a tail of Pr[Bin(c, p) >= k]; above, being shown only makes counts larger."""
    if sample is None:
        return count, count
    tail = ball((1 - coverage) / 2)
    low = _first(lambda c: not at_least(c, sample, count) <= tail * at_least(c, sample, k), count)
    return low, _first(lambda c: bool(at_most(c, sample, count) <= tail), count) - 1


def _first(holds: Callable[[int], bool], least: int) -> int:
    """The smallest c >= least where a condition that stays true holds."""
    step = 1
    while not holds(least + step - 1):
        step *= 2
    lo, hi = least + step // 2, least + step - 1
    while lo < hi:
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if holds(middle) else (middle + 1, hi)
    return lo
