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
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps, Values

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
    if isinstance(axis, Edges | Steps) and kind in (Kind.DATE, Kind.BOOLEAN):
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


def code(axis: Edges | Steps | Dates, kind: Kind) -> str:
    """The number of a row's bin on an axis of numbers or dates; NULL if it has none."""
    number, inside = _number(axis, kind)
    other = str(len(axis) + axis.null) if axis.other else "NULL"
    null = str(len(axis)) if axis.null else other
    missing = f"{identifier(axis.column)} IS NULL"
    if not isinstance(axis, Dates) and _is_float(kind):
        missing += f" OR isnan({_as_number(identifier(axis.column), kind)})"
    return f"CASE WHEN {missing} THEN {null} WHEN {inside} THEN {number} ELSE {other} END"


def code_where(axis: Edges | Steps | Dates, kind: Kind) -> tuple[str, str]:
    """The same as a number and the condition under which a row has one: a condition is cheaper than a case.

    Only for an axis without null and other, where whoever fits no bin is left out.
    """
    return _number(axis, kind)


def _number(axis: Edges | Steps | Dates, kind: Kind) -> tuple[str, str]:
    """(bin number, condition); the condition is never true for a missing value."""
    column = identifier(axis.column)
    if isinstance(axis, Dates):
        return _date_number(axis, _as_date(column, kind))
    value = _as_number(column, kind)
    finite = [edge for edge in axis.edges if not isinstance(edge, Infinite)] if isinstance(axis, Edges) else []
    low = axis.low if isinstance(axis, Steps) else None if axis.open_below else finite[0]
    high = _top(axis)
    tests = [f"{value} >= {literal(low)}"] if low is not None else []
    tests += [f"{value} < {literal(high)}"] if high is not None else []
    if _is_float(kind):
        tests.append(f"isfinite({value})")
    inside = " AND ".join(tests) or f"{column} IS NOT NULL"
    if isinstance(axis, Steps) and kind is Kind.INTEGER and axis.low.denominator == axis.width.denominator == 1:
        start = f"({column} - {literal(axis.low)})" if axis.low else column
        return (start if axis.width == 1 else f"({start} // {literal(axis.width)})"), inside
    if len(axis) > _MOST_COMPARISONS:
        raise WrongUse(
            f"{axis.column} has more than {_MOST_COMPARISONS:,} bins and holds no whole numbers; declare fewer bins"
        )
    edges = list(axis.edges) if isinstance(axis, Steps) else finite
    inner = edges[0 if isinstance(axis, Edges) and axis.open_below else 1 : None if high is None else -1]
    return _tree(value, inner, 0), inside


def _top(axis: Edges | Steps) -> Fraction | None:
    """The end of the last interval; None if it is infinite."""
    if isinstance(axis, Steps):
        return axis.low + axis.steps * axis.width
    last = axis.edges[-1]
    return None if isinstance(last, Infinite) else last


def _is_float(kind: Kind) -> bool:
    return kind in (Kind.FLOAT, Kind.TEXT)


def _as_number(column: str, kind: Kind) -> str:
    # Text (a CSV) is read as numbers here and not by sniffing: a cell that is no number has no bin, and no other
    # cell can change how it is read.
    return f"TRY_CAST({column} AS DOUBLE)" if kind is Kind.TEXT else column


def _as_date(column: str, kind: Kind) -> str:
    return f"TRY_CAST({column} AS TIMESTAMP)" if kind is Kind.TEXT else column


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


def _date_number(axis: Dates, value: str) -> tuple[str, str]:
    first, stop = axis.span
    number = _number_of(axis.unit, value)
    # infinite dates have no year, so the condition is not true and the row has no bin
    return f"({number} - {first})", f"{number} >= {first} AND {number} < {stop}"
