"""The rules of pairs by name, each from the table of all pairs to the law of the winner, and to one count.

============  ========================================================================================================
copeland      two points for each pair that is won, one for each that is even
minimax       whose worst pair is least bad, by the margin of votes
schulze       a path from one candidate to another is as strong as its weakest pair, by the votes for the winner of it;
              whoever has a path to each other as strong as the one back wins (Schulze 2011)
kemeny        the order of all candidates with which the most voters agree, pair by pair, has the winner first
black         whoever beats everybody; where nobody does, the most Borda points
ranked-pairs  pairs are locked in by their margin, the largest first, unless that closes a circle; whoever no locked
              pair puts below somebody wins (Tideman 1987)
nanson        by Borda points: all who have the mean or less go, until one is left or all have the same (Nanson 1882)
baldwin       by Borda points: whoever has the fewest goes, until one is left (Baldwin 1926)
============  ========================================================================================================

Ties are drawn, or broken by an order fixed beforehand. Ranked pairs take equal margins in an order that is drawn, or in
one fixed beforehand (by the winner of the pair, then by the loser, the last one first); a pair that lies on no circle of
those locked and those to come is locked in every order, so nothing is drawn for it. A candidate who beats everybody has
more than the mean of the Borda points in every round, and so is never struck out by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Final, Protocol

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.ties import RANDOM, FixedTies, Ties, best, positions_in

Table = Sequence[Sequence[int]]

MOST_BRANCHES: Final = 20_000  # states that ties can lead to
TOO_MANY: Final = (
    f"ties lead to more than {MOST_BRANCHES:,} different states, too many for the exact law of the winner; run the rule "
    "once, or break ties by a fixed order"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """`table[i][j]` voters prefer i to j; of `voters` ballots `blank` ones rank nobody."""

    table: Table
    voters: int
    blank: int
    names: tuple[str, ...]
    ties: Ties

    @property
    def order(self) -> list[int] | None:
        """The place of each candidate in an order fixed beforehand; None where ties are drawn."""
        return positions_in(self.ties.order, self.names) if isinstance(self.ties, FixedTies) else None

    def margin(self, one: int, other: int) -> int:
        """How many more voters prefer one to the other than the other way."""
        return self.table[one][other] - self.table[other][one]

    def condorcet_winner(self) -> int | None:
        """Who beats everybody else one to one."""
        everyone = range(len(self.names))
        return next((i for i in everyone if all(self.margin(i, j) > 0 for j in everyone if j != i)), None)


class Method(Protocol):
    """A rule of pairs."""

    def law(self, pairs: PairCount) -> Lottery:
        """Everybody's chance to win."""
        ...  # pragma: no cover

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        """Who wins, and the rounds, with draws from `chance`."""
        ...  # pragma: no cover


MOST_ORDERED: Final = 14
"""Candidates, at most, whose orders Kemeny's rule goes through: 2^14 sets of them."""

DOUBLED: Final = "Borda points, doubled"


def copeland(pairs: PairCount) -> list[int]:
    """Twice the pairs that each wins, and those that are even once."""
    everyone = range(len(pairs.names))
    return [sum((pairs.margin(i, j) > 0) + (pairs.margin(i, j) >= 0) for j in everyone if j != i) for i in everyone]


def minimax(pairs: PairCount) -> list[int]:
    """The margin of the worst pair of each, and all voters more, so that none is below 0."""
    everyone = range(len(pairs.names))
    return [pairs.voters + min(pairs.margin(i, j) for j in everyone if j != i) for i in everyone]


def schulze(pairs: PairCount) -> list[int]:
    """To how many others each has a path as strong as the one back.

    Guarantee: paths are the strongest there are (Floyd and Warshall), in whole numbers.
    """
    table, everyone = pairs.table, range(len(pairs.names))
    path = [[table[i][j] if table[i][j] > table[j][i] else 0 for j in everyone] for i in everyone]
    for k in everyone:
        for i in everyone:
            for j in everyone:
                if i != j:
                    path[i][j] = max(path[i][j], min(path[i][k], path[k][j]))
    return [sum(path[i][j] >= path[j][i] for j in everyone if j != i) for i in everyone]


def kemeny(pairs: PairCount) -> list[int]:
    """For each candidate, the most agreement that an order has which puts that candidate first.

    Guarantee: the maximum over all orders, by sets of candidates: the best order of a set begins with one of them.
    """
    m = len(pairs.names)
    if m > MOST_ORDERED:
        raise Refused(f"kemeny goes through the orders of at most {MOST_ORDERED} candidates, and these are {m}")
    table = pairs.table
    most = [0] * (1 << m)  # of the candidates in a set, each a bit
    for members in range(1, 1 << m):
        inside = [i for i in range(m) if members >> i & 1]
        most[members] = max(sum(table[i][j] for j in inside if j != i) + most[members ^ (1 << i)] for i in inside)
    everyone = (1 << m) - 1
    return [sum(table[i][j] for j in range(m) if j != i) + most[everyone ^ (1 << i)] for i in range(m)]


