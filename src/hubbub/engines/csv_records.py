"""Where the records of a CSV end, and a copy of a file without the longest ones.

DuckDB reads through buffers and loses its place in a record that is longer than one of them: quoted line breaks in it
then swallow or invent other people. Such a record is left out anyway, by the rule about long ones, so it is taken out
before DuckDB sees it. What a record is, is DuckDB's own grammar with ``strict_mode=false``: a cell that begins with a
quotation mark, perhaps after one space, is quoted until the next one; after that a further one opens it again; in any
other cell a quotation mark is a sign like others. Blank lines belong to the record after them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from typing import IO, BinaryIO, Final, TypeAlias

LONGEST: Final = 1 << 21  # bytes of a record that is counted
BUFFERED: Final = 16  # such records fit into one buffer of DuckDB

Span: TypeAlias = tuple[int, int]

_BLANK, _START, _SPACE, _PLAIN, _QUOTED, _CLOSED, _END = range(7)


@cache
def _quoted(mark: str) -> re.Pattern[bytes]:
    """A quoted cell, from its first quotation mark to its end or to the end of the text."""
    opening = r'"(?:(?<=[,\r\n]")|(?<=[,\r\n] "))'
    again = r'"(?:[^",\r\n]++|"[^"]*+(?:"|\Z))*+'
    return re.compile(rf'{opening}[^"]*+(?:{again}|\Z)'.replace(",", mark).encode())


@cache
def _steps(mark: str) -> dict[int, tuple[re.Pattern[bytes], dict[bytes, int]]]:
    """From each state: the sign that is looked for, and the state after it (a plain cell, if it is not listed)."""
    ends = {mark.encode(): _START, b"\r": _END, b"\n": _END}
    opens = {b'"': _QUOTED}
    some, breaks = re.compile(rb"(?s:.)"), f"[{mark}\r\n]"
    return {
        _BLANK: (re.compile(rb"[^\r\n]"), ends | opens | {b" ": _SPACE}),
        _START: (some, ends | opens | {b" ": _SPACE}),
        _SPACE: (some, ends | opens),
        _PLAIN: (re.compile(breaks.encode()), ends),
        _QUOTED: (re.compile(rb'"'), {b'"': _CLOSED}),
        _CLOSED: (re.compile(breaks.replace("[", '["').encode()), ends | opens),
    }


def giants(path: str, mark: str, longest: int) -> list[Span]:
    """Where the records are that are too long and that DuckDB would not notice as such, by their bytes."""
    found: list[Span] = []
    chunk = longest * BUFFERED // 8
    if os.path.getsize(path) <= 4 * chunk:  # one buffer holds all of it
        return found
    with open(path, "rb") as file:
        start, text = 0, b""  # `text` is what was read from `start` on, where a record begins
        while more := file.read(chunk):
            text += more
            whole = _whole(text, mark)
            start, text = start + whole, text[whole:]
            if len(text) > 2 * chunk:
                end = _end_of_record(file, start, mark, chunk)
                found.append((start, end))
                start, text = file.seek(end), b""
    if len(text) >= longest:  # DuckDB forgets to measure a last record without line end that lies in two buffers
        found.append((start, start + len(text)))
    return found


def _whole(text: bytes, mark: str) -> int:
    """The length of the whole records at the beginning of `text`."""
    lines = b"\n" + text  # a line begins here too
    cells = [match.span() for match in _quoted(mark).finditer(lines)]
    starts, stops = [start for start, _ in cells], [stop for _, stop in cells]
    for start, stop in zip(reversed([0, *stops]), reversed([*starts, len(lines)]), strict=True):
        end = max(lines.rfind(b"\n", start, stop), lines.rfind(b"\r", start, stop))
        if end >= 0:
            break
    # Line breaks right before the end are outside of quotation marks, like the end itself.
    return len(lines[:end].rstrip(b"\r\n"))


def _end_of_record(file: BinaryIO, start: int, mark: str, chunk: int) -> int:
    """Where the record that begins at `start` ends, in little memory however long it is."""
    at, state = file.seek(start), _BLANK
    while text := file.read(chunk):
        i = 0
        while match := _steps(mark)[state][0].search(text, i):
            i, state = match.end(), _steps(mark)[state][1].get(match[0], _PLAIN)
            if state == _END:
                return at + i
        at += len(text)
    return at


def copy_without(path: str, spans: Sequence[Span], target: IO[bytes]) -> None:
    """A copy of the file without these bytes."""
    with open(path, "rb") as source, target:
        for (_, start), (stop, _) in zip([(0, 0), *spans], [*spans, (os.path.getsize(path), 0)], strict=True):
            source.seek(start)
            while start < stop and (text := source.read(min(stop - start, 1 << 20))):
                start += target.write(text)
