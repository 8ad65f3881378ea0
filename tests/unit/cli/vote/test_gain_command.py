"""``hubbub vote gain``: the JSON it promises, table B4, and what it says to people."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli import Commands
from hubbub.cli.vote.questions import gain
from hubbub.numeric.exact import rational
from tests.unit.cli.answers import one_object, one_sentence

commands = Commands("hubbub", commands={"gain": gain})
EXAMPLE = "--belief abc:1/2,bac:1/2 --truth cab"


def run(line: str) -> Result:
    return CliRunner().invoke(commands, ["gain", *shlex.split(line)], catch_exceptions=False)


def ask(line: str) -> dict[str, Any]:
    return one_object(run(f"{line} --json"))


@pytest.mark.parametrize(
    ("voters", "drawn", "ordered"),
    [(11, 0.123047, 0.246094), (101, 0.039795, 0.079589), (1001, 0.012613, 0.025225), (10001, 0.003989, 0.007979)],
)
def test_table_b4_plurality(voters: int, drawn: float, ordered: float) -> None:
    answer = ask(f"{EXAMPLE} --voters {voters} --rule plurality")
    assert round(answer["gain"], 6) == drawn
    assert answer["exact"] is True
    assert answer["lie"] in ("abc", "acb")
    assert answer["utility"] == "a=1,b=0,c=1"
    assert answer["verdict"]["answer"] == "refuted"
    assert answer["verdict"]["witness"]["truth"] == "cab"
    assert round(ask(f"{EXAMPLE} --voters {voters} --rule plurality --ties b>a>c")["gain"], 6) == ordered


@pytest.mark.parametrize("rule", ["repeated-plurality", "approximate-runoff"])
def test_table_b4_elimination(rule: str) -> None:
    table: dict[int, dict[str, float]] = {
        11: {"n^0.6": 0.123, "n^0.75": 0.123, "n^0.9": 0.123},
        101: {"n^0.6": 0, "n^0.75": 0, "n^0.9": 0.0398},
        1001: {"n^0.6": 0, "n^0.75": 0, "n^0.9": 0.0126},
        10001: {"n^0.6": 0, "n^0.75": 0, "n^0.9": 0},
    }
    for voters, margins in table.items():
        for margin, expected in margins.items():
            answer = ask(f"{EXAMPLE} --voters {voters} --rule {rule} --margin {margin}")
            assert float(f"{answer['gain']:.3g}") == expected
    for voters, star, gained in ((11, 19, 0.123), (101, 59, 0.0398), (1001, 185, 0), (10001, 583, 0)):
        answer = ask(f"{EXAMPLE} --voters {voters} --rule {rule} --eta 1e-6")
        assert answer["margin"] == star
        assert float(f"{answer['gain']:.3g}") == gained


def test_small_numbers_are_text_and_not_zero() -> None:
    answer = ask("--belief abc:1/2,bac:1/4,cab:1/4 --truth cab --voters 100001 --margin 12499")
    assert answer["method"] == "bound"
    assert answer["gain"] is None
    assert answer["gain_high"] > 0
    assert 0 < rational(answer["gain_high_text"]) < rational("1e-482")
    assert rational(answer["bound_text"]) < rational(answer["bound_for_coarseness_text"])
    assert answer["verdict"]["answer"] == "proved"


def test_a_sample_has_an_interval_and_no_zero() -> None:
    answer = ask(f"{EXAMPLE} --voters 101 --rule plurality --method sample --draws 20000")
    assert answer["gain_low"] < answer["gain"] < answer["gain_high"]
    assert (answer["confidence"], answer["draws"]) == ("0.99", 20_000)
    assert answer["verdict"]["answer"] == "undecided"
    none = ask(f"{EXAMPLE} --voters 101 --margin 15 --method sample --draws 500")
    assert none["gain"] is None
    assert none["gain_high"] > 0
    assert none["lie"] is None


def test_a_bound_decides_where_a_sample_cannot() -> None:
    line = "--belief abc:1/2,bac:1/4,cab:1/4 --truth cab --voters 4001 --margin 500 --method sample --draws 200"
    assert ask(line)["verdict"]["answer"] == "proved"


def test_utilities_lies_and_observations() -> None:
    half = ask(f"{EXAMPLE} --voters 101 --rule plurality --utility c=1,a=0.5,b=0")
    whole = ask(f"{EXAMPLE} --voters 101 --rule plurality")
    assert half["gain"] == pytest.approx(whole["gain"] / 2)
    assert ask(f"{EXAMPLE} --voters 101 --rule plurality --lie cba")["gain"] == 0
    seen = ask("--observed abc:5,bac:5 --truth cab --voters 101 --rule plurality")
    assert (seen["gain"], seen["coarseness"]) == (whole["gain"], "0.5")
    prior = ask("--observed abc:5,bac:5 --dirichlet --truth cab --voters 101 --rule plurality")
    assert prior["coarseness"] == "0.0625"
    names = ask("--belief 'kiss>wright:1/2,wright>kiss:1/2' --truth 'wright>kiss' --voters 11 --rule plurality")
    assert (names["truth"], names["gain"]) == ("wright>kiss", 0)
    short = ask("--belief ab:1/2,c:1/2 --truth c --truncated --candidates a,b,c --voters 15 --rule instant-runoff")
    assert short["method"] == "enumerate"


def test_a_belief_from_a_file_of_ballots(tmp_path: Path) -> None:
    from hubbub.voting.ballots import Ballots
    from hubbub.voting.formats.formats import write

    path = tmp_path / "seen.soi"
    write(Ballots.from_counts("abc", {("a", "b", "c"): 3, ("b", "a", "c"): 2, ("c",): 1}), path)
    answer = ask(f"--ballots {path} --truth cab --voters 21 --rule plurality")
    assert answer["coarseness"] == "1/6"
    invented = ask(
        "--ballots millbrook --truth 'Cai Dunn>Ada Bell' --voters 20 --rule plurality --method sample --draws 9"
    )
    assert invented["belief"].count(":") == 25
    assert answer["belief"].count(":") == 3


def test_for_people() -> None:
    told = run(f"{EXAMPLE} --voters 101 --rule plurality")
    assert "The best lie gains 0.0398" in told.stdout
    assert "report acb" in told.stdout
    assert "refuted" in told.stderr
    assert "No lie gains anything" in run(f"{EXAMPLE} --voters 1001 --margin 100").stdout
    assert (
        "No lie gains more than 5.6"
        in run("--belief abc:1/2,bac:1/4,cab:1/4 --truth cab --voters 10001 --margin 1249").stdout
    )
    vacuous = run(f"{EXAMPLE} --voters 11 --utility c=1,a=0.5,b=0").stdout
    assert "that is for the utility a=0.5,b=0,c=1" in vacuous
    assert "The margin proves nothing for this belief" in vacuous
    unknown = run("--belief abc:1/3,bca:1/3,cab:1/3 --truth cab --voters 1001").stdout
    assert "No lie is known to gain anything; at most" in unknown
    assert "Proved for this belief: no lie gains more than" in unknown
    assert "does not make it 0" in run(f"{EXAMPLE} --voters 101 --margin 15 --method sample --draws 500").stdout


def test_it_is_part_of_vote() -> None:
    from hubbub.cli.main import commands as everything

    line = f"vote gain {EXAMPLE} --voters 11 --rule plurality --json"
    assert json.loads(CliRunner().invoke(everything, line.split()).stdout)["lie"] == "acb"


def test_the_examples_in_the_help_run() -> None:
    lines = [line.strip() for line in (gain.epilog or "").splitlines() if "hubbub vote" in line]
    assert len(lines) == 3
    for line in lines:
        assert run(line.removeprefix("hubbub vote gain ")).exit_code == 0


@pytest.mark.parametrize(
    ("line", "code", "complaint"),
    [
        ("--truth cab --voters 11", 2, "one of --belief"),
        ("--belief abc:1/2,bac:1/2 --observed abc:3 --truth cab --voters 11", 2, "one of --belief"),
        ("--belief abc:1/2,bac:1/2 --dirichlet --truth cab --voters 11", 2, "--dirichlet"),
        ("--belief abc:1/2,bac:1/3 --truth cab --voters 11", 2, "add up to 5/6"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 1", 2, "--voters"),
        ("--belief abc:1/2,bac:1/2 --truth cad --voters 9", 2, "rank them all"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --rule plurality --margin 3", 2, "has no margin"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --utility c=1,a=0.4", 2, "'b' has none"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --utility c=0,a=0.4,b=1", 2, "not consistent"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --ties b>a", 2, "2 of 3"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --confidence 1", 2, "--confidence"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --rule plurality --method bound", 3, "no theorem"),
        ("--belief abc:1/2,bac:1/2 --truth cab --voters 9 --ties b>a>c --method bound", 3, "fixed order"),
        ("--observed abc:1.5 --truth cab --voters 9", 2, "number of ballots"),
        ("--observed abc:1,abc:1 --truth cab --voters 9", 2, "twice"),
    ],
)
def test_wrong_use_is_one_sentence(line: str, code: int, complaint: str) -> None:
    one_sentence(run(line), code, complaint)
