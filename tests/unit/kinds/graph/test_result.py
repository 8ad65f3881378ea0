"""What a graph release promises and publishes."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.demo.friends import PEOPLE, friends
from hubbub.errors import Refused, WrongUse
from hubbub.graphs.distances import edges_away, facts
from hubbub.graphs.graph import Graph, simple
from hubbub.graphs.noise_scale import JOINT, THEOREM
from hubbub.graphs.statistics import Size, Statistic
from hubbub.guarantees.definitions import DifferentialPrivacy, ExplorationSample, NeighbourhoodSample, ZeroKnowledge
from hubbub.kinds.graph.mechanism import NoisyCounts, present, truth
from hubbub.kinds.graph.promises import EDGE, VERTEX, promises
from hubbub.kinds.graph.result import Answer, falling
from hubbub.kinds.graph.spec import GraphSpec
from hubbub.noise.source import RecordingSource, ReplaySource, ScriptedSource, Source
from hubbub.protocol.measurement import Measurement, release

MAX_DEGREE = 40  # nobody in the town has as many friends

TOWN = Size(vertices=PEOPLE, max_degree=MAX_DEGREE)
CONN, EUL, CYC, DEG, EDGES, HIST, TRI = Statistic


def spec(*of: Statistic, epsilon: str = "1", samples: int | None = 500, size: Size = TOWN, **more: Any) -> GraphSpec:
    return GraphSpec(size=size, of=of, epsilon=Fraction(epsilon), samples=samples, **more)


def answers(graph: Graph, asked: GraphSpec, source: Source) -> tuple[Answer, ...]:
    return present(asked, Measurement(counts=release(NoisyCounts(asked), truth(graph, asked), source))).answers


def run(graph: Graph, asked: GraphSpec, label: str = "answers") -> tuple[Answer, ...]:
    return answers(graph, asked, ScriptedSource.from_label(label))


# --- promises -----------------------------------------------------------------------------------------------------


def test_one_count_is_zero_knowledge_and_differentially_private() -> None:
    one, private = promises(spec(CONN))
    assert one.conclusion == ZeroKnowledge(epsilon=Fraction(1), aggregate=ExplorationSample(k=500, s=45))
    assert one.theorem.name == THEOREM
    assert VERTEX in one.assumptions
    claim = private.conclusion
    assert isinstance(claim, DifferentialPrivacy)
    assert isinstance(claim.epsilon, Fraction)
    exact = Fraction(40) / spec(CONN).scale(CONN)
    assert exact <= claim.epsilon < exact * (1 + Fraction(1, 10**5)) < Fraction(1, 2)


def test_degrees_need_the_friends_of_the_samples_only() -> None:
    one, _ = promises(spec(DEG, EDGES))
    assert one.conclusion == ZeroKnowledge(epsilon=Fraction(1), aggregate=NeighbourhoodSample(k=500, radius=1))


def test_several_counts_of_one_sample_and_by_composition() -> None:
    together, composed, private = promises(spec(CONN, EUL, DEG, epsilon="0.25"))
    assert together.theorem.name == JOINT
    for derivation, k in ((together, 500), (composed, 1500)):
        claim = derivation.conclusion
        assert isinstance(claim, ZeroKnowledge)
        assert claim.aggregate == ExplorationSample(k=k, s=45)
        assert isinstance(claim.epsilon, Fraction)
        assert claim.epsilon <= Fraction(3, 4) + Fraction(1, 10**4)
    assert isinstance(private.conclusion, DifferentialPrivacy)


def test_histogram_and_triangles_are_differentially_private_alone() -> None:
    (claim,) = promises(spec(HIST, TRI, samples=None, epsilon="0.5"))
    assert str(claim.conclusion) == "1-DP [replace]"
    assert spec(HIST, samples=None).scale(HIST) == 80
    assert spec(TRI, samples=None, epsilon="0.5").scale(TRI) == 1560
    (per_edge,) = promises(spec(TRI, samples=None, per_edge=True))
    assert str(per_edge.conclusion) == "1-DP [add/remove]"
    assert EDGE in per_edge.assumptions


@pytest.mark.parametrize(
    "wrong",
    [
        {"of": ()},
        {"of": (CONN, CONN)},
        {"of": (CONN, HIST)},
        {"of": (CONN,), "samples": None},
        {"of": (HIST,), "samples": 5},
        {"of": (CONN,), "per_edge": True},
        {"of": (HIST,), "samples": None, "centred": True},
        {"of": (CONN,), "average_at_most": Fraction(5)},
        {"of": (DEG,), "average_at_most": Fraction(41)},
        {"of": (CONN,), "epsilon": Fraction(0)},
        {"of": (CONN,), "coverage": Fraction(1)},
        {"of": (CYC,), "size": Size(vertices=10**9, max_degree=10**6), "samples": 10},
    ],
)
def test_what_cannot_be_promised_is_refused(wrong: dict[str, Any]) -> None:
    given = {"size": TOWN, "epsilon": Fraction(1), "samples": 500, **wrong}
    with pytest.raises(WrongUse):
        GraphSpec(**given)


# --- answers ------------------------------------------------------------------------------------------------------


def test_the_answers_are_the_counts_with_their_noise() -> None:
    graph, asked = friends().graph, spec(CONN, EUL, CYC, DEG, EDGES)
    known = facts(graph)
    found = run(graph, asked)
    assert [each.of for each in found] == [CONN, EUL, CYC, DEG, EDGES]
    for each in found:
        assert abs(each.edges - edges_away(each.of, known)) < 25 * each.scale
        assert 0 <= each.low <= each.high
        assert each.aggregate == "RSE(500, 45)"
        assert each.as_json()["of"] == each.of.value
    assert found[3].value == Fraction(2 * found[4].edges, PEOPLE)  # one draw for both
    assert found[0].distance == Fraction(found[0].edges) / (PEOPLE * MAX_DEGREE // 2)
    assert found[4].distance is None
    assert len(found[0].cells()) == 4


def test_intervals_are_right_as_often_as_they_say() -> None:
    """Size: 200 runs at 90% fall 5 standard errors short less than once in a million; power: intervals of 50% do."""
    graph, runs = friends().graph, 200
    truth = edges_away(CONN, facts(graph))
    source = ScriptedSource.from_label("coverage")
    least = 0.9 - 5 * (0.09 / runs) ** 0.5
    share = {}
    for coverage in (Fraction(9, 10), Fraction(1, 2)):
        found = [answers(graph, spec(CONN, coverage=coverage), source)[0] for _ in range(runs)]
        share[coverage] = sum(one.low <= truth <= one.high for one in found) / runs
    assert share[Fraction(9, 10)] >= least, (runs, share, least)
    assert share[Fraction(1, 2)] < least, (runs, share, least)


def test_the_same_words_are_drawn_for_every_graph() -> None:
    """What is drawn depends on the description alone: a recording of one graph replays on another."""
    asked = spec(CONN, EUL, CYC, DEG)
    recording = RecordingSource(ScriptedSource.from_label("graph"))
    graph = friends().graph
    first = answers(graph, asked, recording)
    empty = simple(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), PEOPLE)
    replay = ReplaySource(recording.record)
    second = answers(empty, asked, replay)
    assert replay.is_used_up
    for one, two in zip(first, second, strict=True):
        moved = edges_away(one.of, facts(graph)) - edges_away(two.of, facts(empty))
        assert one.edges - two.edges == moved


def star(leaves: int) -> Graph:
    return simple(np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1), leaves + 1)


@pytest.mark.parametrize(
    ("graph", "more"),
    [
        (star(41), {}),
        (star(7000), {}),
        (Graph(PEOPLE + 1, star(3).starts, star(3).ends), {}),
        (friends().graph, {"of": (DEG,), "average_at_most": Fraction(5)}),
    ],
)
def test_a_graph_beyond_its_declaration_is_refused_in_the_same_words(graph: Graph, more: dict[str, Any]) -> None:
    given = {"size": TOWN, "of": (CONN,), "epsilon": Fraction(1), "samples": 500, **more}
    source = ScriptedSource()  # has no word to give
    with pytest.raises(Refused, match="more vertices, a larger degree or a larger average than was declared"):
        answers(graph, GraphSpec(**given), source)


def test_fewer_vertices_than_declared_are_filled_up() -> None:
    (found,) = run(star(4), spec(CONN, epsilon="20"))
    assert abs(found.edges - (PEOPLE - 5)) < 25 * found.scale


def test_the_histogram_counts_people_with_at_least_so_many_friends() -> None:
    graph = friends().graph
    found = run(graph, spec(HIST, samples=None, epsilon="40"))
    degrees = np.concatenate([graph.degrees(), np.zeros(PEOPLE - graph.listed_vertices, dtype=np.int64)])
    assert [each.degree for each in found] == list(range(1, MAX_DEGREE + 1))
    for each in found:
        assert each.degree is not None
        assert abs(each.edges - int((degrees >= each.degree).sum())) < 25 * each.scale
        assert each.as_json()["degree_at_least"] == each.degree
        assert 0 <= each.low <= each.high <= PEOPLE
    (corners,) = run(graph, spec(TRI, samples=None, per_edge=True))
    assert corners.scale == 39


@given(st.lists(st.integers(-50, 150), max_size=30))
def test_what_is_shown_of_the_histogram_never_rises(counts: list[int]) -> None:
    shown = falling(counts, 100)
    assert len(shown) == len(counts)
    assert all(a >= b for a, b in pairwise(shown))
    assert all(0 <= each <= 100 for each in shown)
    if counts == sorted(counts, reverse=True) and all(0 <= each <= 100 for each in counts):
        assert shown == counts
