"""The rows of a CSV file, with their lines, as Python's csv module reads them, and faster where nothing is quoted.

A row without a quotation mark is its text split at the delimiter, whatever reads it; and where every quoted cell opens
after a delimiter, closes before one and ends on its own line, all readers agree too. Such pieces of a file are plain
(:func:`is_plain`) and can be handed to any of them. From the first piece that is not, with a line break in quotes say,
which readers that cut a file into parts miscount, the csv module reads on alone. `tests/property/test_csv_rows.py`
holds all ways against each other.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

import numpy as np

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.formats.ballot_text import Pieces

_BLOCK_ROWS: Final = 8192  # rows of a block
_DELIMITERS: Final = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows, and the line on which each begins. Plain text is split when somebody asks for the rows."""

    lines: Sequence[int]
    split: list[list[str]] | None = None
    plain: bytes = b""
    delimiter: str = ","

    @property
    def rows(self) -> list[list[str]]:
        if self.split is not None:
            return self.split
        lines = self.plain.decode().split("\n")
        if not lines[-1]:
            lines.pop()
        if b'"' in self.plain:
            return list(csv.reader(lines, delimiter=self.delimiter, strict=True))
        return [line.split(self.delimiter) for line in lines]

    def above(self, row: int) -> list[list[str]]:
        """The rows before this one."""
        return self.split[:row] if self.split is not None else self._cut_cells(0, self._starts_at(row)).rows

    def below(self, row: int) -> Block:
        """The block from this row on; plain text stays as it is, and is not split for the sake of its heading."""
        if self.split is not None:
            return Block(self.lines[row:], self.split[row:])
        return replace(self._cut_cells(self._starts_at(row), len(self.plain)), lines=self.lines[row:])

    def _cut_cells(self, start: int, end: int) -> Block:
        return replace(self, plain=self.plain[start:end])

    def _starts_at(self, row: int) -> int:
        """Where a row of plain text begins, each being a line."""
        at = 0
        for _ in range(row):
            end = self.plain.find(b"\n", at)
            if end < 0:
                return len(self.plain)
            at = end + 1
        return at


def blocks(text: Pieces, delimiter: str) -> Iterator[Block]:
    """The rows of a file in blocks, empty lines as rows of one empty cell or none."""
    line, pieces = 1, text.pieces()
    for piece in pieces:
        if not is_plain(piece, delimiter) or _has_long_line(piece):
            yield from _quoted_rows(chain((piece,), pieces), line, delimiter)
            return
        many = piece.count(b"\n") + (not piece.endswith(b"\n"))
        yield Block(range(line, line + many), plain=piece, delimiter=delimiter)
        line += many


def is_plain(piece: bytes, delimiter: str) -> bool:
    """Whether every reader of CSV cuts these lines alike: no quoted cell has anything before or after it in its cell,
    nor a line break in it.

    Guarantee: if so, each line is a row, and marks come in pairs on it, the first of a pair at the start of a cell or
    behind a mark, the second at the end of a cell or before a mark.
    """
    if b'"' not in piece:
        return True
    signs = np.frombuffer(b"\n" + piece + (b"" if piece.endswith(b"\n") else b"\n"), dtype=np.uint8)
    marks = np.flatnonzero(signs == ord('"'))
    if len(marks) % 2:
        return False
    edge = np.zeros(256, dtype=np.bool_)
    edge[[ord(delimiter), ord("\n"), ord('"')]] = True
    if not (edge[signs[marks[::2] - 1]].all() and edge[signs[marks[1::2] + 1]].all()):
        return False
    breaks = np.flatnonzero(signs == ord("\n"))
    return not (np.searchsorted(marks, breaks) % 2).any()


def _has_long_line(piece: bytes) -> bool:
    """Whether a line may be longer than a cell that the csv module takes: it then fills half of one without a break."""
    half = csv.field_size_limit() // 2
    return any(piece.find(b"\n", i, i + half) < 0 for i in range(0, len(piece) - half, half))


def _quoted_rows(pieces: Iterator[bytes], line: int, delimiter: str) -> Iterator[Block]:
    reader = csv.reader(chain.from_iterable(map(_keep_piece, pieces)), delimiter=delimiter, strict=True)
    begins, rows = list[int](), list[list[str]]()
    before = 0
    try:
        for row in reader:
            begins.append(line + before)
            rows.append(row)
            before = reader.line_num
            if len(rows) == _BLOCK_ROWS:
                yield Block(begins, rows)
                begins, rows = [], []
    except csv.Error as error:
        at = line + reader.line_num - 1
        raise WrongUse(f"line {at}: not a line of a CSV file; is this another format?") from error
    if rows:
        yield Block(begins, rows)


def _keep_piece(piece: bytes) -> list[str]:
    """Lines with their ends, as the csv module wants them. (For splitlines more signs end a line than \\n.)"""
    lines = piece.decode().split("\n")
    last = lines.pop()
    return [f"{text}\n" for text in lines] + ([last] if last else [])


def delimiter_of(text: Pieces) -> str:
    """What is between the cells of the first line that holds any: a comma, a semicolon, a tab or a bar."""
    first = next((line for line in islice(_lines(text), 1000) if line.strip()), "")
    outside = "".join(first.split('"')[::2])
    counted = [outside.count(mark) for mark in _DELIMITERS]
    return _DELIMITERS[counted.index(max(counted))] if any(counted) else ","


def _lines(text: Pieces) -> Iterator[str]:
    return chain.from_iterable(piece.decode().split("\n") for piece in text.pieces())
