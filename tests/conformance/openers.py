"""The ways to open a table of people: every engine, and every kind of table that it opens."""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines.files.files import open_file
from hubbub.engines.files.frames import open_frame, open_table
from hubbub.engines.opening import join
from hubbub.engines.spark.spark_engine import open_frame as open_spark_frame
from hubbub.engines.sql.sqlite import open_sqlite
from hubbub.tables.engine import Engine
from tests import servers

Opener = Callable[[pa.Table, Path], Engine]


def csv_cell(cell: object) -> str:
    """As programs write it: nothing for a missing value, quotation marks around text."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return '"' + cell.replace('"', '""') + '"' if isinstance(cell, str) else str(cell)


def from_csv(table: pa.Table, folder: Path) -> Engine:
    lines = [",".join(csv_cell(name) for name in table.column_names)]
    lines += [",".join(csv_cell(cell) for cell in row.values()) for row in table.to_pylist()]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_file(folder / "people.csv")


def from_parquet(table: pa.Table, folder: Path) -> Engine:
    pq.write_table(table, folder / "people.parquet")
    return open_file(folder / "people.parquet")


def from_glob(table: pa.Table, folder: Path) -> Engine:
    third = table.num_rows // 3 + 1
    for i in range(3):
        pq.write_table(table.slice(i * third, third), folder / f"part{i}.parquet")
    return open_file(str(folder / "part*.parquet"))


def from_pandas(table: pa.Table, folder: Path) -> Engine:
    nullable = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    return open_frame(table.to_pandas(types_mapper=nullable.get))


def from_polars(table: pa.Table, folder: Path) -> Engine:
    return open_frame(pl.from_arrow(table))


def from_arrow(table: pa.Table, folder: Path) -> Engine:
    return open_frame(table)


def from_connection(table: pa.Table, folder: Path) -> Engine:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    # Preferences of the session must not reach the counts.
    connection.execute("SET default_null_order = 'nulls_first'")
    connection.execute("SET default_order = 'DESC'")
    return open_table(connection, "people")


def from_database(table: pa.Table, folder: Path) -> Engine:
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return open_file(folder / "people.duckdb", table="people")


SQLITE = {
    pa.int64(): "INTEGER",
    pa.int32(): "INTEGER",
    pa.string(): "TEXT COLLATE NOCASE",  # which must not reach the counts
    pa.decimal128(9, 2): "DECIMAL(9, 2)",
    pa.float64(): "REAL",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.float32(): "REAL",
    pa.bool_(): "BOOLEAN",
}


def from_sqlite(table: pa.Table, folder: Path, name: str = "people") -> Engine:
    def stored(cell: object) -> object:
        if isinstance(cell, datetime.date):
            return cell.isoformat()
        return float(cell) if isinstance(cell, Decimal) else cell

    declared = ", ".join(f'"{field.name}" {SQLITE[field.type]}' for field in table.schema)
    with contextlib.closing(sqlite3.connect(folder / "people.sqlite")) as connection, connection:
        connection.execute(f"CREATE TABLE {name} ({declared})")
        rows = ([stored(cell) for cell in row.values()] for row in table.to_pylist())
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * table.num_columns)})", rows)
    return open_sqlite(str(folder / "people.sqlite"), name)


def from_postgresql(table: pa.Table, folder: Path) -> Engine:
    url = servers.or_skip(servers.postgresql)
    from hubbub.engines.sql.postgresql import open_postgresql

    # A zone that the session prefers must not reach the counts.
    return open_postgresql(f"{url}?options=-c%20TimeZone%3DAsia/Kolkata", servers.load_postgresql(url, table))


def from_spark(table: pa.Table, folder: Path) -> Engine:
    session = servers.or_skip(servers.spark)
    pq.write_table(table, folder / "people.parquet")
    return open_spark_frame(session.read.parquet(str(folder / "people.parquet")))


def from_spark_connect(table: pa.Table, folder: Path) -> Engine:
    session = servers.or_skip(servers.connect)
    pq.write_table(table, folder / "people.parquet")
    return open_spark_frame(session.read.parquet(str(folder / "people.parquet")))


def joined(opened: Opener, first: pa.Table, second: pa.Table, on: str, folder: Path) -> Engine:
    """A join of two tables that are opened alike, in one database where that is one."""
    if opened is from_sqlite:
        return join(from_sqlite(first, folder), from_sqlite(second, folder, "visits"), on)
    places = folder / "first", folder / "second"
    for place in places:
        place.mkdir()
    return join(opened(first, places[0]), opened(second, places[1]), on)


ENGINES: dict[str, Opener] = {
    "duckdb: csv": from_csv,
    "duckdb: parquet": from_parquet,
    "duckdb: glob of parquet": from_glob,
    "duckdb: pandas": from_pandas,
    "duckdb: polars": from_polars,
    "duckdb: arrow": from_arrow,
    "duckdb: connection": from_connection,
    "duckdb: database file": from_database,
    "sqlite": from_sqlite,
    "postgresql": from_postgresql,
    "spark": from_spark,
    "spark connect": from_spark_connect,
}


_T = TypeVar("_T")


def cases_for(opened: Opener, cases: Iterable[_T]) -> list[_T]:
    """Of many cases those that are tried here: Connect takes the same queries to the same Spark, so every sixth
    will do."""
    return list(cases)[:: 6 if opened is from_spark_connect else 1]


def server_of(name: str) -> list[pytest.MarkDecorator]:
    """A server of each kind for all tests, in one process."""
    return [pytest.mark.xdist_group(name.split()[0])] if name.startswith(("postgresql", "spark")) else []


QUICK = ("duckdb: csv", "duckdb: arrow", "sqlite")
"""Where the fast suite counts: cells as text, typed values, and the queries that all databases share."""


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    return [*server_of(name), *([] if name in QUICK else [pytest.mark.slow])]


IN_LONG_RUNS = pytest.mark.skipif("HUBBUB_LONG" not in os.environ, reason="make fuzz runs it")
"""For what takes long through Connect, where the same Spark has answered the same queries already."""

every_engine_but_connect = pytest.mark.parametrize(
    "opened",
    [
        pytest.param(
            opener, marks=[*marks_of(name), *([IN_LONG_RUNS] if opener is from_spark_connect else [])], id=name
        )
        for name, opener in ENGINES.items()
    ],
)
every_engine = pytest.mark.parametrize(
    "opened",
    [pytest.param(opener, marks=marks_of(name), id=name) for name, opener in ENGINES.items()],
)
