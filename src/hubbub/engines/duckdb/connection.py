"""A private connection to DuckDB, and plain answers from one: nothing that it says about its errors leaves it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from hubbub.engines.column import Column, column
from hubbub.engines.duckdb.array_sql import BITS
from hubbub.engines.duckdb.cell_sql import identifier
from hubbub.engines.duckdb.scratch import Scratch
from hubbub.engines.query import NAMES_ONLY, is_query
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.interruption import stop_if_interrupted

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
