"""Drawing from the warped law by walking away from the count, exactly and for many counts at once.

A fair coin picks the side. The tails of Theorem W1 say how far the walk goes: with b_m = 1/(1 + e^-epsilon(m)),

    P(J >= m | up)   = 2 b_m     e^-(E(m) - E(c))   for m > c,
    P(J <= m | down) = 2 b_(m+1) e^-(E(c) - E(m))   for m < c

(at most 1, because P(J > c) = 1 - b_(c+1) and P(J < c) = 1 - b_c are at most 1/2), and once it has come as far as s,

    P(J >= m | J >= s) = b_m / b_s         e^-(E(m) - E(s))   for m > s >= c,
    P(J <= m | J <= s) = b_(m+1) / b_(s+1) e^-(E(s) - E(m))   for m < s <= c,

whatever the count was. So a walk may be interrupted at any value and go on with fresh randomness. It is
interrupted where a piece of the curve ends, and each piece is one jump, cut at its end:

* flat, from the count: P(n values or further) = 2 q^n/(1 + q), q = e^-epsilon: the law of |Z|, Z two-sided geometric;
* flat, coming from another piece: a coin of probability (1 - b)/b_s enters it, and P(n further) = q^n is geometric;
* flat at 0: the walk always goes through;
* a slope: :mod:`hubbub.channels.mechanisms.warped_slope`.

Upwards the pieces are taken from the first to the last and downwards from the last to the first, each once: who comes
to the end of a piece is waiting when the next one is taken.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.mechanisms.warped_slope import jump
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.noise.sampler import geometric, two_sided_geometric
from hubbub.noise.source import Source
from hubbub.noise.table import CHUNK, CertifiedTable
from hubbub.numeric.exact import Infinite, exp

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]  # positions in the array of values

_FAR: Final = 2**62 + 2**61
"""Stands for "never" in 64 bits: from 2^62, the largest count, nobody comes there but with probability exp(-10^12)."""


def walk(curve: Curve, cap: int | None, counts: Ints, source: Source) -> Ints:
    """J for each count. Counts above `cap` (beyond an infinite step) are returned as they are.

    Guarantee: J is drawn exactly from f_c(j) = w_j exp(-|E(c) - E(j)|), independently for each count (Theorem W1). Each
    jump is exact, as said at the top of this file, and takes fresh words.
    """
    if cap == 0:
        return np.zeros_like(counts) if curve.limit == 0 else counts.copy()
    walks = _Walks(curve, cap, source)
    values = counts.copy()
    size = CHUNK * len(walks.pieces)  # what stays in the cache, for each of the pieces
    for start in range(0, values.size, size):
        walks.run(values[start : start + size])
    return values


class _Walks:
    """The finite pieces of a curve with their ends, and where the randomness comes from."""

    def __init__(self, curve: Curve, cap: int | None, source: Source) -> None:
        self.pieces = [piece for piece in curve.pieces if not isinstance(piece.value, Infinite)]
        self.cap = _FAR if cap is None else cap
        if max(self.cap, self.pieces[-1].start) > _FAR:
            raise WrongUse("a step of the curve starts beyond 2^62 people, where no count ever is; leave it out")
        self.starts = np.array([piece.start for piece in self.pieces], dtype=np.int64)
        self.ends = [*(piece.start - 1 for piece in self.pieces[1:]), self.cap]
        self.source = source

    def run(self, values: Ints) -> None:
        """Replaces each count by its J."""
        heads = self._fair_bits(values.size)
        up, down = np.flatnonzero(heads & (values < self.cap)), ~heads & (values > 0) & (values <= self.cap)
        self._sweep(values, up, 1)
        self._sweep(values, np.flatnonzero(down), -1)

    def _fair_bits(self, size: int) -> NDArray[np.bool_]:
        """Fair coins, 64 to a word."""
        words = self.source.words((size + 63) // 64)
        return np.unpackbits(words.view(np.uint8), count=size).view(np.bool_)

    def _sweep(self, values: Ints, walkers: Places, step: int) -> None:
        """All the walks to one side."""
        groups = self._by_piece(values, walkers, step)
        waiting: Places = walkers[:0]
        for i in range(len(groups))[::step]:
            through = [waiting]
            if waiting.size:
                through = [self._move(values, waiting, i, step, self._passed(i, step))]
            if groups[i].size:
                through.append(self._move(values, groups[i], i, step, None))
            waiting = np.concatenate(through)

    def _by_piece(self, values: Ints, walkers: Places, step: int) -> list[Places]:
        """For each piece, the walkers whose first loss is there: epsilon(c + 1) upwards, epsilon(c) downwards."""
        many = len(self.pieces)
        if many == 1:
            return [walkers]
        which = np.searchsorted(self.starts, values[walkers] + (step > 0), side="right") - 1
        order = np.argsort(which.astype(np.uint16) if many < 2**16 else which, kind="stable")  # 16 bits sort by radix
        return np.split(walkers[order], np.bincount(which, minlength=many).cumsum()[:-1])

    def _move(self, values: Ints, walkers: Places, i: int, step: int, passed: Fraction | None) -> Places:
        """One jump within piece i; returns the walkers that have come to its end and go on from there."""
        at = values[walkers]
        room = self.ends[i] - at if step > 0 else at - (self.pieces[i].start - 1)
        far = self._jump(at, room, i, step, passed)
        values[walkers] = at + step * np.minimum(far, room)
        return walkers[far >= room]

    def _jump(self, at: Ints, room: Ints, i: int, step: int, passed: Fraction | None) -> Ints:
        """How far each walk goes in piece i, or would go if the piece did not end."""
        piece = self.pieces[i]
        assert isinstance(piece.value, Fraction)
        if piece.rate:
            return jump(piece, at + (step > 0), room, step, passed, self.source)
        if passed is None:
            return np.abs(two_sided_geometric(piece.value, at.size, self.source)) if piece.value else room
        far = np.zeros(at.size, dtype=np.int64)
        enters = np.flatnonzero(_entry(passed, piece.value).sample(at.size, self.source) == 0)
        far[enters] = 1 + geometric(piece.value, enters.size, self.source) if piece.value else room[enters]
        return far

    def _passed(self, i: int, step: int) -> Fraction:
        """The last loss on the way to piece i."""
        before = self.pieces[i - step]
        loss = before.at(self.ends[i - step] if step > 0 else before.start)
        assert isinstance(loss, Fraction)
        return loss


@lru_cache(maxsize=256)
def _entry(passed: Fraction, loss: Fraction) -> CertifiedTable:
    """Cell 0 says "one value further, into the next piece": its probability is (1 - b(loss)) / b(passed)."""

    def boundaries() -> list[arb]:
        a = exp(-loss)
        return [a * (1 + exp(-passed)) / (1 + a)]

    return CertifiedTable(boundaries)
