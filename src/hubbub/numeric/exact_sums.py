"""Exact sums over the rows of a table, whatever they come to.

A sum that is refused, wraps around or takes another path from some number on tells whether one person more is there. So
nothing is decided by what was counted: by declaration alone sums are kept in 64 bits, which is fast, or in whole numbers
of any size. Where a row adds at most 2^24 they fit 64 bits for every table that there is, which has fewer than 2^38
rows; should one have more, its sums are whole numbers of any size too.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MOST_ROWS: Final = 1 << 38
"""More rows than a table has."""

_MOST: Final = 1 << 62
_BITS: Final = 24  # of a number that so many rows may add


def fits(most: int, rows: float = MOST_ROWS) -> bool:
    """Whether sums of so many rows fit 64 bits with their noise, each of which adds at most `most`; of any table, if it
    is not said of how many."""
    return most * max(rows, MOST_ROWS) <= _MOST


def sums_by(
    index: NDArray[np.int64], values: NDArray[Any], size: int, most: int, counts: NDArray[np.int64] | None = None
) -> NDArray[Any]:
    """The sum of the values of each index below `size`; with `counts` each value counts so often.

    Guarantee: exact, if no value is above `most` in absolute value, or if those that are have several rows each and all
    of them come to no more than `most` a row.
    """
    rows = values.size if counts is None else float(counts.sum(dtype=np.float64))
    if values.dtype != object and rows <= MOST_ROWS and not fits(most):  # in two parts, which are summed apart
        high = sums_by(index, values >> _BITS, size, (most >> _BITS) + 1, counts)
        low = sums_by(index, values & ((1 << _BITS) - 1), size, 1 << _BITS, counts)
        both: NDArray[Any] = low + high.astype(object) * (1 << _BITS)
        return both
    kind: Any = np.int64 if values.dtype != object and fits(most, rows) else object
    added = values.astype(kind, copy=False)
    found = np.zeros(size, dtype=kind)
    np.add.at(found, index, added if counts is None else counts.astype(kind, copy=False) * added)
    return found
