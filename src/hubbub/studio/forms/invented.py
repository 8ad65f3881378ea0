"""How wide intervals will be, tried on invented people: the release is made of a table that arithmetic fills in, from
the declared bins and ranges and the size that was stated. Nothing of the steward's table is in it, and nothing is spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from fractions import Fraction
from statistics import median
from typing import Any, Final

import pyarrow as pa

from hubbub.errors import HubbubError, WrongUse
from hubbub.kinds.series.mechanism import Increments, counted
from hubbub.kinds.series.spec import Period
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import INFINITY, integer
from hubbub.protocol.spec import Kind
from hubbub.report.picture import picture
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps, Values, all_labels, parse, size
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.cell_format import BOOLEAN
from hubbub.tables.condition import Compare, Missing, OneOf
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.schema import ColumnType

MOST: Final = 20_000  # people who are invented
_DRAWN: Final = 120  # numbers in a picture
_BINS: Final = 5_000  # of a release that is tried
_GOLDEN: Final = 0.6180339887498949
_TYPES: Final = {
    ColumnType.TEXT: pa.string(),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.DECIMAL: pa.decimal128(30, 6),
    ColumnType.FLOAT: pa.float64(),
    ColumnType.DATE: pa.date32(),
    ColumnType.BOOLEAN: pa.bool_(),
}


@dataclass(frozen=True, slots=True)
class Tried:
    """How wide an interval was on invented people, or how many rows came out: a number with its words."""

    width: str
    people: int
    numbers: int
    picture: str  # what its report would show, as HTML; "" where there is too much to see


def tried(kind: Kind, options: Mapping[str, Any], schema: Mapping[str, ColumnType], people: str, shape: str) -> Tried:
    """The median half-width of the intervals of a release of invented people."""
    many = min(integer(people, "the number of people", least=1), MOST)
    from hubbub.engines.opening import open_source

    engine = open_source(table(options, schema, many, shape))
    spec, source = kind.ask(**options).bind(engine.columns()), SystemSource()
    data = Increments(counted(spec.series, engine, source).reshape(1, -1), ()) if isinstance(spec, Period) else engine
    result = spec.present(spec.measure(data, source))
    sheet = result.sheets()[0]
    drawn = result.drawing() if sheet.rows <= _DRAWN else None
    shows = "" if drawn is None else picture(drawn)
    ends = ("low", "high") if "low" in sheet.schema.names else ("increment_low", "increment_high")
    if not set(ends) <= set(sheet.schema.names):
        return Tried("", many, sheet.rows, shows)
    widths, rows = [], 0
    for batch in sheet.batches():
        for low, high in zip(*(batch.column(each).to_pylist() for each in ends), strict=True):
            rows += 1
            if low is not None and high is not None and math.isfinite(float(low)) and math.isfinite(float(high)):
                widths.append((float(high) - float(low)) / 2)
    return Tried(f"{median(widths):.3g}" if widths else "", many, rows, shows)


def table(options: Mapping[str, Any], schema: Mapping[str, ColumnType], many: int, shape: str) -> pa.Table:
    """People of every bin, with values all over the declared ranges; half of them meet each comparison."""
    cells: dict[str, list[Any]] = {}
    for turn, (column, values, weights) in enumerate(_columns(options, shape)):
        if column in cells or column not in schema:
            continue
        ends = _ends(weights, len(values))
        cells[column] = [values[_index(ends, _spread(i, turn))] for i in range(many)]
    if (person := options.get("person")) is not None:
        cells[person] = list(range(many))
    if not cells:
        cells["row"] = list(range(many))
    arrays = {name: _array(listed, schema.get(name, ColumnType.INTEGER)) for name, listed in cells.items()}
    return pa.table(arrays)


def _columns(options: Mapping[str, Any], shape: str) -> Iterator[tuple[str, list[Any], str]]:
    """(column, values, how people are spread over them) for all that is declared."""
    bins = 1
    for name in ("by", "columns"):
        given = options.get(name) or ()
        if isinstance(given, str):
            raise WrongUse("what is expected of such a release is not known beforehand")
        for spec in given:
            axis = parse(spec)
            bins *= 10 if isinstance(axis, Discovered) else size(axis)
            if bins > _BINS:
                raise WrongUse(f"what is expected is tried for up to {_BINS:,} bins")
            yield axis.column, _values(axis), shape
    for name in ("of", "per"):
        if options.get(name) is not None:
            measure = measured(options[name])
            yield measure.column, _measured(measure), "even"
    if options.get("where") is not None:
        for leaf in parse_condition(options["where"]).leaves():
            yield leaf.column, _compared(leaf), "even"


def _values(axis: Axis) -> list[Any]:
    if isinstance(axis, Discovered):
        if axis.unit is not None:
            return [date(2020 + i, 1, 1) for i in range(5)]
        return [f"value {i}" for i in range(10)] if axis.coarser is None else list(range(10))
    if isinstance(axis, Values):
        known = {"true": True, "false": False} if axis.reads == BOOLEAN else {}
        return [known.get(value, value) for value in axis.values]
    if isinstance(axis, Dates):
        days = (axis.last - axis.first).days
        return [axis.first + timedelta(days=days * i // max(len(axis) - 1, 1)) for i in range(len(axis))]
    if isinstance(axis, Steps):
        return [axis.low + i * axis.width for i in range(axis.steps)]
    assert isinstance(axis, Edges)
    inside = [edge for edge in axis.edges if edge is not INFINITY]
    return inside if len(inside) == len(all_labels(axis)) else inside[: max(len(axis), 1)] or [Fraction(0)]


def _measured(measure: Measure) -> list[Fraction]:
    every = max(measure.steps // 200, 1)
    return [measure.value(x) for x in range(0, measure.steps + 1, every)]


def _compared(leaf: Compare | OneOf | Missing) -> list[Any]:
    match leaf:
        case Compare(than=Fraction() as than):
            return [than - 1, than + 1]
        case Compare(than=date() as day):
            return [day - timedelta(days=1), day + timedelta(days=1)]
        case OneOf(values=values):
            return [*values, *(["something else"] * len(values))]
    return [None, "something"]


def _spread(i: int, turn: int) -> float:
    """A place in [0, 1) for a person and a column: even, and unlike for each column."""
    return ((i + 1) * (_GOLDEN + 0.1234567 * turn) + 0.37 * turn * (i // 97)) % 1.0


def _ends(shape: str, many: int) -> list[float]:
    weights = [1.0] * many if shape == "even" else [1 / (i + 1) for i in range(many)]
    total, ends = 0.0, []
    for weight in weights:
        total += weight
        ends.append(total)
    return [end / total for end in ends]


def _index(ends: list[float], at: float) -> int:
    from bisect import bisect_right

    return min(bisect_right(ends, at), len(ends) - 1)


def _array(values: list[Any], column_type: ColumnType) -> pa.Array:
    kind = _TYPES.get(column_type)
    if kind is None:
        raise WrongUse("what is expected of such a column is not known beforehand")
    return pa.array([_cell(value, column_type) for value in values], kind)


def _cell(value: Any, column_type: ColumnType) -> Any:
    if value is None:
        return None
    match column_type:
        case ColumnType.INTEGER:
            return int(Fraction(str(value))) if not isinstance(value, bool) else int(value)
        case ColumnType.FLOAT:
            return float(Fraction(value))
        case ColumnType.DECIMAL:
            from decimal import Decimal

            return Decimal(str(float(Fraction(value))))
        case ColumnType.TEXT:
            if isinstance(value, Fraction):
                return str(value.numerator) if value.denominator == 1 else str(float(value))
            return str(value).lower() if isinstance(value, bool) else str(value)
        case ColumnType.BOOLEAN:
            return value if isinstance(value, bool) else str(value).lower() == "true"
    return value


def expected(
    kind: Kind, options: Mapping[str, Any], schema: Mapping[str, ColumnType], people: str, shape: str
) -> Tried | str:
    """As :func:`tried`; "none" where it cannot be tried, which says nothing about the release."""
    try:
        return tried(kind, options, schema, people, shape)
    except HubbubError:
        return "none"
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, pa.ArrowException):
        return "none"
