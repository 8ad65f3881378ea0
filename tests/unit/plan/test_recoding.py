"""The search for coarser records: ladders by what a column holds, and an end where no single column can be finer."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.errors import WrongUse
from hubbub.plan import coarsenings
from hubbub.plan.coarsening import Ladder, ladder, search_ladders
from hubbub.tables.schema import ColumnType


def table(rows: int = 3000) -> pa.Table:
    return pa.table(
        {
            "age": [i * 7 % 60 + 20 for i in range(rows)],
            "zip": [str(90000 + i * 11 % 97) for i in range(rows)],
            "born": [datetime.date(1980, 1, 1) + datetime.timedelta(days=i * 13 % 700) for i in range(rows)],
            "sex": [("f", "m")[i % 2] for i in range(rows)],
            "pay": [str(i * 31 % 5000) for i in range(rows)],
        }
    )


@pytest.mark.parametrize(
    ("spec", "holds", "reads", "steps"),
    [
        ("age", ColumnType.INTEGER, None, ("age:2", "age:5", "age:10", "age:20", "age:50")),
        ("age:10", ColumnType.INTEGER, None, ("age:20", "age:50", "age:100")),
        ("zip", ColumnType.TEXT, None, ("zip/4", "zip/3", "zip/2", "zip/1")),
        ("zip/3", ColumnType.TEXT, "numbers", ("zip/2", "zip/1")),
        ("born", ColumnType.DATE, None, ("born:month", "born:quarter", "born:year")),
        ("born:month", ColumnType.DATE, None, ("born:quarter", "born:year")),
        ("sex", ColumnType.TEXT, None, ()),
        ("pay", ColumnType.TEXT, "numbers", ("pay:50", "pay:100", "pay:200", "pay:500", "pay:1000", "pay:2000")),
    ],
)
def test_a_ladder_follows_what_a_column_holds(
    spec: str, holds: ColumnType, reads: str | None, steps: tuple[str, ...]
) -> None:
    name = spec.partition(":")[0].partition("/")[0]
    values = [str(value) for value in table().column(name).to_pylist()]
    found = ladder(spec, holds, reads, lambda _: dict.fromkeys(values, 1))
    assert found.steps == (spec, *steps, None)


def test_levels_of_a_hierarchy_are_steps(tmp_path: Path) -> None:
    (tmp_path / "icd.csv").write_text("C50;breast;cancer;any\nJ45;asthma;lung;any\n")
    found = ladder(f"d@{tmp_path}/icd.csv/1", ColumnType.TEXT, None, lambda _: {"cancer": 1})
    assert found.steps == (*(f"d@{tmp_path}/icd.csv/{level}" for level in (1, 2, 3)), None)


def test_a_search_ends_where_no_column_can_be_finer() -> None:
    ladders = [Ladder(("a", "a:10", None), (4.0, 2.0, 0.0)), Ladder(("b", None), (1.0, 0.0))]
    shares = {(): 1.0, ("b",): 0.95, ("a:10",): 0.97, ("a:10", "b"): 0.92, ("a",): 0.6, ("a", "b"): 0.1}
    assert search_ladders(ladders, shares.__getitem__, 0.9) == (("a:10", "b"), [("a", "b")])
    assert search_ladders(ladders, shares.__getitem__, 0.96) == (("a:10",), [("a",), ("a:10", "b")])
    assert search_ladders(ladders, shares.__getitem__, 0.99) == ((), [("a:10",), ("b",)])
    assert search_ladders(ladders, shares.__getitem__, 0.05) == (("a", "b"), [])


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_wide_records_are_made_coarse_on_a_public_table(form: str, tmp_path: Path) -> None:
    public: object = table()
    if form == "csv":
        public = tmp_path / "last-year.csv"
        rows = [",".join(map(str, row.values())) for row in table().to_pylist()]
        (tmp_path / "last-year.csv").write_text("\n".join([",".join(table().column_names), *rows]))
    found = coarsenings(["age,zip,born,sex,pay"], public=public, crowd=10, keep="0.9", search=True)
    given, best, *beyond = found.rows
    assert (given.columns, given.share, given.enough) == ("age,zip,born,sex,pay", 0.0, False)
    assert best.enough
    assert best == found.best
    assert beyond
    assert not any(row.enough for row in beyond)


def test_one_list_is_searched() -> None:
    with pytest.raises(WrongUse, match="begins with one list"):
        coarsenings(["age", "zip"], public=table(), crowd=10, search=True)
