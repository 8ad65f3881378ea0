"""Of columns with one name each has its number, whatever the table comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import axis
from hubbub.tables.engine import CountQuery


def parquet(folder: Path) -> Path:
    pq.write_table(arrow(folder), folder / "t.parquet")
    return folder / "t.parquet"


def csv(folder: Path) -> Path:
    (folder / "t.csv").write_text("id,town,Town\n1,Bath,Ely\n2,York,Ely\n")
    return folder / "t.csv"


def arrow(_: Path) -> pa.Table:
    return pa.table([[1, 2], ["Bath", "York"], ["Ely", "Ely"]], names=["id", "town", "Town"])


MAKERS: dict[str, Callable[[Path], Any]] = {
    "csv": csv,
    "parquet": parquet,
    "arrow": arrow,
    "pandas": lambda folder: arrow(folder).to_pandas(),
    "polars": lambda folder: pl.DataFrame({"id": [1, 2], "town": ["Bath", "York"], "Town": ["Ely", "Ely"]}),
    "lazy": lambda folder: pl.LazyFrame({"id": [1, 2], "town": ["Bath", "York"], "Town": ["Ely", "Ely"]}),
    "relation": lambda folder: duckdb.from_arrow(arrow(folder).rename_columns(["id", "town", "x"])).project(
        'id, town, x AS "Town"'
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_each_of_two_has_its_number_and_its_own_cells(make: Callable[[Path], Any], tmp_path: Path) -> None:
    table = open_source(make(tmp_path))
    assert list(table.columns()) == ["id", "town#1", "Town#2"]
    for spec, counts in (("town#1=Bath,York,Ely", [1, 1]), ("Town#2=Bath,York,Ely", [2])):
        assert table.count(CountQuery(axes=(axis(spec),)), SystemSource()).counts.tolist() == counts
    with pytest.raises(WrongUse, match=r"2 columns are called 'town'; say which: 'town#1' or 'Town#2'"):
        table.count(CountQuery(axes=(axis("town"),)), SystemSource())


def test_two_of_exactly_one_name_in_frames(tmp_path: Path) -> None:
    frames = [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])]
    for frame in frames:
        table = open_source(frame)
        assert list(table.columns()) == ["a#1", "a#2"]
        assert table.count(CountQuery(axes=(axis("a#2:0..3:1"),)), SystemSource()).codes.tolist() == [2]


def test_a_parquet_file_that_has_to_be_mended_keeps_them_apart(tmp_path: Path) -> None:
    spoilt = pa.array([b"Bath", b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table([["x", "x"], spoilt], names=["a", "a"]), tmp_path / "t.parquet")
    table = open_source(tmp_path / "t.parquet", unreadable=1)
    assert table.count(CountQuery(axes=(axis("a#2=Bath,x"),)), SystemSource()).counts.tolist() == [1]
