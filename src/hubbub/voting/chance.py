"""Exact draws for one run of a rule, each written down as it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, TypeAlias

from hubbub.errors import WrongUse
from hubbub.noise.source import Source, Words, is_secure
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.result import Draw, Result, Round

if TYPE_CHECKING:
    from hubbub.voting.protocol import Rule

Ask: TypeAlias = Callable[[str, Sequence[str]], str]
"""Who of those named is chosen, given what the tie is about."""


@dataclass(frozen=True, slots=True)
class TiesByHand:
    """In the place of a source: it gives no words, and puts each tie to somebody."""

    ask: Ask

    def words(self, n: int) -> Words:
        """Guarantee: no word is given, so no draw passes for an answer."""
        raise WrongUse("this rule leaves more to chance than ties, which nobody can answer; let it be drawn")

    def choose(self, why: str, names: Sequence[str]) -> int:
        """Which of them, as somebody says."""
        chosen = self.ask(why, names)
        if chosen not in names:
            raise WrongUse(f"a tie is broken in favour of one of {', '.join(names)[:200]}, not {chosen[:40]!r}")
        return list(names).index(chosen)


class Chance:
    """Draws from `source`, or asks it where it answers, and keeps a record. One of these lives as long as one run."""

    __slots__ = ("_source", "draws")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.draws: list[Draw] = []

    @property
    def secure(self) -> bool:
        return is_secure(self._source)

    def _answer_by_hand(self, answers: TiesByHand, why: str, names: Sequence[str]) -> int:
        i = answers.choose(why, names)
        alike = (Fraction(1, len(names)),) * len(names)
        self.draws.append(
            Draw(why=why, among=tuple(names), chances=alike, chosen=names[i], number=i, of=len(names), by_hand=True)
        )
        return i

    def pick(self, why: str, names: Sequence[str], chances: Sequence[Fraction]) -> int:
        """Which of `names`, each with its chance. What is certain is not drawn and not written down.

        Guarantee: exactly these chances, if the source gives uniform independent words.
        """
        possible = [i for i, chance in enumerate(chances) if chance]
        if len(possible) == 1:
            return possible[0]
        if isinstance(self._source, TiesByHand) and len({chances[i] for i in possible}) == 1:
            return possible[self._answer_by_hand(self._source, why, [names[i] for i in possible])]
        denominator = lcm(*(chances[i].denominator for i in possible))
        left = number = below(denominator, self._source)
        for i in possible:
            left -= chances[i].numerator * (denominator // chances[i].denominator)
            if left < 0:
                break
        among = tuple(names[j] for j in possible)
        drawn = tuple(chances[j] for j in possible)
        self.draws.append(Draw(why=why, among=among, chances=drawn, chosen=names[i], number=number, of=denominator))
        return i

    def even(self, why: str, names: Sequence[str]) -> int:
        """One of `names`, all alike.

        Guarantee: uniform, if the source gives uniform independent words.
        """
        if len(names) == 1:
            return 0
        if isinstance(self._source, TiesByHand):
            return self._answer_by_hand(self._source, why, names)
        i = below(len(names), self._source)
        alike = (Fraction(1, len(names)),) * len(names)
        self.draws.append(Draw(why=why, among=tuple(names), chances=alike, chosen=names[i], number=i, of=len(names)))
        return i

    def result(self, rule: Rule, ballots: Ballots, winner: int, rounds: Iterable[Round]) -> Result:
        """What the run of a rule came to, with every draw that was made."""
        return Result(
            rule=rule,
            candidates=ballots.candidates,
            voters=ballots.voters,
            winner=winner,
            rounds=tuple(rounds),
            draws=tuple(self.draws),
            secure=self.secure,
        )


def below(bound: int, source: Source) -> int:
    """A whole number from 0 to bound - 1.

    Guarantee: uniform, if the source gives uniform independent words: bits are drawn until they make a number below
    the bound, which takes two rounds at most on average.
    """
    bits = (bound - 1).bit_length()
    words = -(-bits // 64)
    while True:
        number = 0
        for word in source.words(words).tolist():
            number = number << 64 | word
        number >>= 64 * words - bits
        if number < bound:
            return number
