"""What a lie gains, as an exact rational: every profile of the others, one by one.

N ballots over s rankings make C(N + s - 1, s - 1) profiles. Each is counted once for each report, all in whole
numbers, and only those in which some report changes the chances of winning get a probability, so that two rankings
and ten thousand voters are still a matter of a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from hubbub.errors import WrongUse
from hubbub.voting.manipulation.beliefs import Belief, Ranking
from hubbub.voting.manipulation.gain_winners import Contest, Integers, Tally, denominator, lotteries

MOST_COUNTED: Final = 3_000_000
"""Profiles times reports, at most."""

_BATCH: Final = 1 << 16  # profiles at once


def profiles(belief: Belief, voters: int) -> int:
    """How many profiles the others may make."""
    return math.comb(voters - 2 + len(belief.shares), len(belief.shares) - 1)


def changes(
    belief: Belief, voters: int, contest: Contest, truth: Ranking, lies: Sequence[Ranking]
) -> dict[Ranking, tuple[Fraction, ...]]:
    """For every lie, by how much it moves the chance of each candidate to win.

    Guarantee: exact, the others' ballots being drawn independently from `belief` and ties broken as `contest` says.
    """
    found = profiles(belief, voters)
    if found * (1 + len(lies)) > MOST_COUNTED:
        raise WrongUse(
            f"{found:,} profiles for each of {1 + len(lies):,} reports are too many to go through; at most "
            f"{MOST_COUNTED:,} in all are: ask for a bound, or for a sample"
        )
    support = [ranking for ranking, _ in belief.shares]
    common = math.lcm(*(share.denominator for _, share in belief.shares))
    weights = [int(share * common) for _, share in belief.shares]
    m = len(belief.candidates)
    sums = {lie: [0] * m for lie in lies}
    everyone = _compositions(voters - 1, len(support))
    for start in range(0, len(everyone), _BATCH):
        batch = everyone[start : start + _BATCH]
        tally = Tally(support, m, batch)
        honest = lotteries(contest, tally, truth)
        moved = {lie: lotteries(contest, tally, lie) - honest for lie in lies}
        touched = np.zeros(len(batch), dtype=np.bool_)
        for change in moved.values():
            touched |= change.any(axis=1)
        for row in np.flatnonzero(touched):
            chance = _multinomial(batch[row].tolist(), weights)
            for lie, change in moved.items():
                for c, by in enumerate(change[row].tolist()):
                    sums[lie][c] += chance * by
    denominator_all = denominator(contest, m) * common ** (voters - 1)
    return {lie: tuple(Fraction(part, denominator_all) for part in total) for lie, total in sums.items()}


def _multinomial(counts: Sequence[int], weights: Sequence[int]) -> int:
    """The number of ways to make `counts`, each ballot of kind i in weights[i] ways."""
    total, left = 1, sum(counts)
    for count, weight in zip(counts, weights, strict=True):
        total *= math.comb(left, count) * weight**count
        left -= count
    return total


def _compositions(total: int, parts: int) -> Integers:
    """Every way to write `total` as an ordered sum of `parts` whole numbers of at least 0, one per row."""
    rows = np.array([[total]], dtype=np.int64)  # the last column is what is left to share
    for _ in range(parts - 1):
        left = rows[:, -1]
        again = np.repeat(rows, left + 1, axis=0)
        ends = np.cumsum(left + 1)
        taken = np.arange(ends[-1]) - np.repeat(ends - left - 1, left + 1)
        rows = np.column_stack([again[:, :-1], taken, again[:, -1] - taken])
    return rows
