"""Formulas and sensitivities, held against every graph with up to six vertices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hubbub.graphs.degrees import at_least, triangles
from hubbub.graphs.distances import Facts, edges_away, facts
from hubbub.graphs.graph import Graph, simple
from hubbub.graphs.statistics import Size, Statistic, from_without, most, sensitivity
from tests.unit.graphs.small_graphs import (
    Ints,
    all_facts,
    bits_of,
    degrees,
    fewest_changes,
    friends,
    graph_of,
    pairs,
    representatives,
)

DISTANCES = [Statistic.CONNECTIVITY, Statistic.EULERIAN, Statistic.CYCLE_FREENESS]
COUNTS = [*DISTANCES, Statistic.EDGES]
SHAPES = {1: 1, 2: 2, 3: 4, 4: 11, 5: 34, 6: 156}


@pytest.mark.parametrize("n", SHAPES)
def test_the_shapes_are_all_there(n: int) -> None:
    assert len(representatives(n)) == SHAPES[n]


@pytest.mark.parametrize("of", DISTANCES)
@pytest.mark.parametrize("n", SHAPES)
def test_the_formula_is_the_fewest_changes_on_every_graph(n: int, of: Statistic) -> None:
    known = all_facts(n)
    held = {
        Statistic.CONNECTIVITY: known.components == 1,
        Statistic.EULERIAN: (known.components == 1) & (known.odd <= 2),
        Statistic.CYCLE_FREENESS: known.edges == n - known.components,
    }[of]
    assert np.array_equal(edges_away(of, known), fewest_changes(np.asarray(held)))


def test_a_wrong_formula_is_noticed() -> None:
    known = all_facts(4)
    circuit = fewest_changes(np.asarray((known.components == 1) & (known.odd == 0)))
    bound = np.asarray(known.odd) // 2 + np.where(np.asarray(known.components) >= 2, known.even_components, 0)
    assert int((circuit != bound).sum()) == 20  # the circuit version has no such formula


@pytest.mark.parametrize("n", SHAPES)
def test_the_facts_of_every_shape(n: int) -> None:
    known = all_facts(n)
    for mask in representatives(n):
        found = facts(graph_of(mask, n))
        wanted = {name: int(np.asarray(getattr(known, name))[mask]) for name in Facts.__slots__ if name != "vertices"}
        assert found == Facts(vertices=n, **wanted)


def by_vertex(values: Ints, n: int) -> Ints:
    """graph without the edges of vertex 0, edges of vertex 0 -> value."""
    return values.reshape(-1, 2 ** (n - 1), *values.shape[1:])


def widest(values: Ints, allowed: Ints) -> int:
    top = np.where(allowed, values, -99).max(axis=1)
    bottom = np.where(allowed, values, 99).min(axis=1)
    return int((top - bottom).max())


@pytest.mark.parametrize("of", [*COUNTS, Statistic.TRIANGLES])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_edges_of_one_vertex_move_a_count_by_at_most_its_sensitivity(n: int, of: Statistic) -> None:
    values = np.asarray(triangles_of_all(n) if of is Statistic.TRIANGLES else edges_away(of, all_facts(n)))
    for d in range(1, n):
        allowed = by_vertex(np.asarray(all_facts(n).largest_degree <= d), n)
        found = widest(by_vertex(values, n), allowed)
        claimed = sensitivity(of, Size(vertices=n, max_degree=d))
        assert found <= claimed
        if of is not Statistic.EULERIAN or (d <= 2 and n >= 3):
            assert found == claimed, "the sensitivity is not sharp"


@pytest.mark.parametrize("of", COUNTS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_from_a_vertex_without_edges_a_count_changes_between_two_numbers(n: int, of: Statistic) -> None:
    values = by_vertex(np.asarray(edges_away(of, all_facts(n))), n)
    for d in range(1, n):
        size = Size(vertices=n, max_degree=d)
        allowed = by_vertex(np.asarray(all_facts(n).largest_degree <= d), n)
        change = (values - values[:, :1])[allowed]
        low, high = from_without(of, size)
        assert low <= change.min() <= change.max() <= high
        assert high - low == sensitivity(of, size)
        if of is not Statistic.EULERIAN:
            assert (change.min(), change.max()) == (low, high), "the two numbers are not sharp"


@pytest.mark.parametrize("of", COUNTS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_no_graph_is_beyond_the_range(n: int, of: Statistic) -> None:
    values = np.asarray(edges_away(of, all_facts(n)))
    for d in range(1, n):
        here = values[np.asarray(all_facts(n).largest_degree) <= d]
        assert here.min() >= 0
        assert here.max() <= most(of, Size(vertices=n, max_degree=d))


@pytest.mark.parametrize("d", range(3, 8))
def test_eulerian_moves_by_d(d: int) -> None:
    """A path of d + 2 and d isolated vertices: a vertex whose friends are the inner ones, or the isolated ones."""
    path = [(i, i + 1) for i in range(1, d + 2)]
    inner, isolated = range(2, d + 2), range(d + 3, 2 * d + 3)
    found = []
    for chosen in (inner, isolated):
        links = np.array([*path, *((0, friend) for friend in chosen)])
        found.append(edges_away(Statistic.EULERIAN, facts(simple(links[:, 0], links[:, 1], 2 * d + 3))))
    assert abs(found[0] - found[1]) == d == sensitivity(Statistic.EULERIAN, Size(vertices=2 * d + 3, max_degree=d))


def triangles_of_all(n: int) -> Ints:
    near = friends(n)
    masks = bits_of(n)
    total = sum(
        (masks >> i & 1) * np.bitwise_count(near[:, a] & near[:, b]).astype(np.int64)
        for i, (a, b) in enumerate(pairs(n))
    )
    return np.asarray(total) // 3 + np.zeros_like(masks)


def tails_of_all(n: int) -> Ints:
    """graph, j -> vertices of degree at least j, j = 1..n-1."""
    found: Ints = (degrees(n)[:, :, None] >= np.arange(1, n)).sum(axis=1)
    return found


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_degree_histogram_moves_by_at_most_2d(n: int) -> None:
    tails = by_vertex(tails_of_all(n), n)
    for d in range(1, n):
        allowed = by_vertex(np.asarray(all_facts(n).largest_degree <= d), n)
        worst = 0
        for i in range(tails.shape[1]):
            apart = np.abs(tails - tails[:, i : i + 1]).sum(axis=2)
            worst = max(worst, int(np.where(allowed & allowed[:, i : i + 1], apart, 0).max()))
        assert worst == sensitivity(Statistic.DEGREE_COUNTS, Size(vertices=n, max_degree=d))


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_one_edge_moves_histogram_and_triangles_by_their_sensitivity(n: int) -> None:
    masks, small = bits_of(n), np.asarray(all_facts(n).largest_degree)
    tails, corners = tails_of_all(n), triangles_of_all(n)
    for d in range(1, n):
        size = Size(vertices=n, max_degree=d)
        moved, closed = 0, 0
        for i in range(len(pairs(n))):
            other = masks ^ (1 << i)
            both = (small <= d) & (small[other] <= d)
            moved = max(moved, int(np.abs(tails - tails[other]).sum(axis=1)[both].max()))
            closed = max(closed, int(np.abs(corners - corners[other])[both].max()))
        assert moved == sensitivity(Statistic.DEGREE_COUNTS, size, per_edge=True)
        assert closed == sensitivity(Statistic.TRIANGLES, size, per_edge=True)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_triangles_and_degrees_of_every_shape(n: int) -> None:
    corners, tails = triangles_of_all(n), tails_of_all(n)
    for mask in representatives(n):
        graph = graph_of(mask, n)
        assert triangles(graph) == corners[mask]
        assert at_least(graph, n - 1).tolist() == tails[mask].tolist()


def test_triangles_in_pieces_are_all_triangles(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    links = rng.integers(0, 60, (500, 2))
    graph = simple(links[:, 0], links[:, 1], 60)
    whole = triangles(graph)
    monkeypatch.setattr("hubbub.graphs.degrees._WORK", 50)
    assert triangles(graph) == whole > 0


def test_vertices_that_are_not_listed_are_components() -> None:
    graph = Graph(10, np.array([0, 1, 1]), np.array([1], dtype=np.int32))
    found = facts(graph)
    assert (found.components, found.even_components, found.odd) == (9, 8, 2)
    assert edges_away(Statistic.EULERIAN, found) == 8
    assert at_least(graph, 2).tolist() == [2, 0]


@pytest.mark.parametrize("vertices", [0, 1, 2])
def test_graphs_without_edges(vertices: int) -> None:
    none = np.empty(0, dtype=np.int64)
    found = facts(simple(none, none, vertices))
    assert (found.components, found.edges, found.largest_degree) == (vertices, 0, 0)
    assert triangles(simple(none, none, vertices)) == 0


@pytest.mark.parametrize(
    ("of", "d", "graphs", "wrong"),
    [
        (Statistic.CONNECTIVITY, 2, 1858, 312),
        (Statistic.CONNECTIVITY, 3, 12_068, 30),
        (Statistic.EULERIAN, 3, 12_068, 810),
    ],
)
def test_the_formulas_fail_if_the_nearest_graph_had_to_keep_the_degrees(
    of: Statistic, d: int, graphs: int, wrong: int
) -> None:
    known = all_facts(6)
    small = np.asarray(known.largest_degree) <= d
    held = np.asarray(known.components) == 1
    if of is Statistic.EULERIAN:
        held &= np.asarray(known.odd) <= 2
    apart = np.asarray(edges_away(of, known)) != fewest_changes(held & small)
    assert (int(small.sum()), int((apart & small).sum())) == (graphs, wrong)


def test_a_distance_exceeds_1_where_nobody_has_two_friends() -> None:
    """The paper takes the range of a distance to be 1; without any edge and with d = 1 it is 2 - 2/n."""
    none = np.empty(0, dtype=np.int64)
    size = Size(vertices=10, max_degree=1)
    away = edges_away(Statistic.CONNECTIVITY, facts(simple(none, none, 10)))
    assert away / size.most_edges == 2 - Fraction(2, 10) > 1
