"""Three candidates: what every lie gains, by going through all top counts, for thousands of voters.

The others' top counts are trinomial. A rule looks at them, the voter's ballot included, and either names the winner or
drops one candidate d; then the pile of d, k ballots, splits binomially between the two others e and f. With i tops for
e among N others, e beats f when 2 X + s > 0, where X is Bin(k, Pr[e second | d first]) and s = 2 i - N + v, v = +1 or
-1 for the voter's own choice between the two. So a state costs one look into a binomial tail.

Only states in which the lie changes something count, and what it adds and what it takes are summed apart: `pos`
and `neg` are sums of positive terms. A probability is right to some units in the last place
(:mod:`hubbub.voting.manipulation.gain_masses`), tails to one unit per ballot, sums to one per halving: |error| <= (N +
`_UNITS`) 2^-52 (pos + neg), plus 2^-1000 for each state that underflows. It rests on numpy's exp being right to 8 units
in the last place (a test looks).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Belief, Ranking
from hubbub.voting.manipulation.gain_masses import Floats, check_fits, cut_log, fits, halving_sum, log_factorials
from hubbub.voting.manipulation.gain_winners import INSTANT_RUNOFF, PLURALITY, Contest, Integers
from hubbub.voting.manipulation.question import Bounds, Gains, Question, Solver, Utility
from hubbub.voting.rules.margins import APPROXIMATE_RUNOFF, REPEATED_PLURALITY

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


Small: TypeAlias = NDArray[np.int8]

MOST_STATES: Final = 20_000_000
"""Top counts that are gone through at most: some 6,300 voters, a minute or so."""

QUICK_STATES: Final = 2_500_000
"""The same, if nobody asked for it: 2,235 voters."""

_KINDS: Final = (PLURALITY, INSTANT_RUNOFF, REPEATED_PLURALITY, APPROXIMATE_RUNOFF)
_UNITS: Final = 256
_SIX: Final = 6  # chances are whole sixths: 1, 1/2 or 1/3
REPORTS: Final = tuple(permutations(range(3)))

Moves: TypeAlias = dict[Ranking, dict[Ranking, tuple[Bounds, ...]]]
"""For each truth and lie, what it adds to the chance of the truth's first, and of its first two."""


def states(belief: Belief, voters: int) -> int:
    """How many top counts have a positive probability."""
    alive = sum(1 for share in belief.tops(range(3)).values() if share)
    return math.comb(voters - 2 + alive, alive - 1)


def moves_of_three(belief: Belief, voters: int, contest: Contest, truths: Sequence[Ranking]) -> Moves:
    """For every truth and lie, what it adds to the chance that the truth's first wins, and one of its first two.

    Guarantee: each pair is a lower and an upper bound of that difference, for complete ballots of three candidates,
    the others drawn independently from `belief`; they are both 0 where the lie changes nothing in any possible state,
    and otherwise as close as the error bound above says.
    """
    if states(belief, voters) > MOST_STATES:
        raise WrongUse(
            f"with {voters:,} voters the top counts are too many to go through (at most {MOST_STATES:,}); ask for a "
            "bound, or for a sample"
        )
    others = voters - 1
    grid = Grid.from_belief(belief, others)
    sums = {truth: {lie: [_Sums() for _ in range(2)] for lie in REPORTS if lie != truth} for truth in truths}
    passes = sorted(range(3), key=lambda c: grid.tops[c])  # plurality drops nobody: one look at each state will do
    for dropped in passes[:1] if contest.kind == PLURALITY else passes:
        for block in blocks(grid, dropped):
            decided = [decide(contest, block.counts, top) for top in range(3)]
            if dropped == passes[0]:
                for truth, lie, corner, total in _every(sums):
                    _named_first(block, decided[lie[0]][1], decided[truth[0]][1], corner, total)
            weights = [drops[dropped] for drops, _ in decided]
            chosen = np.flatnonzero(weights[0] | weights[1] | weights[2])
            for part, piece in splits(grid, block, chosen):
                here = [weight[part] for weight in weights]
                for truth, lie, corner, total in _every(sums):
                    _pair_gains(contest, dropped, piece, (lie, truth), here, corner, total)
    cells = states(belief, voters)
    return {
        truth: {lie: tuple(total.bounds(others, cells) for total in found) for lie, found in lies.items()}
        for truth, lies in sums.items()
    }


