"""Exact numbers: rationals in, certified intervals between, one exit to float.

Privacy parameters are rationals. ``"0.1"`` means one tenth; the float ``0.1`` means
3602879701896397/36028797018963968 and is refused, because a promise made about the first would
be kept for the second. So are all other floats, 0.5 too: which of them are what they read, nobody should have to know.
Exponentials and logarithms of rationals are Arb balls
(python-flint): a midpoint and a radius that are *proved* to enclose the true value. A number leaves
exactness by :func:`to_float` or :func:`to_text` only, and the caller names the direction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb, ctx, fmpq

from hubbub.errors import FloatRefused, WrongUse

PRECISION: Final = 256
"""Bits of a ball unless a caller asks for more. Fewer bits never make a ball wrong, only wider."""

if ctx.prec < PRECISION:  # python-flint starts with 53 bits, too wide for a delta of 1e-30
    ctx.prec = PRECISION


class Infinite:
    """The one value above every rational. ``INFINITY`` is its only instance."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return other is self

    def __hash__(self) -> int:
        return hash("hubbub.INFINITY")

    def __add__(self, other: object) -> Infinite:
        return self

    __radd__ = __add__

    def __reduce__(self) -> str:
        return "INFINITY"

    def __repr__(self) -> str:
        return "inf"


INFINITY: Final = Infinite()

Exact: TypeAlias = int | str | Fraction
"""What a caller may hand in."""

Loss: TypeAlias = Fraction | Infinite
"""A privacy loss: a rational, or infinity where nothing is promised."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/\d+", re.ASCII)
_LONGEST = 3000  # characters; with the exponent below the 4300 digits that Python converts to and from text


def rational(value: Exact, what: str = "a number") -> Fraction:
    """The exact rational that `value` says: an int, a Fraction, or text like ``0.1``, ``1/3``, ``1e-6``.

    Floats are refused, all of them alike.

    >>> rational("0.1"), rational("1/3"), rational("1e-6")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000000))
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise FloatRefused(f"{what} must be an exact number, and the float {value!r} is none; write it as text")
        raise FloatRefused(
            f'{what} must be exact, and a float is rounded to binary digits; write it as text, "{float(value)!r}", or as '
            "a Fraction"
        )
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise WrongUse(f"{what} must be an int, a Fraction or text, not {type(value).__name__}")
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST or not _NUMBER.fullmatch(text) or re.fullmatch(r".*/0+", text):
            raise WrongUse(f"{what} must be a number like 0.1, 1/3 or 1e-6, not {text[:40]!r}")
        return Fraction(text)
    return Fraction(value)


def brief(number: Fraction) -> str:
    """A number for a message: as it is, or as a power of ten where that would be many digits.

    >>> brief(Fraction(1, 3)), brief(Fraction(1, 10**400)), brief(Fraction(-(10**30)))
    ('1/3', 'about 1e-400', 'about -1e30')
    """
    if len(text := str(number)) <= 20:
        return text
    size = abs(number)
    power = len(str(size.numerator)) - len(str(size.denominator))
    power -= size < Fraction(10) ** power
    lead = size / Fraction(10) ** power
    return f"about {'-' if number < 0 else ''}{int(lead)}e{power}"


def positive(value: Exact, what: str) -> Fraction:
    """`value` as a rational above zero."""
    number = rational(value, what)
    if number <= 0:
        raise WrongUse(f"{what} must be above 0, not {brief(number)}")
    return number


def loss(value: Exact | Infinite, what: str = "a loss") -> Loss:
    """A rational at least 0, or ``inf``."""
    if value is INFINITY or (isinstance(value, str) and value.strip().lower() in ("inf", "infinity")):
        return INFINITY
    number = rational(value, what)  # type: ignore[arg-type]
    if number < 0:
        raise WrongUse(f"{what} must be at least 0, not {brief(number)}")
    return number


def finite_loss(value: Exact | Infinite, what: str = "epsilon") -> Fraction:
    """A rational at least 0, for a theorem that starts from a finite loss."""
    found = loss(value, what)
    if isinstance(found, Infinite):
        raise WrongUse(f"{what} must be finite, because nothing follows from an infinite one; give a number")
    return found


def integer(value: Exact, what: str, *, least: int = 0) -> int:
    """`value` as an integer at least `least`."""
    number = rational(value, what)
    if number.denominator != 1 or number < least:
        raise WrongUse(f"{what} must be a whole number of at least {least}, not {number}")
    return int(number)


