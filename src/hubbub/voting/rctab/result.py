"""What a count by an office's configuration gives: every round, every tie, who is elected."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass

OVERVOTES: Final = "overvotes"
SKIPPED: Final = "skipped ranks"
REPEATED: Final = "repeated names"
NO_CHOICE: Final = "no choice left"
REASONS: Final = (OVERVOTES, SKIPPED, NO_CHOICE, REPEATED)
"""Why a ballot counts for nobody."""

EXHAUSTED: Final = "(exhausted)"
ROUNDING: Final = "(lost to rounding)"
LAST_SURPLUS: Final = "(surplus of the last seats)"
"""Where votes go that go to nobody; no candidate is called so."""


def votes_text(votes: Fraction) -> str:
    """Votes with all their digits, thousands apart.

    >>> votes_text(Fraction("1827.26"))
    '1,827.26'
    """
    digits, point, decimals = to_text(votes).partition(".")
    return f"{int(digits):,}{point}{decimals}"


@dataclass(frozen=True, slots=True)
class Move:
    """Votes that go from a candidate to another, or nowhere, once a round is decided."""

    origin: str
    target: str
    votes: Fraction


@dataclass(frozen=True, slots=True)
class ConfiguredRound:
    """The votes of everybody who is in or elected, why the others count for nobody, and what followed."""

    threshold: Fraction
    tally: tuple[tuple[str, Fraction], ...]
    inactive: tuple[tuple[str, Fraction], ...]  # votes for each of REASONS
    elected: tuple[str, ...] = ()
    eliminated: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    last_surplus: Fraction = Fraction(0)  # what those had too much who took the last seats

    @property
    def exhausted_votes(self) -> Fraction:
        return sum((votes for _, votes in self.inactive), Fraction(0))

    def as_json(self) -> dict[str, Any]:
        return {
            "threshold": to_text(self.threshold),
            "tally": {name: to_text(votes) for name, votes in self.tally},
            "exhausted": to_text(self.exhausted_votes),
            "inactive": {why: to_text(votes) for why, votes in self.inactive},
            "last_surplus": to_text(self.last_surplus),
            "elected": list(self.elected),
            "eliminated": list(self.eliminated),
            "moves": [{"from": each.origin, "to": each.target, "votes": to_text(each.votes)} for each in self.moves],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredCount:
    """The rounds of each pass (one, unless seats are filled one election after the other), and how ties were broken."""

    title: str
    candidates: tuple[str, ...]
    cast: int
    undervotes: int
    passes: tuple[tuple[ConfiguredRound, ...], ...]
    winners: tuple[str, ...]
    ties: tuple[str, ...]
    mode: str
    answers: tuple[str, ...] = ()  # who was chosen by somebody who was asked, tie by tie

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "mode": self.mode,
            "winners": list(self.winners),
            "words": self.sentences(),
            "ballots": {"cast": self.cast, "undervotes": self.undervotes, "candidates": list(self.candidates)},
            "passes": [[counted.as_json() for counted in rounds] for rounds in self.passes],
            "ties": list(self.ties),
        }

    def sentences(self) -> list[str]:
        """Who is elected, and that nothing is promised."""
        if not self.winners:
            sentence = "Nobody is elected yet: the rules stop the count before."
        else:
            sentence = f"Elected: {', '.join(self.winners)}."
        return [sentence, *self.ties, "Nothing is promised about lies in a count by an office's rules."]
