"""Files as tables: CSV, Parquet, Excel, a database of DuckDB's; each is read where it is, or from a private copy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from glob import escape, glob
from pathlib import Path
from typing import Final

from hubbub.engines.cell_sql import literal
from hubbub.engines.connection import described, lock, private_connection, rows_of, table_name
from hubbub.engines.csv_file import csv_header, csv_relation
from hubbub.engines.csv_form import Form
from hubbub.engines.csv_records import LONGEST, copy_without, giants
from hubbub.engines.duckdb import Connection, DuckDB, locked
from hubbub.engines.mended import mend_parquet
from hubbub.engines.plain_copy import PACKED, kind, plain
from hubbub.engines.scratch import Scratch
from hubbub.errors import WrongUse

_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".duckdb", ".db")
_NO_FORM: Final = Form()


def open_file(
    path: str | os.PathLike[str],
    *,
    table: str | None = None,
    form: Form = _NO_FORM,
    unreadable: Fraction = Fraction(1),
) -> DuckDB:
    """A CSV, Parquet or Excel file, a glob of such files, or a DuckDB database with the name of a table.

    `form` is that of a CSV; `unreadable` is the share of rows that may not be readable as declared.
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
    if form.said and not is_csv:
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
    texts = [plain(file, form, scratch, f"{i}-plain.csv") for i, file in enumerate(files)]
    read = [_without_giants(file, mark, scratch, f"{i}.csv") for i, file in enumerate(texts)]
    # Whether the first line holds names or somebody's data, no program can tell: it is not shown.
    named = form.names is None
    return locked(
        connection,
        _paths([file for file, _ in read]),
        csv_relation(_patterns([file for file, _ in read]), header, mark, named=named),
        columns_are_public=not named,
        files=files,
        allowed=unreadable,
        taken_out=sum(records for _, records in read),
    )


def _without_giants(file: str, mark: str, scratch: Scratch, name: str) -> tuple[str, int]:
    """The file, or a copy of it if DuckDB could lose its place in a record; and how many records are not in it."""
    try:
        spans = giants(file, mark, LONGEST)
        if not spans:
            return file, 0
        target, copy = scratch.new_file(name)
        copy_without(file, spans, target)
        return copy, len(spans)
    except OSError as error:
        wrong = f"the CSV could not be read ({error.strerror}); check the disk and the room for temporary files"
    raise WrongUse(wrong)


def _open_sheet(files: Sequence[str], table: str | None, unreadable: Fraction) -> DuckDB:
    from hubbub.engines.excel_file import sheet

    if len(files) > 1:
        raise WrongUse("an Excel file is opened by itself; name one file, or save them as CSV")
    rows = sheet(files[0], table)
    connection, _ = private_connection()
    connection.register("hubbub_people", rows)
    return locked(
        connection, [], "hubbub_people", columns_are_public=False, files=files, allowed=unreadable, table=rows
    )


def _open_parquet(files: Sequence[str], unreadable: Fraction) -> DuckDB:
    connection, scratch = private_connection()
    _check_alike(connection, [escape(file) for file in files])
    copies = [str(scratch.copies / f"{i}.parquet") for i in range(len(files))]

    def mend(columns: Sequence[str]) -> str:
        for file, copy in zip(files, copies, strict=True):
            mend_parquet(file, columns, copy)
        return _parquet_relation(copies)

    paths = _paths([*files, *copies])

    @cache
    def doubting() -> Connection:
        """A file says itself what its smallest and largest value are; what DuckDB would conclude may be wrong."""
        other, _ = private_connection()
        other.execute("SET disabled_optimizers = 'statistics_propagation'")
        return lock(other, paths)

    relation = _parquet_relation(files)
    return locked(connection, paths, relation, mend=mend, files=files, allowed=unreadable, doubting=doubting)


def _parquet_relation(files: Sequence[str]) -> str:
    return f"read_parquet({_patterns(files)}, hive_partitioning=false)"  # what a folder is called is no column


def _patterns(files: Sequence[str]) -> str:
    """A list in SQL. DuckDB takes a name with a star or a bracket for a pattern."""
    return f"[{', '.join(literal(escape(file)) for file in files)}]"


def _paths(files: Sequence[str]) -> list[str]:
    return [*files, *map(escape, files)]


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[") and not os.path.exists(name)


def _check_alike(connection: Connection, patterns: Sequence[str]) -> None:
    """Several Parquet files have the same columns of the same types, so that no cell has to be turned into another."""
    each = (f"read_parquet({literal(pattern)}, hive_partitioning=false)" for pattern in patterns)
    if len(patterns) > 1 and len({frozenset(described(connection, one)) for one in each}) > 1:
        raise WrongUse("the Parquet files do not have the same columns of the same types; write them with one schema")


def _open_database(file: str, table: str | None, unreadable: Fraction) -> DuckDB:
    if table is None:
        raise WrongUse("a DuckDB database needs the name of a table; add `table=NAME`")
    connection, _ = private_connection()
    trouble = "the database could not be opened; check that it is one of DuckDB, and close it where else it is open"
    rows_of(connection, f"ATTACH {literal(file)} AS hubbub_database (TYPE duckdb, READ_ONLY)", WrongUse(trouble))
    name = table_name(connection, table, "'hubbub_database'", "'main'")
    return locked(connection, [], name, catalog="hubbub_database", allowed=unreadable)
