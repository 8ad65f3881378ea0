"""Rules by which the most points win: places on a ballot are worth points, or a ballot gives them itself.

A truncated ballot gives its points to whom it ranks, from the first place on; who is not ranked scores 0 from it. By
score a voter gives each candidate points on one scale, and approval has the scale 0 to 1. Ballots of scores are kept as
levels (:mod:`hubbub.voting.ballots`): the top of the scale less the score, so that level 0 is the top, and -1 where no
score was given, which is worth nothing.

STAR is scores, then an automatic runoff: the two with the most points meet, and whom more ballots score higher wins. A
tie for a place in the runoff is broken as `ties` says. Where as many ballots prefer one finalist as the other, the one
with more points wins; where those are equal too, it is a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.piles import position_counts
from hubbub.voting.rules.selection import OnTops
from hubbub.voting.ties import RANDOM, FixedTies, Ties, best, positions_in


class MostPoints:
    """A rule by which the most points win."""

    __slots__ = ()
    name: ClassVar[str]
    unit: ClassVar[str] = "points"
    ties: Ties

    def totals(self, ballots: Ballots) -> list[int]:
        """The points of each candidate, exactly."""
        raise NotImplementedError

    def lottery(self, ballots: Ballots) -> Lottery:
        return best(self.totals(ballots), ballots.candidates, self.ties)

    def run(self, ballots: Ballots, source: Source) -> Result:
        """One round of points, and the draw among those who have the most."""
        totals, chance = self.totals(ballots), Chance(source)
        law = best(totals, ballots.candidates, self.ties)
        winner = chance.pick(f"a tie for the most {self.unit}", ballots.candidates, law)
        counted = Round(counts=tuple(enumerate(totals)), exhausted=ballots.blank, what=self.unit)
        return chance.result(self, ballots, winner, (counted,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(MostPoints):
    """The most points win; `top` is the highest score that a ballot of the file gives."""

    top: int
    ties: Ties = RANDOM

    name = "score"
    marks = "scores"

    def __post_init__(self) -> None:
        if self.top < 1:
            raise WrongUse(f"the highest score must be at least 1, not {self.top}")

    def totals(self, ballots: Ballots) -> list[int]:
        return level_points(ballots, self.top, self.name)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(MostPoints):
    """Whom the most voters approve of wins."""

    ties: Ties = RANDOM

    name = "approval"
    unit = marks = "approvals"

    def totals(self, ballots: Ballots) -> list[int]:
        return level_points(ballots, 1, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plurality(OnTops):
    """Whoever is first choice of the most voters wins."""

    ties: Ties = RANDOM

    name = "plurality"
    why = "a tie for the most top choices"

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        return best(counts, names, self.ties)


class _PointsOfRanks(MostPoints):
    """A rule that gives points to places on a ballot."""

    __slots__ = ()

    def points_for(self, candidates: int) -> tuple[int, ...]:
        raise NotImplementedError

    def totals(self, ballots: Ballots) -> list[int]:
        return scores(self.points_for(len(ballots.candidates)), ballots)


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
