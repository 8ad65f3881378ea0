"""Rules that no lie beats whatever the others do: the last stage of an election may be any of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.piles import top_counts
from hubbub.voting.ties import first


class OnTops:
    """A rule that looks at the number of top choices of each candidate, if at anything."""

    __slots__ = ()
    name: ClassVar[str]
    why: ClassVar[str]

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        raise NotImplementedError

    def lottery(self, ballots: Ballots) -> Lottery:
        return self.chances(top_counts(ballots.strictly(self.name))[0], ballots.candidates)

    def run(self, ballots: Ballots, source: Source) -> Result:
        """One round of top choices, and the draw that the rule makes of it."""
        counts, blank = top_counts(ballots.strictly(self.name))
        chance = Chance(source)
        winner = chance.pick(self.why, ballots.candidates, self.chances(counts, ballots.candidates))
        return chance.result(self, ballots, winner, (Round(counts=tuple(enumerate(counts)), exhausted=blank),))


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomDictator(OnTops):
    """The first choice of a voter drawn uniformly from those who have one; if nobody has, of all candidates one.

    Guarantee: strategy-proof for every belief and utility: the ballot that is drawn decides alone, and the others
    count for nothing (Gibbard 1977).
    """

    name = "random-dictator"
    why = "whose ballot decides"

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        total = sum(counts)
        if not total:
            return even(len(counts))
        return tuple(Fraction(count, total) for count in counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot(OnTops):
    """A candidate drawn uniformly, whatever the ballots say.

    Guarantee: strategy-proof, because it does not depend on any ballot (thesis, Example 23).
    """

    name = "lot"
    why = "a lot among those who are left"

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        return even(len(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstInOrder(OnTops):
    """Whoever comes first in an order that was fixed before the ballots were in, and names every candidate.

    Guarantee: strategy-proof, because it does not depend on any ballot (thesis, Example 23). It is not neutral: the
    order favours some candidates.
    """

    order: tuple[str, ...]

    name = "first-in-order"
    why = "nothing"

    def chances(self, counts: Sequence[int], names: Sequence[str]) -> Lottery:
        chosen = first(self.order, names, range(len(names)))
        return tuple(Fraction(int(i == chosen)) for i in range(len(names)))


def even(candidates: int) -> Lottery:
    return (Fraction(1, candidates),) * candidates
