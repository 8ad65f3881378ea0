"""The connected components of a graph, by hooking and jumping: whole arrays at a time, without a library of graphs.

Every vertex points to another of its component, at first to itself. In each round the roots at the two ends of a link
that are not the same are hooked, the larger to the smallest that it meets, and then everybody jumps to their root.
Links inside a component are dropped, so that later rounds are short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]


def connected_components(one: NDArray[Any], two: NDArray[Any], room: int) -> tuple[int, Numbers]:
    """How many components the links between 0..room-1 make, and the number of each vertex's component.

    Guarantee: two vertices have one number if and only if a path of links joins them. (A pointer always leads to a
    smaller vertex of the same component, so there is no circle; and while a link joins two roots, the larger is hooked.)
    """
    root = np.arange(room, dtype=np.int32)
    while one.size:
        first, second = root[one], root[two]
        apart = first != second
        one, two, first, second = one[apart], two[apart], first[apart], second[apart]
        np.minimum.at(root, np.maximum(first, second), np.minimum(first, second))
        root = _jumped(root)
    return _numbered(root)


def _jumped(root: Numbers) -> Numbers:
    """Everybody at their root."""
    while True:
        further = root[root]
        if np.array_equal(further, root):
            return root
        root = further


def _numbered(root: Numbers) -> tuple[int, Numbers]:
    """Roots numbered from 0, in their order."""
    is_root = root == np.arange(root.size, dtype=np.int32)
    numbers = np.cumsum(is_root, dtype=np.int32) - np.int32(1)
    return int(is_root.sum()), numbers[root]
