"""Divergences of two laws: the exact delta at an epsilon (hockey-stick), and the exact pure loss (max divergence).

Both are computed block by block. On a stretch where both laws are exponentials, the logarithm of their ratio is
linear in the value, so it changes sign at most once; the stretch where it is positive is found, and its mass is a
difference of two geometric series. Where the weights are the same real number the sign is decided in rational
arithmetic, and "delta is zero" then means zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from hubbub.channels.law import Block, Dense, Law
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, exp, lower, upper


def hockey_stick(first: Law, second: Law, epsilon: Loss) -> arb:
    """A ball around sup over events Y of first(Y) - e^epsilon second(Y) = sum over v of (first(v) - e^epsilon
    second(v))_+.

    Guarantee: the ball encloses the true value for the full laws: what the laws leave out (`missing`) widens it
    upwards by first.missing and downwards by e^epsilon second.missing. If it is exactly zero, the true value is zero.
    """
    total = arb(0)
    for f_part, g_part in _by_tag(first, second):
        if f_part.dense or g_part.dense:
            total += _dense_sum(f_part, g_part, epsilon)
        else:
            for f, g in _stretches(f_part, g_part):
                total += _positive_part(f, g, epsilon)
    if first.missing:
        total = total.union(total + ball(first.missing))
    if second.missing:
        slack = arb(1) if isinstance(epsilon, Infinite) else exp(epsilon) * ball(second.missing)
        total = total.union((total - slack).nonnegative_part())
    return total


def largest_ratio(first: Law, second: Law) -> Loss | arb:
    """sup over v of ln(first(v) / second(v)): exact where it can be (a Fraction or INFINITY), else a ball.

    Guarantee: for laws in closed form only; a table with missing mass is refused, because its tails are not known.
    """
    if first.dense or second.dense or first.missing or second.missing:
        raise ValueError("the pure loss needs laws in closed form")
    exact: Fraction | None = None
    rough: arb | None = None
    for f_part, g_part in _by_tag(first, second):
        for f, g in _stretches(f_part, g_part):
            if f is None:
                continue
            if g is None:
                return INFINITY
            bound = _largest_on(f, g)
            if isinstance(bound, Infinite):
                return INFINITY
            if isinstance(bound, Fraction):
                exact = bound if exact is None else max(exact, bound)
            else:
                rough = bound if rough is None else rough.max(bound)
    if rough is None or (exact is not None and upper(rough) <= exact):
        return exact if exact is not None else Fraction(0)
    return rough if exact is None else rough.max(ball(exact))


def _by_tag(first: Law, second: Law) -> Iterator[tuple[Law, Law]]:
    """Both laws restricted to one tag after the other."""
    halves: tuple[dict[str, Law], dict[str, Law]] = ({}, {})
    for law, parts in zip((first, second), halves, strict=True):
        blocks: dict[str, list[Block]] = {}
        tables: dict[str, list[Dense]] = {}
        for block in law.blocks:
            blocks.setdefault(block.tag, []).append(block)
        for table in law.dense:
            tables.setdefault(table.tag, []).append(table)
        for tag in {**blocks, **tables}:
            parts[tag] = Law(tuple(blocks.get(tag, ())), tuple(tables.get(tag, ())))
    nothing = Law(())
    for tag in {**halves[0], **halves[1]}:
        yield halves[0].get(tag, nothing), halves[1].get(tag, nothing)


def _stretches(first: Law, second: Law) -> Iterator[tuple[Block | None, Block | None]]:
    """Both laws, of one tag, cut at each other's borders: pairs of blocks over the same values (None: no mass)."""
    ours, theirs = _sort_blocks(first), _sort_blocks(second)
    both = (*ours, *theirs)
    edges: list[int | None] = [None]
    edges += sorted({b.lo for b in both if b.lo is not None} | {b.hi + 1 for b in both if b.hi is not None})
    i = j = 0
    for lo, following in zip(edges, (*edges[1:], None), strict=True):
        hi = None if following is None else following - 1
        i, j = _past(ours, i, lo), _past(theirs, j, lo)
        f, g = _part(ours, i, lo, hi), _part(theirs, j, lo, hi)
        if f is not None or g is not None:
            yield f, g


def _sort_blocks(law: Law) -> list[Block]:
    """The blocks by value; blocks of a law with one tag do not overlap."""
    return sorted(law.blocks, key=lambda b: (b.lo is not None, b.lo))


def _past(blocks: list[Block], i: int, lo: int | None) -> int:
    """The first block, from the i-th on, that does not end before lo."""
    while i < len(blocks) and lo is not None and (end := blocks[i].hi) is not None and end < lo:
        i += 1
    return i


