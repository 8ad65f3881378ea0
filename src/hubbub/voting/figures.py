"""Figures as they are told: rounded the way that is said, and never a 0 for what is above it."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10
from typing import Any

from hubbub.guarantees.verdict import Proved, Refuted, Verdict
from hubbub.numeric.exact import rounded, to_float


def approximately(x: Fraction, *, up: bool = True, digits: int = 4) -> str:
    """x in scientific notation, rounded the way it is said; ``rational`` reads it back down to 1e-999.

    >>> approximately(Fraction(1, 3)), approximately(Fraction(1, 3 * 10**480)), approximately(Fraction(0))
    ('0.3334', '3.334e-481', '0')
    """
    short = rounded(x, up=up, digits=digits)
    if short == 0 or abs(short) >= Fraction(1, 1000):
        return format(float(short), f".{digits}g")
    power = floor((short.numerator.bit_length() - short.denominator.bit_length()) * log10(2)) - 1
    while abs(short) >= Fraction(10) ** (power + 1):
        power += 1
    mantissa = short / Fraction(10) ** power
    return f"{float(mantissa):.{digits}g}e{power}"


def float_up(x: Fraction) -> float:
    """The nearest double that is not below x; a positive number never becomes 0."""
    return to_float(x, round_up=True)


def as_given(x: Fraction) -> float:
    """As it was asked for, 1e-12 and not the float above it, beside exact text. What is above 0 never becomes 0."""
    return float(x) or float_up(x)


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """An answer of three kinds as plain values."""
    if isinstance(verdict, Proved):
        return {"answer": "proved", "reason": verdict.reason}
    if isinstance(verdict, Refuted):
        return {"answer": "refuted", "reason": verdict.reason, "witness": dict(verdict.witness)}
    return {"answer": "undecided", "reason": verdict.why}
