"""Two-sided geometric noise of rates below 10^-6, for sums of many steps.

Digits of a geometric number are independent (:mod:`hubbub.noise.sampler`): G = B j + r, j geometric with rate
B epsilon and r = 0..B-1 with weights q^r. With B = 1000 twice, a rate of 10^-12 is two tables more. Given its sign,
|x| - 1 of a two-sided number is geometric.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.sampler import SMALLEST_EPSILON, geometric, two_sided_geometric
from hubbub.noise.source import Source
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.exact import exp

WIDEST: Final = Fraction(1, 10**12)
"""The smallest rate: noise leaves 64 bits with a chance below e^(-10^6) there."""

_BASE: Final = 1000


def wide_noise(rate: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """`size` independent integers with P(x) = (1 - q)/(1 + q) q^|x|, q = exp(-rate).

    Guarantee: exactly this law, for every rational rate >= 10^-12. A certified table decides between 0 and the two
    signs; the rest is |x| - 1, geometric, as a quotient and a remainder with certified tables each.
    """
    if rate >= SMALLEST_EPSILON:
        return two_sided_geometric(rate, size, source)
    if rate < WIDEST:
        raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")
    sign = _signs(rate).sample(size, source).astype(np.int64) - 1
    return sign * (1 + _geometric(rate, size, source))


def _geometric(rate: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    if rate >= SMALLEST_EPSILON:
        return geometric(rate, size, source)
    return _BASE * _geometric(_BASE * rate, size, source) + _rest(rate).sample(size, source)


@lru_cache(maxsize=64)
def _signs(rate: Fraction) -> CertifiedTable:
    def boundaries() -> list[arb]:
        q = exp(-rate)
        return [q / (1 + q), 1 / (1 + q)]

    return CertifiedTable(boundaries)


@lru_cache(maxsize=64)
def _rest(rate: Fraction) -> CertifiedTable:
    def boundaries() -> list[arb]:
        normalizer = 1 - exp(-_BASE * rate)
        return [(1 - exp(-i * rate)) / normalizer for i in range(1, _BASE)]

    return CertifiedTable(boundaries)