def _every(
    sums: dict[Ranking, dict[Ranking, list[_Sums]]],
) -> Iterator[tuple[Ranking, Ranking, frozenset[int], _Sums]]:
    for truth, lies in sums.items():
        for lie, found in lies.items():
            for first, total in enumerate(found, 1):
                yield truth, lie, frozenset(truth[:first]), total


def gains_by(moves: Moves) -> Gains:
    """What a lie gains for any utility: a falling one is a mixture of corners, and the weights are its steps.

    Guarantee: a lower and an upper bound, from those of `moves`.
    """

    def gains(truth: Ranking, lie: Ranking, worth: Utility) -> Bounds:
        steps = [worth.values[a] - worth.values[b] for a, b in pairwise(truth)]
        ends = zip(*moves[truth][lie], strict=True)
        low, high = (sum((step * end for step, end in zip(steps, each, strict=True)), Fraction(0)) for each in ends)
        return low, high

    return gains


def _is_quick(question: Question) -> bool:
    few = states(question.belief, question.voters) <= QUICK_STATES
    return few and fits(question.voters - 1, [share for _, share in question.belief.shares])


STATES_OF_THREE: Final = Solver(
    name="three",
    way="counting every state of three candidates",
    limits="complete ballots of three candidates",
    fits=lambda question: question.ranks_all(3) and question.contest.kind in _KINDS,
    is_quick=_is_quick,
    gains=lambda about, truths: gains_by(moves_of_three(about.belief, about.voters, about.contest, truths)),
)


# --- sums and their error -----------------------------------------------------------------------------------------


class _Sums:
    """What a lie adds and what it takes away, apart, and whether it does anything at all."""

    __slots__ = ("negative", "positive", "touched")

    def __init__(self) -> None:
        self.positive: list[float] = []
        self.negative: list[float] = []
        self.touched = False

    def add(self, terms: Floats, *, positive: bool) -> None:
        if terms.size:
            self.touched = True
            (self.positive if positive else self.negative).append(halving_sum(terms))

    def bounds(self, others: int, cells: int) -> Bounds:
        if not self.touched:
            return Fraction(0), Fraction(0)
        gained, lost = Fraction(math.fsum(self.positive)), Fraction(math.fsum(self.negative))
        error = (gained + lost) * Fraction(others + _UNITS, 1 << 52) + Fraction(cells, 1 << 1000)
        return gained - lost - error, gained - lost + error


# --- what the rule does -------------------------------------------------------------------------------------------


def decide(contest: Contest, counts: Sequence[Integers], top: int) -> tuple[Small, Small]:
    """(how likely each candidate is the only one dropped, how likely each is named winner at once), in sixths."""
    table = np.stack([count + (c == top) for c, count in enumerate(counts)])
    drops, names = np.zeros(table.shape, dtype=np.int8), np.zeros(table.shape, dtype=np.int8)
    leads = table == table.max(axis=0)
    if contest.kind == PLURALITY:
        return drops, _foremost_of_tied(leads, contest.order)
    if contest.kind == INSTANT_RUNOFF:
        last = table == table.min(axis=0)
        drops = _foremost_of_tied(last, None if contest.order is None else contest.order[::-1])
    else:
        if contest.kind == REPEATED_PLURALITY:
            stays = table + contest.elimination_margin >= table.max(axis=0)
        else:
            stays = table > table.min(axis=0) + contest.elimination_margin
            stays |= ~stays.any(axis=0)
        size = stays.sum(axis=0)
        drops[(size == 2) & ~stays] = _SIX
        names = np.where(size == 3, _foremost_of_tied(leads, contest.order), names)
        names = np.where((size == 1) & stays, np.int8(_SIX), names)
    _name_the_sure(counts, drops, names)
    return drops, names


def _name_the_sure(counts: Sequence[Integers], drops: Small, names: Small) -> None:
    """Of the last two, who leads by more than the pile and the voter can turn wins, whichever way the rule came there.

    So a lie that changes the way and not the winner is seen to change nothing.
    """
    for dropped in range(3):
        for ahead in range(3):
            if ahead != dropped:
                rest = 3 - dropped - ahead
                sure = counts[ahead] > counts[rest] + counts[dropped] + 1
                names[ahead] += np.where(sure, drops[dropped], np.int8(0))
                drops[dropped][sure] = 0


