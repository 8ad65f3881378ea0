"""Whether each line of a CSV is a record, by itself: such a file several threads may read.

DuckDB's parallel reader cuts a file into pieces of a fixed size, and a thread begins after the first line break of its
piece. That is right where a line break ends a record and nothing else does, and where each piece has one. Where a
quotation mark may stand it guesses, so it is told that there are none. Even then it was seen to err, by files of all
kinds with pieces of some bytes: it makes up a record at a blank line, it loses one that is longer than a piece, and
among those that it lists as left out it forgets a last one without line end, and misplaces some that end in a carriage
return. A file with any of these is for one thread.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.engines.duckdb.cell_sql import literal
from hubbub.engines.duckdb.connection import rows_of
from hubbub.engines.duckdb.duckdb_engine import Connection
from hubbub.engines.duckdb.scratch import Scratch
from hubbub.engines.files.csv_file import csv_relation
from hubbub.errors import WrongUse

_BOM: Final = b"\xef\xbb\xbf"
_TWO_BREAKS: Final = 0x0A0A
_NEVER: Final = b'"\r\0'


def is_record_per_line(path: str, longest: int) -> bool:
    """Whether each line of a file is a record, whoever reads.

    Guarantee: true only of a file without quotation marks, carriage returns, NUL and blank lines, of which each line is
    shorter than `longest` bytes and ends in a line feed. Where there is no quotation mark, no cell has a line break in
    it, so the records are the lines; and a piece of as many bytes as `longest` has the end of one in it, wherever it
    begins. What was true of the file before holds as long as nobody writes to it, like all that is proved of it.
    """
    buffer = bytearray(longest // 2)
    signs, last = np.frombuffer(buffer, np.uint8), ord("\n")
    with open(path, "rb") as file:
        file.seek(len(_BOM) if file.read(len(_BOM)) == _BOM else 0)
        while size := file.readinto(buffer):
            if any(buffer.find(sign, 0, size) >= 0 for sign in _NEVER) or buffer.find(b"\n", 0, size) < 0:
                return False
            if (last == buffer[0] == ord("\n")) or _has_two_breaks(signs[:size]):
                return False
            last = buffer[size - 1]
    return last == ord("\n")


def _has_two_breaks(signs: NDArray[np.uint8]) -> bool:
    """Whether two line feeds follow one another: as halves of one number, which begins at an even place or an odd one."""
    for start in (0, 1):
        pairs = signs[start : start + (signs.size - start) // 2 * 2].view(np.uint16)
        if (pairs == _TWO_BREAKS).any():
            return True
    return False


# Whether the DuckDB that is here cuts a file of lines where it should: looked at in the small before it is trusted.
#
# Other versions may cut otherwise than those that were tested. So once in a process a file of a kilobyte is read by
# several threads, with buffers so small that a piece begins at each place of a line.
_LINE: Final = 9  # bytes; what it has in common with the size of a piece is nothing
_LINES: Final = 80
_PIECE: Final = 64
_SHORT: Final = 5  # each fifth line has too few cells

_found: list[bool] = []


def cuts_right(connection: Connection, scratch: Scratch) -> bool:
    """Whether several threads find each line of a file once, and list each that they leave out where it is."""
    if not _found:
        lines = (b"%08d\n" % i if i % _SHORT == 0 else b"%04d,abc\n" % i for i in range(_LINES))
        try:
            target, path = scratch.new_file("exam.csv")
            with target:
                target.write(b"".join(lines))
        except OSError:
            return False
        _found.append(_reads_right(connection, path))
    return _found[0]


def _reads_right(connection: Connection, path: str) -> bool:
    relation = csv_relation(f"[{literal(path)}]", ("id", "town"), ",", named=False, by_lines=True, longest=_PIECE // 4)
    where = "SELECT line_byte_position FROM reject_errors ORDER BY ALL"
    try:
        read = rows_of(connection, f"SELECT id, town FROM {relation}", WrongUse())
        left_out = rows_of(connection, where, WrongUse())
        rows_of(connection, "DELETE FROM reject_errors", WrongUse())
    except WrongUse:
        return False
    right = [(f"{i:04d}", "abc") for i in range(_LINES) if i % _SHORT]
    return read == right and left_out == [(i * _LINE + 1,) for i in range(0, _LINES, _SHORT)]
