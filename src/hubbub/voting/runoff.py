"""Instant-runoff voting, the yardstick: strike out whoever has the fewest top choices until one is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused
from hubbub.noise.source import Source
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.piles import Piles
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.ties import RANDOM, FixedTies, Ties, best, first

MOST_BRANCHES: Final = 20_000  # sets of candidates that ties can lead to


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantRunoff:
    """Repeatedly the candidate with the fewest top choices goes, until one is left.

    A ballot that ranks nobody who is in is exhausted and counts no further. A tie for the fewest is broken as `ties`
    says, by the draw of who goes; with a fixed order, whoever comes last in it goes. Candidates without any ballot
    go together, since no order among them changes anything.
    """

    ties: Ties = RANDOM

    name = "instant-runoff"
    why = "who goes of those with the fewest top choices"

    def lottery(self, ballots: Ballots) -> Lottery:
        """Guarantee: exact. Ties are followed along every branch; losers whose ballots together are fewer than those
        of the next candidate go in every order, and so in one step."""
        ballots.strictly(self.name)
        memory: dict[frozenset[int], Lottery] = {}
        return self._law(ballots, frozenset(), memory)

    def _law(self, ballots: Ballots, gone: frozenset[int], memory: dict[frozenset[int], Lottery]) -> Lottery:
        if gone in memory:
            return memory[gone]
        piles = Piles(ballots)
        if gone:
            piles.strike(sorted(gone))
        left = [i for i in range(len(ballots.candidates)) if i not in gone]
        law = None
        while law is None:
            counts = [piles.counts[i] for i in left]
            if len(left) == 1 or not any(counts):
                chances = best(counts, [ballots.candidates[i] for i in left], self.ties)
                law = _spread(chances, left, len(ballots.candidates))
            elif losers := doomed(counts):
                out = [left[i] for i in losers]
                piles.strike(out)
                left = [i for i in left if i not in out]
            else:
                law = self._mean_of_branches(ballots, left, self._last(ballots, left, counts), memory)
        if len(memory) >= MOST_BRANCHES:
            raise Refused(
                f"ties lead to more than {MOST_BRANCHES} different sets of candidates, too many for the exact law of "
                "the winner; run the rule once, or break ties by a fixed order"
            )
        memory[gone] = law
        return law

    def _mean_of_branches(
        self, ballots: Ballots, left: Sequence[int], last: Sequence[int], memory: dict[frozenset[int], Lottery]
    ) -> Lottery:
        gone = frozenset(range(len(ballots.candidates))).difference(left)
        laws = [self._law(ballots, gone | {i}, memory) for i in last]
        return tuple(sum(chances, Fraction(0)) / len(last) for chances in zip(*laws, strict=True))

    def _last(self, ballots: Ballots, left: Sequence[int], counts: Sequence[int]) -> list[int]:
        """Who may go next: those with the fewest top choices, or the one of them that a fixed order puts last."""
        fewest = min(counts)
        last = [i for i, count in zip(left, counts, strict=True) if count == fewest]
        if isinstance(self.ties, FixedTies):
            last = [first(self.ties.order[::-1], ballots.candidates, last)]
        return last

    def run(self, ballots: Ballots, source: Source) -> Result:
        names = ballots.strictly(self.name).candidates
        piles, chance = Piles(ballots), Chance(source)
        left, rounds = list(range(len(names))), list[Round]()
        while len(left) > 1:
            counts = tuple((i, piles.counts[i]) for i in left)
            exhausted = piles.exhausted
            empty = [i for i, count in counts if not count]
            if len(empty) == len(left):  # nobody has a ballot
                law = best([0] * len(left), [names[i] for i in left], self.ties)
                winner = left[chance.pick("nobody has a ballot", [names[i] for i in left], law)]
                out = [i for i in left if i != winner]
            elif empty:
                out = empty
            else:
                last = self._last(ballots, left, [count for _, count in counts])
                out = [last[chance.even(self.why, [names[i] for i in last])]]
            left = [i for i in left if i not in out]
            transfers = piles.strike(out) if len(left) > 1 else ()
            rounds.append(Round(counts=counts, eliminated=tuple(out), exhausted=exhausted, transfers=transfers))
        return Result(
            rule=self,
            candidates=names,
            voters=ballots.voters,
            winner=left[0],
            rounds=tuple(rounds),
            draws=tuple(chance.draws),
            secure=chance.secure,
        )


def doomed(counts: Sequence[int]) -> list[int]:
    """The smallest group of losers whose ballots together are fewer than anybody else's; empty if there is none.

    Guarantee: the group goes before anybody else does, in whatever order ties are broken: while some of it are in,
    one of them has the fewest, because they share fewer ballots than each of the others has.
    """
    order = sorted(range(len(counts)), key=counts.__getitem__)
    total = 0
    for size, i in enumerate(order[:-1], 1):
        total += counts[i]
        if total < counts[order[size]]:
            return order[:size]
    return []


def _spread(chances: Sequence[Fraction], left: Sequence[int], candidates: int) -> Lottery:
    law = [Fraction(0)] * candidates
    for i, chance in zip(left, chances, strict=True):
        law[i] = chance
    return tuple(law)
