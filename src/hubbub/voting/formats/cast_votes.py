"""Ballots in CSV files, in five shapes, each with a column of counts or without.

::

    rank1,rank2,rank3           one column per rank
    Ann,Bob,
    ballot,rank,candidate       one row per ballot and rank
    17,1,Ann
    count,ranking               one row per ranking, best first, = between equals
    3,Ann>Bob=Cid
    Rank them [Ann],[Bob]       one column per candidate, ranks in the cells
    1,2
    Dominion's, Clear Ballot's  one column per candidate and rank, 1 where it was marked

A row with a count stands for so many identical ballots. Columns are found by their names, or named one by one
(:mod:`hubbub.voting.formats.csv_columns`). Cells may hold labels that are no candidates
(:mod:`hubbub.voting.formats.labels`).

Cells become small numbers while the file is read, a piece at a time; equal rows are then counted, and each different
row is interpreted once. So a million ballots take seconds and the memory of a table of small numbers.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import MOST_VOTERS, Ballots, check_table_size, checked_candidates
from hubbub.voting.formats import vendor_headings
from hubbub.voting.formats.ballot_file import BallotFile, Levels, check_any, gather, weight_of
from hubbub.voting.formats.ballot_text import Pieces
from hubbub.voting.formats.coded_rows import Coded, code_rows
from hubbub.voting.formats.csv_columns import (
    Columns,
    find_columns,
    id_column,
    listed_header,
    option_text,
    precinct_column,
    rank_in_cell,
    stamp_column,
)
from hubbub.voting.formats.csv_rows import Block, blocks, delimiter_of
from hubbub.voting.formats.labels import NOBODY, WRITE_IN, Meanings, NotListed, meanings
from hubbub.voting.formats.rated_cells import rated_ballots
from hubbub.voting.formats.reading import Changes, Rank, Reading, ranking_of
from hubbub.voting.recognition import (
    check_grid,
    check_names,
    check_rank_columns,
    check_ranks,
    check_repeats,
    nobody_voted,
)
from hubbub.voting.row_keys import equal_rows

_OTHER = -2  # an overvote, or several candidates in one cell


def plain_rankings(
    rows: NDArray[np.integer], weights: NDArray[np.int64], ranks: Sequence[Rank], names: Sequence[str]
) -> tuple[Ballots, NDArray[np.int64]]:
    """The ballots of rows that mark one candidate at each rank from the first on, nobody twice and nobody after an
    empty rank; and which rows are not like that. `ranks` says what each number of a cell means."""
    index = {name: i for i, name in enumerate(names)}
    small = np.int8 if len(names) < 128 else np.int16
    meaning = np.full(len(ranks), _OTHER, dtype=small)
    for code, rank in enumerate(ranks):
        if rank is not None and len(rank) < 2:
            meaning[code] = index[next(iter(rank))] if rank else -1
    table = meaning[rows]
    plain = ~((table == _OTHER).any(axis=1) | _gaps(table) | _twice(table, len(names)))
    table = table[:, : len(names)][plain]  # nobody is ranked beyond the number of candidates
    first, sums = equal_rows(table, weights[plain])
    check_table_size(len(first), len(names))
    kept = sums > 0
    ballots = Ballots.from_rows(names, table[first[kept]], sums[kept], trusted=True)
    return ballots, np.flatnonzero(~plain)


def _gaps(table: NDArray[np.integer]) -> NDArray[np.bool_]:
    gaps = np.zeros(len(table), dtype=np.bool_)
    for j in range(table.shape[1] - 1):
        gaps |= (table[:, j] < 0) & (table[:, j + 1] >= 0)
    return gaps


def _twice(table: NDArray[np.integer], candidates: int) -> NDArray[np.bool_]:
    """Whether a row has a candidate twice."""
    twice = np.zeros(len(table), dtype=np.bool_)
    if candidates > 64:
        ordered = np.sort(table, axis=1)
        for j in range(table.shape[1] - 1):
            twice |= (ordered[:, j] == ordered[:, j + 1]) & (ordered[:, j] >= 0)
        return twice
    seen = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        bit = np.where(column >= 0, np.uint64(1) << (column & 63).astype(np.uint64), np.uint64(0))
        twice |= (seen & bit) != 0
        seen |= bit
    return twice


__all__ = ["WRITE_IN", "read", "write"]

Marks = tuple[Rank, ...]

_HEADING_ROWS: Final = 32


def read(
    text: Pieces,
    reading: Reading,
    *,
    named: Mapping[str, str | Sequence[str]] | None = None,
    candidates: Sequence[str] | None = None,
    contest: str | None = None,
    precinct: str | None = None,
    numbers: Collection[int] = (),
) -> BallotFile:
    """The ballots of a CSV file. Without a list of candidates, all who are marked are, in alphabetical order. `precinct`
    is the column that says where each ballot was cast; with `numbers` each of these ballots is one of the units."""
    sheet = _open_table(text, named or {}, contest)
    columns = sheet.columns
    place = None if precinct is None else precinct_column(sheet.header, precinct, columns)
    apart = columns.ballot is not None  # rows of ballot, rank and candidate are looked at one by one
    used = columns.ranking_columns if place is None else (*columns.ranking_columns, place)
    stamps = stamp_column(sheet.header) if columns.ids is None else None
    table = code_rows(
        sheet.blocks,
        used,
        columns.count,
        sheet.width,
        stamps if columns.ids is None else columns.ids,
        merge_equal=not (apart or numbers),
    )
    check_any(len(table.rows))
    if table.repeated is not None and columns.ids is not None:
        raise WrongUse(
            f"line {table.repeated}: a ballot with the id of an earlier line, by the column "
            f'"{sheet.header[columns.ids]}"; take out what is there twice, or the column, if it names no ballots'
        )
    remarks = list(sheet.remarks)
    if table.repeated is not None:
        remarks.append(
            f'line {table.repeated} has the same "{sheet.header[stamps or 0]}" as an earlier one; is a ballot there twice?'
        )
    parts: Mapping[str, Coded] = {}
    if place is not None:
        table, parts = table.without_last()
    if numbers:
        if apart or columns.count is not None:
            raise WrongUse("an audit finds records by their number; give them with a row for each ballot")
        blank = [code for code, cell in enumerate(table.cells) if not cell.strip()]
        held = np.flatnonzero(~np.isin(table.rows, blank).all(axis=1)) if columns.marks else np.arange(len(table.rows))
        parts = {str(number): table.choose_rows(held[[number - 1]]) for number in sorted(numbers)}
    idle = [name for i, name in enumerate(sheet.header) if name and i not in (*used, columns.count, columns.ids)]
    if idle and not columns.marks:
        remarks.append(
            f"not counted: {'the column' if len(idle) == 1 else f'{len(idle):,} columns,'} {listed_header(idle)}"
        )
    if table.left_out:
        remarks.append(f"{table.left_out:,} rows of empty cells were left out")
    if columns.cells != "grid":
        rated = rated_ballots(table, _weights(table), columns, reading, candidates)
        units = {
            name: rated_ballots(part, _weights(part), columns, reading, candidates, top=rated.top).ballots
            for name, part in parts.items()
        }
        return replace(rated, title=sheet.title, remarks=(*remarks, *rated.remarks), units=units)
    if apart and (nobody := _rows_of_nobody(table, columns)):
        remarks.append(f"{nobody:,} {'row names' if nobody == 1 else 'rows name'} a ballot and a rank, and nobody")
    known = _understood(table, sheet, reading, candidates)
    ballots, changes, absent = _interpret_marks(table, columns, known)
    if ballots is None:
        raise WrongUse("the ballot file holds no ballot; at least one is needed")
    if absent:
        remarks.append(f"{absent:,} records that do not hold the contest were left out")
    counted = {name: _interpret_marks(part, columns, known)[0] for name, part in parts.items()}
    return BallotFile(
        ballots=ballots,
        format=_shape(sheet),
        title=sheet.title,
        reading=known.reading,
        changed=dict(changes.ballots),
        seats=sheet.seats,
        remarks=(*remarks, *known.read_as.remarks(known.reading)),
        units={name: part for name, part in counted.items() if part is not None},
    )


def _rows_of_nobody(table: Coded, columns: Columns) -> int:
    blank = [code for code, cell in enumerate(table.cells) if not cell.strip()]
    return int(np.isin(table.rows[:, columns.ranking_columns.index(columns.candidate or 0)], blank).sum())


@dataclass(frozen=True, slots=True)
class _Understood:
    """What the cells of a file mean, found from all of it: the same for each part."""

    read_as: Meanings
    reading: Reading
    everyone: tuple[str, ...]
    offered: str = ""  # the columns of a grid, as they are typed


def _understood(table: Coded, sheet: _Sheet, reading: Reading, candidates: Sequence[str] | None) -> _Understood:
    """What the cells mean; a file that is none of ranks is refused."""
    columns = sheet.columns
    offered = ""
    if columns.grid or columns.marks:
        offered = option_text(sheet.header, [i for i, _ in columns.grid])
        met = list(dict.fromkeys([name for _, name in columns.grid] + [name for _, name, _ in columns.marks]))
        if columns.grid:
            check_grid(_from_marks(table, columns, offered)[0], met, offered=offered)
        reading = reading.for_marks(counted=columns.count is not None)
        read_as = meanings(met, reading, candidates)
    else:
        read_as = _meanings(_cells(table, columns), table, reading, candidates)
        reading = reading.for_marks(counted=columns.count is not None and not read_as.marks)
        if not read_as.met and candidates is None:
            raise nobody_voted(int(_weights(table).sum()))
        if candidates is None:
            _check_columns(table, columns, read_as, sheet.header)
    if candidates is None:
        check_names(read_as.met, {new for _, new in reading.aliases})
    return _Understood(read_as, reading, tuple(candidates) if candidates else tuple(sorted(read_as.met)), offered)


def _interpret_marks(table: Coded, columns: Columns, known: _Understood) -> tuple[Ballots | None, Changes, int]:
    """The ballots of these rows, None where there are none; what the rules changed; how many do not hold the contest."""
    rows, absent = None, 0
    if columns.grid or columns.marks:
        counts, absent = _from_marks(table, columns, known.offered)
        kept = _rename_marks(counts, known.read_as)
    else:
        rows, kept = _rank_marks(table, columns, known.read_as, known.everyone)
    changes = Changes()
    levels: dict[Levels, int] = {}
    for marks, (weight, line) in kept.items():
        ranked = ranking_of(marks, known.reading, changes, weight, f"line {line}")
        levels[ranked] = levels.get(ranked, 0) + weight
    names = checked_candidates(known.everyone)
    if sum(levels.values()):
        rest = gather(names, levels)
        return (rest if rows is None else rows.join(rest)), changes, absent
    return (rows if rows is not None and rows.voters else None), changes, absent


def _shape(sheet: _Sheet) -> str:
    columns = sheet.columns
    if columns.grid or columns.marks:
        return sheet.shape
    return "csv-columns" if columns.ranks else "csv-rows" if columns.ranking is None else "csv-rankings"


def _check_columns(table: Coded, columns: Columns, read_as: Meanings, header: Sequence[str]) -> None:
    """Refuse columns that tell ballots apart and name nobody."""
    if columns.ranking is not None:
        return
    here = columns.ranks or (columns.ranking_columns.index(columns.candidate or 0),)
    rows = table.rows if columns.ranks else table.rows[:, list(here)]
    named = [read_as.ranks.get(cell) for cell in table.cells]
    at = columns.ranks or (columns.candidate or 0,)
    if len(columns.ranks) > 1:
        check_repeats(rows, named, [header[i] for i in at], table.ballots)
    check_rank_columns(rows, named, [header[i] for i in at], table.ballots, counted=columns.count is not None)


@dataclass(frozen=True, slots=True)
class _Sheet:
    columns: Columns
    header: Sequence[str]
    width: int  # columns that the heading names
    blocks: Iterator[Block]  # without the heading
    title: str = ""
    shape: str = "csv-grid"
    seats: int = 1
    remarks: tuple[str, ...] = ()


def _open_table(text: Pieces, named: Mapping[str, str | Sequence[str]], contest: str | None) -> _Sheet:
    """The heading of a file, and the rows below it."""
    parts = blocks(text, delimiter_of(text))
    head = next(parts, Block((), []))
    full, top = _top(head)
    if not full:
        raise WrongUse("the ballot file is empty; its first line must name columns")
    deep = vendor_headings.dominion_heading(top)
    if deep is not None and not named:
        columns, title, seats = vendor_headings.dominion_columns(top[:deep], contest)
        last = full[deep - 1]
        rest = chain((head.below(last + 1),), parts)
        return _count_marks(columns, top[deep - 1], len(top[1]), rest, title, "csv-dominion", seats)
    first = [cell.strip() for cell in top[0]]
    rest = chain((head.below(full[0] + 1),), parts)
    whole = [cell.strip() for cell in vendor_headings.clear_ballot_cells(top[0])]
    if vendor_headings.is_clear_ballot(whole) and not named:
        columns, title, seats = vendor_headings.clear_ballot_columns(whole, contest)
        return _count_marks(columns, whole, len(whole), rest, title, "csv-clear-ballot", seats)
    columns = find_columns(first, named, contest=contest, first=top[1:])
    return _Sheet(columns, first, len(first), rest, contest or "")


def _count_marks(
    columns: Columns, header: Sequence[str], width: int, rest: Iterator[Block], title: str, shape: str, seats: int
) -> _Sheet:
    """A vendor's export with a column for each candidate at each rank."""
    if seats > 1 and all(rank == 1 for _, _, rank in columns.marks):
        raise WrongUse(
            f'the contest "{title}" has one rank and {seats} seats, so its voters marked several candidates without '
            "ranking them; ranked contests and contests for one seat can be counted"
        )
    return _Sheet(replace(columns, ids=id_column(header)), header, width, rest, title, shape, seats)


