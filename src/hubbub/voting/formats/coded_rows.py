"""The cells of a CSV file as small numbers, row by row: what equal rows are found with.

Long pieces of plain text (`csv_rows.is_plain`) are cut by Arrow. If it finds rows of unequal length, or anything else
it objects to, the same piece is cut again here, where errors have lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.formats.csv_rows import Block
from hubbub.voting.row_keys import equal_rows

Numbers = NDArray[np.integer]

_MOST_ROWS: Final = 1 << 21  # that are kept apart before equal ones are put together
_WORTH_ARROW: Final = 1 << 18  # bytes for which loading it pays


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """`rows[i, j]` is the number of the cell in the j-th column asked for, `cells` the cells by their numbers.

    `weights[i]` is the number of the count's cell, `counts` those cells; `lines[i]` is where the row begins.
    """

    rows: Numbers  # rows, columns
    lines: NDArray[np.int64]
    cells: tuple[str, ...]
    weights: Numbers | None
    counts: tuple[str, ...]
    left_out: int  # rows of nothing but empty cells
    ballots: NDArray[np.int64] | None = None  # how many rows each row stands for, where equal ones were put together
    repeated: int | None = None  # the line of the first row with an id that was there before

    def different(
        self, chosen: NDArray[np.int64] | None, weights: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of all rows, or of the `chosen` ones, where each different one comes first, and how many ballots it is."""
        if chosen is None:
            first, sums = equal_rows(self.rows, weights)
            return first.astype(np.int64), sums
        first, sums = equal_rows(self.rows[chosen], weights[chosen])
        return chosen[first], sums

    def without_last(self) -> tuple[Coded, dict[str, Coded]]:
        """All rows without their last column, and those of each cell of it, in the order of the alphabet."""
        used = np.flatnonzero(np.bincount(self.rows[:, :-1].ravel(), minlength=len(self.cells)))
        new = np.zeros(len(self.cells), dtype=np.int32)
        new[used] = np.arange(len(used))
        cells = tuple(self.cells[code] for code in used.tolist())
        whole = replace(self, rows=_narrow(new[self.rows[:, :-1]], len(cells)), cells=cells)
        names = [cell.strip() for cell in self.cells]
        met = sorted({names[code] for code in np.unique(self.rows[:, -1]).tolist()})
        place = np.array([met.index(name) if name in met else 0 for name in names])[self.rows[:, -1]]
        order = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[order], np.arange(1, len(met)))
        return whole, {name: whole.choose_rows(part) for name, part in zip(met, np.split(order, ends), strict=True)}

    def choose_rows(self, rows: NDArray[np.intp]) -> Coded:
        return replace(
            self,
            rows=self.rows[rows],
            lines=self.lines[rows],
            weights=None if self.weights is None else self.weights[rows],
            ballots=None if self.ballots is None else self.ballots[rows],
        )


class _Codes(dict[str, int]):
    """Numbers for cells, in the order in which they are met."""

    def __missing__(self, cell: str) -> int:
        self[cell] = code = len(self)
        return code


