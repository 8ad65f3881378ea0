"""Approval: a voter approves of as many candidates as she likes, and whom the most approve of wins.

Ballots of approvals are kept as levels (:mod:`hubbub.voting.ballots`): 0 for whom the voter approves of, -1 for others.
"""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.noise.source import Source
from hubbub.voting.ballots import Ballots
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result
from hubbub.voting.rules.score import level_points, points_run
from hubbub.voting.ties import RANDOM, Ties, best


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