def _part(blocks: list[Block], i: int, lo: int | None, hi: int | None) -> Block | None:
    """The part of the i-th block that covers lo..hi, if it does (it covers all of it or nothing)."""
    if i == len(blocks):
        return None
    block = blocks[i]
    starts = block.lo is None or (lo is not None and block.lo <= lo)
    ends = block.hi is None or (hi is not None and hi <= block.hi)
    return block.restrict(lo, hi) if starts and ends else None


def _alike(f: Block, g: Block) -> None:
    if f.shape != g.shape:
        raise ValueError("two lumps of different shape cannot be compared")


def _positive_part(f: Block | None, g: Block | None, epsilon: Loss) -> arb:
    if f is None:
        return arb(0)
    if g is None:
        return f.total()
    _alike(f, g)
    if isinstance(epsilon, Infinite):
        return arb(0)
    gap = f.intercept - g.intercept - epsilon  # ln(f/g) - epsilon = ln(weights) + gap + tilt * value
    tilt = f.slope - g.slope
    if tilt == 0 or (f.lo is not None and f.lo == f.hi):
        if f.weight == g.weight and gap + (tilt * f.lo if tilt and f.lo is not None else 0) <= 0:
            return arb(0)
        return (f.total() - exp(epsilon) * g.total()).nonnegative_part()
    return _beyond_crossing(f, g, epsilon, gap, tilt)


def _beyond_crossing(f: Block, g: Block, epsilon: Fraction, gap: Fraction, tilt: Fraction) -> arb:
    """The positive part on a stretch where ln(f/g) - epsilon is strictly monotone in the value."""
    if f.weight == g.weight:
        crossing: arb | Fraction = -gap / tilt
    else:
        crossing = -((f.weight.value / g.weight.value).log() + ball(gap)) / ball(tilt)
    # Values in doubtful are neither certainly above nor certainly below the crossing.
    doubtful = range(math.floor(lower(crossing)), math.ceil(upper(crossing)) + 1)
    sure_lo, sure_hi = (doubtful.stop, None) if tilt > 0 else (None, doubtful.start - 1)
    total = arb(0)
    f_sure, g_sure = f.restrict(sure_lo, sure_hi), g.restrict(sure_lo, sure_hi)
    if f_sure is not None and g_sure is not None:
        total += (f_sure.total() - exp(epsilon) * g_sure.total()).nonnegative_part()
    for value in doubtful:
        if f.restrict(value, value) is None:
            continue
        if f.weight == g.weight and gap + tilt * value <= 0:
            continue
        total += (f.mass(value) - exp(epsilon) * g.mass(value)).nonnegative_part()
    return total


def _largest_on(f: Block, g: Block) -> Loss | arb:
    _alike(f, g)
    gap, tilt = f.intercept - g.intercept, f.slope - g.slope
    end = 0 if tilt == 0 else (f.hi if tilt > 0 else f.lo)
    if end is None:
        return INFINITY
    rational = gap + tilt * end
    if f.weight == g.weight:
        return rational
    return (f.weight.value / g.weight.value).log() + ball(rational)


def _dense_sum(first: Law, second: Law, epsilon: Loss) -> arb:
    """The positive part over one tag, value by value where a table is involved, closed form outside the tables."""
    tables = (*first.dense, *second.dense)
    lo, hi = min(t.lo for t in tables), max(t.hi for t in tables)
    ours, theirs = _column(first, lo, hi), _column(second, lo, hi)
    if isinstance(epsilon, Infinite):
        total = sum((f for f, g in zip(ours, theirs, strict=True) if g.is_zero()), arb(0))
    else:
        factor = exp(epsilon)
        total = arb(0)
        for f, g in zip(ours, theirs, strict=True):
            gain = f - factor * g
            if not gain <= 0:
                total += gain.nonnegative_part()
    for f_block, g_block in _stretches(_outside(first, lo, hi), _outside(second, lo, hi)):
        total += _positive_part(f_block, g_block, epsilon)
    return total


def _column(law: Law, lo: int, hi: int) -> list[arb]:
    column = [arb(0)] * (hi - lo + 1)
    for part in law.parts:
        if isinstance(part, Dense):
            for i, mass in enumerate(part.masses, part.lo - lo):
                column[i] += mass
        elif (cut := part.restrict(lo, hi)) is not None and cut.lo is not None and cut.hi is not None:
            mass, step = cut.mass(cut.lo), exp(cut.slope)
            for value in range(cut.lo, cut.hi + 1):
                column[value - lo] += mass
                mass *= step
    return column


def _outside(law: Law, lo: int, hi: int) -> Law:
    """The blocks of a law that lie below lo or above hi."""
    cuts = [cut for block in law.blocks for cut in (block.restrict(None, lo - 1), block.restrict(hi + 1, None)) if cut]
    return Law(tuple(cuts))