def _top(head: Block) -> tuple[list[int], list[list[str]]]:
    """The first rows that hold anything, and where they are."""
    rows, full = head.above(_HEADING_ROWS), list[int]()
    while True:
        full = [i for i, row in enumerate(rows) if any(map(str.strip, row))][:6]
        if len(full) == 6 or len(rows) < _HEADING_ROWS or len(rows) == len(head.lines):
            return full, [rows[i] for i in full]
        rows = head.rows  # hardly ever: more than the first few lines are empty


def _weights(table: Coded) -> NDArray[np.int64]:
    """How many ballots each row stands for."""
    if table.weights is None:
        return np.ones(len(table.rows), dtype=np.int64) if table.ballots is None else table.ballots
    numbers = np.zeros(len(table.counts), dtype=np.int64)
    for code, cell in enumerate(table.counts):
        try:
            numbers[code] = weight_of(cell, "")
        except WrongUse:
            line = table.lines[int(np.argmax(table.weights == code))]
            numbers[code] = weight_of(cell, f"line {line}")
    weights: NDArray[np.int64] = numbers[table.weights]
    if float(weights.sum(dtype=np.float64)) > 2 * MOST_VOTERS:
        raise WrongUse("an election can have at most 2^53 ballots, and these are more")
    return weights


def _cells(table: Coded, columns: Columns) -> list[str]:
    """The different cells that may name candidates."""
    if columns.ranks:
        return list(table.cells)
    of = columns.ranking_columns.index(columns.candidate if columns.ranking is None else columns.ranking)
    here = [table.cells[code] for code in np.unique(table.rows[:, of]).tolist()]
    if columns.ranking is None:
        return here
    return list(dict.fromkeys(part for cell in here for part in _parts(cell)))


