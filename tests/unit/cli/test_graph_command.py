"""``hubbub graph``: the plan as JSON and in words, estimates, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands

PLAN = ["graph", "plan", "--vertices", "1000000", "--max-degree", "200", "--samples", "10000", "--epsilon", "1"]


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, args, catch_exceptions=False)


def test_the_plan_as_json() -> None:
    found = json.loads(run(*PLAN, "--json").stdout)
    rows = {row["of"]: row for row in found["rows"]}
    assert list(rows) == ["connectivity", "eulerian", "cycle-freeness", "average-degree", "edges"]
    wanted = {"of", "scale", "scale_proposition_12", "scale_node_dp", "explores"}
    assert all(set(row) >= wanted for row in rows.values())
    first = rows["connectivity"]
    scales = [round(first[name]) for name in ("scale", "scale_proposition_12", "scale_node_dp")]
    assert (scales, first["explores"], first["aggregate"]) == ([5649, 40_876, 200], 200, "RSE(10000, 200)")
    assert rows["edges"]["aggregate"] == "RSN(10000, 1)"


def test_the_plan_in_words() -> None:
    shown = run(*PLAN, "--of", "connectivity,triangles")
    assert shown.exit_code == 0
    assert "connectivity" in shown.stdout
    assert "5,649" in shown.stdout
    assert "zero-knowledge with respect to 10,000 random people" in " ".join(shown.stdout.split())


def test_histogram_and_triangles_need_no_samples() -> None:
    asked = ["graph", "plan", "--vertices", "50", "--max-degree", "10", "--epsilon", "1/2"]
    found = json.loads(run(*asked, "--of", "degree-histogram,triangles", "--json").stdout)
    assert [row["scale"] for row in found["rows"]] == [40, 90]
    assert [row["explores"] for row in found["rows"]] == [None, None]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--of", "friends"],
        ["--of", "edges,edges"],
        ["--vertices", "1"],
        ["--vertices", "1e15"],
        ["--max-degree", "0"],
        ["--samples", "0"],
        ["--samples", "2000000"],
        ["--explore", "1"],
        ["--epsilon", "0"],
        ["--epsilon", "x"],
        ["--average-at-most", "201"],
        ["--average-at-most", "20", "--of", "connectivity"],
    ],
)
def test_wrong_use_is_one_sentence(wrong: list[str]) -> None:
    found = run(*PLAN, *wrong)
    assert found.exit_code == 2
    assert found.stderr.startswith("hubbub: ")
    assert found.stderr.count("\n") == 1


def test_a_plan_without_samples_says_what_is_missing() -> None:
    found = run("graph", "plan", "--vertices", "50", "--max-degree", "10", "--epsilon", "1")
    assert (found.exit_code, "--samples" in found.stderr) == (2, True)


def test_estimates_of_a_file(tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("one,two\n" + "".join(f"{i},{i + 1}\n" for i in range(0, 200, 2)))
    asked = ["graph", "estimate", str(links), "--samples", "150", "--vertices", "300"]
    found = json.loads(run(*asked, "--json").stdout)
    assert found["private"] is False
    by_name = {each["of"]: each for each in found["estimates"]}
    assert by_name["connectivity"]["low"] <= 199 <= by_name["connectivity"]["high"]
    assert len(found["estimates"]) == 5
    shown = run(*asked, "--of", "eulerian", "--explore", "5")
    assert "do not publish" in shown.stderr or "not for publication" in shown.stderr
    assert "eulerian" in shown.stdout


@pytest.mark.parametrize(
    ("content", "more", "code"),
    [
        ("a,b\n1,2\n", ["--samples", "3"], 2),
        ("a,b\n1,2\n", ["--vertices", "1", "--samples", "1"], 3),
        ("a,b\n1,\n", ["--samples", "1"], 3),
        ("a,b\n1,2\n1,3\n", ["--samples", "1", "--max-degree", "1"], 2),
        ("a,b\n1,2\n", ["--samples", "1", "--of", "triangles"], 2),
        ("a,b\n1,2\n", ["--samples", "1", "--confidence", "1"], 2),
        ("a,b\n", ["--samples", "1"], 2),
        ("", ["--samples", "1", "--vertices", "0"], 2),
    ],
)
def test_a_graph_that_does_not_fit_is_one_sentence(content: str, more: list[str], code: int, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(content)
    found = run("graph", "estimate", str(tmp_path / "links.csv"), *more)
    assert (found.exit_code, found.stdout) == (code, "")
    assert found.stderr.count("\n") == 1


def test_one_edge_and_no_edge_are_graphs(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("1 2\n")
    assert run("graph", "estimate", str(tmp_path / "links.txt"), "--samples", "2").exit_code == 0
    (tmp_path / "none.txt").write_text("")
    assert run("graph", "estimate", str(tmp_path / "none.txt"), "--samples", "2", "--vertices", "3").exit_code == 0
