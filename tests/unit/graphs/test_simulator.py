"""Bias, range and the exact distance between release and simulator, on every small graph."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from hubbub.errors import WrongUse
from hubbub.graphs.distances import edges_away, facts
from hubbub.graphs.graph import Neighbours
from hubbub.graphs.noise_scale import epsilon_for, joint_epsilon, scale_for, spread
from hubbub.graphs.samplers import Seen, explore, offset, share, walk
from hubbub.graphs.statistics import Sampling, Size, Statistic, bounds
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball
from tests.unit.graphs.simulated import N, around, law, neighbouring, worst_loss
from tests.unit.graphs.simulator import exact_loss, rounded_law, simulate
from tests.unit.graphs.small_graphs import graph_of, pairs, representatives

COUNTS = [Statistic.CONNECTIVITY, Statistic.EULERIAN, Statistic.CYCLE_FREENESS, Statistic.EDGES]


@pytest.mark.parametrize("of", COUNTS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_bias_and_range_of_the_sampler_hold_on_every_graph(n: int, of: Statistic) -> None:
    known = [facts(graph_of(mask, n)) for mask in representatives(n)]
    for s in range(2, n + 1):
        shares = [[share(of, walk(of, around(mask, n), v, s), n, s) for v in range(n)] for mask in representatives(n)]
        bias = [abs(sum(told) + offset(of) - edges_away(of, each)) for told, each in zip(shares, known, strict=True)]
        for d in range(1, n):
            limit = bounds(of, Size(vertices=n, max_degree=d), Sampling(k=1, s=s))
            here = [i for i, each in enumerate(known) if each.largest_degree <= d]
            assert all(bias[i] <= limit.bias for i in here)
            reach = max(max(shares[i]) for i in here) - min(min(shares[i]) for i in here)
            assert n * reach <= limit.reach


def test_a_walk_stops_at_s_vertices() -> None:
    path = around(sum(1 << i for i, (a, b) in enumerate(pairs(6)) if b == a + 1), 6)
    assert explore(path, 0, 4) == Seen(found=False, size=4, degrees=7, odd=1, degree=1)
    assert explore(path, 0, 6) == Seen(found=False, size=6, degrees=10, odd=2, degree=1)
    assert explore(around(0, 6), 3, 2) == Seen(found=True, size=1, degrees=0, odd=0, degree=0)
    triangle = around(sum(1 << i for i, (_, b) in enumerate(pairs(6)) if b <= 2), 6)
    assert explore(triangle, 0, 4) == Seen(found=True, size=3, degrees=6, odd=0, degree=2)
    assert not explore(triangle, 0, 3).found


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("of", COUNTS)
def test_mgf_theorem_the_exact_loss_on_all_graphs_with_five_vertices_is_within_the_claim(
    of: Statistic, epsilon: Fraction
) -> None:
    highest = 0.0
    for d, k, s in [(4, 1, 3), (3, 2, 2), (2, 3, 4), (4, 4, 2), (4, 5, 5), (1, 2, 2)]:
        size, how = Size(vertices=N, max_degree=d), Sampling(k=k, s=s)
        found = spread(bounds(of, size, how), k, N)
        scale = scale_for(found, epsilon)
        assert epsilon_for(found, scale) <= epsilon * (1 + Fraction(1, 10**15))
        loss = worst_loss((of,), d, how, [scale])
        assert loss <= epsilon, f"{of.value}, d = {d}, k = {k}, s = {s}: {loss} is above {epsilon}"
        highest = max(highest, loss / float(epsilon))
    assert highest > 0.35, "the claim is so loose that the check says nothing"


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("of", COUNTS)
def test_mgf_theorem_a_centred_simulator_is_within_the_claim_on_all_graphs_with_five_vertices(
    of: Statistic, epsilon: Fraction
) -> None:
    highest = 0.0
    for d, k, s in [(4, 1, 3), (3, 2, 2), (2, 3, 4), (4, 4, 2), (4, 5, 5), (1, 2, 2)]:
        limits, how = bounds(of, Size(vertices=N, max_degree=d), Sampling(k=k, s=s)), Sampling(k=k, s=s)
        scale = scale_for(spread(limits, k, N, centred=True), epsilon)
        assert scale <= scale_for(spread(limits, k, N), epsilon)
        loss = worst_loss((of,), d, how, [scale], (limits.centre,))
        assert loss <= epsilon, f"{of.value}, d = {d}, k = {k}, s = {s}: {loss} is above {epsilon}"
        assert limits.sensitivity / scale <= 2 * epsilon, "zero-knowledge implies twice the loss, differentially"
        highest = max(highest, loss / float(epsilon))
    assert highest > 0.35, "the claim is so loose that the check says nothing"


def test_the_noise_of_a_centred_simulator_is_too_little_for_one_that_is_not() -> None:
    how, of = Sampling(k=5, s=5), Statistic.CONNECTIVITY
    limits = bounds(of, Size(vertices=N, max_degree=4), how)
    scale = scale_for(spread(limits, 5, N, centred=True), Fraction(1))
    assert worst_loss((of,), 4, how, [scale]) > 1
    assert worst_loss((of,), 4, how, [scale], (limits.centre + 1,)) > 1


def test_less_noise_is_noticed() -> None:
    size, how = Size(vertices=N, max_degree=4), Sampling(k=2, s=5)
    scale = scale_for(spread(bounds(Statistic.EDGES, size, how), 2, N), Fraction(1)) * Fraction(3, 5)
    assert worst_loss((Statistic.EDGES,), 4, how, [scale]) > 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize(
    "ofs",
    [
        (Statistic.CONNECTIVITY, Statistic.EDGES),
        (Statistic.EULERIAN, Statistic.CYCLE_FREENESS),
        (Statistic.CONNECTIVITY, Statistic.EULERIAN),
    ],
)
def test_one_sample_serves_several_counts(ofs: tuple[Statistic, ...], epsilon: Fraction) -> None:
    for d, k, s in [(3, 2, 3), (4, 3, 2)]:
        size, how = Size(vertices=N, max_degree=d), Sampling(k=k, s=s)
        spreads = [spread(bounds(of, size, how), k, N) for of in ofs]
        scales = [scale_for(each, epsilon) for each in spreads]
        claimed = joint_epsilon(list(zip(spreads, scales, strict=True)))
        if epsilon <= Fraction(1, 2):
            assert claimed <= 2 * epsilon * (1 + Fraction(1, 20))
        assert worst_loss(ofs, d, how, scales) <= claimed


def test_public_bound_on_the_average_degree_holds_exactly_on_small_graphs() -> None:
    """Only graphs whose average is within the bound, with the smaller noise that this allows."""
    d, k, of, epsilon = 4, 2, (Statistic.EDGES,), Fraction(1)
    size, how, share = Size(vertices=N, max_degree=d), Sampling(k=k, s=2), Fraction(1, 5)
    limit = bounds(Statistic.EDGES, size, how)
    scale = scale_for(spread(limit, k, N, share), epsilon)
    assert scale < scale_for(spread(limit, k, N), epsilon)
    worst = ball(0)
    for mask, counts in neighbouring(of, d).items():
        for count in counts:
            if Fraction(2 * count[0], N) <= share * d:
                worst = worst.max(exact_loss(law(of, mask, k, 2), count, [scale]))
    assert 0.3 < float(worst.upper()) <= epsilon


def test_the_simulator_draws_from_its_exact_law() -> None:
    """The mean of many runs beside the exact mean: off by less than 5 standard errors, and a shift of 0.5 is seen."""
    runs, scale, shift = 4000, Fraction(2), 0.5
    how, mask = Sampling(k=2, s=3), representatives(5)[20]
    for of in COUNTS:
        exact = rounded_law([of], around(mask, 5), how)
        mean = float(sum(z[0] * chance for z, chance in exact.items()))
        second = float(sum(z[0] ** 2 * chance for z, chance in exact.items())) - mean**2
        deviation = (second + 2 * float(scale) ** 2 * 1.1) ** 0.5
        source = ScriptedSource.from_label(f"simulator {of.value}")
        drawn = sum(simulate(of, around(mask, 5), how, scale, source) for _ in range(runs)) / runs
        limit = 5 * deviation / runs**0.5
        assert abs(drawn - mean) < limit < shift, (of, runs, drawn, mean, limit)


def test_an_exact_law_of_a_large_graph_is_refused() -> None:
    large = Neighbours(1000, around(0, 5).starts, around(0, 5).ends)
    with pytest.raises(WrongUse, match="too many"):
        rounded_law([Statistic.EDGES], large, Sampling(k=20, s=2))


def test_all_sums_of_laws_are_one() -> None:
    for of, mask in product(COUNTS, representatives(5)[:8]):
        assert sum(rounded_law([of], around(mask, 5), Sampling(k=2, s=2)).values()) == 1
