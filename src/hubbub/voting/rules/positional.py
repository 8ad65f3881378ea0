"""Positional scoring: a place on a ballot is worth points, and most points win. Plurality and Borda are two of them.

A truncated ballot gives its points to whom it ranks, from the first place on; who is not ranked scores 0 from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.piles import position_counts, top_counts
from hubbub.voting.rules.selection import run_on_tops
from hubbub.voting.ties import RANDOM, Ties, best

_TIE = "a tie for the most points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plurality:
    """Whoever is first choice of the most voters wins."""

    ties: Ties = RANDOM

    name = "plurality"
    why = "a tie for the most top choices"

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        return best(counts, names, self.ties)

    def lottery(self, ballots: Ballots) -> Lottery:
        counts, _ = top_counts(ballots.strictly(self.name))
        return self.chances(counts, ballots.candidates)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return run_on_tops(self, ballots, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Positional:
    """The j-th place on a ballot is worth points[j]; the most points win. One whole number for each candidate."""

    points: tuple[int, ...]
    ties: Ties = RANDOM

    name = "positional"

    def __post_init__(self) -> None:
        _checked(self.points)

    def points_for(self, candidates: int) -> tuple[int, ...]:
        if len(self.points) != candidates:
            raise WrongUse(f"{candidates} candidates need {candidates} points, one a place, not {len(self.points)}")
        return self.points

    def lottery(self, ballots: Ballots) -> Lottery:
        return _lottery(self.points_for(len(ballots.candidates)), self.ties, ballots)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return _run(self, self.points_for(len(ballots.candidates)), self.ties, ballots, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Borda:
    """m - 1 points for the first place, m - 2 for the second, ..., 0 for the last of m.

    The thesis gives one point more to each place, which is the same on complete ballots. Here the last place and no
    place are worth the same.
    """

    ties: Ties = RANDOM

    name = "borda"

    def points_for(self, candidates: int) -> tuple[int, ...]:
        return tuple(range(candidates - 1, -1, -1))

    def lottery(self, ballots: Ballots) -> Lottery:
        return _lottery(self.points_for(len(ballots.candidates)), self.ties, ballots)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return _run(self, self.points_for(len(ballots.candidates)), self.ties, ballots, source)


def scores(points: Sequence[int], ballots: Ballots) -> list[int]:
    """The points of each candidate, exactly."""
    ballots.strictly("positional scoring")
    worth = [position for position, value in enumerate(points) if value]
    counts = position_counts(ballots, worth)
    totals = [0] * len(ballots.candidates)
    for position, row in zip(worth, counts.tolist(), strict=True):
        for candidate, count in enumerate(row):
            totals[candidate] += points[position] * count
    return totals


def points_range(points: Sequence[int], *, truncated: bool) -> int:
    """R: the most that one ballot can put between two candidates.

    An unranked candidate scores 0, so where ballots may be truncated 0 is among the points.
    """
    values = (*points, 0) if truncated else tuple(points)
    return max(values) - min(values)


def _lottery(points: Sequence[int], ties: Ties, ballots: Ballots) -> Lottery:
    return best(scores(points, ballots), ballots.candidates, ties)


def _run(rule: Positional | Borda, points: Sequence[int], ties: Ties, ballots: Ballots, source: Source) -> Result:
    totals = scores(points, ballots)
    chance = Chance(source)
    winner = chance.pick(_TIE, ballots.candidates, best(totals, ballots.candidates, ties))
    return chance.result(
        rule, ballots, winner, (Round(counts=tuple(enumerate(totals)), exhausted=ballots.blank, what="points"),)
    )


def _checked(points: Sequence[int]) -> None:
    if any(isinstance(value, bool) or not isinstance(value, int) or value < 0 for value in points):
        raise WrongUse("points must be whole numbers of at least 0, one for each place on a ballot")
    if not points or max(points) == min(points):
        raise WrongUse("points must differ between places, or every candidate would score the same")
