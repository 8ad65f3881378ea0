"""Exact draws for one run of a rule, each written down as it is made."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from hubbub.noise.source import Source, is_secure
from hubbub.voting.result import Draw


class Chance:
    """Draws from `source` and keeps a record. One of these lives as long as one run."""

    __slots__ = ("_source", "draws")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.draws: list[Draw] = []

    @property
    def secure(self) -> bool:
        return is_secure(self._source)

    def pick(self, why: str, names: Sequence[str], chances: Sequence[Fraction]) -> int:
        """Which of `names`, each with its chance. What is certain is not drawn and not written down.

        Guarantee: exactly these chances, if the source gives uniform independent words.
        """
        possible = [i for i, chance in enumerate(chances) if chance]
        if len(possible) == 1:
            return possible[0]
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
        i = below(len(names), self._source)
        alike = (Fraction(1, len(names)),) * len(names)
        self.draws.append(Draw(why=why, among=tuple(names), chances=alike, chosen=names[i], number=i, of=len(names)))
        return i


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
