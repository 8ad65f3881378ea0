"""The range of every hidden cell: first along the equations, then by linear and integer programs where they go round.

Along equations that form no ring, what one leaves over the next takes up, and the ranges so found are exact. In a ring
they need not be, and programs (HiGHS) look further: feasible points show that a cell is not determined, and a range
that a linear program gives is accepted only with a proof in rationals, built from the program's dual solution.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field
from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.published.links import Floats, Ints, Links
from hubbub.graphs.distances import connected_components
from hubbub.numeric.linear_programs import Program, Solution, sparse_rows
from hubbub.runtime.frozen import dataclass

_ROUNDS: Final = 1000  # along the equations; what still moves then is not decided
_INTEGRALITY: Final = 1e-6  # how far from whole numbers a program's point may be that is whole
_SWEEPS: Final = 40  # programs that push all open cells of a ring at once
_IDLE: Final = 4  # of them in a row that close no cell end the sweeps


@dataclass(slots=True, eq=False)
class Ranges:
    """What is known of each cell: proved ends, the equations behind them, and whether the search was finished."""

    low: Floats
    high: Floats
    by: dict[int, tuple[int, ...]] = field(default_factory=dict)  # cell -> equations that confine it
    integral: set[int] = field(default_factory=set)  # confined by whole numbers alone: an integer program, no proof
    open: set[int] = field(default_factory=set)  # not decided in time
    rings: int = 0
    possible: bool = True  # whether any people fit all tables


def ranges(links: Links, values: int = 1, seconds: float = 60) -> Ranges:
    """The ranges of all cells, as far as needed to tell which hidden cells have at most so many possible `values`.

    Guarantee: every set of people that fits the tables has each cell within `low` and `high`; where a cell is neither
    in `open` nor confined to `values` numbers, there are two such sets that show more (in a ring: as HiGHS found them).
    """
    found = Ranges(links.low.copy(), links.high.copy())
    _tighten_ranges(links, found)
    if (found.low > found.high).any():
        found.possible = False
        return found
    deadline = time.monotonic() + seconds
    for cells, rows in _rings(links, found):
        found.rings += 1
        _Ring(links, found, cells, rows, values, deadline).search()
        if not found.possible:
            return found
    return found


def _tighten_ranges(links: Links, found: Ranges) -> None:
    """Tighten every range by every equation until nothing moves."""
    rows, cells, signs = links.rows, links.cells, links.signs
    count = len(links.groups)
    if not rows.size:
        return
    for _ in range(_ROUNDS):
        least = np.where(signs > 0, found.low[cells], -found.high[cells])
        most = np.where(signs > 0, found.high[cells], -found.low[cells])
        ends = []
        for bound in (least, most):
            endless = ~np.isfinite(bound)
            finite = np.where(endless, 0.0, bound)
            total = np.bincount(rows, finite, count)[rows]
            others_endless = np.bincount(rows, endless, count)[rows] - endless
            ends.append(np.where(others_endless > 0, np.inf, total - finite))
        # sign * cell = -(the others), whose sum lies between ends[0] and ends[1]
        up = np.where(np.isinf(ends[0]), np.inf, -ends[0])
        down = np.where(np.isinf(ends[1]), -np.inf, -ends[1])
        new_high, new_low = np.where(signs > 0, up, -down), np.where(signs > 0, down, -up)
        moved = False
        for new, old, better, pick in (
            (new_high, found.high, np.less, np.minimum),
            (new_low, found.low, np.greater, np.maximum),
        ):
            gain = np.flatnonzero(better(new, old[cells]))
            if gain.size:
                moved = True
                for i in gain.tolist() if gain.size < 200_000 else ():
                    cell, row = int(cells[i]), int(rows[i])
                    known = found.by.get(cell, ())
                    if row not in known:
                        found.by[cell] = (*known, row)
                pick.at(old, cells[gain], new[gain])
        if not moved or (found.low > found.high).any():
            return
    found.open |= {int(cell) for cell in np.flatnonzero(links.hidden & (found.low < found.high))}


def _rings(links: Links, found: Ranges) -> Iterator[tuple[Ints, Ints]]:
    """Components of open cells and the equations between them, where those go round; small ones first."""
    free = found.low[links.cells] < found.high[links.cells]
    rows, cells = links.rows[free], links.cells[free]
    if not rows.size:
        return
    own_rows, r = np.unique(rows, return_inverse=True)
    own_cells, c = np.unique(cells, return_inverse=True)
    number, label = connected_components(r, own_rows.size + c, own_rows.size + own_cells.size)
    nodes = np.bincount(label, minlength=number)
    edges = np.bincount(label[r], minlength=number)
    hidden = np.bincount(label[own_rows.size :], links.hidden[own_cells], minlength=number)
    for which in np.argsort(nodes, kind="stable"):
        if edges[which] >= nodes[which] and hidden[which]:
            yield own_cells[label[own_rows.size :] == which], own_rows[label[: own_rows.size] == which]


def _is_integral(point: Floats) -> bool:
    return bool(np.abs(point - np.round(point)).max() <= _INTEGRALITY)


class _Ring:
    """One component: programs over its open cells."""

    def __init__(self, links: Links, found: Ranges, cells: Ints, rows: Ints, values: int, deadline: float) -> None:
        self.links, self.found, self.cells, self.rows = links, found, cells, rows
        self.values, self.deadline = values, deadline
        inside = np.isin(links.rows, rows)
        r, c, s = links.rows[inside], links.cells[inside], links.signs[inside]
        mine = np.isin(c, cells)
        row_at, cell_at = np.searchsorted(rows, r), np.searchsorted(cells, c)
        self.right: Floats = -np.bincount(row_at[~mine], s[~mine] * found.low[c[~mine]], rows.size).astype(float)
        self.matrix = sparse_rows(row_at[mine], cell_at[mine], s[mine], (rows.size, cells.size))
        self.low, self.high = found.low[cells], found.high[cells]
        self.least, self.most = np.full(cells.size, np.inf), np.full(cells.size, -np.inf)

    def search(self) -> None:
        targets = np.flatnonzero(self.links.hidden[self.cells])
        left, idle = targets.size + 1, 0
        for sweep in range(_SWEEPS):
            open_ = self._open(targets)
            if not open_.size or self._late(open_):
                return
            left, idle = open_.size, 0 if open_.size < left else idle + 1
            if idle == _IDLE:
                break
            weights = np.zeros(self.cells.size)
            signs = (open_ * 2654435761 >> (sweep // 2 % 24 + 3)) & 1  # any pattern will do, and then its opposite
            weights[open_] = np.where(signs == sweep % 2, 1.0, -1.0)
            if not self._push(weights):
                return
        for at in self._open(targets).tolist():
            if self._late(self._open(targets)):
                return
            if self.most[at] - self.least[at] + 1 <= self.values:
                self._decide(at)

    def _open(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cells of which no two feasible points show more than so many values."""
        certain: NDArray[np.int64] = targets[self.most[targets] - self.least[targets] + 1 <= self.values]
        done = self.high[certain] - self.low[certain] + 1 <= self.values
        return certain[~done]

    def _late(self, open_: NDArray[np.int64]) -> bool:
        if time.monotonic() <= self.deadline:
            return False
        self.found.open |= {int(self.cells[i]) for i in open_}
        return True

    def _push(self, weights: Floats) -> bool:
        """One integer point that goes far along the weights; False if there is none."""
        done = self._linear(-weights)
        if done.infeasible:
            self.found.possible = False
            return False
        if done.point is None or not _is_integral(done.point):  # a corner that is no set of people
            done = self._integer(-weights)
        if done.point is None or not self._note_point(np.round(done.point)):
            self.found.possible = done.point is not None or not done.infeasible
            self.found.open |= {int(cell) for cell in self.cells[self.links.hidden[self.cells]]}
            return False
        return True

    def _note_point(self, point: Floats) -> bool:
        """Take note of a set of people that fits, if it does: all equations, in whole numbers."""
        inside = (point >= self.low).all() and (point <= self.high).all()
        if not inside or (self.matrix.times(point) != self.right).any():
            return False
        self.least, self.most = np.minimum(self.least, point), np.maximum(self.most, point)
        return True

    def _program(self, goal: Floats) -> Program:
        return Program(
            cost=goal, matrix=self.matrix, row_low=self.right, row_high=self.right, low=self.low, high=self.high
        )

    def _linear(self, goal: Floats) -> Solution:
        return self._program(goal).solve(seconds=max(self.deadline - time.monotonic(), 1.0), simplex=True)

    def _integer(self, goal: Floats, gap: float = 0.5) -> Solution:
        return self._program(goal).solve(integral=True, seconds=max(self.deadline - time.monotonic(), 1.0), gap=gap)

    def _decide(self, at: int) -> None:
        """The range of one cell: a linear program each way with its proof, then an integer program if that is short."""
        cell = int(self.cells[at])
        behind: set[int] = set()
        for up in (False, True):
            bound, used = self._prove_bound(at, up=up)
            behind |= used
            if bound is not None and up:
                self.high[at] = self.found.high[cell] = min(self.high[at], bound)
            elif bound is not None:
                self.low[at] = self.found.low[cell] = max(self.low[at], bound)
        if self.high[at] - self.low[at] + 1 > self.values >= self.most[at] - self.least[at] + 1:
            self._by_integrality(at, cell)
        self.found.by[cell] = tuple(sorted(behind)) or self.found.by.get(cell, ())

    def _prove_bound(self, at: int, *, up: bool) -> tuple[int | None, set[int]]:
        """An end of the cell's range from a linear program, as far as its dual proves it in rationals."""
        goal = np.zeros(self.cells.size)
        goal[at] = -1.0 if up else 1.0
        done = self._linear(goal)
        if not done.optimal or done.point is None:
            return None, set()
        if _is_integral(done.point):
            self._note_point(np.round(done.point))
        dual = [Fraction(float(y)).limit_denominator(1000) for y in done.duals]
        bound = self._by_dual(goal, dual)
        if bound is None:
            return None, set()
        used = {int(self.rows[i]) for i, y in enumerate(dual) if y}
        least = ceil(bound)  # of the goal: the cell itself, or minus the cell
        return (-least if up else least), used

    def _by_dual(self, goal: Floats, dual: list[Fraction]) -> Fraction | None:
        """goal x >= dual b + sum of (goal - dual A)_j at the end of j's range where it is least; None if that is -inf.

        Guarantee: holds for every x within the ranges that satisfies the equations, whatever the dual is.
        """
        total = sum((y * int(b) for y, b in zip(dual, self.right, strict=True) if y), Fraction(0))
        cost: dict[int, Fraction] = {int(i): Fraction(int(goal[i])) for i in np.flatnonzero(goal)}
        matrix = self.matrix
        for row, y in enumerate(dual):
            if y:
                for i in range(matrix.starts[row], matrix.starts[row + 1]):
                    at = int(matrix.columns[i])
                    cost[at] = cost.get(at, Fraction(0)) - y * int(matrix.values[i])
        for at, price in cost.items():
            end = self.low[at] if price > 0 else self.high[at]
            if price and not np.isfinite(end):
                return None
            total += price * int(end) if price else 0
        return total

    def _by_integrality(self, at: int, cell: int) -> None:
        for up in (False, True):
            goal = np.zeros(self.cells.size)
            goal[at] = -1.0 if up else 1.0
            done = self._integer(goal, gap=0.0)
            if not done.optimal or done.point is None or not self._note_point(np.round(done.point)):
                self.found.open.add(cell)
                return
        if self.most[at] - self.least[at] + 1 <= self.values:
            self.found.integral.add(cell)
            self.found.low[cell], self.found.high[cell] = self.least[at], self.most[at]
