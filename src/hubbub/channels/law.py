"""Exact laws of published values: a few blocks of exponentials, or a table of balls.

Almost every law here is, between a few break points, ``mass(v) = weight * exp(intercept + slope * v)`` with
rational intercept and slope. Kept in that form, a law of infinitely many values is a handful of blocks, tails are
geometric series in closed form, a count of 2^62 costs what a count of 3 costs, and the ratio of two laws whose
weights are the *same* real number is e to a rational: comparisons of losses are then exact, with no rounding at all.
Laws that have no such form (several noises added up) are tables of balls with a bound on the mass left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from fractions import Fraction

from flint import arb

from hubbub.numeric.exact import Infinite, Loss, ball, exp, upper
from hubbub.runtime.frozen import dataclass

SUPPRESSED = "suppressed"
"""The tag of an outcome that shows no number (or how such a tag begins). Its value is 0 inside and null outside."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A positive real factor. Two weights with one key are one real number, whatever the balls' widths."""

    key: tuple[object, ...]
    value: arb = field(compare=False)


ONE = Weight(("one",), arb(1))


def peak(epsilon: Fraction) -> Weight:
    """(1 - q) / (1 + q) = tanh(epsilon / 2), q = e^-epsilon: the two-sided geometric's mass at its centre."""
    return Weight(("peak", epsilon), (ball(epsilon) / 2).tanh())


@dataclass(frozen=True, slots=True)
class Block:
    """mass(v) = weight * exp(intercept + slope * v) for lo <= v <= hi; a missing end is infinite.

    With `shape` set, the block is a lump: weight * exp(intercept) is the mass of all its values together, and
    two lumps over the same values with the same shape have the same conditional law inside, so that their
    likelihood ratio is the same at each of their values.
    """

    lo: int | None
    hi: int | None
    weight: Weight
    intercept: Fraction
    slope: Fraction = Fraction(0)
    tag: str = ""
    shape: tuple[object, ...] | None = None

    def mass(self, value: int) -> arb:
        """The probability of one value."""
        return self.weight.value * exp(self.intercept + self.slope * value)

    def total(self) -> arb:
        """The probability of the whole block, as a finite or infinite geometric series."""
        if self.shape is not None or (self.lo == self.hi and self.lo is not None):
            return self.mass(0 if self.lo is None else self.lo)
        if self.slope == 0:
            assert self.lo is not None and self.hi is not None, "a flat block must end"
            return self.mass(self.lo) * (self.hi - self.lo + 1)
        down = self.slope < 0
        largest, other = (self.lo, self.hi) if down else (self.hi, self.lo)
        assert largest is not None, "a block must decay towards its infinite end"
        fall = -abs(self.slope)
        head = self.mass(largest) / -ball(fall).expm1()
        return head if other is None else head * -ball(fall * (abs(other - largest) + 1)).expm1()

    def restrict(self, lo: int | None, hi: int | None) -> Block | None:
        """The part of the block between lo and hi, or None if there is none."""
        low = self.lo if lo is None else lo if self.lo is None else max(lo, self.lo)
        high = self.hi if hi is None else hi if self.hi is None else min(hi, self.hi)
        if low is not None and high is not None and low > high:
            return None
        if (low, high) == (self.lo, self.hi):
            return self
        if self.shape is not None:
            raise ValueError("a lump cannot be cut")
        return replace(self, lo=low, hi=high)


@dataclass(frozen=True, slots=True)
class Dense:
    """One ball per value from `lo` on: for laws with no closed form."""

    lo: int
    masses: tuple[arb, ...]
    tag: str = ""

    @property
    def hi(self) -> int:
        return self.lo + len(self.masses) - 1


@dataclass(frozen=True, slots=True)
class Law:
    """The law of one published value.

    `tags` lists the tags from the one that means least to the one that means most (suppressed first); outcomes are
    ordered by tag, then by value. With `order`, tags are ordered by that number, and a law lists only the tags it uses.
    `missing` bounds from above whatever mass is not listed.
    """

    blocks: tuple[Block, ...]
    dense: tuple[Dense, ...] = ()
    tags: tuple[str, ...] = ("",)
    missing: Fraction = Fraction(0)
    order: Callable[[str], Loss] | None = field(default=None, compare=False)

    @property
    def parts(self) -> Iterator[Block | Dense]:
        yield from self.blocks
        yield from self.dense

    def total(self) -> arb:
        """A ball around the sum of everything listed; it must meet [1 - missing, 1]."""
        return sum((_total(part) for part in self.parts), arb(0))

    def mass(self, value: int, tag: str = "") -> arb:
        """The probability of one outcome (a lump gives the mass of the whole lump: see :class:`Block`)."""
        found = arb(0)
        for part in self.parts:
            if part.tag != tag or not _covers(part, value):
                continue
            found += part.mass(value) if isinstance(part, Block) else part.masses[value - part.lo]
        return found

    def at_least(self, value: int, tag: str = "") -> arb:
        """A ball around the probability of this outcome or a higher one."""
        return self._side(value, tag, up=True)

    def at_most(self, value: int, tag: str = "") -> arb:
        """A ball around the probability of this outcome or a lower one."""
        return self._side(value, tag, up=False)

    def _side(self, value: int, tag: str, *, up: bool) -> arb:
        rank = self._rank
        mass = arb(0)
        for part in self.parts:
            if part.tag == tag:
                mass += _total_within(part, value if up else None, None if up else value)
            elif (rank(part.tag) > rank(tag)) == up:
                mass += _total(part)
        return mass

    def _rank(self, tag: str) -> Loss:
        return Fraction(self.tags.index(tag)) if self.order is None else self.order(tag)

    def atoms(self, tail: Fraction) -> list[tuple[str, int, arb]]:
        """(tag, value, probability), by tag and value, leaving out less than `tail` in all."""
        open_ends = sum((part.lo is None) + (part.hi is None) for part in self.blocks) or 1
        share = ball(max(tail - self.missing, tail / 2) / (2 * open_ends))
        found = []
        for part in self.parts:
            if isinstance(part, Dense):
                found += [(part.tag, part.lo + i, mass) for i, mass in enumerate(part.masses)]
                continue
            for value in _values_to_list(part, share):
                found.append((part.tag, value, part.mass(value)))
        found.sort(key=lambda atom: (self._rank(atom[0]), atom[1]))
        return _trim(found, tail - self.missing)


