"""Who opens a source: the first engine that knows it."""

from __future__ import annotations

import os

from hubbub.engines import duckdb
from hubbub.errors import WrongUse
from hubbub.tables.engine import Engine


def open_source(source: object, *, table: str | None = None) -> Engine:
    """The table in a file, a frame, a relation or a connection."""
    if isinstance(source, str | os.PathLike):
        return duckdb.open_file(source, table=table)
    if duckdb.is_connection(source):
        if table is None:
            raise WrongUse("a connection holds many tables; name one, like open(connection, table='people')")
        return duckdb.open_table(source, table)
    if duckdb.is_relation(source):
        return duckdb.open_relation(source)
    return duckdb.open_frame(source)
