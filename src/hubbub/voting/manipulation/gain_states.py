"""The top counts of three candidates and how a pile splits, with their probabilities in doubles, right to the last few
places (:mod:`hubbub.voting.manipulation.gain_masses`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Belief
from hubbub.voting.manipulation.gain_masses import Floats, check_fits, cut_log, log_factorials
from hubbub.voting.manipulation.gain_winners import Integers

_BLOCK: Final = 1 << 18  # states at once
_CELLS: Final = 1 << 21  # cells of a table of splits at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What `others` voters draw their ballots from, with ln k! for k = 0..others cut in two."""

    others: int
    factorial: tuple[Floats, Floats]
    tops: tuple[Fraction, ...]
    seconds: tuple[tuple[Fraction, ...], ...]  # seconds[d][e]: of those whose first is d, the share whose second is e

    @classmethod
    def from_belief(cls, belief: Belief, others: int) -> Grid:
        check_fits(others, [share for _, share in belief.shares])
        tops = tuple(belief.tops(range(3)).values())
        joint = {(r[0], r[1]): share for r, share in belief.shares}
        seconds = tuple(
            tuple(joint.get((d, e), Fraction(0)) / tops[d] if tops[d] else Fraction(0) for e in range(3))
            for d in range(3)
        )
        return cls(others=others, factorial=log_factorials(others), tops=tops, seconds=seconds)

    def mass(self, total: Integers | int, parts: Sequence[tuple[Integers, Fraction]]) -> Floats:
        """The multinomial probability that `total` voters split into `parts`, (how many, share of each)."""
        high, low = self.factorial
        first, rest = high[total], low[total]
        for count, share in parts:
            first, rest = first - high[count], rest - low[count]
            if 0 < share < 1:  # a share of 0 is met by nobody, one of 1 by everybody
                coarse, fine = cut_log(share)
                first, rest = first + count * coarse, rest + count * fine
        found: Floats = np.exp(first) * np.exp(rest)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some states, each once: how many of the others have candidate 0, 1, 2 on top, and how likely that is."""

    dropped: int
    others: int
    counts: tuple[Integers, Integers, Integers]
    mass: Floats


def blocks(grid: Grid, dropped: int) -> Iterator[Block]:
    """All states that have a positive probability, in the order of the pile of `dropped`."""
    n = grid.others
    first, second = (c for c in range(3) if c != dropped)
    start, end = 0, n + 1 if grid.tops[dropped] else 1
    if grid.tops[dropped] == 1:
        start = n
    while start < end:
        long = grid.tops[first] and grid.tops[second]
        rows = max(1, min(_BLOCK // (n - start + 1) if long else _BLOCK, end - start))
        pile = np.arange(start, start + rows, dtype=np.int64)
        start += rows
        if long:
            lengths = n - pile + 1
            ahead = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            pile = np.repeat(pile, lengths)
        else:
            ahead = n - pile if grid.tops[first] else np.zeros_like(pile)
        counts = [pile] * 3
        counts[first], counts[second] = ahead, n - pile - ahead
        mass = grid.mass(n, list(zip(counts, grid.tops, strict=True)))
        yield Block(dropped=dropped, others=n, counts=(counts[0], counts[1], counts[2]), mass=mass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Some states of a block, and how the pile of the dropped candidate may split between the other two, e and f.

    X is how many of it go to e, the lower number. The columns of the tables stand for x = -1, 0, ..., longest pile + 1,
    their rows for piles; `row` says which one a state has.
    """

    others: int
    ahead: Integers  # tops of e
    mass: Floats
    row: Integers
    split: Floats  # Pr[X = x]
    above: Floats  # Pr[X >= x]
    below: Floats  # Pr[X <= x]

    def look_up(self, table: Floats, where: Integers, x: Integers) -> Floats:
        """The entries of a table for x, in the states `where`."""
        found: Floats = table[self.row[where], np.clip(x + 1, 0, table.shape[1] - 1)]
        return found


def splits(grid: Grid, block: Block, chosen: Integers) -> Iterator[tuple[Integers, Splits]]:
    """The states `chosen` of a block, in pieces, with their tables."""
    e = next(c for c in range(3) if c != block.dropped)
    piles, row = np.unique(block.counts[block.dropped][chosen], return_inverse=True)
    # Piles rise, so the last one of a piece has the longest row of its table.
    start = 0
    while start < len(piles):
        end = start + 1
        while end < len(piles) and (end + 1 - start) * (int(piles[end]) + 3) <= _CELLS:
            end += 1
        inside = np.flatnonzero((row >= start) & (row < end))
        part = chosen[inside]
        split = _split_table(grid, piles[start:end], grid.seconds[block.dropped][e])
        yield (
            part,
            Splits(
                others=block.others,
                ahead=block.counts[e][part],
                mass=block.mass[part],
                row=row[inside] - start,
                split=split,
                above=np.cumsum(split[:, ::-1], axis=1)[:, ::-1],
                below=np.cumsum(split, axis=1),
            ),
        )
        start = end


def _split_table(grid: Grid, piles: Integers, chance: Fraction) -> Floats:
    x = np.arange(int(piles[-1]) + 1)
    table = np.zeros((len(piles), len(x) + 2))
    if chance in (0, 1):
        table[np.arange(len(piles)), 1 + (piles if chance else 0 * piles)] = 1.0
        return table
    inside = x <= piles[:, None]
    rest = np.where(inside, piles[:, None] - x, 0)
    taken = np.where(inside, x, 0)
    table[:, 1:-1] = np.where(inside, grid.mass(taken + rest, [(taken, chance), (rest, 1 - chance)]), 0.0)
    return table
