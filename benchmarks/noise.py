"""Exact noise per second of processor time, beside OpenDP in the same run: ``python -m benchmarks.noise``.

Both draw the same law, the two-sided geometric with the given epsilon, on a vector of integers; both are exact in the
integers (OpenDP's by rejection with big rationals, one value at a time). The repeats are interleaved, so that a busy
machine slows both; the best repeat of each counts. One JSON line per row goes to stdout, the table to stderr.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from hubbub.noise.sampler import bernoulli_exp, geometric, two_sided_geometric
from hubbub.noise.source import SystemSource

REPEATS: Final = 7
OURS: Final = 4_000_000  # samples per repeat
PEERS: Final = 50_000
COMPARED: Final = ("1", "0.1", "0.01")
ALONE: Final = ("50", "10", "1/3", "0.001", "0.00001", "0.000001")

Task = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Row:
    """Millions of samples per second of processor time; `peer` and `ratio` are None where nothing was compared."""

    law: str
    epsilon: str
    hubbub: float
    peer: float | None
    ratio: float | None
    samples: int = OURS
    peer_samples: int = PEERS


def peer(epsilon: str) -> Task | None:
    """OpenDP's discrete Laplace on a vector of integers, if it is installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    prelude: Any = dp
    domain = prelude.vector_domain(prelude.atom_domain(T=int))
    noise = prelude.m.make_laplace(domain, prelude.l1_distance(T=int), scale=float(1 / Fraction(epsilon)))
    values = [0] * PEERS
    return lambda: noise(values)


def seconds(task: Task) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def measure(law: str, epsilon: str, ours: Task, theirs: Task | None) -> Row:
    best, best_peer = float("inf"), float("inf")
    ours()  # makes the tables, once, as a program would
    for _ in range(REPEATS):
        best = min(best, seconds(ours))
        if theirs is not None:
            best_peer = min(best_peer, seconds(theirs))
    rate = OURS / best / 1e6
    if theirs is None:
        return Row(law, epsilon, rate, None, None)
    peer_rate = PEERS / best_peer / 1e6
    return Row(law, epsilon, rate, peer_rate, rate / peer_rate)


def rows() -> list[Row]:
    source = SystemSource()

    def drawing(draw: Callable[[str, int, SystemSource], np.ndarray[Any, Any]], epsilon: str) -> Task:
        return lambda: draw(epsilon, OURS, source)

    found = [
        measure("two-sided geometric", epsilon, drawing(two_sided_geometric, epsilon), peer(epsilon))
        for epsilon in COMPARED
    ]
    found += [measure("two-sided geometric", epsilon, drawing(two_sided_geometric, epsilon), None) for epsilon in ALONE]
    found += [measure("geometric", epsilon, drawing(geometric, epsilon), None) for epsilon in ("1", "0.000001")]
    found += [measure("Bernoulli(exp(-r))", "1", drawing(bernoulli_exp, "1"), None)]
    return found


def main() -> None:
    print(
        f"{'law':<22}{'epsilon':>10}{'hubbub':>12}{'OpenDP':>12}{'ratio':>9}   (million per CPU second)",
        file=sys.stderr,
    )
    for row in rows():
        beside = f"{'':>12}{'':>9}" if row.peer is None else f"{row.peer:>12.3f}{row.ratio:>9.0f}"
        print(f"{row.law:<22}{row.epsilon:>10}{row.hubbub:>12.1f}{beside}", file=sys.stderr)
        print(json.dumps({"benchmark": "noise", **asdict(row)}))


if __name__ == "__main__":
    main()
