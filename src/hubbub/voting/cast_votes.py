"""Ballots in CSV files, in three shapes, each with a column of counts or without.

::

    rank1,rank2,rank3           one column per rank
    Ann,Bob,
    ballot,rank,candidate       one row per ballot and rank
    17,1,Ann
    count,ranking               one row per ranking, best first, = between equals
    3,Ann>Bob=Cid

A row with a count stands for so many identical ballots. Columns are found by their names, or named one by one. Cells
may hold labels that are no candidates: undervote, overvote, write-in (:class:`hubbub.voting.reading.Reading`).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballot_file import BallotFile, Levels, gather, weight_of
from hubbub.voting.ballots import Ballots, checked_candidates
from hubbub.voting.reading import Changes, Rank, Reading, ranking_of

WRITE_IN: Final = "Write-in"
"""What the one candidate is called who stands for all write-ins."""

_RANK_COLUMN = re.compile(r"(?:rank|choice|preference|pref)[ _-]*(\d{1,5})", re.IGNORECASE | re.ASCII)
_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "ballot": ("ballot", "ballot_id", "ballotid", "ballot id", "cvr", "record", "voter", "voter_id"),
    "rank": ("rank", "rank_id", "position"),
    "candidate": ("candidate", "choice", "vote", "name"),
    "count": ("count", "counts", "weight", "weights"),
    "ranking": ("ranking",),
}

Marks = tuple[Rank, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where a CSV file has what, as indices; `ranks` in the order of the ranks."""

    ranks: tuple[int, ...] = ()
    ballot: int | None = None
    rank: int | None = None
    candidate: int | None = None
    count: int | None = None
    ranking: int | None = None


def read(
    text: str, reading: Reading, *, named: Mapping[str, str] | None = None, candidates: Sequence[str] | None = None
) -> BallotFile:
    """The ballots of a CSV file. Without a list of candidates, all who are marked are, in alphabetical order."""
    rows = [(i, [cell.strip() for cell in row]) for i, row in _rows(text) if any(cell.strip() for cell in row)]
    if not rows:
        raise WrongUse("the ballot file is empty; its first line must name columns")
    where_is = find_columns(rows[0][1], named or {})
    if len(rows) == 1:
        raise WrongUse("the ballot file holds no ballot; at least one is needed")
    for line, row in rows:
        if any(row[len(rows[0][1]) :]):
            raise WrongUse(f"line {line}: more columns than the first line names; is a comma in a name not quoted?")
    reading = reading.for_marks(counted=where_is.count is not None)
    labels = _Labels(reading, candidates)
    if where_is.ranking is not None:
        marked, shape = _one_per_ranking(rows[1:], where_is, labels), "csv-rankings"
    elif where_is.ranks:
        marked, shape = _one_per_ballot(rows[1:], where_is, labels), "csv-columns"
    else:
        marked, shape = _one_per_rank(rows[1:], where_is, labels), "csv-rows"
    counts: Counter[Marks] = Counter()
    first_line: dict[Marks, int] = {}
    for line, marks, weight in marked:
        counts[marks] += weight
        first_line.setdefault(marks, line)
    changes = Changes()
    levels: dict[Levels, int] = {}
    for marks, weight in counts.items():
        ranked = ranking_of(marks, reading, changes, weight, f"line {first_line[marks]}")
        levels[ranked] = levels.get(ranked, 0) + weight
    everyone = tuple(candidates) if candidates else tuple(sorted(labels.seen))
    ballots = gather(checked_candidates(everyone), levels)
    return BallotFile(ballots=ballots, format=shape, title="", reading=reading, changed=dict(changes.ballots))


class _Labels:
    """What a cell says: a candidate, or one of the labels that are none."""

    def __init__(self, reading: Reading, candidates: Sequence[str] | None) -> None:
        self._known = None if candidates is None else frozenset(candidates)
        self._reading = reading
        self._under = {"", *(label.casefold() for label in (*reading.undervote_labels, *reading.skip_labels))}
        self._over = {label.casefold() for label in reading.overvote_labels}
        self._written = {label.casefold() for label in reading.write_in_labels}
        self.seen: set[str] = set()
        self._met: dict[str, Rank] = {}

    def rank(self, cell: str, where: str) -> Rank:
        if cell not in self._met:
            self._met[cell] = self._meaning(cell, where)
        return self._met[cell]

    def _meaning(self, cell: str, where: str) -> Rank:
        label = cell.casefold()
        if self._known is not None and cell in self._known:  # who stands is no label, whatever the name
            self.seen.add(cell)
            return frozenset((cell,))
        if label in self._under:
            return frozenset()
        if label in self._over:
            return None
        if label in self._written:
            if self._reading.write_ins == "skip":
                return frozenset()
            cell = WRITE_IN
        if self._known is not None and cell not in self._known:
            raise WrongUse(f"{where}: a candidate who is not on the list of candidates; add them, or name the label")
        self.seen.add(cell)
        return frozenset((cell,))


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    before = 0
    try:
        for row in reader:
            yield before + 1, row
            before = reader.line_num
    except csv.Error as error:
        raise WrongUse(f"line {reader.line_num}: not a line of a CSV file; is this another format?") from error


