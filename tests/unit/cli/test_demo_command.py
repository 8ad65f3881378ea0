"""``hubbub demo``: the tables, the JSON, the files, and the commands that it tells to try next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.demo import millbrook, salaries
from hubbub.errors import WrongUse
from hubbub.ledger import Ledger, Policy


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["demo", *args], catch_exceptions=False)


TOWN = ["millbrook.parquet", "release.csv", "certificate.json", "datapackage.json", "report.html"]
ASKED = "questions.toml"
NETWORK = ["friends.csv", "votes.html", *(f"network/{name}" for name in TOWN[1:]), "places.csv", "democrats.html"]


def test_the_demo_writes_its_files_and_one_object(tmp_path: Path) -> None:
    folder = tmp_path / "a new" / "demo"
    result = run("--out", str(folder), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1
    answer = json.loads(result.stdout)
    assert (answer["employees"], answer["managers"], answer["candidates"]) == (9900, 100, 40)
    assert answer["chart"] == str(folder / "salaries.html")
    assert answer["files"] == [str(folder / name) for name in (*TOWN, "salaries.html", "salaries.svg", *NETWORK)]
    assert all(Path(file).stat().st_size > (100 if file.endswith(".csv") else 1000) for file in answer["files"])
    friends = answer["friends"]
    assert [each["of"] for each in friends["answers"]] == ["average-degree"]
    assert friends["guessed"]["sampled"] + 0.2 < friends["guessed"]["private"] <= friends["guessed"]["exact"]
    assert friends["guarantees"][0]["aggregate"] == "RSN(77, 1)"
    chart = Path(friends["chart"]).read_text(encoding="utf-8")
    assert ("<svg" in chart, "<script" in chart, "http://" in chart) == (True, False, False)
    numbers = answer["democrats"]["numbers"]
    told = [f"{numbers[name]:.4f}" for name in ("bound_0.1", "exact_0.1", "bound_0.01", "exact_0.01", "random_1000")]
    assert told == ["0.7990", "0.8998", "0.5805", "0.7223", "0.5590"]
    town = answer["millbrook"]
    assert (town["residents"], town["rows_published"] + town["rows_suppressed"]) == (40_000, town["bins"])
    written = [file for file in answer["files"] if not file.endswith("datapackage.json")]
    assert [town[key] for key in ("table", "release", "certificate", "report")] == written[:4]
    assert (answer["open_first"], "<svg" in Path(town["report"]).read_text(encoding="utf-8")) == (town["report"], True)
    assert [row["mechanism"] for row in answer["rows"]] == [m.title for m in salaries.MECHANISMS]
    keys = {"channel", "parameters", "promise", "attack", "error", "error_rare", "error_large", "right", "verdict"}
    assert all(keys <= set(row) for row in answer["rows"])
    assert (folder / "salaries.svg").read_bytes().startswith(b"<svg ")
    page = (folder / "salaries.html").read_text(encoding="utf-8")
    assert "Plain noise gives the managers" in page
    assert 'src="http' not in page
    assert "<script" not in page
    assert len(answer["try_next"]) == 3
    for command in answer["try_next"]:
        name, *words = shlex.split(command)
        tried = CliRunner().invoke(commands, words, catch_exceptions=False)
        assert (name, tried.exit_code) == ("hubbub", 0), tried.stderr


def test_the_terminal_tells_the_story_without_any_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.charts.chart.find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    shown = run("--out", "demo")
    assert shown.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == sorted(
        (
            *TOWN,
            "ledger",
            "publisher.key",
            "friends.csv",
            "votes.html",
            "network",
            "places.csv",
            "democrats.html",
            ASKED,
            "hubbub.toml",
            "salaries.html",
            "salaries.svg",
        )
    )
    assert "Open demo/report.html first" in shown.stdout
    assert "Then open demo/salaries.html" in " ".join(shown.stdout.split())
    assert "Promised, (20, 0)-crowd-blending: Everybody in the table either blends" in " ".join(shown.stdout.split())
    assert "k = 20 is the crowd in the sample that this rests on." in shown.stdout
    for mechanism in salaries.MECHANISMS:
        line = next(line for line in shown.stdout.splitlines() if line.startswith(f"{mechanism.title} "))
        assert "%" in line
    assert "0.01 up to 100, 1 from 101" in shown.stdout
    lines = shown.stdout.splitlines()
    check = next(line for line in lines if line.startswith("  hubbub verify "))
    assert CliRunner().invoke(commands, shlex.split(check)[1:]).exit_code == 0, check
    assert max(len(line) for line in lines if not line.startswith("  hubbub ")) <= 80
    assert [line.split()[1:3] for line in lines[-3:]] == [*2 * [["release", "histogram"]], ["graph", "release"]]
    assert "are guessed from the private counts" in " ".join(lines)


def test_a_folder_that_cannot_be_made_is_said_before_anything_else(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    result = run("--out", str(tmp_path / "taken"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("hubbub: --out must be a folder")


def test_a_ledger_in_the_folder_that_is_no_demos_own_stays(tmp_path: Path) -> None:
    """A steward's ledger lay in X/ledger, and hubbub demo --out X removed it, and with it what had been spent."""
    ledger = Ledger(tmp_path / "ledger" / "ledger.db")
    ledger.set_policy("patients", Policy())
    before = {path.name: path.read_bytes() for path in (tmp_path / "ledger").iterdir()}
    refused = run("--out", str(tmp_path))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("hubbub: --out must be a new or an empty folder")
    (tmp_path / "publisher.key").write_text(ledger.public_key())  # not even beside a key that fits
    assert run("--out", str(tmp_path)).exit_code == 2
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "ledger").iterdir()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger", "publisher.key"]


@pytest.mark.parametrize("planted", ["friends.csv", "ledger/ledger.db", "ledger/notes.txt", "notes.txt"])
def test_nothing_that_lies_in_the_folder_is_written_over(tmp_path: Path, planted: str) -> None:
    (tmp_path / planted).parent.mkdir(exist_ok=True)
    (tmp_path / planted).write_text("mine")
    assert run("--out", str(tmp_path)).exit_code == 2
    assert (tmp_path / planted).read_text() == "mine"


def test_a_demo_is_played_again_in_its_own_folder_unless_it_was_used_for_other_people(tmp_path: Path) -> None:
    millbrook.publish(tmp_path)
    millbrook.check_folder(tmp_path)
    Ledger(tmp_path / "ledger" / "ledger.db").set_policy("patients", Policy())
    with pytest.raises(WrongUse, match="used for other data"):
        millbrook.publish(tmp_path)
    assert Ledger(tmp_path / "ledger" / "ledger.db").accounts()["millbrook"].records
