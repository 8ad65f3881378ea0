"""For all values of all types of numbers: what they count is what fractions say, and nobody counts more than W.

Whole numbers and decimals are compared with Python's fractions, floats with Python's floats, and with fractions where
the range is one that floats have. Cells are aimed at: the ends of the type, of the range, the middle between two steps.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.engines.column import NUMBERS, column
from hubbub.engines.duckdb import measured_sql
from hubbub.engines.duckdb.count_sql import Query
from hubbub.engines.duckdb.step_sql import present, steps, twice, with_steps
from hubbub.engines.files.files import open_file
from hubbub.engines.files.frames import open_frame, open_table
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import to_text
from hubbub.tables.bounded_column import MOST_STEPS, Measure, measured
from hubbub.tables.engine import CountQuery
from hubbub.tables.schema import Schema

SMALL = ("DECIMAL(1,0)", "DECIMAL(4,4)", "DECIMAL(9,2)", "DECIMAL(18,0)", "DECIMAL(18,6)")
DECIMALS = (*SMALL, "DECIMAL(30,8)", "DECIMAL(38,0)", "DECIMAL(38,10)", "DECIMAL(38,37)")
EXACT = [name for name, number in NUMBERS.items() if number.grid] + list(DECIMALS)
SPECS = (
    "x:0..300000:1",
    "x:0..300000:100",
    "x:-7..70:7",
    "x:0..500:0.5",
    "x:-2.5..97.5:0.01",
    "x:0..99.9:0.3",
    "x:-0.05..10.03:0.06",  # on no grid of whole numbers
    "x:0..3333333333.333:333.3333333333",  # more digits than doubles have: by whole numbers
    "x:0..10000000:1",
    "x:-1000000000000000..1000000000000000:1000000000",
    "x:0..1:1",
    "x:127..129:1",
    "x:0.000000000001..1000.000000000001:0.001",
    "x:5..6:0.0001",
)


def right(value: Fraction, measure: Measure) -> int:
    """Into the range, then to the nearest step, halves upwards."""
    inside = min(max(value, measure.low), measure.high)
    return math.floor((inside - measure.low) / measure.step + Fraction(1, 2))


def counted(
    database: duckdb.DuckDBPyConnection, type_name: str, cells: list[str | None], measure: Measure
) -> list[int | None]:
    """What each cell counts, by the SQL of one row; None where it has no value. All forms of it must agree."""
    known = column("x", type_name)
    rows = pa.table({"i": range(len(cells)), "t": pa.array(cells, pa.string())})
    database.register("cells", rows)
    typed = f"(SELECT i, CAST(t AS {type_name}) AS x FROM cells)"
    for kept, doubted in ((False, True), (False, False), (True, True), (True, False)):
        people, (name,) = with_steps([measure], {"x": known}, typed, kept=kept, doubted=doubted)
        moved, whole = twice(measure, known, name), steps(measure, known, name)
        there = present(measure, known, name)
        found = dict.fromkeys(range(len(cells)))
        for i, x, double in database.execute(f"SELECT i, {whole}, {moved} FROM {people} WHERE {there}").fetchall():
            assert type(double) is float
            assert 2 * x - measure.steps == double
            found[i] = x
        if kept:
            apart = f"SELECT i, {whole}, coalesce({there}, FALSE) FROM {people} ORDER BY i"
            told = [(i, x) for i, x, inside in database.execute(apart).fetchall() if inside]
            assert told == [(i, x) for i, x in found.items() if x is not None]
    return list(found.values())


def aimed(type_name: str, measure: Measure, more: list[Fraction]) -> list[Fraction]:
    """Cells of the type next to its ends, to those of the range, and to what lies between two steps."""
    known = column("x", type_name).number
    assert known is not None
    assert known.grid is not None
    near = [known.least, known.most, Fraction(0), Fraction(2**53), Fraction(-(2**53)), *more]
    for k in (0, 1, 2, 3, measure.steps // 3, measure.steps - 1, measure.steps):
        near += [measure.value(k), measure.value(k + Fraction(1, 2)), measure.value(k - Fraction(1, 2))]
    places = {math.floor(value / known.grid) + i for value in near for i in (-1, 0, 1)}
    return sorted(place * known.grid for place in places if known.least <= place * known.grid <= known.most)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.mark.parametrize("type_name", EXACT)
def test_for_all_ranges_exact_numbers_count_what_fractions_say(
    database: duckdb.DuckDBPyConnection, type_name: str
) -> None:
    for spec in SPECS:
        measure = measured(spec).bind(Schema({"x": column("x", type_name).kind}))
        cells = aimed(type_name, measure, [])
        found = counted(database, type_name, [None, *map(to_text, cells)], measure)
        assert found == [None, *(right(cell, measure) for cell in cells)], spec


@settings(max_examples=40, deadline=None)
@given(
    type_name=st.sampled_from(EXACT),
    low=st.fractions(-(10**9), 10**9, max_denominator=1).flatmap(
        lambda whole: st.integers(0, 6).map(lambda places: whole / 10**places)
    ),
    step=st.tuples(st.integers(1, 10**7), st.integers(0, 8)).map(lambda parts: Fraction(parts[0], 10 ** parts[1])),
    many=st.integers(1, MOST_STEPS),
    cells=st.lists(st.fractions(-(10**12), 10**12, max_denominator=10**6), max_size=8),
)
def test_for_all_ranges_and_types_what_is_counted_is_what_fractions_say(
    type_name: str, low: Fraction, step: Fraction, many: int, cells: list[Fraction]
) -> None:
    measure = Measure("x", low, step, many)
    with duckdb.connect() as database:
        values = aimed(type_name, measure, cells)
        found = counted(database, type_name, list(map(to_text, values)), measure)
    assert found == [right(value, measure) for value in values]


FLOATS = ["0.0", "-0.0", "nan", "inf", "-inf", "1e300", "-1e300", "1.7976931348623157e308", "5e-324", "-5e-324", "1e16"]
FLOATS += ["4503599627370497.5", "9007199254740993", "-9007199254740993", "3.4e38", "-3.4e38", "0.1", "0.15", "0.25"]
FLOATS += ["299999.5", "299999.49999999994", "300000.5", "49.99999999999999", "50", "150", "0.4999999999999999", "0.5"]
FLOATS += ["1000000.0625", "1000000.125", "1000000.08"]


def by_floats(value: float, measure: Measure) -> int:
    if math.isinf(value):
        return measure.steps if value > 0 else 0
    at = (value - float(measure.low)) / float(measure.step) + 0.5
    return 0 if at < 0 else measure.steps if at >= measure.steps else math.floor(at)


@pytest.mark.parametrize("type_name", ["FLOAT", "DOUBLE", "VARCHAR"])
def test_for_all_ranges_floats_count_what_floats_say(database: duckdb.DuckDBPyConnection, type_name: str) -> None:
    specs = (*SPECS, "x:1000000.08..1000001:0.01", "x:-1..1:0.25", "x:0..100:0.1")
    for spec in specs:
        measure = measured(spec)
        ends = [repr(float(measure.value(k + half))) for k in (0, 1, measure.steps) for half in (0, Fraction(1, 2))]
        cells = [*FLOATS, *ends]
        text = [" 7 ", "1e3"] if type_name == "VARCHAR" else []
        no_number = [None, "seven", ""] if type_name == "VARCHAR" else [None]
        values = [float(cell) for cell in (*cells, *text)]
        if type_name == "FLOAT":
            values = [pa.scalar(value, pa.float32()).as_py() for value in values]
        expected = [None if math.isnan(value) else by_floats(value, measure) for value in values]
        column_of = "VARCHAR" if type_name == "VARCHAR" else type_name
        if type_name == "FLOAT":
            cells = ["inf" if v == math.inf else "-inf" if v == -math.inf else repr(v) for v in values]
        found = counted(database, column_of, [*cells, *text, *no_number], measure)
        assert found == [*expected, *([None] * len(no_number))], spec
        for value, x in zip(values, found, strict=False):
            if math.isfinite(value) and all(Fraction(float(end)) == end for end in (measure.low, measure.step)):
                middle = (Fraction(value) - measure.low) / measure.step % 1 - Fraction(1, 2)
                assert x == right(Fraction(value), measure) or abs(middle) < 1e-14, spec


FIVES = {"x:0..10:1": (10, 5), "x:-3..97:10": (10, 1), "x:0..99.9:0.3": (333, 17)}
"""Ranges, with their W and the step of 5."""


def test_no_value_is_taken_for_another_where_a_file_lies_about_its_smallest_and_largest(tmp_path: Path) -> None:
    """DuckDB answers comparisons from what a Parquet file says of itself; a promise about W must not hang on that."""
    whole = ((pa.int32(), 2_000_000_011), (pa.int32(), -2_000_000_011), (pa.int64(), 2**62 + 9), (pa.int64(), -(2**62)))
    decimals = ((pa.decimal128(9, 2), Decimal("1234567.89")), (pa.decimal128(18, 0), Decimal(-(10**17) - 1)))
    floats = ((pa.float64(), 1e300 / 3), (pa.float64(), -1e300 / 3), (pa.float64(), -54321.5), (pa.float64(), 54321.5))
    every: tuple[tuple[pa.DataType, Any], ...] = (*whole, *decimals, *floats)
    for i, (kind, value) in enumerate(every):
        raw = tmp_path / f"{i}.parquet"
        cells = pa.array([five := 5 if kind in (pa.int32(), pa.int64()) else type(value)(5), value, five], kind)
        pq.write_table(pa.table({"x": cells}), raw, use_dictionary=False, store_decimal_as_integer=True)
        content, (real, told) = raw.read_bytes(), (stored(cells[at]) for at in (1, 0))
        footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        assert real in content[footer:]
        raw.write_bytes(content[:footer] + content[footer:].replace(real, told))
        above = value > 0
        lies = duckdb.execute(f"SELECT min(x) = 5 AND max(x) = 5 FROM '{raw}'").fetchall()  # as the file says
        assert lies == [(True,)]
        others = duckdb.connect()
        others.execute(f"CREATE VIEW people AS SELECT * FROM '{raw}'")
        for engine, spec in product((open_file(raw), open_table(others, "people")), FIVES):
            measure, (ends, steps_of_5) = measured(spec), FIVES[spec]
            found = engine.count(CountQuery(axes=(), measure=measure), SystemSource())
            assert found.sums == (2 * steps_of_5 + above * ends,), (spec, kind)
            by_value = CountQuery(axes=(), measure=measure, by_value=True)
            each, joint = engine.count(by_value, SystemSource()), engine.joint_count((by_value,), SystemSource())
            right_ones = {steps_of_5: 2, above * ends: 1}
            assert dict(zip(each.codes.tolist(), each.counts.tolist(), strict=True)) == right_ones, (spec, kind)
            assert dict(zip(joint.codes[0].tolist(), joint.counts.tolist(), strict=True)) == right_ones, (spec, kind)


def stored(cell: pa.Scalar) -> bytes:
    """The bytes that a Parquet file has for a number."""
    if pa.types.is_decimal(cell.type):
        return int(cell.as_py().scaleb(cell.type.scale)).to_bytes(
            4 if cell.type.precision <= 9 else 8, "little", signed=True
        )
    return bytes(cell.type.to_pandas_dtype()(cell.as_py()).tobytes())


def test_sums_that_doubles_cannot_hold_are_added_up_as_largest_remainders(monkeypatch: pytest.MonkeyPatch) -> None:
    people = pa.table({"x": pa.array([*range(-5, 300), None], pa.int64()), "fee": [Decimal("0.25")] * 306})
    engine = open_frame(people)
    asked: list[bool] = []
    query = measured_sql.measured_query

    def noted(*given: Any, very_many: bool = False, **words: Any) -> Query:
        asked.append(very_many)
        return query(*given, very_many=very_many, **words)

    monkeypatch.setattr("hubbub.engines.duckdb.duckdb_engine.measured_query", noted)
    for limit, ways in ((2**53, [False]), (305 * 100 + 1, [False]), (305 * 100, [False, True])):
        monkeypatch.setattr(measured_sql, "EXACT", limit)
        asked.clear()
        found = engine.count(CountQuery(axes=(), measure=measured("x:0..100:1")), SystemSource())
        assert found.sums == (sum(min(max(x, 0), 100) for x in range(-5, 300)),)
        assert asked == ways
