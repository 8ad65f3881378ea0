"""The margin as it is asked for, and the whole number it comes to."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.voting.rules.threshold import ForGain, Power, margin, threshold

KIND = "repeated-plurality"


def test_numbers_are_rounded_down_because_counts_are_whole() -> None:
    assert threshold(margin("7/2"), KIND, 100, 3) == 3
    assert threshold(margin(12), KIND, 100, 3) == 12
    assert threshold(Fraction(0), KIND, 100, 3) == 0


@pytest.mark.parametrize(
    ("voters", "d", "whole"),
    [(10_000, "0.25", 1000), (10_000, "0.1", 251), (10_000, "0.4", 3981), (10**6, "0.25", 31622)],
)
def test_the_powers_of_the_thesis(voters: int, d: str, whole: int) -> None:
    assert threshold(Power(Fraction(d)), KIND, voters, 3) == whole


def test_a_power_is_exact_at_a_perfect_root() -> None:
    for root in (1, 2, 99, 10**6):
        assert threshold(Power(Fraction(1, 4)), KIND, root**4, 3) == root**3
        assert threshold(Power(Fraction(1, 4)), KIND, root**4 - 1, 3) == (root**3 - 1 if root > 1 else 0)


def test_the_default_table_of_the_theory() -> None:
    gain = ForGain(Fraction(1, 10**12))
    assert ForGain() == gain
    assert [threshold(gain, KIND, 10**k, 3) for k in (3, 4, 5, 6, 7)] == [249, 785, 2483, 7850, 24824]
    assert threshold(ForGain(Fraction(1, 2**100)), KIND, 10**6, 3) == 12041


def test_margins_that_are_none() -> None:
    with pytest.raises(FloatRefused):
        margin(0.1)  # type: ignore[arg-type]
    for wrong in ("-1", "many"):
        with pytest.raises(WrongUse):
            margin(wrong)
    for d in ("0", "1/2", "-1/4", "1/1001"):
        with pytest.raises(WrongUse):
            Power(Fraction(d))
    for eta in (0, 1, 2):
        with pytest.raises(WrongUse):
            ForGain(Fraction(eta))


def test_they_say_what_they_are() -> None:
    assert str(Power(Fraction(1, 4))) == "n^3/4"
    assert str(ForGain(Fraction(1, 8))) == "B* for a gain of 1/8"
