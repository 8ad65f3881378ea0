"""``hubbub series``."""

from __future__ import annotations

import json

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
