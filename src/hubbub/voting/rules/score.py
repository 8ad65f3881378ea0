"""Score voting: a voter gives each candidate points on one scale, and the most points win. Approval: the scale is 0 to 1.

Ballots of scores are kept as levels (:mod:`hubbub.voting.ballots`): the top of the scale less the score, so that level
0 is the top, and -1 where no score was given, which is worth nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery, Rule
from hubbub.voting.result import Result, Round
from hubbub.voting.ties import RANDOM, Ties, best


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The most points win; `top` is the highest score that a ballot of the file gives."""

    top: int
    ties: Ties = RANDOM

    name = "score"
    marks = "scores"

    def __post_init__(self) -> None:
        if self.top < 1:
            raise WrongUse(f"the highest score must be at least 1, not {self.top}")

    def lottery(self, ballots: Ballots) -> Lottery:
        return best(level_points(ballots, self.top, self.name), ballots.candidates, self.ties)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return points_run(self, self.ties, level_points(ballots, self.top, self.name), ballots, source)


def level_points(ballots: Ballots, top: int, rule: str) -> list[int]:
    """The points of each candidate: level v of a ballot is worth `top` - v.

    Guarantee: exact; weights are added as whole numbers, level by level.
    """
    if len(ballots.rankings):
        raise WrongUse(f"{rule} counts approvals or scores, and these ballots are rankings; choose a rule for rankings")
    totals = [0] * len(ballots.candidates)
    for level in np.unique(ballots.levels).tolist():
        if level < 0:
            continue
        if level > top:
            raise WrongUse(f"a ballot gives a score below 0, since the highest is said to be {top}; check the scale")
        here = (ballots.levels == level).T  # candidates, ballots
        for candidate, chosen in enumerate(here):
            totals[candidate] += (top - level) * int(ballots.tied_weights[chosen].sum())
    return totals


def points_run(
    rule: Rule, ties: Ties, totals: Sequence[int], ballots: Ballots, source: Source, what: str = "points"
) -> Result:
    """One round of points, and the draw among those who have the most."""
    chance = Chance(source)
    winner = chance.pick(f"a tie for the most {what}", ballots.candidates, best(totals, ballots.candidates, ties))
    counted = Round(counts=tuple(enumerate(totals)), exhausted=ballots.blank, what=what)
    return chance.result(rule, ballots, winner, (counted,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Whom the most voters approve of wins."""

    ties: Ties = RANDOM

    name = "approval"
    marks = "approvals"

    def lottery(self, ballots: Ballots) -> Lottery:
        return best(level_points(ballots, 1, self.name), ballots.candidates, self.ties)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return points_run(self, self.ties, level_points(ballots, 1, self.name), ballots, source, "approvals")