def _foremost_of_tied(tied: NDArray[np.bool_], order: Ranking | None) -> Small:
    """All those tied alike, or the first of them in `order` alone."""
    if order is None:
        return np.where(tied, _SIX // tied.sum(axis=0), 0).astype(np.int8)
    positions = np.array([order.index(c) for c in range(3)])[:, None]
    first = np.where(tied, positions, 3).argmin(axis=0)
    return np.where(np.arange(3)[:, None] == first, _SIX, 0).astype(np.int8)


def _named_first(block: Block, lie: Small, truth: Small, corner: frozenset[int], total: _Sums) -> None:
    """States in which the rule names somebody at once."""
    members = sorted(corner)
    change = lie[members].sum(axis=0) - truth[members].sum(axis=0)
    for positive in (True, False):
        where = np.flatnonzero(change > 0 if positive else change < 0)
        total.add(block.mass[where] * np.abs(change[where]) / _SIX, positive=positive)


def _pair_gains(
    contest: Contest,
    dropped: int,
    piece: Splits,
    reports: tuple[Ranking, Ranking],
    weights: Sequence[Small],
    corner: frozenset[int],
    total: _Sums,
) -> None:
    """States in which only `dropped` leaves, under the lie or under the truth, which are `reports`."""
    first, second = (c for c in range(3) if c != dropped)
    with_lie, with_truth = (weights[report[0]] for report in reports)
    if first in corner and second in corner:
        change = with_lie - with_truth
        for positive in (True, False):
            where = np.flatnonzero(change > 0 if positive else change < 0)
            total.add(piece.mass[where] * np.abs(change[where]) / _SIX, positive=positive)
        return
    if first not in corner and second not in corner:
        return
    wanted, tie = first in corner, Fraction(1, 2)
    if contest.order is not None:
        tie = Fraction(int(contest.order.index(first) < contest.order.index(second)))
    pair = _Pair(piece, wanted, tie)
    votes = [1 if report.index(first) < report.index(second) else -1 for report in reports]
    for weight, vote, positive in ((with_lie, votes[0], True), (with_truth, votes[1], False)):
        where = np.flatnonzero((weight > 0) & (with_lie != with_truth))
        total.add(piece.mass[where] * weight[where] / _SIX * pair.wins(where, vote), positive=positive)
    if votes[0] != votes[1]:
        where = np.flatnonzero((with_lie == with_truth) & (with_lie > 0))
        turned = piece.mass[where] * with_lie[where] / _SIX * pair.turns(where)
        total.add(turned, positive=(votes[0] > 0) == wanted)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The last two, e (the lower number) and f: how likely the `wanted` one of them wins; `tie`: e's share of a tie."""

    piece: Splits
    wanted: bool  # e, else f
    tie: Fraction

    def wins(self, where: Integers, vote: int) -> Floats:
        """With the voter for e (vote 1) or for f (vote -1)."""
        piece, table = self.piece, self.piece.above if self.wanted else self.piece.below
        s = 2 * piece.ahead[where] - piece.others + vote
        if piece.others % 2 == 0:  # s is odd: 2 X + s is never 0
            return piece.look_up(table, where, (1 - s) // 2 if self.wanted else (-s - 1) // 2)
        x, mine, yours = -s // 2, float(self.tie), float(1 - self.tie)
        if self.wanted:
            return mine * piece.look_up(table, where, x) + yours * piece.look_up(table, where, x + 1)
        return yours * piece.look_up(table, where, x) + mine * piece.look_up(table, where, x - 1)

    def turns(self, where: Integers) -> Floats:
        """How much likelier e wins when the voter is for e and not for f."""
        piece, split = self.piece, self.piece.split
        s = 2 * piece.ahead[where] - piece.others - 1
        if piece.others % 2 == 0:
            return piece.look_up(split, where, (-s - 1) // 2)
        x, mine, yours = -s // 2, float(self.tie), float(1 - self.tie)
        return mine * piece.look_up(split, where, x - 1) + yours * piece.look_up(split, where, x)
