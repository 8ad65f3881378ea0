"""Curves: text forms, the envelope, sums and comparison."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.guarantees.curve import Curve, Piece, flat, read, slope, steps
from hubbub.numeric.exact import INFINITY


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.5", {1: "1/2", 10**9: "1/2"}),
        ("1:0.01,101:1", {1: "1/100", 100: "1/100", 101: "1", 10**9: "1"}),
        ("slope:0.02", {1: "1/50", 50: "1"}),
        ("slope:0.01<=1", {1: "1/100", 99: "99/100", 100: "1", 10**6: "1"}),
        ("slope:0.3<=1", {3: "9/10", 4: "1", 5: "1"}),
        ("0.1+slope:0.0009<=1", {1: "1009/10000", 1000: "1", 1001: "1"}),
        ("-0.5+slope:1<=3", {1: "1/2", 3: "5/2", 4: "3"}),
        ("slope:1<=0", {1: "0", 9: "0"}),
        ("1:1+slope:0.1,5:2", {1: "1", 4: "13/10", 5: "2", 6: "2"}),
        ("1:0", {1: "0"}),
    ],
)
def test_text_forms(text: str, values: dict[int, str]) -> None:
    reading = read(text)
    assert not reading.lowered
    assert reading.remark == ""
    assert {count: reading.curve.at(count) for count in values} == {c: Fraction(v) for c, v in values.items()}
    assert read(str(reading.curve)).curve == reading.curve


def test_infinite_steps() -> None:
    curve = read("1:0,5:inf").curve
    assert curve.at(4) == 0
    assert curve.at(5) is INFINITY
    assert curve.limit is INFINITY
    assert str(curve) == "1:0,5:inf"
    assert str(flat("inf")) == "inf"
    assert slope(1, cap="inf") == slope(1)


def test_epsilon_of_an_empty_bin_is_that_of_one_person() -> None:
    assert read("1:0.1,2:5").curve.at(0) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("text", "envelope"),
    [
        ("1:0.5,100:1,200:0.2", "0.2"),
        ("1:0.1,5:1,9:0.5", "1:0.1,5:0.5"),
        ("1:inf,3:0.5", "0.5"),
        ("1:0+slope:1,11:3", "1:0+slope:1,4:3"),
        ("1:0+slope:2,11:3", "1:0+slope:2,3:3"),
        ("1:1,2:inf,3:2,4:inf", "1:1,2:2,4:inf"),
    ],
)
def test_a_decreasing_curve_is_lowered_and_the_user_is_told(text: str, envelope: str) -> None:
    reading = read(text)
    assert reading.lowered
    assert reading.curve == read(envelope).curve
    assert str(reading.curve) in reading.remark
    assert "envelope" in reading.remark


@pytest.mark.parametrize(
    ("text", "limit"), [("0.5", "1/2"), ("slope:0.01<=1", "1"), ("1:0.2,9:0.1", "1/10"), ("1:1+slope:1,4:9", "9")]
)
def test_limit_is_the_supremum(text: str, limit: str) -> None:
    assert read(text).curve.limit == Fraction(limit)


def test_an_endless_slope_has_no_limit() -> None:
    assert read("slope:0.001").curve.limit is INFINITY


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be a number"),
        ("2:1", "from a crowd of 1 on"),
        ("1:1,1:2", "growing crowd sizes"),
        ("1:1,5:2,4:3", "growing crowd sizes"),
        ("1:1,7", "written CROWD:LOSS"),
        ("0:1", "whole number of at least 1"),
        ("1.5:1", "whole number of at least 1"),
        ("1:-1", "at least 0"),
        ("slope:0", "must be above 0"),
        ("slope:-1", "must be above 0"),
        ("-2+slope:1", "at least 0 at a crowd of 1"),
        ("slope:1<=-1", "at least 0"),
        ("1:inf+slope:1", "cannot rise"),
        ("1:x", "must be a number"),
    ],
)
def test_wrong_text_is_refused(text: str, reason: str) -> None:
    with pytest.raises(WrongUse, match=reason):
        read(text)


def test_floats_are_refused() -> None:
    with pytest.raises(FloatRefused, match="the step at 1 must be exact"):
        steps((1, 0.1))  # type: ignore[arg-type]
    with pytest.raises(FloatRefused, match="the slope must be exact"):
        slope(0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", [Piece(1, Fraction(-1)), Piece(1, Fraction(1), Fraction(-1))])
def test_a_piece_that_falls_is_refused(piece: Piece) -> None:
    """Without this a falling slope passed for a curve that never decreases."""
    with pytest.raises(WrongUse, match="never fall"):
        Curve((piece,))


def test_an_empty_curve_is_refused() -> None:
    with pytest.raises(WrongUse, match="from a crowd of 1 on"):
        Curve(())


def test_curves_add_pointwise() -> None:
    total = read("1:0.1,5:1").curve + read("slope:0.5<=2").curve
    assert [total.at(c) for c in (1, 3, 4, 5, 9)] == [Fraction(n, 10) for n in (6, 16, 21, 30, 30)]
    assert (read("1:0,3:inf").curve + flat(1)).at(3) is INFINITY
    assert flat(1) + flat(2) == flat(3)


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        ("0.5", "0.5", True),
        ("1:0.1,101:1", "1", True),
        ("1", "1:0.1,101:1", False),
        ("slope:0.01<=1", "slope:0.01", True),
        ("slope:0.01", "slope:0.01<=1", False),
        ("slope:0.01", "5", False),
        ("slope:1", "1:0,2:inf", False),
        ("slope:1", "1:1,2:inf", True),
        ("1:0,5:inf", "inf", True),
        ("inf", "1:0,5:inf", False),
        ("slope:2", "1+slope:1.5<=9", False),
        ("1:1+slope:1,4:4", "4", True),
        ("1:1+slope:1,5:4", "4", True),
    ],
)
def test_at_most_looks_at_every_crowd(low: str, high: str, answer: bool) -> None:
    assert read(low).curve.at_most(read(high).curve) is answer


@pytest.mark.parametrize(
    ("low", "high", "since", "answer"),
    [
        ("1:5,9:1", "1:1,9:1", 9, True),
        ("1:5,9:1", "1:1,9:1", 8, False),
        ("slope:1<=3", "2", 1, False),
        ("2", "slope:1<=3", 2, True),
        ("2", "slope:1<=3", 10**9, True),
        ("slope:1", "slope:2", 50, True),
    ],
)
def test_at_most_from_some_crowd_on(low: str, high: str, since: int, answer: bool) -> None:
    one = Curve((Piece(1, Fraction(5)), Piece(9, Fraction(1)))) if low == "1:5,9:1" else read(low).curve
    assert one.at_most(read(high).curve, since=since) is answer


def test_at_most_sees_the_end_of_a_slope() -> None:
    raw = Curve((Piece(1, Fraction(1), Fraction(1)), Piece(6, Fraction(4))))
    assert not raw.is_monotone
    assert not raw.at_most(flat(4))
    assert raw.envelope().at_most(flat(4))