def code_rows(
    blocks: Iterator[Block],
    columns: Sequence[int],
    count: int | None,
    width: int,
    ids: int | None = None,
    *,
    merge_equal: bool = False,
) -> Coded:
    """The rows of these blocks, at these columns. A row of empty cells alone is left out; `width` cells are named.
    Ids, if a column has any, should differ: where the first does not is told. With `merge_equal`, where no column holds
    counts, equal rows of long files are put together while they are read, so that memory grows with different rows."""
    cells, counts = _Codes(), _Codes()
    parts, seen = list[_Part](), _Ids(ids)
    met: _DistinctRows | None = None
    for block in blocks:
        if merge_equal and count is None and sum(len(part.rows) for part in parts) > _MOST_ROWS:
            met = _merge(met, parts)
            parts = []
        part = _by_arrow(block, columns, count, width, cells, counts, seen)
        if part is None:
            part = _by_hand(block, columns, count, width, cells, counts, seen)
        if part is not None:
            parts.append(part)
    left_out = sum(part.left_out for part in parts) + (0 if met is None else met.left_out)
    if met is not None:
        met = _merge(met, parts)
        return Coded(
            rows=met.rows,
            lines=met.lines,
            cells=tuple(cells),
            weights=None,
            counts=(),
            left_out=left_out,
            ballots=met.ballots,
            repeated=seen.repeated_line(),
        )
    nothing = np.empty((0, len(columns)), dtype=np.uint8)
    weighted = None if count is None else np.concatenate([nothing[:, 0], *(part.weights for part in parts)])
    return Coded(
        rows=np.concatenate([nothing, *(part.rows for part in parts)]),
        lines=np.concatenate([np.empty(0, dtype=np.int64), *(part.lines for part in parts)]),
        cells=tuple(cells),
        weights=weighted,
        counts=tuple(counts),
        left_out=left_out,
        repeated=seen.repeated_line(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _DistinctRows:
    """Different rows, the line where each comes first, and how many are equal to it."""

    rows: Numbers
    lines: NDArray[np.int64]
    ballots: NDArray[np.int64]
    left_out: int


def _merge(met: _DistinctRows | None, parts: Sequence[_Part]) -> _DistinctRows:
    """What was met before and these parts, equal rows once, in the order in which they come."""
    old = [] if met is None else [met]
    rows = np.concatenate([*(each.rows for each in old), *(part.rows for part in parts)])
    lines = np.concatenate([*(each.lines for each in old), *(part.lines for part in parts)])
    many = np.concatenate([*(each.ballots for each in old), *(np.ones(len(part.rows), np.int64) for part in parts)])
    first, sums = equal_rows(rows, many)
    order = np.argsort(first)
    first, sums = first[order], sums[order]
    left_out = sum(part.left_out for part in parts) + sum(each.left_out for each in old)
    return _DistinctRows(rows[first], lines[first], sums, left_out)


class _Ids:
    """The cells of a column that should differ from row to row, as they come: lists, or columns of Arrow's."""

    def __init__(self, column: int | None) -> None:
        self.column = column
        self._parts: list[tuple[Any, Sequence[int]]] = []

    def add(self, cells: Any, begins: Sequence[int]) -> None:
        self._parts.append((cells, begins))

    def repeated_line(self) -> int | None:
        """The line of the first cell that was there before; empty ones do not count."""
        if self._all_differ():
            return None
        seen = set[str]()
        for cells, begins in self._parts:
            for cell, line in zip(cells if isinstance(cells, list) else cells.to_pylist(), begins, strict=True):
                if (name := cell.strip()) in seen:
                    return line
                seen |= {name} if name else set()
        return None

    def _all_differ(self) -> bool:
        """Whether that is so at a glance, as it is for almost every long file."""
        if all(isinstance(cells, list) for cells, _ in self._parts):
            return not self._parts
        import pyarrow as pa
        from pyarrow import compute

        columns = [pa.chunked_array([cells]) if isinstance(cells, list) else cells for cells, _ in self._parts]
        joined = pa.chunked_array([chunk for column in columns for chunk in column.chunks])
        try:
            numbers = _in_numpy(compute.cast(joined, pa.int64()).chunks, np.int64)
        except pa.ArrowInvalid:
            return len(compute.unique(compute.utf8_trim_whitespace(joined))) == len(joined)
        if (np.diff(numbers) > 0).all():  # as records are numbered
            return True
        return len(compute.unique(joined)) == len(joined)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What one block gives."""

    rows: Numbers
    lines: NDArray[np.int64]
    weights: Numbers
    left_out: int


def _by_hand(
    block: Block, columns: Sequence[int], count: int | None, width: int, cells: _Codes, counts: _Codes, ids: _Ids
) -> _Part | None:
    rows, begins, left_out = block.rows, block.lines, 0
    if set(map(len, rows)) - {width}:
        last = max([*columns, count or 0, ids.column or 0])
        full = [i for i, row in enumerate(rows) if _full(row, begins[i], last, width)]
        left_out = sum(1 for row in rows if len(row) > 1 and not any(map(str.strip, row)))
        rows, begins = [rows[i] for i in full], [begins[i] for i in full]
    if not rows:
        return None
    if ids.column is not None:
        ids.add([row[ids.column] for row in rows], begins)
    pick = itemgetter(*columns)
    picked = map(pick, rows) if len(columns) == 1 else chain.from_iterable(map(pick, rows))
    numbers = np.fromiter(map(cells.__getitem__, picked), dtype=np.int32, count=len(rows) * len(columns))
    weights = np.zeros(0, dtype=np.int32)
    if count is not None:
        weights = np.fromiter((counts[row[count]] for row in rows), dtype=np.int32, count=len(rows))
    table = numbers.reshape(len(rows), len(columns))
    return _without_empty(table, begins, weights, rows.__getitem__, left_out, cells, counts)


def _by_arrow(
    block: Block, columns: Sequence[int], count: int | None, width: int, cells: _Codes, counts: _Codes, ids: _Ids
) -> _Part | None:
    """The same by Arrow, for long pieces of plain text in which every line has as many cells as the heading."""
    if len(block.plain) < _WORTH_ARROW or width < 2:
        return None
    import pyarrow as pa
    from pyarrow import csv

    names = [str(i) for i in range(width)]
    wanted = [*columns, *(i for i in (count, ids.column) if i is not None)]
    kinds = dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))
    if ids.column is not None and ids.column not in columns:
        kinds[names[ids.column]] = pa.string()
    try:
        table = csv.read_csv(
            pa.BufferReader(block.plain),
            read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=2 * len(block.plain)),
            parse_options=csv.ParseOptions(
                delimiter=block.delimiter, quote_char='"' if b'"' in block.plain else False, ignore_empty_lines=False
            ),
            convert_options=csv.ConvertOptions(
                include_columns=[names[i] for i in dict.fromkeys(wanted)],
                column_types=kinds,
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(block.lines):
        return None
    found = np.empty((table.num_rows, len(columns)), dtype=np.int32)
    for j, i in enumerate(columns):
        found[:, j] = _renumber(table.column(names[i]), cells)
    weights = np.zeros(0, dtype=np.int32) if count is None else _renumber(table.column(names[count]), counts)
    if ids.column is not None:
        ids.add(table.column(names[ids.column]).cast(pa.string()), block.lines)
    every = list[list[str]]()

    def row(i: int) -> list[str]:
        every.extend([] if every else block.rows)
        return every[i]

    return _without_empty(found, block.lines, weights, row, 0, cells, counts)


def _renumber(column: Any, codes: _Codes) -> NDArray[np.int32]:
    """A column of Arrow's numbers in ours."""
    parts = []
    for chunk in column.chunks:
        ours = np.array([codes[cell] for cell in chunk.dictionary.to_pylist()], dtype=np.int32)
        parts.append(ours[_in_numpy([chunk.indices], np.int32)])
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _in_numpy(chunks: Sequence[Any], kind: type[np.int32] | type[np.int64]) -> NDArray[np.integer]:
    """Arrow's numbers, none of them missing, by their bytes: its own way loads pandas, which takes longer than a file."""
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype=kind, count=chunk.offset + len(chunk))[chunk.offset :]
        for chunk in chunks
        if len(chunk)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def _without_empty(
    table: NDArray[np.int32],
    begins: Sequence[int],
    weights: NDArray[np.int32],
    row: Callable[[int], list[str]],
    left_out: int,
    cells: _Codes,
    counts: _Codes,
) -> _Part:
    """A part without the rows that are empty in the columns that are not read, too."""
    empty = np.fromiter((not cell.strip() for cell in cells), dtype=np.bool_, count=len(cells))
    blank = np.flatnonzero(empty[table[:, 0]])
    for j in range(1, table.shape[1]):
        blank = blank[empty[table[blank, j]]]
    gone = [i for i in blank.tolist() if not any(map(str.strip, row(i)))]
    lines = _array(begins)
    if gone:
        table, lines = np.delete(table, gone, axis=0), np.delete(lines, gone)
        weights = np.delete(weights, gone) if len(weights) else weights
    return _Part(_narrow(table, len(cells)), lines, _narrow(weights, len(counts)), left_out + len(gone))


def _array(lines: Sequence[int]) -> NDArray[np.int64]:
    if isinstance(lines, range):
        return np.arange(lines.start, lines.stop, dtype=np.int64)
    return np.asarray(lines, dtype=np.int64)


def _full(row: list[str], line: int, last: int, width: int) -> bool:
    """Whether a row holds anything; it must then have a cell in every column that is read, and none beyond."""
    if not any(map(str.strip, row)):
        return False
    if any(map(str.strip, row[width:])):
        raise WrongUse(f"line {line}: more columns than the first line names; is a comma in a name not quoted?")
    if len(row) <= last:
        raise WrongUse(
            f"line {line}: fewer columns than the first line names; fill the row up with empty cells, as saving the sheet again as CSV does"
        )
    return True


def _narrow(numbers: NDArray[np.int32], codes: int) -> Numbers:
    """In the smallest words that hold so many codes."""
    if codes <= 1 << 8:
        return numbers.astype(np.uint8)
    return numbers.astype(np.uint16) if codes <= 1 << 16 else numbers
