"""``hubbub vote publish``: from ballots and the official record to files that verify, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.cli.vote.publish import publish
from hubbub.kinds.ballots.request import KIND


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(commands, [str(arg) for arg in args], catch_exceptions=False)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "count.json"
    assert run("vote", "tally", "millbrook", "--as", "oakland", "--record", path).exit_code == 0
    return path


def test_the_options_are_those_of_the_kind() -> None:
    taken = {param.name: param for param in publish.params}
    for option in KIND.options:
        default = taken[option.name].to_info_dict()["default"]  # None where none is set
        assert default == (False if option.metavar is None else option.default)


def test_what_is_written_verifies_and_stands_beside_the_record(record: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("vote", "publish", "millbrook", "--official", record, "--out", out, "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["paths_shown"] == len((out / "release.csv").read_text().splitlines()) - 1
    assert told["winner"] == "Ada Bell"
    assert {each["notion"] for each in told["guarantees"]} >= {"crowd-blending", "differential"}
    assert {(each["people"], each["unit"]) for each in told["guarantees"]} == {("ballots", "ballot")}
    assert not any("total" in key or "share" in key for key in told if key != "round-totals")
    check = run("verify", out / "certificate.json", "--official", record, "--explain")
    assert check.exit_code == 0, check.stderr
    assert "the official record: is the one that was given" in check.stdout
    other = tmp_path / "other.json"
    other.write_text('{"rounds": [{"counts": {"Ada Bell": 3, "Ben Cole": 2}}], "winner": "Ada Bell"}')
    assert run("verify", out / "certificate.json", "--official", other).exit_code == 4
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "flow wide" in page
    assert "The official round totals by themselves show" in page
    shown = run("ledger", "show", "millbrook").stdout
    assert "ballots by their way through the official rounds" in shown


def test_a_changed_table_is_noticed(record: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["vote", "publish", "millbrook", "--official", record, "--out", out]
    assert run(*words).exit_code == 0
    again = run(*words)
    assert (again.exit_code, again.stderr.rstrip().endswith("or add --replace")) == (2, True)
    replaced = run(*words, "--replace")
    assert replaced.exit_code == 0, replaced.stderr
    assert "\\u" not in replaced.stdout
    file = out / "release.csv"
    file.write_text(file.read_text().replace("finalist", "exhausted", 1))
    assert run("verify", out / "certificate.json").exit_code == 4


def test_another_reading_is_refused_for_the_steward_alone(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("rank1,rank2\n" + "overvote,Ann\n" * 40 + "Ann,Bob\n" * 50 + "Bob,\n" * 45)
    record = tmp_path / "r.json"
    words = ["--rule", "instant-runoff", "--overvotes"]
    assert run("vote", "tally", tmp_path / "b.csv", *words, "skip", "--record", record).exit_code == 0
    args = ["vote", "publish", tmp_path / "b.csv", "--official", record, "--out", tmp_path / "out", "--overvotes"]
    done = run(*args, "stop")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "do not add up to the official totals" in done.stderr
    assert run(*args, "skip").exit_code == 0


@pytest.mark.parametrize(
    ("more", "code", "why"),
    [
        ([], 2, "add --official FILE"),
        (["--official", "nowhere.json"], 2, "cannot be read"),
        (["--official", __file__], 2, "no JSON"),
    ],
)
def test_mistakes_are_one_sentence(more: list[str], code: int, why: str, tmp_path: Path) -> None:
    done = run("vote", "publish", "millbrook", "--out", tmp_path / "out", *more)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (code, "", 1), done.output
    assert why in done.stderr


def test_it_is_no_command_of_release() -> None:
    assert "ballots" not in run("release", "--help").stdout
    assert run("release", "ballots", "x").exit_code == 2


def _club(folder: Path, voters: int) -> tuple[Path, Path]:
    """A club of so many, and its official record; nobody has more than a quarter of the first choices."""
    rows = ["Ann,Bob", "Bob,Ann", "Cid,Ann", "Dan,Bob"] * (voters // 4)
    file, record = folder / "club.csv", folder / "count.json"
    file.write_text("\n".join(["rank1,rank2", *rows]) + "\n")
    assert run("vote", "tally", file, "--rule", "instant-runoff", "--dice", "swans", "--record", record).exit_code == 0
    return file, record


def test_a_table_that_can_show_nothing_is_told_before_and_said_to_be_empty_after(tmp_path: Path) -> None:
    """116 voters, 29 first choices each: no way can have the 30 ballots of k, whatever is drawn."""
    file, record = _club(tmp_path, 116)
    words = ["vote", "publish", file, "--official", record, "--out", tmp_path / "out"]
    before = run(*words)
    assert (before.exit_code, before.stdout, (tmp_path / "out").exists()) == (2, "", False)
    assert "hardly anything will be shown, because k = 30 is above the official first choices" in before.stderr
    assert "choose a smaller --k" in before.stderr
    done = run(*words, "--yes")
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "No way is shown, because none has what k = 30 asks for. This table is out" in told
    assert "would be ahead" not in told
    assert "0 ways" not in told
    assert run("verify", tmp_path / "out" / "certificate.json").exit_code == 0


def test_that_few_ways_can_be_shown_is_told_from_the_record_alone(tmp_path: Path) -> None:
    file, record = _club(tmp_path, 240)
    words = ["vote", "publish", file, "--official", record, "--out", tmp_path / "out"]
    assert "at most about 4 ways can have k = 30 ballots" in run(*words).stderr
    assert "at most about" not in run(*words, "--k", "22", "--sample", "0.49", "--noisy").stderr