def given_visible(law: Law) -> Law:
    """The outcomes that show a number, as they stand: their total is the chance of being shown."""
    if not any(tag.startswith(SUPPRESSED) for tag in law.tags):
        return law
    return Law(
        tuple(block for block in law.blocks if not block.tag.startswith(SUPPRESSED)),
        tuple(table for table in law.dense if not table.tag.startswith(SUPPRESSED)),
        law.tags,
        law.missing,
        law.order,
    )


def _trim(atoms: list[tuple[str, int, arb]], spare: Fraction) -> list[tuple[str, int, arb]]:
    """Without the outermost atoms of a table that together stay below half of `spare`."""
    share = ball(max(spare, Fraction(0)) / 4)
    first = _light(atoms, share)
    last = len(atoms) - _light(atoms[:first:-1], share)
    return atoms[first:last]


def _light(atoms: list[tuple[str, int, arb]], share: arb) -> int:
    """The number of first atoms whose total mass is certainly below `share`; never all of them."""
    left = share
    for i, (_, _, mass) in enumerate(atoms[:-1]):
        if not mass < left:
            return i
        left -= mass
    return max(len(atoms) - 1, 0)


def _total(part: Block | Dense) -> arb:
    return part.total() if isinstance(part, Block) else sum(part.masses, arb(0))


def _covers(part: Block | Dense, value: int) -> bool:
    return (part.lo is None or part.lo <= value) and (part.hi is None or value <= part.hi)


def _total_within(part: Block | Dense, lo: int | None, hi: int | None) -> arb:
    if isinstance(part, Dense):
        start = 0 if lo is None else max(lo - part.lo, 0)
        stop = len(part.masses) if hi is None else max(hi - part.lo + 1, 0)
        return sum(part.masses[start:stop], arb(0))
    if part.shape is not None:  # all of it or nothing; a lump astride the cut is an enclosure of both
        inside = (lo is None or (part.lo is not None and part.lo >= lo)) and (
            hi is None or (part.hi is not None and part.hi <= hi)
        )
        outside = (lo is not None and part.hi is not None and part.hi < lo) or (
            hi is not None and part.lo is not None and part.lo > hi
        )
        return part.total() if inside else arb(0) if outside else arb(0).union(part.total())
    cut = part.restrict(lo, hi)
    return arb(0) if cut is None else cut.total()


_MOST_ATOMS = 2_000_000


def _values_to_list(block: Block, share: arb) -> Iterable[int]:
    """The values of a block to list, so that each infinite tail beyond them has a mass of at most `share`."""
    if block.shape is not None:
        return [block.lo] if block.lo is not None and block.lo == block.hi else []
    lo, hi = block.lo, block.hi
    if lo is not None and hi is not None:
        return range(lo, hi + 1)
    start = lo if lo is not None else hi
    assert start is not None
    rate = abs(block.slope)
    head = block.total()
    if head < share:
        return []
    steps = math.ceil(float(upper((head / share).log() / ball(rate)))) + 1
    if steps > _MOST_ATOMS:
        from hubbub.errors import WrongUse

        raise WrongUse(
            f"the law spreads over more than {_MOST_ATOMS:,} values and is not listed; use a larger epsilon, "
            "or the profile, which needs no list"
        )
    return range(start, start + steps) if lo is not None else range(start - steps + 1, start + 1)


def atom(value: int, tag: str = "") -> Block:
    """All the mass on one value."""
    return Block(value, value, ONE, Fraction(0), tag=tag)


def point(value: int, tag: str = "", tags: tuple[str, ...] = ("",)) -> Law:
    """The law that always says `value`."""
    return Law((atom(value, tag),), tags=tags)


def two_sided(
    centre: int, epsilon: Loss, tag: str = "", *, lo: int | None = None, hi: int | None = None
) -> tuple[Block, ...]:
    """The blocks of centre + X between lo and hi, P(X = x) = tanh(epsilon/2) e^(-epsilon |x|)."""
    if isinstance(epsilon, Infinite):
        inside = (lo is None or lo <= centre) and (hi is None or centre <= hi)
        return (atom(centre, tag),) if inside else ()
    weight = peak(epsilon)
    halves = (
        Block(None, centre - 1, weight, -epsilon * centre, epsilon, tag),
        Block(centre, None, weight, epsilon * centre, -epsilon, tag),
    )
    return tuple(part for part in (half.restrict(lo, hi) for half in halves) if part is not None)
