"""Axes as SQL: every type of number at its ends, dates at theirs, names that are SQL, and what is refused.

What a cell's bin is, is worked out in Python's own integers and fractions, which never overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.engines.column import NUMBERS, Column, column
from hubbub.engines.duckdb.expressions import code, code_where, identifier, key, literal, text
from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY, Infinite, to_text
from hubbub.tables.bins import Discovered, Edges, Steps, Values, parse
from hubbub.tables.schema import ColumnType, bind_axes, check

DECIMALS = ("DECIMAL(1,0)", "DECIMAL(4,4)", "DECIMAL(18,3)", "DECIMAL(38,0)", "DECIMAL(38,10)", "DECIMAL(38,38)")
EXACT = [name for name, number in NUMBERS.items() if number.grid] + list(DECIMALS)

Axis = Edges | Steps


def place(cell: Fraction, axis: Axis) -> int | None:
    """The bin of a number: the interval it lies in, else other, else none."""
    edges: list[Fraction | Infinite | None] = list(axis.edges)
    if isinstance(axis, Edges) and axis.open_below:
        edges.insert(0, None)
    for i, (low, high) in enumerate(pairwise(edges)):
        if (low is None or low <= cell) and cell < high:  # type: ignore[operator]
            return i
    return len(axis) + axis.null if axis.other else None


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def codes(database: duckdb.DuckDBPyConnection, type_name: str, cells: list[str], axis: Axis) -> list[int | None]:
    """By both forms of the SQL, which must agree where both are allowed."""
    known = column(axis.column, type_name)
    rows = ", ".join(f"({i}, CAST({literal(cell)} AS {type_name}))" for i, cell in enumerate(cells))
    people = f"(VALUES {rows}) AS people(i, {identifier(axis.column)})"
    each = database.execute(f"SELECT {code(axis, known)} FROM {people} ORDER BY i").fetchall()
    found = [None if row[0] == -1 else row[0] for row in each]
    if not axis.null and not axis.other:
        number, condition = code_where(axis, known)
        kept = database.execute(f"SELECT i, {number} FROM {people} WHERE {condition}").fetchall()
        assert sorted(kept) == [(i, bin_) for i, bin_ in enumerate(found) if bin_ is not None]
    return found


def cells_of(type_name: str) -> list[Fraction]:
    """The ends of the type, their neighbours, and what lies around zero."""
    number = column("x", type_name).number
    assert number is not None
    assert number.grid is not None
    near = [number.least, number.least + number.grid, number.most - number.grid, number.most]
    near += [i * number.grid for i in (-1, 0, 1, 5)] + [Fraction(i) for i in (-1, 1, 9, 10, 99, 100)]
    return sorted({cell for cell in near if number.least <= cell <= number.most and not cell % number.grid})


SPECS = [
    "x:[-inf,0,inf)",
    "x:[-inf,0.5,inf),other",
    "x:[-0.25,0.25,9.75),other",
    "x:[0,10,100)",
    "x:0..100:10",
    "x:-100..100:4,other",
    "x:-1000..1000:10",
    "x:[1000000000000,2000000000000),other",
    "x:[-1e30,0,1e30),other",
    "x:[-1e50,-1e40,0,1e40,1e50),other",
    "x:-1e18..1e18:1e17,other",
    "x:-1e37..1e37:1e36,other",
    "x:-1e39..1e39:1e38,other",
    "x:[0.00000000000000000000000000000000000001,1)",
    "x:0..1:0.125,other",
]


@pytest.mark.parametrize("type_name", EXACT)
def test_numbers_of_every_type_fall_into_the_right_bins(database: duckdb.DuckDBPyConnection, type_name: str) -> None:
    cells = cells_of(type_name)
    texts = [to_text(cell) for cell in cells]
    for spec in SPECS:
        axis = parse(spec)
        assert isinstance(axis, Axis)
        check(axis, column("x", type_name).kind)
        found = codes(database, type_name, texts, axis)
        assert found == [place(cell, axis) for cell in cells], spec


@pytest.mark.parametrize("type_name", EXACT)
@settings(max_examples=25)
@given(data=st.data())
def test_for_all_edges_and_cells_no_type_overflows(
    database: duckdb.DuckDBPyConnection, type_name: str, data: st.DataObject
) -> None:
    number = column("x", type_name).number
    assert number is not None
    assert number.grid is not None
    units = st.integers(int(number.least / number.grid), int(number.most / number.grid))
    cells = [Fraction(n) * number.grid for n in data.draw(st.lists(units, min_size=1, max_size=5))]
    reach = 2 * int(number.most / number.grid) + 2
    edge = st.integers(-reach, reach).map(lambda n: Fraction(n) * number.grid / 2)  # type: ignore[operator]
    if data.draw(st.booleans()):
        edges = sorted(data.draw(st.sets(edge, min_size=2, max_size=6)))
        axis: Axis = Edges("x", tuple(edges), open_below=data.draw(st.booleans()), other=True)
    else:
        width = data.draw(st.integers(1, reach)) * number.grid
        low = Fraction(math.floor(data.draw(edge) / number.grid)) * number.grid
        axis = Steps("x", low, width, data.draw(st.integers(1, 40)))
    if any("/" in to_text(edge) for edge in axis.edges):
        return  # more than forty digits: refused by check()
    found = codes(database, type_name, [to_text(cell) for cell in cells], axis)
    assert found == [place(cell, axis) for cell in cells]


@pytest.mark.parametrize("type_name", ["DOUBLE", "FLOAT", "VARCHAR"])
def test_floats_and_text_are_numbers_or_missing_or_other(database: duckdb.DuckDBPyConnection, type_name: str) -> None:
    axis = parse("x:[-inf,0,0.7,1e300,inf),null,other")
    assert isinstance(axis, Axis)
    cells = ["-0.0", "0", "5e-324", "0.7", "-1", "nan", "inf", "-inf"]
    right: list[int | None] = [1, 1, 1, 2, 0, 4, 5, 5]
    if type_name == "VARCHAR":
        cells += ["1e308", "ten", "", "1e400", " 7 ", "\u0667"]
        right += [3, 5, 5, 5, 2, 5]
    assert codes(database, type_name, cells, axis) == right


def test_an_edge_a_float_of_its_type_reaches_counts_to_the_bin_above(database: duckdb.DuckDBPyConnection) -> None:
    # 0.7 as a 32-bit float is below 0.7: it is compared with 0.7 as a 32-bit float.
    axis = Edges("x", (Fraction(0), Fraction(7, 10), INFINITY))
    assert codes(database, "FLOAT", ["0.7"], axis) == codes(database, "DOUBLE", ["0.7"], axis) == [1]


@pytest.mark.parametrize("unit", ["day", "month", "quarter", "year"])
@pytest.mark.parametrize("type_name", ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "VARCHAR"])
def test_dates_at_the_ends_of_their_types_have_no_bin(
    database: duckdb.DuckDBPyConnection, unit: str, type_name: str
) -> None:
    cells = ["infinity", "-infinity", "2024-02-29"]
    cells += {
        "DATE": ["5881580-07-10", "5877642-06-25 (BC)"],
        "TIMESTAMP": ["294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00"],
        "TIMESTAMP_S": ["294247-01-10 04:00:54", "0001-01-01 (BC) 00:00:00"],
        "VARCHAR": ["31/12/2024", "tomorrow", "2024-02-30", ""],
    }.get(type_name, [])
    known = column("x", type_name)
    rows = ", ".join(f"({i}, CAST({literal(cell)} AS {type_name}))" for i, cell in enumerate(cells))
    people = f"(VALUES {rows}) AS people(i, x)"
    axis = parse(f"x:{unit}:2024..2024,other")
    assert not isinstance(axis, Discovered | Values)
    _number, condition = code_where(axis, known)  # type: ignore[arg-type]
    assert database.execute(f"SELECT i FROM {people} WHERE {condition}").fetchall() == [(2,)]
    found = database.execute(f"SELECT {code(axis, known)} FROM {people} ORDER BY i").fetchall()  # type: ignore[arg-type]
    at = {"day": 59, "month": 1, "quarter": 0, "year": 0}[unit]
    assert found == [(at if i == 2 else len(axis),) for i in range(len(cells))]
    found_axis = Discovered("x", unit)
    labels = [
        row[0] for row in database.execute(f"SELECT {key(found_axis, known)} FROM {people} ORDER BY i").fetchall()
    ]
    assert labels[:3] == [
        None,
        None,
        {"day": "2024-02-29", "month": "2024-02", "quarter": "2024-Q1", "year": "2024"}[unit],
    ]


def test_a_time_with_a_zone_is_taken_in_utc(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("SET TimeZone = 'UTC'")
    known = column("x", "TIMESTAMP WITH TIME ZONE")
    people = "(SELECT TIMESTAMPTZ '2024-01-01 00:30:00+02:00' AS x)"
    assert database.execute(f"SELECT {key(Discovered('x', 'day'), known)} FROM {people}").fetchall() == [
        ("2023-12-31",)
    ]


def test_text_is_compared_sign_by_sign(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("CREATE OR REPLACE TABLE towns (x VARCHAR COLLATE NOCASE)")
    database.execute("INSERT INTO towns VALUES ('Bath'), ('BATH'), ('bath')")
    known = text(column("x", "VARCHAR"))
    assert database.execute(f"SELECT count(*) FROM towns WHERE ({known}) = 'Bath'").fetchall() == [(1,)]
    assert database.execute(f"SELECT count(DISTINCT {known}) FROM towns").fetchall() == [(3,)]


def test_not_a_number_is_missing_and_there_is_one_zero(database: duckdb.DuckDBPyConnection) -> None:
    for type_name in ("DOUBLE", "FLOAT"):
        known = text(column("x", type_name))
        cells = ", ".join(f"(CAST('{cell}' AS {type_name}))" for cell in ("nan", "-0.0", "0.0", "1.5", "-inf"))
        found = database.execute(f"SELECT {known} FROM (VALUES {cells}) AS people(x)").fetchall()
        assert [row[0] for row in found] == [None, "0.0", "0.0", "1.5", "-inf"]


@pytest.mark.parametrize(
    "name", ['a"b', "a'b", '"; DROP TABLE towns; --', "x y", "é", "", "\u201cx\u201d", "a\nb", "--"]
)
def test_a_name_is_a_name_whatever_is_in_it(database: duckdb.DuckDBPyConnection, name: str) -> None:
    if not name:
        assert identifier(name) == '""'
        return
    axis = Edges(name, (Fraction(0), INFINITY))
    assert codes(database, "BIGINT", ["-1", "7"], axis) == [None, 0]
    assert database.execute(f"SELECT {literal(name)}").fetchall() == [(name,)]


# --- kinds and refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("BIGINT", ColumnType.INTEGER),
        ("UHUGEINT", ColumnType.INTEGER),
        ("DECIMAL(9,2)", ColumnType.DECIMAL),
        ("FLOAT", ColumnType.FLOAT),
        ("VARCHAR", ColumnType.TEXT),
        ("ENUM('a', 'DECIMAL(9,2)')", ColumnType.TEXT),
        ("DATE", ColumnType.DATE),
        ("TIMESTAMP_NS", ColumnType.DATE),
        ("TIMESTAMP WITH TIME ZONE", ColumnType.DATE),
        ("BOOLEAN", ColumnType.BOOLEAN),
        ("VARCHAR[]", ColumnType.OTHER),
        ("DECIMAL(9,2)[]", ColumnType.OTHER),
        ("STRUCT(a INTEGER)", ColumnType.OTHER),
        ("BLOB", ColumnType.OTHER),
        ('"NULL"', ColumnType.OTHER),
        ("TIME", ColumnType.OTHER),
        ("INTERVAL", ColumnType.OTHER),
    ],
)
def test_a_type_is_of_one_kind(type_name: str, kind: ColumnType) -> None:
    assert column("x", type_name).kind is kind


def test_the_ends_of_types_are_those_of_the_engine(database: duckdb.DuckDBPyConnection) -> None:
    for type_name in EXACT:
        number = column("x", type_name).number
        assert number is not None
        assert number.grid is not None
        for end, beyond in ((number.least, -number.grid), (number.most, number.grid)):
            inside = database.execute(
                f"SELECT CAST(CAST({literal(to_text(end))} AS {type_name}) AS VARCHAR)"
            ).fetchone()
            assert inside is not None
            assert Fraction(inside[0]) == end
            outside = database.execute(f"SELECT TRY_CAST({literal(to_text(end + beyond))} AS {type_name})").fetchone()
            assert outside == (None,)


def test_a_boolean_column_has_its_values_declared_by_its_type() -> None:
    assert bind_axes((Discovered("m"),), {"m": ColumnType.BOOLEAN}) == (Values("m", ("false", "true"), null=True),)
    assert bind_axes((Discovered("m"),), {"m": ColumnType.TEXT}) == (Discovered("m"),)
    assert bind_axes((parse("m=true"),), {"m": ColumnType.BOOLEAN}) == (parse("m=true"),)


@pytest.mark.parametrize(
    ("spec", "kind", "sentence"),
    [
        ("x=a", ColumnType.OTHER, "something that cannot be binned; choose another column"),
        ("x", ColumnType.OTHER, "something that cannot be binned; choose another column"),
        ("x=True,False", ColumnType.BOOLEAN, "use x=false,true"),
        ("x:0..10:1", ColumnType.DATE, "cannot be cut at numbers; use x:month"),
        ("x:[0,1)", ColumnType.BOOLEAN, "cannot be cut at numbers; use x=false,true"),
        ("x:month", ColumnType.INTEGER, "not dates; use x:0..100:10"),
        ("x:year:2020..2024", ColumnType.FLOAT, "not dates; use x:0..100:10"),
        ("x:0..1:1/3", ColumnType.FLOAT, "must be a decimal number that ends, not 1/3; choose another edge"),
        ("x:[0,1/3)", ColumnType.INTEGER, "must be a decimal number that ends, not 1/3; choose another edge"),
        ("x:0..5000:1", ColumnType.FLOAT, "declare fewer bins"),
        ("x:0..5000:0.5", ColumnType.INTEGER, "declare fewer bins"),
    ],
)
def test_bins_that_cannot_be_made_of_a_column_get_one_sentence(spec: str, kind: ColumnType, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence) as refusal:
        check(parse(spec), kind)
    assert "\n" not in str(refusal.value)


def test_many_steps_are_fine_for_largest_remainders() -> None:
    axis = parse("x:0..10000000:1")
    check(axis, ColumnType.INTEGER)
    assert isinstance(axis, Steps)
    number, _ = code_where(axis, Column("x", ColumnType.INTEGER, NUMBERS["INTEGER"]))
    assert len(number) < 100


def test_numbers_in_sql_are_numerals() -> None:
    """An edge reaches the SQL as digits, a sign and a point, whatever it was written as."""
    axis = parse("x:[-1e3,0.5,1E+2)")
    assert isinstance(axis, Edges)
    sql = code(axis, column("x", "DECIMAL(9,2)"))
    assert "'-1000'" in sql
    assert "'100'" in sql
    assert "'0.5'" in sql
    assert all(Decimal(part) is not None for part in sql.split("'")[1::2])
