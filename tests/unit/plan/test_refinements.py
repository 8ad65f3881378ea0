from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.plan import coarsenings, refinements


def survived(*by: str, **words: Any) -> dict[tuple[str, ...], tuple[int, int, bool]]:
    return {row.columns: (row.cells, row.published, row.survives) for row in refinements(by, **words).rows}


def test_even_people_survive_until_a_cell_has_fewer_than_a_crowd() -> None:
    words: dict[str, Any] = {"people": 1000, "shape": "even"}
    assert survived("a~10", "b~10", crowd=10, **words)["a", "b"] == (100, 100, True)
    assert survived("a~10", "b~10", crowd=11, **words) == {
        ("a",): (10, 10, True),
        ("b",): (10, 10, True),
        ("a", "b"): (100, 0, False),
    }
    assert survived("a~10", "b~10", crowd=10, sample="0.5", **words)["a", "b"] == (100, 0, False)


def test_a_public_table_is_counted_and_scaled(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"] * 6 + ["y"] * 2, "b": [True] * 7 + [False]}), tmp_path / "last.parquet")
    file = str(tmp_path / "last.parquet")
    assert survived("a", "b", public=file, crowd=2) == {
        ("a",): (2, 2, True),
        ("b",): (3, 1, False),  # true, false, missing
        ("a", "b"): (3, 1, False),
    }
    assert survived("a", "b", public=file, crowd=2, people=80)["a", "b"] == (3, 3, True)


def test_noise_alone_tells_cells_beyond_its_reach() -> None:
    found = refinements(["a~10", "b~10"], epsilon=1, people=1000, shape="even")
    both = found.rows[-1]
    assert (both.least, both.survives) == (8, True)  # 100 numbers are all within 7 with a chance of 95 %
    assert not refinements(["a~10", "b~10"], epsilon="0.1", people=1000, shape="even").rows[-1].survives
    assert found.best is not None
    assert found.best.columns == ("a", "b")


@pytest.mark.parametrize(
    ("by", "words", "told"),
    [
        (["a~2"], {"crowd": 5, "people": 9}, "2 to 10 columns"),
        (["a~2", "b~2"], {"people": 9}, "either"),
        (["a~2", "b~2"], {"crowd": 5}, "how many people"),
        (["a", "b~2"], {"crowd": 5, "people": 9}, "write a~12"),
        (["a~2", "a~2"], {"crowd": 5, "people": 9}, "used once"),
        (["a~9999", "b~9999"], {"crowd": 5, "people": 9}, "at most 10,000,000"),
        (["a~2", "b~2"], {"crowd": 5, "people": 9, "shape": "round"}, "even, zipf"),
        (["a~2", "b~2"], {"crowd": 5, "people": 9, "keep": 2}, "`keep` must lie"),
        (["a~2", "b~2"], {"crowd": 5, "people": 9, "sample": 2}, "`sample` must lie"),
    ],
)
def test_wrong_questions_get_one_sentence(by: list[str], words: dict[str, Any], told: str) -> None:
    with pytest.raises(WrongUse) as error:
        refinements(by, **words)
    assert told in error.value.marked


def test_the_command_tells_the_same() -> None:
    words = ["plan", "cube", "--by", "a~10", "--by", "b~10", "--people", "1000", "--crowd", "11", "--shape", "even"]
    told = json.loads(CliRunner().invoke(commands, [*words, "--json"]).stdout)
    assert told["best"] == ["b"] or told["best"] == ["a"]
    assert told["refinements"][-1]["survives"] is False
    said = CliRunner().invoke(commands, words)
    assert "The finest that survives is by a" in said.stdout
    assert "people told" in said.stdout


# --- records ------------------------------------------------------------------------------------------------------


@pytest.fixture
def last_year(tmp_path: Path) -> str:
    table = pa.table({"age": [20 + i % 20 for i in range(200)], "well": [i % 3 > 0 for i in range(200)]})
    pq.write_table(table, tmp_path / "last.parquet")
    return str(tmp_path / "last.parquet")


def test_the_finest_function_that_keeps_enough_is_told(last_year: str) -> None:
    lists = ["age,well", "age:10,well", "age:100"]
    found = coarsenings(lists, public=last_year, crowd=20)
    assert [(row.records, row.enough) for row in found.rows] == [(0, False), (4, True), (1, True)]
    assert found.best is not None
    assert found.best.columns == "age:10,well"
    assert not any(row.enough for row in coarsenings(lists[:2], public=last_year, crowd=20, sample="0.1").rows)
    assert coarsenings(lists, public=last_year, crowd=20, people=20_000).best == found.rows[0].__class__(
        columns="age,well", records=40, share=1.0, enough=True
    )


def test_the_command_for_records_tells_the_same(last_year: str) -> None:
    words = ["plan", "records", "--columns", "age", "--columns", "age:10", "--public", last_year, "--crowd", "20"]
    assert json.loads(CliRunner().invoke(commands, [*words, "--json"]).stdout)["best"] == "age:10"
    assert "age:10 tells most" in CliRunner().invoke(commands, words).stdout
    for wrong in (words[:2] + words[6:], words[:6] + words[8:], [*words, "--keep", "2"], [*words, "--columns", "no"]):
        done = CliRunner().invoke(commands, wrong)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output