def _parts(cell: str) -> Iterator[str]:
    for level in cell.split(">"):
        yield from level.split("=")


def _meanings(cells: Sequence[str], table: Coded, reading: Reading, candidates: Sequence[str] | None) -> Meanings:
    try:
        return meanings(cells, reading, candidates)
    except NotListed as error:
        codes = [code for code, cell in enumerate(table.cells) if cell == error.cell or error.cell in _parts(cell)]
        lines = [table.lines[int(np.argmax((table.rows == code).any(axis=1)))] for code in codes]
        raise WrongUse(f"line {min(lines)}: {error.marked}") from error


Kept = dict[Marks, tuple[int, int]]  # ballots marked like this, and the line of the first


def _rank_marks(
    table: Coded, columns: Columns, read_as: Meanings, everyone: tuple[str, ...]
) -> tuple[Ballots | None, Kept]:
    """Rows that are rankings already, and what is left to the rules for marks."""
    weights = _weights(table)
    if columns.ranks:
        names = checked_candidates(everyone)
        ranks = [read_as.ranks[cell] for cell in table.cells]
        plain, other = plain_rankings(table.rows, weights, ranks, names)
        first, sums = table.different(other, weights)
        marks = (tuple(ranks[code] for code in row) for row in table.rows[first].tolist())
        return plain, _merge_marks(zip(marks, sums.tolist(), table.lines[first].tolist(), strict=True))
    if columns.ranking is not None:
        first, sums = table.different(None, weights)
        cells = (table.cells[code] for code in table.rows[first, 0].tolist())
        rankings = (_ranking(cell, read_as) for cell in cells)
        return None, _merge_marks(zip(rankings, sums.tolist(), table.lines[first].tolist(), strict=True))
    return None, _merge_marks(_one_per_rank(table, weights, read_as))


