"""How exact a statistic will be, tried on invented people: a table that arithmetic fills in from declared bins, ranges and
conditions. Nothing of anybody's table is in it, and nothing is spent.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Any, Final

import pyarrow as pa

from hubbub.errors import HubbubError, WrongUse
from hubbub.kinds.series.mechanism import Increments, count_period
from hubbub.kinds.series.spec import Period
from hubbub.noise.source import PublicDice, Source
from hubbub.numeric.exact import INFINITY
from hubbub.protocol.result import Result, Sheet
from hubbub.protocol.spec import Spec
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Lattice, Steps, Values, all_labels, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.cell_format import BOOLEAN
from hubbub.tables.condition import Compare, Condition, Missing, OneOf
from hubbub.tables.engine import Engine
from hubbub.tables.schema import ColumnType

MOST: Final = 20_000  # people who are invented
MOST_BINS: Final = 5_000  # of a release that is tried
_EACH: Final = 1000  # people of a bin, where they are not too many in all
_TRIED: Final = 5000  # in all
_POINTS: Final = 200  # values of a measure or a coordinate
_FOUND: Final = 10  # values of a column that are found in the data
_DICE: Final = "people who were invented, to see how exact a release is"
UNKNOWN: Final = "that depends on the table; its report says it beside each number"
"""Where no people can be invented."""
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
class HowExact:
    """How far the intervals reached on invented people: of each published number the median of half their widths. Where there
    is none, what the release says of itself."""

    people: int
    reach: tuple[tuple[str, float], ...]  # by the name of the number; "" where there is one
    said: str = ""

    def __str__(self) -> str:
        if not self.reach:
            return self.said
        named = [(name.replace("_", " "), f"{float(f'{reach:.3g}'):,.15g}") for name, reach in self.reach]
        said = ", ".join(f"{reach} ({name})" if name else reach for name, reach in named)
        return (
            f"tried on {self.people:,} invented people, spread evenly over what is declared, the interval of a number reaches "
            f"about {said} to either side"
        )


def how_exact(spec: Spec, schema: Mapping[str, ColumnType]) -> HowExact | None:
    """How exact a release is for invented people; None where no people can be invented for it.

    Guarantee: a function of the spec and of the types of columns. What is drawn is drawn by public dice, of invented people,
    and is no release.
    """
    try:
        return _try_on_invented_people(spec, schema)
    except (HubbubError, ValueError, TypeError, OverflowError, ZeroDivisionError, pa.ArrowException):
        return None


def _try_on_invented_people(spec: Spec, schema: Mapping[str, ColumnType]) -> HowExact | None:
    from hubbub.engines.opening import open_source

    declared = list(_find_declarations(spec))
    bins = math.prod(
        _FOUND if isinstance(axis, Discovered) else size(axis)
        for axis in {a.column: a for a in declared if _is_axis(a)}.values()
    )
    many = min(_EACH * bins, _TRIED)
    engine = open_source(fill(columns_of(declared), schema, many, spec.people.person))
    shown = result(spec.with_schema(engine.columns()), engine, PublicDice(_DICE))
    for sheet in shown.sheets():
        found = [(name, half_width(sheet, low, high)) for name, low, high in _intervals(sheet)]
        reach = [(name, width) for name, width in found if width is not None]
        if reach:
            return HowExact(many, tuple([each for each in reach if not each[0]] or reach))
    said = "; ".join(each.rstrip(".") for each in shown.exactness())
    return HowExact(many, (), f"{said[:1].lower()}{said[1:]}") if said else None


def result(spec: Spec, engine: Engine, source: Source) -> Result:
    """What a release of invented people shows."""
    if isinstance(spec, Period):
        return spec.present(
            spec.measure(Increments(count_period(spec.series, engine, source).reshape(1, -1), ()), source)
        )
    return spec.present(spec.measure(engine, source))


def _intervals(sheet: Sheet) -> Iterator[tuple[str, str, str]]:
    """(name, low, high) of every interval that a sheet has."""
    for low in sheet.schema.names:
        name, mark, _ = low.rpartition("low")
        high = f"{name}high"
        if mark and (not name or name.endswith("_")) and low.endswith("low") and high in sheet.schema.names:
            yield name.rstrip("_"), low, high


def half_width(sheet: Sheet, low: str, high: str) -> float | None:
    """The median of half the widths of the intervals that end."""
    widths = [
        (float(b) - float(a)) / 2
        for batch in sheet.batches()
        for a, b in zip(batch.column(low).to_pylist(), batch.column(high).to_pylist(), strict=True)
        if a is not None and b is not None and math.isfinite(float(a)) and math.isfinite(float(b))
    ]
    return median(widths) if widths else None


def _is_axis(value: object) -> bool:
    return isinstance(value, Discovered | Values | Dates | Steps | Edges)


def _is_declared(value: object) -> bool:
    return _is_axis(value) or isinstance(value, Measure | Condition | Lattice)


def _find_declarations(value: object) -> Iterator[Any]:
    """Every axis, measure, coordinate and condition of a spec, in their order."""
    if _is_declared(value):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _find_declarations(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _find_declarations(getattr(value, field.name))


def columns_of(declared: Iterable[Any], shape: str = "even") -> Iterator[tuple[str, list[Any], str]]:
    """(column, values, how people are spread over them) for all that is declared."""
    bins = 1
    for each in declared:
        if isinstance(each, Measure):
            yield each.column, _values_of_measure(each), "even"
        elif isinstance(each, Lattice):
            every = max(each.steps // _POINTS, 1)
            yield each.column, [each.low + i * each.step for i in range(0, each.steps, every)], "even"
        elif isinstance(each, Condition):
            for leaf in each.leaves():
                yield leaf.column, _values_around(leaf), "even"
        else:
            bins *= _FOUND if isinstance(each, Discovered) else size(each)
            if bins > MOST_BINS:
                raise WrongUse(f"what is expected is tried for up to {MOST_BINS:,} bins")
            yield each.column, _values(each), shape


def fill(
    columns: Iterable[tuple[str, list[Any], str]], schema: Mapping[str, ColumnType], many: int, person: str | None
) -> pa.Table:
    """People of every bin, with values all over the declared ranges; half of them meet each comparison."""
    cells: dict[str, list[Any]] = {}
    for turn, (column, values, shape) in enumerate(columns):
        if column in cells or column not in schema:
            continue
        ends = _ends(shape, len(values))
        cells[column] = [values[_index(ends, _spread(i, turn))] for i in range(many)]
    if person is not None:
        cells[person] = list(range(many))
    if not cells:
        cells["row"] = list(range(many))
    arrays = {name: _array(listed, schema.get(name, ColumnType.INTEGER)) for name, listed in cells.items()}
    return pa.table(arrays)


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


def _values_of_measure(measure: Measure) -> list[Fraction]:
    every = max(measure.steps // _POINTS, 1)
    return [measure.value(x) for x in range(0, measure.steps + 1, every)]


def _values_around(leaf: Compare | OneOf | Missing) -> list[Any]:
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
            return Decimal(str(float(Fraction(value))))
        case ColumnType.TEXT:
            if isinstance(value, Fraction):
                return str(value.numerator) if value.denominator == 1 else str(float(value))
            return str(value).lower() if isinstance(value, bool) else str(value)
        case ColumnType.BOOLEAN:
            return value if isinstance(value, bool) else str(value).lower() == "true"
    return value
