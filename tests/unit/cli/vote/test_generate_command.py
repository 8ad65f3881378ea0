"""``hubbub vote generate``: its examples run, its files are counted, a seed repeats them, and they say what they are."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.cli.vote.questions import generate
from tests.unit.cli.answers import one_object, one_sentence

LUCE = "generate --model plackett-luce --weights 3,2,1 --voters 90 --candidates 3 --seed 5"


def run(line: str) -> Result:
    return CliRunner().invoke(commands, ["vote", *shlex.split(line)], catch_exceptions=False)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_examples_of_the_help_run_and_are_counted() -> None:
    lines = [line.strip() for line in (generate.epilog or "").splitlines() if line.strip().startswith("hubbub vote ")]
    assert len(lines) == 3
    for line in lines:
        done = run(line.removeprefix("hubbub vote "))
        assert done.exit_code == 0, done.output
        assert "nvented" in done.stdout
        words = shlex.split(line)
        counted = one_object(run(f"tally {words[words.index('--out') + 1]} --rule instant-runoff --json"))
        assert counted["ballots"]["voters"] == 1000


@pytest.mark.parametrize("ending", ["soc", "soi"])
def test_a_seed_repeats_the_file_and_the_file_says_that_it_is_invented(ending: str) -> None:
    name = f"study.{ending}"
    answer = one_object(run(f"{LUCE} --out {name} --json"))
    first = Path(name).read_bytes()
    assert run(f"{LUCE} --out {name}").exit_code == 0
    assert Path(name).read_bytes() == first
    title = "Invented ballots for study, nobody cast them: plackett-luce, weights 3, 2, 1, seed 5"
    assert f"# TITLE: {title}\n# DATA TYPE: {ending}\n" in first.decode()
    assert answer == {"invented": True, "title": title, "voters": 90, "candidates": 3, "orders": 6, "file": name}
    assert title in run(f"tally {name}").output


def test_the_help_says_that_nobody_cast_these_ballots() -> None:
    said = " ".join(run("generate --help").stdout.split())
    assert "Invent ballots, for study only" in said
    assert "Nobody cast these ballots" in said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"{LUCE} --out study.csv", "invented ballots are written to .soc or .soi files"),
        (f"{LUCE} --out nowhere/study.soc", "the ballots cannot be written"),
        (LUCE, "--out"),
        (f"{LUCE} --phi 1/2 --out study.soc", "--phi belongs to mallows, not to plackett-luce; leave it out"),
        ("generate --model urn --voters 9 --candidates 3 --seed 1 --out study.soc", "urn"),
        ("generate --model mallows --voters 9 --candidates 3 --seed 1 --out study.soc", "mallows needs --phi"),
    ],
)
def test_a_wrong_use_is_one_sentence(line: str, says: str) -> None:
    one_sentence(run(line), 2, says)
    assert not Path("study.soc").exists()
