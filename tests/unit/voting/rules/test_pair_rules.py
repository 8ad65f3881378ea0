"""Rules of pairs against published examples, and against what they promise."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.pair_rules import PAIR_RULES, PairRule
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.rules.rule_json import rule_as_json, rule_from_json
from hubbub.voting.ties import FixedTies

# Schulze, A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent method, 2011, example 1.
SCHULZE = {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}
TENNESSEE = {"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}  # Memphis, Nashville, Chattanooga, Knoxville


def ballots(votes: dict[str, int]) -> Ballots:
    names = sorted({name for ranking in votes for name in ranking})
    return Ballots.of(names, {tuple(ranking): weight for ranking, weight in votes.items()})


def winner(rule: str, votes: dict[str, int]) -> str:
    return PairRule(name=rule).run(ballots(votes), ScriptedSource([])).winner_name


def test_the_example_of_schulzes_paper() -> None:
    assert winner("schulze", SCHULZE) == "E"
    scores = dict(zip("ABCDE", PairRule(name="schulze").scores(ballots(SCHULZE)), strict=True))
    assert sorted(scores, key=scores.__getitem__, reverse=True) == list("EACBD"), "the paper's order"


@pytest.mark.parametrize("rule", PAIR_RULES)
def test_the_capital_of_tennessee_is_nashville(rule: str) -> None:
    assert winner(rule, TENNESSEE) == "N"


def test_minimax_and_copeland_by_hand() -> None:
    cycle = {"ABC": 5, "BCA": 4, "CAB": 2}  # A beats B by 3, B beats C by 7, C beats A by 1
    assert PairRule(name="minimax").scores(ballots(cycle)) == [10, 8, 4]
    assert PairRule(name="copeland").scores(ballots(cycle)) == [2, 2, 2]
    assert PairRule(name="copeland").lottery(ballots(cycle)) == (Fraction(1, 3),) * 3
    assert PairRule(name="copeland", ties=FixedTies(("C", "B", "A"))).lottery(ballots(cycle)) == (0, 0, 1)


RANKINGS = st.lists(st.sampled_from("abcd"), unique=True, max_size=4).map("".join)


@pytest.mark.parametrize("rule", PAIR_RULES)
@settings(max_examples=100, deadline=None)
@given(st.dictionaries(RANKINGS, st.integers(1, 9), min_size=1, max_size=8))
def test_whoever_beats_everybody_is_elected(rule: str, votes: dict[str, int]) -> None:
    cast = Ballots.of("abcd", {tuple(ranking): weight for ranking, weight in votes.items()})
    pairs = pairwise(cast)
    assert pairs is not None
    law = PairRule(name=rule).lottery(cast)
    assert sum(law) == 1
    if pairs.winner is not None:
        assert law[pairs.winner] == 1


def test_rules_of_pairs_by_name() -> None:
    for rule in PAIR_RULES:
        assert rule_from_json(rule_as_json(PairRule(name=rule))) == PairRule(name=rule)
    with pytest.raises(WrongUse, match="there is no rule"):
        PairRule(name="kemeny")


def test_the_command_counts_pairs(tmp_path: Path) -> None:
    path, record = tmp_path / "b.csv", str(tmp_path / "r.json")
    rows = "".join(f"{weight},{'>'.join(ranking)}\n" for ranking, weight in SCHULZE.items())
    path.write_text("count,ranking\n" + rows, encoding="utf-8")
    words = ["vote", "tally", str(path), "--rule", "schulze", "--json", "--record", record]
    done = CliRunner().invoke(
        commands, [*words, "--ledger", str(tmp_path / "l.db"), "--page", str(tmp_path / "p.html")]
    )
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert (answer["winner"], answer["guarantee"]["holds"]) == ("E", False)
    again = CliRunner().invoke(commands, ["verify", record, "--ballots", str(path), "--key", answer["public_key"]])
    assert again.exit_code == 0, again.output
