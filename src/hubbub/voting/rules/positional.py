"""Positional scoring: a place on a ballot is worth points, and most points win. Plurality and Borda are two of them.

A truncated ballot gives its points to whom it ranks, from the first place on; who is not ranked scores 0 from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result
from hubbub.voting.rules.piles import position_counts
from hubbub.voting.rules.score import points_run
from hubbub.voting.rules.selection import OnTops
from hubbub.voting.ties import RANDOM, Ties, best


@dataclass(frozen=True, slots=True, kw_only=True)
class Plurality(OnTops):
    """Whoever is first choice of the most voters wins."""

    ties: Ties = RANDOM

    name = "plurality"
    why = "a tie for the most top choices"

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        return best(counts, names, self.ties)


class _PointsOfRanks:
    """A rule that gives points to places on a ballot."""

    __slots__ = ()
    name: ClassVar[str]
    ties: Ties

    def points_for(self, candidates: int) -> tuple[int, ...]:
        raise NotImplementedError

    def lottery(self, ballots: Ballots) -> Lottery:
        totals = scores(self.points_for(len(ballots.candidates)), ballots)
        return best(totals, ballots.candidates, self.ties)

    def run(self, ballots: Ballots, source: Source) -> Result:
        return points_run(self, self.ties, scores(self.points_for(len(ballots.candidates)), ballots), ballots, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Positional(_PointsOfRanks):
    """The j-th place on a ballot is worth points[j]; the most points win. One whole number for each candidate."""

    points: tuple[int, ...]
    ties: Ties = RANDOM

    name = "positional"

    def __post_init__(self) -> None:
        _check_points(self.points)

    def points_for(self, candidates: int) -> tuple[int, ...]:
        if len(self.points) != candidates:
            raise WrongUse(f"{candidates} candidates need {candidates} points, one a place, not {len(self.points)}")
        return self.points


@dataclass(frozen=True, slots=True, kw_only=True)
class Borda(_PointsOfRanks):
    """m - 1 points for the first place, m - 2 for the second, ..., 0 for the last of m.

    The thesis gives one point more to each place, which is the same on complete ballots. Here the last place and no
    place are worth the same.
    """

    ties: Ties = RANDOM

    name = "borda"

    def points_for(self, candidates: int) -> tuple[int, ...]:
        return tuple(range(candidates - 1, -1, -1))


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


def _check_points(points: Sequence[int]) -> None:
    if any(isinstance(value, bool) or not isinstance(value, int) or value < 0 for value in points):
        raise WrongUse("points must be whole numbers of at least 0, one for each place on a ballot")
    if not points or max(points) == min(points):
        raise WrongUse("points must differ between places, or every candidate would score the same")
