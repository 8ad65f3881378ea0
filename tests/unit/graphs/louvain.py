"""Communities by modularity, for a test that needs some: move vertices while it helps, then join and begin again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.graph import Graph


def communities(graph: Graph, resolution: float, least: int, seed: int = 1) -> NDArray[np.int64]:
    """Each vertex's community, numbered from 0; -1 for those in communities of fewer than `least`."""
    rng = np.random.default_rng(seed)
    one = np.repeat(np.arange(graph.listed_vertices), np.diff(graph.starts))
    links: list[dict[int, float]] = [{} for _ in range(graph.vertices)]
    for a, b in zip(one.tolist(), graph.ends.tolist(), strict=True):
        links[a][b] = links[b][a] = 1.0
    loops = [0.0] * graph.vertices
    place = np.arange(graph.vertices)
    while True:
        home = _moved(links, loops, resolution, rng)
        names = {name: i for i, name in enumerate(dict.fromkeys(home))}
        if len(names) == len(home):
            break
        home = [names[name] for name in home]
        place = np.array(home)[place]
        links, loops = _joined(links, loops, home, len(names))
    sizes = np.bincount(place)
    kept = np.where(sizes >= least, np.cumsum(sizes >= least) - 1, -1)
    return kept[place]


def _moved(links: list[dict[int, float]], loops: list[float], resolution: float, rng: np.random.Generator) -> list[int]:
    weight = [sum(near.values()) + loop for near, loop in zip(links, loops, strict=True)]
    total = sum(weight)
    home, held = list(range(len(links))), weight.copy()
    moved = True
    while moved:
        moved = False
        for v in rng.permutation(len(links)).tolist():
            near: dict[int, float] = {}
            for u, w in links[v].items():
                near[home[u]] = near.get(home[u], 0.0) + w
            held[home[v]] -= weight[v]
            gain = {c: w - resolution * weight[v] * held[c] / total for c, w in near.items()}
            stay = near.get(home[v], 0.0) - resolution * weight[v] * held[home[v]] / total
            best = max(gain, key=lambda c: (gain[c], -c), default=home[v])
            if gain.get(best, stay) > stay + 1e-9:
                home[v], moved = best, True
            held[home[v]] += weight[v]
    return home


def _joined(
    links: list[dict[int, float]], loops: list[float], home: list[int], count: int
) -> tuple[list[dict[int, float]], list[float]]:
    larger: list[dict[int, float]] = [{} for _ in range(count)]
    inside = [0.0] * count
    for v, near in enumerate(links):
        inside[home[v]] += loops[v]
        for u, w in near.items():
            if home[u] == home[v]:
                inside[home[v]] += w
            else:
                larger[home[v]][home[u]] = larger[home[v]].get(home[u], 0.0) + w
    return larger, inside
