"""Rules that strike out by Borda points, and count them again among those who are left.

=======  ==============================================================================================================
nanson   all who have the mean or less go, until one is left or all have the same (Nanson 1882)
baldwin  whoever has the fewest goes, until one is left (Baldwin 1926)
=======  ==============================================================================================================

A candidate who beats everybody has more than the mean in every round, and so is never struck out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub.errors import Refused
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Round
from hubbub.voting.rules.pairs.method import MOST_BRANCHES, TOO_MANY, PairCount
from hubbub.voting.rules.pairs.scored import DOUBLED, doubled_points
from hubbub.voting.ties import best


class Nanson:
    """All who have the mean of the points or less go at once."""

    def law(self, pairs: PairCount) -> Lottery:
        left, _ = self._left(pairs)
        return _among(left, pairs)

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        left, rounds = self._left(pairs)
        return chance.pick("all who are left have the same points", pairs.names, _among(left, pairs)), tuple(rounds)

    def _left(self, pairs: PairCount) -> tuple[tuple[int, ...], list[Round]]:
        left, rounds = tuple(range(len(pairs.names))), list[Round]()
        while True:
            points = doubled_points(pairs, left)
            mean = (len(left) - 1) * pairs.voters
            kept = tuple(i for i, count in zip(left, points, strict=True) if count > mean)
            out = tuple(i for i in left if i not in kept) if kept else ()
            rounds.append(_round(left, points, out, pairs))
            if not out:
                return left, rounds
            left = kept


class Baldwin:
    """Whoever has the fewest points goes; one of them where several have."""

    def law(self, pairs: PairCount) -> Lottery:
        law = [Fraction(0)] * len(pairs.names)
        states = {tuple(range(len(pairs.names))): Fraction(1)}
        while states:
            following: dict[tuple[int, ...], Fraction] = {}
            for left, chance in states.items():
                if len(left) == 1:
                    law[left[0]] += chance
                    continue
                last = self._last(left, doubled_points(pairs, left), pairs)
                for out in last:
                    rest = tuple(i for i in left if i != out)
                    following[rest] = following.get(rest, Fraction(0)) + chance / len(last)
            if len(following) > MOST_BRANCHES:
                raise Refused(TOO_MANY)
            states = following
        return tuple(law)

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        left, rounds = tuple(range(len(pairs.names))), list[Round]()
        while len(left) > 1:
            points = doubled_points(pairs, left)
            last = self._last(left, points, pairs)
            out = last[chance.even("who goes of those with the fewest points", [pairs.names[i] for i in last])]
            rounds.append(_round(left, points, (out,), pairs))
            left = tuple(i for i in left if i != out)
        return left[0], tuple(rounds)

    def _last(self, left: Sequence[int], points: Sequence[int], pairs: PairCount) -> list[int]:
        fewest, order = min(points), pairs.order
        last = [i for i, count in zip(left, points, strict=True) if count == fewest]
        return last if order is None else [max(last, key=order.__getitem__)]


def _among(left: Sequence[int], pairs: PairCount) -> Lottery:
    """One of those who are left, as ties are broken."""
    return best([int(i in left) for i in range(len(pairs.names))], pairs.names, pairs.ties)


def _round(left: Sequence[int], points: Sequence[int], out: tuple[int, ...], pairs: PairCount) -> Round:
    counts = tuple(zip(left, points, strict=True))
    return Round(counts=counts, eliminated=out, exhausted=pairs.blank, what=DOUBLED)
