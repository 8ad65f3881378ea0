"""The split of epsilon among tables: its error is what it says, and no split has a smaller one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.channels.mechanisms.noise_reach import beyond, misses, reach_of_all, reach_of_one_side, reach_of_sum
from hubbub.kinds.cube.levels import best_split, reaches
from hubbub.numeric.exact import ball
from hubbub.query_classes.marginals.geometric import GeometricTables
from hubbub.query_classes.marginals.tables import Tables

HALF, MOST = Fraction(1, 2), Fraction(19, 20)


@given(
    st.fractions("1/10", 5, max_denominator=20),
    st.lists(st.integers(1, 5000), min_size=2, max_size=6),
    st.sampled_from([HALF, MOST]),
)
@settings(max_examples=12, deadline=None)
def test_all_numbers_are_as_near_as_it_says_and_one_step_nearer_they_are_not(
    epsilon: Fraction, sizes: list[int], coverage: Fraction
) -> None:
    found = best_split(epsilon, tuple(sizes), coverage)
    assert sum(found.shares) == epsilon

    def chance(nearer: int) -> object:
        """That every number of every table lies within its reach, exactly."""
        total = ball(1)
        for share, size, reach in zip(found.shares, sizes, found.reaches, strict=True):
            total *= (1 - beyond(share, max(reach - nearer, 0))) ** size
        return total

    assert chance(0) >= ball(coverage)  # type: ignore[operator]
    if min(found.reaches) > 0:
        assert chance(1) < ball(coverage)  # type: ignore[operator]


@pytest.mark.parametrize("sizes", [(2, 900), (7, 7), (40, 3, 1)])
def test_no_split_on_a_grid_has_a_smaller_worst_error(sizes: tuple[int, ...]) -> None:
    best = best_split(Fraction(1), sizes, MOST).worst
    steps = 40
    others = [(i, steps - i) for i in range(1, steps)] if len(sizes) == 2 else [
        (i, j, steps - i - j) for i in range(1, steps) for j in range(1, steps - i)
    ]  # fmt: skip
    grid = [max(reaches([Fraction(part, steps) for part in parts], sizes, MOST)) for parts in others]
    assert best <= min(grid) <= best + 3


def test_misses_multiply_to_the_coverage() -> None:
    sizes = (3, 500)
    total = ball(1)
    for miss, size in zip(misses(sizes, MOST), sizes, strict=True):
        total *= (1 - ball(miss)) ** size
    assert total >= ball(MOST)
    assert total < ball(MOST + Fraction(1, 10**12))


# --- sums ---------------------------------------------------------------------------------------------------------


def _law(rate: float, far: int) -> np.ndarray:
    x = np.abs(np.arange(-far, far + 1))
    law: np.ndarray = np.tanh(rate / 2) * np.exp(-rate * x)
    return law


@pytest.mark.parametrize("rate", ["0.3", "1", "2.5"])
@pytest.mark.parametrize("many", [1, 2, 7, 40])
def test_a_sum_of_noise_seldom_exceeds_its_reach(rate: str, many: int) -> None:
    tail = Fraction(1, 40)
    reach = reach_of_sum(Fraction(rate), many, tail)
    one = _law(float(rate), 200)
    law = one
    for _ in range(many - 1):
        law = np.convolve(law, one)
    middle = len(law) // 2

    def outside(r: int) -> float:
        return float(law[: middle - r].sum() + law[middle + r + 1 :].sum())

    assert outside(reach) <= float(tail)
    assert reach == 0 or outside(reach - 1) > float(tail)  # and a shorter one is exceeded more often


def test_a_sum_that_is_too_wide_to_write_down_has_chernoffs_reach() -> None:
    tail = Fraction(1, 40)
    deviation = float(np.sqrt(2 * 20_000)) / 0.01  # of 20,000 noises of rate 0.01
    reach = reach_of_sum(Fraction(1, 100), 20_000, tail)
    assert 2.24 * deviation < reach < 3.2 * deviation


def test_one_side_of_many() -> None:
    rate, tail = Fraction(1), Fraction(1, 40)
    reach = reach_of_one_side(rate, 100, tail)
    assert 100 * beyond(rate, reach) / 2 <= ball(tail) < 100 * beyond(rate, reach - 1) / 2
    assert reach_of_all(rate, Fraction(1)) == 0


# --- least squares ------------------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_exact_least_squares_are_those_of_a_matrix(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    every = frozenset(range(len(sizes)))
    some = data.draw(
        st.lists(st.sets(st.sampled_from(sorted(every)), max_size=len(sizes) - 1), max_size=3, unique_by=frozenset)
    )
    levels = [every, *map(frozenset, some)]
    weights = [data.draw(st.fractions("1/9", 9, max_denominator=9)) for _ in levels]
    cells = int(np.prod(sizes))
    rows, aims, tables = [], [], []
    places = np.arange(cells).reshape(sizes)
    for level, weight in zip(levels, weights, strict=True):
        groups = np.moveaxis(places, sorted(level), range(len(level))).reshape(
            int(np.prod([sizes[a] for a in sorted(level)])), -1
        )
        table = np.array(
            data.draw(st.lists(st.integers(-50, 50), min_size=len(groups), max_size=len(groups))), dtype=np.int64
        )
        tables.append(table)
        for group, value in zip(groups, table, strict=True):
            rows.append([float(weight) ** 0.5 * (place in group) for place in range(cells)])
            aims.append(float(weight) ** 0.5 * value)
    workload = tuple(tuple(sorted(level)) for level in levels)
    noise = GeometricTables(
        Tables(tuple(sizes), workload, (1,) * len(levels)), (Fraction(1),) * len(levels), tuple(weights)
    )
    exact, unit = noise.fit(np.concatenate(tables)).scaled_table(workload[0])
    expected = np.linalg.lstsq(np.array(rows), np.array(aims), rcond=None)[0]
    assert [float(Fraction(cell, unit)) for cell in exact.ravel().tolist()] == pytest.approx(expected, abs=1e-8)
