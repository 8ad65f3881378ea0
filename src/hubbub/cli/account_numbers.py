"""Numbers from the command line, kept within what the theorems are worked out for.

Beyond these limits nothing is asked in earnest, and arithmetic runs out of memory or of digits; so they are refused in
a sentence that does not repeat a thousand digits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse

LARGEST_LOSS: Final = 1000
SMALLEST: Final = 30  # rates and losses are 0 or at least 10^-30
LARGEST_SIZE: Final = 15  # sizes are at most 10^15
LARGEST_CROWD: Final = 10**7  # as in a plan; larger ones take minutes
SMALLEST_DELTA: Final = 999  # deltas are at least 10^-999, the smallest that can be typed


def a_loss(text: str, flag: str) -> Fraction:
    """An epsilon."""
    from hubbub.exact import rational

    value = rational(text, flag)
    if value > LARGEST_LOSS or 0 < value < Fraction(1, 10**SMALLEST):
        raise WrongUse(
            f"{flag} must be 0 or between 1e-{SMALLEST} and {LARGEST_LOSS}, not {_said(text)}; beyond that a loss is "
            "as good as none, or as all"
        )
    return value


def a_rate(text: str, flag: str) -> Fraction:
    """A sampling rate; whether 0 and 1 make sense is for the theorem to say."""
    from hubbub.exact import rational

    value = rational(text, flag)
    if not 0 <= value <= 1 or 0 < value < Fraction(1, 10**SMALLEST):
        raise WrongUse(
            f"{flag} must lie between 0 and 1, and be 0 or at least 1e-{SMALLEST}, not {_said(text)}; choose such a one"
        )
    return value


def a_delta(text: str, flag: str) -> Fraction:
    """A delta; whether 0 makes sense is for the theorem to say."""
    from hubbub.exact import rational

    value = rational(text, flag)
    if value > 1 or 0 < value < Fraction(1, 10**SMALLEST_DELTA):
        raise WrongUse(
            f"{flag} must be below 1 and at least 1e-{SMALLEST_DELTA}, not {_said(text)}; choose one like 1e-9"
        )
    return value


def a_size(text: str, flag: str, *, least: int = 0) -> int:
    """A number of people, rows or bins."""
    from hubbub.exact import rational

    value = rational(text, flag)
    if value.denominator != 1 or not least <= value <= 10**LARGEST_SIZE:
        raise WrongUse(
            f"{flag} must be a whole number of at least {least} and at most 10^{LARGEST_SIZE}, not {_said(text)}"
        )
    return int(value)


def a_crowd(text: str, flag: str, *, least: int = 1) -> int:
    """A crowd."""
    k = a_size(text, flag, least=least)
    if k > LARGEST_CROWD:
        raise WrongUse(f"{flag} must be at most {LARGEST_CROWD:,}, not {_said(text)}; lower it")
    return k


def _said(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:16]}..."
