"""Bins as SQL expressions: each axis becomes the number of a row's bin, or NULL where the row has none.

Text never becomes part of the SQL: column names are quoted identifiers that exist, edges are numerals that were
parsed as exact decimals, and listed values travel as parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub.engines.protocol import Kind
from hubbub.errors import WrongUse
from hubbub.exact import Infinite, Loss, to_text
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Values

_MOST_COMPARISONS = 4096


def identifier(name: str) -> str:
    """A column name as SQL, whatever characters are in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(number: Fraction) -> str:
    """An exact decimal as SQL; anything else would be compared after rounding."""
    text = to_text(number)
    if "/" in text:
        raise WrongUse(f"an edge must be a decimal number that ends, not {text[:40]}; choose another edge")
    return text


def resolved(axis: Axis, kind: Kind) -> Axis:
    """The axis with what the schema tells: a boolean column has its values declared by its type."""
    if isinstance(axis, Discovered) and kind is Kind.BOOLEAN and axis.unit is None:
        return Values(axis.column, ("false", "true"), null=True)
    return axis


def check(axis: Axis, kind: Kind) -> None:
    """Whether such bins can be made of such a column."""
    if kind is Kind.OTHER:
        raise WrongUse(f"the column {axis.column} holds {kind.value}; choose another column")
    if isinstance(axis, Edges) and kind in (Kind.DATE, Kind.BOOLEAN):
        raise WrongUse(
            f"the column {axis.column} holds {kind.value} and cannot be cut at numbers; use {axis.column}:month"
        )
    if (isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit)) and kind not in (Kind.DATE, Kind.TEXT):
        raise WrongUse(f"the column {axis.column} holds {kind.value} and not dates; use {axis.column}:0..100:10")


def key(axis: Axis, kind: Kind) -> str:
    """What a discovered axis is grouped by, as text."""
    assert isinstance(axis, Discovered)
    column = identifier(axis.column)
    if axis.unit is None:
        return f"CAST({column} AS VARCHAR)"
    return _period(axis.unit, _as_date(column, kind))


def code(axis: Edges | Dates, kind: Kind) -> str:
    """The number of a row's bin on an axis of numbers or dates; NULL if it has none."""
    column = identifier(axis.column)
    body = _edge_code(axis, column, kind) if isinstance(axis, Edges) else _date_code(axis, column, kind)
    count = len(axis.labels)
    null = str(count) if axis.null else (str(count + axis.null) if axis.other else "NULL")
    other = str(count + axis.null) if axis.other else "NULL"
    value = _as_number(column, kind) if isinstance(axis, Edges) else _as_date(column, kind)
    missing = f"{column} IS NULL" + (f" OR isnan({value})" if isinstance(axis, Edges) and _is_float(kind) else "")
    return f"CASE WHEN {missing} THEN {null} ELSE coalesce({body}, {other}) END"


def _is_float(kind: Kind) -> bool:
    return kind in (Kind.FLOAT, Kind.TEXT)


def _as_number(column: str, kind: Kind) -> str:
    # Text (a CSV) is read as numbers here and not by sniffing: a cell that is no number has no bin, and no other
    # cell can change how it is read.
    return f"TRY_CAST({column} AS DOUBLE)" if kind is Kind.TEXT else column


def _as_date(column: str, kind: Kind) -> str:
    return f"TRY_CAST({column} AS TIMESTAMP)" if kind is Kind.TEXT else column


def _edge_code(axis: Edges, column: str, kind: Kind) -> str:
    finite = [edge for edge in axis.edges if not isinstance(edge, Infinite)]
    value = _as_number(column, kind)
    low = None if axis.open_below else finite[0]
    high = None if isinstance(axis.edges[-1], Infinite) else finite[-1]
    inside = [f"{value} >= {literal(low)}"] if low is not None else []
    inside += [f"{value} < {literal(high)}"] if high is not None else []
    if _is_float(kind):
        inside.append(f"isfinite({value})")
    width = finite[1] - finite[0] if len(finite) > 1 else Fraction(0)
    steady = low is not None and high is not None and all(finite[0] + i * width == e for i, e in enumerate(finite))
    if kind is Kind.INTEGER and steady and width.denominator == 1 and finite[0].denominator == 1:
        number = f"CAST(({column} - {literal(finite[0])}) // {literal(width)} AS BIGINT)"
    else:
        if len(finite) > _MOST_COMPARISONS:
            raise WrongUse(
                f"{axis.column} has more than {_MOST_COMPARISONS:,} edges and is not a whole number; use fewer"
            )
        first = 0 if axis.open_below else 1
        inner = finite[first:] if high is None else finite[first:-1]
        number = _tree(value, inner, 0)
    return f"CASE WHEN {' AND '.join(inside) or 'TRUE'} THEN {number} END"


def _tree(value: str, edges: Sequence[Loss], offset: int) -> str:
    """How many of the edges are at most the value, by halving."""
    if not edges:
        return str(offset)
    middle = len(edges) // 2
    edge = edges[middle]
    assert isinstance(edge, Fraction)
    below, above = _tree(value, edges[:middle], offset), _tree(value, edges[middle + 1 :], offset + middle + 1)
    return f"(CASE WHEN {value} < {literal(edge)} THEN {below} ELSE {above} END)"


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
    forms = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
    if unit == "quarter":
        return f"(strftime({value}, '%Y') || '-Q' || quarter({value}))"
    return f"strftime({value}, '{forms[unit]}')"


def _date_code(axis: Dates, column: str, kind: Kind) -> str:
    value = _as_date(column, kind)
    first, stop = axis.span
    number = _number_of(axis.unit, value)
    # infinite dates have no year, so the comparison is NULL and the row has no bin
    return f"CASE WHEN {number} >= {first} AND {number} < {stop} THEN CAST({number} - {first} AS BIGINT) END"
