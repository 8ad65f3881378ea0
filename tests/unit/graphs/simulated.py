"""The exact law of the simulator on every graph with five vertices, and its largest distance from a release."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from hubbub.graphs.distances import edges_away
from hubbub.graphs.graph import Neighbours, neighbours
from hubbub.graphs.statistics import Sampling, Statistic
from hubbub.numeric.exact import ball
from tests.unit.graphs.simulator import Points, exact_loss, rounded_law
from tests.unit.graphs.small_graphs import all_facts, graph_of, pairs


@cache
def around(mask: int, n: int) -> Neighbours:
    return neighbours(graph_of(mask, n))


@cache
def law(ofs: tuple[Statistic, ...], mask: int, k: int, s: int, centres: tuple[Fraction, ...] | None = None) -> Points:
    return rounded_law(ofs, around(mask, N), Sampling(k=k, s=s), centres)


N = 5
WITHOUT = [mask for mask in range(2 ** len(pairs(N))) if not mask & (2 ** (N - 1) - 1)]  # vertex 0 has no edges


def neighbouring(of: tuple[Statistic, ...], d: int) -> dict[int, set[tuple[int, ...]]]:
    """graph without the edges of vertex 0 -> the counts of all graphs that have edges there, degree at most d."""
    known = all_facts(N)
    values = list(zip(*(edges_away(each, known).tolist() for each in of), strict=True))  # type: ignore[attr-defined]
    small = (known.largest_degree <= d).tolist()  # type: ignore[attr-defined]
    found: dict[int, set[tuple[int, ...]]] = {}
    for mask in WITHOUT:
        counts = {values[mask | edges] for edges in range(2 ** (N - 1)) if small[mask | edges]}
        if counts:
            found[mask] = counts
    return found


def worst_loss(
    ofs: tuple[Statistic, ...],
    d: int,
    how: Sampling,
    scales: list[Fraction],
    centres: tuple[Fraction, ...] | None = None,
) -> float:
    """Over all graphs with five vertices and all people; equal laws are compared once."""
    met: set[tuple[frozenset[tuple[tuple[int, ...], Fraction]], tuple[int, ...]]] = set()
    worst = ball(0)
    for mask, counts in neighbouring(ofs, d).items():
        simulated = law(ofs, mask, how.k, how.s, centres)
        name = frozenset(simulated.items())
        for count in counts:
            if (name, count) not in met:
                met.add((name, count))
                worst = worst.max(exact_loss(simulated, count, scales))
    return float(worst.upper())
