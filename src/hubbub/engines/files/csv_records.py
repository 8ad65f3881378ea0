"""Where the records of a CSV end; copies of a file that DuckDB reads as we do; quotation marks that do not close.

DuckDB reads through buffers and loses its place in a record that is longer than one of them: quoted line breaks in it
then swallow or invent other people. Such a record is left out anyway, by the rule about long ones, so it is taken out
before DuckDB sees it. What a record is, is DuckDB's own grammar with ``strict_mode=false``: a cell that begins with a
quotation mark, perhaps after one space, is quoted until the next one; after that a further one opens it again; in any
other cell a quotation mark is a sign like others. Blank lines belong to the record after them.

DuckDB ends a line at a carriage return too. In a file whose header ends in a line feed that is a sign in somebody's
cell, which would make many records of one person: there it is read as a blank. Those right before a line feed belong to
it, and in quotation marks it stays. In a file without a header no line ends in a carriage return: else the first person
would decide how all others are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from io import BufferedReader
from typing import IO, BinaryIO, Final, TypeAlias

from hubbub.engines.files.csv_regular import regular_end
from hubbub.runtime.frozen import dataclass

LONGEST: Final = 1 << 21  # bytes of a record that is counted
BUFFERED: Final = 16  # such records fit into one buffer of DuckDB
MOST_LINES: Final = 100  # that a quoted cell may run over

Span: TypeAlias = tuple[int, int]

_BOM: Final = b"\xef\xbb\xbf"
_BLANK, _START, _SPACE, _PLAIN, _QUOTED, _CLOSED, _END = range(7)


BOTH, FEEDS = "\r\n", "\n"
"""What ends a line: carriage returns and line feeds, or line feeds alone."""

_SPACES: Final = {BOTH: " ", FEEDS: " \r"}  # what is a blank at the beginning of a cell
_END_OF: Final = {BOTH: r"[\r\n]", FEEDS: r"\r*+\n"}
_BETWEEN_MARKS: Final = re.compile(rb'"[^"]*+"?')
_RETURNS: Final = re.compile(rb"\r++(?!\n|\Z)")
_LINE_END: Final = re.compile(rb"\r++(?:\n|\Z)")
_LONE_FEED: Final = re.compile(rb"(?<!\r)\n")
_BLANK_LINE: Final = re.compile(rb"\n\r\n")
_BARE: Final = re.compile(rb"\r(?!\n)")


@cache
def _quoted_cell(mark: str, ends: str = BOTH) -> re.Pattern[bytes]:
    """A quoted cell, perhaps after a space, from its first quotation mark to its end or to the end of the text."""
    again = rf'"(?:[^"{mark}{ends}]++|"[^"]*+(?:"|\Z))*+'
    return re.compile(rf'[{_SPACES[ends]}]?("[^"]*+(?:{again}|\Z))'.encode())


@cache
def _simple(mark: str, ends: str) -> re.Pattern[bytes]:
    """Cells with what ends each: on one line, and either quoted as they should be or without a quotation mark."""
    quoted, plain = r'"[^"\r\n]*+(?:""[^"\r\n]*+)*+"', rf'[^"{mark}\r\n]*+'
    return re.compile(rf"(?:(?:{quoted}|{plain})(?:[{mark}]|{_END_OF[ends]}))*+".encode())


@cache
def _rest_of_cell(mark: str, ends: str) -> re.Pattern[bytes]:
    return re.compile(rf"[^{mark}{ends}]*+[{mark}{ends}]".encode())


def _odd_cells(text: bytes, mark: str, ends: str = BOTH) -> list[Span]:
    """The quoted cells that are more than one line between two marks, in a text that begins with a record."""
    if b'"' not in text:
        return []
    simple, quoted, rest = _simple(mark, ends), _quoted_cell(mark, ends), _rest_of_cell(mark, ends)
    at, found = 0, []
    while simply := simple.match(text, at):
        at = simply.end()
        if cell := quoted.match(text, at):
            at = cell.end()
            found.append(cell.span(1))
        if (end := rest.match(text, at)) is None:
            break
        at = end.end()
    return found


@cache
def _steps(mark: str, ends: str = BOTH) -> dict[int, tuple[re.Pattern[bytes], dict[bytes, int]]]:
    """From each state: the sign that is looked for, and the state after it (a plain cell, if it is not listed)."""
    after = {mark.encode(): _START} | {end.encode(): _END for end in ends}
    opens, spaces = {b'"': _QUOTED}, {sign.encode(): _SPACE for sign in _SPACES[ends]}
    some, breaks = re.compile(rb"(?s:.)"), f"[{mark}{ends}]"
    return {
        _BLANK: (re.compile(f"[^{ends}]".encode()), after | opens | spaces),
        _START: (some, after | opens | spaces),
        _SPACE: (some, after | opens),
        _PLAIN: (re.compile(breaks.encode()), after),
        _QUOTED: (re.compile(rb'"'), {b'"': _CLOSED}),
        _CLOSED: (re.compile(breaks.replace("[", '["').encode()), after | opens),
    }


@dataclass(frozen=True, slots=True)
class Survey:
    """What DuckDB would misread in a file: `giants` are records too long that it would not notice as such, by their
    bytes, and `open_mark` the place of the first quotation mark that does not close as it should."""

    giants: list[Span]
    open_mark: int | None


def survey(path: str, mark: str, longest: int) -> Survey:
    """Look through a file once.

    A mark opens a cell and does not close as it should if it never does, only after more than :data:`MOST_LINES` lines,
    or on a later line with other signs of the cell after it, as where it meets the mark that opens another cell.
    """
    chunk = longest * BUFFERED // 8
    found, position, last = [], None, (0, 0)
    with open(path, "rb") as file, open(path, "rb") as again:
        for piece in _irregular_pieces(file, mark, longest):
            last = piece.start, piece.end
            if piece.text is None:
                found.append(last)
            if position is None:
                opened = _open_in_giant(again, piece.start, mark, chunk) if piece.text is None else _open_in(piece)
                position = None if opened is None else piece.start + opened
    if os.path.getsize(path) <= 4 * chunk:  # one buffer holds all of it
        return Survey([], position)
    if last[1] - last[0] >= longest:
        found.append(last)  # DuckDB forgets to measure a last record without line end that lies in two buffers
    return Survey(found, position)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some whole records, where they are by their bytes, and the odd cells in their text; or one record by itself that
    is too long to hold, without it. The last piece is a record without its line end, or nothing."""

    start: int
    end: int
    text: bytes | None
    odd: list[Span]


