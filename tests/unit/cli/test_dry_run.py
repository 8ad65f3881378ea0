"""``--dry-run`` of every kind: says what a release would be, reads no row, draws nothing, enters nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.demo import addresses, millbrook
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource

KINDS = [name for name in registry.names() if registry.kind(name).data == "table"]


@pytest.fixture(autouse=True)
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the examples of the help name."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "hubbub-demo"
    folder.mkdir()
    parquet.write_table(millbrook.people(), folder / "millbrook.parquet")
    addresses.write(folder)
    (folder / "questions.toml").write_text(millbrook.QUESTIONS)


def run(*words: str) -> Result:
    return CliRunner().invoke(commands, words, catch_exceptions=False)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_tried_without_reading_drawing_or_spending(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def drawn(*_: object) -> None:
        raise AssertionError("a dry run draws nothing")

    monkeypatch.setattr(SystemSource, "words", drawn, raising=True)
    lines = [shlex.split(line)[1:] for line in registry.kind(name).examples]
    first = next(i for i, line in enumerate(lines) if line[0] != "describe")
    assert all(run(*line).exit_code == 0 for line in lines[:first])
    example = lines[first]
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run(*example, "--dry-run")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("✓ This can be published: ")
    assert "Promise (" in done.stdout
    assert "this would be release 1 of" in done.stdout
    assert Ledger().accounts() == {}
    told = json.loads(run(*example, "--dry-run", "--json").stdout)
    assert told["dry_run"] is True
    assert told["earlier_releases"] == 0
    assert told["guarantees"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_dry_run_refuses_what_the_ledger_would_refuse_and_names_what_is_weak() -> None:
    table = ("release", "histogram", "hubbub-demo/millbrook.parquet", "--person", "resident", "--out", "o")
    assert run("ledger", "policy", "millbrook", "--differential-epsilon", "0.5").exit_code == 0
    refused = run(*table, "--by", "department=Mill,Roads", "--epsilon", "1", "--dry-run")
    assert refused.exit_code == 3
    weak = run(*table, "--dataset", "other", "--by", "department=Mill,Roads", "--epsilon", "9", "--dry-run")
    assert weak.exit_code == 0
    assert "Weak: epsilon" in " ".join(weak.stdout.split())
