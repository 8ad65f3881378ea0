"""``hubbub audit``: one object with --json, exit code 4 where a claim falls, one sentence for wrong use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from tests.fresh import enter, save_over

KEYS = {"game", "depth", "determined", "verdict", "witness", "lower_bound", "claimed", "confidence", "seconds"}
WRONG_CODE = """
def pair():
    return [1] * 5, [1] * 6

def tells(rows):
    return len(rows)

def fails(rows):
    raise ValueError(f"{len(rows)} rows")
"""


def run(*args: object) -> Result:
    return CliRunner().invoke(commands, ["audit", *map(str, args)], catch_exceptions=False)


def told(*args: object, code: int = 0) -> dict[str, Any]:
    done = run(*args, "--json")
    assert done.exit_code == code, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    assert set(answer) >= KEYS
    assert answer["verdict"] in ("proved", "refuted", "undecided")
    assert (answer["verdict"] == "refuted") == (code == 4)
    return answer


def test_a_channel_is_proved_by_its_laws() -> None:
    answer = told("channel", "warped", "--curve", "1:0.01,101:1", "--counts", "1..5")
    assert (answer["verdict"], answer["depth"], answer["game"]) == ("proved", "exact", "outlier")
    assert answer["counts"] == [1, 2, 3, 4, 5]


def test_certificates_are_audited_one_by_one_and_together(tmp_path: Path) -> None:
    people = pa.table({"town": ["Bath"] * 30 + ["York"] * 8})
    for name, words in (("one", {"epsilon": 1}), ("two", {"epsilon": "0.5"}), ("crowd", {"crowd": 5})):
        save_over(enter(people).histogram(["town=Bath,York"], **words), tmp_path / name)
    one, two, crowd = (tmp_path / name / "certificate.json" for name in ("one", "two", "crowd"))
    assert told("certificate", one)["verdict"] == "proved"
    both = told("certificate", one, two)
    assert [each["claimed"] for each in both["findings"]][-1].startswith("1.5-DP")
    assert told("certificate", crowd)["game"] == "crowd-blending"
    assert run("certificate", crowd, crowd, "--json").exit_code == 0
    shown = run("certificate", one, two).stdout
    assert "to nine digits" in shown
    (tmp_path / "other.json").write_text("{}")
    for wrong in (tmp_path / "other.json", tmp_path / "none.json"):
        done = run("certificate", wrong)
        assert done.exit_code in (2, 4)
        assert done.stderr.count("\n") == 1


def test_a_table_of_laws_prints_its_smallest_witness(tmp_path: Path) -> None:
    rows = [{"people": [n], "outcomes": {str(n): "1"}} for n in range(4)]
    (tmp_path / "laws.json").write_text(json.dumps({"kinds": ["cats"], "laws": rows}))
    assert told("table", tmp_path / "laws.json", "--k", 2, code=4)["witness"]["people"] == "1 of cats"
    assert told("table", "example", "--k", 2)["verdict"] == "proved"


def test_a_function_of_a_newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_to_audit.py").write_text(WRONG_CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("tells", "fails"):
        words = ("function", f"mine_to_audit:{name}", "--neighbours", "mine_to_audit:pair", "--epsilon", 1)
        answer = told(*words, code=4)
        assert (answer["depth"], answer["confidence"]) == ("black box", "0.99")
        assert float(answer["lower_bound"]) > 1
    shown = run("function", "mine_to_audit:tells", "--neighbours", "mine_to_audit:pair", "--epsilon", 1)
    assert "Refuted" in shown.stdout
    assert shown.stderr.startswith("hubbub: mine_to_audit:tells: the claim (epsilon 1) is refuted")


def test_an_outlier_game_takes_a_curve() -> None:
    words = (
        "function",
        "hubbub.audit.examples:bath",
        "--neighbours",
        "hubbub.audit.examples:pair",
        "--game",
        "outlier",
    )
    answer = told(*words, "--epsilon", 1, "--curve", "1:0.1,101:1", "--crowd", 13, "--runs", 2000, code=4)
    assert answer["claimed"] == "epsilon 0.1"
    assert run(*words, "--epsilon", 1, "--curve", "1:0.1").exit_code == 2


def test_files_are_subtracted_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("town,sex,count\nBath,F,30\nBath,M,\n")
    (tmp_path / "b.csv").write_text("town,count\nBath,33\n")
    answer = told("releases", tmp_path / "a.csv", tmp_path / "b.csv", "--k", 10, code=4)
    (cell,) = answer["determined"]
    assert set(cell) == {"table", "key", "low", "high", "because"}
    assert (cell["low"], cell["key"]) == (3, {"town": "Bath", "sex": "M"})
    shown = run("releases", tmp_path / "a.csv", tmp_path / "b.csv", "--k", 10).stdout
    assert "33 - 30 = 3" in shown
    assert told("releases", tmp_path / "a.csv", "--k", 10)["verdict"] == "proved"


def test_labels_of_published_files_do_not_act_on_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("town,sex,count\nBath\x1b[2J,F,30\nBath\x1b[2J,M,\n")
    (tmp_path / "b.csv").write_text("town,count\nBath\x1b[2J,33\n")
    done = run("releases", tmp_path / "a.csv", tmp_path / "b.csv", "--k", 10)
    assert "\x1b" not in done.stdout + done.stderr


def test_zero_knowledge_draws_both_laws(tmp_path: Path) -> None:
    out = tmp_path / "laws.html"
    words = ("zero-knowledge", "--people", 60, "--rows", 10, "--ones", 30, "--epsilon-zk", "0.5")
    answer = told(*words, "--out", out)
    assert answer["this_database"] < answer["worst_case"] == pytest.approx(0.5, abs=1e-9)
    assert answer["worst_case"] <= answer["claim"] == 0.5
    page = out.read_text(encoding="utf-8")
    assert ("<polyline" in page, "the simulator" in page, "<script" in page) == (True, True, False)
    assert told(*words, "--claimed-rows", 5, code=4)["witness"]["people"] == "60"
    assert run(*words, "--out", tmp_path / "none" / "laws.html").exit_code == 2
    assert told(*words, "--table")["subject"] == "a table of two bins from a secret sample"
    assert run(*words, "--table", "--two-valued").exit_code == 2


def test_stories_are_listed_told_and_written(tmp_path: Path) -> None:
    assert "hubbub audit story democrats" in run("story").stdout
    assert len(json.loads(run("story", "--json").stdout)["stories"]) == 9
    answer = json.loads(run("story", "one-row", "--json", "--out", tmp_path / "s.html").stdout)
    assert answer["numbers"]["with"] == 0.5
    assert "<svg" in (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "50.0 %" in run("story", "one-row").stdout


def test_everything_is_as_it_should_be_and_a_miss_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from hubbub.audit import faults

    kept = faults.suite()[:2]
    monkeypatch.setattr(faults, "suite", lambda: kept)
    answer = json.loads(run("all", "--json").stdout)
    assert (answer["verdict"], answer["missed"]) == ("proved", [])
    monkeypatch.setattr(faults, "suite", lambda: (lambda: faults.Row("a miss", True, kept[1]().finding),))
    done = run("all")
    assert done.exit_code == 4
    assert "wrong about a miss" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("channel", "dragon"),
        ("releases", "none.csv", "--k", "10"),
        ("releases", "none.csv", "--k", "0.5"),
        ("table", "none.json", "--k", "2"),
        ("function", "none:none", "--neighbours", "none:none", "--epsilon", "1"),
        ("zero-knowledge", "--people", "10", "--rows", "20", "--ones", "5", "--epsilon-zk", "1"),
        ("story", "dragon"),
    ],
    ids=lambda args: " ".join(args[:2]),
)
def test_wrong_use_is_one_sentence(args: tuple[str, ...]) -> None:
    done = run(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
