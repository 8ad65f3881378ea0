"""Values that DuckDB cannot read: missing, by a public rule, and nobody else notices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from hubbub.engines.arrow_columns import has_unreadable_text, repair_table
from hubbub.engines.files.files import open_file
from hubbub.engines.files.frames import open_frame, open_table
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery, Engine, MultiRowPolicy

LOW, HIGH = -(2**63), 2**63 - 1
IN_2024 = {"s": 1_704_067_200, "ms": 1_704_067_200 * 10**3, "us": 1_704_067_200 * 10**6, "ns": 1_704_067_200 * 10**9}


def times(unit: str, zone: str | None, *cells: int | None) -> pa.Array:
    return pa.array(cells, pa.int64()).view(pa.timestamp(unit, zone))


def texts(*cells: bytes | None) -> pa.Array:
    return pa.array(cells, pa.binary()).view(pa.string())


def from_parquet(table: pa.Table, folder: Path) -> Engine:
    pq.write_table(table, folder / "people.parquet")
    return open_file(folder / "people.parquet")


def from_parts(table: pa.Table, folder: Path) -> Engine:
    for i in range(table.num_rows):
        pq.write_table(table.slice(i, 1), folder / f"part{i}.parquet")
    return open_file(folder / "part*.parquet")


def from_connection(table: pa.Table, folder: Path) -> Engine:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return open_table(connection, "people")


OPENERS: dict[str, Callable[[pa.Table, Path], Engine]] = {
    "parquet": from_parquet,
    "parts": from_parts,
    "connection": from_connection,
    "arrow": lambda table, _: open_frame(table),
    "batch": lambda table, _: open_frame(table.to_batches()[0]),
    "dataset": lambda table, _: open_frame(pyarrow.dataset.dataset(table)),
    "polars": lambda table, _: open_frame(pl.from_arrow(table)),
    "lazy polars": lambda table, _: open_frame(pl.from_arrow(table).lazy()),  # type: ignore[union-attr]
    "pandas": lambda table, _: open_frame(table.to_pandas(types_mapper=pd.ArrowDtype)),
}


def found(engine: Engine, by: str, **words: Any) -> dict[str | None, int]:
    counted = engine.count(CountQuery(axes=(parse(by),), **words), ScriptedSource.from_label("mended"))
    return dict(zip(counted.found[0], counted.counts.tolist(), strict=True))


REPEATS = (
    {},
    {"person": "id"},
    *({"person": "id", "repeats": r} for r in (MultiRowPolicy.ONE_ROW, MultiRowPolicy.DISTINCT)),
)


BEYOND = {
    "ms": times("ms", None, 10**16, IN_2024["ms"], -(10**16)),
    "ms with a zone": times("ms", "UTC", 10**16, IN_2024["ms"], LOW),
    "us": times("us", None, LOW, IN_2024["us"], LOW + 2),
    "us with a zone": times("us", "UTC", HIGH - 1, IN_2024["us"], LOW),
}
NOT_IN_DUCKDB = ("ms with a zone", "connection")  # its own tables cannot hold these


@pytest.mark.parametrize(
    ("cells", "opened"), [pair for pair in product(BEYOND, OPENERS) if pair != NOT_IN_DUCKDB], ids=" in ".join
)
def test_a_time_beyond_the_calendar_is_missing(tmp_path: Path, cells: str, opened: str) -> None:
    engine = OPENERS[opened](pa.table({"x": BEYOND[cells], "id": [1, 2, 3]}), tmp_path)
    axis = parse("x:month:2024..2024,null,other")
    for words in REPEATS:
        assert found(engine, "x:year", **words) == {"2024": 1, None: 2}, words
        assert found(engine, "x", **words)[None] == 2, words
        counted = engine.count(CountQuery(axes=(axis,), **words), ScriptedSource((7,) * 99))
        assert dict(zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)) == {0: 1, 12: 2}


@pytest.mark.parametrize("opened", [name for name in OPENERS if "polars" not in name and name != "connection"])
def test_text_that_is_no_utf_8_is_missing(tmp_path: Path, opened: str) -> None:
    table = pa.table({"x": texts(b"B\xffth", b"York", b"Ba\xc3", b"\xed\xa0\x80", b"Caf\xc3\xa9"), "id": range(5)})
    engine = OPENERS[opened](table, tmp_path)
    for words in REPEATS:
        assert found(engine, "x", **words) == {"York": 1, "Caf\u00e9": 1, None: 3}, words
        counted = engine.count(CountQuery(axes=(parse("x=York,null,other"),), **words), ScriptedSource((7,) * 99))
        assert counted.counts[counted.codes.argsort()].tolist() == [1, 3, 1]


@pytest.mark.parametrize("opened", [name for name in OPENERS if "polars" not in name])  # which holds no such number
def test_decimals_of_38_digits_and_beyond_are_counted(tmp_path: Path, opened: str) -> None:
    numbers = (2**127 - 1, -(2**127), 10**38 - 1)
    stored = pa.py_buffer(b"".join(n.to_bytes(16, "little", signed=True) for n in numbers))
    column = pa.Array.from_buffers(pa.decimal128(38, 0), len(numbers), [None, stored])
    engine = OPENERS[opened](pa.table({"x": column, "id": [1, 2, 3]}), tmp_path)
    assert found(engine, "x") == {"9" * 38: 1, None: 2}


def test_objects_of_python_that_have_no_utf_8_are_missing() -> None:
    frame = pd.DataFrame({"x": pd.Series(["a", "\udcff", 3, None, 2.5, "a"], dtype=object)})
    assert found(open_frame(frame), "x") == {"a": 2, "3": 1, "2.5": 1, None: 2}


@pytest.mark.parametrize(
    "column",
    [
        times("ms", "Asia/Kolkata", 0, IN_2024["ms"], None),
        times("ns", None, LOW, HIGH - 1, None),
        texts(b"a", b"", None).dictionary_encode(),
        pa.array([1.5, float("nan"), None], pa.float16()),
        pa.array([b"\xff", b"", None]),
        pa.array([[1], [], None]),
        pa.array([bytes(16), b"\xff" * 16, None], pa.binary(16)),
        pa.array([1, 2**64 - 1, None], pa.uint64()),
    ],
    ids=lambda column: str(column.type)[:30],
)
def test_other_columns_are_the_same_in_the_copy(tmp_path: Path, column: pa.Array) -> None:
    """A person's column of any type beside the one that is mended, and its own counts before and after."""
    good, bad = times("ms", None, 0, 0, 0), times("ms", None, 0, 10**16, 0)
    people = [{"person": "x", "repeats": repeats} for repeats in (MultiRowPolicy.ONE_ROW, MultiRowPolicy.DISTINCT)]
    before = from_parquet(pa.table({"x": column, "t": good}), tmp_path)
    kinds, counts = before.columns(), [sum(found(before, "t:year", **words).values()) for words in people]
    after = from_parquet(pa.table({"x": column, "t": bad}), tmp_path)
    assert after.columns() == kinds
    assert [sum(found(after, "t:year", **words).values()) for words in people] == counts


def test_what_is_readable_stays_as_it_is() -> None:
    table = pa.table(
        {"x": texts(b"a", None, b"Caf\xc3\xa9"), "t": times("us", "UTC", 0, HIGH, -HIGH), "n": [1, 2, None]}
    )
    assert repair_table(table).equals(table)
    assert not has_unreadable_text(table, ["x", "t", "n"])
    assert repair_table(table.slice(0, 0)).schema == table.schema


def test_a_file_that_is_cut_off_gets_one_sentence_still(tmp_path: Path) -> None:
    from_parquet(pa.table({"x": times("ms", None, *range(5000))}), tmp_path)
    path = tmp_path / "people.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + bytes(2000) + whole[2004:])
    with pytest.raises(WrongUse, match="the table could not be counted; check that the file is whole"):
        found(open_file(path), "x:year")
