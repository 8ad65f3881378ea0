"""Numbers as answers tell them: a float that is rounded against us with the exact text beside it, or a few digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from flint import arb

from hubbub.numeric.exact import Infinite, Loss, rounded, to_float, to_text, upper

TINIEST: Final = Fraction(1, 10**999)
LONGEST: Final = 4000  # bits of a number that is written out in full


def bounded(value: Loss | arb | int) -> Loss:
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
        bound = bounded(value)
        found[name] = "inf" if isinstance(bound, Infinite) else to_float(bound, round_up=True) or 0
        found[f"{name}_exact"] = written(bound)
    return found


def numbers_down(**values: Fraction) -> dict[str, Any]:
    """The same for what may be spent: the float is not above the number."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= {name: to_float(value, round_up=False), f"{name}_exact": written(value)}
    return found


def written(value: Loss) -> str:
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


_NAMED: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def chance(value: Fraction) -> str:
    """A small probability, rounded up, as one in so many; one of at least 1/20 as a percentage.

    >>> chance(Fraction(1, 1645017)), chance(Fraction(1, 3000)), chance(Fraction(1, 8))
    ('1 in 1.64 million', '1 in 3,000', '12.5 %')
    """
    if value >= Fraction(1, 20):
        return f"{short(100 * value, 3)} %"
    whole = int(1 / value)
    digits = len(str(whole))
    kept = whole if digits <= 3 else whole // 10 ** (digits - 3) * 10 ** (digits - 3)
    for size, word in _NAMED:
        if size <= kept < 1000 * size:
            return f"1 in {short(Fraction(kept, size), 3, up=False)} {word}"
    return f"1 in {kept:,}" if kept < 10**6 else f"1 in 10^{digits - 1}"
