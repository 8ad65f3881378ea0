"""The proved errors: the table of theory A5, and tails held against exact laws."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb, exp, log, log1p, sqrt

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.sampling.sanitize import Blank, inside
from hubbub.synopses.choice import chosen, offers, parameters, restored
from hubbub.synopses.classes import parse
from hubbub.synopses.flat import Flat
from hubbub.synopses.growth import sampling_error
from hubbub.synopses.per_query import PerQuery
from hubbub.synopses.setting import Setting
from hubbub.synopses.small_databases import SmallDatabase
from hubbub.synopses.tails import farthest, selected
from hubbub.synopses.tree import Tree
from hubbub.synopses.weights import Weights

DOUBT = Fraction(1, 40)


def setting(of: str, shape: tuple[int, ...], k: int, n: int, epsilon: str) -> Setting:
    """A sample of k of n people with so much zero-knowledge privacy outside, everybody in a cell."""
    half = inside(k, n, epsilon, blank=Blank.HALF_WAY).epsilon_dp / 2
    whole = inside(k, n, epsilon).epsilon_dp
    return Setting(queries=parse(of, shape), half_way=half, any_row=whole, doubt=DOUBT, rows=k, outside=False)


# --- the table of theory A5 (DP part of the error, beta = .025) -----------------------------------------------------

TABLE = [  # n, k, eps_zk, class, shape, sampling, Laplace per query, histogram, MWEM
    (10**6, 10**4, "0.1", "marginals:2", (2,) * 8, 0.021, 0.039, 0.0052, 0.34),
    (10**6, 10**5, "0.1", "marginals:3", (2,) * 16, 0.0076, 0.75, 0.025, 0.33),
    (10**6, 10**5, "0.1", "marginals:3", (2,) * 20, 0.0078, 1.6, 0.104, 0.36),
    (10**6, 10**5, "0.1", "intervals", (1024,), 0.0089, None, 0.0037, 0.31),
    (10**4, 10**3, "1", "intervals", (8,), 0.060, 0.090, 0.0088, 0.47),
]


def continuous(terms: int, scale: float, log_tests: float) -> float:
    """Theory A5: t with l t + w ln(1 - l^2 b^2) = ln(2|Q|/beta), l = (sqrt(w^2 b^2 + t^2) - w b)/(b t)."""
    low, high = 1e-9, 1e9
    for _ in range(200):
        t = sqrt(low * high)
        slope = (sqrt(terms**2 * scale**2 + t**2) - terms * scale) / (scale * t)
        reached = slope * t + terms * log1p(-((slope * scale) ** 2)) >= log_tests
        low, high = (low, t) if reached else (t, high)
    return high


@pytest.mark.parametrize(("n", "k", "epsilon", "of", "shape", "sample", "laplace", "cells", "mwem"), TABLE)
def test_the_error_table_of_a5(
    n: int,
    k: int,
    epsilon: str,
    of: str,
    shape: tuple[int, ...],
    sample: float,
    laplace: float | None,
    cells: float,
    mwem: float,
) -> None:
    """Sampling and MWEM to the digits printed. The printed histogram is for a query of half the domain and continuous
    noise; the exact law of whole noise is never worse, and a cell of a marginal is a narrower query."""
    at = setting(of, shape, k, n, epsilon)
    queries = at.queries
    assert hasattr(queries, "number")
    tests = log(2 * queries.number / float(DOUBT))
    assert float(sampling_error(queries, k, n, DOUBT)) == pytest.approx(sample, rel=0.02)
    if laplace is not None:
        assert queries.number * log(queries.number / float(DOUBT)) / (float(at.any_row) * k) == pytest.approx(
            laplace, rel=0.03
        )
        assert PerQuery().bound(at) / k <= laplace
    half = at.cells // 2
    assert continuous(half, 1 / float(at.half_way), tests) / k == pytest.approx(cells, rel=0.02)
    whole = farthest(half, at.half_way, queries.log_number, DOUBT) / k
    assert 0.85 * cells < whole <= cells * 1.01
    assert Flat().bound(at) / k <= whole
    best = chosen(at, "mwem")
    assert best.bound(at) / k == pytest.approx(mwem, rel=0.03)


def test_the_tree_of_a5_and_a_wider_one_that_is_better() -> None:
    """Printed: .012 at 1,024 bins and .046 at 2^20, for two branches; the flat histogram there .0037 and .23."""
    small = setting("intervals", (1024,), 10**5, 10**6, "0.1")
    large = setting("intervals", (2**20,), 10**5, 10**6, "0.1")
    for each, deep, printed in ((small, 10, 0.012), (large, 20, 0.046)):
        tests = float(each.queries.log_number) + log(2 / float(DOUBT))
        assert continuous(2 * deep, 2 * deep / float(each.any_row), tests) / 10**5 == pytest.approx(printed, rel=0.04)
        assert Tree(2).bound(each) / 10**5 < printed  # fewer runs, and nobody half way between two people
        best = chosen(each)
        assert isinstance(best, Tree)
        assert best.branching > 2
        assert best.bound(each) < min(Tree(2).bound(each), Flat().bound(each))
    assert chosen(large).bound(large) / 10**5 < 0.014


def test_small_databases_of_a5_and_what_can_be_listed() -> None:
    """Printed .099 is for databases that nobody can list. Rounding running sums makes a finer net of small ones."""
    at = setting("intervals", (8,), 10**3, 10**4, "1")

    def printed(m: int) -> float:
        return sqrt(log(72) / (2 * m)) + 2 / (float(at.any_row) * 1000) * (log(comb(7 + m, m)) + log(1 / 0.025))

    least = next(m for m in range(1, 2000) if printed(m) <= 0.0995)
    assert comb(7 + least, least) > 10**12
    found = chosen(at, "small-database")
    assert isinstance(found, SmallDatabase)
    assert comb(7 + found.size, found.size) <= 300_000
    assert found.bound(at) / 1000 < 0.08


def test_the_best_is_first_and_all_are_named() -> None:
    found = offers(setting("intervals", (8,), 10**3, 10**4, "1"))
    assert [each.bound for each in found] == sorted(each.bound for each in found if each.bound is not None)
    assert {each.name for each in found} == {"per-query", "histogram", "tree", "mwem", "small-database"}
    for each in found:
        assert each.method is not None
        assert restored(parameters(each.method)) == each.method
    for wrong in ({}, {"name": "tree"}, {"name": "tree", "branching": 1}, {"name": "mwem", "rounds": 0}, {"name": "x"}):
        with pytest.raises(WrongUse):
            restored(wrong)


def test_mwem_wins_where_the_domain_is_too_large_to_noise_and_the_class_is_large() -> None:
    """All 3-way marginals of 22 bits and 5,000 people: |X| is not far below (epsilon k)^2, as theory A5 asks."""
    queries = parse("marginals:3", (2,) * 22)
    at = Setting(queries=queries, half_way=Fraction(1, 2), any_row=Fraction(1), doubt=DOUBT, rows=5000, outside=False)
    assert isinstance(chosen(at), Weights)
    assert chosen(at).bound(at) < 5000  # and says something
    many = Setting(queries=queries, half_way=Fraction(1, 2), any_row=Fraction(1), doubt=DOUBT, rows=10**6)
    assert isinstance(chosen(many), Flat)


# --- tails -----------------------------------------------------------------------------------------------------------


def exact_tail(terms: int, rate: float, above: int) -> float:
    """P(sum > above) of so many two-sided geometric numbers, by convolution."""
    reach = ceil(60 / rate)
    law = np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
    law /= law.sum()
    total = law
    for _ in range(terms - 1):
        total = np.convolve(total, law)
    middle = len(total) // 2
    return float(total[middle + above + 1 :].sum())


@pytest.mark.parametrize("terms", [1, 2, 5, 12])
@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(3)])
def test_no_sum_goes_farther_than_is_said(terms: int, rate: Fraction) -> None:
    doubt, sums = Fraction(1, 20), 100
    found = farthest(terms, rate, Fraction(log(sums)).limit_denominator(10**9) + Fraction(1, 10**9), doubt)
    each = float(doubt) / sums
    assert 2 * exact_tail(terms, float(rate), found) <= each * (1 + 1e-6)
    if terms == 1 and found > 0:  # exact: one less would not do
        assert 2 * exact_tail(1, float(rate), found - 1) > each * (1 - 1e-6)
    else:
        assert 2 * exact_tail(terms, float(rate), found // 2) > each


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(2)])
def test_a_choice_misses_by_no_more_than_is_said(rate: Fraction) -> None:
    """One choice is perfect and 99 others are all equally bad: the worst that can be."""
    doubt, number = Fraction(1, 10), 100
    gap = selected(rate, Fraction(log(number)).limit_denominator(10**9) + Fraction(1, 10**9), doubt)
    others = (number - 1) * exp(-float(rate) * (gap + 1))
    assert others / (1 + others) <= float(doubt)
