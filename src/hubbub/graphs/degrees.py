"""The degree distribution and the number of triangles, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.graph import Graph

_WORK = 20_000_000  # pairs of neighbours looked at together


def at_least(graph: Graph, max_degree: int) -> NDArray[np.int64]:
    """How many vertices have degree at least 1, 2, ..., max_degree. (All have at least 0.)"""
    counts = np.bincount(graph.degrees(), minlength=max_degree + 2)
    return counts[::-1].cumsum()[::-1][1 : max_degree + 1]


def triangles(graph: Graph) -> int:
    """Each edge points to its end of larger degree; a triangle is an edge whose two steps and whose one step agree.

    So nobody has more than sqrt(2m) edges that point away, and hubs cost no more than others.
    """
    from scipy.sparse import coo_matrix

    if graph.edges == 0:
        return 0
    room, degrees = graph.listed, graph.degrees()
    rank = np.empty(room, dtype=np.int32)
    rank[np.argsort(degrees, kind="stable")] = np.arange(room, dtype=np.int32)
    one = rank[np.repeat(np.arange(room, dtype=np.int32), np.diff(graph.starts))]
    two = rank[graph.ends]
    low, high = np.minimum(one, two), np.maximum(one, two)
    away = coo_matrix((np.ones(low.size, dtype=np.int64), (low, high)), shape=(room, room)).tocsr()
    out = np.diff(away.indptr)
    steps = np.concatenate([[0], np.cumsum(out[away.indices])])[away.indptr]  # pairs of steps before each vertex
    total, begin = 0, 0
    while begin < room:
        stop = max(int(np.searchsorted(steps, steps[begin] + _WORK, side="right")) - 1, begin + 1)
        some = away[begin:stop]
        if some.nnz:
            total += int((some @ away).multiply(some).sum())
        begin = stop
    return total
