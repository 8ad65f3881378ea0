"""Cells as numbers, dates and booleans in SQL, by how the bins say that they are written.

Text is read here and not by sniffing: a cell that is no number has no bin, and no other cell can change how it is read.

Bins as SQL expressions: each axis becomes the number of a row's bin, or -1 where the row has none.

Text never becomes part of the SQL: column names are quoted identifiers that exist, edges are numerals that were
parsed as exact decimals, patterns of dates were checked, and listed values travel as parameters.

Conditions on people as SQL: an expression that is TRUE where the condition holds, and else FALSE or NULL.

A comparison with a missing cell is NULL. That counts as FALSE wherever it is asked, and AND and OR do not mind; only
NOT does, and says so.

Nothing of the condition is pasted: columns are quoted identifiers that exist, numbers and dates are written anew from
what was parsed, and texts go through :func:`hubbub.engines.duckdb.expressions.literal`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from hubbub.engines.column import ALWAYS, NEVER, Column, Number
from hubbub.numeric.exact import Infinite, rational, to_text
from hubbub.tables.bins import Countable, Dates, Discovered, Edges, Lattice, Steps, Values
from hubbub.tables.cell_format import BOOLEAN, DATE, FALSE, MONEY, TRUE
from hubbub.tables.condition import Both, Compare, Condition, Either, Leaf, Missing, Node, Not, OneOf, fits
from hubbub.tables.generalization import WIDEST, Prefix, Ranges
from hubbub.tables.schema import ColumnType, has_integer_steps

_FIRST_MOMENT, _LAST_MOMENT = "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54"  # that microseconds can hold
_SIGNS: Final = "$€£¥"
_CODES: Final = "[A-Z]{3}|kr|Kč|zł"  # of currencies, before the number or after it
_NEITHER: Final = "'?'"  # no boolean: not missing, and no value that is listed


def identifier(name: str) -> str:
    """A column name as SQL, whatever characters are in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL: for paths and for names that were checked; what people list travels as parameters."""
    return "'" + text.replace("'", "''") + "'"


def sound(column: Column) -> str:
    """The cell, or NULL where what is stored is no value of its type: DuckDB fails when it meets such a one."""
    cell = identifier(column.name)
    if column.moment is not None:
        first, last, *ends = (
            f"CAST('{end}' AS {column.moment})" for end in (_FIRST_MOMENT, _LAST_MOMENT, "infinity", "-infinity")
        )
        return f"CASE WHEN {cell} BETWEEN {first} AND {last} OR {cell} IN ({', '.join(ends)}) THEN {cell} END"
    return f"CASE WHEN {has_digits(column)} THEN {cell} END" if column.kind is ColumnType.DECIMAL else cell


def unknown(cell: str) -> str:
    """The cell, of which nothing is believed but what is read: a file may say wrong things about its values."""
    return f"TRY({cell})"


def has_digits(column: Column) -> str:
    """Whether a decimal has no more digits than its type; NULL if it is missing."""
    assert column.number is not None
    ends = (f"CAST('{to_text(end)}' AS {column.number.type})" for end in (column.number.least, column.number.most))
    return f"{identifier(column.name)} BETWEEN {' AND '.join(ends)}"


def number_of(column: Column, reads: str) -> str:
    """The cell as a number of the type that the column is compared in; NULL if it is none."""
    cell = identifier(column.name)
    if column.kind is not ColumnType.TEXT:
        return cell
    if not reads:
        return f"TRY_CAST({_read(cell)} AS DOUBLE)"
    group, point = (".", ",") if reads.endswith(",") else (",", ".")
    digits = rf"(\d{{1,3}}([{group}]\d{{3}})+|\d+)([{point}]\d*)?|[{point}]\d+"
    form, gone = rf"\s*[-+]?({digits})([eE][-+]?\d+)?\s*", group
    if reads.startswith(MONEY):
        currency = rf"([{_SIGNS}]|{_CODES})?"
        signed = rf"\s*[-+]?\s*{currency}\s*[-+]?\s*({digits})\s*{currency}\s*"
        form, gone = rf"{signed}|\s*\({currency}\s*({digits})\s*{currency}\)\s*", f"{group}) {_SIGNS}"
        plain = f"regexp_replace({cell}, {literal(_CODES)}, '', 'g')"
    else:
        plain = cell
    plain = f"translate({plain}, {literal('(' + point + gone)}, '-.')"  # (5) is -5; what has no counterpart goes
    return f"CASE WHEN regexp_full_match({cell}, {literal(form)}) THEN TRY_CAST({plain} AS DOUBLE) END"


def moment(column: Column, reads: str = "") -> str:
    """The cell as a point in time; NULL if it is none. One with a time zone is taken in UTC."""
    if reads.startswith(DATE):
        return f"try_strptime({identifier(column.name)}, {literal(reads.removeprefix(DATE))})"
    cell = sound(column)
    return f"TRY_CAST({_read(cell) if column.kind is ColumnType.TEXT else cell} AS TIMESTAMP)"


def _read(cell: str) -> str:
    """A text that is no bare column: DuckDB would have the reader of a CSV cast that, which leaves out, without a word,
    every record whose cell is no such value. The empty text is none either."""
    return f"nullif({cell}, '')"


def boolean(column: Column) -> str:
    """The cell as the text true or false, NULL if it is missing, and a text that is neither if it is neither."""
    cell = f"lower(trim(CAST({identifier(column.name)} AS VARCHAR)))"
    true, false = (", ".join(map(literal, spellings)) for spellings in (TRUE, FALSE))
    return (
        f"CASE WHEN {cell} IS NULL THEN NULL WHEN {cell} IN ({true}) THEN 'true' "
        f"WHEN {cell} IN ({false}) THEN 'false' ELSE {_NEITHER} END"
    )


def unreadable(axis: Countable, column: Column) -> str | None:
    """Whether a cell is there and cannot be read as declared, as SQL; None where every cell can be read."""
    cell = identifier(column.name)
    if axis.reads == BOOLEAN:
        return f"coalesce({boolean(column)} = {_NEITHER}, FALSE)"
    if column.kind is not ColumnType.TEXT:
        return None
    if isinstance(axis, Edges | Steps | Lattice) or (isinstance(axis, Discovered) and isinstance(axis.coarser, Ranges)):
        value = number_of(column, axis.reads)
    elif isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit is not None):
        value = moment(column, axis.reads)
    else:
        return None
    return f"({cell} IS NOT NULL AND trim({cell}) <> '' AND {value} IS NULL)"


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
    tests = [test for test in tests if test != ALWAYS]
    if _is_float(column):
        tests.append(f"isfinite({value})")
    inside = " AND ".join(tests) or f"{value} IS NOT NULL"
    if isinstance(axis, Steps) and column.kind is ColumnType.INTEGER and has_integer_steps(axis):
        return _step_sql(axis, value, number), inside
    return number.count_edges(value, inner_edges(axis)), inside


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


Columns = Mapping[str, Column]
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)


def holds(condition: Condition, columns: Columns) -> str:
    """Whether a row meets the condition."""
    return condition_sql(condition, lambda leaf: _leaf(leaf, columns[leaf.column]))


def condition_sql(condition: Condition, leaf: Callable[[Leaf], str]) -> str:
    """A condition as SQL, by what is said of each comparison: TRUE, FALSE or NULL."""

    def node(given: Node) -> str:
        match given:
            case Not(part):
                return f"(NOT coalesce({node(part)}, FALSE))"
            case Both(parts):
                return f"({' AND '.join(map(node, parts))})"
            case Either(parts):
                return f"({' OR '.join(map(node, parts))})"
            case _:
                return leaf(given)

    return node(condition.node)


def is_spelled_sql(column: Column, spellings: Sequence[str]) -> str | None:
    """Whether a cell reads like one of these: text without blanks at its ends, other cells by their value. None where
    no cell of the column can."""
    if column.kind is ColumnType.TEXT:
        listed = ", ".join(f"{literal(each)} COLLATE C" for each in spellings)
        return f"(trim({text(column)}) IN ({listed}))" if spellings else None
    possible = [each for each in spellings if column.kind is not ColumnType.OTHER and fits(each, column.kind)]
    return _one_of(column, possible) if possible else None


def unreadable_leaves(condition: Condition, columns: Columns) -> list[str]:
    """Whether a cell that is compared as a number or as a date is there and is none, for each such comparison."""
    tests = []
    for leaf in condition.leaves():
        column = columns[leaf.column]
        if isinstance(leaf, Compare) and column.kind is ColumnType.TEXT:
            cell = identifier(column.name)
            value = moment(column) if isinstance(leaf.than, datetime.date) else number_of(column, "")
            tests.append(f"({cell} IS NOT NULL AND trim({cell}) <> '' AND {value} IS NULL)")
    return list(dict.fromkeys(tests))


def _leaf(leaf: Leaf, column: Column) -> str:
    match leaf:
        case Missing():
            return missing_number(column) if column.kind is ColumnType.FLOAT else f"({sound(column)} IS NULL)"
        case Compare(_, sign, than):
            if isinstance(than, datetime.date):
                return _by_date(column, sign, than)
            return _present_sql(column, _number_type(column).compare(number_of(column, ""), sign, than))
        case OneOf(_, values):
            return _one_of(column, values)


def _number_type(column: Column) -> Number:
    assert column.number is not None  # resolved
    return column.number


def _present_sql(column: Column, test: str) -> str:
    """A comparison of numbers; not-a-number is a number for DuckDB, and none here."""
    if column.kind in (ColumnType.INTEGER, ColumnType.DECIMAL) and test not in (ALWAYS, NEVER):
        return f"({test})"
    return f"(NOT {missing_number(column)} AND ({test}))"


def _by_date(column: Column, sign: str, than: datetime.date) -> str:
    value = moment(column)
    if sign in ("<=", ">"):  # up to the end of that day
        sign = "<" if sign == "<=" else ">="
        if than == datetime.date.max:
            return f"(isfinite({value}) AND year({value}) {'<=' if sign == '<' else '>'} {than.year})"
        than += datetime.timedelta(days=1)
    return f"(isfinite({value}) AND {value} {sign} TIMESTAMP '{than.isoformat()} 00:00:00')"


def _one_of(column: Column, values: Sequence[str]) -> str:
    if column.kind in _NUMBERS:
        tests = [_number_type(column).equals(number_of(column, ""), rational(value)) for value in values]
        return _present_sql(column, " OR ".join(tests))
    if column.kind is ColumnType.BOOLEAN:
        return f"({' OR '.join(f'{identifier(column.name)} = {value.upper()}' for value in values)})"
    if column.kind is ColumnType.DATE:
        days = ", ".join(f"DATE '{datetime.date.fromisoformat(value).isoformat()}'" for value in values)
        value = moment(column)
        return f"(isfinite({value}) AND CAST({value} AS DATE) IN ({days}))"
    listed = ", ".join(f"{literal(value)} COLLATE C" for value in values)
    return f"({text(column)} IN ({listed}))"
