"""Groups that a database counted become bins and labels: here, by the SQL that reads files.

So the rules about text, about numbers and dates in text, about listed values, labels and their order are written once,
and are the same wherever the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import pyarrow as pa

from hubbub.engines.count_sql import looked_up
from hubbub.engines.dialect import Part
from hubbub.engines.duckdb import DuckDB, private_connection
from hubbub.errors import WrongUse
from hubbub.noise.source import Source
from hubbub.tables.bins import Axis, Discovered, Steps, size
from hubbub.tables.engine import Counted, Question

PEOPLE: Final = "n"
_WEIGHT: Final = f"sum({PEOPLE})"
_GROUPS: Final = "hubbub_groups"
_STRANGE: Final = "the table could not be counted; a column holds what is no value of its type: leave it out"


def counted(
    table: pa.Table,
    axes: Sequence[Axis],
    parts: Sequence[Part],
    ready: Sequence[bool],
    source: Source,
    unreadable: Fraction = Fraction(1),
) -> Counted:
    """The bins of groups (g0, g1, ..., n); where `ready`, a group is the number of its bin already."""
    bins = [
        Steps(f"g{i}", Fraction(0), Fraction(1), size(axis))
        if done and not isinstance(axis, Discovered)
        else replace(axis, column=f"g{i}")
        for i, (axis, done) in enumerate(zip(axes, ready, strict=True))
    ]
    engine = registered(table, parts, allowed=unreadable, weight=_WEIGHT)
    return engine.count(Question(axes=tuple(bins)), source)


def words(table: pa.Table, axis: Axis, part: Part, i: int) -> pa.Table:
    """For every value (`v`, as it travelled) its bin (`id`): a number, or the label if the bins are discovered."""
    name = f"g{i}"
    engine = registered(table.append_column("cell", table.column(name)), [part], first=i)
    found = engine.arrow(looked_up(replace(axis, column=name), engine.described(), engine.sql, "cell"))
    kept = found.select([0, 2 if isinstance(axis, Discovered) else 1]).rename_columns(["v", "id"])
    return kept.filter(kept.column("v").is_valid())


def registered(table: pa.Table, parts: Sequence[Part], *, first: int = 0, **words: Any) -> DuckDB:
    """Groups as a table of DuckDB's, their cells as values of their types."""
    connection, _ = private_connection()
    cells = _typed(table, parts, first)
    connection.register(_GROUPS, cells)
    return DuckDB(connection, _GROUPS, table=cells, **words)


def _typed(table: pa.Table, parts: Sequence[Part], first: int) -> pa.Table:
    """Cells as they travelled, as values of their types."""
    try:
        for i, part in enumerate(parts, first):
            place = table.column_names.index(f"g{i}")
            table = table.set_column(place, f"g{i}", _of_type(table.column(place), part))
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
