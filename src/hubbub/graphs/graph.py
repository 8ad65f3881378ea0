"""A simple graph without directions, as arrays.

The rule by which links become edges: the direction of a link is ignored, links between the same two people are one edge
however often they are listed, and a link from somebody to themselves is none (but it shows that they exist). It
matters: whether a degree is odd depends on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.graphs.statistics import MOST_VERTICES
from hubbub.runtime.frozen import dataclass

Numbers = NDArray[np.integer]
_SECOND = (1 << 32) - 1  # the bits of a link's second end

RULE = (
    "direction is ignored, links between the same two are one edge, links from one to itself are dropped, "
    "and weights are not looked at"
)


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Vertices 0, 1, ..., of which those from `listed` on have no edge and no room in the arrays."""

    vertices: int
    starts: Numbers  # vertex -> where its larger neighbours begin in `ends`, and one past the last
    ends: NDArray[np.int32]  # larger neighbours, rising for each vertex

    @property
    def edges(self) -> int:
        return int(self.ends.size)

    @property
    def listed_vertices(self) -> int:
        """How many vertices the arrays speak of."""
        return int(self.starts.size) - 1

    def degrees(self) -> NDArray[np.int64]:
        """The degree of each listed vertex."""
        degrees: NDArray[np.int64] = np.bincount(self.ends, minlength=self.listed_vertices)
        degrees += np.diff(self.starts)
        return degrees


def simple(one: Numbers, other: Numbers, vertices: int, listed: int | None = None) -> Graph:
    """The graph of these links between 0..listed-1, by the rule above.

    A link is one number, and numbers that are equal stand together once they are sorted.
    """
    room = vertices if listed is None else listed
    if not 0 <= room <= vertices <= MOST_VERTICES:
        raise WrongUse("a graph has at most 2^31 - 1 vertices; split it")
    if one.size == 0:
        return Graph(vertices, np.zeros(room + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    low, high = np.minimum(one, other, dtype=np.int32), np.maximum(one, other, dtype=np.int32)
    if int(low.min()) < 0 or int(high.max()) >= room:
        raise WrongUse(f"links must be between vertices numbered from 0 to {room - 1}; check the numbers")
    loops = low == high
    if loops.any():
        np.logical_not(loops, out=loops)
        low, high = low[loops], high[loops]
    return Graph(vertices, *by_first(link_codes(low, high), room))


def link_codes(one: Numbers, other: Numbers) -> NDArray[np.int64]:
    """A number for each link, in the order of its first end and then of its second."""
    links = one.astype(np.int64)
    links <<= 32
    links |= other
    return links


def by_first(links: NDArray[np.int64], room: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Numbered links, sorted in place, each once: where those of each first end begin, and their second ends, rising."""
    links.sort()
    new = np.ones(links.size, dtype=np.bool_)
    np.not_equal(links[1:], links[:-1], out=new[1:])
    if not new.all():
        links = links[new]
    starts = np.zeros(room + 1, dtype=np.int64)
    np.cumsum(np.bincount(links >> 32, minlength=room), out=starts[1:])
    return starts, (links & _SECOND).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The friends of every listed vertex, both smaller and larger, rising."""

    vertices: int
    starts: Numbers
    ends: NDArray[np.int32]

    def of_vertex(self, vertex: int) -> NDArray[np.int32]:
        if vertex >= self.starts.size - 1:
            return self.ends[:0]
        return self.ends[self.starts[vertex] : self.starts[vertex + 1]]

    def degree(self, vertex: int) -> int:
        return 0 if vertex >= self.starts.size - 1 else int(self.starts[vertex + 1] - self.starts[vertex])


def neighbours(graph: Graph) -> Neighbours:
    """Each edge from both its ends: a vertex's smaller neighbours, sorted by it, before the larger ones, which are."""
    room, larger = graph.listed_vertices, np.diff(graph.starts)
    links = link_codes(graph.ends, np.repeat(np.arange(room, dtype=np.int32), larger))
    links.sort()
    many = np.stack([np.bincount(graph.ends, minlength=room), larger], axis=1)
    is_smaller = np.repeat(np.tile([True, False], room), many.ravel())
    ends = np.empty(is_smaller.size, dtype=np.int32)
    ends[is_smaller] = (links & _SECOND).astype(np.int32)
    ends[~is_smaller] = graph.ends
    starts = np.zeros(room + 1, dtype=np.int64)
    np.cumsum(many.sum(axis=1), out=starts[1:])
    return Neighbours(graph.vertices, starts, ends)
