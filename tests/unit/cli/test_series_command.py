"""``hubbub series``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from hubbub.cli.main import commands


def test_a_plan_lists_the_ways_best_first() -> None:
    told = CliRunner().invoke(commands, ["series", "plan", "--periods", "12", "--epsilon", "1", "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.output)
    assert found["best"] == "increments"
    assert [way["name"] for way in found["ways"]] == ["increments", "own noise per table"]
    assert all({"name", "sd_total", "sd_increment", "delta"} <= way.keys() for way in found["ways"])
    read = CliRunner().invoke(commands, ["series", "plan", "--periods", "12", "--epsilon", "1"])
    assert "Best: increments" in read.output
    assert "charged once" in read.output


def test_a_sentence_about_rows_does_not_end_with_an_option_of_joins(tmp_path: Path) -> None:
    """`--on` is what `--one-row-per-person` begins with, and no more than that."""
    (tmp_path / "visits.csv").write_text("patient,ward\n" + "".join(f"p{row // 2},A\n" for row in range(80)))
    words = ["--by", "ward=A", "--person", "patient", "--periods", "12", "--first", "2026-01", "--epsilon", "1"]
    told = CliRunner().invoke(commands, ["series", "start", "visits", str(tmp_path / "visits.csv"), *words])
    assert told.exit_code == 3, told.output
    assert told.stderr.endswith("; nothing was charged\n")
