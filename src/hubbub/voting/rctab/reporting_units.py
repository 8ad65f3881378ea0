"""A count by precinct or by batch: what the ballots of each unit came to in every round of the contest.

Who is elected and who goes is decided by the whole contest. Each unit is counted by itself, from its own ballots, and
then all units together must give every number of the contest: that is a check of both, and no sum of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from hubbub.errors import CheckFailed, WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.rctab.count import count_unit
from hubbub.voting.rctab.record import OfficeFile
from hubbub.voting.rctab.result import ROUNDING, ConfiguredCount, ConfiguredRound

UNITS: Final = ("precinct", "batch")
UNNAMED: Final = "(not said)"


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """The counts of all precincts, or of all batches."""

    what: str
    units: Mapping[str, ConfiguredCount]


def count_units(file: OfficeFile, contest: ConfiguredCount, what: str) -> UnitCounts:
    """The contest unit by unit.

    Guarantee: in every round the votes of each candidate, the ballots that count for nobody by their reason, and the
    ballots cast add up over all units to those of the contest. What rounding took from a surplus was taken from the
    contest as a whole, and is the one thing by which the units have more: that is part of the check.
    """
    if what not in UNITS:
        raise WrongUse(f"ballots are counted by {' or by '.join(UNITS)}, and by nothing else")
    parts = file.ballots.of_units(what)
    if set(parts) == {""}:
        raise WrongUse(f"the records say no {what} of any ballot; name its column in the configuration")
    counted = {name or UNNAMED: count_unit(file.configuration, part, contest) for name, part in parts.items()}
    check_sums(contest, counted, what)
    return UnitCounts(what, counted)


def check_sums(contest: ConfiguredCount, counted: Mapping[str, ConfiguredCount], what: str) -> None:
    """Refuse counts of precincts that are not, all together, those of the contest."""
    wrong = CheckFailed(f"the {what} counts do not add up to the contest; nothing is written, please report it")
    sums = ("cast", "undervotes")
    if any(sum(getattr(part, each) for part in counted.values()) != getattr(contest, each) for each in sums):
        raise wrong
    for at, rounds in enumerate(contest.passes):
        lost: dict[str, Fraction] = {}
        for i, whole in enumerate(rounds):
            parts = [part.passes[at][i] for part in counted.values()]
            if _sum(parts) != {name: votes + lost.get(name, 0) for name, votes in whole.tally}:
                raise wrong
            if any(sum((dict(part.inactive)[why] for part in parts), Fraction(0)) != v for why, v in whole.inactive):
                raise wrong
            for move in whole.moves:
                if move.target == ROUNDING:
                    lost[move.origin] = lost.get(move.origin, Fraction(0)) + move.votes


def _sum(parts: list[ConfiguredRound]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for part in parts:
        for name, votes in part.tally:
            total[name] = total.get(name, Fraction(0)) + votes
    return total
