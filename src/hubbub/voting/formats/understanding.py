"""What a file of ballots was understood to hold, to be shown before anything is counted. It tells nothing of the result."""

from __future__ import annotations

from typing import Any, Final

from hubbub.runtime.frozen import dataclass
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.vendors.office_records import OfficeBallots
from hubbub.voting.formats.vendors.rctab_config import Configuration

_MOST_LISTED: Final = 12  # candidates in a sentence
_MOST_IN_A_LINE: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """The contest, who stands, how many ballots, and what is odd."""

    contest: str
    format: str
    marks: str
    ballots: int
    seats: int
    candidates: tuple[str, ...]
    oddities: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "contest": self.contest,
            "format": self.format,
            "marks": self.marks,
            "ballots": self.ballots,
            "seats": self.seats,
            "candidates": list(self.candidates),
            "oddities": list(self.oddities),
        }

    def _names(self, most: int) -> str:
        more = len(self.candidates) - most
        return ", ".join(self.candidates[:most]) + (f" and {more} more" if more > 0 else "")

    def summary(self) -> str:
        """In one line, for those who count right away."""
        about = f"{self.contest}, " if self.contest else ""
        names = self._names(_MOST_IN_A_LINE)
        return f"Understood: {about}{self.ballots:,} ballots with {self.marks}, read as {self.format}, for {names}."

    def sentences(self) -> list[str]:
        """The same in words."""
        names = self._names(_MOST_LISTED)
        about = f"Contest: {self.contest}." if self.contest else "The file names no contest."
        seats = "1 seat" if self.seats == 1 else f"{self.seats} seats"
        return [
            about,
            f"{self.ballots:,} ballots with {self.marks}, read as {self.format}; {seats}.",
            f"{len(self.candidates)} candidates: {names}.",
            *(f"Odd: {text}." for text in self.oddities),
        ]


def understanding_of(read: BallotFile) -> Understanding:
    """Of a file that was read: sentences of the reader, ballots that a rule changed, who withdrew."""
    changed = [
        f"{count:,} {'ballot was' if count == 1 else 'ballots were'} changed by the rule for {what}: "
        f"{read.reading.rules().get(what, 'as it says')}"
        for what, count in sorted(read.changed.items())
        if count
    ]
    blank = read.ballots.blank
    if blank:
        changed.append(f"{blank:,} {'ballot marks' if blank == 1 else 'ballots mark'} nobody")
    left = [f"struck out, because they withdrew: {', '.join(read.withdrawn)}"] if read.withdrawn else []
    return Understanding(
        contest=read.title,
        format=read.format,
        marks=read.marks,
        ballots=read.ballots.voters,
        seats=read.seats,
        candidates=tuple(sorted(read.ballots.candidates, key=str.casefold)),
        oddities=(*read.remarks, *changed, *left),
    )


def understanding_of_office(configuration: Configuration, ballots: OfficeBallots) -> Understanding:
    """Of a configuration and the records that it names."""
    odd = [f"the configuration sets {what}; --cvr FILE.json writes such a file" for what in configuration.not_written]
    blank = sum(weight for _, ranks, weight in ballots.by_unit if not ranks)
    over = sum(weight for _, ranks, weight in ballots.by_unit if any(len(who) > 1 for _, who in ranks))
    excluded = [candidate.name for candidate in configuration.candidates if candidate.excluded]
    met = {name for _, ranks, _ in ballots.by_unit for _, who in ranks for name in who}
    unmarked = sorted(set(ballots.candidates) - met - set(excluded))
    if blank:
        odd.append(f"{blank:,} {'ballot marks' if blank == 1 else 'ballots mark'} nobody")
    if over:
        odd.append(f"{over:,} {'ballot marks' if over == 1 else 'ballots mark'} several candidates at one rank")
    if excluded:
        odd.append(f"excluded by the configuration: {', '.join(excluded)}")
    if unmarked:
        odd.append(f"nobody marks {', '.join(unmarked)}")
    for what in ("precinct", "batch"):
        named = {getattr(unit, what) for unit, _, _ in ballots.by_unit}
        without = sum(weight for unit, _, weight in ballots.by_unit if not getattr(unit, what))
        if without and named != {""}:
            odd.append(f"{without:,} {'ballot has' if without == 1 else 'ballots have'} no {what}")
    return Understanding(
        contest=configuration.title,
        format=", ".join(dict.fromkeys(source.provider for source in configuration.sources)),
        marks="ranks",
        ballots=ballots.cast,
        seats=configuration.rules.winners or 1,
        candidates=ballots.candidates,
        oddities=(*odd, *ballots.remarks),
    )
