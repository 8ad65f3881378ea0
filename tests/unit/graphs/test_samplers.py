"""The samplers on graphs that are hard for them: large cycles beside isolated vertices, hubs, and real errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.graphs.distances import edges_away, facts
from hubbub.graphs.graph import Graph, neighbours, simple
from hubbub.graphs.samplers import error, estimate_of, estimates, sample_for, seshadhri, seshadhri_interval
from hubbub.graphs.statistics import Sampling, Size, Statistic
from hubbub.noise.source import ScriptedSource

COUNTS = [Statistic.CONNECTIVITY, Statistic.EULERIAN, Statistic.CYCLE_FREENESS, Statistic.EDGES]


def cycles(length: int, many: int, isolated: int) -> Graph:
    """Many cycles of one length, and vertices without friends."""
    at = np.arange(length * many)
    following = np.where((at + 1) % length == 0, at + 1 - length, at + 1)
    return simple(at, following, length * many + isolated)


def giant(vertices: int, links: int, isolated: int) -> Graph:
    rng = np.random.default_rng(11)
    ends = rng.integers(0, vertices, (links, 2))
    return simple(ends[:, 0], ends[:, 1], vertices + isolated)


HARD = {
    "cycles just too long": cycles(30, 40, 1200),
    "cycles just short enough": cycles(29, 40, 500),
    "half isolated": giant(1000, 3000, 1000),
    "pairs": simple(np.arange(0, 2000, 2), np.arange(1, 2001, 2), 2001),
    "hub": simple(np.zeros(1500, dtype=np.int64), np.arange(1, 1501), 2000),
}


def test_the_sample_for_an_error() -> None:
    assert sample_for("0.05", "0.05") == Sampling(k=1660, s=30)
    assert sample_for("0.05", "1/3") == Sampling(k=807, s=30)
    gamma, how = Fraction(1, 50), sample_for("0.02", "0.01")
    n = 10**9
    for of in COUNTS[:2]:
        assert error(of, Size(vertices=n, max_degree=5), how, "0.01") <= gamma * n


@pytest.mark.parametrize("of", COUNTS)
@pytest.mark.parametrize("name", HARD)
def test_the_error_stays_inside_the_bound_on_hard_graphs(name: str, of: Statistic) -> None:
    """Size: with beta = 1e-6 a run fails once in a million; power: a fifth of the bound would fail somewhere below."""
    graph = HARD[name]
    known = facts(graph)
    size = Size(vertices=graph.vertices, max_degree=known.largest_degree)
    how, around = Sampling(k=200, s=30), neighbours(graph)
    limit = error(of, size, how, "1e-6")
    source = ScriptedSource.from_label(f"{name} {of.value}")
    off = [abs(estimate_of(of, around, how, source) - edges_away(of, known)) for _ in range(5)]
    assert max(off) <= limit


def test_the_bias_of_long_cycles_is_all_that_is_allowed() -> None:
    """Everybody on cycles of exactly s: the estimate says (1/s + 1/n)/2 for each, half of the truth, every time."""
    graph, how = cycles(30, 100, 0), Sampling(k=50, s=30)
    found = estimate_of(Statistic.CONNECTIVITY, neighbours(graph), how, ScriptedSource.from_label("cycles"))
    truth = edges_away(Statistic.CONNECTIVITY, facts(graph))
    assert abs(found - truth) == (Fraction(3000, 30) - 1) / 2


@pytest.mark.parametrize("name", ["half isolated", "hub", "pairs"])
def test_seshadhri_is_unbiased_and_inside_its_interval(name: str) -> None:
    """The mean of 40 runs is within 5 standard errors by the proved variance; 1.5 times the mean is not."""
    graph = HARD[name]
    known = facts(graph)
    n, k, runs = graph.vertices, 400, 40
    average = 2 * known.edges / n
    around, source = neighbours(graph), ScriptedSource.from_label(f"friends {name}")
    found = [seshadhri(around, k, source) for _ in range(runs)]
    mean = float(sum(found)) / runs
    limit = 5 * math.sqrt(4 * average * math.sqrt(n * average) / (k * runs))
    assert abs(mean - average) <= limit, (runs, mean, average, limit)
    for value in found:
        low, high = seshadhri_interval(value, n, known.largest_degree, k, "1e-4")
        assert low <= Fraction(2 * known.edges, n) <= high
        assert 0 <= low <= high <= known.largest_degree


def test_every_draw_of_all_vertices_is_the_truth_where_nothing_is_large() -> None:
    graph = cycles(5, 20, 30)
    known = facts(graph)
    size, how = Size(vertices=130, max_degree=2), Sampling(k=130, s=10)
    of = (*COUNTS[:3], Statistic.AVERAGE_DEGREE)
    found = estimates(graph, size, of, how, Fraction(95, 100), ScriptedSource.from_label("all"))
    for each, name in zip(found, of, strict=False):
        truth = Fraction(edges_away(name, known))
        assert each.value == (truth * 2 / 130 if name is Statistic.AVERAGE_DEGREE else truth)
        assert each.low <= each.value <= each.high
        assert set(each.as_json()) >= {"of", "value", "low", "high", "samples", "explores"}
        assert len(each.cells()) == 4
    assert len(found) == 5


def test_a_chance_is_between_0_and_1() -> None:
    size, how = Size(vertices=10, max_degree=2), Sampling(k=2, s=2)
    for beta in ("0", "1", "2"):
        with pytest.raises(WrongUse):
            error(Statistic.EDGES, size, how, beta)
    with pytest.raises(WrongUse):
        sample_for("1", "0.1")
