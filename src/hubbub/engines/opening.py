"""Who opens a source: the first engine that knows it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hubbub.engines.addresses import is_address, is_text, open_address
from hubbub.engines.duckdb import duckdb_engine
from hubbub.engines.duckdb.inspection import inspect_table
from hubbub.engines.files import files, frames
from hubbub.engines.files.csv_form import Form, form
from hubbub.engines.spark import spark_engine
from hubbub.engines.sql.sql_engine import Portable
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, rational
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.cell_format import Missing
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.engine import Engine
from hubbub.tables.inspection import Inspection
from hubbub.tables.schema import column


def open_source(
    source: object,
    *,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    no_header: str | None = None,
    unreadable: Exact = 1,
    missing: str | Sequence[str] = (),
) -> Engine:
    """The table in a file, at an address, a frame, a relation, a connection or a session; how a CSV is written, if not
    as usual, and how missing cells are spelled."""
    declared = Missing.parse(missing)
    engine = _open(source, table, form(delimiter=delimiter, encoding=encoding, no_header=no_header), _share(unreadable))
    for name in declared.columns:
        column(engine.columns(), name)
    return engine.with_missing(declared) if declared.declared else engine


def _open(source: object, table: str | None, how: Form, share: Fraction) -> Engine:
    if how.is_declared and not (isinstance(source, str | os.PathLike) and not is_address(source)):
        raise WrongUse("`delimiter`, `encoding` and `no_header` are about CSV files; leave them out")
    if not is_text(table or ""):
        raise WrongUse("the name of a table is text in UTF-8; check how it was typed")
    if isinstance(source, str | os.PathLike):
        if is_address(source):
            return open_address(os.fspath(source), table, unreadable=share)
        return files.open_file(source, table=table, form=how, unreadable=share)
    if spark_engine.is_frame(source):
        return spark_engine.open_frame(source, unreadable=share)
    if spark_engine.is_session(source):
        return spark_engine.open_session(source, table, unreadable=share)
    if frames.is_connection(source):
        if table is None:
            raise WrongUse("a connection holds many tables; name one, like open(connection, table='people')")
        return frames.open_table(source, table, unreadable=share)
    if frames.is_relation(source):
        return frames.open_relation(source, unreadable=share)
    return frames.open_frame(source, unreadable=share)


def open_inspection(
    source: object,
    specs: Sequence[str],
    person: str | None,
    *,
    where: str | None = None,
    of: str | None = None,
    **how: Any,
) -> Inspection:
    """A private look at a table for its steward; `how` it is opened, as above."""
    return inspect(open_source(source, **how), specs, person, where=where, of=of)


def inspect(
    table: Engine, specs: Sequence[str], person: str | None, *, where: str | None = None, of: str | None = None
) -> Inspection:
    """The same of a table that is open."""
    axes = tuple(parse(spec) for spec in specs)
    if not isinstance(table, duckdb_engine.DuckDB | Portable):
        raise WrongUse("this table cannot be looked at; open it from a file, a frame or a database")
    rule = None if where is None else parse_condition(where)
    ranged = None if of is None else (of, measured(of))
    return inspect_table(table, specs, axes, person, SystemSource(), where=rule, of=ranged)


def _share(value: Exact) -> Fraction:
    share = rational(value, "unreadable")
    if not 0 <= share <= 1:
        raise WrongUse(f"unreadable must lie between 0 and 1, not {share}; 0.01 allows one person in a hundred")
    return share
