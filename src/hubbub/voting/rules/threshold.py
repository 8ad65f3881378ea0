"""The margin of an elimination rule as it is asked for, and the whole number it comes to in an election.

Counts are whole numbers, so "within B" and "within floor(B)" are the same.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import Exact, rational
from hubbub.runtime.frozen import dataclass
from hubbub.voting.rules import margins

DEFAULT_ETA: Final = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Power:
    """n^(1/2 + d) for n voters, as in the thesis: 0 < d < 1/2."""

    d: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.d < Fraction(1, 2):
            raise WrongUse(f"the margin n^(1/2 + d) needs d between 0 and 1/2, not {self.d}")
        if self.d.denominator > 1000:  # n to this power is written out
            raise WrongUse("the margin n^(1/2 + d) takes a d with a denominator of at most 1000")

    def __str__(self) -> str:
        return f"n^{self.d + Fraction(1, 2)}"


@dataclass(frozen=True, slots=True)
class ForGain:
    """B*, the margin for an allowed gain `eta`, from the numbers of voters and candidates (Theorem B1)."""

    eta: Fraction = DEFAULT_ETA

    def __post_init__(self) -> None:
        if not 0 < self.eta < 1:
            raise WrongUse(f"eta, the allowed gain, must lie between 0 and 1, not {self.eta}; utilities lie in [0, 1]")

    def __str__(self) -> str:
        return f"B* for a gain of {self.eta}"


Margin: TypeAlias = int | Fraction | Power | ForGain


def margin(value: Exact | Power | ForGain, what: str = "a margin") -> Margin:
    """A margin as asked for: a number of at least 0, a power of the number of voters, or what a gain needs.

    >>> str(margin("n^0.75")), margin("12.5")
    ('n^3/4', Fraction(25, 2))
    """
    if isinstance(value, Power | ForGain):
        return value
    power = re.fullmatch(r"\s*n\^\(?([^()]+)\)?\s*", value, re.ASCII) if isinstance(value, str) else None
    if power is not None:
        exponent = rational(power[1], f"the exponent of {what}")
        if exponent.denominator > 1000:
            raise WrongUse(f"the exponent of {what} takes at most three decimals, not {power[1][:40]}")
        return Power(exponent - Fraction(1, 2))
    number = rational(value, what)
    if number < 0:
        raise WrongUse(f"{what} must be at least 0, not {number}")
    return number


def share(value: Exact, what: str) -> Fraction:
    """A number above 0 and below 1, also as a power: ``1e-12``, ``1/3``, ``2^-100``.

    >>> share("2^-10", "eta")
    Fraction(1, 1024)
    """
    power = re.fullmatch(r"\s*(\d{1,3})\^-(\d{1,4})\s*", value, re.ASCII) if isinstance(value, str) else None
    if power is not None and int(power[1]) > 1:
        number = Fraction(1, int(power[1]) ** int(power[2]))
    else:
        number = rational(value, what)
    if not 0 < number < 1:
        given = value.strip()[:40] if isinstance(value, str) else number
        raise WrongUse(f"{what} must lie between 0 and 1, not {given}")
    return number


def threshold(margin: Margin, kind: str, voters: int, candidates: int, points_range: int = 1) -> int:
    """The whole number that differences of counts are held against.

    Guarantee: a whole difference is within the margin asked for exactly if it is at most this: the largest whole
    number that is not above it. For `ForGain` it is B* itself, whose guarantee `margins.default_margin` states.
    """
    if isinstance(margin, ForGain):
        if voters < 2:
            return 0  # nobody has others to hold beliefs about, and nothing is promised
        return margins.default_margin(kind, voters, candidates, margin.eta, points_range=points_range)
    if isinstance(margin, Power):
        exponent = margin.d + Fraction(1, 2)
        return _root(voters**exponent.numerator, exponent.denominator)
    return margin.numerator // margin.denominator


def _root(number: int, degree: int) -> int:
    """The largest whole x with x^degree <= number."""
    return first(lambda x: x**degree > number, 1, 1 << (number.bit_length() // degree + 1)) - 1
