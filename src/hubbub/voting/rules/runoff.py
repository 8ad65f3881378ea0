"""Instant-runoff voting, the yardstick: strike out whoever has the fewest top choices until one is left."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.piles import Piles
from hubbub.voting.ties import RANDOM, FixedTies, Ties, best, positions_in

MOST_BRANCHES: Final = 20_000  # sets of candidates that ties can lead to
_TOO_MANY: Final = (
    f"ties lead to more than {MOST_BRANCHES} different sets of candidates, too many for the exact law of the winner; "
    "run the rule once, or break ties by a fixed order"
)


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
        """Guarantee: exact. Ties are followed along every branch, sets of candidates by their size, so that all ways
        that lead to one have been followed before it; losers whose ballots together are fewer than those of the next
        candidate go in every order, and so in one step."""
        full, order = Piles(ballots.strictly(self.name)), self._order(ballots)
        law = [Fraction(0)] * len(ballots.candidates)
        reached: list[dict[int, Fraction]] = [{} for _ in law]  # by how many are gone: who, as bits, and its chance
        reached[0][0] = Fraction(1)
        branches = 1
        for sets in reached:
            while sets:
                bits, chance = sets.popitem()
                gone = frozenset(i for i in range(len(law)) if bits >> i & 1)
                left, last = self._until_a_tie(full.without_candidates(gone), gone, order, ballots)
                if last is None:
                    for i, share in left.items():
                        law[i] += chance * share
                    continue
                bits = sum(1 << i for i in range(len(law)) if i not in left)
                larger, share = reached[len(law) - len(left) + 1], chance / len(last)
                for i in last:
                    known = larger.get(bits | 1 << i)
                    branches += known is None
                    if branches > MOST_BRANCHES:
                        raise Refused(_TOO_MANY)
                    larger[bits | 1 << i] = share if known is None else known + share
        return tuple(law)

    def _until_a_tie(
        self, piles: Piles, gone: frozenset[int], order: Sequence[int] | None, ballots: Ballots
    ) -> tuple[dict[int, Fraction], list[int] | None]:
        """Strike out until several may go next: who is left, with their chances if one of them wins now; who may go."""
        names = ballots.candidates
        left = [i for i in range(len(names)) if i not in gone]
        while True:
            counts = [piles.counts[i] for i in left]
            if len(left) == 1 or not any(counts):
                return dict(zip(left, best(counts, [names[i] for i in left], self.ties), strict=True)), None
            out = [left[i] for i in doomed_group(counts)]
            if not out:
                last = _last(left, counts, order)
                if len(last) > 1:
                    return dict.fromkeys(left, Fraction(0)), last
                out = last
            piles.strike(out)
            left = sorted({*left} - {*out})

    def _order(self, ballots: Ballots) -> list[int] | None:
        return positions_in(self.ties.order, ballots.candidates) if isinstance(self.ties, FixedTies) else None

    def run(self, ballots: Ballots, source: Source) -> Result:
        names = ballots.strictly(self.name).candidates
        piles, chance, order = Piles(ballots), Chance(source), self._order(ballots)
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
                last = _last(left, [count for _, count in counts], order)
                out = [last[chance.even(self.why, [names[i] for i in last])]]
            left = sorted({*left} - {*out})
            transfers = piles.strike(out) if len(left) > 1 else ()
            rounds.append(Round(counts=counts, eliminated=tuple(out), exhausted=exhausted, transfers=transfers))
        return chance.result(self, ballots, left[0], rounds)


def doomed_group(counts: Sequence[int]) -> list[int]:
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


def _last(left: Sequence[int], counts: Sequence[int], order: Sequence[int] | None) -> list[int]:
    """Who may go next: those with the fewest top choices, or the one of them that a fixed order puts last."""
    fewest = min(counts)
    last = [i for i, count in zip(left, counts, strict=True) if count == fewest]
    return last if order is None else [max(last, key=order.__getitem__)]
