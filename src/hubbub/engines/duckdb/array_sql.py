"""Groups of few bits, which DuckDB counts in an array and not by hashing.

It does so where the type alone says that there are few groups: one of 8 or 16 bits, or two of 8, of which nothing that a
file says of its values is believed. So where people in no bin are counted too, an integer column is grouped by itself,
cast to the smallest type that holds its bins, which needs no case for each row; the bin of each value is found among
the groups. Values that are counted with their bins are one number with these.

Of large files, an integer column is grouped by itself wherever they say of themselves that all values are in bins or
near them: then there are few groups, and a condition on each row costs more than it saves. What a file says, true or
not, decides which of two queries is asked, and so how long it takes; both give the same numbers of every bin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, prod
from typing import Final

from hubbub.engines.column import Column
from hubbub.engines.duckdb.bin_sql import code, ends
from hubbub.engines.duckdb.cell_sql import identifier, literal, unknown
from hubbub.tables.bins import Countable, Edges, Steps
from hubbub.tables.schema import ColumnType

BITS: Final = 17
"""That DuckDB may number groups with: those of 16, and a group for NULL."""

NUMBERED: Final = "USMALLINT"
MOST_NUMBERS: Final = 1 << 16

MOST_CELLS: Final = 1 << 12
"""Values in the bins of columns that are grouped by themselves: hashing more costs more than a condition."""

NEAR: Final = 1 << 12
"""How far from its bins a column that is grouped by itself may have values."""

_TYPES: Final = {
    "UTINYINT": (0, 1 << 8),
    "TINYINT": (-1 << 7, 1 << 7),
    "USMALLINT": (0, MOST_NUMBERS),
    "SMALLINT": (-1 << 15, 1 << 15),
}


def small_parts(axes: Sequence[Countable], columns: Mapping[str, Column]) -> list[str] | None:
    """One SQL expression for each axis, of few bits together: the value of which the bin is known, NULL for many that
    have none. None where some axis has no such expression."""
    found = [_small_type(axis, columns[axis.column]) for axis in axes]
    types = [each for each in found if each is not None]
    sizes = (_TYPES[each][1] - _TYPES[each][0] for each in types)
    if not types or len(types) < len(found) or prod(sizes) > MOST_NUMBERS:
        return None
    cells = (unknown(identifier(axis.column)) for axis in axes)
    return [f"TRY_CAST({cell} AS {small})" for cell, small in zip(cells, types, strict=True)]


def cell_columns(axes: Sequence[Countable], columns: Mapping[str, Column]) -> list[str] | None:
    """The columns themselves, where their bins hold few values. None where they hold many, or some axis is not of whole
    numbers alone."""
    found = [_ends(axis, columns[axis.column]) for axis in axes]
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found) or prod(ceil(high) - ceil(low) for low, high in known) > MOST_CELLS:
        return None
    return [identifier(axis.column) for axis in axes]


def near_sql(axes: Sequence[Countable], columns: Mapping[str, Column], files: Sequence[str]) -> str:
    """Whether Parquet files say of each part of themselves that these columns have values in bins or near them alone."""
    tests = []
    for axis in axes:
        known = _ends(axis, columns[axis.column])
        assert known is not None
        low, high = ceil(known[0]) - NEAR, ceil(known[1]) + NEAR
        least, most = (f"TRY_CAST(stats_{end}_value AS HUGEINT)" for end in ("min", "max"))
        here, inside = (
            f"path_in_schema = {literal(axis.column)}",
            f"coalesce({least} >= {low} AND {most} < {high}, FALSE)",
        )
        tests.append(f"coalesce(bool_and({inside}) FILTER ({here}), FALSE)")
    return f"SELECT {' AND '.join(tests)} FROM parquet_metadata([{', '.join(map(literal, files))}])"


def with_bins(axes: Sequence[Countable], columns: Mapping[str, Column], groups: str) -> str:
    """The groups (g0, g1, ...) of such values, with the number of its bin in the place of each, or -1."""
    for i, axis in enumerate(axes):
        column = columns[axis.column]
        assert isinstance(axis, Edges | Steps) and column.number is not None
        groups = f"SELECT * REPLACE (CAST(g{i} AS {column.number.type}) AS g{i}) FROM ({groups})"
        groups = f"SELECT * REPLACE ({code(axis, replace(column, name=f'g{i}'))} AS g{i}) FROM ({groups})"
    return groups


def _small_type(axis: Countable, column: Column) -> str | None:
    """The smallest type that holds every value with a bin, where missing and other values have none."""
    known = _ends(axis, column)
    if known is None:
        return None
    low, high = known
    return next((name for name, (least, stop) in _TYPES.items() if least <= low and high <= stop), None)


def _ends(axis: Countable, column: Column) -> tuple[Fraction, Fraction] | None:
    """Where bins of whole numbers begin and end, where missing and other values have none."""
    if not isinstance(axis, Edges | Steps) or axis.null or axis.other or column.kind is not ColumnType.INTEGER:
        return None
    low, high = ends(axis)
    return None if low is None or high is None else (low, high)
