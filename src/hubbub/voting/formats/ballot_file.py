"""A file of ballots that has been read, and what its readers share: weights, levels, one sentence for an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import MOST_VOTERS, Ballots
from hubbub.voting.formats.reading import Reading

Levels = tuple[frozenset[str], ...]

RANKS: Final = "ranks"
HAND_OUT: Final = (
    "Before ballots are handed out, take out every column that tells who voted or when, like timestamps and e-mail "
    "addresses."
)
RULES_FOR: Final[Mapping[str, tuple[str, ...]]] = {"approvals": ("approval",), "scores": ("score", "star")}
"""The rules that count what a ballot holds, where that is no ranks."""

_WEIGHT = re.compile(r"(?:\d{1,17}|\d{1,3}(?:,\d{3}){1,5})(?:\.0{1,9})?", re.ASCII)  # 1200, 1,200, 1200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotFile:
    """Ballots, tied ones as they stand, with the format they came in and the rules they were read by.

    `marks` says what a ballot holds: ranks, approvals, or scores up to `top`; approvals and scores are kept as levels
    (:mod:`hubbub.voting.rules.points`). `seats` is how many the file says are to be filled. `remarks` are sentences
    about what was met on the way: labels taken for no candidates, names that are nearly the same, an encoding that was
    guessed.
    """

    ballots: Ballots
    format: str
    title: str
    reading: Reading
    changed: Mapping[str, int] = field(default_factory=dict)  # ballots that each rule changed
    marks: str = RANKS
    top: int = 0
    seats: int = 1
    withdrawn: tuple[str, ...] = ()  # candidates who were struck out
    remarks: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # what the reader was told beside the rules, as JSON
    units: Mapping[str, Ballots] = field(
        default_factory=dict
    )  # the ballots of each precinct, where these were asked for

    def ballots_text(self) -> str:
        """How many ballots there are, and how many of them are blank."""
        blank = self.ballots.blank
        return f"{self.ballots.voters:,} ballots{f', {blank:,} of them blank' if blank else ''}"


def check_units(file: BallotFile) -> None:
    """Refuse precincts whose ballots are not, all together, those of the file."""
    if not file.units:
        raise WrongUse("the file says of no ballot where it was cast; leave out `precinct`")
    parts = list(file.units.values())
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.join(part)
    every = file.ballots
    if (joined.counts(), joined.tied_counts()) != (every.counts(), every.tied_counts()):
        raise WrongUse("the precincts do not add up to the file; is a ballot in two of them?")


def weight_of(text: str, where: str) -> int:
    """A number of identical ballots."""
    found = _WEIGHT.fullmatch(text.strip())
    number = int(found[0].partition(".")[0].replace(",", "")) if found else -1
    if not 0 <= number <= MOST_VOTERS:
        raise WrongUse(f"{where}: a weight is a number of identical ballots, a whole number from 0 to 2^53")
    return number


def check_any(ballots: object) -> None:
    """Refuse a file in which there is no ballot."""
    if not ballots:
        raise WrongUse("the ballot file holds no ballot; at least one is needed")


def gather(candidates: tuple[str, ...], counts: Mapping[Levels, int]) -> Ballots:
    """Ballots from levels: those with one candidate each are strict, the others tied."""
    check_any(sum(counts.values()))
    strict: dict[tuple[str, ...], int] = {}
    tied: dict[Levels, int] = {}
    for levels, weight in counts.items():
        if not weight:
            continue
        if all(len(level) == 1 for level in levels):
            ranking = tuple(name for level in levels for name in level)
            strict[ranking] = strict.get(ranking, 0) + weight
        else:
            tied[levels] = tied.get(levels, 0) + weight
    return Ballots.from_counts(candidates, strict, tied=tied)
