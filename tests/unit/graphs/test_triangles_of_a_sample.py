"""Triangles, simulated by those of a few people: what zero-knowledge would cost, on every graph with five vertices."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, floor

import pytest

from hubbub.graphs.degrees import triangles
from hubbub.graphs.noise_scale import scale_for, spread
from hubbub.graphs.statistics import Bounds
from hubbub.numeric.exact import ball
from tests.unit.graphs.simulated import WITHOUT, N
from tests.unit.graphs.simulator import exact_loss
from tests.unit.graphs.small_graphs import friends, graph_of


def of_each(mask: int) -> list[int]:
    """vertex -> the triangles that it is in."""
    near = friends(N)[mask].tolist()
    return [
        sum(near[a] >> b & 1 for a, b in combinations(range(N), 2) if near[v] >> a & near[v] >> b & 1) for v in range(N)
    ]


def simulated(mask: int, k: int, centre: Fraction) -> dict[tuple[int, ...], Fraction]:
    """The law of the rounded estimate: n/3 times the mean of k people's triangles, and the centre."""
    law: dict[tuple[int, ...], Fraction] = {}
    each = of_each(mask)
    for drawn in combinations(range(N), k):
        mean = Fraction(N, 3 * k) * sum(each[v] for v in drawn) + centre
        for at, chance in ((floor(mean), 1 - (mean - floor(mean))), (floor(mean) + 1, mean - floor(mean))):
            if chance:
                law[at,] = law.get((at,), Fraction(0)) + chance / comb(N, k)
    return law


@pytest.mark.parametrize(("d", "k"), [(4, 2), (3, 3), (4, 4)])
def test_mgf_theorem_triangles_told_by_a_sample(d: int, k: int) -> None:
    closed, reach = d * (d - 1) // 2, Fraction(N * d * (d - 1), 6)
    limits = Bounds(sensitivity=closed, most=reach, bias=Fraction(0), reach=reach, from_without=(0, closed))
    scale, worst = scale_for(spread(limits, k, N, centred=True), Fraction(1)), ball(0)
    degree = friends(N)
    for mask in WITHOUT:
        law = simulated(mask, k, limits.centre)
        met = {
            triangles(graph_of(mask | edges, N))
            for edges in range(2 ** (N - 1))
            if max(int(each).bit_count() for each in degree[mask | edges]) <= d
        }
        for count in met:
            assert 0 <= count - Fraction(sum(of_each(mask)), 3) <= closed
            worst = worst.max(exact_loss(law, (count,), [scale]))
    assert 0.3 < float(worst.upper()) <= 1
