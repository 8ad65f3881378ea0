"""Laws of noise added on top of noise: tables of balls, convolved exactly with two-sided geometrics.

A two-sided geometric is the sum of a geometric to the left and one to the right, so adding it to a table is two
running sums, forwards and backwards, and not a convolution: a law over n values costs n steps.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from hubbub.channels.law import Block, Dense, Weight, two_sided
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Loss, ball, exp, rounded
from hubbub.runtime.frozen import dataclass

MISSING = Fraction(1, 10**32)
"""What a table may leave out at each of its ends."""

_WIDEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Partial:
    """Part of a law (its mass need not be one): blocks above, a table below, and what was left out."""

    blocks: tuple[Block, ...]
    lo: int = 0
    masses: tuple[arb, ...] = ()
    missing: Fraction = Fraction(0)

    @property
    def hi(self) -> int:
        return self.lo + len(self.masses) - 1

    def total(self) -> arb:
        """The listed mass."""
        return sum(self.masses, arb(0)) + sum((block.total() for block in self.blocks), arb(0))

    def with_tag(self, tag: str) -> tuple[tuple[Block, ...], tuple[Dense, ...]]:
        """As parts of a law."""
        blocks = tuple(Block(b.lo, b.hi, b.weight, b.intercept, b.slope, tag, b.shape) for b in self.blocks)
        return blocks, (Dense(self.lo, self.masses, tag),) if self.masses else ()


def start(count: int, epsilon: Loss) -> Partial:
    """The law of the count plus its first noise."""
    return Partial(two_sided(count, epsilon))


def above(part: Partial, threshold: int) -> Partial:
    """The part of a law that exceeds the threshold; nothing that was missing is charged to it twice."""
    blocks = tuple(b for b in (block.restrict(threshold + 1, None) for block in part.blocks) if b is not None)
    skip = max(threshold + 1 - part.lo, 0)
    return Partial(blocks, part.lo + skip, part.masses[skip:])


def at_most(part: Partial, threshold: int) -> Partial:
    """The part of a law up to the threshold."""
    blocks = tuple(b for b in (block.restrict(None, threshold) for block in part.blocks) if b is not None)
    keep = max(threshold + 1 - part.lo, 0)
    return Partial(blocks, part.lo, part.masses[:keep], part.missing)


def _table(part: Partial) -> tuple[int, list[arb], Fraction]:
    """A part that is bounded above as one table: (first value, masses, missing)."""
    missing = part.missing
    cuts = []
    for block in part.blocks:
        lo, hi = block.lo, block.hi
        assert hi is not None, "only a bounded part is tabulated"
        if lo is None:
            total = block.total()
            if total < ball(MISSING):
                missing += rounded(total, up=True)
                continue
            reach = (total / ball(MISSING)).log() / ball(block.slope)
            lo = hi - _width(reach)
            rest = block.restrict(None, lo - 1)
            assert rest is not None
            missing += rounded(rest.total(), up=True)
        cuts.append(Block(lo, hi, block.weight, block.intercept, block.slope))
    tables = [(part.lo, part.hi)] if part.masses else []
    spans = [(b.lo, b.hi) for b in cuts if b.lo is not None and b.hi is not None] + tables
    if not spans:
        return 0, [], missing
    first, last = min(lo for lo, _ in spans), max(hi for _, hi in spans)
    _width(last - first)
    masses = [arb(0)] * (last - first + 1)
    for i, mass in enumerate(part.masses, part.lo - first):
        masses[i] += mass
    for block in cuts:
        assert block.lo is not None and block.hi is not None
        mass, step = block.mass(block.lo), exp(block.slope)
        for i in range(block.lo - first, block.hi - first + 1):
            masses[i] += mass
            mass *= step
    return first, masses, missing


def _width(reach: arb | int) -> int:
    width = reach if isinstance(reach, int) else math.ceil(float(reach.upper()))
    if width > _WIDEST:
        raise WrongUse(
            f"the law of the added noises spreads over more than {_WIDEST:,} values and is not tabulated; "
            "the claim stands on its theorem, and a larger epsilon can be checked exactly"
        )
    return width


def add_noise(part: Partial, epsilon: Fraction) -> Partial:
    """The law after adding a two-sided geometric of rate epsilon to a part that is bounded above.

    Above the largest value that could come in, the result is exactly geometric again: a block. Below, it is a
    mixture, tabulated down to a negligible rest.
    """
    lo, masses, missing = _table(part)
    if not masses:
        return Partial((), missing=missing)
    fall, peak = exp(-epsilon), (ball(epsilon) / 2).tanh()
    pad = _width(ball(1 / MISSING).log() / ball(epsilon))
    _width(pad + len(masses))
    ahead = [arb(0)] * pad
    run = arb(0)
    for mass in masses:  # ahead[v] = sum over u <= v of masses[u] fall^(v-u); zero in the padding
        run = run * fall + mass
        ahead.append(run)
    top = ahead[-1]
    out = ahead
    run = arb(0)
    for i in range(len(masses) - 1, -1, -1):  # run = sum over u > v of masses[u] fall^(u-v)
        out[pad + i] = (out[pad + i] + run) * peak
        run = (run + masses[i]) * fall
    run *= peak
    for i in range(pad - 1, -1, -1):
        out[i] = run
        run *= fall
    missing += rounded(run / (1 - fall), up=True)
    hi = lo + len(masses) - 1
    tail = Block(hi + 1, None, Weight(("tail", object()), top * peak), epsilon * hi, -epsilon)
    return Partial((tail,), lo - pad, tuple(out), missing)
