"""Who opens a source: the first engine that knows it."""

from __future__ import annotations

import os

from hubbub.engines import duckdb
from hubbub.errors import WrongUse
from hubbub.tables.engine import Engine


def open_source(source: object, *, table: str | None = None) -> tuple[Engine, str]:
    """The table in a file, a frame or a connection, and where it is, "" if nobody can say."""
    if isinstance(source, str | os.PathLike):
        engine = duckdb.open_file(source, table=table)  # first: what is no file has no place either
        return engine, os.path.realpath(source) + (f"#{table}" if table else "")  # links lead to one table
    if duckdb.is_connection(source):
        if table is None:
            raise WrongUse("a connection holds many tables; name one, like open(connection, table='people')")
        return duckdb.open_table(source, table), ""
    return duckdb.open_frame(source), ""
