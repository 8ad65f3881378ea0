"""The papers of an audit as people read them: a line for each, with the names at its ranks.

A line has the number of the paper (or the name of its batch), how often it was drawn, a column for each rank, and a note:
``blank`` for a paper that marks nobody, ``missing`` for one that cannot be found. A cell that says ``overvote`` ends a
paper.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.ballot_text import text_of
from hubbub.voting.risk_limiting.audit import (
    Audit,
    Finding,
    Ranking,
    compare_batches,
    compare_papers,
    poll_papers,
)

PaperRow = list[str]
_MOST_RANKS: Final = 10  # columns to write ranks into
_OVERVOTE: Final = "overvote"
_NOTES: Final = ("", "blank", "missing")


def rank_columns(audit: Audit) -> list[str]:
    """The columns to write ranks into."""
    return [f"rank {i}" for i in range(1, min(len(audit.candidates), _MOST_RANKS) + 1)]


def finding_of(
    audit: Audit, paths: Sequence[str | Path], records: Callable[[Collection[int]], Mapping[int, Ballots]]
) -> tuple[Finding, dict[int, PaperRow]]:
    """What the sheets of all rounds show, and the papers as they were read. `records` finds ballots by their numbers.

    Guarantee: that of the method, if the sheets hold what is on the papers. Refused unless they hold exactly what the
    public words drew first, and each paper once a round.
    """
    rows = [row for path in paths for row in _rows(audit, Path(path))]
    if audit.method == "batches":
        return _batches(audit, rows), {}
    times: Counter[int] = Counter()
    papers: dict[int, Ranking | None] = {}
    cells: dict[int, PaperRow] = {}
    for where, row in rows:
        number = _positive(row["ballot"], where)
        times[number] += _positive(row["drawn"], where)
        paper = _paper(audit, row, where)
        if papers.setdefault(number, paper) != paper:
            raise WrongUse(f"{where}: paper {number:,} is not read as in an earlier round; look at it again")
        cells[number] = [*(row[name] for name in rank_columns(audit)), row["note"]]
    drawn = list(islice(audit.draws(), times.total()))
    if len(drawn) < audit.papers or Counter(drawn) != times:
        raise WrongUse(
            "the sheets do not hold the papers that these words draw first; give those of every round, whole"
        )
    if audit.method == "polling":
        return poll_papers(audit, [papers[number] for number in drawn]), cells
    found = {number: _ranking(part) for number, part in records(set(drawn)).items()}
    return compare_papers(audit, [(found[number], papers[number]) for number in drawn]), cells


def _batches(audit: Audit, rows: Sequence[tuple[str, Mapping[str, str]]]) -> Finding:
    names = [batch.name for batch in audit.batches]
    counted: dict[int, list[Ranking]] = {}
    for where, row in rows:
        if row["batch"] not in names:
            raise WrongUse(f"{where}: the records have no batch {row['batch'][:60]!r}; write it as batches.csv does")
        paper = _paper(audit, row, where)
        here = counted.setdefault(names.index(row["batch"]) + 1, [])
        if paper is not None:
            here.append(paper)
    drawn = list[int]()
    for number in audit.draws():
        if number not in counted or len(drawn) > audit.ballots:
            break
        drawn.append(number)
    if len(drawn) < audit.papers or set(drawn) != set(counted):
        raise WrongUse(
            "the sheets do not hold the batches that these words draw first; give those of every round, whole"
        )
    return compare_batches(audit, counted, drawn)


def _rows(audit: Audit, path: Path) -> list[tuple[str, Mapping[str, str]]]:
    reader = csv.DictReader(io.StringIO(text_of(path)), restval="", strict=True)
    wanted = {*rank_columns(audit), "note", *(("batch",) if audit.method == "batches" else ("ballot", "drawn"))}
    try:
        if missing := sorted(wanted - {*(reader.fieldnames or ())}):
            raise WrongUse(f"{path.name} has no column {missing[0]!r}; fill in the sheet papers.csv of this audit")
        return [
            (f"{path.name}, line {line}", {name: (row[name] or "").strip() for name in wanted})
            for line, row in enumerate(reader, 2)
        ]
    except csv.Error as error:
        raise WrongUse(f"{path.name} is no CSV file; save the sheet as CSV") from error


def _paper(audit: Audit, row: Mapping[str, str], where: str) -> Ranking | None:
    """The ranking on a paper, skipped ranks closed up; None for a paper that was not found."""
    marks = [row[name] for name in rank_columns(audit)]
    note = row["note"].casefold()
    if note not in _NOTES or (note and any(marks)):
        raise WrongUse(f"{where}: a note is blank or missing, and stands beside no ranks")
    if not note and not any(marks):
        raise WrongUse(f"{where}: the paper was not read yet; write its ranks, or the note blank or missing")
    if note == "missing":
        return None
    found: list[int] = []
    for name in filter(None, marks):
        if name == _OVERVOTE:
            break
        if name not in audit.candidates:
            raise WrongUse(f"{where}: {name[:60]!r} is no candidate; write names as in assertions.csv, or overvote")
        number = audit.candidates.index(name)
        if number not in found:
            found.append(number)
    return tuple(found)


def _positive(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:18]) >= 1):
        raise WrongUse(f"{where}: a number of a paper is missing; leave the first two columns as they were")
    return int(text)


def _ranking(ballot: Ballots) -> Ranking:
    """The one ballot of a record."""
    return tuple(i for i in (ballot.rankings[0].tolist() if len(ballot.rankings) else ()) if i >= 0)
