"""What published cells tell of their sums: the sum of what is shown, and between which numbers the truth lies.

Hidden cells hold at most k - 1 people each, so a sum is certain within that. Where cells below k have noise, the sum of
all published values is off by the noise of those cells alone: one of a value far above k is exact but with a tiny
chance, and of the few others the noises partly cancel (:mod:`hubbub.channels.mechanisms.noise_reach`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.mechanisms.noise_reach import reach_of_one_side, reach_of_sum
from hubbub.numeric.clamped_interval import clamped_intervals
from hubbub.runtime.frozen import dataclass

Numbers = NDArray[np.int64]
_MOST: Final = 1 << 62  # people: as many can be added to it


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Of each margin's bins: the sum of the cells that show a number, how many these are, and an interval."""

    values: Numbers
    visible: Numbers
    low: Numbers
    high: Numbers  # -1 where there is no upper end


def sum_crowds(k: int, values: Numbers, visible: Numbers, inside: int | None) -> Sums:
    """Sums of exact counts, where `inside` cells make up a bin (None: nobody knows how many).

    Guarantee: the true sum lies in low..high with certainty: each of the inside - shown cells that are hidden holds
    0 to k - 1 people, and no published number says more about them. An end that 64 bits may not hold is none.
    """
    if inside is None or inside * (k - 1) > _MOST:
        return Sums(values, visible, values, np.full_like(values, -1))
    return Sums(values, visible, values, values + (inside - visible) * (k - 1))


def sum_noisy_cells(
    k: int, rate: Fraction, cells: Numbers, which: Numbers, size: int, inside: int, coverage: Fraction
) -> Sums:
    """Sums of cells of which those below k have noise of that rate; `which` says to which of `size` bins a cell belongs.

    Guarantee: whatever the counts are, the interval of a bin holds its true sum with a chance of at least `coverage`,
    each bin by itself. Half of what may go wrong is that a noise exceeds R, of any of the bin's cells; if none does,
    a cell with a value of at least k + R is exact. The other half is that the noises of the cells below k, which are
    no more than the n cells with smaller values, add up to more than their reach.
    """
    tail = (1 - coverage) / 2
    far = k + reach_of_one_side(rate, inside, tail)
    values = np.zeros(size, dtype=np.int64)
    np.add.at(values, which, cells)
    doubtful = np.bincount(which[cells < far], minlength=size)
    several, where = np.unique(doubtful, return_inverse=True)
    reach = np.array([reach_of_sum(rate, n, tail) for n in several.tolist()], dtype=np.int64)[where]
    return Sums(values, np.full(size, inside, dtype=np.int64), *clamped_intervals(values, reach))
