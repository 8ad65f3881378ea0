"""Published points as a picture: a map of the first two columns, or bars where there is one."""

from __future__ import annotations

from math import ceil, cos, radians
from typing import TYPE_CHECKING, Final

import numpy as np

from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bar, Bars, Drawing, Map

if TYPE_CHECKING:
    from hubbub.kinds.points.result import PublishedPoints

_ACROSS: Final = 60  # squares along a side, at most
_BARS: Final = 120
_DOTS: Final = 1500
_WEST_EAST: Final = ("lon", "lng", "long", "longitude", "pickup_longitude", "dropoff_longitude")
_SOUTH_NORTH: Final = ("lat", "latitude", "pickup_latitude", "dropoff_latitude")


def draw_points(points: PublishedPoints) -> Drawing | None:
    """The picture, or None where no point is in the box. It is made from what is published alone."""
    space = points.spec.space
    inside = np.ones(len(points), dtype=bool)
    for axis, at in zip(space.axes[:2], points.positions, strict=False):
        inside &= (at >= 0) & (at < axis.steps)
    inside_count = int(inside.sum())
    if not inside_count:
        return None
    gone = len(points) - inside_count
    who = "1 point" if gone == 1 else f"{gone:,} points"
    beyond = f" {who} moved out of the box and {'is' if gone == 1 else 'are'} not drawn." if gone else ""
    cells = [axis.steps // many for axis, many in zip(space.axes, space.per_cell, strict=True)]
    if len(space.axes) == 1:
        return _bars(points, inside, cells[0], beyond)
    merged = [_cells_per_square(many) for many in cells[:2]]
    sides = [many * factor for many, factor in zip(space.per_cell, merged, strict=False)]
    across, up = (ceil(many / factor) for many, factor in zip(cells, merged, strict=False))
    column, row = (at[inside] // side for at, side in zip(points.positions, sides, strict=False))
    met, counts = np.unique(row * across + column, return_counts=True)
    first, second = space.axes[:2]
    every = max(1, ceil(inside_count / _DOTS))
    which = np.flatnonzero(inside)[::every]
    dots = zip(*(space.coordinates(i, points.positions[i][which]).tolist() for i in (0, 1)), strict=True)
    wide, high = (axis.step * side for axis, side in zip((first, second), sides, strict=True))
    box = (first.low, first.low + across * wide, second.low, second.low + up * high)
    left, right, bottom, top = map(float, box)
    some = f"one of every {every:,} published points" if every > 1 else "a published point"
    return Map(
        columns=(first.column, second.column),
        box=(left, right, bottom, top),
        across=across,
        up=up,
        squares=tuple(
            (code % across, code // across, n) for code, n in zip(met.tolist(), counts.tolist(), strict=True)
        ),
        dots=tuple(dots),
        outlines=() if space.areas is None else tuple(map(tuple, space.areas.rings(space.axes))),
        tall=_tall(first.column, second.column, bottom, top, right - left),
        description=f"{inside_count:,} points in {len(met):,} squares; the fullest has {int(counts.max()):,}.",
        note=f"A dot is {some}, after it moved; a square is {to_text(wide)} by {to_text(high)}.{beyond}"
        + (" Further columns are not drawn." if len(space.axes) > 2 else ""),
    )


def _cells_per_square(cells: int) -> int:
    """How many cells make the side of a square: enough, and so that the last square is whole if that can be."""
    least = ceil(cells / _ACROSS)
    return next((many for many in range(least, 2 * least + 1) if cells % many == 0), least)


def _tall(across: str, up: str, bottom: float, top: float, wide: float) -> float:
    """A degree of latitude is longer than one of longitude; units that have nothing to do with one another make a
    square."""
    if across.lower() in _WEST_EAST and up.lower() in _SOUTH_NORTH and -80 < (bottom + top) / 2 < 80:
        return 1 / cos(radians((bottom + top) / 2))
    ratio = (top - bottom) / wide
    return 1.0 if 0.3 <= ratio <= 1.5 else 0.75 / ratio


def _bars(points: PublishedPoints, inside: np.ndarray[tuple[int], np.dtype[np.bool_]], cells: int, beyond: str) -> Bars:
    axis, side = points.spec.space.axes[0], points.spec.space.per_cell[0] * ceil(cells / _BARS)
    many = ceil(axis.steps / side)
    counts = np.bincount(points.positions[0][inside] // side, minlength=many).tolist()
    starts = (to_text(axis.low + i * side * axis.step) for i in range(many))
    return Bars(
        bars=tuple(Bar(start, n, n, n) for start, n in zip(starts, counts, strict=True)),
        by=f"{axis.column}, from",
        numbers="points",
        upright=True,
        bar="How many published points there are, after they moved",
        line="",
        note=beyond.strip(),
    )
