"""The numbers that stand beside a theorem: each from its formula, another way."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.numeric.exact import ball, precision
from hubbub.sampling import averages, exact_count, paper
from hubbub.sampling.sampled_crowd import Case, _below_hills, _l_hill, _parts
from hubbub.sampling.sampled_share import gaussian_tail
from hubbub.sampling.sanitize import Blank, joint_epsilon, may_lose


@pytest.mark.parametrize(
    ("k", "n", "f"), [(10, 100, Fraction(91, 100)), (90, 100, Fraction(91, 900)), (7, 7, Fraction(0))]
)
def test_a_sample_without_replacement_has_the_smaller_of_two_factors(k: int, n: int, f: Fraction) -> None:
    assert averages._quantities(k, n) == (Fraction(1, 2 * n), f)
    assert exact_count._spread(k, n) == n**2 * f / (4 * k) + Fraction(1, 4)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_proposition_12_has_its_least_scale(epsilon: float) -> None:
    k, n, f = 100, 1000, 0.9
    scale = averages._proposition_12(k, n, epsilon, f)

    def loss(d: float, wide: float) -> float:
        b = 2 * math.exp(-2 * k * d**2 / f)
        return math.inf if b >= 1 else math.log((1 - b) * math.exp((1 / n + d) / wide) + b * math.exp(1 / wide))

    at = np.linspace(0.01, 1, 4000)
    assert min(loss(d, scale * 1.001) for d in at) < epsilon < min(loss(d, scale * 0.99) for d in at)


def test_a_sample_that_loses_much_has_the_error_of_its_logarithm() -> None:
    near, far = (averages._comparison(5, 50, epsilon)["sample_error"] for epsilon in (699.999, 700.001))
    assert near is not None
    assert far == pytest.approx(near, rel=1e-6)
    wide = math.sqrt(45 / (5 * 49)) / 2
    assert far == pytest.approx(math.sqrt(wide**2 + 2 / (5 * (700.001 + math.log(10))) ** 2), rel=1e-12)


@pytest.mark.parametrize(("k", "low", "high"), [(140, "0.1", "0.25"), (9_000, "0.6", "0.8")], ids=["low", "high"])
def test_theorem_16_prints_its_delta(k: int, low: str, high: str) -> None:
    """Either part of the largest: of low rates the one that is divided by p, of high ones that by 1 - p'."""
    found, p, out = paper.robust_delta(k, low, high, "0.5", 3), float(low), 1 - float(high)
    expected = max(0.5 / p, 0.5 / out) * math.exp(-(1 - math.log(2)) / 4 * (k - 4) * out**2)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_what_all_may_lose_inside_the_sample_is_nearly_the_most() -> None:
    shares = [(Fraction(1), Blank.ANY), (Fraction(2), Blank.COIN)]
    loss = may_lose(50, 1000, Fraction(1, 2), shares)

    def reached(total: Fraction) -> Fraction:
        return joint_epsilon(50, 1000, [(total * share / 3, blank) for share, blank in shares])

    assert reached(loss) <= Fraction(1, 2) < reached(loss * (1 + Fraction(1, 1000)))


@pytest.mark.parametrize("others", [1, 2, 5])
def test_the_worst_class_size_of_uneven_rates_is_found(others: int) -> None:
    q, band = 0.2, 1.7
    above, below = q * band / (q * band + 1 - q), q / (q + (1 - q) * band)

    def tail(n: int, share: float, least: int) -> float:
        return math.fsum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(max(least, 0), n + 1))

    def smaller(n: int) -> float:
        over = tail(n, q, math.floor((n + 1) * above))
        return min(tail(n, q, others), max(over, tail(n, 1 - q, n - math.ceil((n + 1) * below) + 1)))

    assert paper._over_sizes(others, q, band) == pytest.approx(max(map(smaller, range(1, 60))), rel=1e-9)


@pytest.mark.parametrize(("n", "q", "m"), [(60, 0.3, 18), (60, 0.3, 40), (90, 0.4, 45), (90, 0.4, 25), (9, 0.9, 9)])
def test_a_binomial_tail_has_all_its_digits(n: int, q: float, m: int) -> None:
    share = Fraction(q)
    exact = sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(m, n + 1))
    assert paper._at_least(n, q, m) == pytest.approx(float(exact), rel=1e-10)


def test_beyond_the_table_a_gaussian_weighs_nothing() -> None:
    tail = gaussian_tail(Fraction(4))
    assert tail(np.array([10**6, -(10**6)])).tolist() == [0.0, 1.0]
    assert tail(np.array([1])).tolist() == pytest.approx([(1 - tail(np.array([0]))[0])], rel=1e-12)


def test_below_the_limit_the_hill_is_kappa_times_what_is_left() -> None:
    case = Case(rate=Fraction(1, 5), own=Fraction(1, 5), crowd=4, removal=Fraction(1), blending=Fraction(1))
    with precision():
        g = ball(Fraction(3, 2))
        (kappa, r), _ = _parts(case.removal, g)
        assert r < 1
        hill, lumped = _below_hills(case, g)[0], _l_hill(case, kappa * r, 1 / r)
        for n in (3, 8, 20):
            assert abs(hill.at(n) - kappa * (1 - r) - lumped.at(n)) < 1e-20
