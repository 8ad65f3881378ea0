"""The promises of a whole release, as it is asked for, against its exact losses on every graph with a few vertices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.errors import Refused
from hubbub.graphs.degrees import at_least, triangles
from hubbub.graphs.distances import edges_away
from hubbub.graphs.statistics import Statistic, bounds
from hubbub.guarantees.definitions import DifferentialPrivacy, ZeroKnowledge
from hubbub.kinds.graph.promises import promises
from hubbub.kinds.graph.request import statistics
from hubbub.kinds.graph.spec import GraphSpec
from tests.unit.graphs.simulated import N, worst_loss
from tests.unit.graphs.small_graphs import all_facts, degrees, graph_of, pairs

AT_ZERO = 2 ** (N - 1)  # the edges of vertex 0 are the first bits


@cache
def counts(of: Statistic, d: int) -> NDArray[np.int64]:
    """graph -> its counts, by brute force over all graphs with five vertices."""
    masks = range(2 ** len(pairs(N)))
    if of is Statistic.TRIANGLES:
        return np.array([[triangles(graph_of(mask, N))] for mask in masks])
    if of is Statistic.DEGREE_COUNTS:
        return np.array([at_least(graph_of(mask, N), d) for mask in masks])
    return np.asarray(edges_away(of, all_facts(N)))[:, None]


def exact_loss(spec: GraphSpec) -> Fraction:
    """The largest loss between two neighbouring graphs: of noise of rate 1/scale on each count that is the sum of how
    far the counts move, each divided by its scale; independent noises can all be met at their worst at once."""
    d, worst = spec.size.max_degree, Fraction(0)
    small = np.flatnonzero(degrees(N).max(axis=1) <= d)
    rates = [1 / spec.scale(of) for of in spec.counts]
    values = [counts(of, d if of is Statistic.DEGREE_COUNTS else 0) for of in spec.counts]
    steps = 1 << np.arange(len(pairs(N))) if spec.per_edge else np.arange(1, AT_ZERO)
    allowed = np.zeros(2 ** len(pairs(N)), dtype=bool)
    allowed[small] = True
    met: set[tuple[int, ...]] = set()
    for step in steps.tolist():
        pair = small[allowed[small ^ step]]
        moved = np.stack([np.abs(value[pair] - value[pair ^ step]).sum(axis=1) for value in values], axis=1)
        met |= set(map(tuple, np.unique(moved, axis=0).tolist()))
    for each in met:
        worst = max(worst, sum((far * rate for far, rate in zip(each, rates, strict=True)), Fraction(0)))
    return worst


CASES = [
    (["connectivity"], {"samples": 3}),
    (["edges"], {"samples": 5}),
    (["connectivity", "eulerian", "cycle-freeness", "edges"], {"samples": 3}),
    (["eulerian", "average-degree"], {"samples": 2, "explore": 4}),
    (["connectivity"], {"samples": 3, "centred": True}),
    (["cycle-freeness", "edges"], {"samples": 4, "centred": True}),
    (["degree-histogram"], {}),
    (["triangles"], {}),
    (["degree-histogram", "triangles"], {}),
    (["degree-histogram"], {"per_edge": True}),
    (["triangles"], {"per_edge": True}),
]


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize(("of", "words"), CASES)
def test_the_exact_differential_loss_of_a_release_never_exceeds_its_promise(
    of: list[str], words: dict[str, object], d: int
) -> None:
    spec = statistics(of, vertices=N, max_degree=d, epsilon="0.7", **words)  # type: ignore[arg-type]
    (claim,) = [p.conclusion for p in promises(spec) if isinstance(p.conclusion, DifferentialPrivacy)]
    loss = exact_loss(spec)
    assert isinstance(claim.epsilon, Fraction)
    assert loss <= claim.epsilon
    if len(spec.counts) == 1 and spec.sensitivity(spec.counts[0]) > 0:
        assert loss > claim.epsilon * Fraction(99, 100), "one count is as bad as it is said to be"


@pytest.mark.parametrize("epsilon", ["0.3", "2"])
@pytest.mark.parametrize(("of", "k", "s", "d"), [(["connectivity", "edges"], 2, 3, 4), (["eulerian"], 3, 2, 3)])
def test_the_exact_distance_from_the_simulator_never_exceeds_the_promises(
    of: list[str], k: int, s: int, d: int, epsilon: str
) -> None:
    spec = statistics(of, vertices=N, max_degree=d, epsilon=epsilon, samples=k, explore=s)
    claims = [p.conclusion for p in promises(spec) if isinstance(p.conclusion, ZeroKnowledge)]
    one_sample = [claim for claim in claims if claim.aggregate.k == k]  # type: ignore[union-attr]
    assert len(one_sample) == 1
    loss = worst_loss(spec.counts, d, spec.sampling, list(spec.scales))
    assert 0.2 * float(one_sample[0].epsilon) < loss <= one_sample[0].epsilon  # type: ignore[arg-type, operator]


@pytest.mark.parametrize("epsilon", ["0.3", "2"])
@pytest.mark.parametrize(("of", "k", "s", "d"), [(["connectivity", "edges"], 2, 3, 4), (["eulerian"], 3, 2, 3)])
def test_a_centred_release_keeps_its_zero_knowledge_and_says_its_differential_loss(
    of: list[str], k: int, s: int, d: int, epsilon: str
) -> None:
    plain = statistics(of, vertices=N, max_degree=d, epsilon=epsilon, samples=k, explore=s)
    spec = statistics(of, vertices=N, max_degree=d, epsilon=epsilon, samples=k, explore=s, centred=True)
    assert all(less < more for less, more in zip(spec.scales, plain.scales, strict=True))
    found = promises(spec)
    one_sample = [
        step.conclusion.epsilon
        for step in found
        if isinstance(step.conclusion, ZeroKnowledge) and step.conclusion.aggregate.k == k  # type: ignore[union-attr]
    ]
    centres = tuple(bounds(each, spec.size, spec.sampling).centre for each in spec.counts)
    assert worst_loss(spec.counts, d, spec.sampling, list(spec.scales), centres) <= one_sample[0]  # type: ignore[operator]
    claim = found[-1].conclusion
    assert isinstance(claim, DifferentialPrivacy)
    assert exact_loss(spec) <= claim.epsilon <= 2 * len(spec.counts) * spec.epsilon


@pytest.mark.parametrize(("of", "words"), [(["connectivity"], {"samples": 3}), (["triangles"], {})])
def test_a_description_with_a_little_less_noise_promises_nothing(of: list[str], words: dict[str, object]) -> None:
    right = statistics(of, vertices=N, max_degree=3, epsilon=1, **words)  # type: ignore[arg-type]
    for factor, holds in ((Fraction(1), True), (1 - Fraction(1, 10**12), False)):
        spec = replace(right, scales=(right.scales[0] * factor,))
        assert [check.passed for check in spec.checks()] == [holds]
        if holds:
            assert promises(spec) == promises(right)
        else:
            with pytest.raises(Refused, match="too little"):
                promises(spec)


def test_more_noise_than_needed_keeps_the_promises_of_an_older_release() -> None:
    """What a later, sharper theorem would do with less noise does not touch what was written down."""
    right = statistics(["connectivity"], vertices=N, max_degree=3, epsilon=1, samples=3)
    older = replace(right, scales=(right.scales[0] * 2,))
    assert promises(older)[0].conclusion == promises(right)[0].conclusion
