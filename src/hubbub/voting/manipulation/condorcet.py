"""How often a rule elects whoever beats everybody else one to one, for three candidates and any belief.

All n voters draw their ballots independently from one law. Given the top counts, each pile splits by its second choice
independently of the others, and w is the Condorcet winner when she has a majority over y by the pile of z and over z by
the pile of y: a product of two binomial tails. A rule that looks at tops and drops d elects the winner of the pair that
is left, and a Condorcet winner wins every pair; so she is elected unless she is dropped, or somebody is named before.

Borda's count looks at all splits at once: her points are the votes she has in her pairs. With r voters for b over c the
votes of a over b and of a over c are a walk in the plane, and a Fourier transform for each r gives their law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Belief
from hubbub.voting.manipulation.gain_borda import power, roots, smooth
from hubbub.voting.manipulation.gain_masses import Floats, Masses, halving_sum, window
from hubbub.voting.manipulation.gain_three import Grid, blocks, decide
from hubbub.voting.manipulation.gain_winners import APPROVAL, BORDA, MINIMAX, PLURALITY, SCORE, Contest

MOST_VOTERS: Final = 2_001
"""Tables of binomial tails are as large as the square of this."""
ERROR: Final = 1e-6
"""More than an efficiency is wrong by: what is left out is rarer than 1e-7 of all elections."""

_RARE: Final = Fraction(1, 2 * 10**8)
_UNLIKELY: Final = 1e-30  # states that are not looked at: a million of them make no difference

Complex: TypeAlias = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Efficiency:
    """`exists`: how likely some candidate beats everybody else; `elected`: that, and that she is elected."""

    elected: float
    exists: float

    @property
    def share(self) -> float | None:
        """Condorcet efficiency: how likely she is elected if there is one; None where there hardly ever is."""
        return self.elected / self.exists if self.exists > 1e-3 else None


def efficiencies(belief: Belief, voters: int, contests: Sequence[Contest]) -> tuple[Efficiency, ...]:
    """The Condorcet efficiency of each rule, ties broken as it says.

    Guarantee: `elected` and `exists` are right to `ERROR`, for complete ballots of three candidates drawn independently
    from `belief`.
    """
    if len(belief.candidates) != 3 or belief.truncated:
        raise WrongUse("Condorcet efficiency is computed for complete ballots of three candidates")
    if any(each.kind in (APPROVAL, SCORE) for each in contests):
        raise WrongUse("Condorcet efficiency is of rules for rankings, and approval and score count none")
    if voters > MOST_VOTERS:
        raise WrongUse(f"Condorcet efficiency is computed up to {MOST_VOTERS:,} voters, not for {voters:,}")
    # A Condorcet winner is elected by minimax for certain: only how often there is one is asked of the states.
    tops = [Contest(kind=PLURALITY) if each.kind == MINIMAX else each for each in contests if each.kind != BORDA]
    found = iter(_from_tops(belief, voters, tops) if tops else ())
    answers = (_of_points(belief, voters, each) if each.kind == BORDA else next(found) for each in contests)
    return tuple(
        Efficiency(answer.exists, answer.exists) if each.kind == MINIMAX else answer
        for each, answer in zip(contests, answers, strict=True)
    )


def _from_tops(belief: Belief, voters: int, contests: Sequence[Contest]) -> list[Efficiency]:
    grid = Grid.from_belief(belief, voters)
    elected: list[list[float]] = [[] for _ in contests]
    exists: list[float] = []
    least = min(range(3), key=lambda c: grid.tops[c])
    for block in blocks(grid, least):
        likely = np.flatnonzero(block.mass > _UNLIKELY)
        counts, mass = [count[likely] for count in block.counts], block.mass[likely]
        beats = []
        for w in range(3):
            chance = mass
            need = np.clip(voters // 2 + 1 - counts[w], 0, voters + 1)  # of a pile, to beat the third candidate
            for pile in (y for y in range(3) if y != w):
                chance = chance * _tails(voters, grid.seconds[pile][w])[counts[pile], need]
            beats.append(chance)
        exists += [halving_sum(chance) for chance in beats]
        for contest, found in zip(contests, elected, strict=True):
            drops, names = decide(contest, counts, -1)
            for w, chance in enumerate(beats):
                wins = names[w] + sum(drops[d] for d in range(3) if d != w)
                found.append(halving_sum(chance * wins / 6))
    return [Efficiency(math.fsum(found), math.fsum(exists)) for found in elected]


@lru_cache(maxsize=8)
def _tails(most: int, chance: Fraction) -> Floats:
    """Pr[Bin(n, chance) >= x]: a row for each n, a column for each x = 0..most + 1."""
    table = Masses(most, (chance, 1 - chance)).binomials(most, chance)
    table = np.concatenate([table, np.zeros((most + 1, 1))], axis=1)
    return np.cumsum(table[:, ::-1], axis=1)[:, ::-1]


def _of_points(belief: Belief, voters: int, contest: Contest) -> Efficiency:
    """Borda's count: over how many put b above c, the law of the votes of a over b and of a over c."""
    n = voters
    above = [(r, s) for r, s in belief.shares if r.index(1) < r.index(2)]
    below = [(r, s) for r, s in belief.shares if r.index(1) > r.index(2)]
    chance = sum((s for _, s in above), Fraction(0))
    reach = math.ceil(3.4 * math.sqrt(n)) + 2  # a walk of n steps of 0 or 1 is beyond it once in 10^10
    size = smooth(min(n + 1, 2 * reach))
    means = [n * sum((s for r, s in belief.shares if r.index(0) < r.index(c)), Fraction(0)) for c in (1, 2)]
    start = [0 if size > n else round(mean) - size // 2 for mean in means]
    over_b, over_c = np.arange(start[0], start[0] + size)[:, None], np.arange(start[1], start[1] + size)
    masses = Masses(n, (chance, 1 - chance))
    weight = masses.norm * masses.factor(chance) * masses.factor(1 - chance)[::-1]
    turn = roots(size)
    one, two = (_walk(part, total, turn) for part, total in ((above, chance), (below, 1 - chance)))
    kept = window(n, chance, _RARE)
    elected, exists = [], []
    for r in range(kept.low, kept.high + 1):
        law = np.fft.irfft2(power(one, r) * power(two, n - r), s=(size, size))
        law = weight[r] * law[over_b % size, over_c % size]
        wins, defined = _points_shares(n, over_b, over_c, r, contest)
        elected.append(float((law * wins).sum()))
        exists.append(float(law[defined].sum()))
    return Efficiency(math.fsum(elected), math.fsum(exists))


def _walk(part: Sequence[tuple[tuple[int, ...], Fraction]], total: Fraction, turn: Complex) -> Complex:
    """The characteristic function of one ballot of those, on half of the frequencies: the law is real."""
    size = len(turn)
    half = size // 2 + 1
    phi = np.zeros((size, half), dtype=np.complex128)
    for ranking, share in part:
        first = turn if ranking.index(0) < ranking.index(1) else np.ones(size)
        second = turn[:half] if ranking.index(0) < ranking.index(2) else np.ones(half)
        phi += float(share / total) * first[:, None] * second
    return phi if part else np.ones((size, half), dtype=np.complex128)


def _points_shares(
    n: int, over_b: NDArray[np.int64], over_c: NDArray[np.int64], r: int, contest: Contest
) -> tuple[Floats, NDArray[np.bool_]]:
    """For each pair of votes: the chance that the Condorcet winner has the most points, and whether there is one."""
    one, other = np.broadcast_arrays(over_b, over_c)
    behind = np.full_like(one, r)
    votes = ((one, other), (n - one, behind), (n - other, n - behind))  # of a, b and c in their two pairs
    points = np.stack([mine + more for mine, more in votes])
    best = points == points.max(axis=0)
    if contest.order is None:
        shares = best / best.sum(axis=0)
    else:
        positions = np.where(best, np.array([contest.order.index(c) for c in range(3)])[:, None, None], 3)
        shares = np.where(positions == positions.min(axis=0), 1.0, 0.0)
    wins, defined = np.zeros(points.shape[1:]), np.zeros(points.shape[1:], dtype=np.bool_)
    for w, (mine, more) in enumerate(votes):
        beats = (2 * mine > n) & (2 * more > n)
        wins = np.where(beats, shares[w], wins)
        defined = defined | beats
    return wins, defined