def _merge_marks(marked: Iterator[tuple[Marks, int, int]]) -> Kept:
    out: Kept = {}
    for marks, weight, line in marked:
        before, first = out.get(marks, (0, line))
        out[marks] = (before + weight, min(first, line))
    return dict(sorted(out.items(), key=lambda item: item[1][1]))


def _ranking(cell: str, read_as: Meanings) -> Marks:
    levels = cell.split(">") if cell.strip() else []
    return tuple(_tied_rank([read_as.ranks[part] for part in level.split("=")]) for level in levels)


def _one_per_rank(table: Coded, weights: NDArray[np.int64], read_as: Meanings) -> Iterator[tuple[Marks, int, int]]:
    """Ballots from rows of ballot, rank and candidate."""
    marks: dict[int, dict[int, list[Rank]]] = {}
    first: dict[int, tuple[int, int]] = {}  # weight and line
    next_rank: dict[int, int] = {}
    seen: set[tuple[int, int, int]] = set()
    every = zip(table.rows.tolist(), weights.tolist(), table.lines.tolist(), strict=True)
    for (ballot, rank, candidate), weight, line in every:
        if rank not in next_rank:
            digits = table.cells[rank].strip()
            if not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:6]) <= 32_000):
                raise WrongUse(f"line {line}: a rank is a whole number from 1 on")
            next_rank[rank] = int(digits)
        if (ballot, rank, candidate) in seen:
            raise WrongUse(f"line {line}: ballot, rank and candidate of an earlier line; take out what is there twice")
        seen.add((ballot, rank, candidate))
        marks.setdefault(ballot, {}).setdefault(next_rank[rank], []).append(read_as.ranks[table.cells[candidate]])
        if first.setdefault(ballot, (weight, line))[0] != weight:
            raise WrongUse(f"line {line}: another count than on an earlier line of the same ballot; they must agree")
    check_ranks((tuple(ranks), first[ballot][0]) for ballot, ranks in marks.items())
    for ballot, ranks in marks.items():
        yield (tuple(_in_order(ranks)), *first[ballot])


