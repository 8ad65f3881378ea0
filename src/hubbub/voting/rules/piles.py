"""Top-choice piles while candidates are struck out: the inner loop of every count.

Each ballot has a place in its ranking. Striking candidates out moves the ballots of their piles on to the next
candidate who is in, and touches no other ballot.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from hubbub.voting.ballots import Ballots, Ranks, Weights
from hubbub.voting.result import Transfer

Counts = NDArray[np.int64]

_FEW: Final = 16  # candidates for whom comparing a column with each is faster than sorting it into bins
_MANY: Final = 1 << 15  # rows for which that is worth it
_BLOCK: Final = 1 << 17  # rows at a time
_COMPILED_FROM: Final = 200_000  # rows that are worth a compiled loop


Small = NDArray[np.uint8] | NDArray[np.uint16]


def as_unsigned(rankings: Ranks, candidates: int) -> Small:
    """The rankings in the smallest words, -1 as the largest of them. Free for words of that size."""
    small: type[np.uint8] | type[np.uint16] = np.uint8 if candidates < 256 else np.uint16
    if rankings.dtype.itemsize == np.dtype(small).itemsize:
        return cast("Small", rankings.view(small))
    return cast("Small", rankings.astype(small))  # -1 wraps to the largest


def count_bins(numbers: Ranks, bins: int, weights: Weights | None) -> Counts:
    """How many voters are in each bin. (Sums of float weights are exact: they stay below 2^53.)"""
    if weights is None:
        return np.bincount(numbers, minlength=bins)
    return np.bincount(numbers, weights=weights, minlength=bins).astype(np.int64)


def top_counts(ballots: Ballots) -> tuple[list[int], int]:
    """First choices for each candidate, and blank ballots."""
    tops: Ranks = np.ascontiguousarray(as_unsigned(ballots.rankings[:, 0], len(ballots.candidates)))
    return _pile_up(tops, len(ballots.candidates), None if ballots.single else ballots.weights)


def _pile_up(tops: Ranks, candidates: int, weights: Weights | None) -> tuple[list[int], int]:
    """Voters in each pile, and in none."""
    if weights is None and candidates <= _FEW:
        piles = [int(np.count_nonzero(tops == candidate)) for candidate in range(candidates)]
        return piles, len(tops) - sum(piles)
    none = int(np.iinfo(tops.dtype).max)
    counts = count_bins(tops, none + 1, weights)
    return counts[:candidates].tolist(), int(counts[none])


def position_counts(ballots: Ballots, positions: Sequence[int]) -> Counts:
    """`[i, c]`: how many voters rank candidate c at place positions[i], the first being 0."""
    m = len(ballots.candidates)
    words = as_unsigned(ballots.rankings, m) if ballots.rankings.dtype.itemsize <= 2 else ballots.rankings
    out = np.zeros((len(positions), m), dtype=np.int64)
    if ballots.single and m <= _FEW and len(words) >= _MANY:
        full = ballots.rankings.dtype.kind == "u"  # no -1 can be there: whoever is nobody else is the last candidate
        for start in range(0, len(words), _BLOCK):
            columns = np.ascontiguousarray(words[start : start + _BLOCK].astype(np.uint8, copy=False).T)
            for i, position in enumerate(positions):
                here = [int(np.count_nonzero(columns[position] == candidate)) for candidate in range(m - full)]
                out[i] += [*here, columns.shape[1] - sum(here)] if full else here
        return out
    small = as_unsigned(words, m)
    none = int(np.iinfo(small.dtype).max)
    weights = None if ballots.single else ballots.weights
    for i, position in enumerate(positions):
        out[i] = count_bins(small[:, position], none + 1, weights)[:m]
    return out


class Piles:
    """The state of a count. It changes as candidates are struck out, and lives as long as one run."""

    __slots__ = ("_dead", "_flat", "_none", "_position", "_tops", "_weights", "_width", "counts", "exhausted")

    def __init__(self, ballots: Ballots) -> None:
        m = len(ballots.candidates)
        words: Ranks = np.ascontiguousarray(as_unsigned(ballots.rankings, m))
        self._width = words.shape[1]
        self._flat = words.reshape(-1)
        self._none = int(np.iinfo(words.dtype).max)
        self._dead = np.zeros(self._none + 1, dtype=np.bool_)
        self._tops = words[:, 0].copy()
        narrow = "i4" if words.size < 1 << 31 else "i8"
        # of each ballot's top, in _flat
        self._position: NDArray[np.int32] = np.arange(0, words.size, self._width, dtype=narrow)
        self._weights = None if ballots.single else ballots.weights
        self.counts, self.exhausted = _pile_up(self._tops, m, self._weights)

    def without_candidates(self, out: Iterable[int]) -> Piles:
        """The piles as they are once these candidates are struck out, all at a time; this one stays as it is."""
        other = copy(self)
        other._dead = self._dead.copy()
        other._dead[list(out)] = True
        other._tops, other._position = self._tops.copy(), self._position.copy()
        moving = np.flatnonzero(other._dead[other._tops])
        while moving.size:
            other._position[moving] += 1
            found = other._flat[other._position[moving]]
            other._tops[moving] = found
            moving = moving[other._dead[found]]
        other.counts, other.exhausted = _pile_up(other._tops, len(self.counts), self._weights)
        return other

    def strike(self, out: Sequence[int]) -> tuple[Transfer, ...]:
        """Strike these candidates out; somebody must be left. Where their ballots went, in order."""
        self._dead[list(out)] = True
        transfers = []
        for origin in out:
            moved = self._advance(origin)
            self.counts[origin] = 0
            for target in np.flatnonzero(moved).tolist():
                ballots = int(moved[target])
                gone = target == self._none
                if gone:
                    self.exhausted += ballots
                else:
                    self.counts[target] += ballots
                transfers.append(Transfer(origin=origin, target=None if gone else target, ballots=ballots))
        return tuple(transfers)

    def _advance(self, origin: int) -> Counts:
        """Move the pile of `origin` on; how many voters went where."""
        if self.counts[origin] == 0:
            return np.zeros(0, dtype=np.int64)
        if self._weights is None and len(self._tops) >= _COMPILED_FROM and "numba" in sys.modules:
            from hubbub.voting.rules.numba_kernels import compiled_advance

            moved = np.zeros(self._none + 1, dtype=np.int64)
            compiled_advance()(self._flat, self._width, self._tops, self._position, self._dead, origin, moved)
            return moved
        ballots = np.flatnonzero(self._tops == origin)
        position = self._position[ballots]
        position += 1
        tops = self._flat[position]
        again = np.flatnonzero(self._dead[tops])
        while again.size:
            further = position[again]
            further += 1
            position[again] = further
            found = self._flat[further]
            tops[again] = found
            again = again[self._dead[found]]
        self._position[ballots] = position
        self._tops[ballots] = tops
        return count_bins(tops, self._none + 1, None if self._weights is None else self._weights[ballots])
