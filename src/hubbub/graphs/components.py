"""Connected components: most edges lie within one of them, and are passed over once that is known.

First only two edges of each vertex are looked at; they nearly always make the large components already. Of the other
edges those that join two of the components found so far are kept, and settle the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.graph import Graph

_FIRST = 2  # edges of each vertex that are looked at first


def components(graph: Graph) -> tuple[int, NDArray[np.int32]]:
    """How many components the listed vertices make, and which of them each vertex is in."""
    room, starts, ends = graph.listed, graph.starts, graph.ends
    if room == 0:
        return 0, np.empty(0, dtype=np.int32)
    larger = np.diff(starts)
    begin, end = [], []
    for i in range(_FIRST):
        has = np.flatnonzero(larger > i).astype(np.int32)
        begin.append(has)
        end.append(ends[starts[has] + i])
    count, label = _joined(np.concatenate(begin), np.concatenate(end), room)
    one, two = np.repeat(label, larger), label[ends]
    apart = np.flatnonzero(one != two)
    if apart.size:
        count, renamed = _joined(one[apart], two[apart], count)
        label = renamed[label]
    return count, label


def _joined(one: NDArray[np.int32], two: NDArray[np.int32], room: int) -> tuple[int, NDArray[np.int32]]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(one.size, dtype=np.bool_), (one, two)), shape=(room, room)).tocsr()
    count, label = connected_components(links, directed=False)
    return int(count), label
