"""Bins as SQL expressions: each axis becomes the number of a row's bin, or -1 where the row has none.

Text never becomes part of the SQL: column names are quoted identifiers that exist, edges are numerals that were
parsed as exact decimals, patterns of dates were checked, and listed values travel as parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub.engines.column import Column, Number
from hubbub.engines.duckdb.cell_sql import boolean, moment, sound
from hubbub.engines.duckdb.cell_sql import number as number_of
from hubbub.numeric.exact import Infinite, to_text
from hubbub.tables.bins import Dates, Discovered, Edges, Steps, Values
from hubbub.tables.cell_format import BOOLEAN
from hubbub.tables.generalization import WIDEST, Prefix, Ranges
from hubbub.tables.lattice import Lattice
from hubbub.tables.schema import ColumnType, has_integer_steps


def text(column: Column) -> str:
    """A cell as text, compared sign by sign whatever the collation; not-a-number is missing and -0.0 is 0.0."""
    cell = sound(column)
    if column.kind is ColumnType.FLOAT:
        cell = f"CASE WHEN {_not_a_number(cell)} THEN NULL WHEN {cell} = 0 THEN 0 ELSE {cell} END"
    return f"TRY_CAST({cell} AS VARCHAR) COLLATE C"


def key(axis: Discovered, column: Column) -> str:
    """What a discovered axis is grouped by, as text. A hierarchy is looked up among the few groups that come out."""
    match axis.coarser:
        case Ranges(width):
            return _range(width, column)
        case Prefix(length):
            return f"left({text(column)}, {length}) COLLATE C"
    return text(column) if axis.unit is None else _period(axis.unit, moment(column, axis.reads))


def _range(width: int, column: Column) -> str:
    """[a,b) around a number, in whole numbers; whoever has none, or one beyond all sense, is missing."""
    cell = number_of(column, "") if column.kind is ColumnType.TEXT else sound(column)
    value = f"TRY_CAST({cell if column.kind is ColumnType.INTEGER else f'floor({cell})'} AS HUGEINT)"
    start = f"({value} - (({value} % {width}) + {width}) % {width})"
    label = f"'[' || CAST({start} AS VARCHAR) || ',' || CAST({start} + {width} AS VARCHAR) || ')'"
    return f"CASE WHEN {value} BETWEEN -{WIDEST} AND {WIDEST} THEN {label} END COLLATE C"


def value(axis: Values, column: Column) -> str:
    """What is looked up among listed values."""
    return f"{boolean(column)} COLLATE C" if axis.reads == BOOLEAN else text(column)


def code(axis: Edges | Steps | Dates | Lattice, column: Column) -> str:
    """The number of a row's bin on an axis of numbers or dates; -1 if it has none: a case that gives NULL is dearer."""
    number, inside = code_where(axis, column)
    other = str(len(axis) + axis.null) if axis.other else "-1"
    if not axis.null and column.kind is not ColumnType.DECIMAL:  # nothing that is missing is inside
        return f"CASE WHEN {inside} THEN {number} ELSE {other} END"
    null = str(len(axis)) if axis.null else other
    missing = f"{sound(column)} IS NULL"
    if not isinstance(axis, Dates) and _is_float(column):
        missing += f" OR {_not_a_number(number_of(column, axis.reads))}"
    return f"CASE WHEN {missing} THEN {null} WHEN {inside} THEN {number} ELSE {other} END"


def code_where(axis: Edges | Steps | Dates | Lattice, column: Column) -> tuple[str, str]:
    """(bin number, condition): the condition, cheaper than a case, is never true for a missing value.

    By itself only for an axis without null and other, where whoever fits no bin is left out.
    """
    if isinstance(axis, Dates):
        return _date_number(axis, moment(column, axis.reads))
    if isinstance(axis, Lattice):
        value = sound(column) if column.kind is ColumnType.DECIMAL else number_of(column, axis.reads)
        return _position(axis, f"CAST({value} AS DOUBLE)")
    number = column.number
    assert number is not None  # check() let it through
    value = number_of(column, axis.reads)
    low, high = ends(axis)
    tests = [number.compare(value, ">=", low)] if low is not None else []
    tests += [number.compare(value, "<", high)] if high is not None else []
    tests = [test for test in tests if test != "TRUE"]
    if _is_float(column):
        tests.append(f"isfinite({value})")
    inside = " AND ".join(tests) or f"{value} IS NOT NULL"
    if isinstance(axis, Steps) and column.kind is ColumnType.INTEGER and has_integer_steps(axis):
        return _step_sql(axis, value, number), inside
    return _tree(value, inner_edges(axis), 0, number), inside


