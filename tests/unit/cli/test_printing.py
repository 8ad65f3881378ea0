"""What reaches a terminal: no word of a stranger acts on it (threat 49), and one that shows only ASCII shows all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from hubbub.cli import display
from hubbub.cli.main import commands
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.reading import Reading

ESC, CSI, BELL, TURN = chr(27), chr(0x9B), chr(7), chr(0x202E)
ACTING = f"{ESC}[2J{ESC}]0;title{BELL}{CSI}31m{TURN}\r"
LABEL = f"Bath{ACTING}\nhubbub: all is well"
COLUMN = f"town{ACTING}s"
SPELT = "Bath\\u001b[2J\\u001b]0;title\\u0007\\u009b31m\\u202e\\u000d\\u000ahubbub: all is well"


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words], catch_exceptions=False)


def unspelt(text: str) -> list[str]:
    """The signs that a terminal might obey."""
    return [sign for sign in text if not sign.isprintable() and sign != "\n"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A release whose labels and columns act, with its folder."""
    pq.write_table(pa.table({COLUMN: [LABEL] * 30 + ["York"] * 25}), tmp_path / "people.parquet")
    done = run(
        "release",
        "histogram",
        tmp_path / "people.parquet",
        "--rows-are-people",
        "--by",
        COLUMN,
        "--crowd",
        20,
        "--out",
        tmp_path / "o",
    )
    assert done.exit_code == 0, done.output
    assert unspelt(done.output) == []
    assert "hubbub: all is well" not in [line.strip() for line in done.output.splitlines()]
    assert "\\u001b[2J" in done.stdout
    return tmp_path / "o"


def test_a_stranger_is_spelt_out() -> None:
    assert display(LABEL) == SPELT
    assert display("plain, é, 漢 and ✓") == "plain, é, 漢 and ✓"


@pytest.mark.parametrize("command", ["verify", "explain"])
def test_what_reads_certificates_lets_nothing_act(command: str, out: Path) -> None:
    for more in (("--explain",) * (command == "verify"), ("--json",)):
        done = run(command, out / "certificate.json", *more)
        assert done.exit_code == 0, done.output
        assert unspelt(done.output) == []
        assert "\\u001b[2J" in done.output


def test_the_ledger_lets_nothing_act(out: Path) -> None:
    for words in (("people",), (), ("people", "--json")):
        done = run("ledger", "show", *words)
        assert done.exit_code == 0, done.output
        assert unspelt(done.output) == []
    assert "histogram by town\\u001b[2J" in run("ledger", "show", "people").stdout


def test_json_says_the_same_word(out: Path) -> None:
    told = json.loads(run("ledger", "show", "people", "--json").stdout)
    assert told["releases"][0]["what"] == f"histogram by {COLUMN}"


def test_a_tally_lets_nothing_act(monkeypatch: pytest.MonkeyPatch) -> None:
    ballots = Ballots.from_counts((LABEL, "b", "c"), {(LABEL, "b"): 2, ("b", "c"): 1, ("c", "b"): 1})
    read = BallotFile(ballots=ballots, format="invented", title=LABEL, reading=Reading())
    monkeypatch.setattr(
        "hubbub.cli.vote.command.read_ballots", lambda *_: read
    )  # our own readers refuse most of these signs
    for rule in ("instant-runoff", "repeated-plurality", "random-dictator"):
        for more in ((), ("--compare",), ("--json",)):
            done = run("vote", "tally", "file", "--rule", rule, *more)
            assert done.exit_code == 0, done.output
            assert unspelt(done.output) == []
            assert "\\u001b[2J" in done.output
            assert "hubbub: all is well" not in [line.strip() for line in done.output.splitlines()]


def test_an_error_lets_nothing_act(tmp_path: Path) -> None:
    for words in (
        ["release", "histogram", f"none{ESC}[2J.csv", "--rows-are-people", "--by", "x", "--out", tmp_path],
        [f"no{ESC}[2Jsuch"],
    ):
        done = run(*words)
        assert done.exit_code == 2
        assert unspelt(done.output) == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_shows_few_signs_is_told_everything(encoding: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"town": ["Zürich ✓"] * 30 + ["漢字"] * 25}), tmp_path / "people.parquet")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": encoding}

    def told(*words: object) -> str:
        command = [sys.executable, "-c", "from hubbub.cli.main import main; main()", *map(str, words)]
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
        return done.stdout.decode(encoding)

    published = told(
        "release",
        "histogram",
        tmp_path / "people.parquet",
        "--rows-are-people",
        "--by",
        "town",
        "--crowd",
        20,
        "--out",
        tmp_path / "o",
    )
    checked = told("verify", tmp_path / "o" / "certificate.json")
    if encoding == "utf-8":
        assert "Zürich ✓" in published
        assert checked.startswith("✓ The certificate holds")
    else:
        assert ("Z\\xfcrich ok" if encoding == "ascii" else "Zürich ok") in published
        assert "\\u6f22\\u5b57" in published
        assert checked.startswith("ok The certificate holds")
    answer = json.loads(told("vote", "tally", "millbrook", "--json"))
    assert answer["winner"] == "Ada Bell"
    assert json.loads(told("channel", "profile", "--channel", "geometric", "--epsilon", 1, "--counts", 1, "--json"))