def find_columns(header: Sequence[str], named: Mapping[str, str]) -> Columns:
    """The columns of a CSV file of ballots, by their names, or as `named` says where they are called otherwise."""
    lowered = [name.strip().casefold() for name in header]
    found: dict[str, int] = {}
    for what, names in _KNOWN.items():
        if what in named:
            if named[what].casefold() not in lowered:
                raise WrongUse(f"there is no column {named[what]!r} for {what}; the first line must name the columns")
            found[what] = lowered.index(named[what].casefold())
        else:
            here = [lowered.index(name) for name in names if name in lowered]
            found.update(dict.fromkeys([what], here[0]) if here else {})
    if "ranks" in named:
        asked = [name.strip().casefold() for name in named["ranks"].split("/")]
        if any(name not in lowered for name in asked):
            raise WrongUse("some of the columns named for ranks are not in the first line; check their names")
        ranks = [lowered.index(name) for name in asked]
    else:
        numbered = [(int(match[1]), i) for i, name in enumerate(lowered) if (match := _RANK_COLUMN.fullmatch(name))]
        ranks = [i for _, i in sorted(numbered)]
        if len({number for number, _ in numbered}) != len(numbered):
            raise WrongUse("line 1: two columns hold the same rank; say which are meant, and in which order")
    for what, i in found.items():
        if lowered.count(lowered[i]) > 1:
            raise WrongUse(f"line 1: two columns have the name that says {what}; give each a name of its own")
    count = found.get("count")
    if "ranking" in found:
        return Columns(ranking=found["ranking"], count=count)
    if ranks:
        return Columns(ranks=tuple(ranks), count=count)
    if {"ballot", "rank", "candidate"} <= found.keys():
        return Columns(ballot=found["ballot"], rank=found["rank"], candidate=found["candidate"], count=count)
    raise WrongUse(
        "line 1: a CSV file of ballots needs columns rank1, rank2, ..., or ballot, rank and candidate, or count and "
        "ranking; name yours, or is this another format?"
    )


Row = tuple[int, list[str]]
Marked = tuple[int, Marks, int]  # line, marks, ballots


def _weight(row: list[str], where_is: Columns, line: int) -> int:
    return 1 if where_is.count is None else weight_of(row[where_is.count], f"line {line}")


def _checked(rows: Iterable[Row], last: int) -> Iterator[Row]:
    for line, row in rows:
        if len(row) <= last:
            raise WrongUse(f"line {line}: fewer columns than the first line names")
        yield line, row


def _one_per_ballot(rows: Iterable[Row], where_is: Columns, labels: _Labels) -> Iterator[Marked]:
    columns = where_is.ranks
    for line, row in _checked(rows, max(*columns, where_is.count or 0)):
        marks = tuple(labels.rank(row[i], f"line {line}") for i in columns)
        yield line, marks, _weight(row, where_is, line)


def _one_per_ranking(rows: Iterable[Row], where_is: Columns, labels: _Labels) -> Iterator[Marked]:
    column = where_is.ranking or 0
    for line, row in _checked(rows, max(column, where_is.count or 0)):
        cells = row[column].split(">") if row[column] else []
        marks = tuple(_together([labels.rank(c.strip(), f"line {line}") for c in cell.split("=")]) for cell in cells)
        yield line, marks, _weight(row, where_is, line)


def _one_per_rank(rows: Iterable[Row], where_is: Columns, labels: _Labels) -> Iterator[Marked]:
    ballot, place, candidate = where_is.ballot or 0, where_is.rank or 0, where_is.candidate or 0
    marks: dict[str, dict[int, list[Rank]]] = {}
    lines: dict[str, int] = {}
    weights: dict[str, int] = {}
    for line, row in _checked(rows, max(ballot, place, candidate, where_is.count or 0)):
        digits = row[place]
        if not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:6]) <= 32_000):
            raise WrongUse(f"line {line}: a rank is a whole number from 1 on")
        key = row[ballot]
        marks.setdefault(key, {}).setdefault(int(digits), []).append(labels.rank(row[candidate], f"line {line}"))
        lines.setdefault(key, line)
        if weights.setdefault(key, weight := _weight(row, where_is, line)) != weight:
            raise WrongUse(f"line {line}: another count than on an earlier line of the same ballot; they must agree")
    for key, ranks in marks.items():
        yield lines[key], tuple(_in_order(ranks)), weights[key]


def _in_order(ranks: Mapping[int, list[Rank]]) -> Iterator[Rank]:
    """The ranks of a ballot, at most two skipped ones in a row: no rule tells two of them from thousands."""
    before = 0
    for rank in sorted(ranks):
        yield from [frozenset[str]()] * min(rank - before - 1, 2)
        yield _together(ranks[rank])
        before = rank


def _together(marks: Sequence[Rank]) -> Rank:
    """Several marks at one rank."""
    together: frozenset[str] = frozenset()
    for mark in marks:
        if mark is None:
            return None
        together |= mark
    return together


def write(ballots: Ballots) -> str:
    """CSV text with counts: a column per rank, or, if some ballots are tied, a row per ballot and rank."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    strict = sorted(ballots.counts().items(), key=lambda row: -row[1])
    if not ballots.tied:
        places = max([1, *(len(ranking) for ranking, _ in strict)])
        writer.writerow(["count", *(f"rank{i}" for i in range(1, places + 1))])
        writer.writerows([count, *ranking, *[""] * (places - len(ranking))] for ranking, count in strict)
        return out.getvalue()
    writer.writerow(["ballot", "rank", "candidate", "count"])
    tied = ballots.tied_counts().items()
    both = [*((tuple((name,) for name in ranking), count) for ranking, count in strict), *tied]
    for ballot, (levels, count) in enumerate(both, 1):
        if not levels:
            writer.writerow([ballot, 1, "", count])
        for rank, level in enumerate(levels, 1):
            writer.writerows([ballot, rank, name, count] for name in sorted(level))
    return out.getvalue()