def _position(axis: Lattice, value: str) -> tuple[str, str]:
    """Where a value is on a lattice, in floating point: any rule will do that looks at nothing but the value."""
    low, step, high = (f"CAST('{float(each)!r}' AS DOUBLE)" for each in (axis.low, axis.step, axis.high))
    index = f"floor(({value} - {low}) / {step})"
    within = f"least(greatest({index}, 0), {axis.steps - 1})"
    return f"CAST({within} AS BIGINT)", f"isfinite({value}) AND {value} >= {low} AND {value} < {high}"


def ends(axis: Edges | Steps) -> tuple[Fraction | None, Fraction | None]:
    """Where the first interval begins and the last one ends; None if that is at infinity."""
    if isinstance(axis, Steps):
        return axis.low, axis.low + axis.steps * axis.width
    first, last = axis.edges[0], axis.edges[-1]
    low = None if axis.open_below or isinstance(first, Infinite) else first
    return low, None if isinstance(last, Infinite) else last


def inner_edges(axis: Edges | Steps) -> list[Fraction]:
    """The edges between two intervals."""
    edges = [edge for edge in axis.edges if not isinstance(edge, Infinite)]
    low, high = ends(axis)
    return edges[0 if low is None else 1 : None if high is None else -1]


def _not_a_number(value: str) -> str:
    # Not isnan(): DuckDB answers that from a Parquet file's least and largest value, which leave out not-a-number.
    return f"(NOT isfinite({value}) AND NOT isinf({value}))"


def missing_number(column: Column) -> str:
    """Whether a cell has no number in it, as SQL that is never NULL: missing, not-a-number, or text that is none."""
    value = number_of(column, "") if column.kind is ColumnType.TEXT else sound(column)
    return f"({value} IS NULL OR {_not_a_number(value)})" if _is_float(column) else f"({value} IS NULL)"


def _is_float(column: Column) -> bool:
    return column.kind in (ColumnType.FLOAT, ColumnType.TEXT)


def _step_sql(axis: Steps, value: str, number: Number) -> str:
    """(value - low) // width for a value inside: where the difference may not fit the type, in a wider one."""
    span = axis.steps * axis.width
    if not (number.least <= axis.low and span <= number.most):
        value = f"CAST({value} AS {'BIGINT' if max(abs(axis.low), span) < 2**62 else 'HUGEINT'})"
    start = f"({value} - {to_text(axis.low)})" if axis.low else value
    return start if axis.width == 1 else f"({start} // {to_text(axis.width)})"


def _tree(value: str, edges: Sequence[Fraction], offset: int, number: Number) -> str:
    """How many of the edges are at most the value, by halving."""
    if not edges:
        return str(offset)
    middle = len(edges) // 2
    edge = edges[middle]
    below = _tree(value, edges[:middle], offset, number)
    above = _tree(value, edges[middle + 1 :], offset + middle + 1, number)
    return f"(CASE WHEN {number.compare(value, '<', edge)} THEN {below} ELSE {above} END)"


def _number_of(unit: str, value: str) -> str:
    months = f"(year({value}) * 12 + month({value}) - 1)"
    return {
        # Proleptic ordinal of Python: 1970-01-01 is day 719163.
        "day": f"(date_diff('day', DATE '1970-01-01', CAST({value} AS DATE)) + 719163)",
        "month": months,
        "quarter": f"({months} // 3)",
        "year": f"year({value})",
    }[unit]


def _period(unit: str, value: str) -> str:
    form = {"day": "%Y-%m-%d", "month": "%Y-%m", "quarter": "%Y-Q", "year": "%Y"}[unit]
    quarter = f" || quarter({value})" if unit == "quarter" else ""
    # an infinite date has no period and counts as missing
    return f"CASE WHEN isfinite({value}) THEN strftime({value}, '{form}'){quarter} END"


def _date_number(axis: Dates, value: str) -> tuple[str, str]:
    first, stop = axis.span
    number = _number_of(axis.unit, value)
    # infinite dates have no year, so the condition is not true and the row has no bin
    return f"({number} - {first})", f"{number} >= {first} AND {number} < {stop}"
