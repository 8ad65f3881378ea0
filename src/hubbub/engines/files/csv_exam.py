"""Whether the DuckDB that is here cuts a file of lines where it should: looked at in the small before it is trusted.

Other versions may cut otherwise than those that were tested. So once in a process a file of a kilobyte is read by
several threads, with buffers so small that a piece begins at each place of a line.
"""

from __future__ import annotations

from typing import Final

from hubbub.engines.duckdb.cell_sql import literal
from hubbub.engines.duckdb.connection import rows_of
from hubbub.engines.duckdb.duckdb_engine import Connection
from hubbub.engines.duckdb.scratch import Scratch
from hubbub.engines.files.csv_file import csv_relation
from hubbub.errors import WrongUse

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
