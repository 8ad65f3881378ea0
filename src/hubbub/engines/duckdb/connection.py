"""A private connection to DuckDB, and plain answers from one: nothing that it says about its errors leaves it.

A private folder for what a query spills, which goes with it; what a killed process left is removed by the next one.

A process holds a lock on its folder, so that one whose owner died can be told from one in use.

A query in the place of a table of a DuckDB file: one SELECT, read by DuckDB's own parser before anything else.

Guarantee: the database is attached to be read only, and its connection reaches no other file. Beyond that the query may
only select, calls no function that answers differently each time, no macro of the file, and no table function that
reads something else or runs text as SQL.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import duckdb
import pyarrow as pa

from hubbub.engines.column import Column, column
from hubbub.engines.duckdb.expressions import identifier
from hubbub.engines.duckdb.measured_sql import BITS
from hubbub.engines.query import NAMES_ONLY, ONE_SELECT, bare, is_query
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.interruption import stop_if_interrupted

if sys.platform != "win32":
    import fcntl

_PREFIX: Final = "hubbub-spill-"
_OPEN_FILES: Final = "/proc/self/fd"
_OURS: Final = {"spill", "copies"}


class Scratch:
    """A folder of our own, until :meth:`clear`."""

    def __init__(self) -> None:
        try:
            _tidy(Path(tempfile.gettempdir()))
            self.folder, self._held = _make_folder()
            self.copies = self.folder / "copies"
            self.copies.mkdir(mode=0o700)
            self._nameless: list[int] = []
        except OSError:
            raise WrongUse(
                "no temporary folder can be made; make room in the one that TMPDIR names, or set TMPDIR to another"
            ) from None

    def new_file(self, name: str) -> tuple[IO[bytes], str]:
        """A private file to write to, and the path by which this process can read it.

        Where the system knows open files by number (Linux), it has no name in any folder from its first byte on: a
        process that is killed leaves nothing of it. Elsewhere it lies in the folder.
        """
        path = self.copies / name
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        if not os.path.isdir(_OPEN_FILES):
            return os.fdopen(handle, "wb"), str(path)
        os.unlink(path)
        self._nameless.append(handle)
        return os.fdopen(handle, "wb", closefd=False), f"{_OPEN_FILES}/{handle}"

    def clear(self) -> None:
        """Delete the folder and the files in it, and release its lock."""
        while self._nameless:
            with suppress(OSError):
                os.close(self._nameless.pop())
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._held is not None:
            with suppress(OSError):
                os.close(self._held)
            self._held = None


def _make_folder() -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError):
            handle = _hold(folder, wait=True)
            if folder.exists():  # nobody tidied it away before it was held
                return folder, handle


def _hold(folder: Path, *, wait: bool = False) -> int | None:
    """Hold a folder; None where it cannot be held: then nobody takes it for a dead one's either."""
    if sys.platform == "win32":
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def _tidy(where: Path) -> None:
    """Remove the folders of processes that died. Only what we made: such a name, ours, closed to others, unheld, and
    with nothing in it but what was spilled or copied."""
    if sys.platform == "win32":
        return
    for folder in where.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            known = folder.lstat()
            ours = stat.S_ISDIR(known.st_mode) and known.st_uid == os.geteuid() and not known.st_mode & 0o077
            if not ours or not re.fullmatch(rf"{_PREFIX}\w{{8}}", folder.name) or {*os.listdir(folder)} - _OURS:
                continue
            handle = _hold(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


TROUBLE = (duckdb.Error, RuntimeError)
_BATCH = 1 << 17  # rows
UNREADABLE = "the table could not be read; check that the file is what its name says"


def rows_of(
    connection: duckdb.DuckDBPyConnection, sql: str, trouble: WrongUse, values: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(sql, list(values)).fetchall()
    except (*TROUBLE, UnicodeDecodeError):
        stop_if_interrupted()
    raise trouble  # out here, where it does not drag along the engine's message, which may quote a cell


def batches_of(
    connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any], trouble: WrongUse
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The rows of a query as a stream of batches, since they may not fit into memory twice."""
    try:
        relation = connection.sql(sql, alias="hubbub_bins", params=list(values))
        # The first name is that of DuckDB 2, the second that of versions before.
        read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader
        reader = read(_BATCH)
        return reader.schema, _read_on(reader, trouble)
    except (*TROUBLE, pa.ArrowException):
        stop_if_interrupted()
    raise trouble


def _read_on(reader: pa.RecordBatchReader, trouble: WrongUse) -> Iterator[pa.RecordBatch]:
    """The batches, with the text of every label validated while errors can still be caught."""
    try:
        for batch in reader:
            for column in batch.columns:
                if pa.types.is_string(column.type):
                    column.validate(full=True)
            yield batch
        return
    except (*TROUBLE, UnicodeDecodeError, pa.ArrowException, OSError):
        stop_if_interrupted()
    raise trouble


def column_types_of(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    """The names and types of the columns of a relation."""
    found = rows_of(connection, f"DESCRIBE SELECT * FROM {relation}", WrongUse(UNREADABLE))
    return [(row[0], str(row[1])) for row in found]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation as SQL, made by the engine only, and its columns."""

    sql: str
    columns: Mapping[str, Column]


def relation_of(connection: duckdb.DuckDBPyConnection, sql: str) -> Relation:
    """A relation with the columns that DuckDB describes."""
    return Relation(sql, {name: column(name, kind) for name, kind in column_types_of(connection, sql)})


def private_connection() -> tuple[duckdb.DuckDBPyConnection, Scratch]:
    """A connection that fetches and guesses nothing, and a private folder for copies that goes with it."""
    scratch = Scratch()
    connection = duckdb.connect(
        ":memory:",
        config={
            "temp_directory": str(scratch.folder / "spill"),
            "python_enable_replacements": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "pandas_analyze_sample": "0",  # a column of Python objects is text, whatever is in it
        },
    )
    weakref.finalize(connection, scratch.clear)
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET perfect_ht_threshold = {BITS}")
    return connection, scratch


def lock(connection: duckdb.DuckDBPyConnection, paths: list[str]) -> duckdb.DuckDBPyConnection:
    """Allow the connection to read these files and no other from now on."""
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def table_name(connection: duckdb.DuckDBPyConnection, table: str, catalog: str, schema: str) -> str:
    found = rows_of(
        connection,
        f"SELECT table_catalog, table_schema, table_name FROM information_schema.tables "
        f"WHERE table_catalog = {catalog} AND table_schema = {schema} ORDER BY ALL",
        WrongUse(UNREADABLE),
    )
    for row in found:
        if row[2] == table:
            return ".".join(map(identifier, row))
    if is_query(table):
        raise WrongUse(NAMES_ONLY)
    names = ", ".join(repr(name) for *_, name in found) or "none"
    raise WrongUse(f"there is no table {table!r} that other connections see; there are {names}")


_TABLES: Final = ("range", "generate_series", "unnest")  # table functions that read nothing
_NODES: Final = ("SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE")
_MOVING: Final = (
    "SELECT lower(function_name) FROM duckdb_functions() GROUP BY 1 "
    "HAVING bool_or(coalesce(stability = 'VOLATILE', FALSE) OR NOT internal)"
)


def query_relation(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """What stands after FROM for a query, or one sentence if it is not one SELECT that only reads."""
    (answer,) = rows_of(connection, "SELECT json_serialize_sql(?)", WrongUse(ONE_SELECT), [bare(query)])[0]
    parsed = json.loads(answer)
    if parsed["error"] or len(parsed["statements"]) != 1:
        raise WrongUse(ONE_SELECT)
    moving = {name for (name,) in rows_of(connection, _MOVING, WrongUse(ONE_SELECT))}
    for node in _nodes(parsed):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _NODES:
            raise WrongUse(ONE_SELECT)
        if kind == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in _TABLES:
            raise WrongUse(ONE_SELECT)
        if str(node.get("function_name", "")).lower() in moving:
            raise WrongUse(
                f"a query calls no function that answers differently each time, and no macro, and "
                f"{node['function_name']!r} is one; leave it out"
            )
    relation = f"(\n{bare(query)}\n) AS hubbub_query"
    rows_of(connection, f"DESCRIBE SELECT * FROM {relation}", WrongUse(ONE_SELECT))
    return relation


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every part of a parsed query."""
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)
