"""Ranked pairs (Tideman 1987): pairs are locked in by their margin, the largest first, unless that closes a circle.

Whoever no locked pair puts below somebody wins. Equal margins are taken in an order that is drawn, or in one fixed
beforehand (by the winner of the pair, then by the loser, the last one first). A pair that lies on no circle of those
locked and those to come is locked in every order, so nothing is drawn for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby

from hubbub.errors import Refused
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Round
from hubbub.voting.rules.pairs.method import MOST_BRANCHES, TOO_MANY, PairCount
from hubbub.voting.ties import best

Pair = tuple[int, int]  # who wins it, who loses it
Below = tuple[int, ...]
"""For each candidate, those whom locked pairs put below, each a bit."""


class RankedPairs:
    """Pairs by their margin, those that close a circle left out."""

    def law(self, pairs: PairCount) -> Lottery:
        m = len(pairs.names)
        states: dict[Below, Fraction] = {(0,) * m: Fraction(1)}
        for group in _groups(pairs):
            waiting, states = states, {}
            while waiting:
                following: dict[Below, Fraction] = {}
                for below, chance in waiting.items():
                    here, open_ = _settle(below, group)
                    if not open_:
                        states[here] = states.get(here, Fraction(0)) + chance
                    for pair in open_:
                        locked = _lock(here, pair)
                        following[locked] = following.get(locked, Fraction(0)) + chance / len(open_)
                if len(following) + len(states) > MOST_BRANCHES:
                    raise Refused(TOO_MANY)
                waiting = following
        law = [Fraction(0)] * m
        for below, chance in states.items():
            for i, share in enumerate(_first(below, pairs)):
                law[i] += chance * share
        return tuple(law)

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        below: Below = (0,) * len(pairs.names)
        for group in _groups(pairs):
            below, open_ = _settle(below, group)
            while open_:
                named = [f"{pairs.names[one]} over {pairs.names[other]}" for one, other in open_]
                below = _lock(below, open_[chance.even("which of equal pairs is locked next", named)])
                below, open_ = _settle(below, group)
        winner = chance.pick("nobody is locked above them", pairs.names, _first(below, pairs))
        counts = tuple((i, each.bit_count()) for i, each in enumerate(below))
        return winner, (Round(counts=counts, exhausted=pairs.blank, what="candidates locked below"),)


def _groups(pairs: PairCount) -> list[list[Pair]]:
    """Pairs of equal margin together, the largest first; each by itself where an order was fixed beforehand."""
    everyone, order = range(len(pairs.names)), pairs.order
    won = [(i, j) for i in everyone for j in everyone if pairs.margin(i, j) > 0]
    if order is not None:
        return [[pair] for pair in sorted(won, key=lambda p: (-pairs.margin(*p), order[p[0]], -order[p[1]]))]
    won.sort(key=lambda pair: -pairs.margin(*pair))
    return [list(group) for _, group in groupby(won, key=lambda pair: pairs.margin(*pair))]


def _lock(below: Below, pair: Pair) -> Below:
    one, other = pair
    more = below[other] | 1 << other
    return tuple(each | more if i == one or each >> one & 1 else each for i, each in enumerate(below))


def _settle(below: Below, group: Sequence[Pair]) -> tuple[Below, list[Pair]]:
    """Lock what every order locks; which pairs of the group are still open, and on a circle with one another.

    Guarantee: a pair between two strong components of those locked and open is on no circle, so no order leaves it
    out, and locking it first leaves out no other.
    """
    while True:
        open_ = [(i, j) for i, j in group if not below[i] >> j & 1 and not below[j] >> i & 1]
        reach = below
        for i, j in open_:
            reach = _lock(reach, (i, j))  # circles and all: who could come to be below whom
        sure = [(i, j) for i, j in open_ if not reach[j] >> i & 1]
        if not sure:
            return below, open_
        for pair in sure:
            below = _lock(below, pair)


def _first(below: Below, pairs: PairCount) -> Lottery:
    """Whom nobody is locked above; one of them where pairs are even."""
    beaten = _union(below)
    return best([int(not beaten >> i & 1) for i in range(len(below))], pairs.names, pairs.ties)


def _union(parts: Iterable[int]) -> int:
    found = 0
    for part in parts:
        found |= part
    return found
