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

from fractions import Fraction
from typing import Final, Protocol

from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.recognition import check_voted
from hubbub.voting.rules.stv_result import Moved, Seats
from hubbub.voting.rules.transfers.ers97 import ERS97
from hubbub.voting.rules.transfers.keep_values import MEEK, WARREN
from hubbub.voting.rules.transfers.parcels import ACT, NORTHERN_IRELAND, SENATE, TASMANIA, integer_quota
from hubbub.voting.rules.transfers.random_transfer import CAMBRIDGE, IRELAND, MALTA
from hubbub.voting.rules.transfers.shared import Outcome, SeatCount


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
        return _Count(self, ballots, seats, chance).outcome()

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


class _Count(SeatCount):
    """A count in which a paper has a value, a whole number of units of the last decimal place."""

    def __init__(self, rules: Transfers, ballots: Ballots, seats: int, chance: Chance) -> None:
        super().__init__(ballots, seats, chance)
        self.rules, self.looks_back, self.unit = rules, rules.looks_back, 10**rules.decimals
        self.piles = [[(paper, self.unit) for paper in papers] for papers in self.first]
        self.quota = Fraction(self.valid * 10**rules.quota_decimals // (seats + 1) + 1, 10**rules.quota_decimals)

    def run(self) -> None:
        self.close("first preferences", (), ())
        while self.vacancies:
            if self.pending:
                self._move_surpluses()
            else:
                self._exclude()

    def _move_surpluses(self) -> None:
        out = list(self.pending) if self.rules.all_surpluses else [self.largest_surplus(latest=True)]
        moved: list[Moved] = []
        for origin in out:
            surplus, before = self.surplus(origin), self.exhausted
            moves = self._move(origin, surplus / self.votes[origin])
            gone = sum((move.votes for move in moves if move.target is not None), Fraction(0))
            self.lost += surplus - gone - (self.exhausted - before)
            self.votes[origin] = self.quota
            self.pending.remove(origin)
            moved += moves
        self.close("surplus", out, moved)

    def _exclude(self) -> None:
        out = self.fewest(latest=True)
        self.continuing.discard(out)
        moved = self._move(out, Fraction(1))
        self.votes[out] = Fraction(0)
        self.close("exclusion", (out,), moved)

    def _move(self, origin: int, share: Fraction) -> list[Moved]:
        """Hand the papers of a pile on, each worth that share of its value, to the next candidate who is in."""
        if self.rules.fraction_first:
            share = Fraction(self.unit * share // 1, self.unit)
        times, over = share.as_integer_ratio()
        units: dict[int | None, int] = {}
        papers: dict[int | None, int] = {}
        for paper, value in self.piles[origin]:
            (number, _, weight), rank, worth = paper, self.next_rank(paper), value * times // over
            target = None if rank is None else self.rows[number][rank]
            units[target] = units.get(target, 0) + weight * worth
            papers[target] = papers.get(target, 0) + weight
            if target is not None and rank is not None:
                self.piles[target].append(((number, rank, weight), worth))
        self.piles[origin] = []
        votes = {target: Fraction(count, self.unit) for target, count in units.items()}
        self.exhausted += votes.get(None, Fraction(0))
        for target, more in votes.items():
            if target is not None:
                self.votes[target] += more
        order = sorted(votes, key=lambda i: (i is None, i))
        return [Moved(origin=origin, target=i, papers=papers[i], votes=votes[i]) for i in order]
