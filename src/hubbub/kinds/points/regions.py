"""Regions as cells: polygons that are public, such as the districts of a city, in place of a grid.

A position belongs to the first region that its middle lies in, by the even-odd rule, and to none if it lies in none;
that is worked out in floating point, row by row. What privacy rests on is worked out in whole numbers: how many steps
two positions of a region can be apart in L1 is at most the larger of the ranges of x + y and of x - y over its corners,
and at most the ranges of x and of y together; a position beyond these ranges is in no case one of the region's.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Lattice

MOST_CORNERS: Final = 20_000
_FARTHEST: Final = 10**15  # in the units of a column: floating point has it in steps of any lattice

Ring: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""Corners in the units of the two columns; the last is joined to the first."""

Positions: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Region:
    """A polygon by its rings: inside is what an odd number of them holds, so that holes are rings too."""

    name: str
    rings: tuple[Ring, ...]

    def __post_init__(self) -> None:
        if not self.rings or any(len(set(ring)) < 3 for ring in self.rings):
            raise WrongUse(f"a region has rings of at least three corners, not so {self.name[:40]!r}; check the file")
        if any(abs(number) > _FARTHEST for ring in self.rings for corner in ring for number in corner):
            raise WrongUse(
                f"a corner of the region {self.name[:40]!r} is further than 10^15 from 0; mend it in the file"
            )
        if any(_crosses_itself(ring) for ring in self.rings):
            raise WrongUse(f"the outline of the region {self.name[:40]!r} crosses itself; mend it in the file")


@dataclass(frozen=True, slots=True)
class Regions:
    """Several of them; where they overlap, the first one counts."""

    regions: tuple[Region, ...]

    def __post_init__(self) -> None:
        if not self.regions:
            raise WrongUse("there is no polygon in the file of regions; give one with at least one")
        if sum(len(ring) for region in self.regions for ring in region.rings) > MOST_CORNERS:
            raise WrongUse(f"regions have at most {MOST_CORNERS:,} corners together; simplify their outlines")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(region.name for region in self.regions)

    def rings(self, axes: Sequence[Lattice]) -> list[list[tuple[float, float]]]:
        """Their outlines."""
        every = (ring for region in self.regions for ring in region.rings)
        return [[(float(x), float(y)) for x, y in ring] for ring in every]

    def diameters(self, axes: Sequence[Lattice]) -> tuple[int, ...]:
        """How many steps two positions of each region can be apart, in L1; exactly, or more."""
        found = []
        for region in self.regions:
            across, up, sums, differences = (max(most - least, 0) for least, most in _ranges(region, axes))
            found.append(min(max(sums, differences), across + up))
        return tuple(found)

    def number(self, axes: Sequence[Lattice], positions: Sequence[Positions]) -> Positions:
        """The number of the region that each position is in, -1 for none.

        Guarantee: two positions with the same number are at most that region's diameter apart.
        """
        x, y = positions
        found = np.full(x.size, -1, dtype=np.int64)
        for i, region in enumerate(self.regions):
            near = found < 0
            for at, (least, most) in zip((x, y, x + y, x - y), _ranges(region, axes), strict=True):
                near &= (at >= least) & (at <= most)
            open_ = np.flatnonzero(near)
            found[open_[_inside(region, axes, x[open_], y[open_])]] = i
        return found


def _corners(region: Region, axes: Sequence[Lattice]) -> list[list[tuple[Fraction, Fraction]]]:
    """The corners in steps of the lattice, where the middle of position i is at i."""
    first, second = axes
    half = Fraction(1, 2)
    return [
        [((x - first.low) / first.step - half, (y - second.low) / second.step - half) for x, y in ring]
        for ring in region.rings
    ]


def _ranges(region: Region, axes: Sequence[Lattice]) -> list[tuple[int, int]]:
    """The first and last whole numbers between the ends of x, of y, of x + y and of x - y, over the corners."""
    corners = [corner for ring in _corners(region, axes) for corner in ring]
    seen = zip(*((x, y, x + y, x - y) for x, y in corners), strict=True)
    return [(ceil(min(values)), floor(max(values))) for values in seen]


def _inside(region: Region, axes: Sequence[Lattice], x: Positions, y: Positions) -> NDArray[np.bool_]:
    """Which positions an odd number of edges lies to the left of, a row of positions at a time."""
    rings = [np.array([[float(a), float(b)] for a, b in ring]) for ring in _corners(region, axes)]
    starts, ends = np.concatenate(rings), np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    found = np.zeros(x.size, dtype=bool)
    order = np.argsort(y, kind="stable")
    rows, first = np.unique(y[order], return_index=True)
    for row, a, b in zip(rows.tolist(), first, np.append(first, x.size)[1:], strict=True):
        met = (starts[:, 1] <= row) != (ends[:, 1] <= row)
        (x1, y1), (x2, y2) = starts[met].T, ends[met].T
        crossings = np.sort(x1 + (row - y1) * (x2 - x1) / (y2 - y1))
        here = order[a:b]
        found[here] = np.searchsorted(crossings, x[here], side="right") % 2 == 1
    return found


def _crosses_itself(ring: Ring) -> bool:
    """Whether two edges that have no corner in common meet (in floating point: it is a mistake that is looked for)."""
    points = np.array([[float(x), float(y)] for x, y in ring])
    if len(points) > 1 and np.array_equal(points[0], points[-1]):
        points = points[:-1]
    points = points[np.any(points != np.roll(points, 1, axis=0), axis=1)]
    ends = np.roll(points, -1, axis=0)
    many = len(points)
    for i in range(many - 2):
        others = np.arange(i + 2, many - (i == 0))
        a, b, c, d = points[i], ends[i], points[others], ends[others]
        apart = _side(a, b, c) * _side(a, b, d) <= 0
        if np.any(apart & (_side(c, d, a) * _side(c, d, b) <= 0) & _boxes_overlap(a, b, c, d)):
            return True
    return False


def _side(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """On which side of a line from a to b a point c is: 1, 0 or -1."""
    across = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    return np.sign(across)


def _boxes_overlap(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]
) -> NDArray[np.bool_]:
    low, high = np.minimum(a, b), np.maximum(a, b)
    met: NDArray[np.bool_] = np.all((np.minimum(c, d) <= high) & (np.maximum(c, d) >= low), axis=-1)
    return met
