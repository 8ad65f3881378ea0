"""A box with a grid of cells and, finer, a lattice of positions: where points are put before they move.

Everything here is declared. A cell is so many positions along each column, so which cell a point is in follows from its
position. Distances are L1, in steps of the lattice: the diameter of a cell is the sum over columns of its positions
less one, and what a step is worth along each column is for whoever declares the lattice to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from math import lcm, prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.kinds.points.quadtree import Quadtree
from hubbub.kinds.points.regions import Regions
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import MOST_CODES, Lattice

MOST_COLUMNS: Final = 10
_HALF: Final = 32
_LOW: Final = (1 << _HALF) - 1  # halves of positions add up without running over, for up to 2^31 points
_EXACT: Final = 1 << 52  # whole numbers that floating point has, with room for half a step

Positions = NDArray[np.int64]

Areas: TypeAlias = Regions | Quadtree
"""Cells that are not those of a grid, of two columns."""


@dataclass(frozen=True, slots=True)
class Space:
    """The lattice along each column, and how many of its positions a cell has there; or other areas as cells."""

    axes: tuple[Lattice, ...]
    per_cell: tuple[int, ...]  # all 1 where cells are other areas
    areas: Areas | None = None
    diameters: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """How many steps two positions of each region can be apart, in L1; those of a grid are all alike, and are one."""

    def __post_init__(self) -> None:
        columns = self.columns
        if not 1 <= len(columns) <= MOST_COLUMNS or len(set(columns)) < len(columns):
            raise WrongUse(
                f"points have 1 to {MOST_COLUMNS} coordinates, each in a column of its own; name these columns"
            )
        if self.areas is not None and (len(columns) != 2 or set(self.per_cell) != {1}):
            raise WrongUse("regions and quadtrees are cells of two columns, without a grid; name two, like lon,lat")
        for axis, many in zip(self.axes, self.per_cell, strict=True):
            name = axis.column
            if axis.step <= 0 or many < 1 or axis.steps < 1 or axis.steps % many:
                raise WrongUse(f"the box of {name} must be a whole number of cells, and a cell of steps; check them")
            first, unit, denominator = _in_lowest_terms(axis)
            if abs(first) + unit * axis.steps >= _EXACT or denominator >= _EXACT:
                raise WrongUse(
                    f"the lattice of {name} is finer than a floating-point number can tell; declare a coarser one"
                )
        if self.size > MOST_CODES:
            raise WrongUse(
                f"the lattice has about {float(self.size):.1e} positions, and at most 2^63 can be numbered; declare a "
                "coarser `lattice`, or a smaller box"
            )
        alike = (sum(many - 1 for many in self.per_cell),)
        object.__setattr__(self, "diameters", alike if self.areas is None else self.areas.diameters(self.axes))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(axis.column for axis in self.axes)

    @property
    def size(self) -> int:
        """How many positions there are."""
        return prod(axis.steps for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        if self.areas is not None:
            return len(self.areas.names)
        return prod(axis.steps // many for axis, many in zip(self.axes, self.per_cell, strict=True))

    @property
    def diameter(self) -> int:
        """How many steps two positions of one cell can be apart, in L1, whichever cell it is."""
        return max(self.diameters)

    @property
    def moving(self) -> tuple[bool, ...]:
        """Along which columns positions of one cell differ."""
        return tuple(many > 1 or (self.areas is not None and self.diameter > 0) for many in self.per_cell)

    def positions(self, codes: NDArray[np.int64]) -> list[Positions]:
        """The position along each column, from the numbers that an engine gives."""
        found, rest = [], codes
        for axis in reversed(self.axes):
            found.append(rest % axis.steps)
            rest = rest // axis.steps
        return found[::-1]

    def cell(self, positions: Sequence[Positions]) -> NDArray[np.int64]:
        """The numbers of the cells that positions are in, -1 for none."""
        if self.areas is not None:
            return self.areas.number(self.axes, positions)
        found = np.zeros_like(positions[0])
        for axis, many, at in zip(self.axes, self.per_cell, positions, strict=True):
            found = found * (axis.steps // many) + at // many
        return found

    def coordinates(self, column: int, positions: Positions) -> NDArray[np.float64]:
        """The middles of positions, also of those outside the box, as the nearest floating-point numbers."""
        first, unit, denominator = _in_lowest_terms(self.axes[column])
        most = ((1 << 62) - abs(first)) // unit  # no noise reaches so far: beyond it a point is put there
        at: NDArray[np.float64] = (first + unit * np.clip(positions, -most, most)) / float(denominator)
        return at

    def total(self, column: int, positions: Positions) -> Fraction:
        """The sum of the middles of positions, exactly."""
        first, unit, denominator = _in_lowest_terms(self.axes[column])
        low, high = (int(part.sum()) for part in (positions & _LOW, positions >> _HALF))
        return Fraction(first * positions.size + unit * ((high << _HALF) + low), denominator)

    def nearest(self, column: int, values: NDArray[np.float64]) -> Positions:
        """The positions whose middles are nearest to values."""
        first, unit, denominator = _in_lowest_terms(self.axes[column])
        with np.errstate(invalid="ignore", over="ignore"):
            return np.rint((values * denominator - first) / unit).astype(np.int64)

    def rounding(self, column: int) -> Fraction:
        """How far a value in the box is from the middle of its position at most: half a step, and what is lost where
        floating point takes a value on a line to the other side."""
        axis = self.axes[column]
        return axis.step / 2 + max(abs(axis.low), abs(axis.high)) / 2**48


def _in_lowest_terms(axis: Lattice) -> tuple[int, int, int]:
    """(a, b, q) with the middle of position i at (a + b i) / q, in lowest terms."""
    first = axis.low + axis.step / 2
    denominator = lcm(first.denominator, axis.step.denominator)
    return int(first * denominator), int(axis.step * denominator), denominator


def space(
    columns: Sequence[str],
    box: Sequence[tuple[Fraction, Fraction]],
    grid: Sequence[Fraction],
    lattice: Sequence[Fraction],
) -> Space:
    """The space that a box, the sides of a cell and the steps of the lattice make, or one sentence why they do not."""
    for what, given in (("`box`", box), ("`grid`", grid), ("`lattice`", lattice)):
        if len(given) != len(columns):
            raise WrongUse(f"{what} has one entry for each column, {len(columns)} here, not {len(given)}; give as many")
    axes, per_cell = [], []
    for name, (low, high), side, step in zip(columns, box, grid, lattice, strict=True):
        if side <= 0 or step <= 0:
            raise WrongUse(f"the grid and the lattice of {name} must have a width above 0; declare them anew")
        if low >= high:
            raise WrongUse(f"the box of {name} must grow, like 40.5..41.0; swap its ends")
        across, many = (high - low) / side, side / step
        if across.denominator != 1:
            raise WrongUse(
                f"the box of {name} is {to_text(across)[:30]} cells wide, and must be a whole number of them; change "
                "its ends or the grid"
            )
        if many.denominator != 1:
            raise WrongUse(
                f"a cell of {name} is {to_text(many)[:30]} steps of the lattice wide, and must be a whole number of "
                "them; change the lattice"
            )
        axes.append(Lattice(name, low, step, int(across * many)))
        per_cell.append(int(many))
    return Space(tuple(axes), tuple(per_cell))


def space_of_areas(
    columns: Sequence[str], box: Sequence[tuple[Fraction, Fraction]], lattice: Sequence[Fraction], areas: Areas
) -> Space:
    """The space whose cells are regions or those of a quadtree, or one sentence why there is none."""
    made = space(columns, box, lattice, lattice)
    return Space(made.axes, made.per_cell, areas)
