"""What Gaussian noise loses: the exact profile, Lemma C, rho, and all of it together with geometric releases."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.concentrated import zcdp_delta
from hubbub.guarantees.accountant.gaussian import (
    GaussianNoise,
    by_ones,
    delta_of,
    epsilon_with,
    exact_law,
    gaussian_total,
    in_bins,
    least_variance,
    lemma_c,
    pair_law,
)
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon
from hubbub.numeric.exact import Infinite

MILLIONTH, BILLIONTH = Fraction(1, 10**6), Fraction(1, 10**9)


def masses(s2: float, reach: int) -> NDArray[np.float64]:
    weights = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * s2))
    return np.asarray(weights / weights.sum())


def brute(v: tuple[int, ...], s2: float, epsilon: float) -> float:
    """The sum of (P - e^epsilon Q)_+ over a part of Z^n that leaves out less than 1e-18."""
    reach = math.ceil(9.5 * math.sqrt(s2)) + max(map(abs, v))
    line = np.arange(-reach, reach + 1, dtype=np.float64)
    p = [np.exp(-(line**2) / (2 * s2)) for _ in v]
    q = [np.exp(-((line - move) ** 2) / (2 * s2)) for move in v]
    whole = math.fsum(p[0])
    first, second = p[0] / whole, q[0] / whole
    for a, b in zip(p[1:], q[1:], strict=True):
        first, second = np.multiply.outer(first, a / whole), np.multiply.outer(second, b / whole)
    return math.fsum(np.maximum(first - math.exp(epsilon) * second, 0).ravel().tolist())


def by_inner_product(v: tuple[int, ...], s2: float, epsilon: float) -> float:
    """The same from the law of v.X, which the loss is a function of."""
    reach = math.ceil(10 * math.sqrt(s2))
    law = np.ones(1)
    for move in v:
        spread = np.zeros(2 * reach * abs(move) + 1)
        spread[:: abs(move)] = masses(s2, reach)
        law = np.convolve(law, spread)
    s = np.arange(law.size) - law.size // 2
    loss = (sum(move * move for move in v) + 2 * s) / (2 * s2)
    gained = loss > epsilon
    return math.fsum((law[gained] * -np.expm1(epsilon - loss[gained])).tolist())


@pytest.mark.parametrize("v", [(1,), (1, 1), (1, -1)], ids=str)
@pytest.mark.parametrize("s2", ["1/2", "3", "17.9"])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_the_exact_profile_is_that_of_brute_force(v: tuple[int, ...], s2: str, epsilon: str) -> None:
    noise = by_ones(Fraction(s2), len(v))
    found = delta_of(noise, Fraction(epsilon))
    assert abs(float(found) - brute(v, float(noise.s2), float(epsilon))) < 1e-15


def test_the_exact_profile_has_the_certified_digits() -> None:
    assert float(delta_of(GaussianNoise(s2=Fraction("17.9")), Fraction(1))) == pytest.approx(
        9.99796705020e-7, rel=1e-12
    )
    billionth = delta_of(GaussianNoise(s2=Fraction("30.249")), Fraction(1))
    assert float(billionth) == pytest.approx(9.99395362358e-10, rel=1e-12)


def test_delta_is_not_monotone_in_the_variance_and_is_worked_out_for_the_number_itself() -> None:
    near, far = (float(delta_of(GaussianNoise(s2=Fraction(s2)), Fraction(3))) for s2 in ("0.5", "0.65"))
    assert (near, far) == (pytest.approx(0.0090, abs=5e-5), pytest.approx(0.0135, abs=5e-5))


VECTORS = ((1,), (2,), (1, 1), (2, 1), (3, 1, 1), (1, 1, 1, 1), (5,), (2, 2, 1))
CASES = list(product(VECTORS, (4, 9, 16, 30, 60), ("0.1", "0.5", "1", "2")))


def test_lemma_c_bounds_every_one_of_160_cases() -> None:
    assert len(CASES) == 160
    ratios = []
    for v, s2, epsilon in CASES:
        noise = GaussianNoise(s2=Fraction(s2), squared=Fraction(sum(x * x for x in v)), moved=len(v))
        bound, exact = float(lemma_c([noise], Fraction(epsilon))), by_inner_product(v, s2, float(epsilon))
        ratios.append(exact / bound)
    assert max(ratios) <= 1
    assert max(ratios) > 0.98, "a bound that is never near would be no lemma of its kind"


def test_lemma_c_with_the_variance_itself_would_be_wrong() -> None:
    from hubbub.numeric.exact import ball
    from hubbub.numeric.gaussian_sums import gaussian_delta

    s2 = Fraction("8.07")
    naive = float(gaussian_delta(ball(2), 1 / ball(s2).sqrt()).mid())
    assert float(delta_of(GaussianNoise(s2=s2), Fraction(2))) > 1.15 * naive


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "exact", "printed"),
    [(10, (1.91, 2.42), (1.93, 2.44)), (20, (2.86, 3.61), (2.87, 3.63)), (50, (4.83, 6.07), (4.86, 6.11))],
)
def test_geometric_and_gaussian_releases_compose_as_the_table_says(
    n: int, exact: tuple[float, float], printed: tuple[float, float]
) -> None:
    coins, noises = [RandomizedResponsePair(epsilon=Fraction(1, 10))] * n, [GaussianNoise(s2=Fraction(100))] * n
    for delta, least, most in zip((MILLIONTH, BILLIONTH), exact, printed, strict=True):
        found = epsilon_with(coins, gaussian_total(noises), delta)
        assert not isinstance(found, Infinite)
        assert least - 0.005 <= float(found) <= most + 0.005


@pytest.mark.slow
def test_no_delta_of_a_release_is_dropped_in_the_composition() -> None:
    noises = [GaussianNoise(s2=Fraction(100))]
    leaky = [RandomizedResponsePair(epsilon=Fraction(1, 10), delta=MILLIONTH)]
    assert isinstance(epsilon_with(leaky, gaussian_total(noises), MILLIONTH / 2), Infinite)
    clean, dirty = (
        epsilon_with([RandomizedResponsePair(epsilon=Fraction(1, 10), delta=d)], gaussian_total(noises), MILLIONTH)
        for d in (0, MILLIONTH / 2)
    )
    assert (
        dirty
        > clean
        > composed_epsilon([RandomizedResponsePair(epsilon=Fraction(1, 10))], MILLIONTH) - Fraction(1, 100)
    )


def test_the_rounded_law_of_a_normal_pair_is_never_below_it() -> None:
    from hubbub.numeric.exact import ball, lower, upper
    from hubbub.numeric.gaussian_sums import gaussian_delta

    square = Fraction(1, 4)
    law = pair_law(square, Fraction(1, 500))
    together = Fraction(int(sum(law.masses.coeffs())), 2**256) + law.infinite_mass
    assert 1 <= together < 1 + Fraction(1, 10**40), "every part counts, and none counts twice"
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)):
        true = gaussian_delta(ball(epsilon), ball(square).sqrt())
        assert upper(law.delta_at(epsilon)) >= lower(true)
        assert float(upper(law.delta_at(epsilon))) == pytest.approx(float(true.mid()), rel=0.03)


def test_a_group_moves_as_far_as_its_people_and_a_swap_by_root_two() -> None:
    noise = GaussianNoise(s2=Fraction(50), squared=Fraction(3), moved=3)
    assert (noise.group(4).squared, noise.group(4).moved, noise.group(4).rho) == (48, 12, 16 * noise.rho)
    assert (noise.under_replacement().squared, noise.under_replacement().moved) == (6, 6)


def test_a_length_of_four_may_be_one_number_that_moves_by_two() -> None:
    """By ones alone the profile of (1, 1, 1, 1) is a bound; that of (2) is above it at a small epsilon."""
    of_two = by_inner_product((2,), 16, 0.3)
    assert of_two > float(delta_of(by_ones(Fraction(16), 4), Fraction("0.3")))
    assert of_two <= float(delta_of(GaussianNoise(s2=Fraction(16), squared=Fraction(4), moved=4), Fraction("0.3")))
    assert by_ones(Fraction(16), 4).group(2).most_ones is None
    assert by_ones(Fraction(16), 4).under_replacement().most_ones == 8


def test_rho_gives_a_delta_above_the_exact_one_and_not_far() -> None:
    s2 = Fraction(100)
    noise = GaussianNoise(s2=s2)
    exact, converted = delta_of(noise, Fraction(1, 2)), zcdp_delta(noise.rho, Fraction(1, 2))
    assert exact < converted < 5 * exact
    assert zcdp_delta(Fraction(0), Fraction(1)) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta", "moved", "deviation"),
    [
        ("1", "1e-6", 1, 4.23),
        ("1", "1e-9", 1, 5.50),
        ("2", "1e-6", 1, 2.25),
        ("1", "1e-6", 5, 9.45),
        ("1", "1e-9", 45, 36.9),
    ],
)
def test_the_least_noise_is_that_of_the_table(epsilon: str, delta: str, moved: int, deviation: float) -> None:
    s2 = least_variance(Fraction(epsilon), Fraction(delta), in_bins(moved))
    noise = by_ones(s2, moved)
    assert float(s2) ** 0.5 == pytest.approx(deviation, rel=2.5e-3)
    assert delta_of(noise, Fraction(epsilon)) <= Fraction(delta)


def test_fewer_entries_are_a_marginal_of_more() -> None:
    deltas = [delta_of(by_ones(Fraction(9), d), Fraction(1)) for d in range(1, 6)]
    assert deltas == sorted(deltas)
    assert exact_law(Fraction(9), 2).infinite_mass < Fraction(1, 2**100)


def test_noise_without_a_variance_or_a_delta_is_refused() -> None:
    with pytest.raises(WrongUse, match="a variance above 0"):
        GaussianNoise(s2=Fraction(0))
    with pytest.raises(Refused, match="needs a delta"):
        least_variance(Fraction(1), Fraction(0), in_bins(1))
