"""What a count for several seats gives: stage by stage, in exact fractions of votes. A record, never re-run."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words
from hubbub.runtime.frozen import dataclass
from hubbub.voting.result import Draw

if TYPE_CHECKING:
    from hubbub.voting.rules.stv import TransferableVote


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """`papers` left the pile of `origin` for that of `target` (None: they name nobody who is in), worth `votes`."""

    origin: int
    target: int | None
    papers: int
    votes: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The votes after something was done: first preferences counted, a surplus moved, a candidate excluded.

    `totals`, `exhausted` and `lost` (what is cut off after the last decimal place) always add up to the valid ballots.
    """

    what: str  # "first preferences", "surplus" or "exclusion"
    of: tuple[int, ...]  # whose surplus, or who was excluded
    totals: tuple[tuple[int, Fraction], ...]  # everybody's votes, candidates in their order
    exhausted: Fraction
    lost: Fraction
    moved: tuple[Moved, ...] = ()
    elected: tuple[int, ...] = ()  # deemed elected at the end of the stage, most votes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """One count for several seats: nothing here is worked out again, and no draw is repeated."""

    rule: TransferableVote
    candidates: tuple[str, ...]
    voters: int
    valid: int  # ballots that name somebody
    quota: Fraction
    elected: tuple[int, ...]  # in the order in which they were
    stages: tuple[Stage, ...]
    draws: tuple[Draw, ...] = ()
    secure: bool = False  # whether every draw came from the operating system

    @property
    def winner_names(self) -> tuple[str, ...]:
        return tuple(self.candidates[i] for i in self.elected)

    def as_json(self) -> dict[str, Any]:
        """All of it; votes are exact texts."""
        names = self.candidates
        return {
            "winners": list(self.winner_names),
            "rule": self.rule.name,
            "rules": self.rule.rules.name,
            "seats": self.rule.seats,
            "quota": int(self.quota) if self.quota.denominator == 1 else to_text(self.quota),
            "valid": self.valid,
            "stages": [
                {
                    "what": stage.what,
                    "of": [names[i] for i in stage.of],
                    "votes": {names[i]: to_text(votes) for i, votes in _by_votes(stage)},
                    "exhausted": to_text(stage.exhausted),
                    "lost_to_rounding": to_text(stage.lost),
                    "elected": [names[i] for i in stage.elected],
                    "transfers": [
                        {
                            "from": names[move.origin],
                            "to": None if move.target is None else names[move.target],
                            "papers": move.papers,
                            "votes": to_text(move.votes),
                        }
                        for move in stage.moved
                    ],
                }
                for stage in self.stages
            ],
        }

    def sentences(self) -> tuple[str, ...]:
        """The result, for people."""
        seats = self.rule.seats
        many = f"{seats} seats" if seats > 1 else "1 seat"
        return (
            f"{join_words(self.winner_names)} {'are' if len(self.elected) > 1 else 'is'} elected to {many}, by "
            f"{self.rule.rules.description}.",
            self.rule.rules.quota_sentence(seats, self.valid, self.quota),
        )


def _by_votes(stage: Stage) -> list[tuple[int, Fraction]]:
    return sorted(stage.totals, key=lambda pair: (-pair[1], pair[0]))
