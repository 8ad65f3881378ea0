"""The degree distribution and the number of triangles, exactly."""

from __future__ import annotations

from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.graph import Graph, by_first, link_codes
from hubbub.protocol.drawing import Bar, Bars

_MOST_BARS: Final = 200
_WORK = 4_000_000  # pairs of steps looked at together
_ODD = np.uint64(0x9E3779B97F4A7C15)  # spreads numbers that run


def at_least(graph: Graph, max_degree: int) -> NDArray[np.int64]:
    """How many vertices have degree at least 1, 2, ..., max_degree. (All have at least 0.)"""
    counts = np.bincount(graph.degrees(), minlength=max_degree + 2)
    return counts[::-1].cumsum()[::-1][1 : max_degree + 1]


def triangles(graph: Graph) -> int:
    """Each edge points to its end of larger degree; a triangle is an edge whose two steps and whose one step agree.

    So nobody has more than sqrt(2m) edges that point away, and hubs cost no more than others.
    """
    if graph.edges == 0:
        return 0
    room, degrees = graph.listed_vertices, graph.degrees()
    rank = np.empty(room, dtype=np.int32)
    rank[np.argsort(degrees, kind="stable")] = np.arange(room, dtype=np.int32)
    one = rank[np.repeat(np.arange(room, dtype=np.int32), np.diff(graph.starts))]
    two = rank[graph.ends]
    starts, ends = by_first(link_codes(np.minimum(one, two), np.maximum(one, two)), room)
    begins = np.repeat(np.arange(room, dtype=np.int64) << 32, np.diff(starts))
    out = np.diff(starts)[ends]  # second steps after each edge
    edges = _Edges(begins | ends)
    before = np.concatenate([[0], np.cumsum(out)])
    total, begin = 0, 0
    while begin < out.size:
        stop = max(int(np.searchsorted(before, before[begin] + _WORK, side="right")) - 1, begin + 1)
        many = out[begin:stop]
        places = np.arange(before[begin], before[stop]) - np.repeat(before[begin:stop] - starts[ends[begin:stop]], many)
        total += edges.count_edges(np.repeat(begins[begin:stop], many) | ends[places])
        begin = stop
    return total


class _Edges:
    """The edges as rising numbers, and a bitmap of a hash of each that rules most others out at one look."""

    def __init__(self, edges: NDArray[np.int64]) -> None:
        self._edges = edges
        self._bits = max(int(edges.size * 8 - 1).bit_length(), 3)
        self._met = np.zeros(1 << self._bits, dtype=np.bool_)
        self._met[self._hash(edges)] = True

    def _hash(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        spread: NDArray[np.uint64] = (numbers.view(np.uint64) * _ODD) >> np.uint64(64 - self._bits)
        return spread

    def count_edges(self, numbers: NDArray[np.int64]) -> int:
        """How many of these are edges."""
        left = numbers[self._met[self._hash(numbers)]]
        at = np.searchsorted(self._edges, left)
        return int((self._edges[np.minimum(at, self._edges.size - 1)] == left).sum())


WARNING: Final = "PRIVATE: these are the exact degrees of real people. Do not publish, send or keep this page."


def draw_degrees(graph: Graph) -> Bars:
    """How many people have at least 0, 1, 2, ... friends, exactly; of many degrees every so many-th."""
    found = graph.degrees()
    largest = int(found.max()) if found.size else 0
    counts = [graph.vertices, *at_least(graph, largest).tolist()]
    every = ceil(len(counts) / _MOST_BARS)
    return Bars(
        bars=tuple(Bar(f"{i:,}", counts[i], counts[i], counts[i]) for i in range(0, len(counts), every)),
        by="friends, at least",
        numbers="people",
        upright=True,
        bar="Exact number of people with at least so many friends",
        line="",
        note=WARNING,
    )
