"""The figures of the benchmarks' page come from runs, and a run touches its own part alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.__main__ import PARTS

PAGE = """# Page

Words of one.

<!-- figures: one -->
old
<!-- end of one -->

Words of two.

<!-- figures: two -->
kept
<!-- end of two -->
"""


def printed(*rows: dict[str, object]) -> str:
    return "\n".join(["not a row", *map(json.dumps, rows)])


def test_a_run_replaces_its_own_figures_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(PAGE)
    figures.write("one", printed({"task": "a", "cpu": 0.5, "limit": 0.4}, {"task": "b", "ratio": 1.25}), "today", page)
    assert page.read_text() == PAGE.replace(
        "old",
        "*today.*\n\n| task | cpu | limit | ratio |\n|---|---|---|---|\n| a | 0.5 | 0.4, missed |  |\n| b |  |  | 1.25 |",
    )
    before = page.read_text()
    figures.write("three", printed({"task": "a"}), "today", page)
    assert page.read_text() == before


def test_a_run_without_figures_leaves_those_that_are_there(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(PAGE)
    figures.write("one", printed(), "today", page)
    assert page.read_text() == PAGE


def test_numbers_are_short_and_bars_are_no_columns() -> None:
    assert figures.section([{"task": "a|b", "rows": 12345, "met": True}], "now").endswith("| a\\|b | 12,345 | True |")


def test_what_no_row_has_is_no_column() -> None:
    shown = figures.section([{"task": "a", "peer": None, "cpu": 1.0}, {"task": "b", "peer": None, "cpu": 2.0}], "now")
    assert "| task | cpu |" in shown


def test_where_it_ran_is_said() -> None:
    told = figures.machine()
    assert "load of" in told
    assert "DuckDB" in told


@pytest.mark.parametrize("name", [part.name for part in PARTS])
def test_each_part_has_its_place_on_the_page(name: str) -> None:
    page = figures.README.read_text()
    assert page.count(f"<!-- figures: {name} -->") == page.count(f"<!-- end of {name} -->") == 1
