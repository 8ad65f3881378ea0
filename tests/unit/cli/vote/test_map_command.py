"""``hubbub vote map``: every cell equals ``hubbub vote gain``, polls are points, and the chart is drawn."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.cli.vote.questions import gain_map
from hubbub.numeric.exact import rational
from hubbub.vote import LIED_TO
from hubbub.vote import MAPPED as RULES
from hubbub.voting.manipulation.gain_winners import CONTESTS
from tests.unit.cli.answers import one_object, one_sentence


def run(line: str) -> Result:
    return CliRunner().invoke(commands, ["vote", *shlex.split(line)], catch_exceptions=False)


def ask(line: str) -> dict[str, Any]:
    return one_object(run(f"{line} --json"))


def asked_alone(cell: dict[str, Any], rule: dict[str, Any], voters: int, truth: str = "") -> dict[str, Any]:
    margin = "" if rule["margin"] is None else f"--margin {rule['margin']}"
    return ask(
        f"gain --belief {cell['belief']} --candidates a,b,c --truth {truth or cell['truth']} --voters {voters} "
        f"--rule {rule['rule']} {margin}"
    )


@pytest.mark.parametrize("voters", [8, 61])
def test_every_cell_equals_vote_gain(voters: int) -> None:
    answer = ask(f"map --rules {','.join(RULES)} --voters {voters} --steps 4 --margin 5 --no-efficiency")
    assert [rule["rule"] for rule in answer["rules"]] == list(RULES)
    assert sorted(LIED_TO) == sorted(CONTESTS)
    for rule in answer["rules"]:
        assert len(rule["cells"]) == 15
        for cell in rule["cells"]:
            alone = asked_alone(cell, rule, voters)
            assert (cell["method"], cell["coarseness"]) == (alone["method"], alone["coarseness"])
            # A cell that was renamed sums its terms in another order than one that is asked alone.
            assert cell["gain_high"] == pytest.approx(alone["gain_high"], rel=1e-9, abs=1e-11)
            assert cell["gain_low"] == pytest.approx(alone["gain_low"], rel=1e-9, abs=1e-11)
            if cell["method"] == "enumerate" or cell["weights"] == sorted(cell["weights"], key=rational):
                assert (cell["gain_low"], cell["gain_high"]) == (alone["gain_low"], alone["gain_high"])


def test_a_cell_is_the_largest_over_all_truths() -> None:
    answer = ask("map --rules plurality,borda --voters 41 --steps 5 --no-efficiency")
    for rule in answer["rules"]:
        for cell in rule["cells"][3:9]:
            gains = [asked_alone(cell, rule, 41, t)["gain_high"] for t in ("abc", "acb", "bac", "bca", "cab", "cba")]
            assert max(gains) == pytest.approx(cell["gain_high"], rel=1e-9, abs=1e-11)
    one = ask("map --rules plurality --voters 41 --steps 5 --truth cab --no-efficiency")
    assert {cell["truth"] for cell in one["rules"][0]["cells"]} == {"cab"}
    cell = one["rules"][0]["cells"][7]
    assert cell["gain_high"] == asked_alone(cell, one["rules"][0], 41)["gain_high"]


def test_polls_are_points_on_it() -> None:
    """Dirichlet: a vote of a uniform prior for each corner, and those of the poll."""
    answer = ask("map --rules plurality --voters 41 --steps 3 --poll a:4,b:3 --poll c:6 --no-efficiency")
    first, second = answer["rules"][0]["polls"]
    assert first["weights"] == ["0.5", "0.4", "0.1"]
    assert first["coarseness"] == "0.1"
    assert second["weights"] == ["1/9", "1/9", "7/9"]
    assert first["gain_high"] == asked_alone(first, answer["rules"][0], 41)["gain_high"]
    assert "a poll of a 4, b 3, c 0" in answer["words"][-2]


def test_corners_of_ones_own() -> None:
    answer = ask("map --rules instant-runoff --voters 31 --steps 3 --corners abc,bca,cab --no-efficiency")
    assert [corner["belief"] for corner in answer["corners"]] == ["abc:1", "bca:1", "cab:1"]
    middle = next(cell for cell in answer["rules"][0]["cells"] if cell["weights"] == ["1/3", "1/3", "1/3"])
    assert middle["belief"] == "abc:1/3,bca:1/3,cab:1/3"
    assert middle["gain_high"] > 0.01  # which even second choices hide


def test_condorcet_efficiency_stands_beside_it() -> None:
    answer = ask("map --rules plurality,instant-runoff,borda,minimax --voters 101 --steps 3")
    found = {rule["rule"]: round(rule["condorcet_efficiency"], 3) for rule in answer["rules"]}
    assert found == {"plurality": 0.773, "instant-runoff": 0.963, "borda": 0.903, "minimax": 1.0}
    even = ask("map --rules plurality --voters 101 --steps 3 --corners even")["rules"][0]
    centre = next(cell for cell in even["cells"] if cell["weights"] == ["1/3", "1/3", "1/3"])
    assert centre["condorcet_efficiency"] == pytest.approx(even["condorcet_efficiency"], abs=1e-9)


def test_for_people() -> None:
    told = run("map --rules plurality,repeated-plurality --voters 21 --steps 4 --no-efficiency")
    assert "21 voters, 3 candidates, 15 beliefs" in told.stdout
    assert "repeated-plurality" in told.stdout
    assert "what the best lie gains the voter who can gain most" in told.stderr
    assert "preferences in a circle" in told.stderr
    assert "The least a lie can gain" not in told.stderr
    even = run("map --rules plurality --voters 21 --steps 4 --no-efficiency --corners even")
    assert "Second choices are even here, which hides what a lie gains in a runoff" in even.stderr


def test_the_examples_in_the_help_run() -> None:
    lines = [line.strip() for line in (gain_map.epilog or "").splitlines() if "hubbub vote" in line]
    assert len(lines) == 3
    for line in lines:
        assert run(line.removeprefix("hubbub vote ")).exit_code == 0


def test_a_chart_is_written_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "map.svg"
    answer = ask(f"map --rules plurality,borda --voters 21 --steps 4 --poll a:3,b:2 --chart {path}")
    assert answer["chart"] == str(path)
    drawn = path.read_text(encoding="utf-8")
    for word in ("plurality", "borda", "what the best lie gains", "Condorcet winner is elected", ">c<", "diamonds"):
        assert word in drawn


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("map --rules plurality,majority", "--rules takes plurality"),
        ("map --voters 1", "--voters must be"),
        ("map --steps 1", "--steps must be"),
        ("map --steps 61", "at most 60 steps"),
        ("map --rules instant-runoff --voters 5000", "ask for 2,001"),
        ("map --rules minimax --voters 1001", "ask for 251"),
        ("map --rules approval", "--rules takes plurality"),
        ("map --corners abc,bca", "three different rankings"),
        ("map --corners abc,bca,cad", "is no candidate"),
        ("map --poll d:3", "--poll gives numbers"),
        ("map --poll a:x", "in --poll must be"),
        ("map --truth ca", "rank them all"),
        ("map --chart x.doc", "a chart file must end in"),
        ("map --margin -1", "--margin must be at least 0"),
    ],
)
def test_wrong_use_is_one_sentence(line: str, sentence: str) -> None:
    one_sentence(run(line), 2, sentence)
