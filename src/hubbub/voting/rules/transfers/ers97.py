"""The rules of the Electoral Reform Society, third edition of 1997 (Newland and Britton; ERS97), sections 5.1 to 5.6.

The last parcel of papers moves a surplus, as in Northern Ireland, and this differs:

* The quota has two decimal places and is rounded up. Until somebody is elected it falls with the papers that name nobody
  who is in.
* Elected is also who has the active vote over one more than the places left: nobody can overtake them.
* As many of the last go together as have, with all surpluses, no more votes than the next. A surplus waits while some can
  go so. If their going leaves as many as there are places, these are elected and nothing moves.
* Who is equal to more than there are places is elected by the earliest point at which they were apart, or not yet.

A point is the transfer of one batch of papers, all of one value, and each is a stage here. A surplus that arises since
the quota fell comes from the batch last received (C. Rosenstiel in Voting matters 11, 2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.stv_result import Moved
from hubbub.voting.rules.transfers.parcels import ParcelCount, Parcels
from hubbub.voting.rules.transfers.shared import Outcome

_PLACES: Final = 2


def _quota(votes: Fraction, seats: int) -> Fraction:
    """Votes over one more than the seats, rounded up after two places."""
    return Fraction(-(-votes * 10**_PLACES // (seats + 1)), 10**_PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectoralReformSociety(Parcels):
    """Parcels with the quota, the exclusions and the ends of ERS97."""

    def count(self, ballots: Ballots, seats: int, chance: Chance) -> Outcome:
        return _Count(self, ballots, seats, chance).outcome()

    def quota_sentence(self, seats: int, valid: int, quota: Fraction) -> str:
        first = _quota(Fraction(valid), seats)
        sentence = f"The quota is {to_text(first)}: {valid:,} valid ballots divided by {seats + 1}, rounded up after two places"
        return (
            f"{sentence}." if quota == first else f"{sentence}; it fell to {to_text(quota)} before anybody was elected."
        )


ERS97: Final = ElectoralReformSociety(
    name="ers97",
    description="the rules of the Electoral Reform Society of 1997 (last parcel, two decimal places)",
    over_transferable=True,
    value_decimals=_PLACES,
    vote_decimals=_PLACES,
    defers=True,
    latest=False,
)


class _Count(ParcelCount):
    """A count by ERS97.

    Guarantee: after each batch votes, exhausted ones and those lost to rounding add up to the valid ballots.
    """

    def __init__(self, rules: Parcels, ballots: Ballots, seats: int, chance: Chance) -> None:
        super().__init__(rules, ballots, seats, chance)
        self.quota = _quota(Fraction(self.valid), seats)

    def run(self) -> None:
        self.close("first preferences", (), ())
        while self.vacancies:
            out = self._batch()
            if self.pending and not out:
                self.move_surplus(self.largest_surplus(latest=False))
            elif len(self.continuing) - len(out) == self.vacancies:  # 5.5.1
                rest = self.most_first(self.continuing - set(out))
                self.continuing = set()
                self.elected += rest
                self.record("exclusion", out, (), rest)
            else:
                self.exclude(out)

    def close(self, what: str, of: Sequence[int], moved: Sequence[Moved], *, fill: bool = True) -> None:
        """End a stage: the quota falls while nobody is elected, and who has enough is elected."""
        if not self.elected:
            self.quota = _quota(self.valid - self.exhausted, self.seats)
        now = self._enough()
        self.pending += [i for i in now if self.votes[i] > self.quota]
        self.record(what, of, moved, now)

    def _enough(self) -> list[int]:
        """Who is elected now, in falling order of votes: each takes a quota, or all their votes, from the active ones."""
        now: list[int] = []
        active = self.valid - self.exhausted - self.lost
        active -= sum((min(self.votes[i], self.quota) for i in self.elected), Fraction(0))
        order = sorted(self.continuing, key=lambda i: ([-self.votes[i], *(-votes for votes in self._past(i))], i))
        for i in order:
            if not self.vacancies or self.votes[i] < min(self.quota, active / (self.vacancies + 1)):
                break
            equal = [j for j in self.continuing if self.votes[j] == self.votes[i]]
            if len(equal) > self.vacancies and self._past(i) == sorted(map(self._past, equal))[-self.vacancies - 1]:
                break  # 5.6.2: they were equal all along, and there are not enough places
            active -= min(self.votes[i], self.quota)
            self.elected.append(i)
            self.continuing.discard(i)
            now.append(i)
        return now

    def _past(self, i: int) -> list[Fraction]:
        return [dict(stage.totals)[i] for stage in self.stages]

    def _batch(self) -> list[int]:
        """As many of the last as have, with all surpluses, no more votes than the next; where not all who are equal can
        go, by the earliest point at which they were apart, else by lot."""
        votes = sorted(self.votes[i] for i in self.continuing)
        total, many = sum((self.surplus(i) for i in self.pending), Fraction(0)), 0
        for at, here in enumerate(votes[:-1], 1):
            total += here
            if total <= votes[at] and len(votes) - at >= self.vacancies:
                many = at
        out: list[int] = []
        while len(out) < many:
            left = self.continuing - set(out)
            least = min(self.votes[i] for i in left)
            last = sorted(i for i in left if self.votes[i] == least)
            if len(out) + len(last) > many:
                last = [self.break_tie(last, "who goes of those with the fewest votes", min, latest=False)]
            out += last
        return out
