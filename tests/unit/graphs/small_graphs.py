"""Every graph with a few vertices, as bits: bit i is the i-th pair of vertices; those of vertex 0 come first."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.distances import Facts
from hubbub.graphs.graph import Graph, simple

Ints = NDArray[np.int64]


def pairs(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


def bits_of(n: int) -> Ints:
    return np.arange(2 ** len(pairs(n)), dtype=np.int64)


def graph_of(mask: int, n: int) -> Graph:
    chosen = [pair for i, pair in enumerate(pairs(n)) if mask >> i & 1]
    ends = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    return simple(ends[:, 0], ends[:, 1], n)


@cache
def friends(n: int) -> Ints:
    """graph, vertex -> its friends as bits."""
    masks = bits_of(n)
    found = np.zeros((masks.size, n), dtype=np.int64)
    for i, (a, b) in enumerate(pairs(n)):
        there = masks >> i & 1
        found[:, a] |= there << b
        found[:, b] |= there << a
    return found


@cache
def degrees(n: int) -> Ints:
    return np.bitwise_count(friends(n)).astype(np.int64)


@cache
def all_facts(n: int) -> Facts:
    """The facts of every graph with n vertices, each an array; worked out here, and not by the package."""
    masks, near = bits_of(n), friends(n)
    reach = near | (1 << np.arange(n))
    for _ in range(n.bit_length()):
        reach = reach | sum_or(np.where(reach[:, :, None] >> np.arange(n) & 1, reach[:, None, :], 0))
    odd = degrees(n) & 1
    odd_bits = (odd << np.arange(n)).sum(axis=1)
    first = (reach & -reach) == (1 << np.arange(n))  # the smallest vertex of its component
    even = (reach & odd_bits[:, None]) == 0
    return Facts(
        vertices=n,
        edges=np.bitwise_count(masks).astype(np.int64),
        components=first.sum(axis=1),
        odd=odd.sum(axis=1),
        even_components=(first & even).sum(axis=1),
        largest_degree=degrees(n).max(axis=1),
    )


def sum_or(parts: Ints) -> Ints:
    found: Ints = np.bitwise_or.reduce(parts, axis=2)
    return found


def fewest_changes(has_property: NDArray[np.bool_]) -> Ints:
    """For every graph, how many pairs must be changed to reach one with the property: a flood over all graphs."""
    steps = np.where(has_property, 0, 99)
    masks = np.arange(has_property.size)
    places = int(has_property.size).bit_length() - 1
    while True:
        better = steps
        for i in range(places):
            better = np.minimum(better, steps[masks ^ (1 << i)] + 1)
        if (better == steps).all():
            return steps
        steps = better


@cache
def representatives(n: int) -> tuple[int, ...]:
    """One graph of each shape."""
    masks, listed = bits_of(n), pairs(n)
    place = {pair: i for i, pair in enumerate(listed)}
    least = masks
    for order in permutations(range(n)):
        moved = np.zeros_like(masks)
        for i, (a, b) in enumerate(listed):
            one, two = sorted((order[a], order[b]))
            moved |= (masks >> i & 1) << place[one, two]
        least = np.minimum(least, moved)
    return tuple(np.flatnonzero(least == masks).tolist())
