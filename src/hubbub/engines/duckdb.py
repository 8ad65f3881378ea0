"""Counting in DuckDB: files, frames and tables are read in place, and only the bins come back."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from glob import glob
from pathlib import Path
from typing import Any, TypeGuard

import duckdb
import numpy as np
import pyarrow as pa

from hubbub.engines.bin_sql import check, code, code_where, identifier, key, resolved
from hubbub.engines.protocol import Counted, Kind, Question, Repeats
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps, Values, size

_BATCH = 1 << 17

SEVERAL_ROWS = (
    "the table does not have exactly one row for each person; keep one row of each, chosen secretly "
    "(one-row-per-person), or count each person once in at most B bins (distinct B)"
)
"""Reads the same for every such table. It is for the steward alone: it tells something about the data."""

_KINDS = {
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "FLOAT": Kind.FLOAT,
    "DOUBLE": Kind.FLOAT,
} | dict.fromkeys(
    ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"],
    Kind.INTEGER,
)


def _kind(type_name: str) -> Kind:
    if type_name.startswith(("DECIMAL", "NUMERIC")):
        return Kind.DECIMAL
    if type_name.startswith("TIMESTAMP"):
        return Kind.DATE
    if type_name.startswith("ENUM"):
        return Kind.TEXT
    return _KINDS.get(type_name, Kind.OTHER)


class DuckDB:
    """A table of people that DuckDB can read, made by :func:`open_file`, :func:`open_frame` or :func:`open_table`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: str, temporary: Path | None = None) -> None:
        self._connection = connection
        self._relation = relation  # SQL after FROM, made here only
        described = self._rows(f"DESCRIBE SELECT * FROM {relation}")
        self._columns = {name: _kind(str(kind)) for name, kind, *_ in described}
        if temporary is not None:
            weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)

    def columns(self) -> Mapping[str, Kind]:
        return self._columns

    def resolve(self, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
        kinds = [self._kind_of(axis.column) for axis in axes]
        known = tuple(resolved(axis, kind) for axis, kind in zip(axes, kinds, strict=True))
        for axis, kind in zip(known, kinds, strict=True):
            check(axis, kind)
        return known

    def count(self, question: Question, source: Source) -> Counted:
        axes = self.resolve(question.axes)
        if question.person is not None:
            self._kind_of(question.person)
        people = self._relation
        if question.person is not None and question.repeats is Repeats.REFUSE:
            self._one_row_each(question.person)
        if question.repeats is not Repeats.REFUSE and question.person is None:
            raise WrongUse("without a person column each row is a person; name the column with --person")
        sql, parameters = self._grouped(axes, people, question, source)
        return self._collect(sql, parameters, axes)

    # --- asking ---------------------------------------------------------------------------------------------------

    def _kind_of(self, column: str) -> Kind:
        if column not in self._columns:
            raise WrongUse(f"there is no column {column!r}; there are {', '.join(map(repr, self._columns))}")
        return self._columns[column]

    def _rows(self, sql: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, parameters or []).fetchall()
        except duckdb.Error:
            # The engine's own message may quote a cell.
            raise WrongUse("the table could not be read; check that the file is what its name says") from None

    def _one_row_each(self, person: str) -> None:
        column = identifier(person)
        found = self._rows(
            f"SELECT coalesce(bool_or(n > 1 OR who IS NULL), FALSE) FROM "
            f"(SELECT {column} AS who, count(*) AS n FROM {self._relation} GROUP BY {column})"
        )
        if found[0][0]:
            raise Refused(SEVERAL_ROWS)

    def _parts(self, axes: tuple[Axis, ...]) -> list[str]:
        """One SQL expression for each axis: a bin's number, or the value itself where it is looked up later."""
        parts = []
        for axis in axes:
            kind = self._kind_of(axis.column)
            if isinstance(axis, Discovered):
                parts.append(key(axis, kind))
            elif isinstance(axis, Values):
                parts.append(f"CAST({identifier(axis.column)} AS VARCHAR)")
            else:
                parts.append(code(axis, kind))
        return parts

    def _grouped(
        self, axes: tuple[Axis, ...], people: str, question: Question, source: Source
    ) -> tuple[str, list[Any]]:
        if question.person is None or question.repeats is Repeats.REFUSE:
            return self._looked_up(axes, self._every_row(axes, people))
        parts = self._parts(axes)
        names = [f"g{i}" for i in range(len(parts))]
        select = ", ".join(f"{part} AS {name}" for part, name in zip(parts, names, strict=True))
        listed = ", ".join(names)
        person = identifier(question.person)
        self._hand_over_words(source)
        with_words = f"{people} POSITIONAL JOIN hubbub_words WHERE {person} IS NOT NULL"
        if question.repeats is Repeats.ONE_ROW:
            # arg_min skips a row whose bin is NULL; a struct of bins is never NULL.
            kept = f"SELECT arg_min(row({', '.join(parts)}), hubbub_word) AS g FROM {with_words} GROUP BY {person}"
            out = ", ".join(f"g[{i + 1}] AS {name}" for i, name in enumerate(names))
            return self._looked_up(axes, f"SELECT {out}, count(*) AS n FROM ({kept}) GROUP BY ALL")
        rows = f"SELECT {person} AS who, {select}, hubbub_word AS word FROM {with_words}"
        distinct = f"SELECT who, {listed}, min(word) AS word FROM ({rows}) GROUP BY who, {listed}"
        rank = "row_number() OVER (PARTITION BY who ORDER BY word)"
        kept = f"SELECT {listed} FROM ({distinct}) QUALIFY {rank} <= {question.most_bins}"
        return self._looked_up(axes, f"SELECT {listed}, count(*) AS n FROM ({kept}) GROUP BY ALL")

    def _every_row(self, axes: tuple[Axis, ...], people: str) -> str:
        """Groups over all rows; whoever fits no bin is dropped by a condition where that says the same."""
        parts, conditions = self._parts(axes), []
        for i, axis in enumerate(axes):
            if isinstance(axis, Edges | Steps | Dates) and not axis.null and not axis.other:
                parts[i], condition = code_where(axis, self._kind_of(axis.column))
                conditions.append(f"({condition})")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        select = ", ".join(f"{part} AS g{i}" for i, part in enumerate(parts))
        return f"SELECT {select}, count(*) AS n FROM {people}{where} GROUP BY ALL"

    def _looked_up(self, axes: tuple[Axis, ...], inner: str) -> tuple[str, list[Any]]:
        """Listed values become bin numbers by a join with the few groups that came out."""
        joins, codes, keys = [], [], []
        parameters: list[Any] = []
        for i, axis in enumerate(axes):
            if isinstance(axis, Discovered):
                keys.append(f"g{i}")
            elif isinstance(axis, Values):
                joins.append(
                    f"LEFT JOIN (SELECT unnest(?::VARCHAR[]) AS v, generate_subscripts(?::VARCHAR[], 1) - 1 AS c) d{i} "
                    f"ON g{i} = d{i}.v"
                )
                parameters += [list(axis.values)] * 2
                count = len(axis.values)
                other = str(count + axis.null) if axis.other else "NULL"
                null = str(count) if axis.null else other
                codes.append((f"CASE WHEN g{i} IS NULL THEN {null} ELSE coalesce(d{i}.c, {other}) END", size(axis)))
            else:
                codes.append((f"g{i}", size(axis)))
        number = "0"
        for expression, radix in codes:
            number = f"({number} * {radix} + ({expression})::BIGINT)"
        if not joins and not keys:  # the groups are the bins
            return f"SELECT {number} AS code, n FROM ({inner}) WHERE code IS NOT NULL", parameters
        shown = ", ".join([f"{number} AS code", *keys, "CAST(sum(n) AS BIGINT) AS people"])
        order = " ORDER BY ALL" if keys else ""
        return (
            f"SELECT {shown} FROM ({inner}) {' '.join(joins)} GROUP BY ALL HAVING code IS NOT NULL{order}",
            parameters,
        )

    def _collect(self, sql: str, parameters: list[Any], axes: tuple[Axis, ...]) -> Counted:
        try:
            table = self._connection.sql(sql, params=parameters).to_arrow_table()  # once: a relation keeps no result
        except duckdb.Error:
            raise WrongUse("the table could not be counted; check that the columns hold what the bins say") from None
        codes = table.column(0).to_numpy().astype(np.int64)
        counts = table.column(table.num_columns - 1).to_numpy().astype(np.int64)
        found = tuple(table.column(i).to_pylist() for i in range(1, table.num_columns - 1))
        return Counted(codes, counts, found)

    def _hand_over_words(self, source: Source) -> None:
        """One secret word for each row, as a stream: which word meets which row does not matter, they are all alike."""
        rows = self._rows(f"SELECT count(*) FROM {self._relation}")[0][0]

        def batches() -> Iterator[pa.RecordBatch]:
            for start in range(0, rows, _BATCH):
                yield pa.record_batch({"hubbub_word": source.words(min(_BATCH, rows - start))})

        schema = pa.schema([("hubbub_word", pa.uint64())])
        self._connection.register("hubbub_words", pa.RecordBatchReader.from_batches(schema, batches()))


def _private_connection(
    database: str = ":memory:", *, read_only: bool = False
) -> tuple[duckdb.DuckDBPyConnection, Path]:
    """A connection whose temporary files are in a private folder that goes away with it."""
    temporary = Path(tempfile.mkdtemp(prefix="hubbub-"))
    connection = duckdb.connect(database, read_only=read_only)
    connection.execute("SET temp_directory = ?", [str(temporary / "spill")])
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET autoinstall_known_extensions = false")
    return connection, temporary


def _lock(connection: duckdb.DuckDBPyConnection, paths: list[str]) -> None:
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def open_file(path: str | os.PathLike[str], *, table: str | None = None) -> DuckDB:
    """A CSV or Parquet file, a glob of Parquet files, or a DuckDB database with the name of a table."""
    name = os.fspath(path)
    files = [match for match in (sorted(glob(name)) if _is_glob(name) else [name]) if os.path.isfile(match)]
    if not files:
        raise WrongUse(f"there is no file {name!r}; check the path")
    suffix = Path(files[0]).suffix.lower()
    if suffix in (".duckdb", ".db"):
        if table is None:
            raise WrongUse("a DuckDB database needs the name of a table; add --table NAME")
        connection, temporary = _private_connection(name, read_only=True)
        _lock(connection, [])
        return DuckDB(connection, _table_name(connection, table), temporary)
    if suffix not in (".csv", ".tsv", ".parquet", ".pq"):
        raise WrongUse("a table is read from .csv, .tsv, .parquet or .duckdb; convert the file, or open it as a frame")
    connection, temporary = _private_connection()
    quoted = "[" + ", ".join("'" + f.replace("'", "''") + "'" for f in files) + "]"
    if suffix in (".parquet", ".pq"):
        relation = f"read_parquet({quoted})"
    else:
        mark = "\\t" if suffix == ".tsv" else ","
        # Types are not guessed from the cells: everything is text, and bins say how to read it.
        quotes = "quote='\"', escape='\"'"
        relation = f"read_csv({quoted}, delim='{mark}', {quotes}, header=true, all_varchar=true, strict_mode=false)"
    _lock(connection, files)
    return DuckDB(connection, relation, temporary)


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[") and not os.path.exists(name)


def open_frame(frame: object) -> DuckDB:
    """A pandas, polars or Arrow frame, read where it is."""
    connection, temporary = _private_connection()
    try:
        connection.register("hubbub_people", frame)
    except duckdb.Error:
        raise WrongUse(
            f"a {type(frame).__name__} cannot be read as a table; give a file, a frame or an Arrow table"
        ) from None
    _lock(connection, [])
    return DuckDB(connection, "hubbub_people", temporary)


def open_table(connection: duckdb.DuckDBPyConnection, table: str) -> DuckDB:
    """A table or view of a DuckDB connection that is already open."""
    return DuckDB(connection.cursor(), _table_name(connection, table))


def is_connection(source: object) -> TypeGuard[duckdb.DuckDBPyConnection]:
    """Whether it is an open DuckDB connection."""
    return isinstance(source, duckdb.DuckDBPyConnection)


def _table_name(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    known = {name for (name,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()}
    if table not in known:
        raise WrongUse(f"there is no table {table!r}; there are {', '.join(map(repr, sorted(known))) or 'none'}")
    return identifier(table)
