"""The law of a sum of two-sided geometric noises, from below: how much of it surely lies within a distance of 0.

Masses are whole numbers of units of 2^-128, rounded down, and laws are multiplied as polynomials; what is rounded away,
or lies beyond a window that Chernoff's bound leaves next to nothing outside of, is missing from the sum. So what is
found inside is at most what is there, and one minus it bounds the tail.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final

from flint import fmpz_poly

from hubbub.numeric.exact import ball, exp, lower

UNIT: Final = 1 << 128


@lru_cache(maxsize=512)
def inside(rate: Fraction, many: int, window: int) -> tuple[int, ...]:
    """For r = 0 .. window, in units: a number of them that P(|X_1 + ... + X_many| <= r) is at least.

    Guarantee: that, for every window.
    """
    integers: list[int] = []
    power, left = _one(rate, window), many
    while True:
        if left & 1:
            integers = power if not integers else _product(integers, power, window)
        left >>= 1
        if not left:
            break
        power = _product(power, power, window)
    middle = len(integers) // 2
    return tuple(
        accumulate([integers[middle], *(integers[middle - r] + integers[middle + r] for r in range(1, middle + 1))])
    )


@lru_cache(maxsize=64)
def _one(rate: Fraction, window: int) -> list[int]:
    top = (1 - exp(-rate)) / (1 + exp(-rate))
    side = [math.floor(lower(top * exp(-rate * x) * ball(UNIT))) for x in range(window + 1)]
    return [*reversed(side[1:]), *side]


def _product(first: list[int], second: list[int], window: int) -> list[int]:
    """Of two laws around their middles, cut to the window."""
    found = [int(mass) for mass in (fmpz_poly(first) * fmpz_poly(second)).coeffs()]
    found += [0] * (len(first) + len(second) - 1 - len(found))
    middle = len(found) // 2
    return [mass // UNIT for mass in found[max(middle - window, 0) : middle + window + 1]]
