"""Exact sums over the rows of a table, whatever they come to.

A sum that is refused, wraps around or takes another path from some number on tells whether one person more is there. So
nothing is decided by what was counted: by declaration alone sums are kept in 64 bits, which is fast, or in whole numbers
of any size. Where a row adds at most 2^24 they fit 64 bits for every table that there is, which has fewer than 2^38
rows; should one have more, its sums are whole numbers of any size too.

Different values of an array. NumPy's own functions of sets load its masked arrays, which takes longer than a small
release needs to be counted.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

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
        high = sums_by(index, values >> _BITS, size, (most >> _BITS) + 1, counts).astype(object)
        low = sums_by(index, values & ((1 << _BITS) - 1), size, 1 << _BITS, counts)
        both: NDArray[Any] = high * (1 << _BITS) + low
        return both
    kind: Any = np.int64 if values.dtype != object and fits(most, rows) else object
    added = values.astype(kind, copy=False)
    found = np.zeros(size, dtype=kind)
    np.add.at(found, index, added if counts is None else counts.astype(kind, copy=False) * added)
    return found


Value = TypeVar("Value", bound=np.generic)


def distinct(values: NDArray[Value]) -> NDArray[Value]:
    """The different values, in order."""
    ordered = np.sort(values)
    return ordered[_is_new(ordered)]


def distinct_and_inverse(values: NDArray[Value]) -> tuple[NDArray[Value], NDArray[np.intp]]:
    """The same, and for each value its place among them; in little time where they are in order already."""
    if _is_in_order(values):
        new = _is_new(values)
        return values[new], np.cumsum(new) - 1
    order = np.argsort(values, kind="stable")
    new = _is_new(values[order])
    places = np.empty(values.size, dtype=np.intp)
    places[order] = np.cumsum(new) - 1
    return values[order][new], places


def _is_in_order(values: NDArray[Any]) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _is_new(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    new = np.ones(ordered.size, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return new
