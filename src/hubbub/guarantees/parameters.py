"""What a parameter of a definition may be: exact, already parsed, in range.

Text belongs to the edge (:func:`hubbub.numeric.exact.rational`, :func:`hubbub.numeric.exact.loss`); a definition is
built from the numbers that came out of it. Each function gives the value in its one normal form, so that equal promises
are equal values, or raises one sentence.
"""

from __future__ import annotations

from fractions import Fraction

from hubbub.errors import FloatRefused, WrongUse
from hubbub.numeric.exact import Infinite, Loss


def number(value: object, what: str) -> Fraction:
    """`value` as a Fraction, if it is exact."""
    if type(value) is Fraction:  # nearly always
        return value
    if isinstance(value, float):
        raise FloatRefused(
            f'{what} must be exact, not the float {value!r}; parse its text first, rational("{value!r}")'
        )
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise WrongUse(
            f"{what} must be an int or a Fraction, not {type(value).__name__}; parse text with exact.rational"
        )
    return Fraction(value)


def level(value: object, what: str = "epsilon") -> Loss:
    """A privacy loss: at least 0, or INFINITY where nothing is promised."""
    if isinstance(value, Infinite):
        return value
    exact = number(value, what)
    if exact.numerator < 0:
        raise WrongUse(f"{what} must be at least 0 or INFINITY, not {exact}; a loss below 0 does not exist")
    return exact


def chance(value: object, what: str = "delta") -> Fraction:
    """A probability: between 0 and 1, both allowed."""
    exact = number(value, what)
    if not 0 <= exact.numerator <= exact.denominator:
        raise WrongUse(f"{what} is a probability and must lie between 0 and 1, not at {exact}; choose one that does")
    return exact


def size(value: object, what: str, *, least: int = 1) -> int:
    """A number of people."""
    if type(value) is int and value >= least:  # nearly always
        return value
    exact = number(value, what)
    if exact.denominator != 1 or exact < least:
        raise WrongUse(f"{what} must be a whole number of at least {least}, not {exact}; count people")
    return int(exact)


def settle(value: object, **fields: object) -> None:
    """Set the fields of a frozen value to their normalized values, from within its constructor."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)
