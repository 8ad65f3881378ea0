"""Gregory's rules that keep papers in parcels, each with the value at which it came.

================  =====================================================================================================
australia-senate  Commonwealth Electoral Act 1918, section 273, inclusive: all papers of an elected candidate go on, at
                  the surplus over the number of papers; votes are whole numbers, what is cut off is lost
act               Australian Capital Territory: the papers last received go on, at the surplus over those of them that
                  name somebody who is in, never at more than they came at; votes to six decimal places
tasmania          the papers last received go on, at the surplus over all of them; votes are whole numbers
northern-ireland  Local Elections Rules, 49 to 51: the papers last received go on, at the surplus over those that name
                  somebody who is in, to two decimal places, never at more than they came at; a surplus waits where
                  all surpluses are less than what the last candidate is behind the next; ties by the earliest stage
================  =====================================================================================================

Papers of whoever is excluded go by their value, the highest first, and each value is a stage of its own: whoever
reaches the quota in it gets no more papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.stv_result import Moved
from hubbub.voting.rules.transfers.shared import Outcome, Paper, SeatCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcels:
    """How votes move. `value_decimals` None: a value is not rounded."""

    name: str
    description: str
    inclusive: bool = False  # all papers of the elected go on, not the last parcel alone
    over_transferable: bool  # the surplus is divided by the papers that can go on, not by all
    value_decimals: int | None = None
    vote_decimals: int  # of what a candidate gets from a parcel
    defers: bool = False  # a surplus that cannot change who is last waits
    latest: bool = True  # ties by the latest stage at which they were apart, else by the earliest

    def count(self, ballots: Ballots, seats: int, chance: Chance) -> Outcome:
        return ParcelCount(self, ballots, seats, chance).outcome()

    def quota_sentence(self, seats: int, valid: int, quota: Fraction) -> str:
        return integer_quota(seats, valid, quota)


def integer_quota(seats: int, valid: int, quota: Fraction) -> str:
    return (
        f"The quota is {int(quota):,}: {valid:,} valid ballots divided by {seats + 1}, cut to a whole number, plus 1."
    )


SENATE: Final = Parcels(
    name="australia-senate",
    description="the rules of the Australian Senate (inclusive Gregory, whole votes)",
    inclusive=True,
    over_transferable=False,
    vote_decimals=0,
)
ACT: Final = Parcels(
    name="act",
    description="Hare-Clark as in the Australian Capital Territory (last parcel, votes to six decimal places)",
    over_transferable=True,
    vote_decimals=6,
)
TASMANIA: Final = Parcels(
    name="tasmania",
    description="Hare-Clark as in Tasmania (last parcel, whole votes)",
    over_transferable=False,
    vote_decimals=0,
)
NORTHERN_IRELAND: Final = Parcels(
    name="northern-ireland",
    description="the rules of Northern Ireland (last parcel, values to two decimal places)",
    over_transferable=True,
    value_decimals=2,
    vote_decimals=2,
    defers=True,
    latest=False,
)


@dataclass(frozen=True, slots=True)
class _Parcel:
    value: Fraction
    papers: tuple[Paper, ...]

    @property
    def size(self) -> int:
        return _size(self.papers)


class ParcelCount(SeatCount):
    """A count by parcels.

    Guarantee: after each stage votes, exhausted ones and those lost to rounding add up to the valid ballots.
    """

    def __init__(self, rules: Parcels, ballots: Ballots, seats: int, chance: Chance) -> None:
        super().__init__(ballots, seats, chance)
        self.rules = rules
        self.piles = [[_Parcel(Fraction(1), tuple(papers))] if papers else [] for papers in self.first]

    def run(self) -> None:
        self.close("first preferences", (), ())
        while self.vacancies:
            if self.pending and not (self.rules.defers and self.defers_surpluses()):
                self.move_surplus(self.largest_surplus(latest=self.rules.latest))
            else:
                self.exclude([self.fewest(latest=self.rules.latest)])

    def move_surplus(self, origin: int) -> None:
        rules, surplus = self.rules, self.surplus(origin)
        parcels = self.piles[origin] if rules.inclusive else self.piles[origin][-1:]
        piles = self.sorted_papers([paper for parcel in parcels for paper in parcel.papers])
        able = sum(_size(papers) for target, papers in piles.items() if target is not None)
        over = able if rules.over_transferable else sum(parcel.size for parcel in parcels)
        came_at = None if rules.inclusive else parcels[0].value
        value = _cut_decimals(surplus / over, rules.value_decimals) if over else Fraction(0)
        kept_back = Fraction(0)
        if came_at is not None and (value >= came_at or not over):  # not all of the surplus can go on
            value, kept_back = came_at, max(surplus - able * came_at, Fraction(0))
        before = self.exhausted
        moved = self._hand_on(origin, piles, value, exhausts=not rules.over_transferable)
        self.exhausted += kept_back
        gone = sum((move.votes for move in moved if move.target is not None), Fraction(0))
        self.lost += surplus - gone - (self.exhausted - before)
        self.votes[origin] = self.quota
        self.pending.remove(origin)
        self.piles[origin] = []
        self.close("surplus", (origin,), moved)

    def exclude(self, out: Sequence[int]) -> None:
        """One value after the other; whoever is elected in one gets nothing of the next."""
        self.continuing -= set(out)
        by_value: dict[Fraction, dict[int, list[Paper]]] = {}
        for i in out:
            for parcel in self.piles[i]:
                by_value.setdefault(parcel.value, {}).setdefault(i, []).extend(parcel.papers)
            self.piles[i] = []
        values = sorted(by_value, reverse=True)
        for at, value in enumerate(values):
            moved, had = [], [len(pile) for pile in self.piles]
            for i, papers in by_value[value].items():
                last = not any(i in by_value[later] for later in values[at + 1 :])
                left = self.votes[i]
                worth = left if last else min(_cut_decimals(_size(papers) * value, self.rules.vote_decimals), left)
                before = self.exhausted
                moves = self._hand_on(i, self.sorted_papers(papers), value, exhausts=True)
                gone = sum((move.votes for move in moves if move.target is not None), Fraction(0))
                self.lost += worth - gone - (self.exhausted - before)
                self.votes[i] = left - worth
                moved += moves
            for pile, many in zip(self.piles, had, strict=True):  # all of one value is one parcel, whoever it came from
                if len(pile) > many + 1:
                    pile[many:] = [_Parcel(value, tuple(paper for parcel in pile[many:] for paper in parcel.papers))]
            self.close("exclusion", out, moved, fill=at + 1 == len(values))
            if not self.vacancies:
                return
        if not values:
            self.close("exclusion", out, ())

    def _hand_on(
        self, origin: int, piles: dict[int | None, list[Paper]], value: Fraction, *, exhausts: bool
    ) -> list[Moved]:
        """Each pile to whom it names, worth its papers times the value, cut after the last place."""
        moved = []
        for target, papers in piles.items():
            worth = _cut_decimals(_size(papers) * value, self.rules.vote_decimals)
            if target is None:
                worth = worth if exhausts else Fraction(0)
                self.exhausted += worth
            else:
                self.votes[target] += worth
                self.piles[target].append(_Parcel(value, tuple(papers)))
            moved.append(Moved(origin=origin, target=target, papers=_size(papers), votes=worth))
        return moved


def _size(papers: list[Paper] | tuple[Paper, ...]) -> int:
    return sum(weight for _, _, weight in papers)


def _cut_decimals(x: Fraction, decimals: int | None) -> Fraction:
    return x if decimals is None else Fraction(x * 10**decimals // 1, 10**decimals)
