"""STAR: scores, then an automatic runoff. The two with the most points meet, and whom more ballots score higher wins.

Ballots of scores are kept as levels (:mod:`hubbub.voting.rules.score`). A tie for a place in the runoff is broken as
`ties` says. Where as many ballots prefer one finalist as the other, the one with more points wins; where those are
equal too, it is a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.score import level_points
from hubbub.voting.ties import RANDOM, FixedTies, Ties, best, positions_in

_PREFERRED = "ballots that score one of the two higher"


@dataclass(frozen=True, slots=True, kw_only=True)
class Star:
    """Score, then the runoff of two; `top` is the highest score that a ballot of the file gives."""

    top: int
    ties: Ties = RANDOM

    name = "star"
    marks = "scores"

    def __post_init__(self) -> None:
        if self.top < 1:
            raise WrongUse(f"the highest score must be at least 1, not {self.top}")

    def lottery(self, ballots: Ballots) -> Lottery:
        """Guarantee: exact, over every two whom ties may send to the runoff, all alike."""
        points = level_points(ballots, self.top, self.name)
        law = [Fraction(0)] * len(points)
        sure, tied, places = self._finalists(points, ballots.candidates)
        meetings = [(*sure, *others) for others in combinations(tied, places)]
        for finalists in meetings:
            one, other = sorted(finalists)
            _, shares = self._runoff(ballots, points, one, other)
            for i, share in zip((one, other), shares, strict=True):
                law[i] += share / len(meetings)
        return tuple(law)

    def run(self, ballots: Ballots, source: Source) -> Result:
        names, chance = ballots.candidates, Chance(source)
        points = level_points(ballots, self.top, self.name)
        sure, tied, places = self._finalists(points, names)
        finalists = list(sure)
        while places:
            at = 0
            if len(tied) > places:
                at = chance.even("who goes to the runoff of those with equal points", [names[i] for i in tied])
            finalists.append(tied.pop(at))
            places -= 1
        one, other = sorted(finalists)
        votes, shares = self._runoff(ballots, points, one, other)
        at = chance.pick("a tie between the two of the runoff", [names[one], names[other]], shares)
        out = tuple(i for i in range(len(names)) if i not in (one, other))
        return chance.result(
            self,
            ballots,
            (one, other)[at],
            (
                Round(counts=tuple(enumerate(points)), eliminated=out, exhausted=ballots.blank, what="points"),
                Round(
                    counts=((one, votes[0]), (other, votes[1])),
                    exhausted=ballots.voters - sum(votes),
                    what=_PREFERRED,
                ),
            ),
        )

    def _finalists(self, points: Sequence[int], names: Sequence[str]) -> tuple[list[int], list[int], int]:
        """Who is in the runoff for certain, who are tied for the places left, and how many those are."""
        level = sorted(points, reverse=True)[1]
        sure = [i for i, count in enumerate(points) if count > level]
        tied = [i for i, count in enumerate(points) if count == level]
        if isinstance(self.ties, FixedTies):
            tied = sorted(tied, key=positions_in(self.ties.order, names).__getitem__)[: 2 - len(sure)]
        return sure, tied, 2 - len(sure)

    def _runoff(self, ballots: Ballots, points: Sequence[int], one: int, other: int) -> tuple[list[int], Lottery]:
        """How many ballots score each of the two higher, and the chance of each."""
        scores = np.where(ballots.levels < 0, 0, self.top - ballots.levels.astype(np.int64))
        votes = [int(ballots.tied_weights[scores[:, i] > scores[:, j]].sum()) for i, j in ((one, other), (other, one))]
        names = [ballots.candidates[i] for i in (one, other)]
        by = votes if votes[0] != votes[1] else [points[one], points[other]]
        return votes, best(by, names, self.ties)
