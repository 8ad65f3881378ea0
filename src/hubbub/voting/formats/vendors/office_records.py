"""Cast-vote records as election systems export them: for each ballot, who was marked at which rank.

A reader yields marks as they stand in the files, by the code or name that the vendor writes. :func:`office_ballots`
turns them into candidates by the configuration, and refuses whoever is not one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.formats import vendor_headings
from hubbub.voting.formats.ballot_text import open_text
from hubbub.voting.formats.csv_rows import blocks, delimiter_of
from hubbub.voting.formats.vendors.cast_record import CastRecord, LeftOut, left_out_sentences
from hubbub.voting.formats.vendors.cdf import read_cdf
from hubbub.voting.formats.vendors.dominion_json import read_dominion
from hubbub.voting.formats.vendors.hart import read_hart
from hubbub.voting.formats.vendors.rctab_config import UNDECLARED, Configuration, Source
from hubbub.voting.formats.vendors.sheet_rows import other_sheets, sheet_rows

# Cast-vote records in tables: ES&S's workbooks, Clear Ballot's CSV, and CSV with a column for each candidate.


_MOST_RANKS: Final = 1000


def read_ess(source: Source, left: LeftOut, most: int | None, named: Collection[str]) -> Iterator[CastRecord]:
    """A column for each rank from the first vote column on, below the heading. Names behind the last rank are left out."""
    first, seen = (source.first_column or 1) - 1, set[str]()
    last = first + (most or _MOST_RANKS)
    for number, row in sheet_rows(source.path, (source.first_row or 2) - 1):
        if number < (source.first_row or 2) or not any(row):
            continue
        cells = row[first:last]  # a count of ballots, say, may stand behind the ranks
        left["marks behind the last rank of maxRankingsAllowed"] += sum(cell in named for cell in row[last:])
        if source.id_column is not None and (name := "".join(row[source.id_column - 1 : source.id_column])):
            if name in seen:
                raise WrongUse(f"row {number} has the id of an earlier ballot; take out what is there twice")
            seen.add(name)
        if source.blank_is_write_in and most is not None:
            cells += [""] * (most - len(cells))
        marks = [mark for rank, cell in enumerate(cells, 1) for mark in _cell(rank, cell, source)]
        yield CastRecord(marks, _at(row, source.precinct_column), _at(row, source.batch_column))


def _at(row: list[str], column: int | None) -> str:
    """What stands in a column, counted from 1; nothing where there is none."""
    return "" if column is None or not 1 <= column <= len(row) else row[column - 1].strip()


def _cell(rank: int, cell: str, source: Source) -> Iterator[tuple[int, str]]:
    if not cell:
        if source.blank_is_write_in:
            yield rank, UNDECLARED
        return
    if cell == source.skipped_label:
        return
    parts = cell.split(source.overvote_delimiter) if source.overvote_delimiter else [cell]
    for part in parts:
        yield rank, part.strip()


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    text = open_text(source.path, None)
    for block in blocks(text, delimiter_of(text)):
        yield from zip(block.lines, block.rows, strict=True)


def read_generic(source: Source, left: LeftOut) -> Iterator[CastRecord]:
    """A column for each candidate from the first vote column on, the heading above it, ranks in the cells."""
    first, start = (source.first_column or 1) - 1, source.first_row or 2
    names: list[str] = []
    for line, row in _rows(source):
        if line < start:
            names = [name.strip() for name in row[first:]]
            continue
        cells = [cell.strip() for cell in row[first:]]
        if len(cells) > len(names) or not any(map(str.strip, row)):
            if any(cells[len(names) :]):
                raise WrongUse(f"line {line}: more columns than the heading names; check firstVoteColumnIndex")
            if not any(map(str.strip, row)):
                continue
        marks = []
        for name, cell in zip(names, cells, strict=False):
            if not cell:
                continue
            if not (cell.isascii() and cell.isdigit() and 1 <= int(cell[:6]) <= _MOST_RANKS):
                raise WrongUse(f"line {line}: a rank is a whole number from 1 on; check firstVoteColumnIndex")
            if int(cell) > len(names):
                raise WrongUse(f"line {line}: rank {cell} of {len(names)} candidates cannot be; are these ratings?")
            marks.append((int(cell), name))
        yield CastRecord(marks, _at(row, source.precinct_column), _at(row, source.batch_column))


def read_clear_ballot(source: Source, left: LeftOut) -> Iterator[CastRecord]:
    """A column for each candidate at each rank."""
    rows = _rows(source)
    header = vendor_headings.clear_ballot_cells(next(rows, (1, list[str]()))[1])
    if not vendor_headings.is_clear_ballot(header):
        raise WrongUse(f"{source.path.name} has not the heading of a file of Clear Ballot's; is it another vendor's?")
    columns, _, _ = vendor_headings.clear_ballot_columns(header, source.contest or None)
    precinct, box = (header.index(name) + 1 if name in header else None for name in ("PrecinctID", "BoxID"))
    for line, row in rows:
        if not any(map(str.strip, row)):
            continue
        cells = [row[i].strip() if i < len(row) else "?" for i, _, _ in columns.marks]
        if any(cell not in ("", "0", "1") for cell in cells):
            raise WrongUse(f"line {line}: a mark is 1 or 0, and the line has as many cells as the heading")
        if any(cells):
            marks = [(rank, name) for cell, (_, name, rank) in zip(cells, columns.marks, strict=True) if cell == "1"]
            yield CastRecord(marks, _at(row, precinct), _at(row, box))
        else:
            left["records that do not hold the contest"] += 1


Mark: TypeAlias = tuple[int, str]
Ranks: TypeAlias = tuple[tuple[int, frozenset[str]], ...]
"""The ranks that hold a mark, in their order, each with the candidates marked there."""

OVERVOTE: Final = "overvote"
"""Who stands at a rank that the file calls overvoted without saying by whom."""

_READERS: Final[Mapping[str, Callable[[Source, LeftOut], Iterator[CastRecord]]]] = {
    "cdf": read_cdf,
    "clearBallot": read_clear_ballot,
    "dominion": read_dominion,
    "genericCsv": read_generic,
    "hart": read_hart,
}


@dataclass(frozen=True, slots=True)
class ReportingUnit:
    """Where a ballot was cast, as far as the files say; empty where they do not."""

    precinct: str
    batch: str


@dataclass(frozen=True, slots=True)
class OfficeBallots:
    """Different ballots of each unit with how often each was cast; `candidates` in the order of the configuration."""

    candidates: tuple[str, ...]
    by_unit: tuple[tuple[ReportingUnit, Ranks, int], ...]
    remarks: tuple[str, ...] = ()  # what stands in the records and is not in the count

    @property
    def cast(self) -> int:
        return sum(weight for _, _, weight in self.by_unit)

    @property
    def ballots(self) -> tuple[tuple[Ranks, int], ...]:
        """Different ballots of all units with how often each was cast."""
        counts: dict[Ranks, int] = {}
        for _, ranks, weight in self.by_unit:
            counts[ranks] = counts.get(ranks, 0) + weight
        return tuple(counts.items())

    def of_units(self, what: str) -> dict[str, OfficeBallots]:
        """The ballots of each precinct, or of each batch."""
        found: dict[str, list[tuple[ReportingUnit, Ranks, int]]] = {}
        for unit, ranks, weight in self.by_unit:
            found.setdefault(unit.precinct if what == "precinct" else unit.batch, []).append((unit, ranks, weight))
        return {name: OfficeBallots(self.candidates, tuple(found[name])) for name in sorted(found)}


def office_ballots(configuration: Configuration) -> OfficeBallots:
    """The ballots of every file that a configuration names.

    Guarantee: each mark is one of a candidate of the configuration, of an undeclared write-in or an overvote that the
    configuration names, or the file is refused. What else the files hold and nobody counts is in `remarks`.
    """
    counts: dict[tuple[str, str, Ranks], int] = {}
    left, others = LeftOut(), list[str]()
    for source in configuration.sources:
        named = _names(configuration, source)
        if source.provider == "ess":
            read = read_ess(source, left, configuration.rules.most_ranks, named)
            others += other_sheets(source.path)
        else:
            read = _READERS[source.provider](source, left)
        for record in read:
            key = record.precinct, record.batch, _ranks(record.marks, named, configuration.rules.most_ranks, source)
            counts[key] = counts.get(key, 0) + 1
    if not counts:
        raise WrongUse("the files of the configuration hold no ballot with this contest; check the contest's name")
    met = {name for _, _, ranks in counts for _, who in ranks for name in who}
    candidates = [candidate.name for candidate in configuration.candidates]
    if UNDECLARED in met or any(source.write_in_label or source.blank_is_write_in for source in configuration.sources):
        candidates.append(UNDECLARED)
    if met <= {OVERVOTE}:
        raise WrongUse("nobody voted: no ballot of the configuration's files marks a candidate, so there is no result")
    units: dict[tuple[str, str], ReportingUnit] = {}
    listed = (
        (units.setdefault((precinct, batch), ReportingUnit(precinct, batch)), ranks, weight)
        for (precinct, batch, ranks), weight in counts.items()
    )
    return OfficeBallots(tuple(candidates), tuple(listed), (*left_out_sentences(left), *others))


def _names(configuration: Configuration, source: Source) -> dict[str, str]:
    """From what a file writes to whom it means."""
    named: dict[str, str] = {}
    for candidate in configuration.candidates:
        for name in (candidate.name, *candidate.aliases):
            if named.setdefault(name.strip(), candidate.name) != candidate.name:
                raise WrongUse(f"the configuration has two candidates who are called {name!r}; give each their own")
    if source.write_in_label:
        named[source.write_in_label] = UNDECLARED
    named.setdefault(UNDECLARED, UNDECLARED)
    if source.overvote_label:
        named[source.overvote_label] = OVERVOTE
    return named


def _ranks(marks: Iterable[Mark], named: Mapping[str, str], most: int | None, source: Source) -> Ranks:
    at: dict[int, set[str]] = {}
    for rank, code in marks:
        if code not in named:
            raise WrongUse(
                f"the records in {source.path.name} mark {code[:60]!r}, who is no candidate of the configuration; add "
                "them, or the code as an alias"
            )
        if most is not None and rank > most:
            raise WrongUse(
                f"the records in {source.path.name} have a mark at rank {rank}, and the configuration allows {most} "
                "ranks; set maxRankingsAllowed to what the ballot has"
            )
        at.setdefault(rank, set()).add(named[code])
    return tuple((rank, frozenset(at[rank])) for rank in sorted(at))
