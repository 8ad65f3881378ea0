"""Groups that are counted in an array are those of plain Python, whatever the numbers are."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import floor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub.engines.duckdb import duckdb_engine, measured_sql
from hubbub.engines.duckdb.connection import private_connection
from hubbub.engines.duckdb.count_sql import Query
from hubbub.engines.duckdb.measured_sql import (
    MOST_CELLS,
    MOST_NUMBERS,
    NEAR,
    cell_columns,
    small_parts,
)
from hubbub.engines.files.files import open_file
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as condition
from hubbub.tables.engine import CountQuery
from hubbub.tables.schema import bind_axes

EDGES = [-(1 << 31), -(1 << 15) - 1, -129, -128, -100, -1, 0, 1, 17, 18, 49, 50, 99, 127, 128, 199, 200, 255, 256, 999]
NUMBERS = [*EDGES, 1000, 40_000, 65_535, 65_536, (1 << 31) - 1, None]
PAY = [None, -5, 0, 3, 7, 10, 250]
PEOPLE = list(product(NUMBERS, PAY))
AXES = {
    "a:0..50:1": range(0, 51, 1),
    "a:0..200:5": range(0, 201, 5),
    "a:-100..100:1": range(-100, 101),
    "a:0..1000:1": range(1001),
    "a:-1000..1000:10": range(-1000, 1001, 10),
    "a:[0,18,50,200)": [0, 18, 50, 200],
    "a:0..60000:1000": range(0, 60_001, 1000),
    "a:0..70000:1000": range(0, 70_001, 1000),
}


@pytest.fixture(params=["by bins", "by cells"], autouse=True)
def way(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Both queries, of one of which a large file makes a choice by what it says of itself."""
    if request.param == "by cells":
        monkeypatch.setattr(duckdb_engine, "_LARGE", 0)
        monkeypatch.setattr(measured_sql, "NEAR", 1 << 70)
    return str(request.param)