@contextmanager
def precision(bits: int = PRECISION) -> Iterator[None]:
    """Balls made inside carry `bits` bits. (Another thread may change it: balls stay true, only their width moves.)"""
    with ctx.workprec(bits):
        yield


def ball(number: Fraction | int | str) -> arb:
    """The tightest ball around a rational at the current precision."""
    q = Fraction(number)
    return arb(fmpq(q.numerator, q.denominator))


def exp(exponent: Fraction | int) -> arb:
    """A ball around e^exponent."""
    return ball(exponent).exp()


def log(number: Fraction | int) -> arb:
    """A ball around the natural logarithm of a positive rational."""
    if number <= 0:
        raise WrongUse("a logarithm needs a number above 0")
    return ball(number).log()


_TINIEST = 20_000
"""Numbers below 2^-20000 are bounded by that or by 0, whichever is on the safe side; written out, they fill memory."""


def _dyadic(end: arb, *, up: bool) -> Fraction:
    if not end.is_finite():
        raise ArithmeticError("a ball lost all its precision; ask for more bits")
    mantissa, exponent = end.man_exp()
    m, e = int(mantissa), int(exponent)
    if e > _TINIEST:
        raise ArithmeticError("a number is too large to be written out")
    if e + m.bit_length() < -_TINIEST:
        away = (m > 0) == up  # the bound that is further from zero
        return Fraction((1 if m > 0 else -1) if away and m else 0, 1 << _TINIEST)
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)


def upper(x: arb | Fraction) -> Fraction:
    """A rational proved to be at least x."""
    return x if isinstance(x, Fraction) else _dyadic(x.upper(), up=True)


def lower(x: arb | Fraction) -> Fraction:
    """A rational proved to be at most x."""
    return x if isinstance(x, Fraction) else _dyadic(x.lower(), up=False)


def rounded(x: arb | Fraction, *, up: bool, digits: int = 20) -> Fraction:
    """x as a decimal of `digits` significant digits, never on the wrong side of x.

    >>> rounded(Fraction(2, 3), up=True, digits=3)
    Fraction(667, 1000)
    """
    bound = upper(x) if up else lower(x)
    if bound == 0:
        return bound
    scale = Fraction(10) ** (digits - 1 - _size(abs(bound)))
    scaled = bound * scale
    return Fraction(math.ceil(scaled) if up else math.floor(scaled)) / scale


def _size(x: Fraction) -> int:
    """The n with 10^n <= x < 10^(n+1)."""
    guess = math.floor((x.numerator.bit_length() - x.denominator.bit_length()) * math.log10(2))
    while Fraction(10) ** (guess + 1) <= x:
        guess += 1
    while Fraction(10) ** guess > x:
        guess -= 1
    return guess


def to_float(x: arb | Loss | int, *, round_up: bool) -> float:
    """The one exit to float: the nearest double not below x (``round_up``), or not above it."""
    if isinstance(x, Infinite):
        return math.inf
    exact = Fraction(x) if isinstance(x, int) else (upper(x) if round_up else lower(x))
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf if exact > 0 else -math.inf
    if math.isinf(near):
        toward_us = (near > 0) == round_up
        return near if toward_us else math.copysign(math.nextafter(math.inf, 0), near)
    if round_up and Fraction(near) < exact:
        return math.nextafter(near, math.inf)
    if not round_up and Fraction(near) > exact:
        return math.nextafter(near, -math.inf)
    return near


_DECIMALS = 40
_FIVES = {5**many: many for many in range(_DECIMALS + 1)}


def to_text(x: Loss) -> str:
    """Exact text that :func:`rational` and :func:`loss` read back: a decimal where one ends, else a fraction.

    >>> to_text(Fraction(1, 8)), to_text(Fraction(1, 3)), to_text(INFINITY)
    ('0.125', '1/3', 'inf')
    """
    if isinstance(x, Infinite):
        return "inf"
    return ratio_to_text(*x.as_integer_ratio())


def ratio_to_text(above: int, below: int) -> str:
    """The same of a fraction in lowest terms, `below` being above 0."""
    if below == 1:
        return str(above)
    twos = (below & -below).bit_length() - 1
    fives = _FIVES.get(below >> twos)
    if fives is None or twos > _DECIMALS:
        return f"{above}/{below}"
    decimals = max(twos, fives)
    digits = str(abs(above) * 10**decimals // below).rjust(decimals + 1, "0")
    return f"{'-' if above < 0 else ''}{digits[:-decimals]}.{digits[-decimals:]}"
