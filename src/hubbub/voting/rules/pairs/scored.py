"""Rules of pairs that give each candidate one number, of which the highest wins.

========  =============================================================================================================
copeland  two points for each pair that is won, one for each that is even
minimax   whose worst pair is least bad, by the margin of votes
schulze   a path from one candidate to another is as strong as its weakest pair, by the votes for the winner of it;
          whoever has a path to each other as strong as the one back wins (Schulze 2011)
kemeny    the order of all candidates with which the most voters agree, pair by pair, has the winner first
black     whoever beats everybody; where nobody does, the most Borda points
========  =============================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hubbub.errors import Refused
from hubbub.runtime.frozen import dataclass
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Round
from hubbub.voting.rules.pairs.method import PairCount
from hubbub.voting.ties import best

MOST_ORDERED: Final = 14
"""Candidates, at most, whose orders Kemeny's rule goes through: 2^14 sets of them."""

DOUBLED: Final = "Borda points, doubled"


def copeland(pairs: PairCount) -> list[int]:
    """Twice the pairs that each wins, and those that are even once."""
    everyone = range(len(pairs.names))
    return [sum((pairs.margin(i, j) > 0) + (pairs.margin(i, j) >= 0) for j in everyone if j != i) for i in everyone]


def minimax(pairs: PairCount) -> list[int]:
    """The margin of the worst pair of each, and all voters more, so that none is below 0."""
    everyone = range(len(pairs.names))
    return [pairs.voters + min(pairs.margin(i, j) for j in everyone if j != i) for i in everyone]


def schulze(pairs: PairCount) -> list[int]:
    """To how many others each has a path as strong as the one back.

    Guarantee: paths are the strongest there are (Floyd and Warshall), in whole numbers.
    """
    table, everyone = pairs.table, range(len(pairs.names))
    path = [[table[i][j] if table[i][j] > table[j][i] else 0 for j in everyone] for i in everyone]
    for k in everyone:
        for i in everyone:
            for j in everyone:
                if i != j:
                    path[i][j] = max(path[i][j], min(path[i][k], path[k][j]))
    return [sum(path[i][j] >= path[j][i] for j in everyone if j != i) for i in everyone]


def kemeny(pairs: PairCount) -> list[int]:
    """For each candidate, the most agreement that an order has which puts that candidate first.

    Guarantee: the maximum over all orders, by sets of candidates: the best order of a set begins with one of them.
    """
    m = len(pairs.names)
    if m > MOST_ORDERED:
        raise Refused(f"kemeny goes through the orders of at most {MOST_ORDERED} candidates, and these are {m}")
    table = pairs.table
    most = [0] * (1 << m)  # of the candidates in a set, each a bit
    for members in range(1, 1 << m):
        inside = [i for i in range(m) if members >> i & 1]
        most[members] = max(sum(table[i][j] for j in inside if j != i) + most[members ^ (1 << i)] for i in inside)
    everyone = (1 << m) - 1
    return [sum(table[i][j] for j in range(m) if j != i) + most[everyone ^ (1 << i)] for i in range(m)]


def doubled_points(pairs: PairCount, members: tuple[int, ...]) -> list[int]:
    """Twice the Borda points of each member among them; a ballot that leaves out two gives each half a point of the
    other, so that whoever beats everybody has more than the mean."""
    return [sum(pairs.voters + pairs.margin(i, j) for j in members if j != i) for i in members]


def black(pairs: PairCount) -> list[int]:
    """Pairs won where somebody beats everybody, else twice the Borda points."""
    everyone = tuple(range(len(pairs.names)))
    if pairs.condorcet_winner() is None:
        return doubled_points(pairs, everyone)
    return [sum(pairs.margin(i, j) > 0 for j in everyone) for i in everyone]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The highest of `scores` wins; `what` they count."""

    scores: Callable[[PairCount], list[int]]
    what: Callable[[PairCount], str]

    def law(self, pairs: PairCount) -> Lottery:
        return best(self.scores(pairs), pairs.names, pairs.ties)

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        scores, what = self.scores(pairs), self.what(pairs)
        winner = chance.pick(f"a tie for the most {what}", pairs.names, best(scores, pairs.names, pairs.ties))
        return winner, (Round(counts=tuple(enumerate(scores)), exhausted=pairs.blank, what=what),)


SCORED: Final = {
    "copeland": Scored(scores=copeland, what=lambda _: "points for pairs"),
    "minimax": Scored(scores=minimax, what=lambda _: "worst margin plus all voters"),
    "schulze": Scored(scores=schulze, what=lambda _: "paths as strong as back"),
    "kemeny": Scored(scores=kemeny, what=lambda _: "agreements with the best order"),
    "black": Scored(scores=black, what=lambda pairs: DOUBLED if pairs.condorcet_winner() is None else "pairs won"),
}
