"""What a value counts, as SQL: taken to its nearest step, then put into the range, by the arithmetic of doubles.

Doubles are what DuckDB works out many at a time; a CASE that goes both ways, `least`, and the division of whole numbers
it works out one by one. So nothing here compares, save for numbers that doubles do not hold:

- The nearest step k of a whole number t is floor((t + w/2) / w), w/2 rounded down. Where 4 (t + w) < 2^53, both numbers
  are exact, and their quotient, rounded, is a whole number only if it was one: else it lies at least 1/w below the
  next. Beyond the range k may be off, but still lies beyond it: rounding keeps the order.
- Twice the steps of k in 0..W, less W, are |k| - |k - W|, exact for k up to 2^52.

And because nothing is compared with the range, little can be answered from what a Parquet file says about its smallest
and largest value, which may be wrong. Where we open the file, DuckDB is told to conclude nothing from it, and a cell is
taken as it is. Where another did, it follows such words through arithmetic and casts, and through every function of
what it believes to be one and the same value; it leaves out an `abs` of what it believes never to be negative, and has
too few bits for what it believes to be small. Of what a TRY gives it believes nothing, so that a cell passes through one
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Final

from hubbub.engines.column import Column, Number
from hubbub.engines.duckdb.expressions import has_digits, identifier, number_of, sound, unknown
from hubbub.numeric.exact import to_text
from hubbub.tables.bounded_column import Measure
from hubbub.tables.schema import ColumnType

EXACT: Final = 2**53
"""Whole numbers up to here are doubles."""

_MOST_DIGITS: Final = 38


def with_steps(
    measures: Sequence[Measure], columns: Mapping[str, Column], people: str, *, kept: bool, doubted: bool = False
) -> tuple[str, list[str]]:
    """The table with a column more for each measure, and how these are called: the nearest step, in 0..W or not.

    `kept` says that rows without a value stay in it; else whoever asks leaves them out, by :func:`present`. `doubted`
    says that the connection concludes nothing from a file, so that a cell may be taken as it is, which costs less.
    """
    prefix, known = "hubbub_x", {name.lower() for name in columns}
    while any(name.startswith(prefix) for name in known):
        prefix += "_"
    names = [f"{prefix}{i}" for i in range(len(measures))]
    more = []
    for measure, x in zip(measures, names, strict=True):
        column = columns[measure.column]
        cell = sound(column) if kept and column.kind is ColumnType.DECIMAL else number_of(column, measure.reads)
        cell = cell if doubted else unknown(cell)
        more.append(f"{nearest(measure, column, cell)} AS {x}")
    return f"(SELECT *, {', '.join(more)} FROM {people})" if measures else people, names


def present(measure: Measure, column: Column, x: str) -> str:
    """Whether a row has a value, x being its nearest step; NULL says no."""
    if column.kind is ColumnType.DECIMAL:
        return f"({has_digits(column)})"
    return (
        f"({identifier(column.name) if column.kind is ColumnType.INTEGER else twice(measure, column, x)} IS NOT NULL)"
    )


def beyond(measure: Measure, column: Column, x: str) -> str:
    """Whether a value lies outside of the range by half a step or more, x being its nearest step; NULL says no."""
    half = _double(Fraction(measure.steps, 2))
    far = f"abs({x} - {half}) > {half}"  # one comparison, which costs least
    # Not-a-number is above all others for DuckDB, and is no value.
    exact = column.kind in (ColumnType.INTEGER, ColumnType.DECIMAL)
    return f"({far})" if exact else f"({far} AND {x} <= CAST('infinity' AS DOUBLE))"


def steps(measure: Measure, column: Column, x: str) -> str:
    """From 0 to W, as a whole number; NULL where there is no value."""
    return f"CAST(({twice(measure, column, x)} + {measure.steps}) / 2 AS INTEGER)"


def twice(measure: Measure, column: Column, x: str) -> str:
    """Twice the steps less W, as a double; NULL where there is no value.

    Guarantee: from -W to W whatever the cell holds, so that nobody moves a sum of steps by more than W.
    """
    most = _double(Fraction(measure.steps))
    inside = f"abs({x}) - abs({x} - {most})"
    if _farthest(column) + abs(measure.low) <= EXACT // 4 * measure.step:
        return f"({inside})"
    # Most are near, and where all are, a case costs little. Not-a-number is above all others for DuckDB.
    near, infinity = f"isfinite({x} * CAST('{2.0**972!r}' AS DOUBLE))", "CAST('infinity' AS DOUBLE)"
    return f"(CASE WHEN {near} THEN {inside} WHEN {x} < 0 THEN -{most} WHEN {x} <= {infinity} THEN {most} END)"


def nearest(measure: Measure, column: Column, cell: str) -> str:
    """The step next to a value, halves upwards, as a double; what lies outside of the range stays outside of 0..W, or
    comes to lie at its end."""
    known = column.number
    assert known is not None  # resolved
    if known.grid is None:
        moved = f"CAST({cell} AS DOUBLE)"
        moved = f"({moved} - {_double(measure.low)})" if measure.low else moved
        return f"floor({moved} / {_double(measure.step)} + {_double(Fraction(1, 2))})"
    quotient = cell
    if column.kind is ColumnType.DECIMAL:
        if rounded := _round_decimal(measure, known, cell):
            return rounded
        quotient = _last_digits(known, cell)
    fine = Fraction(1, lcm(measure.low.denominator, measure.step.denominator, known.grid.denominator))
    start, width, factor = int(measure.low / fine), int(measure.step / fine), int(known.grid / fine)
    farthest = (max(abs(measure.low), abs(measure.high)) + known.grid) / fine
    if 4 * (farthest + width) >= EXACT:
        below, above = known.compare(cell, "<", measure.low), known.compare(cell, ">=", measure.high)
        beyond_it, inside = (
            known.compare(cell, ">=", measure.high + known.grid),
            _integer_steps_sql(measure, known, quotient),
        )
        ends = f"WHEN {below} THEN -1 WHEN {beyond_it} THEN {measure.steps + 1} WHEN {above} THEN {measure.steps}"
        return f"CAST(CASE {ends} ELSE {inside} END AS DOUBLE)"
    moved = f"CAST({quotient} AS DOUBLE)"
    moved += f" * {_double(Fraction(factor))}" if factor > 1 else ""
    if width // 2 != start:
        moved = f"({moved} + {_double(Fraction(width // 2 - start))})"
    return f"({moved})" if width == 1 else f"floor({moved} / {_double(Fraction(width))})"


def _round_decimal(measure: Measure, known: Number, cell: str) -> str | None:
    """Where the steps in 1 are a decimal number, (value - low) of them, rounded by a cast: halves away from 0, which is
    upwards wherever it counts. None where they are not, or where there are too many digits."""
    many = 1 / measure.step
    if "/" in to_text(many):
        return None
    more, decimals = _decimal_size(many)
    low_digits, low_scale = _decimal_size(measure.low)
    cell, digits, scale = _roomy(known, cell, 1 + low_digits + low_scale + more if measure.low else more)
    if measure.low:
        digits = max(digits - scale, low_digits - low_scale) + max(scale, low_scale) + 1
    if digits + more > _MOST_DIGITS:
        return None
    if measure.low:
        scale = max(scale, low_scale)
        cell = f"({cell} - CAST('{to_text(measure.low)}' AS DECIMAL({low_digits},{low_scale})))"
    if many != 1:
        cell = f"({cell} * CAST('{to_text(many)}' AS DECIMAL({more},{decimals})))"
    integer_type = _integer_type(digits + more - scale - decimals)
    return f"CAST(CAST({cell} AS {integer_type}) AS DOUBLE)"


def _integer_steps_sql(measure: Measure, known: Number, integer: str) -> str:
    """The step next to a value in the range, where doubles do not have the digits of range and step."""
    assert known.grid is not None
    halves = Fraction(1, 2 * lcm(measure.low.denominator, measure.step.denominator))  # what lies between two is as one
    fine = Fraction(1, lcm(halves.denominator, known.grid.denominator))
    integer = f"(CAST({integer} AS HUGEINT) * {int(known.grid / fine)})"
    cut, start, width = int(halves / fine), int(measure.low / halves), int(measure.step / halves)
    down = f"({integer} // {cut} - CAST({integer} % {cut} < 0 AS HUGEINT))" if cut > 1 else integer
    return f"({down} + ({width // 2 - start})) // {width}"


def _last_digits(known: Number, cell: str) -> str:
    """How many units of its last place a decimal is."""
    scale = _digits(known)[1]
    roomy, digits, _ = _roomy(known, cell, scale + 1)
    if digits + scale + 1 > _MOST_DIGITS:
        return f"CAST(replace(CAST({cell} AS VARCHAR), '.', '') AS HUGEINT)"
    return f"CAST({roomy} * CAST({10**scale} AS DECIMAL({scale + 1},0)) AS {_integer_type(digits + 1)})"


def _roomy(known: Number, cell: str, more: int) -> tuple[str, int, int]:
    """A decimal with its digits, all and after the point, that may get so many more: where that is beyond 64 bits, one
    that is, because of two within DuckDB makes one within, or fails."""
    digits, scale = _digits(known)
    if digits + more <= 18 or digits > 18:
        return cell, digits, scale
    return f"CAST({cell} AS DECIMAL(19,{scale}))", 19, scale


def _farthest(column: Column) -> Fraction:
    """The largest number that may be stored in a column of the type; of decimals, whatever their digits."""
    known = column.number
    assert known is not None  # resolved
    if column.kind is not ColumnType.DECIMAL or known.grid is None:
        return max(-known.least, known.most)
    digits, _ = _digits(known)
    return known.grid * (1 << (31 if digits <= 9 else 63 if digits <= 18 else 127))


def _digits(known: Number) -> tuple[int, int]:
    """Of a decimal type: how many, and how many of them after the point."""
    assert known.grid is not None
    return len(str(int(known.most / known.grid))), len(str(known.grid.denominator)) - 1


def _decimal_size(value: Fraction) -> tuple[int, int]:
    """Digits and places after the point that it takes to write a decimal number."""
    decimals = len(to_text(value).partition(".")[2])
    return max(len(str(abs(int(value * 10**decimals)))), decimals, 1), decimals


def _integer_type(digits: int) -> str:
    return "BIGINT" if digits <= 18 else "HUGEINT"


def _double(value: Fraction) -> str:
    return f"CAST('{to_text(value)}' AS DOUBLE)"
