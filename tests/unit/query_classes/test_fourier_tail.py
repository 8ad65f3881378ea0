"""How far weighted sums of geometric noise go: against exact laws, against draws, and against Chernoff."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.query_classes.choice import choose_method, offers
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.marginals.fourier_tail import series
from hubbub.query_classes.marginals.geometric import chernoff, geometric_variance
from hubbub.query_classes.setting import Setting
from hubbub.query_classes.split_tables import SplitTables

ADULT = (9, 16, 7, 15, 6, 5, 2, 42)
ONE = Fraction(1)


def asked(shape: tuple[int, ...], ways: int, delta: Fraction = Fraction(0), least: str = "mean") -> Setting:
    queries = ColumnCells(shape, ways)
    return Setting(queries=queries, half_way=ONE, any_row=ONE, doubt=Fraction(1, 20), delta=delta, least=least)


def geometric(rate: float, reach: int) -> NDArray[np.float64]:
    q = math.exp(-rate)
    return np.asarray((1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1, dtype=np.float64)))


GROUPS = [
    [(1, "0.5", 1)],
    [(3, "0.7", 1), (1, "0.3", 4)],
    [(5, "1", 2), (2, "0.4", 3), (1, "0.2", 6)],
    [(7, "0.9", 1), (1, "0.05", 2)],
]


@pytest.mark.parametrize("groups", GROUPS, ids=str)
@pytest.mark.parametrize("miss", ["0.2", "0.05", "0.0001", "0.0000001"])
def test_the_fourier_series_bounds_the_exact_tail_and_hardly_more(
    groups: list[tuple[int, str, int]], miss: str
) -> None:
    """The theorem of the series: whole coefficients, so that the law is a convolution of positive numbers."""
    law = np.array([1.0])
    for a, rate, many in groups:
        reach = math.ceil(60 / float(rate))
        stretched = np.zeros(2 * a * reach + 1)
        stretched[::a] = geometric(float(rate), reach)
        for _ in range(many):
            law = np.convolve(law, stretched)
    half = len(law) // 2
    above = 2 * np.cumsum(law[half + 1 :][::-1])[::-1]  # P(|S| >= 1), P(|S| >= 2), ...
    exact = int(np.argmax(above <= float(miss)))  # the least h with P(|S| > h) <= miss
    variances = [(float(a), geometric_variance(Fraction(rate)), many) for a, rate, many in groups]
    far = next(h for h in range(half) if above[h] <= 1e-17)
    steps, each, times = (np.array(column, dtype=np.float64) for column in zip(*variances, strict=True))
    found = series(steps, each, times, float(far))
    assert found is not None
    reach_found = found.reach(Fraction(miss))
    assert above[math.floor(reach_found)] <= float(miss) * (1 + 1e-9)
    spread = math.sqrt(float((times * each * steps * steps).sum()))
    assert exact <= reach_found <= exact + 0.02 * spread


def test_an_interval_without_a_delta_covers_and_is_no_wider_than_it_must_be() -> None:
    """40,000 draws of the error of one cell of Adult's 28 tables. At 95 % the share outside has a standard error of
    0.0011; a reach that is 5 % too short leaves 0.060 outside and one that is 5 % too long 0.041, eight errors away."""
    setting = asked(ADULT, 2)
    noise, columns = SplitTables().noise(setting), (5, 7)
    draws, rng = 40_000, np.random.default_rng(20)
    total = np.zeros(draws)
    for each, a, many in noise.terms(columns):
        p = -math.expm1(-float(noise.of_table[each]))
        up, down = (rng.negative_binomial(many, p, draws) for _ in range(2))  # of so many geometric numbers
        total += float(a) * (up - down)
    outside = float((np.abs(total) > float(noise.reach(columns, Fraction(1, 20)))).mean())
    assert abs(outside - 0.05) < 4 * 0.0011, f"{draws} draws, {outside} outside, 0.05 allowed"
    assert float(noise.reach(columns, Fraction(1, 20))) < 0.6 * float(chernoff(noise, columns, Fraction(1, 20)))


def test_a_very_small_chance_is_left_to_chernoff() -> None:
    noise = SplitTables().noise(asked((3, 2, 2), 2))
    tiny = Fraction(1, 10**12)
    assert noise.reach((0, 1), tiny) == chernoff(noise, (0, 1), tiny)
    assert noise.reach((0, 1), Fraction(1, 10**6)) < chernoff(noise, (0, 1), Fraction(1, 10**6))


# --- the choice -------------------------------------------------------------------------------------------------------


def test_without_a_delta_marginals_have_the_least_mean_square_by_default() -> None:
    setting = asked(ADULT, 2)
    assert choose_method(setting).name == "split-tables"
    squares = {each.name: each.mean_square for each in offers(setting) if each.mean_square is not None}
    assert math.sqrt(squares["split-tables"]) <= 29.1 * 1.02
    assert 39 < math.sqrt(squares["per-query"]) < 40
    assert min(squares, key=lambda name: squares[name]) == "split-tables"


@pytest.mark.parametrize("least", ["mean", "largest"])
def test_with_a_delta_it_is_the_residual_plan_where_that_errs_least(least: str) -> None:
    setting = asked(ADULT, 2, Fraction(1, 10**9), least)
    assert choose_method(setting).name == "residual"
    squares = [each.mean_square for each in offers(setting) if each.mean_square is not None]
    assert squares == sorted(squares)
    few = asked((3, 2), 1, Fraction(1, 10**9), least)
    assert choose_method(few).name != "residual", "for two small tables geometric noise errs less"


def test_one_table_is_told_by_its_cells() -> None:
    """All methods put the same noise on the cells of one table, and the one with the smaller bound is taken."""
    assert choose_method(asked((3, 2), 2)).name == "per-query"
