"""Rules that look at pairs alone and elect whoever beats everybody one to one, if anybody does.

========  =============================================================================================================
copeland  two points for each pair that is won, one for each that is even; the most points win
minimax   whose worst pair is least bad, by the margin of votes
schulze   a path from one candidate to another is as strong as its weakest pair, by the votes for the winner of it;
          whoever has a path to each other as strong as the one back wins (Schulze 2011)
========  =============================================================================================================

Ties at the end are drawn, or broken by an order fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.voting.ballots import Ballots
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.rules.score import points_run
from hubbub.voting.ties import RANDOM, Ties, best

Table = Sequence[Sequence[int]]


def copeland(table: Table, voters: int) -> list[int]:
    """Twice the pairs that each wins, and those that are even once."""
    everyone = range(len(table))
    return [
        sum((table[i][j] > table[j][i]) + (table[i][j] >= table[j][i]) for j in everyone if j != i) for i in everyone
    ]


def minimax(table: Table, voters: int) -> list[int]:
    """The margin of the worst pair of each, and all voters more, so that none is below 0."""
    everyone = range(len(table))
    return [voters + min(table[i][j] - table[j][i] for j in everyone if j != i) for i in everyone]


def schulze(table: Table, voters: int) -> list[int]:
    """To how many others each has a path as strong as the one back.

    Guarantee: paths are the strongest there are (Floyd and Warshall), in whole numbers.
    """
    everyone = range(len(table))
    path = [[table[i][j] if table[i][j] > table[j][i] else 0 for j in everyone] for i in everyone]
    for k in everyone:
        for i in everyone:
            for j in everyone:
                if i != j:
                    path[i][j] = max(path[i][j], min(path[i][k], path[k][j]))
    return [sum(path[i][j] >= path[j][i] for j in everyone if j != i) for i in everyone]


_SCORES: Final[Mapping[str, tuple[Callable[[Table, int], list[int]], str]]] = {
    "copeland": (copeland, "points for pairs"),
    "minimax": (minimax, "worst margin plus all voters"),
    "schulze": (schulze, "paths as strong as back"),
}
PAIR_RULES: Final = tuple(_SCORES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule:
    """One of the rules above, by its name.

    Guarantee: a candidate who beats every other one to one is elected, whatever the ties.
    """

    name: str
    ties: Ties = RANDOM

    def __post_init__(self) -> None:
        if self.name not in PAIR_RULES:
            raise WrongUse(f"there is no rule {self.name[:40]!r} for pairs; there are {', '.join(PAIR_RULES)}")

    def scores(self, ballots: Ballots) -> list[int]:
        """What each candidate is worth; the highest wins."""
        pairs = pairwise(ballots.strictly(self.name))
        if pairs is None:
            raise Refused(
                f"{self.name} compares all pairs on all ballots, which are too many here; choose another rule"
            )
        return _SCORES[self.name][0](pairs.table, ballots.voters)

    def lottery(self, ballots: Ballots) -> Lottery:
        return best(self.scores(ballots), ballots.candidates, self.ties)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return points_run(self, self.ties, self.scores(ballots), ballots, source, _SCORES[self.name][1])
