"""Ties that somebody breaks: they are asked, and every answer goes into the result as a draw does.

An answer is no chance, so a rule that leaves more to chance than ties takes none, and nothing is promised about lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hubbub.errors import CheckFailed, WrongUse
from hubbub.voting.protocol import Rule
from hubbub.voting.rules.elimination import ScoringElimination
from hubbub.voting.rules.punishing import Mix, Punishing
from hubbub.voting.rules.selection import Lot, RandomDictator
from hubbub.voting.rules.stv import TransferableVote
from hubbub.voting.rules.transfers.random_transfer import RandomTransfer


def check_by_hand(rule: Rule | TransferableVote) -> None:
    """Refuse a rule that leaves more to chance than ties."""
    if isinstance(rule, TransferableVote):
        chance = isinstance(rule.rules, RandomTransfer)
        name = rule.rules.name
    else:
        last = rule.then if isinstance(rule, ScoringElimination) else rule
        chance, name = isinstance(last, Mix | Punishing | Lot | RandomDictator), rule.name
    if chance:
        raise WrongUse(
            f"{name} leaves more to chance than ties, which nobody can answer; draw from public words with `dice`, or "
            "choose another rule"
        )


class RecordedAnswers:
    """The answers of a record, one after the other; `is_used_up` says whether all were asked for."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._left: Iterator[str] = iter(answers)
        self._many, self._taken = len(answers), 0

    @property
    def is_used_up(self) -> bool:
        return self._taken == self._many

    def __call__(self, why: str, names: Sequence[str]) -> str:
        answer = next(self._left, None)
        if answer is None or answer not in names:
            raise CheckFailed("a tie of the count has no answer in the record that fits it; was it changed?")
        self._taken += 1
        return answer
