"""How exact a release will be is said of every statistic, from what is declared alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.kinds.series.request import from_options
from hubbub.ledger.ledger import Ledger
from hubbub.plan.invented import how_exact
from hubbub.tables.schema import ColumnType, Schema

SCHEMA = Schema({"id": ColumnType.TEXT, "town": ColumnType.TEXT, "age": ColumnType.INTEGER, "pay": ColumnType.INTEGER})
BY: dict[str, Any] = {"by": ["town=a,b"], "epsilon": "1"}
PAY: dict[str, Any] = {"of": "pay:0..1000:10", **BY}
CASES: dict[str, dict[str, Any]] = {
    "histogram": BY,
    "count": {"where": "age >= 65", "epsilon": "1"},
    "fraction": {"where": "age >= 65", **BY},
    "sum": PAY,
    "mean": PAY,
    "variance": PAY,
    "std": PAY,
    "quantile": {"q": "0.5", **PAY},
    "ratio": {"per": "age:0..100:1", **PAY},
    "summary": {"number": ["people", "mean pay:0..1000:10"], **BY},
    "cube": {"by": ["town=a,b", "age:0..90:30"], "epsilon": "1"},
    "queries": {"columns": ["age:0..90:30"], "class": "intervals", "epsilon": "1"},
    "synthetic": {"columns": ["town=a,b", "age:0..90:30"], "epsilon": "1", "delta": "1e-6", "size": "100"},
    "records": {"columns": "age:10,town", "crowd": "20"},
    "points": {"columns": "age,pay", "box": "0..100,0..1000", "grid": "10,100", "crowd": "20", "epsilon": "1"},
}


@pytest.mark.parametrize("kind", CASES)
def test_every_statistic_says_how_exact_it_is_and_says_the_same_again(kind: str) -> None:
    spec = registry.kind(kind).ask(person="id", **CASES[kind]).with_schema(SCHEMA)
    first = how_exact(spec, SCHEMA)
    assert first is not None
    assert str(first)
    assert first == how_exact(spec, SCHEMA)


def test_less_epsilon_is_less_exact() -> None:
    one, tenth = (
        how_exact(registry.kind("sum").ask(person="id", **PAY | {"epsilon": each}).with_schema(SCHEMA), SCHEMA)
        for each in ("1", "0.1")
    )
    assert one is not None
    assert tenth is not None
    assert tenth.reach[0][1] > 5 * one.reach[0][1]


def test_a_series_says_it_too() -> None:
    words = {"name": "s", "kind": "histogram", "periods": 4, "first": "2026-01", "person": "id", "rows_per_person": 3}
    found = how_exact(from_options(**words, **BY).with_schema(SCHEMA), SCHEMA)
    assert found is not None
    assert {name for name, _ in found.reach} == {"increment", "total"}


def test_a_dry_run_of_a_mean_says_it_and_reads_no_row(tmp_path: Path) -> None:
    told = []
    for rows in (10, 500):
        file = tmp_path / f"{rows}.csv"
        file.write_text("id,town,pay\n" + "".join(f"p{i},a,{i}\n" for i in range(rows)))
        words = [
            "release",
            "mean",
            str(file),
            "--person",
            "id",
            "--of",
            "pay:0..1000:10",
            "--by",
            "town=a,b",
            "--epsilon",
            "1",
        ]
        words += ["--dataset", "people", "--out", str(tmp_path / "o"), "--dry-run"]
        assert "How exact: tried on 2,000 invented people" in " ".join(
            CliRunner().invoke(commands, words).output.split()
        )
        told.append(json.loads(CliRunner().invoke(commands, [*words, "--json"]).stdout)["how_exact"])
    assert told[0] == told[1]
    assert not Ledger().accounts()
