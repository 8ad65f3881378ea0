"""The query behind a question with a condition, a measure, or everybody else in it.

One pass over the table, as in :mod:`hubbub.engines.duckdb.count_sql`: bins (and steps) become groups, and sums stay
integers. Where nobody need be told about who is left out, a WHERE drops them, which is the fastest; else a flag keeps
them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeGuard

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers as largest_remainders
from hubbub.engines.duckdb.array_sql import MOST_NUMBERS, NUMBERED, cell_columns, small_parts, with_bins
from hubbub.engines.duckdb.bin_sql import code_where
from hubbub.engines.duckdb.cell_sql import identifier, number
from hubbub.engines.duckdb.condition_sql import holds, unreadable_leaves
from hubbub.engines.duckdb.count_sql import (
    BINNED,
    ROW,
    Columns,
    Query,
    Weight,
    bad_row,
    listed,
    named,
    order,
    parts_of,
    with_codes,
)
from hubbub.engines.duckdb.step_sql import EXACT, present, steps, twice, with_steps
from hubbub.tables.bins import Countable, Dates, Edges, Steps
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.schema import ColumnType


def bad_cells(question: CountQuery, axes: Sequence[Countable], columns: Columns) -> str:
    """Whether a row has a cell that is read and cannot be read as declared."""
    tests = [bad_row(axes, columns)]
    if isinstance(question.measure, Measure) and columns[question.measure.column].kind is ColumnType.TEXT:
        column = columns[question.measure.column]
        cell, value = identifier(column.name), number(column, question.measure.reads)
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
    weight: Weight = ROW,
    very_many: bool = False,
    doubted: bool = False,
    by_cell: bool = False,
) -> Query:
    """The columns code, labels and people; with a measure, its sum.

    With `reports_unreadable`, also how many people have a cell that cannot be read. With it or with everybody, people
    in no bin have the code -1. Sums come as text. They are exact with `very_many`, and without it when
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
    dense = _few_and_dense(question, axes) if question.by_value and not apart else None
    cells = cell_columns(axes, columns) if by_cell and dense is None else None
    if cells is None and apart and measure is not None:  # else a condition is cheaper
        cells = small_parts(axes, columns)
    if not apart:
        for i, axis in enumerate(axes):
            if cells is None and _is_dense(axis):
                parts[i], condition = code_where(axis, columns[axis.column])
                conditions.append(f"({condition})")
        conditions += tests
    if dense is not None and measure is not None:
        codes = list(zip(dense, parts, strict=True))
        return _numbered(measure, codes, columns, x, f"{people}{_where(conditions)}", many), []
    parts = cells or parts
    flagged = apart and bool(tests)
    groups = [f"coalesce({' AND '.join(tests)}, FALSE) AS inside"] if flagged else []
    groups += [named(parts)] if parts else []
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
    inner = f"SELECT {', '.join([*groups, *numbers])} FROM {people}{_where(conditions)} GROUP BY ALL"
    inner = inner if cells is None else with_bins(axes, columns, inner)
    bins, parameters = with_codes(axes, inner, ", ".join([*carried, *(["inside"] if flagged else [])]))
    most = measure.steps if isinstance(measure, Measure) else 1
    number_ = "code" if measure is None or not question.by_value else f"code * {most + 1} + x"
    if apart:
        number_ = f"coalesce({number_}, -1)"
    if flagged:
        number_ = f"CASE WHEN inside THEN {number_} ELSE -1 END"
    keys = listed(axes)
    every = f"SELECT * REPLACE (CAST({number_} AS BIGINT) AS code) FROM ({bins})"
    summed = measure is not None and not question.by_value
    if not apart and all(map(_is_single if cells else _is_dense, axes)):  # the groups are the bins
        total = ["CAST(CAST(coalesce(s, 0) AS HUGEINT) AS VARCHAR) AS total"] if summed else []
        numbers = ["CAST(n AS BIGINT) AS people", *total]
        return f"SELECT code, {', '.join(numbers)} FROM ({every}) WHERE {BINNED}", parameters
    sums = ["CAST(sum(n) AS BIGINT) AS people"]
    sums += ["CAST(sum(bad) AS BIGINT) AS bad"] if reports_unreadable else []
    if summed:
        sums.append("CAST(CAST(coalesce(sum(s), 0) AS HUGEINT) AS VARCHAR) AS total")
    return f"SELECT {keys}, {', '.join(sums)} FROM ({every}) WHERE {BINNED} GROUP BY {keys}{order(axes)}", parameters


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


def _numbered(
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


def answer(table: pa.Table, question: CountQuery, *, reports_unreadable: bool) -> tuple[ExactCounts, int, int]:
    """What the query said; with `reports_unreadable`, also how many rows it saw and how many of them cannot be read."""
    summed = question.measure is not None and not question.by_value
    last = table.num_columns - summed
    codes, counts = (largest_remainders(table.column(i)) for i in (0, last - 1 - reports_unreadable))
    unreadable = int(largest_remainders(table.column(last - 1)).sum()) if reports_unreadable else 0
    kept = (np.arange(codes.size) if question.everybody else np.flatnonzero(codes >= 0)).tolist()
    labels = [table.column(i).to_pylist() for i in range(1, last - 1 - reports_unreadable)]
    sums = table.column(last).to_pylist() if summed else None
    found = ExactCounts(
        codes[kept],
        counts[kept],
        tuple([each[i] for i in kept] for each in labels),
        None if sums is None else tuple(int(sums[i]) for i in kept),
    )
    return found, int(counts.sum()), unreadable


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
