"""The best blocks and the best factor for a series, found from public numbers.

Where to look is found with floats; what is returned is worked out exactly for the numbers themselves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from hubbub.errors import Refused
from hubbub.guarantees.accountant.gaussian import delta_of, least_normal_variance
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import rounded
from hubbub.query_classes.series.blocks import Blocks
from hubbub.query_classes.series.factor import Factor, coefficients, column_square

MOST_PERIODS: Final = 1_000
BITS: Final = 8
_THETAS: Final = tuple(Fraction(n, 100) for n in range(61))
_SHARES: Final = 200
_STEPS: Final = 10**4


def best_blocks(periods: int, recur: int, l1: int, epsilon: Fraction) -> Blocks:
    """The blocks and the share of epsilon for them that make the largest variance of a total least; perhaps none.

    Guarantee: that of :class:`Blocks`, whatever the block and the share.
    """
    plain = Blocks(periods=periods, recur=recur, l1=l1, epsilon=epsilon)
    rate = float(plain.single_rate)
    best, found = periods * _variance(rate), plain
    for block in range(2, periods):
        whole, rest = periods // block, block - 1
        for i in range(1, _SHARES):
            share = i / _SHARES
            of_block, of_single = _variance(rate * share), _variance(rate * (1 - share))
            last = whole * of_block + (periods - whole * block) * of_single
            worst = max(last, (whole - 1) * of_block + rest * of_single)
            if worst < best:
                best, found = worst, replace(plain, block=block, share=Fraction(i, _SHARES))
    return found


def _variance(rate: float) -> float:
    if rate > 700:
        return 0.0
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@lru_cache(maxsize=256)
def best_factor(
    periods: int, recur: int, squared: int, moved: int, epsilon: Fraction, delta: Fraction, *, signed: bool = False
) -> Factor:
    """The theta, in hundredths, that makes the largest variance of a total least, with the least noise for the promise.

    Guarantee: that of :class:`Factor`, whose delta was worked out for the numbers returned and is at most `delta`.
    """
    theta = min(_THETAS, key=lambda each: _spread(float(each), periods, recur))
    return least_factor(periods, recur, squared, moved, epsilon, delta, theta, signed=signed)


def _spread(theta: float, periods: int, recur: int) -> float:
    """The squared length of the first columns times that of the last row of L, in floats."""
    a = np.ones(periods)
    for k in range(1, periods):
        a[k] = a[k - 1] * (k - 1 + theta) / k
    line = np.ones(periods)  # of (1 - x)^(theta - 1)
    for k in range(1, periods):
        line[k] = line[k - 1] * (k - theta) / k
    sums = np.convolve(a, np.ones(recur))[:periods]
    return float((sums**2).sum() * (line**2).sum())


@lru_cache(maxsize=256)
def least_factor(
    periods: int,
    recur: int,
    squared: int,
    moved: int,
    epsilon: Fraction,
    delta: Fraction,
    theta: Fraction,
    *,
    signed: bool = False,
    bits: int = BITS,
) -> Factor:
    """The factor of that theta with an s2 next to the least for the promise.

    Guarantee: the delta was worked out for the s2 itself, after rounding, and is at most `delta`.
    """
    if not 0 < delta < 1:
        raise Refused("Gaussian noise needs a delta above 0 and below 1 beside epsilon; add one, like 1e-9")
    bits = 0 if theta in (0, 1) else bits  # then a_k are whole numbers
    moves = column_square(coefficients(theta, bits, periods), recur) * squared
    near = least_normal_variance(epsilon, delta) * moves
    form = Factor(
        periods=periods,
        recur=recur,
        squared=squared,
        moved=moved,
        epsilon=epsilon,
        theta=theta,
        bits=bits,
        s2=max(near, Fraction(1)),
        signed=signed,
    )
    shape = form.gaussian_noise

    def with_steps(steps: int) -> Fraction:
        return rounded(near * (1 + Fraction(steps, _STEPS)), up=True, digits=6)

    def suffices(steps: int) -> bool:
        return delta_of(replace(shape, s2=with_steps(steps)), epsilon) <= delta

    steps = first(suffices, -2000, 4000)
    while not suffices(steps):
        steps += 100
    return replace(form, s2=with_steps(steps))
