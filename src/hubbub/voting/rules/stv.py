"""The single transferable vote: several seats, each for a quota of votes; surpluses and the votes of the last move on.

Rules that keep papers in parcels, move whole papers, or find keep values are in :mod:`hubbub.voting.rules.transfers`.
The three sets of rules here move all papers of an elected candidate at a reduced value (weighted inclusive Gregory). Values
are whole numbers of the last decimal place that the rules keep, so everything is exact: no rounding but theirs.

=========  ==========================================================================================================
scotland   Scottish Local Government Elections Order, rules 45 to 52 (as in the Orders of 2007 and 2011). The value of
           a paper becomes surplus times value over the candidate's votes, cut after five places. One surplus at a time,
           the highest first; then the candidate with the fewest votes is excluded. Ties go by the most recent stage at
           which they were apart, else by lot. Who is left when only the vacancies are left is elected without transfer.
albany     Fractional transfers as in United States ordinances: the surplus over the candidate's votes is cut after four
           places, that times the value of a paper is too. All who reach the quota in a round are elected together and
           their surpluses move at once; where nobody does, the candidate with the fewest votes goes; ties by lot.
wigm       The weighted inclusive rule as the Proportional Representation Foundation writes it down: four places, the
           surplus over the votes cut first, the quota with four places too; one surplus at a time; ties by lot.
=========  ==========================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.stv_result import Moved, Seats, Stage
from hubbub.voting.rules.transfers.ers97 import ERS97
from hubbub.voting.rules.transfers.keep_values import MEEK, WARREN
from hubbub.voting.rules.transfers.parcels import ACT, NORTHERN_IRELAND, SENATE, TASMANIA, integer_quota
from hubbub.voting.rules.transfers.random_transfer import CAMBRIDGE, IRELAND, MALTA
from hubbub.voting.rules.transfers.shared import Outcome
from hubbub.voting.understood import check_voted


class TransferRules(Protocol):
    """How votes move: a value with a name, which counts."""

    @property
    def name(self) -> str: ...  # pragma: no cover

    @property
    def description(self) -> str: ...  # pragma: no cover

    def count(self, ballots: Ballots, seats: int, chance: Chance) -> Outcome:
        """Fill the seats, drawing from `chance` where the rules leave it to a lot."""
        ...  # pragma: no cover

    def quota_sentence(self, seats: int, valid: int, quota: Fraction) -> str:
        """What the quota is, and why."""
        ...  # pragma: no cover


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """How votes move. `fraction_first`: the surplus over the votes is cut before it meets the value of a paper."""

    name: str
    decimals: int  # decimal places of a value
    fraction_first: bool
    all_surpluses: bool  # whether all surpluses of a round move at once
    looks_back: bool  # whether earlier stages break ties before a lot does
    description: str
    quota_decimals: int = 0

    def count(self, ballots: Ballots, seats: int, chance: Chance) -> Outcome:
        count = _Count(ballots, seats, self, chance)
        count.run()
        return Outcome(count.valid, Fraction(count.quota, count.unit), tuple(count.elected), tuple(count.stages))

    def quota_sentence(self, seats: int, valid: int, quota: Fraction) -> str:
        if not self.quota_decimals:
            return integer_quota(seats, valid, quota)
        return (
            f"The quota is {to_text(quota)}: {valid:,} valid ballots divided by {seats + 1}, cut after "
            f"{self.quota_decimals} decimal places, and one unit more."
        )


SCOTLAND: Final = Transfers(
    name="scotland",
    decimals=5,
    fraction_first=False,
    all_surpluses=False,
    looks_back=True,
    description="the Scottish rules (values to five decimal places, one surplus at a time)",
)
ALBANY: Final = Transfers(
    name="albany",
    decimals=4,
    fraction_first=True,
    all_surpluses=True,
    looks_back=False,
    description="fractional transfers to four decimal places (as for Albany)",
)
WIGM: Final = Transfers(
    name="wigm",
    decimals=4,
    fraction_first=True,
    all_surpluses=False,
    looks_back=False,
    quota_decimals=4,
    description="the weighted inclusive Gregory method to four decimal places",
)
_ALL: Final[tuple[TransferRules, ...]] = (
    *(SCOTLAND, ALBANY, WIGM, MEEK, WARREN, ERS97),
    *(IRELAND, MALTA, NORTHERN_IRELAND, SENATE, ACT, TASMANIA, CAMBRIDGE),
)
RULES: Final = {rules.name: rules for rules in _ALL}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferableVote:
    """The single transferable vote for so many seats.

    Guarantee: at every stage the votes of all candidates, those exhausted and those lost to rounding add up to the
    valid ballots exactly, and nobody elected with a surplus keeps more than the quota once it has moved.
    """

    seats: int
    rules: TransferRules = SCOTLAND

    name = "stv"

    def __post_init__(self) -> None:
        if self.seats < 1:
            raise WrongUse(f"the number of seats must be at least 1, not {self.seats}")

    def run(self, ballots: Ballots, source: Source) -> Seats:
        """Count, drawing from `source` where the rules leave it to a lot."""
        if self.seats >= len(ballots.strictly(self.name).candidates):
            raise WrongUse(
                f"{self.seats} seats and {len(ballots.candidates)} candidates: all are elected without a count; give "
                "the number of seats with `seats`"
            )
        chance = Chance(source)
        outcome = self.rules.count(check_voted(ballots), self.seats, chance)
        return Seats(
            rule=self,
            candidates=ballots.candidates,
            voters=ballots.voters,
            valid=outcome.valid,
            quota=outcome.quota,
            elected=outcome.elected,
            stages=outcome.stages,
            draws=tuple(chance.draws),
            secure=chance.secure,
        )


class _Count:
    """The state of a count, in units of the last decimal place. It lives as long as one run."""

    def __init__(self, ballots: Ballots, seats: int, rules: Transfers, chance: Chance) -> None:
        self.names, self.seats, self.rules, self.chance = ballots.candidates, seats, rules, chance
        self.unit = 10**rules.decimals
        self.rows = [[i for i in row if i >= 0] for row in ballots.rankings.tolist()]
        self.weights: list[int] = ballots.weights.tolist()
        self.continuing = set(range(len(self.names)))
        self.papers: list[list[tuple[int, int, int]]] = [[] for _ in self.names]  # row, place on it, value
        self.votes = [0] * len(self.names)
        self.elected: list[int] = []
        self.pending: list[int] = []  # elected, with a surplus that has not moved
        self.exhausted = self.lost = 0
        self.stages: list[Stage] = []
        self.valid = 0
        for number, (row, weight) in enumerate(zip(self.rows, self.weights, strict=True)):
            if row and weight:
                self.valid += weight
                self.papers[row[0]].append((number, 0, self.unit))
                self.votes[row[0]] += weight * self.unit
        coarse = 10 ** (rules.decimals - rules.quota_decimals)  # units in the last place of the quota
        self.quota = (self.valid * self.unit // coarse // (seats + 1) + 1) * coarse

    def run(self) -> None:
        self._close("first preferences", (), ())
        while len(self.elected) < self.seats:
            if self.pending:
                self._move_surpluses()
            else:
                self._exclude()

    def _close(self, what: str, of: tuple[int, ...], moved: tuple[Moved, ...]) -> None:
        """End a stage: who has the quota is elected, and all who are left if no more than the vacancies are."""
        reached = [i for i in self.continuing if self.votes[i] >= self.quota]
        now = self._most_first(reached)
        self.pending += [i for i in now if self.votes[i] > self.quota]
        self.continuing -= set(now)
        if len(self.continuing) <= self.seats - len(self.elected) - len(now):
            now += self._most_first(self.continuing)
            self.continuing = set()
        self.elected += now
        self.stages.append(
            Stage(
                what=what,
                of=of,
                totals=tuple((i, Fraction(votes, self.unit)) for i, votes in enumerate(self.votes)),
                exhausted=Fraction(self.exhausted, self.unit),
                lost=Fraction(self.lost, self.unit),
                moved=moved,
                elected=tuple(now),
            )
        )

    def _most_first(self, candidates: Sequence[int] | set[int]) -> list[int]:
        return sorted(candidates, key=lambda i: (-self.votes[i], i))

    def _move_surpluses(self) -> None:
        most = max(self.votes[i] for i in self.pending)
        if self.rules.all_surpluses:
            out = list(self.pending)
        else:
            highest = [i for i in self.pending if self.votes[i] == most]
            out = [self._apart(highest, "whose surplus moves first of those that are equal", fewest=False)]
        moved: list[Moved] = []
        for origin in out:
            total = self.votes[origin]
            surplus = total - self.quota
            before = self.exhausted
            moves = self._move(origin, surplus, total)
            gone = sum(int(move.votes * self.unit) for move in moves if move.target is not None)
            self.lost += surplus - gone - (self.exhausted - before)
            self.votes[origin] = self.quota
            self.pending.remove(origin)
            moved += moves
        self._close("surplus", tuple(out), tuple(moved))

    def _exclude(self) -> None:
        fewest = min(self.votes[i] for i in self.continuing)
        last = [i for i in sorted(self.continuing) if self.votes[i] == fewest]
        out = self._apart(last, "who goes of those with the fewest votes", fewest=True)
        self.continuing.discard(out)
        moved = self._move(out, 1, 1)
        self.votes[out] = 0
        self._close("exclusion", (out,), tuple(moved))

    def _move(self, origin: int, share: int, of: int) -> list[Moved]:
        """Hand the papers of a pile on, each worth share/of its value, to the next candidate who is in."""
        cut = self.unit * share // of if self.rules.fraction_first and share != of else None
        votes: dict[int | None, int] = {}
        papers: dict[int | None, int] = {}
        for number, rank, value in self.papers[origin]:
            row, weight = self.rows[number], self.weights[number]
            worth = value * share // of if cut is None else value * cut // self.unit
            rank += 1
            while rank < len(row) and row[rank] not in self.continuing:
                rank += 1
            target = row[rank] if rank < len(row) else None
            votes[target] = votes.get(target, 0) + weight * worth
            papers[target] = papers.get(target, 0) + weight
            if target is None:
                self.exhausted += weight * worth
            else:
                self.votes[target] += weight * worth
                self.papers[target].append((number, rank, worth))
        self.papers[origin] = []
        order = sorted(votes, key=lambda i: (i is None, i))
        return [Moved(origin=origin, target=i, papers=papers[i], votes=Fraction(votes[i], self.unit)) for i in order]

    def _apart(self, tied: list[int], why: str, *, fewest: bool) -> int:
        """One of those who are equal now: by the most recent stage at which they were not, where the rules look back,
        else by lot."""
        if self.rules.looks_back:
            for stage in self.stages[-2::-1]:
                if len(tied) == 1:
                    break
                then = dict(stage.totals)
                wanted = (min if fewest else max)(then[i] for i in tied)
                tied = [i for i in tied if then[i] == wanted]
        return tied[self.chance.even(why, [self.names[i] for i in tied])]
