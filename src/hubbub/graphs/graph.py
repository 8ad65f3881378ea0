"""A simple graph without directions, as arrays.

The rule by which links become edges: the direction of a link is ignored, links between the same two people are one edge
however often they are listed, and a link from somebody to themselves is none (but it shows that they exist). It
matters: whether a degree is odd depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.graphs.statistics import MOST_VERTICES

Numbers = NDArray[np.integer]

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
    def listed(self) -> int:
        """How many vertices the arrays speak of."""
        return int(self.starts.size) - 1

    def degrees(self) -> NDArray[np.int64]:
        """The degree of each listed vertex."""
        degrees: NDArray[np.int64] = np.bincount(self.ends, minlength=self.listed)
        degrees += np.diff(self.starts)
        return degrees


def simple(one: Numbers, other: Numbers, vertices: int, listed: int | None = None) -> Graph:
    """The graph of these links between 0..listed-1, by the rule above.

    A counting pass puts the links of each vertex together, and only these few are sorted.
    """
    from scipy.sparse import coo_matrix

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
    matrix = coo_matrix((np.ones(low.size, dtype=np.bool_), (low, high)), shape=(room, room)).tocsr()
    return Graph(vertices, matrix.indptr, matrix.indices.astype(np.int32, copy=False))


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The friends of every listed vertex, both smaller and larger, rising."""

    vertices: int
    starts: Numbers
    ends: NDArray[np.int32]

    def of(self, vertex: int) -> NDArray[np.int32]:
        if vertex >= self.starts.size - 1:
            return self.ends[:0]
        return self.ends[self.starts[vertex] : self.starts[vertex + 1]]

    def degree(self, vertex: int) -> int:
        return 0 if vertex >= self.starts.size - 1 else int(self.starts[vertex + 1] - self.starts[vertex])


def neighbours(graph: Graph) -> Neighbours:
    """Each edge from both its ends."""
    from scipy.sparse import csr_matrix

    room = graph.listed
    upper = csr_matrix((np.ones(graph.edges, dtype=np.bool_), graph.ends, graph.starts), shape=(room, room))
    both = (upper + upper.T).tocsr()
    both.sort_indices()
    return Neighbours(graph.vertices, both.indptr, both.indices.astype(np.int32, copy=False))
