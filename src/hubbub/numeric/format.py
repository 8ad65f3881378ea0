"""Numbers as answers tell them: a float that is rounded against us with the exact text beside it, or a few digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb

from hubbub.numeric.exact import Infinite, Loss, rounded, to_float, to_text, upper

TINIEST: Final = Fraction(1, 10**999)
LONGEST: Final = 4000  # bits of a number that is written out in full


def writable_bound(value: Loss | arb | int) -> Loss:
    """A number not below it that can be written out: what is tiny, or has thousands of digits, is rounded up."""
    exact = Fraction(value) if isinstance(value, int) else value
    bound = exact if isinstance(exact, Fraction | Infinite) else upper(exact)
    if isinstance(bound, Fraction) and 0 < bound < TINIEST:
        bound = TINIEST
    if isinstance(bound, Fraction) and bound.denominator.bit_length() > LONGEST:
        bound = rounded(bound, up=True)  # a rate to the power of k, written out
    return bound


def numbers(**values: Loss | arb | int) -> dict[str, Any]:
    """Each as a float rounded up and, beside it, as exact text (what is searched or enclosed: of the rounded value)."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        bound = writable_bound(value)
        found[name] = "inf" if isinstance(bound, Infinite) else to_float(bound, round_up=True) or 0
        found[f"{name}_exact"] = exact_text(bound)
    return found


def numbers_down(**values: Fraction) -> dict[str, Any]:
    """The same for what may be spent: the float is not above the number."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= {name: to_float(value, round_up=False), f"{name}_exact": exact_text(value)}
    return found


def exact_text(value: Loss) -> str:
    """Exact text, read back by whatever takes numbers: 1.5e-30 where a decimal would be all zeros."""
    text = to_text(value)
    if isinstance(value, Infinite) or "/" not in text:
        return text
    decimals = value.denominator.bit_length()  # at least as many as a decimal has, if one ends
    scaled = value * 10**decimals
    if scaled.denominator != 1:
        return text
    digits = str(scaled.numerator).rstrip("0")
    power = len(str(scaled.numerator)) - 1 - decimals
    return f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{power}" if power > -1000 else text


def short(value: Loss | int | float | None, digits: int = 4, *, up: bool = True) -> str:
    """A number of a few digits, rounded up, or down where it says what may be spent.

    >>> short(Fraction(2, 3)), short(Fraction(2, 3), 2, up=False), short(None)
    ('0.6667', '0.66', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, Infinite):
        return "infinite"
    exact = Fraction(value)
    return f"{to_float(rounded(exact, up=up, digits=digits), round_up=up):.{digits}g}" if exact else "0"


def readable(value: Fraction, *, up: bool | None = None) -> str:
    """A number as tables have it: six digits or all of its whole ones, from 1 on with two decimals at most.

    Rounded to the nearest, or to the one side that is named, as the ends of an interval are.

    >>> readable(Fraction(3661234, 10**4)), readable(Fraction(22602299, 100), up=False), readable(Fraction(1, 46))
    ('366.12', '226,022', '0.0217391')
    """
    if not value:
        return "0"
    size = math.floor(math.log10(abs(value)))
    decimals = max(0, min(5 - size, 2) if size >= 0 else 5 - size)
    scaled = value * 10**decimals
    scaled_integer = round(scaled) if up is None else math.ceil(scaled) if up else math.floor(scaled)
    sign, digits = "-" if scaled_integer < 0 else "", f"{abs(scaled_integer):0{decimals + 1}}"
    start, rest = (digits[:-decimals], digits[-decimals:].rstrip("0")) if decimals else (digits, "")
    return f"{sign}{int(start):,}{'.' if rest else ''}{rest}"


def join_words(texts: Sequence[str]) -> str:
    """a, b and c."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


_NAMED: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def chance(value: Fraction) -> str:
    """A small probability, rounded up, as one in so many; one of at least 1/20 as a percentage.

    >>> chance(Fraction(1, 1645017)), chance(Fraction(1, 3000)), chance(Fraction(1, 8))
    ('1 in 1.64 million', '1 in 3,000', '12.5 %')
    """
    if value >= Fraction(1, 20):
        return f"{short(100 * value, 3)} %"
    odds = int(1 / value)
    digits = len(str(odds))
    kept = odds if digits <= 3 else odds // 10 ** (digits - 3) * 10 ** (digits - 3)
    for size, word in _NAMED:
        if size <= kept < 1000 * size:
            return f"1 in {short(Fraction(kept, size), 3, up=False)} {word}"
    return f"1 in {kept:,}" if kept < 10**6 else f"1 in 10^{digits - 1}"
