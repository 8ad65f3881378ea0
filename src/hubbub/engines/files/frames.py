"""Tables that are open already: frames, relations and connections."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TypeGuard

import duckdb
import pyarrow as pa

from hubbub.engines.arrow_columns import has_unreadable_text, mend_frame, named_apart
from hubbub.engines.duckdb.connection import TROUBLE, UNREADABLE, private_connection, rows_of, table_name
from hubbub.engines.duckdb.duckdb_engine import DuckDB, open_locked
from hubbub.errors import WrongUse


def open_frame(frame: object, *, unreadable: Fraction = Fraction(1)) -> DuckDB:
    """A pandas, polars or Arrow frame, read where it is."""
    makers = {cls.__module__.partition(".")[0] for cls in type(frame).__mro__}
    once = isinstance(frame, pa.RecordBatchReader) or type(frame).__name__ == "Scanner"  # empty after one reading
    if makers.isdisjoint(("pandas", "polars", "pyarrow")) or once:
        kind = type(frame).__name__
        raise WrongUse(f"an object of type {kind} cannot be read as a table; give a file, a frame or an Arrow table")
    frame = named_apart(frame)
    connection, _ = private_connection()

    def repair(columns: Sequence[str]) -> str:
        connection.register("hubbub_mended", mend_frame(frame, columns))
        return "hubbub_mended"

    try:
        connection.register("hubbub_people", frame)
        spoilt = partial(has_unreadable_text, frame) if makers & {"pandas", "pyarrow"} else lambda columns: False
        return open_locked(connection, [], "hubbub_people", repair=repair, spoilt=spoilt, allowed=unreadable)
    except Exception:  # of whichever library: its message may quote a cell
        pass
    raise WrongUse("a column of the frame has a type that cannot be read; leave it out or turn it into text")


def open_relation(relation: duckdb.DuckDBPyRelation, *, unreadable: Fraction = Fraction(1)) -> DuckDB:
    """A DuckDB relation, as it is now: it is run once and its rows are kept, like those of a frame."""
    try:
        rows = relation.to_arrow_table()
    except Exception:  # of whatever it reads: the message may quote a cell
        rows = None
    if rows is None:
        raise WrongUse("the relation cannot be run; check that its connection is open and its tables are there")
    return open_frame(rows, unreadable=unreadable)


def open_table(connection: duckdb.DuckDBPyConnection, table: str, *, unreadable: Fraction = Fraction(1)) -> DuckDB:
    """A table or view of a DuckDB connection that is already open, as other connections see it."""
    try:
        own = connection.cursor()
        own.execute("SET TimeZone = 'UTC'")
    except TROUBLE:
        own = None
    if own is None:
        raise WrongUse("the connection cannot be used; open it again, and set nothing that forbids to SET TimeZone")
    name = table_name(own, table, "current_database()", "current_schema()")
    catalog = rows_of(own, "SELECT current_database()", WrongUse(UNREADABLE))[0][0]
    return DuckDB(own, name, catalog=str(catalog), allowed=unreadable)


def is_connection(source: object) -> TypeGuard[duckdb.DuckDBPyConnection]:
    """Whether it is an open DuckDB connection."""
    return isinstance(source, duckdb.DuckDBPyConnection)


def is_relation(source: object) -> TypeGuard[duckdb.DuckDBPyRelation]:
    """Whether it is a DuckDB relation."""
    return isinstance(source, duckdb.DuckDBPyRelation)
