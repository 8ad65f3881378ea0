"""ABIF files: a weight and a ranking on each line, with names, as election-methods people exchange them.

::

    # a comment
    {"title": "A club"}         metadata, of which the title is read
    =DB:[Deb Burns]             a short name and whom it means
    3:Ann>Bob=DB                weight, best first, = or a comma between equals
    2*[Bob B.]>Ann              a name with spaces in brackets
    1:Ann/5>Bob/3               scores beside a ranking, which must not contradict it
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import checked_candidates
from hubbub.voting.formats.ballot_file import BallotFile, Levels, check_any, gather, weight_of
from hubbub.voting.formats.labels import Meanings, meanings
from hubbub.voting.formats.reading import Changes, Rank, Reading, ranking_of
from hubbub.voting.recognition import check_names

_BALLOT: Final = re.compile(r"(\d[\d,.]*)\s*[:*]\s*(.*)")
_MEANS: Final = re.compile(r"=\s*([^:\s]+)\s*:\s*\[(.*)\]\s*")
_NAME: Final = re.compile(r'\s*(?:\[([^\]]*)\]|"([^"]*)"|([^>=,/\[\]"]*))\s*(?:/\s*(\d+(?:\.\d+)?))?\s*(>|=|,|$)')


def read(text: str, reading: Reading, *, candidates: Sequence[str] | None = None) -> BallotFile:
    """The ballots of an ABIF file. Without a list of candidates, all who are ranked are, in alphabetical order."""
    found = _Found()
    for number, line in enumerate(text.split("\n"), 1):
        found.line(line.partition("#")[0].strip(), number)
    check_any(found.ballots)
    reading = reading.for_marks(counted=True)
    cells = dict.fromkeys(
        found.long.get(name, name) for _, _, ranks in found.ballots for rank in ranks for name in rank
    )
    read_as = meanings(cells, reading, candidates)
    if candidates is None:
        check_names(read_as.met, {*found.long.values(), *(new for _, new in reading.aliases)})
    changes, levels = Changes(), dict[Levels, int]()
    for number, weight, ranks in found.ballots:
        marks = [_tied_rank([found.long.get(name, name) for name in rank], read_as) for rank in ranks]
        ranked = ranking_of(marks, reading, changes, weight, f"line {number}")
        levels[ranked] = levels.get(ranked, 0) + weight
    everyone = tuple(candidates) if candidates else tuple(sorted(read_as.met | set(found.long.values())))
    return BallotFile(
        ballots=gather(checked_candidates(everyone), levels),
        format="abif",
        title=found.title,
        reading=reading,
        changed=dict(changes.ballots),
        remarks=tuple(read_as.remarks(reading)),
    )


@dataclass(slots=True)
class _Found:
    """What the lines read so far hold."""

    title: str = ""
    long: dict[str, str] = field(default_factory=dict)  # short name -> whom it means
    ballots: list[tuple[int, int, list[list[str]]]] = field(default_factory=list)  # line, weight, names by rank

    def line(self, line: str, number: int) -> None:
        where = f"line {number}"
        if not line:
            return
        if line.startswith("{"):
            try:
                self.title = str(json.loads(line).get("title", self.title))
            except (ValueError, AttributeError, RecursionError):
                raise WrongUse(f'{where}: metadata is a JSON object on one line, like {{"title": "A club"}}') from None
        elif named := _MEANS.fullmatch(line):
            self.long[named[1]] = named[2].strip()
        elif ballot := _BALLOT.fullmatch(line):
            self.ballots.append((number, weight_of(ballot[1], where), _ranks(ballot[2], where)))
        else:
            raise WrongUse(f"{where}: a ballot is a weight and a ranking, like 3:Ann>Bob=Cid; is this another format?")


def _ranks(text: str, where: str) -> list[list[str]]:
    """Names rank by rank."""
    ranks: list[list[str]] = [[]]
    scores: dict[int, str] = {}  # of each rank
    at = 0
    while at < len(text):
        part = _NAME.match(text, at)
        name = "" if part is None else (part[1] or part[2] or part[3] or "").strip()
        if part is None or not name or part.end() == at:
            raise WrongUse(f"{where}: a ranking is names with > between them, = between equals, like Ann>[Bob B.]=Cid")
        ranks[-1].append(name)
        if part[4] is not None and scores.setdefault(len(ranks), part[4]) != part[4]:
            raise WrongUse(
                f"{where}: candidates at one rank have different scores, so these are scores and no ranking; write the "
                "ranking with >, or the scores into a CSV file with a column for each candidate"
            )
        if part[5] == ">":
            ranks.append([])
        at = part.end()
    return [rank for rank in ranks if rank]


def _tied_rank(names: Sequence[str], read_as: Meanings) -> Rank:
    ranks = [read_as.ranks[name] for name in names]
    known = [rank for rank in ranks if rank is not None]
    return frozenset[str]().union(*known) if len(known) == len(ranks) else None
