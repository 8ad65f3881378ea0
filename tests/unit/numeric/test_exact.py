"""Numbers come in exact, stay exact, and leave in the direction that was asked for."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.numeric.exact import (
    INFINITY,
    PRECISION,
    Exact,
    Loss,
    ball,
    exp,
    integer,
    log,
    loss,
    lower,
    positive,
    precision,
    rational,
    rounded,
    to_float,
    to_text,
    upper,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("+2.50", Fraction(5, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-0.125", Fraction(-1, 8)),
        ("6/4", Fraction(3, 2)),
        ("0/7", Fraction(0)),
        ("1e999", Fraction(10) ** 999),
        (3, Fraction(3)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_numbers_are_what_they_say(text: Exact, number: Fraction) -> None:
    assert rational(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1/0",
        "1/00",
        "1_000",
        "nan",
        "inf",
        "--1",
        "1/ 2",
        "1/2/3",
        "0x10",
        "1e",
        "1e1000",
        "9" * 3001,
        "1.5/2",
    ],
)
def test_other_text_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(WrongUse, match="must be a number like"):
        rational(text)


@pytest.mark.parametrize(
    "text", ["\N{ARABIC-INDIC DIGIT THREE}", "\N{FULLWIDTH DIGIT ONE}", "\N{MINUS SIGN}1", "1,5", "one", "1 2"]
)
def test_other_scripts_and_words_are_refused(text: str) -> None:
    with pytest.raises(WrongUse, match="must be a number like"):
        rational(text)


@pytest.mark.parametrize("value", [0.1, 0.5, 1.0, 1e300, np.float64(0.1)])
def test_floats_are_refused_with_the_reason(value: float) -> None:
    with pytest.raises(FloatRefused, match=r"a float is rounded to binary digits; write it as text, \".*\""):
        rational(value, "epsilon")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_floats_that_are_no_numbers_are_refused(value: float) -> None:
    with pytest.raises(FloatRefused, match="is none; write it as text"):
        rational(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [True, None, 1j, b"1", [1], np.float32(1), np.int64(1)])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(WrongUse, match="must be an int, a Fraction or text"):
        rational(value)  # type: ignore[arg-type]


def test_ranges_are_checked() -> None:
    assert positive("1e-9", "rate") == Fraction(1, 10**9)
    assert integer("1e3", "k") == 1000
    assert integer(0, "k") == 0
    assert loss("0") == 0
    assert loss(" Infinity ") is INFINITY
    assert loss(INFINITY) is INFINITY
    with pytest.raises(WrongUse, match="rate must be above 0"):
        positive(0, "rate")
    with pytest.raises(WrongUse, match="whole number of at least 2"):
        integer("3/2", "k", least=2)
    with pytest.raises(WrongUse, match="whole number of at least 2"):
        integer(1, "k", least=2)
    with pytest.raises(WrongUse, match="at least 0"):
        loss("-1")
    with pytest.raises(FloatRefused):
        loss(math.inf)  # type: ignore[arg-type]


def test_infinity_is_above_every_rational_and_is_one_object() -> None:
    one, top = Fraction(1), INFINITY
    assert one < top
    assert top > one
    assert not top <= one
    assert one <= top
    assert top <= INFINITY
    assert top >= INFINITY
    assert not top < INFINITY
    assert one != INFINITY
    assert max(one, INFINITY) is INFINITY
    assert min(INFINITY, one) == 1
    assert one + INFINITY is INFINITY
    assert INFINITY + one is INFINITY
    assert pickle.loads(pickle.dumps(INFINITY)) is INFINITY
    assert copy.deepcopy(INFINITY) is INFINITY
    assert {INFINITY: 1}[loss("inf")] == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 8), "0.125"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 3), "1/3"),
        (Fraction(7), "7"),
        (Fraction(-7), "-7"),
        (Fraction(0), "0"),
        (Fraction(10**20), "1" + "0" * 20),
        (Fraction(1, 10**40), "0." + "0" * 39 + "1"),
        (Fraction(1, 2**41), f"1/{2**41}"),
        (Fraction(21, 20), "1.05"),
        (INFINITY, "inf"),
    ],
)
def test_text_is_exact_and_reads_back(number: Loss, text: str) -> None:
    assert to_text(number) == text
    back = loss(text) if number is INFINITY else rational(text)
    assert back == number


@pytest.mark.parametrize("number", ["0.1", "1/3", "1e-320", "1e-400", "12345678901234567890", "-0.1", "-1e-400", "0"])
def test_to_float_is_the_nearest_double_on_the_asked_side(number: str) -> None:
    exact = rational(number)
    up, down = to_float(exact, round_up=True), to_float(exact, round_up=False)
    assert Fraction(down) <= exact <= Fraction(up)
    assert up == down or up == math.nextafter(down, math.inf)


def test_to_float_past_the_largest_double() -> None:
    """A bug once: the sign of the overflow was asked of the number that had just overflowed."""
    largest = math.nextafter(math.inf, 0)
    huge = Fraction(10) ** 400
    assert to_float(huge, round_up=True) == math.inf
    assert to_float(huge, round_up=False) == largest
    assert to_float(-huge, round_up=False) == -math.inf
    assert to_float(-huge, round_up=True) == -largest
    assert to_float(INFINITY, round_up=False) == math.inf
    assert to_float(3, round_up=True) == 3.0


def test_balls_enclose_and_ends_are_on_their_side() -> None:
    with precision():
        e = exp(1)
        assert lower(e) < upper(e)
        assert upper(e) - lower(e) < Fraction(1, 10**70)
        assert to_float(e, round_up=False) <= math.e <= to_float(e, round_up=True)
        assert lower(log(exp_of_one := upper(e))) >= 1 - Fraction(1, 10**70)
        assert exp_of_one > Fraction(271828, 100000)
    with pytest.raises(WrongUse, match="above 0"):
        log(0)
    with pytest.raises(ArithmeticError, match="more bits"):
        upper(ball(1) / ball(0))
    with pytest.raises(ArithmeticError, match="more bits"):
        lower(ball(1) / ball(0))


def test_what_is_too_small_or_too_large_to_write_out() -> None:
    small = exp(-(10**6))
    assert (lower(small), lower(-small) < 0 < upper(small)) == (Fraction(0), True)
    assert upper(-small) == 0
    with pytest.raises(ArithmeticError, match="too large"):
        upper(exp(10**6))


def test_a_ball_has_the_promised_bits_from_the_start() -> None:
    assert upper(exp(1)) - lower(exp(1)) < Fraction(1, 2 ** (PRECISION - 10))


@pytest.mark.parametrize("number", ["2/3", "-2/3", "1e-30", "123456789", "999.999", "0", "1/7"])
@pytest.mark.parametrize("digits", [1, 2, 5, 20])
def test_rounded_is_short_and_on_the_asked_side(number: str, digits: int) -> None:
    exact = rational(number)
    up, down = rounded(exact, up=True, digits=digits), rounded(exact, up=False, digits=digits)
    assert down <= exact <= up
    assert up - down <= abs(exact) * 10 / 10**digits


def test_rounded_keeps_what_is_short_already() -> None:
    assert rounded(Fraction(1, 8), up=True) == Fraction(1, 8)
    assert rounded(Fraction(2, 3), up=True, digits=3) == Fraction(667, 1000)
    assert rounded(Fraction(-2, 3), up=True, digits=3) >= Fraction(-667, 1000)
