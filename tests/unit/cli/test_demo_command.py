"""``hubbub demo``: the table, the JSON, the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.demo import salaries


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["demo", *args], catch_exceptions=False)


def test_the_demo_writes_its_chart_and_one_object(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    result = run("--out", str(folder), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1
    answer = json.loads(result.stdout)
    assert (answer["employees"], answer["managers"], answer["candidates"]) == (9900, 100, 40)
    assert answer["chart"] == str(folder / "salaries.html")
    assert answer["files"] == [str(folder / "salaries.html"), str(folder / "salaries.png")]
    assert [row["mechanism"] for row in answer["rows"]] == [m.title for m in salaries.MECHANISMS]
    keys = {"channel", "parameters", "promise", "attack", "error", "error_rare", "error_large", "right", "verdict"}
    assert all(keys <= set(row) for row in answer["rows"])
    assert (folder / "salaries.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "salaries.html").read_text(encoding="utf-8")
    assert "Plain noise gives the managers" in page
    assert 'src="http' not in page
    assert "import(" not in page.partition("<body>")[2]


def test_without_altair_there_is_a_table_and_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.charts.available", lambda: False)
    shown = run("--out", str(tmp_path / "demo"))
    assert shown.exit_code == 0
    assert "pip install 'hubbub[charts]'" in shown.stderr
    assert not (tmp_path / "demo").exists()
    assert "Open " not in shown.stdout
    for mechanism in salaries.MECHANISMS:
        line = next(line for line in shown.stdout.splitlines() if line.startswith(f"{mechanism.title} "))
        assert "%" in line
    assert "0.01 up to 100, 1 from 101" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_without_altair_the_chart_is_null(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.charts.available", lambda: False)
    answer = json.loads(run("--out", str(tmp_path), "--json").stdout)
    assert (answer["chart"], answer["files"]) == (None, [])


def test_a_folder_that_cannot_be_made_is_said_before_anything_else(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    result = run("--out", str(tmp_path / "taken"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("hubbub: --out must be a folder")
