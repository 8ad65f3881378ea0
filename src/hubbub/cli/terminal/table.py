"""Tables without lines: columns of texts or numbers, two spaces apart, within the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from hubbub.cli import by_lines
from hubbub.cli.terminal.text import cells, cut, styled, wrap

_GAP: Final = "  "


class Column(NamedTuple):
    """A heading, and how what stands below it is laid out."""

    heading: str = ""
    right: bool = False
    """Numbers: they end in one place."""
    least: int = 0
    most: int | None = None
    firm: bool = False
    """Gives way after the others, and is not broken between words before that."""
    folds: bool = False
    """Words that are too long go on in the next line; else they are cut, and an ellipsis says so."""


class Cell(NamedTuple):
    """A text that has a style, or does not begin where its column does."""

    text: str
    style: str | None = None
    indent: int = 0


class _Row(NamedTuple):
    cells: tuple[Cell, ...]
    style: str | None


class Table:
    """Rows of cells. What stands in them is text, whatever it looks like."""

    def __init__(self, *columns: Column | str, title: str | None = None, indent: str = "", headed: bool = True) -> None:
        self._columns = [each if isinstance(each, Column) else Column(each) for each in columns]
        self._title, self._indent = title, indent
        self._head = [_Row(tuple(_cell(each.heading) for each in self._columns), "bold")] if headed else []
        self._rows: list[_Row] = []

    def add(self, *row: str | Cell, style: str | None = None) -> None:
        """A row, with a cell for each column."""
        if len(row) != len(self._columns):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(self._columns)} columns")
        self._rows.append(_Row(tuple(map(_cell, row)), style))

    def lines(self, width: int) -> Iterator[str]:
        """What is written, in so many cells."""
        gaps = len(self._indent) + len(_GAP) * (len(self._columns) - 1)
        widths = _widths(self._columns, self._longest("\n"), self._longest(None), width - gaps)
        if self._title is not None:
            for line in wrap(by_lines(self._title), max(sum(widths) + gaps + len(self._indent), 1)):
                yield styled(line, "italic")
        for row in self._head:
            yield from self._drawn(row, widths, bottom=True)
        for row in self._rows:
            yield from self._drawn(row, widths)

    def _longest(self, mark: str | None) -> list[int]:
        """The cells that the longest part of each column fills: a line, or where there is no mark, a word."""
        rows = [row.cells for row in (*self._head, *self._rows)] or [(Cell(""),) * len(self._columns)]
        return [
            max(cell.indent + max(map(cells, cell.text.split(mark)), default=0) for cell in column)
            for column in zip(*rows, strict=True)
        ]

    def _drawn(self, row: _Row, widths: Sequence[int], *, bottom: bool = False) -> Iterator[str]:
        laid = [
            _laid(cell, column, width) for cell, column, width in zip(row.cells, self._columns, widths, strict=True)
        ]
        height = max(map(len, laid), default=0)
        for at in range(height):
            line, behind = self._indent, ""  # spaces are written before a text, and none after the last
            for cell, lines, column, width in zip(row.cells, laid, self._columns, widths, strict=True):
                i = at - (height - len(lines)) if bottom else at
                text = lines[i] if 0 <= i < len(lines) else ""
                space = " " * (width - cells(text))
                if text:
                    line += behind + space * column.right + styled(text, cell.style or row.style)
                    behind = space * (not column.right) + _GAP
                else:
                    behind += space + _GAP
            yield line.rstrip(" ")


def _cell(cell: str | Cell) -> Cell:
    text, style, indent = cell if isinstance(cell, Cell) else Cell(cell)
    return Cell(by_lines(text), style, indent)


def _laid(cell: Cell, column: Column, width: int) -> list[str]:
    """The lines of a cell, in the width of its column."""
    room = max(width - cell.indent, 1)
    if column.firm and not column.folds:
        lines = [cut(line.rstrip(" "), room) for line in cell.text.split("\n")]
    else:
        lines = wrap(cell.text, room, folds=column.folds)
    return [" " * cell.indent + line if line else "" for line in lines]


def _widths(columns: Sequence[Column], lines: Sequence[int], words: Sequence[int], room: int) -> list[int]:
    """How wide each column is: as its lines want, if there is room; else the widest give way first, as long as that
    breaks neither a word nor what is firm, then as long as it breaks no word, then all of them."""
    wanted = [
        max(each.least, size if each.most is None else min(size, each.most))
        for each, size in zip(columns, lines, strict=True)
    ]
    words = [min(word, size) for word, size in zip(words, wanted, strict=True)]
    unbroken = [
        size if each.firm else max(each.least, word) for each, size, word in zip(columns, wanted, words, strict=True)
    ]
    least = [min(size, 1) for size in wanted]
    for floor in (unbroken, words, least):
        if sum(floor) <= room:
            return _levelled(wanted, floor, room)
    return least


def _levelled(wanted: Sequence[int], floor: Sequence[int], room: int) -> list[int]:
    """Every width as wanted, but at most some level, the largest that fits; what is left over goes to the first ones."""
    level = min(max(wanted, default=0), room)
    while sum(widths := [max(least, min(size, level)) for size, least in zip(wanted, floor, strict=True)]) > room:
        level -= 1
    left = room - sum(widths)
    for i, size in enumerate(wanted):
        if left and size > widths[i] == level:
            widths[i] += 1
            left -= 1
    return widths
