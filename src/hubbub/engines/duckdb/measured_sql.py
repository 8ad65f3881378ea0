"""The query behind a question with a condition, a measure, or everybody else in it.

One pass over the table, as in :mod:`hubbub.engines.duckdb.count_sql`: bins (and steps) become groups, and sums stay
integers. Where nobody need be told about who is left out, a WHERE drops them, which is the fastest; else a flag keeps
them apart.

Groups of few bits, which DuckDB counts in an array and not by hashing.

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
from typing import Final, TypeGuard

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers as integers
from hubbub.engines.column import Column
from hubbub.engines.duckdb.count_sql import (
    BINNED,
    ROW,
    Columns,
    Query,
    Weight,
    bad_row,
    bin_columns,
    name_parts,
    order,
    parts_of,
    with_codes,
)
from hubbub.engines.duckdb.expressions import (
    code,
    code_where,
    ends,
    holds,
    identifier,
    literal,
    number_of,
    unknown,
    unreadable_leaves,
)
from hubbub.engines.duckdb.step_sql import EXACT, beyond, present, steps, twice, with_steps
from hubbub.tables.bins import Countable, Dates, Edges, Steps
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.schema import ColumnType
from hubbub.tables.unlisted import Outside

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


def bad_cells(question: CountQuery, axes: Sequence[Countable], columns: Columns) -> str:
    """Whether a row has a cell that is read and cannot be read as declared."""
    tests = [bad_row(axes, columns)]
    if isinstance(question.measure, Measure) and columns[question.measure.column].kind is ColumnType.TEXT:
        column = columns[question.measure.column]
        cell, value = identifier(column.name), number_of(column, question.measure.reads)
        tests.append(f"({cell} IS NOT NULL AND trim({cell}) <> '' AND {value} IS NULL)")
    for rule in (question.where, question.measure):
        if isinstance(rule, Condition):
            tests += unreadable_leaves(rule, columns)
    return " OR ".join(test for test in tests if test != "FALSE") or "FALSE"


def measured_query(
    question: CountQuery,
    axes: Sequence[Countable],
    columns: Columns,
    people: str,
    person: str | None,
    *,
    reports_unreadable: bool,
    reports_outside: bool = False,
    weight: Weight = ROW,
    very_many: bool = False,
    doubted: bool = False,
    by_cell: bool = False,
) -> Query:
    """The columns code, labels and people; with a measure, its sum.

    With `reports_unreadable`, also how many people have a cell that cannot be read; with `reports_outside`, how many are
    in no bin, and outside of the range. With either or with everybody, people in no bin have the code -1. Sums come as text. They are exact with `very_many`, and without it when
    :func:`are_very_many` is false of the result. `doubted` says that the connection believes nothing a file says of
    its numbers. `by_cell` says that nearly all rows are in bins: integer columns are then grouped by themselves where
    that is cheaper. Whatever it says, the answer is the same.
    """
    measure, parts = question.measure, parts_of(axes, columns)
    apart = reports_unreadable or question.everybody
    tests = [] if question.where is None else [holds(question.where, columns)]
    x, many = "", weight.people
    if isinstance(measure, Measure):
        column = columns[measure.column]
        people, (x,) = with_steps([measure], columns, people, kept=apart, doubted=doubted)
        if apart or question.by_value or weight is not ROW or column.kind is ColumnType.DECIMAL:
            tests.append(present(measure, column, x))
        else:  # a condition is dearer
            many = f"count({twice(measure, column, x)})"
    conditions = [] if person is None else [f"({person} IS NOT NULL)"]
    dense = _few_and_dense(question, axes) if question.by_value and not apart and not reports_outside else None
    cells = cell_columns(axes, columns) if by_cell and dense is None else None
    if cells is None and apart and measure is not None:  # else a condition is cheaper
        cells = small_parts(axes, columns)
    if not apart:
        for i, axis in enumerate(axes):
            if cells is None and not reports_outside and _is_dense(axis):
                parts[i], condition = code_where(axis, columns[axis.column])
                conditions.append(f"({condition})")
        conditions += tests
    if dense is not None and measure is not None:
        codes = list(zip(dense, parts, strict=True))
        return _count_in_array(measure, codes, columns, x, f"{people}{_where(conditions)}", many), []
    parts = cells or parts
    flagged = apart and bool(tests)
    groups = [f"coalesce({' AND '.join(tests)}, FALSE) AS inside"] if flagged else []
    groups += [name_parts(parts)] if parts else []
    numbers, carried = [f"{many} AS n"], ["n"]
    if measure is not None:
        if question.by_value:
            groups.append(f"{value_of(measure, columns, x)} AS x")
        else:
            numbers.append(f"{_total(measure, columns, x, weight, many, very_many)} AS s")
        carried.append("x" if question.by_value else "s")
    if reports_unreadable:
        bad = f"{weight.people} FILTER (WHERE {bad_cells(question, axes, columns)})"
        numbers.append(f"coalesce(CAST({bad} AS BIGINT), 0) AS bad")
        carried.append("bad")
    if reports_outside and isinstance(measure, Measure):
        many_beyond = f"{weight.people} FILTER (WHERE {beyond(measure, columns[measure.column], x)})"
        numbers.append(f"coalesce(CAST({many_beyond} AS BIGINT), 0) AS beyond")
        carried.append("beyond")
    inner = f"SELECT {', '.join([*groups, *numbers])} FROM {people}{_where(conditions)} GROUP BY ALL"
    inner = inner if cells is None else with_bins(axes, columns, inner)
    bins, parameters = with_codes(axes, inner, ", ".join([*carried, *(["inside"] if flagged else [])]))
    most = measure.steps if isinstance(measure, Measure) else 1
    number_ = "code" if measure is None or not question.by_value else f"code * {most + 1} + x"
    if apart or reports_outside:
        number_ = f"coalesce({number_}, -1)"
    if flagged:
        number_ = f"CASE WHEN inside THEN {number_} ELSE -1 END"
    keys = bin_columns(axes)
    met = "inside" if flagged else "TRUE"
    left = f", CASE WHEN {met} AND code IS NULL THEN n ELSE 0 END AS unlisted" if reports_outside else ""
    every = f"SELECT * REPLACE (CAST({number_} AS BIGINT) AS code){left} FROM ({bins})"
    summed = measure is not None and not question.by_value
    if (
        not apart and not reports_outside and all(map(_is_single if cells else _is_dense, axes))
    ):  # the groups are the bins
        total = ["CAST(CAST(coalesce(s, 0) AS HUGEINT) AS VARCHAR) AS total"] if summed else []
        numbers = ["CAST(n AS BIGINT) AS people", *total]
        return f"SELECT code, {', '.join(numbers)} FROM ({every}) WHERE {BINNED}", parameters
    sums = ["CAST(sum(n) AS BIGINT) AS people"]
    sums += ["CAST(sum(bad) AS BIGINT) AS bad"] if reports_unreadable else []
    if reports_outside:
        many_beyond = f"sum(CASE WHEN {met} THEN beyond ELSE 0 END)" if "beyond" in carried else "0"
        sums += ["CAST(sum(unlisted) AS BIGINT) AS unlisted", f"CAST({many_beyond} AS BIGINT) AS beyond"]
    if summed:
        sums.append("CAST(CAST(coalesce(sum(s), 0) AS HUGEINT) AS VARCHAR) AS total")
    return f"SELECT {keys}, {', '.join(sums)} FROM ({every}) WHERE {BINNED} GROUP BY {keys}{order(axes)}", parameters


def outside_query(question: CountQuery, columns: Columns, people: str, person: str | None) -> Query:
    """How many people meet the condition and have a value, by any of their rows, how many of these are in no bin, and
    how many outside of the range, by none of their rows; without a person column, each row is one."""
    measure, tests = question.measure, [] if question.where is None else [holds(question.where, columns)]
    inside = "TRUE"
    if isinstance(measure, Measure):
        people, (x,) = with_steps([measure], columns, people, kept=True)
        tests.append(present(measure, columns[measure.column], x))
        inside = f"NOT coalesce({beyond(measure, columns[measure.column], x)}, FALSE)"
    cells = [f"{person or '0'} AS who", f"coalesce({' AND '.join(tests) or 'TRUE'}, FALSE) AS met", f"{inside} AS near"]
    cells += [name_parts(parts_of(question.axes, columns))] if question.axes else []
    rows = f"SELECT {', '.join(cells)} FROM {people}{_where([] if person is None else [f'({person} IS NOT NULL)'])}"
    coded, parameters = with_codes(question.axes, rows, "who, met, near")
    each = f"SELECT met, met AND code IS NOT NULL AS listed, met AND near AS near FROM ({coded})"
    if person is not None:
        any_row = ", ".join(
            f"bool_or({test}) AS {name}"
            for name, test in (("met", "met"), ("listed", "met AND code IS NOT NULL"), ("near", "met AND near"))
        )
        each = f"SELECT {any_row} FROM ({coded}) GROUP BY who"
    return f"SELECT count_if(met), count_if(met AND NOT listed), count_if(met AND NOT near) FROM ({each})", parameters


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _is_dense(axis: Countable) -> TypeGuard[Edges | Steps | Dates]:
    """Whether everybody in a bin has a number by a formula, and whoever has none is left out."""
    return isinstance(axis, Edges | Steps | Dates) and not axis.null and not axis.other


def _is_single(axis: Countable) -> bool:
    """Whether each bin is one whole number."""
    return isinstance(axis, Steps) and axis.width == axis.low.denominator == 1


def _few_and_dense(question: CountQuery, axes: Sequence[Countable]) -> list[Edges | Steps | Dates] | None:
    """The axes, where bins and values together are few enough for an array."""
    most = question.measure.steps if isinstance(question.measure, Measure) else 1
    dense = [axis for axis in axes if _is_dense(axis)]
    few = len(dense) == len(axes) and prod(map(len, dense)) * (most + 1) <= MOST_NUMBERS
    return dense if few else None


def _count_in_array(
    measure: Measure | Condition,
    codes: Sequence[tuple[Edges | Steps | Dates, str]],
    columns: Columns,
    x: str,
    people: str,
    many: str,
) -> str:
    """How many people have each value in each bin, which are one number for both."""
    number_ = "0"
    for axis, part in codes:
        number_ = f"({number_} * {len(axis)} + CAST({part} AS DOUBLE))"
    if isinstance(measure, Measure):
        most, counted = measure.steps, f"({twice(measure, columns[measure.column], x)} + {measure.steps}) / 2"
    else:
        most, counted = 1, value_of(measure, columns, x)
    key = f"CAST({number_} * {most + 1} + {counted} AS {NUMBERED})"
    groups = f"SELECT {key} AS g, CAST({many} AS BIGINT) AS n FROM {people} GROUP BY ALL"
    return f"SELECT CAST(g AS BIGINT) AS code, n AS people FROM ({groups}) WHERE n > 0"


def answer(
    table: pa.Table, question: CountQuery, *, reports_unreadable: bool = False, reports_outside: bool = False
) -> tuple[ExactCounts, int, int]:
    """What the query said; with `reports_unreadable`, also how many rows it saw and how many of them cannot be read."""
    summed = question.measure is not None and not question.by_value
    last = table.num_columns - summed
    outside, inside = None, last - 1 - reports_unreadable - 2 * reports_outside
    codes, counts = (integers(table.column(i)) for i in (0, inside))
    unreadable = int(integers(table.column(inside + 1)).sum()) if reports_unreadable else 0
    if reports_outside:
        unlisted, clamped = (int(integers(table.column(i)).sum()) for i in (last - 2, last - 1))
        outside = Outside(people=int(counts[codes >= 0].sum()) + unlisted, unlisted=unlisted, clamped=clamped)
    kept = np.ones(codes.size, np.bool_) if question.everybody else codes >= 0
    cells = table if kept.all() else table.filter(pa.array(kept))
    labels = tuple(cells.column(i).to_pylist() for i in range(1, inside))
    sums = tuple(map(int, cells.column(last).to_pylist())) if summed else None
    return ExactCounts(codes[kept], counts[kept], labels, sums, outside), int(counts.sum()), unreadable


def are_very_many(question: CountQuery, rows: int) -> bool:
    """Whether so many people may have a sum that doubles cannot hold; else all sums on the way to it are exact."""
    measure = question.measure
    return isinstance(measure, Measure) and not question.by_value and rows * measure.steps >= EXACT


def value_of(measure: Measure | Condition, columns: Columns, x: str) -> str:
    """What a row counts, as a whole number: its steps, or 1 for whoever meets a condition and 0 for the others."""
    if isinstance(measure, Measure):
        return steps(measure, columns[measure.column], x)
    return f"CAST(coalesce({holds(measure, columns)}, FALSE) AS INTEGER)"


def _total(measure: Measure | Condition, columns: Columns, x: str, weight: Weight, many: str, very_many: bool) -> str:
    """The sum of what rows count; what each of so many has too little is added once, and not row by row."""
    if isinstance(measure, Condition) and weight is ROW:
        return f"count_if({holds(measure, columns)})"
    if isinstance(measure, Condition) or very_many or "{x}" not in weight.total:
        return weight.total.format(x=value_of(measure, columns, x))
    doubled = weight.total.format(x=twice(measure, columns[measure.column], x))
    return f"({doubled} + {measure.steps} * {many}) / 2"
