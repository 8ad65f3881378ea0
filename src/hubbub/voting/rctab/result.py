"""What a count by an office's configuration gives: every round, every tie, who is elected."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.numeric.exact import to_text


@dataclass(frozen=True, slots=True)
class ConfiguredRound:
    """The votes of everybody who is in or elected, and what followed from them."""

    threshold: Fraction
    tally: tuple[tuple[str, Fraction], ...]
    exhausted: Fraction
    elected: tuple[str, ...] = ()
    eliminated: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "threshold": to_text(self.threshold),
            "tally": {name: to_text(votes) for name, votes in self.tally},
            "exhausted": to_text(self.exhausted),
            "elected": list(self.elected),
            "eliminated": list(self.eliminated),
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
            sentence = "Nobody is elected yet: the configuration stops the count before."
        else:
            sentence = f"Elected: {', '.join(self.winners)}."
        return [sentence, *self.ties, "Nothing is promised about lies in a count by an office's configuration."]
