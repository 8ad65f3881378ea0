"""Mixtures of laws, as tables of balls with tails in closed form.

Exponential blocks that share a slope are added up by one running sum, r(v) = r(v - 1) e^slope + what begins at v,
however many they are and however far they reach. A block that ends is taken out of the sum again where it ends, which
costs precision (a ball that widens) and never truth. Beyond the last place where anything begins or ends, a mixture
with one endless slope is that exponential: the table stops there and a block goes on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.channels.law import Block, Dense, Law, Weight
from hubbub.errors import WrongUse
from hubbub.numeric.exact import ball, exp, rounded, upper

MISSING: Final = Fraction(1, 10**80)
"""What a table may leave out at each of its ends: less than the width of a ball around 1."""

MOST_CELLS: Final = 4_000_000


def mixture(parts: Iterable[tuple[arb, Law]], left_out: Fraction = Fraction(0)) -> Law:
    """sum of weight * law over `parts`; `left_out` bounds the weight of laws that are not among them.

    Guarantee: the balls hold the masses of the mixture, and `missing` bounds what is not listed: the weight left out,
    what the laws themselves leave out, lumps (whose values are not told apart), and ends cut from a table.
    """
    columns: dict[str, _Column] = {}
    tags: dict[str, None] = {}
    missing, order = ball(left_out), None
    for weight, law in parts:
        tags.update(dict.fromkeys(law.tags))
        order = law.order or order
        missing += weight * ball(law.missing)
        for block in law.blocks:
            column = columns.setdefault(block.tag, _Column())
            if block.shape is not None and block.lo != block.hi:
                missing += weight * block.total()
            else:
                column.add(weight, block)
        for table in law.dense:
            columns.setdefault(table.tag, _Column()).add_table(weight, table)
    blocks: list[Block] = []
    tables = []
    for tag, column in columns.items():
        table, tails, cut = column.laid_out(tag)
        tables.append(table)
        blocks += tails
        missing += cut
    names = tuple(tags) if order is None else tuple(sorted(tags, key=order))
    exactly = left_out == 0 and missing.is_zero()
    return Law(tuple(blocks), tuple(tables), names, Fraction(0) if exactly else rounded(missing, up=True), order)


class _Column:
    """The values of one tag."""

    def __init__(self) -> None:
        self.atoms: dict[int, arb] = {}
        self.ramps: dict[Fraction, dict[int, arb]] = {}  # slope -> place -> what begins (or ends) there
        self.endless: set[Fraction] = set()

    def add(self, weight: arb, block: Block) -> None:
        """A block. Sums run away from its higher end: to the right if it falls or is flat, to the left if it rises."""
        lo, hi, slope = block.lo, block.hi, block.slope
        if lo is not None and lo == hi:
            self._put(self.atoms, lo, weight * block.mass(lo))
            return
        rises = slope > 0
        start, end = (hi, lo) if rises else (lo, hi)
        assert start is not None, "a block must decay towards its infinite end"
        ramp = self.ramps.setdefault(slope, {})
        height = weight * block.mass(start)
        self._put(ramp, start, height)
        if end is None:
            self.endless.add(slope)
        else:
            length = abs(end - start) + 1
            self._put(ramp, end + (-1 if rises else 1), -height * exp(-abs(slope) * length))

    def add_table(self, weight: arb, table: Dense) -> None:
        for value, mass in enumerate(table.masses, table.lo):
            self._put(self.atoms, value, weight * mass)

    @staticmethod
    def _put(row: dict[int, arb], position: int, mass: arb) -> None:
        row[position] = row[position] + mass if position in row else mass

    def laid_out(self, tag: str) -> tuple[Dense, list[Block], arb]:
        """The table, the closed tails beyond it, and a bound on what was cut."""
        positions = [*self.atoms, *(position for ramp in self.ramps.values() for position in ramp)]
        first, last = min(positions), max(positions)
        left, right = {s for s in self.endless if s > 0}, {s for s in self.endless if s < 0}
        first -= self._reach(left)
        last += self._reach(right)
        if (last - first + 1) * (1 + len(self.ramps)) > MOST_CELLS:
            raise WrongUse(
                "the law after sampling spreads over too many values to be listed; its promise stands on its theorem, "
                "and a smaller count or a larger epsilon can be checked exactly"
            )
        column = [arb(0)] * (last - first + 1)
        for value, mass in self.atoms.items():
            column[value - first] += mass
        tails, cut = [], arb(0)
        for slope, ramp in self.ramps.items():
            edge = _run(column, ramp, slope, first)
            if slope not in self.endless:
                continue
            at, is_single = (first, len(left) == 1) if slope > 0 else (last, len(right) == 1)
            if is_single:
                lo, hi = (None, first - 1) if slope > 0 else (last + 1, None)
                tails.append(Block(lo, hi, Weight(("mixed", object()), edge), -slope * at, slope, tag))
            else:
                fall = exp(-abs(slope))
                cut += edge * fall / (1 - fall)
        return Dense(first, tuple(column), tag), tails, cut

    @staticmethod
    def _reach(slopes: set[Fraction]) -> int:
        """How much further a table goes where tails of several slopes meet, so that what is cut is negligible."""
        if len(slopes) < 2:
            return 0
        return math.ceil(upper(-ball(MISSING).log() / ball(min(abs(slope) for slope in slopes))))


def _run(column: list[arb], ramp: dict[int, arb], slope: Fraction, first: int) -> arb:
    """Add a running sum to the column; its value at the end that it runs to."""
    step, run = exp(-abs(slope)), arb(0)
    indices = range(len(column) - 1, -1, -1) if slope > 0 else range(len(column))
    for i in indices:
        run = run * step
        if (begins := ramp.get(i + first)) is not None:
            run = run + begins
        column[i] += run
    return run
