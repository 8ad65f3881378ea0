"""Conditions on people as SQL: an expression that is TRUE where the condition holds, and else FALSE or NULL.

A comparison with a missing cell is NULL. That counts as FALSE wherever it is asked, and AND and OR do not mind; only
NOT does, and says so.

Nothing of the condition is pasted: columns are quoted identifiers that exist, numbers and dates are written anew from
what was parsed, and texts go through :func:`hubbub.engines.duckdb.cell_sql.literal`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from hubbub.engines.column import Column
from hubbub.engines.duckdb.bin_sql import missing_number, text
from hubbub.engines.duckdb.cell_sql import identifier, literal, moment, number, sound
from hubbub.numeric.exact import rational, to_text
from hubbub.tables.condition import Both, Compare, Condition, Either, Leaf, Missing, Node, Not, OneOf, fits
from hubbub.tables.schema import ColumnType

Columns = Mapping[str, Column]
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)


def holds(condition: Condition, columns: Columns) -> str:
    """Whether a row meets the condition."""
    return _node(condition.node, columns)


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
            value = moment(column) if isinstance(leaf.than, datetime.date) else number(column, "")
            tests.append(f"({cell} IS NOT NULL AND trim({cell}) <> '' AND {value} IS NULL)")
    return list(dict.fromkeys(tests))


def _node(node: Node, columns: Columns) -> str:
    match node:
        case Not(part):
            return f"(NOT coalesce({_node(part, columns)}, FALSE))"
        case Both(parts):
            return f"({' AND '.join(_node(part, columns) for part in parts)})"
        case Either(parts):
            return f"({' OR '.join(_node(part, columns) for part in parts)})"
        case _:
            return _leaf(node, columns[node.column])


def _leaf(leaf: Leaf, column: Column) -> str:
    match leaf:
        case Missing():
            return missing_number(column) if column.kind is ColumnType.FLOAT else f"({sound(column)} IS NULL)"
        case Compare(_, sign, than):
            if isinstance(than, datetime.date):
                return _by_date(column, sign, than)
            return _present_sql(column, _order_sql(column, sign, than))
        case OneOf(_, values):
            return _one_of(column, values)


def _present_sql(column: Column, test: str) -> str:
    """A comparison of numbers; not-a-number is a number for DuckDB, and none here."""
    if column.kind in (ColumnType.INTEGER, ColumnType.DECIMAL) and test not in ("TRUE", "FALSE"):
        return f"({test})"
    return f"(NOT {missing_number(column)} AND ({test}))"


def _order_sql(column: Column, sign: str, than: Fraction) -> str:
    """A comparison in the column's own type, with an edge that the type has and the same answer."""
    known, value = column.number, number(column, "")
    assert known is not None  # resolved
    if sign in ("<", ">="):
        return known.compare(value, sign, than)
    if known.grid is not None:  # above x is from the next number of the grid on
        following = (math.floor(than / known.grid) + 1) * known.grid
        return known.compare(value, ">=" if sign == ">" else "<", following)
    if abs(than) > known.most:
        return "TRUE" if (sign == "<=") == (than > 0) else "FALSE"
    return f"{value} {sign} CAST('{to_text(than)}' AS {known.type})"


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
        tests = [_equals(column, rational(value)) for value in values]
        return _present_sql(column, " OR ".join(tests))
    if column.kind is ColumnType.BOOLEAN:
        return f"({' OR '.join(f'{identifier(column.name)} = {value.upper()}' for value in values)})"
    if column.kind is ColumnType.DATE:
        days = ", ".join(f"DATE '{datetime.date.fromisoformat(value).isoformat()}'" for value in values)
        value = moment(column)
        return f"(isfinite({value}) AND CAST({value} AS DATE) IN ({days}))"
    listed = ", ".join(f"{literal(value)} COLLATE C" for value in values)
    return f"({text(column)} IN ({listed}))"


def _equals(column: Column, value: Fraction) -> str:
    known = column.number
    assert known is not None
    if not known.least <= value <= known.most or (known.grid is not None and (value / known.grid).denominator != 1):
        return "FALSE"
    return f"{number(column, '')} = CAST('{to_text(value)}' AS {known.type})"
