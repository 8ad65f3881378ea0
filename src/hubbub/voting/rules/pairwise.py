"""Who would win each pair: how many voters prefer one candidate to another, and who beats everybody."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots

MOST_WORK: Final = 4_000_000_000
"""Different ballots times pairs of candidates, at most: some seconds."""
_MOST_LISTED: Final = 40  # candidates up to whom every pair is told
_ROWS: Final = 1 << 15  # ballots at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """`table[i][j]` voters prefer candidate i to candidate j. A voter prefers whom she ranks to whom she does not."""

    candidates: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]

    @property
    def winner(self) -> int | None:
        """The Condorcet winner, who beats everybody else one to one; None where nobody does."""
        everyone = range(len(self.candidates))
        beats = (i for i in everyone if all(self.table[i][j] > self.table[j][i] for j in everyone if j != i))
        return next(beats, None)

    def pairs(self) -> list[tuple[int, int, int, int]]:
        """Each pair once, whoever has more first: (one, other, votes, votes)."""
        found = []
        for i, j in combinations(range(len(self.candidates)), 2):
            one, other = (i, j) if self.table[i][j] >= self.table[j][i] else (j, i)
            found.append((one, other, self.table[one][other], self.table[other][one]))
        return found

    def as_json(self) -> dict[str, Any]:
        names = self.candidates
        listed = self.pairs() if len(names) <= _MOST_LISTED else []
        return {
            "condorcet_winner": None if self.winner is None else names[self.winner],
            "pairs": [
                {
                    "winner": names[one] if more > less else None,
                    "pair": [names[one], names[other]],
                    "votes": [more, less],
                }
                for one, other, more, less in listed
            ],
        }

    def sentence(self) -> str:
        if self.winner is None:
            return "Nobody beats everybody else one to one: there is no Condorcet winner."
        return f"{self.candidates[self.winner]} beats everybody else one to one (the Condorcet winner)."


def pairwise(ballots: Ballots) -> Pairwise | None:
    """The table of all pairs; None where it would take too long.

    Guarantee: exact, over strict ballots; of two whom a ballot leaves out it prefers neither.
    """
    ballots.strictly("a comparison of pairs")
    m = len(ballots.candidates)
    if len(ballots.rankings) * m * m > MOST_WORK:
        return None
    table = np.zeros((m, m), dtype=np.int64)
    for start in range(0, len(ballots.rankings), _ROWS):
        rows, weights = ballots.rankings[start : start + _ROWS], ballots.weights[start : start + _ROWS]
        table += _compare_pairs(rows, weights, m)
    return Pairwise(candidates=ballots.candidates, table=tuple(tuple(row) for row in table.tolist()))


def _compare_pairs(rows: NDArray[np.integer], weights: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    rank = np.full((len(rows), m + 1), m, dtype=np.int64)  # the last column takes what stands for nobody
    for at in range(m - 1, -1, -1):
        rank[np.arange(len(rows)), rows[:, at]] = at
    rank = rank[:, :m]
    exact = weights.astype(np.float64)  # below 2^53: sums in floats are whole numbers
    return np.stack([exact @ (rank[:, i : i + 1] < rank) for i in range(m)]).astype(np.int64)
