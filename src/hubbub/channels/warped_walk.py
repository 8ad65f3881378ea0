"""Drawing from the warped law by walking away from the count, exactly and for many counts at once.

P(J >= m + 1 | J >= m) = a_(m+1) (1 + a_m) / (1 + a_(m+1)), a_m = e^-epsilon(m), does not depend on the count the walk started
from; downwards it is the mirror image. So J is the end of a walk: leave the count or stay, then go on or stop
at each step. Each of these probabilities is made from fair coins and coins of probability a_m (a Bernoulli
factory: the restarts below solve p = (x + y + (1 - y) p) / 2). Where the curve is flat the probability to go on
is a_m itself and a whole stretch is one geometric jump, cut at the end of the stretch, which loses nothing because
a geometric forgets how far it has come. Where the curve is a slope, the coin of probability e^-(value + rate n)
is "a coin of e^-value shows heads, and a geometric of that rate is at least n": no table per count is ever needed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.exact import Infinite
from hubbub.guarantees.curve import Curve
from hubbub.noise.sampler import bernoulli_exp, geometric
from hubbub.noise.source import Source

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

_FAR = 2**62 + 2**61
"""Stands for "never" in 64 bits: beyond every count that is accepted."""


def walk(curve: Curve, cap: int | None, counts: Ints, source: Source) -> Ints:
    """J for each count. Counts above `cap` (beyond an infinite step) are returned as they are.

    Guarantee: J is drawn exactly from f_c(j) = w_j exp(-|E(c) - E(j)|), independently for each count (Theorem W1).
    """
    if cap == 0 and curve.limit == 0:
        return np.zeros_like(counts)
    return _Walk(curve, cap, source).run(counts)


class _Walk:
    """One batch: the curve as arrays, and where its coins come from."""

    def __init__(self, curve: Curve, cap: int | None, source: Source) -> None:
        self.pieces = [p for p in curve.pieces if not isinstance(p.value, Infinite)]
        self.starts = np.array([p.start for p in self.pieces], dtype=np.int64)
        ends = [p.start - 1 for p in curve.pieces[1 : len(self.pieces) + 1]]
        self.ends = np.array((ends + [_FAR])[: len(self.pieces)], dtype=np.int64)
        self.flat = np.array([not p.rate for p in self.pieces])
        self.cap = _FAR if cap is None else cap
        self.source = source

    def run(self, counts: Ints) -> Ints:
        values = counts.copy()
        inside = np.flatnonzero(counts <= self.cap)
        up = self._coins(inside.size)
        above, below = inside[up], inside[~up]
        above = above[counts[above] < self.cap]
        below = below[counts[below] > 0]
        above = above[self._leave(counts[above] + 1)]
        below = below[self._leave(counts[below])]
        values[above] = self._climb(counts[above] + 1)
        values[below] = self._descend(counts[below] - 1)
        return values

    def _climb(self, at: Ints) -> Ints:
        """From J >= at to J."""
        return self._wander(at, 1)

    def _descend(self, at: Ints) -> Ints:
        """From J <= at to J."""
        return self._wander(at, -1)

    def _wander(self, at: Ints, step: int) -> Ints:
        at = at.copy()
        going = np.arange(at.size)
        while going.size:
            here = at[going]
            goal = self.cap if step > 0 else 0
            going, here = going[here != goal], here[here != goal]
            jumped, stopped = self._jump(here, step)
            at[going] = jumped
            going, here = going[~stopped], jumped[~stopped]
            going, here = going[here != goal], here[here != goal]
            # The step from m to m + 1 uses (a_m, a_(m+1)); down from m to m - 1 it uses (a_(m+1), a_m).
            on = self._go_on(here, here + 1) if step > 0 else self._go_on(here + 1, here)
            going = going[on]
            at[going] += step
        return at

    def _jump(self, here: Ints, step: int) -> tuple[Ints, Bools]:
        """Along flat stretches in one draw each: the new places, and which of them are final."""
        there, stopped = here.copy(), np.zeros(here.size, dtype=bool)
        # Upwards the stretch of m ends with its piece; downwards it is the piece of m + 1, left at its start - 1.
        which = np.searchsorted(self.starts, here if step > 0 else here + 1, side="right") - 1
        edge = self.ends[which] if step > 0 else self.starts[which] - 1
        room = (edge - here) * step
        movable = self.flat[which] & (room > 0)
        for i in np.unique(which[movable]):
            piece, on = self.pieces[i], np.flatnonzero(movable & (which == i))
            assert isinstance(piece.value, Fraction)
            if piece.value == 0:
                there[on] = edge[on]
                continue
            far = geometric(piece.value, on.size, self.source)
            stopped[on] = far < room[on]
            there[on] += step * np.minimum(far, room[on])
        return there, stopped

    def _leave(self, m: Ints) -> Bools:
        """Coins of probability 2 a_m / (1 + a_m)."""
        return self._factory(m.size, lambda todo: self._heads(m[todo]), lambda todo: self._heads(m[todo]))

    def _go_on(self, m: Ints, following: Ints) -> Bools:
        """Coins of probability (1 + a_m) a_following / (1 + a_following)."""

        def both(todo: Ints) -> Bools:
            return self._heads(m[todo]) & self._heads(following[todo])

        return self._factory(m.size, both, lambda todo: self._heads(following[todo]))

    def _factory(self, size: int, x: Callable[[Ints], Bools], y: Callable[[Ints], Bools]) -> Bools:
        """Coins of probability p = (x + y) / (1 + y): on heads answer x; on tails yes if y, else start again."""
        answer = np.zeros(size, dtype=bool)
        todo = np.arange(size)
        while todo.size:
            side = self._coins(todo.size)
            answer[todo[side]] = x(todo[side])
            rest = todo[~side]
            yes = y(rest)
            answer[rest[yes]] = True
            todo = rest[~yes]
        return answer

    def _heads(self, m: Ints) -> Bools:
        """Coins of probability a_m = e^-epsilon(m)."""
        heads = np.zeros(m.size, dtype=bool)
        which = np.searchsorted(self.starts, m, side="right") - 1
        for i in np.unique(which):
            piece, on = self.pieces[i], np.flatnonzero(which == i)
            assert isinstance(piece.value, Fraction)
            coin = bernoulli_exp(piece.value, on.size, self.source)
            if piece.rate:
                coin &= geometric(piece.rate, on.size, self.source) >= m[on] - piece.start
            heads[on] = coin
        return heads

    def _coins(self, size: int) -> Bools:
        """Fair coins, 64 to a word."""
        words = self.source.words((size + 63) // 64)
        return np.unpackbits(words.view(np.uint8), count=size).astype(bool)
