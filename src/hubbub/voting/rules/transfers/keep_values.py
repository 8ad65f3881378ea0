"""Meek's and Warren's rules: everybody elected keeps a share of each paper, found anew until the quota is just kept.

======  ===============================================================================================================
meek    an elected candidate keeps the share k of what a paper is still worth when it comes to them (Hill, Wichmann
        and Woodall 1987)
warren  an elected candidate keeps the same k of each paper, or all that it is still worth
======  ===============================================================================================================

Numbers are rounded as in the reference rule of the Proportional Representation Foundation: nine decimal places, what is
kept of a paper and the keep values up, the quota down and one unit more. The shares are found when all surpluses
together are below a millionth of a vote, or shrink no more. Papers that name nobody who is in lower the quota.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.transfers.shared import Outcome, SeatCount

_UNIT: Final = 10**9
_OMEGA: Final = 10**3  # in units: a millionth of a vote
_MOST_ROUNDS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepValues:
    """Meek's rule, or with `equal_price` Warren's."""

    name: str
    description: str
    equal_price: bool

    def count(self, ballots: Ballots, seats: int, chance: Chance) -> Outcome:
        return _Count(self, ballots, seats, chance).outcome()

    def quota_sentence(self, seats: int, valid: int, quota: Fraction) -> str:
        return (
            f"The quota was {float(quota):,.6f} votes in the end: what is not exhausted divided by {seats + 1}, cut after "
            "nine decimal places, and one unit more."
        )


MEEK: Final = KeepValues(name="meek", description="Meek's rule", equal_price=False)
WARREN: Final = KeepValues(name="warren", description="Warren's rule", equal_price=True)


class _Count(SeatCount):
    """A count by keep values, in units of the ninth decimal place.

    Guarantee: votes and exhausted ones add up to the valid ballots at every stage.
    """

    def __init__(self, rules: KeepValues, ballots: Ballots, seats: int, chance: Chance) -> None:
        super().__init__(ballots, seats, chance)
        self.rules = rules
        self.papers = [paper for papers in self.first for paper in papers]
        self.keep = [_UNIT] * len(self.names)
        self.units = [0] * len(self.names)

    def run(self) -> None:
        what, of = "first preferences", list[int]()
        while True:
            now = self._settle()
            self.elected += now
            self.continuing -= set(now)
            if len(self.continuing) <= self.vacancies:
                rest = self.most_first(self.continuing)
                now, self.continuing = [*now, *rest], set()
                self.elected += rest
            self.record(what, of, (), now)
            if not self.vacancies:
                return
            if now:
                what, of = "surplus", list(now)
                continue
            out = self._last()
            self.continuing.discard(out)
            self.keep[out] = 0
            what, of = "exclusion", [out]

    def _settle(self) -> list[int]:
        """Find the shares; ends as soon as somebody reaches the quota. Who that is, the most votes first."""
        surplus = self.valid * _UNIT
        for _ in range(_MOST_ROUNDS):
            self._distribute()
            now = [i for i in self.continuing if self.units[i] >= self._quota]
            before, surplus = surplus, sum(max(self.units[i] - self._quota, 0) for i in self.elected)
            if now:
                return self.most_first(now)
            if surplus < _OMEGA or surplus >= before:
                break
            for i in self.elected:
                self.keep[i] = -(-self._up(self.keep[i], self._quota) * _UNIT // self.units[i])
        return []

    @staticmethod
    def _up(one: int, other: int) -> int:
        """Their product, rounded up."""
        return -(-one * other // _UNIT)

    def _distribute(self) -> None:
        """Every paper to whoever keeps a share of it."""
        units = [0] * len(self.names)
        for number, _, weight in self.papers:
            left = _UNIT
            for i in self.rows[number]:
                if not self.keep[i]:
                    continue
                kept = min(left, self.keep[i]) if self.rules.equal_price else self._up(left, self.keep[i])
                units[i] += weight * kept
                left -= kept
                if not left:
                    break
        self.units = units
        self._quota = sum(units) // (self.seats + 1) + 1
        self.votes = [Fraction(count, _UNIT) for count in units]
        self.quota = Fraction(self._quota, _UNIT)
        self.exhausted = self.valid - sum(self.votes, Fraction(0))

    def _last(self) -> int:
        """Who goes: the fewest votes; all who are within the surpluses of that are equal."""
        surplus = sum(max(self.units[i] - self._quota, 0) for i in self.elected)
        least = min(self.units[i] for i in self.continuing)
        last = [i for i in sorted(self.continuing) if self.units[i] <= least + surplus]
        return last[self.chance.even("who goes of those with the fewest votes", [self.names[i] for i in last])]