@pytest.fixture(params=[pa.int32(), pa.int64()])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    columns = [pa.array([row[0] for row in PEOPLE], request.param), pa.array([row[1] for row in PEOPLE], pa.int32())]
    pq.write_table(pa.table(columns, names=["a", "pay"]), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def bin_of(edges: list[int], value: int | None) -> int | None:
    inside = value is not None and edges[0] <= value < edges[-1]
    return sum(edge <= value for edge in edges) - 1 if inside and value is not None else None


def step_of(pay: int) -> int:
    return floor((min(max(pay, 0), 10) + 1) / 2)


@pytest.mark.parametrize("text", AXES)
def test_sums_shares_and_values_by_bin_are_those_of_plain_python(place: Path, text: str) -> None:
    edges, engine = list(AXES[text]), open_file(place)
    axes = bind_axes((parse(text),), engine.columns())
    measure, rule = measured("pay:0..10:2"), condition("pay >= 7")
    people, sums, values, met = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    everybody: Counter[int] = Counter()
    for a, pay in PEOPLE:
        code = bin_of(edges, a)
        everybody[-1 if code is None else code] += 1
        if code is not None:
            met[code] += pay is not None and pay >= 7
        if code is not None and pay is not None:
            people[code] += 1
            sums[code] += step_of(pay)
            values[code * 6 + step_of(pay)] += 1

    def asked(**words: object) -> tuple[dict[int, int], dict[int, int]]:
        found = engine.count(CountQuery(axes=axes, **words), ScriptedSource())  # type: ignore[arg-type]
        codes = found.codes.tolist()
        return dict(zip(codes, found.counts.tolist(), strict=True)), dict(zip(codes, found.sums or (), strict=False))

    assert asked(measure=measure) == (people, sums)
    assert asked(measure=measure, by_value=True)[0] == values
    assert asked(measure=measure, where=condition("pay <= 3"))[0] == {code: many // 2 for code, many in people.items()}
    everyone, shares = asked(measure=rule, everybody=True)
    assert everyone == everybody
    assert {code: many for code, many in shares.items() if code >= 0} == met
    told = asked(measure=measure, by_value=True, everybody=True)[0]
    assert told.pop(-1) == len(PEOPLE) - sum(values.values())
    assert told == values


def test_two_columns_in_an_array_are_those_of_plain_python(tmp_path: Path) -> None:
    rows = list(product([*EDGES, None], [*EDGES, None]))
    pq.write_table(
        pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows], "pay": [1] * len(rows)}), tmp_path / "p.parquet"
    )
    engine = open_file(tmp_path / "p.parquet")
    axes = bind_axes((parse("a:0..100:1"), parse("b:-20..20:10")), engine.columns())
    right: Counter[int] = Counter()
    for a, b in rows:
        one, other = bin_of(list(range(101)), a), bin_of(list(range(-20, 21, 10)), b)
        if one is not None and other is not None:
            right[one * 4 + other] += 1
    for by_value in (False, True):
        found = engine.count(CountQuery(axes=axes, measure=measured("pay:0..1:1"), by_value=by_value), ScriptedSource())
        codes = [code // 2 if by_value else code for code in found.codes.tolist()]
        assert dict(zip(codes, found.counts.tolist(), strict=True)) == right


def test_what_is_grouped_by_its_values_has_few_of_them(place: Path) -> None:
    """However many values a column has: never more groups than an array has places."""
    engine = open_file(place)
    columns = engine._columns
    for texts, few in (
        (["a:0..50:1"], True),
        (["a:0..60000:1"], True),
        (["a:0..70000:1"], False),
        (["a:0..50:1", "pay:0..10:1"], True),
        (["a:0..1000:1", "pay:0..10:1"], False),
        (["a:0..50:1,null"], False),
    ):
        axes = bind_axes(tuple(map(parse, texts)), engine.columns())
        assert (small_parts(axes, columns) is not None) == few, texts
    assert MOST_NUMBERS == 1 << 16


def test_what_is_grouped_by_itself_has_few_values_in_bins(place: Path) -> None:
    engine = open_file(place)
    for texts, few in (
        (["a:0..50:1"], True),
        ([f"a:-1..{MOST_CELLS - 1}:1"], True),
        ([f"a:-1..{MOST_CELLS}:1"], False),
        (["a:[0,18,50,200)"], True),
        (["a:0..60000:1000"], False),
        (["a:0..50:1", "pay:0..10:1"], True),
        (["a:0..1000:1", "pay:0..10:1"], False),
        (["a:0..50:1,null"], False),
        (["a:0..50:1,other"], False),
    ):
        axes = bind_axes(tuple(map(parse, texts)), engine.columns())
        assert (cell_columns(axes, engine._columns) is not None) == few, texts


def nearest_step(value: float | Decimal, high: int, step: Fraction) -> int:
    """Of the range from 0 on; floats are rounded as their arithmetic does."""
    if isinstance(value, float):
        return floor(min(max(value, 0.0), float(high)) / float(step) + 0.5)
    return floor(min(max(Fraction(value), Fraction(0)), Fraction(high)) / step + Fraction(1, 2))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.sampled_from([-(1 << 63), -1, 0, 4, 5, 9, 10, (1 << 63) - 1]) | st.integers(-3, 12),
            st.none() | st.sampled_from([-(1 << 63), (1 << 53) + 1, (1 << 63) - 1]) | st.integers(-30, 130),
            st.none() | st.sampled_from([-9_999_999_999, 9_999_999_999]) | st.integers(-400, 1400),
            st.none()
            | st.sampled_from(
                [float("nan"), float("inf"), -float("inf"), -0.0, 1e300, -1e300, 0.25, 0.24999999999999997]
            )
            | st.floats(-3, 12),
        ),
        max_size=30,
    ),
    axis=st.sampled_from(["a:0..10:1", "a:-2..10:1", "a:0..10:5"]),
)
def test_sums_of_every_type_are_those_of_plain_python(
    tmp_path: Path, rows: list[tuple[int | None, int | None, int | None, float | None]], axis: str
) -> None:
    a, whole, real = [row[0] for row in rows], [row[1] for row in rows], [row[3] for row in rows]
    decimal = [None if cents is None else Decimal(cents) / 100 for _, _, cents, _ in rows]
    columns = {"a": pa.array(a, pa.int64()), "whole": pa.array(whole, pa.int64()), "real": pa.array(real, pa.float64())}
    pq.write_table(pa.table(columns | {"dec": pa.array(decimal, pa.decimal128(12, 2))}), tmp_path / "p.parquet")
    engine = open_file(tmp_path / "p.parquet")
    axes = bind_axes((parse(axis),), engine.columns())
    low, width = (-2 if "-2" in axis else 0), (5 if axis.endswith("5") else 1)
    for of, values, step in (
        ("whole:0..100:1", whole, Fraction(1)),
        ("whole:0..100:5", whole, Fraction(5)),
        ("dec:0..10:0.01", decimal, Fraction(1, 100)),
        ("dec:0..10:0.5", decimal, Fraction(1, 2)),
        ("real:0..10:0.5", real, Fraction(1, 2)),
    ):
        measure, people, sums = measured(of), Counter[int](), Counter[int]()
        for cell, value in zip(a, values, strict=True):
            if cell is None or not low <= cell < 10 or value is None or value != value:
                continue
            people[(cell - low) // width] += 1
            sums[(cell - low) // width] += nearest_step(value, int(measure.high), step)
        found = engine.count(CountQuery(axes=axes, measure=measure), ScriptedSource())
        codes = found.codes.tolist()
        assert dict(zip(codes, found.counts.tolist(), strict=True)) == people
        assert dict(zip(codes, found.sums or (), strict=True)) == sums


def test_what_a_large_file_says_of_itself_chooses_the_query_and_never_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A value far from all bins in the last of several parts is enough: sorted tables begin in their bins."""
    if way == "by cells":
        pytest.skip("the choice itself is looked at")
    asked: list[str] = []
    arrow = duckdb_engine.DuckDB.arrow

    def listening(self: duckdb_engine.DuckDB, query: Query) -> pa.Table:
        asked.append(query[0])
        return arrow(self, query)

    monkeypatch.setattr(duckdb_engine.DuckDB, "arrow", listening)
    for name, last, by_cell in (("near", 49 + NEAR, True), ("far", 50 + NEAR, False)):
        cells = [*range(-NEAR, 50), None, *[7] * 5000, last]
        pq.write_table(
            pa.table({"a": cells, "pay": [1] * len(cells)}), tmp_path / f"{name}.parquet", row_group_size=1000
        )
        right = dict.fromkeys(range(50), 1) | {7: 5001}
        for large in (False, True):
            monkeypatch.setattr(duckdb_engine, "_LARGE", 0 if large else 1 << 40)
            engine = open_file(tmp_path / f"{name}.parquet")
            axes = bind_axes((parse("a:0..50:1"),), engine.columns())
            found = engine.count(CountQuery(axes=axes, measure=measured("pay:0..1:1")), ScriptedSource())
            assert dict(zip(found.codes.tolist(), found.counts.tolist(), strict=True)) == right
            assert ("""WHERE ("a" >= CAST('0' AS BIGINT)""" not in asked.pop()) == (large and by_cell)


def test_a_footer_that_cannot_be_asked_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_engine, "_LARGE", 0)
    monkeypatch.setattr(duckdb_engine, "near_sql", lambda *_: "SELECT no_such_column")
    pq.write_table(pa.table({"a": [1, 2, 2], "pay": [1, 1, 0]}), tmp_path / "p.parquet")
    engine = open_file(tmp_path / "p.parquet")
    axes = bind_axes((parse("a:0..5:1"),), engine.columns())
    found = engine.count(CountQuery(axes=axes, measure=measured("pay:0..1:1")), ScriptedSource())
    assert dict(zip(found.codes.tolist(), found.counts.tolist(), strict=True)) == {1: 1, 2: 2}


def test_a_footer_that_lies_moves_no_sum_by_cells(tmp_path: Path) -> None:
    """What a file says of its smallest and largest value is no part of the answer."""
    place, largest = tmp_path / "p.parquet", 1_000_003
    columns = {"a": pa.array([3, largest, 9], pa.int32()), "pay": pa.array([1, largest, 5], pa.int32())}
    pq.write_table(pa.table(columns), place, use_dictionary=False)
    content = place.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    real, told = (number.to_bytes(4, "little") for number in (largest, 9))
    assert real in content[footer:]
    place.write_bytes(content[:footer] + content[footer:].replace(real, told))
    engine = open_file(place)
    axes = bind_axes((parse("a:0..10:1"),), engine.columns())
    found = engine.count(CountQuery(axes=axes, measure=measured("pay:0..10:1")), ScriptedSource())
    inside = {int(code): total for code, total in zip(found.codes, found.sums or (), strict=True) if code < 10}
    assert inside == {3: 1, 9: 5}


def test_duckdb_counts_them_in_an_array() -> None:
    """The names of DuckDB's plans: if they change, so may what is fast."""
    connection, _ = private_connection()
    connection.execute("CREATE TABLE t AS SELECT range AS a FROM range(1000)")
    for small, in_array in (("USMALLINT", True), ("BIGINT", False)):
        sql = f"EXPLAIN SELECT TRY_CAST(TRY(a) AS {small}) AS g, count(*) FROM t GROUP BY ALL"
        plan = connection.execute(sql).fetchall()[0][1]
        assert ("Perfect Hash" in plan) == in_array, plan
