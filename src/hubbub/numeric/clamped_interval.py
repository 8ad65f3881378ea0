"""A number with noise and its interval, where the truth is known to lie in a range: a count is not below 0.

Cutting the interval alone may leave nothing of it, or one point: -39 with noise of at most 20 would be "0 to 0", a certainty
that nobody has. So the number is put into the range first, and then what is possible lies within the same reach of it.
The nearest number of a range is no further from any number of that range than the one that was drawn, so that the truth is in
the interval whenever the noise is within its reach, and the coverage is the same. (The interval of a value below a
boundary is that of the boundary: Mandelkern and Schultz, 2000.)
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", int, Fraction)


def clamp(value: Number, least: Number | None, most: Number | None = None) -> Number:
    """The nearest number from `least` to `most`; None: no such end."""
    raised = value if least is None else max(value, least)
    return raised if most is None else min(raised, most)


def clamped_interval(
    value: Number, reach: Number, least: Number | None, most: Number | None = None
) -> tuple[Number, Number]:
    """What is possible within `reach` of the possible number nearest to `value`.

    Guarantee: a truth from `least` to `most` that is within `reach` of `value` is in it, and so is the nearest possible
    number; it is one point only if the reach is 0 or nothing else is possible.

    >>> clamped_interval(-39, 20, 0), clamped_interval(12, 20, 0), clamped_interval(103, 5, 0, 100)
    ((0, 20), (0, 32), (95, 100))
    """
    near = clamp(value, least, most)
    return clamp(near - reach, least, most), clamp(near + reach, least, most)


def clamped_intervals(
    values: NDArray[np.int64], reach: int | NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same of many counts, none of them below 0.

    Guarantee: that of :func:`clamped_interval`.
    """
    near: NDArray[np.int64] = np.maximum(values, 0)
    low: NDArray[np.int64] = np.maximum(near - reach, 0)
    high: NDArray[np.int64] = np.add(near, reach)
    return low, high
