"""Tables of one cube that do not add up, made to: exact least squares.

Levels S of the cube (sets of columns, the set of all of them among these) were published with independent noise and get
weights w_S, about 1 over its variance. On the part of a table that depends on the columns T and averages to 0 over each
of them, M_S^T M_S is N(not S) if S holds T and 0 otherwise, N(A) being the number of bins of the columns A together. So
the cells x that minimise the sum of w_S |M_S x - y_S|^2 are, with b = sum of w_S M_S^T y_S and b_U its margins,

    x = sum over U of g_U b_U,   g_U = 1/N(not U) sum over T containing U of (-1)^|T - U| / lambda_T,
    lambda_T = sum over S containing T of w_S N(not S),

in rational numbers, with no matrix. Margins of x are sums of x, so all tables add up, to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm, prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.kinds.cube.margins import Margin, summed
from hubbub.numeric.exact import exp, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import size

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube

_DIGITS: Final = 4  # of a weight: the noise is no worse for it
Ends: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

_SMALL_SUM: Final = 3  # of a sum of cells that are as they are written


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Cells in units of 1/scale, a power of ten: their sums are the margins, exactly."""

    cells: list[int]
    scale: int

    @property
    def degrees(self) -> int:
        """Digits after the point."""
        return len(str(self.scale)) - 1

    def sums(self, spec: Cube, margin: Margin) -> NDArray[Any]:
        """The fitted numbers of a margin, in units of 1/scale, exactly."""
        return summed(np.array(self.cells, dtype=object), spec.axes, margin)

    def nearest_integers(self, sums: NDArray[Any]) -> NDArray[np.int64]:
        """The nearest whole numbers."""
        return np.array((2 * sums + self.scale) // (2 * self.scale), dtype=np.int64)

    def ends(self, sums: NDArray[Any], reach: Fraction, most: int | None = None) -> Ends:
        """Whole numbers of at least 0 that are no further away than this, and what rounding of the sums may hide.

        Guarantee: if the exact sum is within `reach` of a whole number, this lies between them.
        """
        far = (reach + Fraction(1, 1000)) * self.scale
        near = np.clip(sums, 0, None if most is None else most * self.scale)
        low, high = -((-near + math.floor(far)) // self.scale), (near + math.floor(far)) // self.scale
        return np.array(np.clip(low, 0, most), dtype=np.int64), np.array(np.clip(high, 0, most), dtype=np.int64)


def weight(rate: Fraction) -> Fraction:
    """About 1 over the variance of the noise, (1 - q)^2/(2 q), to a few digits; any weight is fair."""
    q = exp(-rate)
    return rounded((1 - q) ** 2 / (2 * q), up=True, digits=_DIGITS)


def fitted(spec: Cube, published: Sequence[NDArray[np.int64]]) -> Fit:
    """The cells that fit all tables best, rounded so that no sum of them is off by more than half of 1/1000."""
    sizes = [size(axis) for axis in spec.axes]  # type: ignore[arg-type]  # all are declared
    exact, unit = solved(sizes, spec.levels, [weight(share) for share in spec.shares], published)
    return rounded_fit(exact, unit, sizes)


def rounded_fit(exact: Sequence[int], unit: int, sizes: Sequence[int], total: int | None = None) -> Fit:
    """Cells that are numerators of one denominator, rounded so that no sum of them is off by more than half of 1/1000; of
    1/1000 where they are to add up to a total, and the first ones make up for what rounding took."""
    scale = 10 ** (_SMALL_SUM + len(str(prod(sizes))))
    cells = [(2 * cell * scale + unit) // (2 * unit) for cell in exact]
    if total is not None:
        missing = total * scale - sum(cells)
        step = 1 if missing > 0 else -1
        for i in range(abs(missing)):
            cells[i] += step
    return Fit(cells, scale)


def solved(
    sizes: Sequence[int],
    levels: Sequence[frozenset[int]],
    weights: Sequence[Fraction],
    published: Sequence[NDArray[np.int64]],
) -> tuple[list[int], int]:
    """The exact least-squares cells, as numerators of one denominator.

    Guarantee: they minimise the sum over levels of weight times squared distance between published table and margin.
    """
    unit = lcm(*(each.denominator for each in weights))
    scaled_weights = [int(each * unit) for each in weights]
    every = frozenset(range(len(sizes)))
    total = np.zeros(sizes, dtype=object)
    for level, each, table in zip(levels, scaled_weights, published, strict=True):
        total = total + each * table.astype(object).reshape([n if a in level else 1 for a, n in enumerate(sizes)])

    def many(columns: frozenset[int]) -> int:
        return prod(sizes[a] for a in columns)

    def spread(columns: frozenset[int]) -> int:
        return sum(
            each * many(every - level) for level, each in zip(levels, scaled_weights, strict=True) if level >= columns
        )

    subsets = [frozenset(part) for n in range(len(sizes) + 1) for part in combinations(range(len(sizes)), n)]
    factors = {}
    for u in subsets:
        signed = (Fraction((-1) ** len(t - u), spread(t)) for t in subsets if t >= u)
        factor = sum(signed, Fraction(0)) / many(every - u)
        if factor:
            factors[u] = factor
    common = lcm(*(factor.denominator for factor in factors.values()))
    cells: NDArray[Any] = np.zeros(sizes, dtype=object)
    for u, factor in factors.items():
        away = tuple(every - u)
        cells = cells + int(factor * common) * (total.sum(axis=away, keepdims=True) if away else total)
    return cells.reshape(-1).tolist(), common