def _from_marks(
    table: Coded, columns: Columns, offered: str
) -> tuple[list[tuple[dict[int, list[str]], int, int]], int]:
    """For each different row the candidates at each rank; and how many rows lack the contest."""
    first, sums = table.different(None, _weights(table))
    out: list[tuple[dict[int, list[str]], int, int]] = []
    absent = 0
    rank = _grid_ranks(table, offered) if columns.grid else None
    for row, weight, line in zip(table.rows[first].tolist(), sums.tolist(), table.lines[first].tolist(), strict=True):
        ranks: dict[int, list[str]] = {}
        if rank is not None:
            for code, (_, name) in zip(row, columns.grid, strict=True):
                if (at := rank(code, line)) is not None:
                    ranks.setdefault(at, []).append(name)
        else:
            cells = [table.cells[code].strip() for code in row]
            if not any(cells):
                absent += weight
                continue
            for cell, (_, name, at) in zip(cells, columns.marks, strict=True):
                if cell not in ("", "0", "1"):
                    raise WrongUse(f"line {line}: a mark is 1 or 0; is this another format?")
                if cell == "1":
                    ranks.setdefault(at, []).append(name)
        out.append((ranks, weight, line))
    return out, absent


def _grid_ranks(table: Coded, offered: str) -> Callable[[int, int], int | None]:
    """What each cell of a grid says."""
    nobody = meanings(table.cells, Reading()).ranks
    known = {code: rank_in_cell(cell.strip()) for code, cell in enumerate(table.cells)}

    def rank(code: int, line: int) -> int | None:
        if known[code] is None and nobody[table.cells[code]] != NOBODY:
            raise WrongUse(
                f"line {line}: a rank in a grid is a number or a word like 1, 2nd or third choice; scores are counted "
                f"by `columns={shlex.quote('scores=' + offered)}` with `rule=score`, and marks by approvals= in its "
                "place with `rule=approval`"
            )
        return known[code]

    return rank


