"""Published tables that cannot all be true, settled: whole cells of at least 0 whose sums are near every table.

The cells minimise the sum of weight times squared distance over the tables among those of at least 0 (accelerated
projected gradients, in floats: nothing is promised of them but that they are whole, at least 0, and add up), and are
then rounded, the largest remainders up, so that their sum stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_ROUNDS: Final = 500
_STILL: Final = 1e-3  # people: a round that moves no cell by more is the last

Level = frozenset[int]


def settled(
    sizes: Sequence[int],
    levels: Sequence[Level],
    weights: Sequence[float],
    tables: Sequence[NDArray[np.int64]],
    fixed: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """The cells, in order; the first table is that of the cells, and those that are `fixed` stay as they are there.

    >>> cells, sums = np.array([5, -2, -3, 9]), np.array([0, 6])
    >>> settled([2, 2], [frozenset({0, 1}), frozenset({0})], [1, 1], [cells, sums]).tolist()
    [3, 0, 0, 7]
    """
    shape = tuple(sizes)
    aims = [_spread(table.astype(float), level, shape) for level, table in zip(levels, tables, strict=True)]
    step = 1 / sum(
        weight * prod(n for a, n in enumerate(shape) if a not in level)
        for level, weight in zip(levels, weights, strict=True)
    )
    still = np.zeros(shape, dtype=bool) if fixed is None else fixed.reshape(shape)
    cells = np.where(still, aims[0], np.maximum(aims[0], 0))
    ahead, pace = cells, 1.0
    for _ in range(_ROUNDS):
        slope: NDArray[Any] = np.zeros(shape)
        for level, weight, aim in zip(levels, weights, aims, strict=True):
            away = tuple(a for a in range(len(shape)) if a not in level)
            slope = slope + weight * (ahead.sum(axis=away, keepdims=True) - aim)
        following = np.where(still, cells, np.maximum(ahead - step * slope, 0))
        moved = float(np.abs(following - cells).max(initial=0))
        faster = (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        ahead = following + (pace - 1) / faster * (following - cells)
        cells, pace = following, faster
        if moved < _STILL:
            break
    return _rounded(cells.reshape(-1))


def _spread(table: NDArray[Any], level: Level, shape: tuple[int, ...]) -> NDArray[Any]:
    return table.reshape([n if a in level else 1 for a, n in enumerate(shape)])


def _rounded(cells: NDArray[Any]) -> NDArray[np.int64]:
    floors: NDArray[np.int64] = np.floor(cells).astype(np.int64)
    missing = round(float((cells - floors).sum()))
    largest = np.argsort(floors - cells, kind="stable")[:missing]
    floors[largest] += 1
    return floors
