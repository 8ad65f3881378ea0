"""Exact counts of a graph, and from them how many edges it is away from each property.

The connected components of a graph, by hooking and jumping: whole arrays at a time, without a library of graphs.

Every vertex points to another of its component, at first to itself. In each round the roots at the two ends of a link
that are not the same are hooked, the larger to the smallest that it meets, and then everybody jumps to their root.
Links inside a component are dropped, so that later rounds are short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.graphs.graph import Graph
from hubbub.graphs.statistics import Statistic
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the distances are made of. As private as the graph."""

    vertices: int
    edges: int
    components: int
    odd: int  # vertices of odd degree
    even_components: int  # components without such a vertex
    largest_degree: int


def facts(graph: Graph) -> Facts:
    """One pass for degrees, one for components; vertices that are not listed are components of their own."""
    degrees = graph.degrees()
    count, label = components(graph)
    odd = np.flatnonzero(degrees & 1)
    touched = np.zeros(count, dtype=np.bool_)
    touched[label[odd]] = True
    isolated = graph.vertices - graph.listed_vertices
    return Facts(
        vertices=graph.vertices,
        edges=graph.edges,
        components=count + isolated,
        odd=int(odd.size),
        even_components=count - int(touched.sum()) + isolated,
        largest_degree=int(degrees.max()) if degrees.size else 0,
    )


def edges_away(of: Statistic, known: Facts) -> int:
    """The count behind a statistic: the fewest edges to add or take away until the property holds, or all there are.

    Guarantee: exact for every simple graph with at least one vertex. Connectivity: each new edge joins at most two
    components. Cycle-freeness: a spanning forest stays. Eulerian (a path through all edges, connected on all
    vertices): each changed edge mends at most two odd vertices, and an even component needs two ends of changed edges
    to be joined; two such ends may be saved. Chaining the components through odd vertices, and then pairing the odd
    vertices that are left, reaches the bound.
    """
    match of:
        case Statistic.CONNECTIVITY:
            return known.components - 1
        case Statistic.EULERIAN:
            return known.odd // 2 + known.even_components - 1
        case Statistic.CYCLE_FREENESS:
            return known.edges - known.vertices + known.components
        case Statistic.EDGES | Statistic.AVERAGE_DEGREE:
            return known.edges
        case _:
            raise WrongUse(f"{of.value} is no distance; see hubbub.graphs.degrees")


# Connected components: most edges lie within one of them, and are passed over once that is known.
#
# First only two edges of each vertex are looked at; they nearly always make the large components already. Of the other
# edges those that join two of the components found so far are kept, and settle the rest.


_FIRST = 2  # edges of each vertex that are looked at first


def components(graph: Graph) -> tuple[int, NDArray[np.int32]]:
    """How many components the listed vertices make, and which of them each vertex is in."""
    room, starts, ends = graph.listed_vertices, graph.starts, graph.ends
    if room == 0:
        return 0, np.empty(0, dtype=np.int32)
    larger = np.diff(starts)
    begin, end = [], []
    for i in range(_FIRST):
        has = np.flatnonzero(larger > i).astype(np.int32)
        begin.append(has)
        end.append(ends[starts[has] + i])
    count, label = connected_components(np.concatenate(begin), np.concatenate(end), room)
    one, two = np.repeat(label, larger), label[ends]
    apart = np.flatnonzero(one != two)
    if apart.size:
        count, renamed = connected_components(one[apart], two[apart], count)
        label = renamed[label]
    return count, label


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
        root = _jump_to_roots(root)
    return _number_roots(root)


def _jump_to_roots(root: Numbers) -> Numbers:
    """Everybody at their root."""
    while True:
        further = root[root]
        if np.array_equal(further, root):
            return root
        root = further


def _number_roots(root: Numbers) -> tuple[int, Numbers]:
    """Roots numbered from 0, in their order."""
    is_root = root == np.arange(root.size, dtype=np.int32)
    numbers = np.cumsum(is_root, dtype=np.int32) - np.int32(1)
    return int(is_root.sum()), numbers[root]
