"""Equal rows of a table of small whole numbers, found by one number for each row."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]

_ROOM: Final = 1 << 62


def row_keys(rows: NDArray[np.integer]) -> Keys:
    """A number for each row: equal for equal rows, and ordered as the rows are, the first column first.

    Guarantee: exact. Digits of a number that would not fit into 62 bits are ranked first, which keeps their order.
    """
    keys, span = np.zeros(len(rows), dtype=np.int64), 1
    if not len(rows):
        return keys
    for column in rows.T:
        least = int(column.min())
        base = int(column.max()) - least + 1
        if span * base >= _ROOM:
            ranks = np.unique(keys, return_inverse=True)[1].reshape(-1)
            keys, span = ranks.astype(np.int64), int(ranks.max()) + 1
        keys *= base
        keys += column
        keys -= least
        span *= base
    return keys


def equal_rows(rows: NDArray[np.integer], weights: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Where each different row comes first, in the order of the rows, and the weights of those equal to it together."""
    if not len(rows):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
    keys = row_keys(rows)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return order[starts], np.add.reduceat(weights[order], starts)
