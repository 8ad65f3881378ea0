"""Stage 1 of an election in two stages: who is left after a count with a margin. It draws nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from hubbub.voting.ballots import Ballots
from hubbub.voting.result import Round
from hubbub.voting.rules import margins
from hubbub.voting.rules.piles import Piles
from hubbub.voting.rules.positional import Borda, Plurality, Positional, points_range, scores
from hubbub.voting.rules.threshold import ForGain, Margin, threshold

DEFAULT: Final = ForGain()


@dataclass(frozen=True, slots=True)
class Kept:
    """Who is left after stage 1, the rounds that led there, and their top choices among themselves, if counted."""

    remaining: tuple[int, ...]
    rounds: tuple[Round, ...]
    tops: tuple[int, ...] | None


class Elimination(Protocol):
    """Stage 1: which candidates are left. It draws nothing."""

    def kept(self, ballots: Ballots) -> Kept: ...  # pragma: no cover


@dataclass(frozen=True, slots=True, kw_only=True)
class NearBest:
    """Until nobody goes: count top choices, and strike out all whose count is not within the margin of the highest."""

    margin: Margin = DEFAULT

    def kept(self, ballots: Ballots) -> Kept:
        within = threshold(self.margin, margins.REPEATED_PLURALITY, ballots.voters, len(ballots.candidates))
        return _repeatedly(ballots, within, lambda count, least, most: most - count > within)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearWorst:
    """Strike out all whose count of top choices is within the margin of the lowest, again, unless nobody would stay."""

    margin: Margin = DEFAULT

    def kept(self, ballots: Ballots) -> Kept:
        within = threshold(self.margin, margins.APPROXIMATE_RUNOFF, ballots.voters, len(ballots.candidates))
        return _repeatedly(ballots, within, lambda count, least, most: count - least <= within < most - least)


class _Goes(Protocol):
    def __call__(self, count: int, least: int, most: int) -> bool: ...  # pragma: no cover


def _repeatedly(ballots: Ballots, within: int, goes: _Goes) -> Kept:
    piles = Piles(ballots)
    left, rounds = list(range(len(ballots.candidates))), list[Round]()
    while True:
        counts = tuple((i, piles.counts[i]) for i in left)
        values = [count for _, count in counts]
        least, most = min(values), max(values)
        out = [i for i, count in counts if goes(count, least, most)]
        exhausted = piles.exhausted
        transfers = piles.strike(out) if out else ()
        rounds.append(
            Round(counts=counts, eliminated=tuple(out), margin=within, exhausted=exhausted, transfers=transfers)
        )
        if not out:
            return Kept(tuple(left), tuple(rounds), tuple(values))
        left = [i for i in left if i not in out]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearBestScore:
    """Score once, and strike out all whose score is not within the margin of the highest."""

    scoring: Plurality | Positional | Borda = field(default_factory=Borda)
    margin: Margin = DEFAULT

    def points(self, candidates: int) -> tuple[int, ...]:
        if isinstance(self.scoring, Plurality):
            return (1, *(0,) * (candidates - 1))
        return self.scoring.points_for(candidates)

    def kept(self, ballots: Ballots) -> Kept:
        points = self.points(len(ballots.candidates))
        span = points_range(points, truncated=ballots.truncated > 0)
        within = threshold(self.margin, margins.SCORING, ballots.voters, len(ballots.candidates), span)
        totals = scores(points, ballots)
        most = max(totals)
        out = tuple(i for i, total in enumerate(totals) if most - total > within)
        counted = Round(
            counts=tuple(enumerate(totals)), eliminated=out, margin=within, exhausted=ballots.blank, what="points"
        )
        return Kept(tuple(i for i in range(len(totals)) if i not in out), (counted,), None)
