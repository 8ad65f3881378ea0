"""The least and the largest variance, and mean, of values whose sums lie in a box: in rationals.

Of x in 0..W let B0 be the sum of (W - x)^2, B1 that of 2 x (W - x) and B2 that of x^2, and S their sum, W^2 times how
many there are. In parts of the range the mean is (B1/2 + B2)/S and the variance

    V = B2/S - ((B1/2 + B2)/S)^2 = (B0 B2 - B1^2/4)/S^2.

V falls in B1: its derivative has the sign of -(B1 (B0 + B2)/2 + 2 B0 B2). In B0 it rises up to B1 + B2 + B1^2/(2 B2) and
falls from there, and in B2 alike. So it is least at a corner with the largest B1; and as both cannot be where they are
best but with B1 = 0 and B0 = B2, it is largest on an edge with the least B1, at an end or where the other one is best.
The mean falls in B0 and rises in B2, and B1 moves it one way only while the others stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Final

Side = tuple[Fraction, Fraction]
Box = tuple[Side, Side, Side]
"""From where to where B0, B1 and B2 lie, none below 0."""

QUARTER: Final = Fraction(1, 4)  # the variance of values half at each end of a range of length 1


def variances(box: Box) -> Side:
    """The least and the largest variance, in squares of the range; at least 0 and at most a quarter.

    Guarantee: whatever B0, B1, B2 >= 0 in the box, not all 0, the variance is inside.
    """
    (low0, high0), (low1, high1), (low2, high2) = box
    if low0 + low1 + low2 <= 0:
        return Fraction(0), QUARTER
    least = min(_variance(b0, high1, b2) for b0, b2 in product((low0, high0), (low2, high2)))
    most = max(_variance(b0, low1, b2) for b0, b2 in _edges((low0, high0), low1, (low2, high2)))
    return max(least, Fraction(0)), min(max(most, Fraction(0)), QUARTER)


def means(box: Box) -> Side:
    """The least and the largest mean, in parts of the range.

    Guarantee: as :func:`variances`.
    """
    (low0, high0), middle, (low2, high2) = box
    if low0 + middle[0] + low2 <= 0:
        return Fraction(0), Fraction(1)
    return min(_mean(high0, b1, low2) for b1 in middle), max(_mean(low0, b1, high2) for b1 in middle)


def _edges(first: Side, middle: Fraction, last: Side) -> Iterator[tuple[Fraction, Fraction]]:
    for end in first:
        yield from ((end, other) for other in (*last, *_best(end, middle, last)))
    for end in last:
        yield from ((other, end) for other in (*first, *_best(end, middle, first)))


def _best(end: Fraction, middle: Fraction, side: Side) -> tuple[Fraction, ...]:
    """Where on its side the other one makes the variance largest."""
    if not end:
        return ()
    return (min(max(middle + end + middle**2 / (2 * end), side[0]), side[1]),)


def _variance(b0: Fraction, b1: Fraction, b2: Fraction) -> Fraction:
    whole = b0 + b1 + b2
    return (b0 * b2 - b1**2 / 4) / whole**2 if whole else Fraction(0)


def _mean(b0: Fraction, b1: Fraction, b2: Fraction) -> Fraction:
    return (b1 / 2 + b2) / (b0 + b1 + b2)
