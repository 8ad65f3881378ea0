"""Numbers that somebody asks about, kept within what the theorems are worked out for.

Beyond these limits nothing is asked in earnest, and arithmetic runs out of memory or of digits; so they are refused in
a sentence that does not repeat a thousand digits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, rational

LARGEST_LOSS: Final = 1000
SMALLEST: Final = 30  # rates and losses are 0 or at least 10^-30
LARGEST_SIZE: Final = 15  # sizes are at most 10^15
LARGEST_CROWD: Final = 10**7  # as in a plan; larger ones take minutes
SMALLEST_DELTA: Final = 999  # deltas are at least 10^-999, the smallest that can be typed


def a_loss(given: Exact, what: str) -> Fraction:
    """An epsilon."""
    value = rational(given, what)
    if value > LARGEST_LOSS or 0 < value < Fraction(1, 10**SMALLEST):
        raise WrongUse(
            f"{what} must be 0 or between 1e-{SMALLEST} and {LARGEST_LOSS}, not {_given_text(given)}; beyond that a loss is "
            "as good as none, or as all"
        )
    return value


def a_rate(given: Exact, what: str) -> Fraction:
    """A sampling rate; whether 0 and 1 make sense is for the theorem to say."""
    value = rational(given, what)
    if not 0 <= value <= 1 or 0 < value < Fraction(1, 10**SMALLEST):
        raise WrongUse(
            f"{what} must lie between 0 and 1, and be 0 or at least 1e-{SMALLEST}, not {_given_text(given)}; "
            "choose such a one"
        )
    return value


def a_share(given: Exact, what: str, advice: str) -> Fraction:
    """A share that is neither 0 nor 1."""
    value = rational(given, what)
    if not 0 < value < 1:
        raise WrongUse(f"{what} must lie between 0 and 1, not {value}; {advice}")
    return value


def a_coverage(given: Exact) -> Fraction:
    """How often an interval is right."""
    return a_share(given, "coverage", "choose one like 0.95")


def a_delta(given: Exact, what: str) -> Fraction:
    """A delta; whether 0 makes sense is for the theorem to say."""
    value = rational(given, what)
    if value > 1 or 0 < value < Fraction(1, 10**SMALLEST_DELTA):
        raise WrongUse(
            f"{what} must be below 1 and at least 1e-{SMALLEST_DELTA}, not {_given_text(given)}; choose one like 1e-9"
        )
    return value


def a_size(given: Exact, what: str, *, least: int = 0) -> int:
    """A number of people, rows or bins."""
    value = rational(given, what)
    if value.denominator != 1 or not least <= value <= 10**LARGEST_SIZE:
        raise WrongUse(
            f"{what} must be a whole number of at least {least} and at most 10^{LARGEST_SIZE}, not {_given_text(given)}"
        )
    return int(value)


def a_crowd(given: Exact, what: str, *, least: int = 1) -> int:
    """A crowd."""
    k = a_size(given, what, least=least)
    if k > LARGEST_CROWD:
        raise WrongUse(f"{what} must be at most {LARGEST_CROWD:,}, not {_given_text(given)}; lower it")
    return k


def _given_text(given: Exact) -> str:
    text = str(given)
    return text if len(text) <= 20 else f"{text[:16]}..."
