"""The noise scales: every printed number of the tables, and the proved ones against plain arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.graphs.noise_scale import epsilon_for, joint_epsilon, scale_for, spread
from hubbub.graphs.plan import plan, proposition_12
from hubbub.graphs.statistics import Sampling, Size, Statistic, bounds, default_exploration, sampling

FACEBOOK, MILLION = Size(vertices=4039, max_degree=1045), Size(vertices=10**6, max_degree=200)
CONN, EUL, CYC, DEG = (
    Statistic.CONNECTIVITY,
    Statistic.EULERIAN,
    Statistic.CYCLE_FREENESS,
    Statistic.AVERAGE_DEGREE,
)

# size, statistic, samples -> as told: DP alone, Proposition 12 (delta, beta), ours; in edges: the same three
DISTANCES = [
    (FACEBOOK, CONN, 64, "4.95e-04", "9.42e-04", "4.1e-04", "2e-02", "5.67e-04", 1987, 1196, 1045),
    (FACEBOOK, CONN, 254, "4.95e-04", "7.44e-04", "2.3e-04", "6e-03", "5.28e-04", 1569, 1114, 1045),
    (FACEBOOK, CONN, 403, "4.95e-04", "6.98e-04", "1.9e-04", "4e-03", "5.20e-04", 1472, 1098, 1045),
    (FACEBOOK, EUL, 254, "4.95e-04", "7.47e-04", None, None, "5.28e-04", 1576, 1115, 1045),
    (FACEBOOK, CYC, 254, "4.95e-04", "1.45e-01", "1.4e-01", "1e-04", "3.03e-02", 306_114, 64_049, 1044),
    (MILLION, CONN, 1000, "2.00e-06", "9.35e-04", "9.0e-04", "2e-06", "1.76e-04", 93_545, 17_608, 200),
    (MILLION, CONN, 10_000, "2.00e-06", "4.09e-04", "4.0e-04", "1e-12", "5.65e-05", 40_876, 5649, 200),
    (MILLION, CONN, 100_000, "2.00e-06", "1.83e-04", "1.8e-04", "4e-26", "1.80e-05", 18_316, 1796, 200),
    (MILLION, EUL, 10_000, "2.00e-06", "4.09e-04", None, None, "5.66e-05", 40_945, 5660, 200),
    (MILLION, CYC, 10_000, "1.99e-06", "3.88e-02", None, None, "4.95e-03", None, None, 199),
]
AVERAGES = [  # size, samples, a public bound -> DP alone, Proposition 12, ours, ours with the bound
    (FACEBOOK, 254, 50, "0.517", "151.7", "31.7", "14.0"),
    (FACEBOOK, 403, 50, "0.517", "128.2", "24.7", "11.1"),
    (MILLION, 10_000, 20, "0.0004", "7.8", "0.995", "0.6"),
    (MILLION, 100_000, 20, "0.0004", "3.53", "0.3", "0.19"),
]


@pytest.mark.parametrize("row", DISTANCES, ids=lambda row: f"{row[0].vertices}-{row[1].value}-{row[2]}")
def test_the_table_of_distances_comes_out_to_the_printed_digits(row: tuple[object, ...]) -> None:
    size, of, k, alone, paper, delta, beta, ours, paper_edges, ours_edges, alone_edges = row
    assert isinstance(size, Size)
    assert isinstance(of, Statistic)
    assert isinstance(k, int)
    (found,) = plan(size, (of,), Fraction(1), sampling(size, k)).rows
    told = found.as_json()
    twelve = told["proposition_12"]
    assert isinstance(twelve, dict)
    assert [f"{told['scale_node_dp_told']:.2e}", f"{twelve['scale_told']:.2e}"] == [alone, paper]
    assert f"{told['scale_told']:.2e}" == ours
    if delta is not None:
        assert [f"{twelve['delta_told']:.1e}", f"{twelve['beta']:.0e}"] == [delta, beta]
    if paper_edges is not None:
        assert [round(twelve["scale_told"] / float(found.unit)), round(found.scale)] == [paper_edges, ours_edges]
    assert found.node_dp == alone_edges


@pytest.mark.parametrize(("size", "k", "bound", "alone", "paper", "ours", "bounded"), AVERAGES)
def test_the_table_of_average_degrees_comes_out_to_the_printed_digits(
    size: Size, k: int, bound: int, alone: str, paper: str, ours: str, bounded: str
) -> None:
    (row,) = plan(size, (DEG,), Fraction(1), sampling(size, k)).rows
    (less,) = plan(size, (DEG,), Fraction(1), sampling(size, k), Fraction(bound)).rows
    told = row.as_json()
    places = [len(text.partition(".")[2]) for text in (alone, paper, ours, bounded)]
    found = [
        told["scale_node_dp_told"],
        float(row.unit) * told["scale_proposition_12"],  # type: ignore[operator]
        float(row.scale * row.unit),
        float(less.scale * less.unit),
    ]
    texts = [f"{value:.{place}f}" for value, place in zip(found, places, strict=True)]
    assert texts == [alone, paper, ours, bounded]


@pytest.mark.parametrize(("of", "scale"), [(CONN, 597.5), (EUL, 598.4)])
def test_a_centred_simulator_needs_half_of_the_noise_where_the_sensitivity_is_most_of_it(
    of: Statistic, scale: float
) -> None:
    (found,) = plan(FACEBOOK, (of,), Fraction(1), sampling(FACEBOOK, 254), centred=True).rows
    assert float(found.scale) == pytest.approx(scale, abs=0.1)
    assert found.scale > Fraction(1045, 2), "zero-knowledge implies twice the loss, differentially"


def test_half_an_epsilon_is_twice_the_noise() -> None:
    found = spread(bounds(CONN, MILLION, sampling(MILLION, 1000)), 1000, 10**6)
    assert abs(scale_for(found, Fraction(1, 2)) / scale_for(found, Fraction(1)) - 2) < Fraction(1, 10**15)


def test_the_paper_needs_more_than_nothing_where_the_bound_is_small() -> None:
    """With an average of at most 50, Proposition 12 asks for 49 where knowing nothing at all asks for 25."""
    limit = bounds(Statistic.EDGES, FACEBOOK, sampling(FACEBOOK, 254))
    found = proposition_12(limit, 254, 1.0, most=4039 * 50 / 2)
    assert round(found.scale * 2 / 4039) == 49


def test_exploration_by_default_is_twice_the_root() -> None:
    assert [default_exploration(k, 10**9) for k in (1, 2, 4, 64, 254, 10_000)] == [2, 3, 4, 16, 32, 200]
    assert default_exploration(100, 7) == 7


epsilons = st.fractions(min_value=Fraction(1, 100), max_value=8)


@given(
    n=st.integers(2, 10**7),
    d=st.integers(1, 10**4),
    k=st.integers(1, 10**5),
    s=st.integers(2, 10**4),
    of=st.sampled_from([CONN, EUL, CYC, Statistic.EDGES]),
    epsilon=epsilons,
)
def test_scale_and_epsilon_are_inverse_and_above_the_plain_formula(
    n: int, d: int, k: int, s: int, of: Statistic, epsilon: Fraction
) -> None:
    size = Size(vertices=n, max_degree=d)
    how = Sampling(k=min(k, n), s=min(s, n))
    limit = bounds(of, size, how)
    found = spread(limit, how.k, n)
    scale = scale_for(found, epsilon)
    assert min(limit.bias, limit.reach) >= 0
    assert epsilon * (1 - Fraction(1, 10**12)) <= epsilon_for(found, scale) <= epsilon * (1 + Fraction(1, 10**12))
    a, v, e = float(limit.shift), float(found.variance), float(epsilon)
    plain = max(math.sqrt(a * a + v) / e, (a + math.sqrt(a * a + 2 * e * (v + 0.25))) / (2 * e))
    assert math.isclose(float(scale), plain, rel_tol=1e-9)


@given(k=st.integers(1, 3000), share=st.fractions(min_value=Fraction(1, 1000), max_value=1), epsilon=epsilons)
def test_a_public_bound_never_costs_noise(k: int, share: Fraction, epsilon: Fraction) -> None:
    limit = bounds(Statistic.EDGES, FACEBOOK, sampling(FACEBOOK, k))
    plain, bounded = spread(limit, k, 4039), spread(limit, k, 4039, share)
    scale = scale_for(bounded, epsilon)
    assert scale <= scale_for(plain, epsilon)
    assert epsilon_for(bounded, scale) <= epsilon * (1 + Fraction(1, 10**12))


@given(
    st.lists(st.tuples(st.sampled_from([CONN, EUL, CYC, Statistic.EDGES]), st.integers(1, 12)), min_size=1, max_size=5)
)
def test_one_sample_serves_all_while_the_sum_is_at_most_one(asked: list[tuple[Statistic, int]]) -> None:
    how = sampling(MILLION, 1000)
    total = sum(weight for _, weight in asked)
    counts = []
    for of, weight in asked:
        found = spread(bounds(of, MILLION, how), 1000, 10**6)
        counts.append((found, scale_for(found, Fraction(weight, total))))
    assert joint_epsilon(counts) <= 1 + Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("vertices", "degree", "k", "s"), [(1, 1, 1, 2), (10, 0, 1, 2), (10, 3, 0, 2), (10, 3, 11, 2), (10, 3, 2, 1)]
)
def test_numbers_that_cannot_be_are_refused(vertices: int, degree: int, k: int, s: int) -> None:
    with pytest.raises(WrongUse):
        sampling(Size(vertices=vertices, max_degree=degree), k, s)


def test_histogram_and_triangles_have_no_sampler() -> None:
    for of in (Statistic.DEGREE_COUNTS, Statistic.TRIANGLES):
        with pytest.raises(WrongUse, match="no sampler"):
            bounds(of, MILLION, sampling(MILLION, 10))
