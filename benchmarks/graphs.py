"""What the exact distances of a graph cost beside bare connected components, and beside igraph and networkx.

Ours is the whole way: Parquet file, labels, duplicates and self-loops, degrees, components. The others are given arrays
of numbers that are ready, and bare scipy keeps duplicates and finds components only. Every task runs in a process of
its own, so that the peak of memory is its own too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from numpy.typing import NDArray

SIZES: Final = ((100_000, 1_000_000), (1_000_000, 10_000_000), (5_000_000, 50_000_000))  # vertices, links
MOST_LINKS: Final = {"igraph": 10_000_000, "networkx": 1_000_000}  # they take minutes, or all memory, beyond that
LIMIT: Final = 1.5
MOST_GIB: Final = 4.0


def make_graph(place: Path, vertices: int, links: int) -> None:
    """Links between random people, a fifth of whom have none."""
    people = vertices * 4 // 5
    duckdb.execute(
        f"COPY (SELECT (hash(i) % {people})::BIGINT AS source, (hash(i + {links}) % {people})::BIGINT AS target "
        f"FROM range({links}) t(i)) TO '{place}' (FORMAT parquet)"
    )


def arrays(place: Path) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The two ends of every link, as numbers that are ready to use."""
    from pyarrow import parquet

    table = parquet.read_table(place)
    one, two = (np.asarray(table.column(name)).astype(np.int32) for name in ("source", "target"))
    return one, two


def ours(place: Path, vertices: int) -> None:
    from pyarrow import parquet  # noqa: F401
    from scipy.sparse import csgraph  # noqa: F401

    from hubbub.graphs.distances import facts
    from hubbub.graphs.readers import load

    start = time.process_time()
    known = facts(load(place, vertices=vertices))
    _done(start, known.components, known.odd)


def bare(place: Path, vertices: int) -> None:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    one, two = arrays(place)
    start = time.process_time()
    matrix = csr_matrix((np.ones(one.size, dtype=np.int8), (one, two)), shape=(vertices, vertices))
    _done(start, int(connected_components(matrix, directed=False)[0]), None)


def igraph(place: Path, vertices: int) -> None:
    import igraph as ig

    links = np.stack(arrays(place), axis=1).astype(np.int64)
    start = time.process_time()
    graph = ig.Graph(n=vertices, edges=links).simplify()
    _done(start, len(graph.connected_components()), int((np.array(graph.degree()) & 1).sum()))


def networkx(place: Path, vertices: int) -> None:
    import networkx as nx

    one, two = arrays(place)
    start = time.process_time()
    graph = nx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from((a, b) for a, b in zip(one.tolist(), two.tolist(), strict=True) if a != b)
    _done(start, nx.number_connected_components(graph), sum(degree & 1 for _, degree in graph.degree()))


def _done(start: float, components: int, odd: int | None) -> None:
    told = {
        "cpu": time.process_time() - start,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "components": components,
        "odd": odd,
    }
    print(json.dumps(told))


TASKS: Final = {"bare": bare, "ours": ours, "igraph": igraph, "networkx": networkx}


def installed(task: str) -> bool:
    """Whether the peer of that name is there; the others always are."""
    return task not in MOST_LINKS or find_spec(task) is not None


def measured(task: str, place: Path, vertices: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.graphs", task, str(place), str(vertices)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    if len(sys.argv) == 4:
        TASKS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for vertices, links in SIZES:
            place = Path(folder) / f"{links}.parquet"
            make_graph(place, vertices, links)
            raw = 0.0
            for task in TASKS:
                if links > MOST_LINKS.get(task, links) or not installed(task):
                    continue
                found = measured(task, place, vertices)
                raw = raw or found["cpu"]
                ratio = found["cpu"] / raw
                verdict = ""
                if task == "ours" and links == SIZES[-1][1]:
                    verdict = "met" if ratio <= LIMIT and found["gib"] <= MOST_GIB else "MISSED"
                cost = f"{found['cpu']:7.2f} s {found['gib']:5.2f} GiB {ratio:7.2f} x bare scipy"
                print(f"{vertices:>9,} vertices {links:>10,} links  {task:9s} {cost} {verdict}", file=sys.stderr)
                print(json.dumps({"vertices": vertices, "links": links, "task": task, "ratio": ratio, **found}))
            place.unlink()


if __name__ == "__main__":
    main()
