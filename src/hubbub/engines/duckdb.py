"""Counting in DuckDB: files, frames and tables are read in place, and only the bins come back."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy as copied
from dataclasses import dataclass
from functools import partial
from glob import escape, glob
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import duckdb
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers, stream
from hubbub.engines.bin_sql import identifier, literal
from hubbub.engines.column import Column, column
from hubbub.engines.count_sql import Query, distinct_bins, every_row, one_row_each
from hubbub.engines.csv_file import csv_header, csv_relation
from hubbub.engines.csv_records import LONGEST, copy_without, giants
from hubbub.engines.identity import of_files, of_relation
from hubbub.engines.mended import has_unreadable_text, mend_frame, mend_parquet
from hubbub.engines.people_sql import look_at_people, look_at_rows
from hubbub.engines.scratch import Scratch
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.tables.bins import Axis
from hubbub.tables.engine import Counted, Question, Repeats
from hubbub.tables.identity import Identity
from hubbub.tables.schema import Schema, resolved
from hubbub.tables.schema import column as known
from hubbub.tables.sketch import Notice

_WORDS = "hubbub_words"

SEVERAL_ROWS = (
    "the table does not have exactly one row for each person; keep one row of each, chosen secretly "
    "(one-row-per-person), or count each person once in at most B bins (distinct B)"
)
"""Reads the same for every such table. It is for the steward alone: it tells something about the data."""

_TROUBLE = (duckdb.Error, RuntimeError)
_UNREADABLE = "the table could not be read; check that the file is what its name says"
_UNCOUNTABLE = "the table could not be counted; check that the file is whole and that memory suffices"

Mend: TypeAlias = Callable[[Sequence[str]], str]
"""From the columns in question to another relation, where what the first one fails on is missing."""

Check: TypeAlias = Callable[[Sequence[str]], bool]
"""Whether the first relation can be used for these columns at all."""


class _Failed(WrongUse):
    """DuckDB could not count."""


@dataclass(frozen=True, slots=True)
class _Relation:
    """What stands after FROM, made here only, and its columns."""

    sql: str
    columns: Mapping[str, Column]


class DuckDB:
    """A table of people that DuckDB can read, made by :func:`open_file`, :func:`open_frame` or :func:`open_table`."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: str,
        *,
        mend: Mend | None = None,
        spoilt: Check = lambda columns: False,
        columns_are_public: bool = True,
        files: Sequence[str] = (),
        catalog: str = "",
    ) -> None:
        self._connection, self._mend, self._spoilt = connection, mend, spoilt
        self._files, self._catalog = files, catalog  # where the rows are: in files, or in a database of that name
        self._columns_are_public = columns_are_public
        self._notice: Notice | None = None
        self._whole = _relation(connection, relation)
        self._columns = self._whole.columns
        self._word = "hubbub_word"
        while self._word in {name.lower() for name in self._columns}:
            self._word += "_"

    def identity(self) -> Identity:
        """What the table is, whatever it is called."""
        if self._catalog:
            ask = partial(_rows, self._connection, trouble=WrongUse(_UNREADABLE))
            return of_relation(ask, self._whole.sql, self._catalog)
        return of_files(self._files)

    def noticing(self, notice: Notice) -> DuckDB:
        """The same table, which tells who is in it before it counts."""
        other = copied(self)
        other._notice = notice
        return other

    def columns(self) -> Schema:
        known = {name: column.kind for name, column in self._columns.items()}
        return Schema(known, public=self._columns_are_public)

    def count(self, question: Question, source: Source) -> Counted:
        axes = resolved(question.axes, self.columns())
        if question.person is None and question.repeats is not Repeats.REFUSE:
            raise WrongUse("without a person column each row is a person; name the column with --person")
        names = [axis.column for axis in axes]
        used = list(dict.fromkeys(name for name in (question.person, *names) if name is not None))
        for name in used:
            known(self.columns(), name)
        try:
            if not self._spoilt(used):
                return self._count(question, axes, source, self._whole, used)
        except _Failed:
            if self._mend is None:
                raise
        return self._count(question, axes, source, self._mended(used), used)

    def _count(
        self, question: Question, axes: tuple[Axis, ...], source: Source, people: _Relation, used: Sequence[str]
    ) -> Counted:
        if question.person is None:
            return self._collect(every_row(axes, people.columns, people.sql))
        person, who = identifier(question.person), people.columns[question.person]
        if question.repeats is Repeats.REFUSE:
            self._one_row_each(who, people)
            return self._collect(every_row(axes, people.columns, people.sql, person))
        joined = f"{people.sql} POSITIONAL JOIN {_WORDS}"
        if question.repeats is Repeats.ONE_ROW:
            query = one_row_each(axes, people.columns, joined, person, self._word)
        else:
            query = distinct_bins(axes, people.columns, joined, person, self._word, question.most_bins)
        self._connection.register(_WORDS, stream(self._count_rows(who, used, people), self._word, source))
        try:
            return self._collect(query)
        finally:
            with suppress(*_TROUBLE):  # after an error that is fatal to DuckDB nothing can be unregistered
                self._connection.unregister(_WORDS)

    # --- asking ---------------------------------------------------------------------------------------------------

    def _mended(self, used: Sequence[str]) -> _Relation:
        assert self._mend is not None
        try:
            return _relation(self._connection, self._mend(used))
        except (*_TROUBLE, pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            pass
        raise WrongUse(_UNCOUNTABLE)

    def _one_row_each(self, who: Column, people: _Relation) -> None:
        if self._notice is None:
            person = identifier(who.name)
            groups = f"SELECT {person} AS who, count(*) AS n FROM {people.sql} GROUP BY {person}"
            several = f"SELECT coalesce(bool_or(n > 1 OR who IS NULL), FALSE) FROM ({groups})"
            found, chosen = self._ask(several)[0][0], None
        else:
            found, chosen = look_at_people(self._ask, who, people.sql, self._notice)
        if found:
            raise Refused(SEVERAL_ROWS)
        if self._notice and chosen:
            self._notice.tell(chosen)

    def _collect(self, query: Query) -> Counted:
        try:
            relation = self._connection.sql(query[0], alias="hubbub_bins", params=query[1])
            table = relation.to_arrow_table()  # once: a relation keeps no result
            found = tuple(table.column(i).to_pylist() for i in range(1, table.num_columns - 1))
        except (*_TROUBLE, UnicodeDecodeError):
            table = None
        if table is None:
            raise _Failed(_UNCOUNTABLE)
        codes, counts = numbers(table.column(0)), numbers(table.column(table.num_columns - 1))
        return Counted(codes, counts, found)

    def _count_rows(self, who: Column, used: Sequence[str], people: _Relation) -> int:
        if self._notice is None:
            # A line of a CSV may be left out for a cell that is read, so the same cells are read here.
            cells = ", ".join(f"count({identifier(name)})" for name in used)
            return int(self._ask(f"SELECT count(*), {cells} FROM {people.sql}")[0][0])
        rows, chosen = look_at_rows(self._ask, who, used, people.sql, self._notice)
        self._notice.tell(chosen)
        return rows

    def _ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return _rows(self._connection, sql, _Failed(_UNCOUNTABLE), values)


def _relation(connection: duckdb.DuckDBPyConnection, sql: str) -> _Relation:
    return _Relation(sql, {name: column(name, kind) for name, kind in _described(connection, sql)})


def _rows(
    connection: duckdb.DuckDBPyConnection, sql: str, trouble: WrongUse, values: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(sql, list(values)).fetchall()
    except (*_TROUBLE, UnicodeDecodeError):
        pass
    raise trouble  # out here, where it does not drag along the engine's message, which may quote a cell


def _described(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    """The columns and their types."""
    found = _rows(connection, f"DESCRIBE SELECT * FROM {relation}", WrongUse(_UNREADABLE))
    return [(row[0], str(row[1])) for row in found]


# --- opening ------------------------------------------------------------------------------------------------------


def _private_connection() -> tuple[duckdb.DuckDBPyConnection, Path]:
    """A connection that fetches and guesses nothing, and a private folder for temporary files that goes with it."""
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
    return connection, scratch.folder


def _locked(connection: duckdb.DuckDBPyConnection, paths: list[str], relation: str, **words: Any) -> DuckDB:
    """The table, by a connection that from now on reads these files and no other."""
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return DuckDB(connection, relation, **words)


def open_file(path: str | os.PathLike[str], *, table: str | None = None) -> DuckDB:
    """A CSV or Parquet file, a glob of such files, or a DuckDB database with the name of a table."""
    name = os.fspath(path)
    files = [match for match in (sorted(glob(name)) if _is_glob(name) else [name]) if os.path.isfile(match)]
    if not files:
        raise WrongUse(f"there is no file {name!r}; check the path")
    suffixes = {Path(file).suffix.lower() for file in files}
    suffix = suffixes.pop()
    if suffixes:
        raise WrongUse("the files of one table end alike, in .parquet for example; name fewer of them")
    if suffix in (".duckdb", ".db"):
        return _open_database(files[0], table)
    if suffix not in (".csv", ".tsv", ".parquet", ".pq"):
        raise WrongUse("a table is read from .csv, .tsv, .parquet or .duckdb; convert the file, or open it as a frame")
    if suffix in (".parquet", ".pq"):
        return _open_parquet(files)
    return _open_csv(files, "\t" if suffix == ".tsv" else ",")


def _open_csv(files: Sequence[str], mark: str) -> DuckDB:
    header = csv_header(files, mark)
    connection, folder = _private_connection()
    read = [_without_giants(file, mark, str(folder / f"{i}.csv")) for i, file in enumerate(files)]
    # Whether the first line holds names or somebody's data, no program can tell: it is not shown.
    relation = csv_relation(_patterns(read), header, mark)
    return _locked(connection, _paths(read), relation, columns_are_public=False, files=files)


def _without_giants(file: str, mark: str, copy: str) -> str:
    """The file, or a copy of it if DuckDB could lose its place in a record."""
    try:
        spans = giants(file, mark, LONGEST)
        if spans:
            copy_without(file, spans, copy)
        return copy if spans else file
    except OSError as error:
        wrong = f"the CSV could not be read ({error.strerror}); check the disk and the room for temporary files"
    raise WrongUse(wrong)


def _open_parquet(files: Sequence[str]) -> DuckDB:
    connection, folder = _private_connection()
    _check_alike(connection, [escape(file) for file in files])
    copies = [str(folder / f"{i}.parquet") for i in range(len(files))]

    def mend(columns: Sequence[str]) -> str:
        for file, copy in zip(files, copies, strict=True):
            mend_parquet(file, columns, copy)
        return _parquet_relation(copies)

    return _locked(connection, _paths([*files, *copies]), _parquet_relation(files), mend=mend, files=files)


def _parquet_relation(files: Sequence[str]) -> str:
    return f"read_parquet({_patterns(files)}, hive_partitioning=false)"  # what a folder is called is no column


def _patterns(files: Sequence[str]) -> str:
    """A list in SQL. DuckDB takes a name with a star or a bracket for a pattern."""
    return f"[{', '.join(literal(escape(file)) for file in files)}]"


def _paths(files: Sequence[str]) -> list[str]:
    return [*files, *map(escape, files)]


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[") and not os.path.exists(name)


def _check_alike(connection: duckdb.DuckDBPyConnection, patterns: Sequence[str]) -> None:
    """Several Parquet files have the same columns of the same types, so that no cell has to be turned into another."""
    each = (f"read_parquet({literal(pattern)}, hive_partitioning=false)" for pattern in patterns)
    if len(patterns) > 1 and len({frozenset(_described(connection, one)) for one in each}) > 1:
        raise WrongUse("the Parquet files do not have the same columns of the same types; write them with one schema")


def _open_database(file: str, table: str | None) -> DuckDB:
    if table is None:
        raise WrongUse("a DuckDB database needs the name of a table; add --table NAME")
    connection, _ = _private_connection()
    trouble = "the database could not be opened; check that it is one of DuckDB, and close it where else it is open"
    _rows(connection, f"ATTACH {literal(file)} AS hubbub_database (TYPE duckdb, READ_ONLY)", WrongUse(trouble))
    name = _table_name(connection, table, "'hubbub_database'", "'main'")
    return _locked(connection, [], name, catalog="hubbub_database")


def open_frame(frame: object) -> DuckDB:
    """A pandas, polars or Arrow frame, read where it is."""
    makers = {cls.__module__.partition(".")[0] for cls in type(frame).__mro__}
    once = isinstance(frame, pa.RecordBatchReader) or type(frame).__name__ == "Scanner"  # empty after one reading
    if makers.isdisjoint(("pandas", "polars", "pyarrow")) or once:
        kind = type(frame).__name__
        raise WrongUse(f"an object of type {kind} cannot be read as a table; give a file, a frame or an Arrow table")
    connection, _ = _private_connection()

    def mend(columns: Sequence[str]) -> str:
        connection.register("hubbub_mended", mend_frame(frame, columns))
        return "hubbub_mended"

    try:
        connection.register("hubbub_people", frame)
        spoilt = partial(has_unreadable_text, frame) if makers & {"pandas", "pyarrow"} else lambda columns: False
        return _locked(connection, [], "hubbub_people", mend=mend, spoilt=spoilt)
    except Exception:  # of whichever library: its message may quote a cell
        pass
    raise WrongUse("a column of the frame has a type that cannot be read; leave it out or turn it into text")


def open_relation(relation: duckdb.DuckDBPyRelation) -> DuckDB:
    """A DuckDB relation, as it is now: it is run once and its rows are kept, like those of a frame."""
    try:
        rows = relation.to_arrow_table()
    except Exception:  # of whatever it reads: the message may quote a cell
        rows = None
    if rows is None:
        raise WrongUse("the relation cannot be run; check that its connection is open and its tables are there")
    return open_frame(rows)


def open_table(connection: duckdb.DuckDBPyConnection, table: str) -> DuckDB:
    """A table or view of a DuckDB connection that is already open, as other connections see it."""
    try:
        own = connection.cursor()
        own.execute("SET TimeZone = 'UTC'")
    except _TROUBLE:
        own = None
    if own is None:
        raise WrongUse("the connection cannot be used; open it again, and set nothing that forbids to SET TimeZone")
    name = _table_name(own, table, "current_database()", "current_schema()")
    catalog = _rows(own, "SELECT current_database()", WrongUse(_UNREADABLE))[0][0]
    return DuckDB(own, name, catalog=str(catalog))


def is_connection(source: object) -> TypeGuard[duckdb.DuckDBPyConnection]:
    """Whether it is an open DuckDB connection."""
    return isinstance(source, duckdb.DuckDBPyConnection)


def is_relation(source: object) -> TypeGuard[duckdb.DuckDBPyRelation]:
    """Whether it is a DuckDB relation."""
    return isinstance(source, duckdb.DuckDBPyRelation)


def _table_name(connection: duckdb.DuckDBPyConnection, table: str, catalog: str, schema: str) -> str:
    found = _rows(
        connection,
        f"SELECT table_catalog, table_schema, table_name FROM information_schema.tables "
        f"WHERE table_catalog = {catalog} AND table_schema = {schema} ORDER BY ALL",
        WrongUse(_UNREADABLE),
    )
    for row in found:
        if row[2] == table:
            return ".".join(map(identifier, row))
    names = ", ".join(repr(name) for *_, name in found) or "none"
    raise WrongUse(f"there is no table {table!r} that other connections see; there are {names}")
