"""Parts of laws: the largest ratio of two, what of one lies within two ends, and what is left beyond a table."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from hubbub.channels import custom_curve
from hubbub.channels.custom_curve import _Scan
from hubbub.channels.divergence import _largest_on
from hubbub.channels.law import Block, Weight, _total_within
from hubbub.channels.mechanisms.added_noise import Partial
from hubbub.channels.mechanisms.exact_above import NoisyBelow
from hubbub.channels.papers.lower_bound import count_estimator
from hubbub.guarantees.curve import Curve, Piece, slope, steps


def test_the_largest_ratio_of_parts_with_other_weights() -> None:
    f = Block(0, 3, Weight(("two",), arb(2)), Fraction(1), Fraction(1, 2))
    g = Block(0, 3, Weight(("one",), arb(1)), Fraction(1, 4))
    ratios = [(f.mass(v) / g.mass(v)).log() for v in range(4)]
    found = _largest_on(f, g)
    assert isinstance(found, arb)
    assert abs(found - ratios[3]) < 1e-20
    assert _largest_on(g, g) == 0


def test_a_lump_beyond_an_end_counts_nothing_and_one_astride_is_enclosed() -> None:
    lump = Block(10, 20, Weight(("one",), arb(1)), Fraction(0), shape=("lump",))
    assert _total_within(lump, 21, None).is_zero()
    assert _total_within(lump, None, 9).is_zero()
    assert _total_within(lump, 10, 20) == 1
    astride = _total_within(lump, 15, None)
    assert astride.contains(0)
    assert astride.contains(1)


def test_what_lies_beyond_the_table_counts_in_full() -> None:
    scan = _Scan(NoisyBelow(3, 1, False), Fraction(1, 10), Fraction(1, 10), Fraction(1, 20))
    away = np.abs(np.arange(7)[None, :] - np.arange(3)[:, None])
    rows = np.zeros((4, 8))
    rows[:, 0] = 1.0
    rows[2, -1] = rows[3, -2] = 0.25
    joining, leaving = scan.values(rows, np.array([0, 0.25, 0, 0]), np.tanh(0.5) * np.exp(-away.astype(float)))
    assert scan.w > 0
    assert (joining[1:3] - joining[0]).tolist() == pytest.approx([0.25 * scan.own] * 2, rel=1e-9)
    assert joining[3] - joining[0] == pytest.approx(0.25 * scan.own, rel=0.02)
    assert (leaving[1:3] - leaving[0]).tolist() == pytest.approx([0.25 * scan.w] * 2, rel=1e-9)


def test_the_bound_for_larger_classes_is_raised_by_what_rounding_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_curve, "_ROUNDING", 0.01)
    scan = _Scan(NoisyBelow(3, 1, False), Fraction(1, 10), Fraction(1, 10), Fraction(1, 2))
    row = np.zeros(8)
    row[5] = 1.0
    without, with_ = (scan.beyond(row, lost, 10**4, 1.0) for lost in (0.0, 0.5))
    assert with_ - without == pytest.approx(1.04 * scan.own * 0.5)


def test_the_mass_of_a_part_is_that_of_its_table_and_of_its_blocks() -> None:
    block = Block(5, 5, Weight(("one",), arb(1) / 8), Fraction(0))
    assert Partial((block,), masses=(arb(1) / 4, arb(1) / 2)).total() == arb(7) / 8
    assert Partial(()).total() == 0


RISING = Curve((Piece(1, Fraction(1, 10)), Piece(5, Fraction(1, 5), Fraction(1, 100)), Piece(50, Fraction(2))))


@pytest.mark.parametrize("curve", [slope("0.02"), slope("0.1", cap=1), steps((1, "0.1"), (101, 1)), RISING], ids=str)
@pytest.mark.parametrize(("lo", "hi"), [(-3, 7), (1, 10), (3, 5), (20, 30), (60, 70), (-20, -10), (5, 5), (5, 60)])
def test_cells_of_an_estimate_cover_every_integer_once_and_none_is_empty(curve: Curve, lo: int, hi: int) -> None:
    cells = count_estimator(curve, Fraction(1, 10), 3).cells(lo, hi)
    (begin, _, _), (_, end, _) = cells[0], cells[-1]
    assert (begin, end) == (None, None)
    for (_, before, _), (after, last, _) in pairwise(cells):
        assert before is not None
        assert after == before + 1
        assert last is None or after <= last
    for n in range(max(lo, 1), hi + 1):
        (total,) = {value for first, last, value in cells if (first or 0) <= n and (last is None or n <= last)}
        assert total == curve.at(n)