def _rename_marks(counts: Sequence[tuple[dict[int, list[str]], int, int]], read_as: Meanings) -> Kept:
    """The marks of each ballot by the meaning of the columns' names."""
    named = (
        (tuple(_in_order({at: [read_as.ranks[name] for name in who] for at, who in ranks.items()})), weight, line)
        for ranks, weight, line in counts
    )
    return _merge_marks(named)


def _in_order(ranks: Mapping[int, list[Rank]]) -> Iterator[Rank]:
    """The ranks of a ballot, at most two skipped ones in a row: no rule tells two of them from thousands."""
    before = 0
    for rank in sorted(ranks):
        yield from [NOBODY] * min(rank - before - 1, 2)
        yield _tied_rank(ranks[rank])
        before = rank


def _tied_rank(marks: Sequence[Rank]) -> Rank:
    """Several marks at one rank."""
    tied: frozenset[str] = frozenset()
    for mark in marks:
        if mark is None:
            return None
        tied |= mark
    return tied


def write(ballots: Ballots) -> str:
    """CSV text with counts: a column per rank, or, if some ballots are tied, a row per ballot and rank."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    strict = sorted(ballots.counts().items(), key=lambda row: -row[1])
    if not ballots.tied_voters:
        width = max([1, *(len(ranking) for ranking, _ in strict)])
        writer.writerow(["count", *(f"rank{i}" for i in range(1, width + 1))])
        writer.writerows([count, *ranking, *[""] * (width - len(ranking))] for ranking, count in strict)
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
