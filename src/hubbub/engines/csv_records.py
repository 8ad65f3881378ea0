"""Where the records of a CSV end; copies of a file that DuckDB reads as we do; quotation marks that do not close.

DuckDB reads through buffers and loses its place in a record that is longer than one of them: quoted line breaks in it
then swallow or invent other people. Such a record is left out anyway, by the rule about long ones, so it is taken out
before DuckDB sees it. What a record is, is DuckDB's own grammar with ``strict_mode=false``: a cell that begins with a
quotation mark, perhaps after one space, is quoted until the next one; after that a further one opens it again; in any
other cell a quotation mark is a sign like others. Blank lines belong to the record after them.

DuckDB ends a line at a carriage return too. In a file whose first line ends in a line feed that is a sign in somebody's
cell, which would make many records of one person: there it is read as a blank. Those right before a line feed belong to
it, and in quotation marks it stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import BinaryIO, Final, TypeAlias

LONGEST: Final = 1 << 21  # bytes of a record that is counted
BUFFERED: Final = 16  # such records fit into one buffer of DuckDB
MOST_LINES: Final = 100  # that a quoted cell may run over

Span: TypeAlias = tuple[int, int]

_BLANK, _START, _SPACE, _PLAIN, _QUOTED, _CLOSED, _END = range(7)


BOTH, FEEDS = "\r\n", "\n"
"""What ends a line: carriage returns and line feeds, or line feeds alone."""

_BARE: Final = re.compile(rb"\r(?![\r\n])")


@cache
def _quoted(mark: str, ends: str = BOTH) -> re.Pattern[bytes]:
    """A quoted cell, from its first quotation mark to its end or to the end of the text."""
    opening = rf'"(?:(?<=[{mark}{ends}]")|(?<=[{mark}{ends}] "))'
    again = rf'"(?:[^"{mark}{ends}]++|"[^"]*+(?:"|\Z))*+'
    return re.compile(rf'{opening}[^"]*+(?:{again}|\Z)'.encode())


@cache
def _steps(mark: str, ends: str = BOTH) -> dict[int, tuple[re.Pattern[bytes], dict[bytes, int]]]:
    """From each state: the sign that is looked for, and the state after it (a plain cell, if it is not listed)."""
    after = {mark.encode(): _START} | {end.encode(): _END for end in ends}
    opens = {b'"': _QUOTED}
    some, breaks = re.compile(rb"(?s:.)"), f"[{mark}{ends}]"
    return {
        _BLANK: (re.compile(rb"[^\r\n]"), after | opens | {b" ": _SPACE}),
        _START: (some, after | opens | {b" ": _SPACE}),
        _SPACE: (some, after | opens),
        _PLAIN: (re.compile(breaks.encode()), after),
        _QUOTED: (re.compile(rb'"'), {b'"': _CLOSED}),
        _CLOSED: (re.compile(breaks.replace("[", '["').encode()), after | opens),
    }


def giants(path: str, mark: str, longest: int) -> list[Span]:
    """Where the records are that are too long and that DuckDB would not notice as such, by their bytes."""
    chunk = longest * BUFFERED // 8
    if os.path.getsize(path) <= 4 * chunk:  # one buffer holds all of it
        return []
    with open(path, "rb") as file:
        pieces = [(start, end, text is None) for start, end, text in _pieces(file, mark, chunk)]
    found = [(start, end) for start, end, is_giant in pieces if is_giant]
    start, end, _ = pieces[-1]
    if end - start >= longest:
        found.append((start, end))  # DuckDB forgets to measure a last record without line end that lies in two buffers
    return found


def _pieces(file: BinaryIO, mark: str, chunk: int, ends: str = BOTH) -> Iterator[tuple[int, int, bytes | None]]:
    """The file in whole records, some at a time, by their bytes: where they are, and the text, or None for a record by
    itself that is longer than two chunks. What comes last is a record without its line end, or nothing."""
    start, text = file.seek(0), b""  # `text` is what was read from `start` on, where a record begins
    while more := file.read(chunk):
        text += more
        if whole := _whole(text, mark, ends):
            yield start, start + whole, text[:whole]
            start, text = start + whole, text[whole:]
        if len(text) > 2 * chunk:
            end = _end_of_record(file, start, mark, chunk, ends)
            yield start, end, None
            start, text = file.seek(end), b""
    yield start, start + len(text), text


def _whole(text: bytes, mark: str, ends: str = BOTH) -> int:
    """The length of the whole records at the beginning of `text`."""
    lines = b"\n" + text  # a line begins here too
    cells = [match.span() for match in _quoted(mark, ends).finditer(lines)] if b'"' in text else []
    starts, stops = [start for start, _ in cells], [stop for _, stop in cells]
    for start, stop in zip(reversed([0, *stops]), reversed([*starts, len(lines)]), strict=True):
        end = max(lines.rfind(sign.encode(), start, stop) for sign in ends)
        if end >= 0:
            break
    # Line breaks right before the end are outside of quotation marks, like the end itself.
    return len(lines[:end].rstrip(b"\r\n"))


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


def open_mark(path: str, mark: str, longest: int) -> int | None:
    """Where the first quotation mark is, by its bytes, that opens a cell and does not close as it should: never, only
    after more than :data:`MOST_LINES` lines, or on a later line with other signs of the cell after it, as where it
    meets the mark that opens another cell."""
    chunk = longest * BUFFERED // 8
    with open(path, "rb") as file, open(path, "rb") as again:
        for start, _, text in _pieces(file, mark, chunk):
            if text is None:
                found = _open_in_giant(again, start, mark, chunk)
            else:
                found = _open_in(text.removeprefix(_BOM) if start == 0 else text, mark)
                found = found if found is None or start or not text.startswith(_BOM) else found + len(_BOM)
            if found is not None:
                return start + found
    return None


_BOM: Final = b"\xef\xbb\xbf"


def _open_in(text: bytes, mark: str) -> int | None:
    if b'"' not in text:
        return None
    for match in _quoted(mark).finditer(b"\n" + text):
        cell = match[0]
        if _never_closes(cell) or ((b"\n" in cell or b"\r" in cell) and (_lines(cell) > MOST_LINES or _goes_on(cell))):
            return match.start() - 1
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


def line_of(path: str, place: int) -> int:
    """The line that a byte is in; the first is 1."""
    with open(path, "rb") as file:
        return 1 + sum(file.read(min(1 << 20, place - at)).count(b"\n") for at in range(0, place, 1 << 20))


# --- carriage returns -------------------------------------------------------------------------------------------------


def has_bare_returns(path: str, mark: str) -> bool:
    """Whether the first line ends in a line feed, and there is a carriage return that is not right before one."""
    with open(path, "rb") as file:
        end = _end_of_record(file, 0, mark, 1 << 16)
        file.seek(end - 1 if end else 0)
        if not re.match(rb"\r*\n", file.read(1 << 16)):
            return False
        file.seek(0)
        waiting = b""  # carriage returns of which it is not known what comes after them
        while more := file.read(1 << 22):
            text = waiting + more
            known = text.rstrip(b"\r")
            if _BARE.search(known):
                return True
            waiting = text[len(known) :]
    return False


def copy_with_blanks(path: str, mark: str, to: str, longest: int) -> int:
    """A copy with a blank for each carriage return that is in no quotation marks and not right before a line feed,
    without the records that are much too long; returns how many these are."""
    bare = re.compile(_quoted(mark, FEEDS).pattern + rb"|(\r++)(?!\n|\Z)")
    left_out = 0
    with open(path, "rb") as source, open(to, "wb") as target:
        for _, _, text in _pieces(source, mark, longest * BUFFERED // 8, FEEDS):
            if text is None:
                left_out += 1
                continue
            blank = bare.sub(lambda found: found[0] if found[1] is None else b" " * len(found[1]), b"\n" + text)
            target.write(blank[1:])
    return left_out


def copy_without(path: str, spans: Sequence[Span], to: str) -> None:
    """A copy of the file without these bytes."""
    with open(path, "rb") as source, open(to, "wb") as target:
        for (_, start), (stop, _) in zip([(0, 0), *spans], [*spans, (os.path.getsize(path), 0)], strict=True):
            source.seek(start)
            while start < stop and (text := source.read(min(stop - start, 1 << 20))):
                start += target.write(text)