def is_regular(path: str, mark: str, longest: int) -> bool:
    """Whether it is proved, without reading sign by sign, that a survey would find nothing in a file, that no carriage
    return stands anywhere but right before a line feed, and that one of more than a buffer has one kind of line end."""
    with open(path, "rb") as file:
        size = os.path.getsize(path)
        ends = b"" if size <= longest * BUFFERED else _first_end(file, mark)
        file.seek(0)
        return _regular_end(file, _first_byte(file), mark, longest, returns=False, ends=ends) == size


def _regular_end(file: BufferedReader, start: int, mark: str, longest: int, *, returns: bool, ends: bytes = b"") -> int:
    return regular_end(file, start, mark, block=longest // 2, lines=MOST_LINES, returns=returns, ends=ends)


def _first_end(file: BinaryIO, mark: str) -> bytes:
    """What the first line ends in: a line feed, perhaps after a carriage return; nothing if it is something else."""
    file.seek(0)
    end = _end_of_record(file, _first_byte(file), mark, 1 << 16)
    file.seek(end - 1 if end else 0)
    found = re.match(rb"\r*\n", file.read(1 << 16))
    return found[0][-2:] if found else b""


def _first_byte(file: BinaryIO) -> int:
    """Where the first record begins."""
    return len(_BOM) if file.read(len(_BOM)) == _BOM else 0


def _irregular_pieces(file: BufferedReader, mark: str, longest: int) -> Iterator[_Piece]:
    """The pieces that have to be read sign by sign; the last one is a record without its line end, or nothing."""
    start, size = _first_byte(file), file.seek(0, os.SEEK_END)
    while (start := _regular_end(file, start, mark, longest, returns=True)) < size:
        pieces = _pieces(file, mark, longest * BUFFERED // 8, start=start)
        yield (piece := next(pieces))
        if (start := piece.end) == size:
            yield from pieces
            return
    yield _Piece(size, size, b"", [])


def _pieces(file: BinaryIO, mark: str, chunk: int, ends: str = BOTH, *, start: int | None = None) -> Iterator[_Piece]:
    start = _first_byte(file) if start is None else start
    text = b""  # what was read from `start` on, where a record begins
    file.seek(start)
    while more := file.read(chunk):
        text += more
        odd = _odd_cells(text, mark, ends)
        if complete := _complete_records(text, odd, ends):
            yield _Piece(start, start + complete, text[:complete], [cell for cell in odd if cell[0] < complete])
            start, text = start + complete, text[complete:]
        if len(text) > 2 * chunk:
            end = _end_of_record(file, start, mark, chunk, ends)
            yield _Piece(start, end, None, [])
            start, text = file.seek(end), b""
    yield _Piece(start, start + len(text), text, _odd_cells(text, mark, ends))


def _complete_records(text: bytes, odd: Sequence[Span], ends: str = BOTH) -> int:
    """The length of the whole records at the beginning of `text`, of which these are the odd cells."""
    starts, stops = [start for start, _ in odd], [stop for _, stop in odd]
    for start, stop in zip(reversed([0, *stops]), reversed([*starts, len(text)]), strict=True):
        end = max(text.rfind(sign.encode(), start, stop) for sign in ends)
        if end >= 0:
            # Line breaks right before the end are outside of quotation marks, like the end itself.
            before = len(text[:end].rstrip(b"\r\n"))
            return before + 1 if before else 0
    return 0


def _end_of_record(file: BinaryIO, start: int, mark: str, chunk: int, ends: str = BOTH) -> int:
    """Where the record that begins at `start` ends, in little memory however long it is."""
    at, state = file.seek(start), _BLANK
    while text := file.read(chunk):
        i = 0
        while match := _steps(mark, ends)[state][0].search(text, i):
            i, state = match.end(), _steps(mark, ends)[state][1].get(match[0], _PLAIN)
            if state == _END:
                return at + i
        at += len(text)
    return at


# --- quotation marks that do not close --------------------------------------------------------------------------------


def _open_in(piece: _Piece) -> int | None:
    assert piece.text is not None
    for start, stop in piece.odd:
        cell = piece.text[start:stop]
        if _never_closes(cell) or _lines(cell) > MOST_LINES or (_lines(cell) > 1 and _goes_on(cell)):
            return start
    return None


def _lines(cell: bytes) -> int:
    return 1 + max(cell.count(b"\n"), cell.count(b"\r"))


def _never_closes(cell: bytes) -> bool:
    return cell.count(b'"') % 2 == 1


def _goes_on(cell: bytes) -> bool:
    """Whether there is something of the cell outside of its quotation marks."""
    return bool(re.sub(rb'"[^"]*"', b"", cell).strip())


def _open_in_giant(file: BinaryIO, start: int, mark: str, chunk: int) -> int | None:
    """The same in a record too long to hold."""
    at, state, opened, lines = file.seek(start), _BLANK, 0, 0
    while text := file.read(chunk):
        i = 0
        while match := _steps(mark)[state][0].search(text, i):
            if state == _QUOTED:
                lines += _lines(text[i : match.start()]) - 1
            before, i, state = state, match.end(), _steps(mark)[state][1].get(match[0], _PLAIN)
            if state == _QUOTED and before != _CLOSED:
                opened, lines = at + i - 1, 1
            if lines > MOST_LINES:
                return opened - start
            if state == _END:
                return None
        if state == _QUOTED:
            lines += _lines(text[i:]) - 1
            if lines > MOST_LINES:
                return opened - start
        at += len(text)
    return opened - start if state == _QUOTED else None


def tall_cells(path: str, mark: str, longest: int) -> tuple[int, int, int]:
    """How many cells run over several lines, over how many lines the tallest does, and the position where it begins.

    Two stray quotation marks some lines apart make one such cell of all the rows between them, and nothing but the
    reader of the text can tell it from an address.
    """
    many, most, position = 0, 0, 0
    with open(path, "rb") as file:
        for piece in _pieces(file, mark, longest * BUFFERED // 8):
            for start, stop in piece.odd:
                lines = _lines((piece.text or b"")[start:stop])
                many += lines > 1
                if lines > max(most, 1):
                    most, position = lines, piece.start + start
    return many, most, position


def line_of(path: str, position: int) -> int:
    """The line that a byte is in; the first is 1."""
    with open(path, "rb") as file:
        return 1 + sum(file.read(min(1 << 20, position - at)).count(b"\n") for at in range(0, position, 1 << 20))


# --- carriage returns -------------------------------------------------------------------------------------------------


def has_odd_returns(path: str, mark: str, buffer: int, *, named: bool) -> bool:
    """Whether lines end in a line feed, as the header does if they are named, and there is a carriage return that is not
    right before one, or a file of more than a buffer has lines that end in one way and another, or blank lines with a
    carriage return. Where a buffer ends at such a line, DuckDB takes its line feed for a part of the next cell, or loses
    the next record."""
    with open(path, "rb") as file:
        if named and not _first_end(file, mark):
            return False
        is_large, is_lone, is_double = file.seek(0, os.SEEK_END) > buffer, False, False
        file.seek(0)
        waiting = b""  # carriage returns of which it is not known what comes after them, and the sign before
        while more := file.read(1 << 22):
            text = waiting + more
            known = text.rstrip(b"\r")
            is_lone = is_lone or _LONE_FEED.search(known) is not None
            is_double = is_double or b"\r\n" in known
            if _BARE.search(known) or (is_large and ((is_lone and is_double) or _BLANK_LINE.search(known))):
                return True
            waiting = text[max(len(known) - 1, 0) :]
    return False


def copy_with_blanks(path: str, mark: str, target: IO[bytes], longest: int) -> int:
    """A copy in which, outside of quotation marks, lines end in a line feed alone and each other carriage return is a
    blank, without the records that are much too long; returns how many these are."""
    left_out = 0
    with open(path, "rb") as source, target:
        for piece in _pieces(source, mark, longest * BUFFERED // 8, FEEDS):
            if piece.text is None:
                left_out += 1
            else:
                target.write(_blank_returns(piece.text, piece.odd))
    return left_out


def _blank_returns(text: bytes, odd: Sequence[Span]) -> bytes:
    """Some whole records with line feeds and blanks for carriage returns outside of quotation marks."""
    found, start = list[bytes](), 0
    kept = [match.span() for first, last in odd for match in _BETWEEN_MARKS.finditer(text, first, last)]
    for stop, after in [*kept, (len(text), len(text))]:
        outside = text[start : stop + 1]  # with the mark after it, so that only the last one ends where the text does
        changed = _RETURNS.sub(lambda match: b" " * len(match[0]), _LINE_END.sub(b"\n", outside))
        found += changed[: len(changed) - len(text[stop : stop + 1])], text[stop:after]
        start = after
    return b"".join(found)


def copy_without(path: str, spans: Sequence[Span], target: IO[bytes]) -> None:
    """A copy of the file without these bytes."""
    with open(path, "rb") as source, target:
        for (_, start), (stop, _) in zip([(0, 0), *spans], [*spans, (os.path.getsize(path), 0)], strict=True):
            source.seek(start)
            while start < stop and (text := source.read(min(stop - start, 1 << 20))):
                start += target.write(text)
