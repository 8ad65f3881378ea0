"""What running a rule gives: the winner, every round, and every draw that chance made. A record, never re-run."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.voting.protocol import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """`ballots` left the pile of `origin` for that of `target` (None: they rank nobody who is left)."""

    origin: int
    target: int | None
    ballots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Chance chose one of `among`, each with its probability; `why` says what was left to chance.

    What was drawn is `number`, one of 0 to `of` - 1, all alike: the first of `among` has the lowest of them, as many as
    its probability is of all, and so on.
    """

    why: str
    among: tuple[str, ...]
    chances: tuple[Fraction, ...]
    chosen: str
    number: int
    of: int
    by_hand: bool = False  # somebody was asked, and nothing was drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The counts of the candidates still in, who went, and where their ballots went.

    `exhausted` ballots rank nobody who is in; where top choices are counted, they and the counts add up to all voters.
    `margin` is the whole number that differences were held against, None where none was.
    """

    counts: tuple[tuple[int, int], ...]  # candidate and count, candidates in their order
    eliminated: tuple[int, ...] = ()
    margin: int | None = None
    exhausted: int = 0
    transfers: tuple[Transfer, ...] = ()
    what: str = "top choices"

    @property
    def remaining(self) -> tuple[int, ...]:
        """Who was still in when the round was counted."""
        return tuple(candidate for candidate, _ in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run of `rule`: nothing here is worked out again, and no draw is repeated."""

    rule: Rule
    candidates: tuple[str, ...]
    voters: int
    winner: int
    rounds: tuple[Round, ...]
    draws: tuple[Draw, ...] = ()
    secure: bool = False  # whether every draw came from the operating system

    @property
    def winner_name(self) -> str:
        return self.candidates[self.winner]
