"""The examples of the README and the documentation run as they stand: Python, and commands in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.demo import gossip, millbrook

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = ROOT / "docs" / "tutorials"
WALKS = [  # their commands run in order
    ROOT / "README.md",
    TUTORIALS / "graphs.md",
    TUTORIALS / "means-and-shares.md",
    ROOT / "docs" / "how-to" / "many-questions.md",
]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{i}")
    for page in PAGES
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
]


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_runs(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    parquet.write_table(millbrook.people(), tmp_path / "hubbub-demo" / "millbrook.parquet")  # what the demo leaves
    exec(compile(block, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", WALKS, ids=lambda page: page.name)
def test_the_commands_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in a block of text below a command must be in what the command prints."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    millbrook.publish(tmp_path / "hubbub-demo")  # what the demo leaves
    gossip.write(tmp_path / "hubbub-demo")
    run, said = 0, ""
    for language, block in blocks:
        if language == "text":
            assert all(line in said for line in block.splitlines()), said
        for line in block.splitlines() if not language else ():
            if line.startswith("hubbub "):
                done = CliRunner().invoke(commands, shlex.split(line, comments=True)[1:], catch_exceptions=False)
                assert done.exit_code == 0, (line, done.stderr)
                assert done.stdout, line
                run, said = run + 1, done.stdout
    assert run >= 5


def _run(lines: list[str]) -> None:
    for line in lines:
        done = CliRunner().invoke(commands, shlex.split(line, comments=True)[1:], catch_exceptions=False)
        assert done.exit_code == 0, (line, done.stderr)
        assert done.stdout, line


def test_the_club_election_takes_five_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "tutorials" / "club-election.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (export,) = [block for language, block in blocks if language == "csv"]
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    assert len(lines) == 5
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club.csv").write_text(export, encoding="utf-8")
    first = CliRunner().invoke(commands, shlex.split(lines[0])[1:], catch_exceptions=False)
    assert '--alias "BOB ROY=Bob Roy"' in first.stderr  # the note that the page promises
    _run(lines)
    page = (tmp_path / "results.html").read_text(encoding="utf-8")
    assert "three swans on the river" in page
    assert "<svg" in page


def test_the_commands_about_elections_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "elections.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    assert len(lines) >= 5
    monkeypatch.chdir(tmp_path)
    _run(lines)
