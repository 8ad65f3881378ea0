"""Parts of methods for many queries, each by an exact case: medians, rounding, ends of what is read back."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.query_classes import choice
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.classes import Halfspaces, log_halfspaces, parse
from hubbub.query_classes.marginals import fourier_tail
from hubbub.query_classes.marginals.junction_tree import _BITS, _weights
from hubbub.query_classes.marginals.projection import _lift_above_zero
from hubbub.query_classes.marginals.tables import Tables
from hubbub.query_classes.series import column_square
from hubbub.query_classes.setting import Drawn, Setting
from hubbub.query_classes.small_databases import SmallDatabase, radius
from hubbub.query_classes.square_root import SquareRoot
from hubbub.query_classes.weights import Weights

HALF = Fraction(1, 2)


def _setting(text: str, shape: tuple[int, ...], rows: int = 100) -> Setting:
    return Setting(queries=parse(text, shape), half_way=HALF, any_row=HALF, doubt=Fraction(1, 20), rows=rows)


def test_boosting_answers_with_the_median_of_its_databases() -> None:
    """Five databases of ten rows; in the first cell 1, 9, 3, 7 and 4 of them."""
    setting = _setting("intervals", (2,))
    method = Boosting(rounds=5, draws=1, size=10, within=1, ramp=1)
    numbers = np.array([[n, 10 - n, 0] for n in (1, 9, 3, 7, 4)]).ravel()
    assert method.answer(setting, Drawn(numbers), ((0, 1),)) == Fraction(100 * 4, 10)


def test_the_smallest_methods_are_read_back() -> None:
    assert choice.restore_method({"name": "small-database", "size": 1}) == SmallDatabase(1)
    assert choice.restore_method({"name": "mwem", "rounds": 1}) == Weights(1)


def test_a_cell_of_a_named_table_has_one_bin_of_each_of_its_columns_and_all_of_the_others() -> None:
    named = parse("tables:one=1+2*1", (3, 4, 2))
    assert named.has(((1, 2), (0, 1), (0, 2)))
    assert not named.has(((1, 2), (0, 1), (0, 1))), "of a column that the table does not have"
    assert not named.has(((0, 3), (0, 4), (0, 2)))
    assert not named.has(((0, 2), (0, 1), (0, 2))), "two bins of three"


def test_half_planes_split_four_points_in_fourteen_ways_at_most() -> None:
    for points, dimension, ways in ((4, 2, 14), (4, 1, 8), (1, 2, 2), (5, 3, 30)):
        found = log_halfspaces(points, dimension)
        assert math.log(ways) <= float(found) <= math.log(ways) * (1 + 1e-9)
    assert Halfspaces((2, 2)).log_number == log_halfspaces(4, 2)


def test_rows_drawn_at_random_are_as_near_as_hoeffding_says() -> None:
    setting = _setting("marginals:1", (40, 40))
    number, m = 80, 50
    near = math.sqrt(math.log(2 * number) / (2 * m))
    assert near < setting.cells / (4 * m)
    assert near <= float(radius(setting, m)) <= near * (1 + 1e-5)


def test_one_person_is_in_one_cell_of_a_square_root() -> None:
    factor = SquareRoot("1e-9", "100")._factor(_setting("intervals", (8,)))
    rows = factor.coefficients
    assert factor.gaussian_noise.squared == sum(each * each for each in rows) == column_square(rows, 1)


# --- marginals ------------------------------------------------------------------------------------------------------


def test_tables_below_nothing_are_lifted_until_their_least_cell_is_empty() -> None:
    tables = Tables((2,), ((0,),), (1,))
    (lifted,) = _lift_above_zero(tables, [np.array([-1.0, 5.0])])
    assert lifted == pytest.approx([0, 4])


@pytest.mark.parametrize("total", [1.0, 1.5, 3.0, 1000.0, 2.0**30])
def test_the_weights_of_a_table_together_fill_all_bits_but_one_or_two(total: float) -> None:
    weights = _weights(np.array([total / 2, total / 4, total / 4]))
    assert 1 << _BITS - 2 <= int(weights.sum()) < 1 << _BITS - 1
    assert weights.tolist() == [2 * weights[1], weights[1], weights[1]]


def test_the_error_of_a_series_covers_a_rounding_of_each_of_its_factors() -> None:
    a, v, many = np.full(3, 1.0), np.full(3, 4.0), np.full(3, 100.0)
    length, tau, stop = 2000.0, 0.01, 40
    series = fourier_tail._sum_series(a, v, many, np.ones(3, dtype=np.bool_), length, tau, stop, stop)
    t = np.arange(1, stop + 1) * (2 * math.pi / length)
    logs = fourier_tail._log_phi(a, v, many, t) - (tau * t) ** 2 / 2
    u = 2.0**-53
    angles = u * (8 * np.multiply.outer(t, a / 2 * np.sqrt(2 * v)) + 64) @ many
    each = np.expm1(angles + u * (64 + a.size * np.abs(logs)))  # a logarithm of each factor, and their sum
    rest = math.exp(-fourier_tail._FAR / 2) + 256 * u * float(1 + series.weights.sum())
    assert np.abs(logs).max() > 1
    assert series.error >= 2 * (float((series.weights * each).sum()) + rest)
