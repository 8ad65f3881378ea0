"""Definitions take exact numbers in range and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.guarantees.parameters import chance, level, size
from hubbub.numeric.exact import INFINITY


@pytest.mark.parametrize("check", [level, chance, lambda value: size(value, "k")])
def test_floats_text_and_booleans_are_refused(check: Callable[[object], object]) -> None:
    with pytest.raises(FloatRefused, match="parse its text first"):
        check(0.5)
    for wrong in ("0.5", True, None):
        with pytest.raises(WrongUse, match="must be an int or a Fraction"):
            check(wrong)


def test_ints_and_fractions_have_one_normal_form() -> None:
    assert type(level(1)) is Fraction
    assert type(chance(1)) is Fraction
    assert type(size(Fraction(3), "k")) is int
    assert level(INFINITY) is INFINITY


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: level(-1), "at least 0 or INFINITY"),
        (lambda: chance(2), "between 0 and 1"),
        (lambda: chance(Fraction(-1, 2)), "between 0 and 1"),
        (lambda: chance(INFINITY), "must be an int or a Fraction"),
        (lambda: size(0, "k"), "whole number of at least 1"),
        (lambda: size(Fraction(3, 2), "k"), "whole number of at least 1"),
        (lambda: size(1, "k", least=2), "whole number of at least 2"),
    ],
)
def test_ranges(call: Callable[[], object], reason: str) -> None:
    with pytest.raises(WrongUse, match=reason):
        call()
