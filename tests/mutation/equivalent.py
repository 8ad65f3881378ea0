"""What was planted and is no fault: everything is the same after it, or as right, each with the reason.

By module, the line as it stands, and what became of it: whoever changes the line has to think again.
"""

from __future__ import annotations

from typing import Final

EQUIVALENT: Final[dict[tuple[str, str, str], str]] = {
    (
        "guarantees/indistinguishability.py",
        "if p == 1 or isinstance(epsilon, Infinite):",
        "1 becomes 2",
    ): "for p = 1 the mixture is epsilon, rounded up, and the smaller of the two is epsilon again",
    (
        "guarantees/composition.py",
        "_DIGITS = 60",
        "60 becomes 61",
    ): "long sums are rounded up to so many digits, and one more is as right",
    (
        "guarantees/accountant/odometer.py",
        "_KEPT: Final = 24  # digits of a growth",
        "24 becomes 25",
    ): "a growth is rounded up to so many digits, and one more is as right",
}