def doubled_points(pairs: PairCount, members: tuple[int, ...]) -> list[int]:
    """Twice the Borda points of each member among them; a ballot that leaves out two gives each half a point of the
    other, so that whoever beats everybody has more than the mean."""
    return [sum(pairs.voters + pairs.margin(i, j) for j in members if j != i) for i in members]


def black(pairs: PairCount) -> list[int]:
    """Pairs won where somebody beats everybody, else twice the Borda points."""
    everyone = tuple(range(len(pairs.names)))
    if pairs.condorcet_winner() is None:
        return doubled_points(pairs, everyone)
    return [sum(pairs.margin(i, j) > 0 for j in everyone) for i in everyone]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The highest of `scores` wins; `what` they count."""

    scores: Callable[[PairCount], list[int]]
    what: Callable[[PairCount], str]

    def law(self, pairs: PairCount) -> Lottery:
        return best(self.scores(pairs), pairs.names, pairs.ties)

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        scores, what = self.scores(pairs), self.what(pairs)
        winner = chance.pick(f"a tie for the most {what}", pairs.names, best(scores, pairs.names, pairs.ties))
        return winner, (Round(counts=tuple(enumerate(scores)), exhausted=pairs.blank, what=what),)


SCORED: Final = {
    "copeland": Scored(scores=copeland, what=lambda _: "points for pairs"),
    "minimax": Scored(scores=minimax, what=lambda _: "worst margin plus all voters"),
    "schulze": Scored(scores=schulze, what=lambda _: "paths as strong as back"),
    "kemeny": Scored(scores=kemeny, what=lambda _: "agreements with the best order"),
    "black": Scored(scores=black, what=lambda pairs: DOUBLED if pairs.condorcet_winner() is None else "pairs won"),
}


class Nanson:
    """All who have the mean of the points or less go at once."""

    def law(self, pairs: PairCount) -> Lottery:
        left, _ = self._eliminate(pairs)
        return _pairs_among(left, pairs)

    def count(self, pairs: PairCount, chance: Chance) -> tuple[int, tuple[Round, ...]]:
        left, rounds = self._eliminate(pairs)
        return chance.pick("all who are left have the same points", pairs.names, _pairs_among(left, pairs)), tuple(
            rounds
        )

    def _eliminate(self, pairs: PairCount) -> tuple[tuple[int, ...], list[Round]]:
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


def _pairs_among(left: Sequence[int], pairs: PairCount) -> Lottery:
    """One of those who are left, as ties are broken."""
    return best([int(i in left) for i in range(len(pairs.names))], pairs.names, pairs.ties)


def _round(left: Sequence[int], points: Sequence[int], out: tuple[int, ...], pairs: PairCount) -> Round:
    counts = tuple(zip(left, points, strict=True))
    return Round(counts=counts, eliminated=out, exhausted=pairs.blank, what=DOUBLED)


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


_METHODS: Final[Mapping[str, Method]] = {
    **SCORED,
    "ranked-pairs": RankedPairs(),
    "nanson": Nanson(),
    "baldwin": Baldwin(),
}
PAIR_RULES: Final = tuple(_METHODS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule:
    """One of the rules above, by its name.

    Guarantee: a candidate who beats every other one to one is elected, whatever the ties.
    """

    name: str
    ties: Ties = RANDOM

    def __post_init__(self) -> None:
        if self.name not in PAIR_RULES:
            raise WrongUse(f"there is no rule {self.name[:40]!r} for pairs; there are {', '.join(PAIR_RULES)}")

    def _count_pairs(self, ballots: Ballots) -> PairCount:
        pairs = pairwise(ballots.strictly(self.name))
        if pairs is None:
            raise Refused(
                f"{self.name} compares all pairs on all ballots, which are too many here; choose another rule"
            )
        return PairCount(
            table=pairs.table, voters=ballots.voters, blank=ballots.blank, names=ballots.candidates, ties=self.ties
        )

    def lottery(self, ballots: Ballots) -> Lottery:
        return _METHODS[self.name].law(self._count_pairs(ballots))

    def run(self, ballots: Ballots, source: Source) -> Result:
        chance = Chance(source)
        winner, rounds = _METHODS[self.name].count(self._count_pairs(ballots), chance)
        return chance.result(self, ballots, winner, rounds)
