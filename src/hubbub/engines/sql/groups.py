"""Groups that a database counted become bins and labels: here, by the SQL that reads files.

So the rules about text, about numbers and dates in text, about listed values, labels and their order are written once,
and are the same wherever the rows are.

Batches on their way from a database to DuckDB: each is let go when it was read, so that groups by the ten million
are not held twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeVar

import pyarrow as pa

from hubbub.engines.duckdb.connection import private_connection
from hubbub.engines.duckdb.count_sql import Weight, lookup_sql
from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.engines.duckdb.measured_sql import bad_cells
from hubbub.engines.sql.dialect import Part
from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.tables.bins import Countable, Declared, Discovered, Lattice, Steps, size
from hubbub.tables.engine import CountQuery, ExactCounts, Joint


class SingleUseStream:
    """A stream that is read once. A second reading fails, and does not find an empty table."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self.schema, self._batches = schema, batches
        self._reader: object = None
        self.trouble = ""  # why it broke off, in our words

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self.schema, self._read()).__arrow_c_stream__()

    def _read(self) -> Iterator[pa.RecordBatch]:
        own = object()
        self._reader = self._reader or own
        if self._reader is not own:
            raise WrongUse("a stream is read once")
        try:
            yield from self._batches
        except WrongUse as trouble:
            self.trouble = str(trouble)
            raise

    def close(self) -> None:
        """Nobody reads on: whoever sends is told, and is free for other questions."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()

    def table(self) -> pa.Table:
        """All of it."""
        return pa.Table.from_batches(list(self), self.schema)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._read()


WEIGHT: Final = Weight("sum(n)", "sum(s)")
READ: Final = Weight("sum(n)", "sum({x} * n)")
"""Where the sum was made by the database, and where what is added up is read here."""

_T = TypeVar("_T")
_GROUPS: Final = "hubbub_groups"
_STRANGE: Final = "the table could not be counted; a column holds what is no value of its type: leave it out"


def count_groups(
    groups: SingleUseStream, parts: Mapping[str, Part], question: CountQuery, source: Source, **options: Any
) -> ExactCounts:
    """The bins of groups: the question is about their columns, and `n` says how many people a group has."""
    return _ask_groups(groups, parts, lambda engine: engine.count(question, source), **{"weight": WEIGHT, **options})


def count_jointly(
    groups: SingleUseStream,
    parts: Mapping[str, Part],
    questions: tuple[CountQuery, ...],
    source: Source,
    **options: Any,
) -> Joint:
    """The same of several questions at once."""
    return _ask_groups(groups, parts, lambda engine: engine.joint_count(questions, source), **options)


def _ask_groups(
    groups: SingleUseStream, parts: Mapping[str, Part], count: Callable[[DuckDB], _T], **options: Any
) -> _T:
    """What is said of groups as they come; where they stop coming, it says why."""
    cells = _typed_once(groups, parts)
    try:
        connection, _ = private_connection()
        connection.register(_GROUPS, cells)
        return count(DuckDB(connection, _GROUPS, table=cells, **options))
    except WrongUse:
        if not cells.trouble:
            raise
    finally:
        groups.close()
    raise WrongUse(cells.trouble)  # out here, without what DuckDB said


def _typed_once(groups: SingleUseStream, parts: Mapping[str, Part]) -> SingleUseStream:
    kinds = [(name, parts[name].type if name in parts else kind) for name, kind in _columns(groups.schema)]
    tables = (convert_cells(pa.Table.from_batches([batch]), parts) for batch in groups)
    return SingleUseStream(pa.schema(kinds), (batch for table in tables for batch in table.to_batches()))


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]


def ready(axis: Declared | Lattice, name: str) -> Steps:
    """The axis of a column that holds the numbers of bins already."""
    return Steps(name, Fraction(0), Fraction(1), size(axis))


def lookup_table(table: pa.Table, axis: Countable, part: Part) -> pa.Table:
    """For every value (`v`, as it travelled) its bin (`id`): a number, or the label if the bins are discovered."""
    engine = register_groups(table.append_column("cell", table.column("g")), {"g": part})
    found = engine.arrow(lookup_sql(replace(axis, column="g"), engine.column_types(), engine.sql, "cell"))
    kept = found.select([0, 2 if isinstance(axis, Discovered) else 1]).rename_columns(["v", "id"])
    return kept.filter(kept.column("v").is_valid())


def unreadable(table: pa.Table, question: CountQuery, part: Part) -> pa.Table:
    """Of values in a column g those (`v`, as they travelled) that cannot be read as a question about it declares."""
    engine = register_groups(table.append_column("cell", table.column("g")), {"g": part})
    bad = bad_cells(question, question.axes, engine.column_types())
    found = engine.arrow((f"SELECT cell AS v, CAST(0 AS BIGINT) AS id FROM {engine.sql} WHERE {bad}", []))
    return found.filter(found.column("v").is_valid())


def register_groups(table: pa.Table, parts: Mapping[str, Part], **options: Any) -> DuckDB:
    """Groups as a table of DuckDB's, their cells as values of their types."""
    connection, _ = private_connection()
    cells = convert_cells(table, parts)
    connection.register(_GROUPS, cells)
    return DuckDB(connection, _GROUPS, table=cells, **options)


def convert_cells(table: pa.Table, parts: Mapping[str, Part]) -> pa.Table:
    """Cells as they travelled, as values of their types."""
    try:
        for name, part in parts.items():
            index = table.column_names.index(name)
            table = table.set_column(index, name, _of_type(table.column(index), part))
        return table
    except pa.ArrowException:  # its message may quote a cell
        pass
    raise WrongUse(_STRANGE)


def _of_type(cells: pa.ChunkedArray, part: Part) -> pa.ChunkedArray:
    if part.type == pa.date32():
        return pa.chunked_array([chunk.cast(pa.int32()).view(pa.date32()) for chunk in cells.chunks], pa.date32())
    if pa.types.is_timestamp(part.type):
        return pa.chunked_array([chunk.view(part.type) for chunk in cells.chunks], part.type)
    return cells if cells.type == part.type else cells.cast(part.type)
