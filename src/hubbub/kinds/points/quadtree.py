"""A quadtree as cells: the box in quarters, and some quarters in quarters again, as declared.

A quarter is named by the way to it: 0 is low along both columns, 1 high along the first, 2 high along the second, 3
high along both, so that 31 is a quarter of 3. The tree is declared by the quarters that are cut again, from public
knowledge such as where a city is dense; finer cells move points less, and delete more of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Lattice

DEEPEST: Final = 20
MOST: Final = 10_000

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Quadtree:
    """The quarters that are cut again; the box itself always is."""

    cut: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {"", *self.cut}
        if len(known) != len(self.cut) + 1 or len(known) > MOST:
            raise WrongUse(f"a quadtree lists each quarter that is cut again once, at most {MOST:,}; check them")
        for address in self.cut:
            if not address or set(address) - set("0123") or len(address) >= DEEPEST or address[:-1] not in known:
                raise WrongUse(
                    f"a quarter is named by digits 0 to 3, at most {DEEPEST - 1}, and what it is a quarter of is cut "
                    f"too, not so {address[:DEEPEST]!r}; list that first, like 0,3,31"
                )

    @property
    def depth(self) -> int:
        """How often the smallest cells were cut out."""
        return 1 + max(map(len, self.cut), default=0)

    @property
    def names(self) -> tuple[str, ...]:
        """The cells, in the order of their names."""
        known = {"", *self.cut}
        return tuple(sorted(node + digit for node in known for digit in "0123" if node + digit not in known))

    def diameters(self, axes: Sequence[Lattice]) -> tuple[int, ...]:
        """How many steps two positions of each cell can be apart, in L1."""
        for axis in axes:
            if axis.steps % 2**self.depth:
                raise WrongUse(
                    f"the box of {axis.column} has {axis.steps:,} steps, and to be halved {self.depth} times it "
                    f"needs a multiple of {2**self.depth:,}; change the lattice or the box"
                )
        return tuple(sum((axis.steps >> len(name)) - 1 for axis in axes) for name in self.names)

    def number(self, axes: Sequence[Lattice], positions: Sequence[Positions]) -> Positions:
        """The number of the cell that each position is in.

        Guarantee: two positions with the same number are at most that cell's diameter apart.
        """
        found = np.full(positions[0].size, -1, dtype=np.int64)
        numbers = {name: i for i, name in enumerate(self.names)}
        for name, here in self._down(axes, positions):
            found[here] = numbers[name]
        return found

    def _down(self, axes: Sequence[Lattice], positions: Sequence[Positions]) -> Iterator[tuple[str, NDArray[np.intp]]]:
        """Each cell with the positions in it, from the box down."""
        x, y = positions
        nodes, known = [("", np.arange(x.size))], {"", *self.cut}
        while nodes:
            name, here = nodes.pop()
            if name not in known:
                yield name, here
                continue
            half = [axis.steps >> len(name) + 1 for axis in axes]
            quarter = x[here] // half[0] % 2 + 2 * (y[here] // half[1] % 2)
            nodes += [(f"{name}{digit}", here[quarter == digit]) for digit in range(4)]

    def rings(self, axes: Sequence[Lattice]) -> list[list[tuple[float, float]]]:
        """The outlines of the cells."""
        found = []
        for name in self.names:
            ends = []
            for i, axis in enumerate(axes):
                at = int("".join(str(int(digit) >> i & 1) for digit in name), 2)
                side = (axis.high - axis.low) / 2 ** len(name)
                ends.append((float(axis.low + at * side), float(axis.low + (at + 1) * side)))
            (left, right), (low, high) = ends
            found.append([(left, low), (right, low), (right, high), (left, high)])
        return found
