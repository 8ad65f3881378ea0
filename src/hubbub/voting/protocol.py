"""What every voting rule is: a value with a name, an exact law of the winner, and a run that records itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from hubbub.noise.source import Source
from hubbub.voting.ballots import Ballots
from hubbub.voting.result import Result

Lottery: TypeAlias = tuple[Fraction, ...]
"""The chance of each candidate to win, in their order. It sums to 1."""


@runtime_checkable
class Rule(Protocol):
    """A voting rule: it holds parameters and no ballots, and depends on ballots only through how many are alike."""

    @property
    def name(self) -> str:
        """As it is called on the command line."""
        ...  # pragma: no cover

    def lottery(self, ballots: Ballots) -> Lottery:
        """The exact law of the winner, given the ballots, over every draw that the rule makes."""
        ...  # pragma: no cover

    def run(self, ballots: Ballots, source: Source) -> Result:
        """Count, drawing from `source` where the rule leaves it to chance.

        Guarantee: the winner has the law of :meth:`lottery`. Draws are made here, after the ballots are in.
        """
        ...  # pragma: no cover


@runtime_checkable
class FromTops(Rule, Protocol):
    """A rule that looks at top choices only, so that it can go on from a count that is already made."""

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        """The law of the winner, given the top choices of each of `names`."""
        ...  # pragma: no cover

    @property
    def why(self) -> str:
        """What is left to chance."""
        ...  # pragma: no cover
