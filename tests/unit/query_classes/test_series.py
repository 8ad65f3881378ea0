"""What a series draws, and that totals, increments and variances follow from it exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.query_classes.series import Blocks, Factor, coefficients, column_square, geometric_variance


def _factor(periods: int, recur: int = 1, theta: str = "1/2", bits: int = 8, s2: int = 4000) -> Factor:
    return Factor(
        periods=periods, recur=recur, squared=1, moved=1, epsilon=Fraction(1), theta=Fraction(theta), bits=bits,
        s2=Fraction(s2),
    )  # fmt: skip


WAYS = [
    Blocks(periods=7, recur=2, l1=1, epsilon=Fraction(1)),
    Blocks(periods=7, recur=1, l1=1, epsilon=Fraction(1), block=3, share=Fraction(2, 5)),
    _factor(7),
    _factor(7, theta="0", bits=0),
    _factor(7, theta="1", bits=0),
    _factor(7, theta="0.38"),
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_without_noise_totals_and_increments_are_exact(way: Blocks | Factor) -> None:
    counts = np.array([[3, 0], [0, 5], [7, 1], [2, 2], [0, 0], [9, 4], [1, 8]])
    drawn = [np.array([np.array(row) @ counts[: t + 1] for row in way.rows(t)]) for t in range(7)]
    totals, increments = way.totals(drawn), way.increments(drawn)
    for t in range(7):
        assert [Fraction(n, way.denominator(t)) for n in totals[t]] == counts[: t + 1].sum(axis=0).tolist()
        assert [Fraction(n, way.denominator(t)) for n in increments[t]] == counts[t].tolist()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_variances_are_those_of_the_weights_of_every_noise(way: Blocks | Factor) -> None:
    """Each noise by itself moves a total by its weight; squares of weights times variances add up."""
    sizes = [len(way.rows(t)) for t in range(7)]

    def variance(t: int, i: int) -> Fraction:
        if isinstance(way, Factor):
            return way.s2
        assert way.block_rate is not None or i == 0
        return geometric_variance(way.single_rate if i == 0 else way.block_rate or way.single_rate)

    weights: dict[tuple[int, int], list[Fraction]] = {}
    for t, many in enumerate(sizes):
        for i in range(many):
            alone = [np.zeros((n, 1), dtype=np.int64) for n in sizes]
            alone[t][i, 0] = 1
            weights[t, i] = [Fraction(n[0], way.denominator(s)) for s, n in enumerate(way.totals(alone))]
    for t in range(7):
        for since in range(-1, t):
            exact = sum(
                (variance(*at) * (line[t] - (line[since] if since >= 0 else 0)) ** 2 for at, line in weights.items()),
                Fraction(0),
            )
            assert way.total_variance(t, since) == exact
    largest = max(map(way.total_variance, range(7))), max(map(way.increment_variance, range(7)))
    assert way.largest_variances == largest


@pytest.mark.parametrize(("periods", "recur", "theta"), [(6, 2, "1/2"), (7, 3, "0.38"), (8, 4, "0.1"), (6, 3, "1")])
def test_no_set_of_columns_is_longer_than_the_first_ones(periods: int, recur: int, theta: str) -> None:
    rows = coefficients(Fraction(theta), 8, periods)
    matrix = np.array([[rows[i - j] if i >= j else 0 for j in range(periods)] for i in range(periods)])
    lengths = [int((matrix[:, list(each)].sum(axis=1) ** 2).sum()) for each in combinations(range(periods), recur)]
    assert max(lengths) == column_square(rows, recur)


def test_intervals_are_of_the_stated_chance_and_hardly_wider() -> None:
    """Against 1.96 standard deviations of a normal number; the note has 1.967 to 2.02 for such noise."""
    way = _factor(12)
    for t in (0, 5, 11):
        wide = way.reach(t, -1, Fraction(1, 20)) / Fraction(float(way.total_variance(t)) ** 0.5)
        assert 1.95 < wide < 2.1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Blocks(periods=3, recur=4, l1=1, epsilon=Fraction(1)),
        lambda: Blocks(periods=3, recur=1, l1=1, epsilon=Fraction(1), block=2),
        lambda: _factor(3, theta="2"),
        lambda: _factor(3, recur=4),
    ],
)
def test_what_is_no_series_cannot_be_made(wrong: object) -> None:
    with pytest.raises(WrongUse):
        wrong()  # type: ignore[operator]
