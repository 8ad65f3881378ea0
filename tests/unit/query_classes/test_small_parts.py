"""Small formulas that bounds and noise are made of, at their ends."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.query_classes.classes import _log, finite
from hubbub.query_classes.marginals.tables import Tables
from hubbub.query_classes.series import Blocks


def test_one_query_has_no_logarithm() -> None:
    assert _log(1) == 0
    assert float(_log(2)) == pytest.approx(0.6931471805599453)


@pytest.mark.parametrize(
    ("k", "n", "f"), [(10, 100, Fraction(91, 100)), (90, 100, Fraction(91, 900)), (7, 7, Fraction(0))]
)
def test_drawing_without_replacement_saves_the_smaller_of_two_factors(k: int, n: int, f: Fraction) -> None:
    assert finite(k, n) == f


@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(2, 3)])
def test_increments_and_blocks_together_lose_epsilon(share: Fraction) -> None:
    way = Blocks(periods=12, recur=3, l1=2, epsilon=Fraction(1), block=4, share=share)
    assert way.block_rate is not None
    assert 6 * way.block_rate == share
    assert 6 * (way.single_rate + way.block_rate) == 1
    assert Blocks(periods=12, recur=3, l1=2, epsilon=Fraction(1)).single_rate == Fraction(1, 6)


def test_in_a_table_of_one_column_rows_in_unlike_cells_move_nothing_together() -> None:
    assert Tables((3,), ((0,),), (1,))._cross_factor((0,)) == 0
    assert Tables((3, 5), ((0, 1),), (1,))._cross_factor((0, 1)) == Fraction(1, 8)
    assert Tables((3, 5), ((0, 1),), (1,))._cross_factor((0,)) == 1
