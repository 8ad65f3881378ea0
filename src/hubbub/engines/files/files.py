"""Files as tables: CSV, Parquet, Excel, a database of DuckDB's; each is read where it is, or from a private copy.

Whether each line of a CSV is a record, by itself: such a file several threads may read.

DuckDB's parallel reader cuts a file into pieces of a fixed size, and a thread begins after the first line break of its
piece. That is right where a line break ends a record and nothing else does, and where each piece has one. Where a
quotation mark may stand it guesses, so it is told that there are none. Even then it was seen to err, by files of all
kinds with pieces of some bytes: it makes up a record at a blank line, it loses one that is longer than a piece, and
among those that it lists as left out it forgets a last one without line end, and misplaces some that end in a carriage
return. A file with any of these is for one thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from glob import escape, glob
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.engines.arrow_columns import mend_parquet, parquet_names
from hubbub.engines.duckdb.connection import (
    UNREADABLE,
    Scratch,
    column_types_of,
    lock,
    private_connection,
    query_relation,
    rows_of,
    table_name,
)
from hubbub.engines.duckdb.duckdb_engine import Connection, DuckDB, open_locked
from hubbub.engines.duckdb.expressions import identifier, literal
from hubbub.engines.files.csv_file import PACKED, Form, csv_header, csv_relation, kind, plain
from hubbub.engines.files.csv_records import (
    BUFFERED,
    LONGEST,
    MOST_LINES,
    copy_with_blanks,
    copy_without,
    has_odd_returns,
    is_regular,
    line_of,
    survey,
    tall_cells,
)
from hubbub.engines.query import is_query
from hubbub.errors import Refused, WrongUse
from hubbub.runtime.frozen import dataclass

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


_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".duckdb", ".db")
_NO_FORM: Final = Form()

OPEN_MARK: Final = (
    f"a quotation mark of the CSV opens a cell and never closes it, or only after {MOST_LINES} lines or inside of "
    "another cell, so that one cell swallows the rows of other people; see the line with hubbub check, and close or "
    "remove the mark there"
)
"""Reads the same for every such file. For the steward alone: it tells something about the data."""


def open_file(
    path: str | os.PathLike[str],
    *,
    table: str | None = None,
    form: Form = _NO_FORM,
    unreadable: Fraction = Fraction(1),
) -> DuckDB:
    """A CSV, Parquet or Excel file, a glob of such files, or a DuckDB database with the name of a table.

    `form` is that of a CSV; `unreadable` is the share of people who may have a row that cannot be read as declared.
    """
    name = os.fspath(path)
    files = [match for match in (sorted(glob(name)) if _is_glob(name) else [name]) if os.path.isfile(match)]
    if not files:
        what = "is a folder" if os.path.isdir(name) else "does not exist"
        raise WrongUse(f"there is no file {name!r}: it {what}; check the path")
    suffixes = {kind(file) for file in files}
    suffix = suffixes.pop()
    if suffixes:
        raise WrongUse("the files of one table end alike, in .parquet for example; name fewer of them")
    is_csv = suffix in (".csv", ".tsv", ".txt")
    if suffix not in _ENDINGS or (not is_csv and any(Path(file).suffix.lower() in PACKED for file in files)):
        raise WrongUse(
            "a table is read from .csv, .tsv, .txt (also packed: .gz, .zst), .parquet, .xlsx or .duckdb; convert the "
            "file, or open it as a frame"
        )
    if form.is_declared and not is_csv:
        raise WrongUse(f"a {suffix} file says itself how it is read; drop `delimiter`, `encoding` and `no_header`")
    if table is not None and suffix not in (".duckdb", ".db", ".xlsx"):
        raise WrongUse(f"a {suffix} file holds one table; drop `table`")
    if suffix in (".duckdb", ".db"):
        return _open_database(files[0], table, unreadable)
    if suffix == ".xlsx":
        return _open_sheet(files, table, unreadable)
    if suffix in (".parquet", ".pq"):
        return _open_parquet(files, unreadable)
    return _open_csv(files, form.delimiter or ("\t" if suffix == ".tsv" else ","), form, unreadable)


def _open_csv(files: Sequence[str], mark: str, form: Form, unreadable: Fraction) -> DuckDB:
    header = csv_header(files, mark, form)
    connection, scratch = private_connection()
    read = [_prepare(file, mark, form, scratch, i) for i, file in enumerate(files)]
    paths = [file.path for file in read]
    several = all(file.by_lines for file in read) and any(file.is_large for file in read)
    by_lines = several and cuts_right(connection, scratch)
    # Whether the first line holds names or somebody's data, no program can tell: it is not shown.
    named = form.names is None
    return open_locked(
        connection,
        _paths(paths),
        csv_relation(_patterns(paths), header, mark, named=named, by_lines=by_lines),
        columns_are_public=not named,
        files=files,
        allowed=unreadable,
        taken_out=sum(file.left_out for file in read),
        mark=mark,
    )


@dataclass(frozen=True, slots=True)
class _Readable:
    """A file that DuckDB reads as we do, how many records are not in it, whether each line of it is one, and whether it
    is then more than a thread reads at a time."""

    path: str
    left_out: int = 0
    by_lines: bool = False
    is_large: bool = False


def _prepare(file: str, mark: str, form: Form, scratch: Scratch, i: int) -> _Readable:
    """The file, or a copy of it."""
    text = plain(file, form, scratch, f"{i}-plain.csv")
    try:
        if is_record_per_line(text, LONGEST):
            return _Readable(text, by_lines=True, is_large=os.path.getsize(text) > LONGEST * BUFFERED // 4)
        if is_regular(text, mark, LONGEST):
            return _Readable(text)
        text, lost = _lines(text, mark, form, scratch, i)
        found = survey(text, mark, LONGEST)
        if found.open_mark is not None:
            raise Refused(OPEN_MARK)
        if not found.giants:
            return _Readable(text, lost)
        target, copy = scratch.new_file(f"{i}.csv")
        copy_without(text, found.giants, target)
        return _Readable(copy, lost + len(found.giants))
    except OSError as error:
        wrong = _trouble(error)
    raise WrongUse(wrong)


def _lines(text: str, mark: str, form: Form, scratch: Scratch, i: int) -> tuple[str, int]:
    """A plain text in which a line ends as the header does, or in a line feed, and how many records are not in it."""
    try:
        if not has_odd_returns(text, mark, LONGEST * BUFFERED, named=form.names is None):
            return text, 0
        target, copy = scratch.new_file(f"{i}-lines.csv")
        return copy, copy_with_blanks(text, mark, target, LONGEST)
    except OSError as error:
        wrong = _trouble(error)
    raise WrongUse(wrong)


def _trouble(error: OSError) -> str:
    return f"the CSV could not be read ({error.strerror}); check the disk and the room for temporary files"


def open_marks(path: str, form: Form = _NO_FORM) -> list[tuple[str, int]]:
    """The files of a CSV that are refused for a quotation mark, and the line of the first one in each; for the steward
    alone."""
    found = []
    for file, text, mark in _texts(path, form):
        place = survey(text, mark, LONGEST).open_mark
        found += [] if place is None else [(file, line_of(text, place))]
    return found


def tall(path: str, form: Form = _NO_FORM) -> list[tuple[str, int, int, int]]:
    """The files of a CSV with cells that run over several lines: how many, and the line and the lines of the tallest;
    for the steward alone."""
    found = []
    for file, text, mark in _texts(path, form):
        many, most, place = tall_cells(text, mark, LONGEST)
        found += [(file, many, line_of(text, place), most)] if many else []
    return found


def _texts(path: str, form: Form) -> Iterator[tuple[str, str, str]]:
    """The files of a CSV, each with its text and what separates cells."""
    files = [match for match in (sorted(glob(path)) if _is_glob(path) else [path]) if os.path.isfile(match)]
    scratch = Scratch()
    try:
        for i, file in enumerate(files):
            mark = form.delimiter or ("\t" if kind(file) == ".tsv" else ",")
            text, _ = _lines(plain(file, form, scratch, f"{i}-plain.csv"), mark, form, scratch, i)
            yield file, text, mark
    finally:
        scratch.clear()


def _open_sheet(files: Sequence[str], table: str | None, unreadable: Fraction) -> DuckDB:
    from hubbub.engines.files.excel_file import sheet

    if len(files) > 1:
        raise WrongUse("an Excel file is opened by itself; name one file, or save them as CSV")
    rows = sheet(files[0], table)
    connection, _ = private_connection()
    connection.register("hubbub_people", rows)
    return open_locked(
        connection, [], "hubbub_people", columns_are_public=False, files=files, allowed=unreadable, table=rows
    )


def _open_parquet(files: Sequence[str], unreadable: Fraction) -> DuckDB:
    connection, scratch = private_connection()
    _check_alike(connection, [escape(file) for file in files])
    copies = [str(scratch.copies / f"{i}.parquet") for i in range(len(files))]

    names = parquet_names(files[0]) if _may_have_twins(connection, files[0]) else None

    def repair(columns: Sequence[str]) -> str:
        for file, copy in zip(files, copies, strict=True):
            mend_parquet(file, columns, copy, names)
        return _parquet_relation(copies)

    paths = _paths([*files, *copies])

    @cache
    def doubting() -> Connection:
        """A file says itself what its smallest and largest value are; what DuckDB would conclude may be wrong."""
        other, _ = private_connection()
        other.execute("SET disabled_optimizers = 'statistics_propagation'")
        return lock(other, paths)

    relation = _parquet_relation(files)
    if names is not None:
        relation = f"(SELECT * FROM {relation} AS hubbub_named({', '.join(map(identifier, names))}))"
    return open_locked(connection, paths, relation, repair=repair, files=files, allowed=unreadable, doubting=doubting)


def _parquet_relation(files: Sequence[str]) -> str:
    return f"read_parquet({_patterns(files)}, hive_partitioning=false)"  # what a folder is called is no column


def _patterns(files: Sequence[str]) -> str:
    """A list in SQL. DuckDB takes a name with a star or a bracket for a pattern."""
    return f"[{', '.join(literal(escape(file)) for file in files)}]"


def _paths(files: Sequence[str]) -> list[str]:
    return [*files, *map(escape, files)]


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[") and not os.path.exists(name)


def _may_have_twins(connection: Connection, file: str) -> bool:
    """Whether several columns of a Parquet file may have one name; nested ones count too, so it may be that none has."""
    schema = f"SELECT lower(name) FROM parquet_schema({literal(escape(file))}) OFFSET 1"
    try:
        names = rows_of(connection, schema, WrongUse(UNREADABLE))
    except WrongUse:  # whoever reads it says so
        return True
    return len(set(names)) < len(names)


def _check_alike(connection: Connection, patterns: Sequence[str]) -> None:
    """Several Parquet files have the same columns of the same types, so that no cell has to be turned into another."""
    each = (f"read_parquet({literal(pattern)}, hive_partitioning=false)" for pattern in patterns)
    if len(patterns) > 1 and len({frozenset(column_types_of(connection, one)) for one in each}) > 1:
        raise WrongUse("the Parquet files do not have the same columns of the same types; write them with one schema")


def _open_database(file: str, table: str | None, unreadable: Fraction) -> DuckDB:
    if table is None:
        raise WrongUse(
            "a DuckDB database needs the name of a table; add `table=NAME`, or a query that begins with SELECT"
        )
    connection, _ = private_connection()
    trouble = "the database could not be opened; check that it is one of DuckDB, and close it where else it is open"
    rows_of(connection, f"ATTACH {literal(file)} AS hubbub_database (TYPE duckdb, READ_ONLY)", WrongUse(trouble))
    if is_query(table):
        rows_of(connection, "USE hubbub_database", WrongUse(trouble))
        name = query_relation(lock(connection, []), table)
        return DuckDB(connection, name, catalog="hubbub_database", allowed=unreadable)
    name = table_name(connection, table, "'hubbub_database'", "'main'")
    return open_locked(connection, [], name, catalog="hubbub_database", allowed=unreadable)
