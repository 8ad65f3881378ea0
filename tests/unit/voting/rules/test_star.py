"""STAR and score against an example, ties of both rounds, and what every rule for scores must pass."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub import vote
from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.points import Approval, Score, Star
from hubbub.voting.rules.rule_json import rule_as_json, rule_from_json
from hubbub.voting.ties import FixedTies

NAMES = ("Amy", "Brian", "Chuck")
# The three ballots on the page of starvote 1.0 (PyPI); totals and runoff by hand.
STARVOTE = [(1, 3, 5), (5, 2, 3), (4, 4, 5)]


def scored(rows: list[tuple[int, ...]], weights: list[int] | None = None, names: tuple[str, ...] = NAMES) -> Ballots:
    return Ballots.from_levels(names, [[5 - score for score in row] for row in rows], weights or [1] * len(rows))


def test_the_ballots_of_starvote() -> None:
    found = Star(top=5).run(scored(STARVOTE), ScriptedSource([]))
    first, runoff = found.rounds
    assert (dict(first.counts), first.eliminated) == ({0: 10, 1: 9, 2: 13}, (1,))
    assert (dict(runoff.counts), runoff.exhausted) == ({0: 1, 2: 2}, 0)
    assert (found.winner_name, found.draws) == ("Chuck", ())


def test_the_runoff_can_turn_the_scores_round() -> None:
    """Amy has 15 points and Brian 8, but two of three ballots score Brian higher."""
    ballots = scored([(5, 0, 0), (3, 4, 0), (3, 4, 0)])
    assert Score(top=5).run(ballots, ScriptedSource([])).winner_name == "Amy"
    assert Star(top=5).run(ballots, ScriptedSource([])).winner_name == "Brian"


def test_a_tie_in_the_runoff_goes_by_points_then_by_lot() -> None:
    by_points = scored([(5, 3, 0), (2, 3, 0)])  # one ballot each, 7 points to 6
    assert Star(top=5).lottery(by_points) == (1, 0, 0)
    even = scored([(5, 3, 0), (3, 5, 0)])
    assert Star(top=5).lottery(even) == (Fraction(1, 2), Fraction(1, 2), 0)
    drawn = Star(top=5).run(even, ScriptedSource.from_label("star")).draws
    assert [draw.why for draw in drawn] == ["a tie between the two of the runoff"]
    assert Star(top=5, ties=FixedTies(("Brian", "Amy", "Chuck"))).lottery(even) == (0, 1, 0)


def test_a_tie_for_the_runoff_is_drawn() -> None:
    ballots = scored([(5, 2, 2), (4, 2, 2)])
    assert Star(top=5).lottery(ballots) == (1, 0, 0)
    drawn = Star(top=5).run(ballots, ScriptedSource.from_label("star")).draws
    assert [draw.among for draw in drawn] == [("Brian", "Chuck")]


ELECTIONS = {
    "plain": [(1, 3, 5), (5, 2, 3), (4, 4, 5)],
    "cycle": [(5, 3, 0), (0, 5, 3), (3, 0, 5)],
    "all alike": [(2, 2, 2), (0, 0, 0)],
    "two ahead": [(5, 4, 1), (4, 5, 1)],
}


@pytest.mark.parametrize("rule", [Score(top=5), Star(top=5)], ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", list(ELECTIONS))
def test_rules_for_scores_are_anonymous_neutral_and_record_their_draws(rule: Score | Star, name: str) -> None:
    rows = ELECTIONS[name]
    law = rule.lottery(scored(rows))
    assert sum(law) == 1
    assert rule.lottery(scored(rows[::-1])) == law
    for order in permutations(range(3)):
        renamed = scored([tuple(row[i] for i in order) for row in rows])
        assert rule.lottery(renamed) == tuple(law[i] for i in order)
    seen = set()
    for label in range(20):
        found = rule.run(scored(rows), ScriptedSource.from_label(str(label)))
        seen.add(found.winner)
        assert law[found.winner] > 0
        for draw in found.draws:
            assert draw.chosen in draw.among
            assert sum(draw.chances) == 1
    assert len(seen) == sum(chance > 0 for chance in law)


def test_rated_rules_by_name() -> None:
    for rule in (Approval(), Score(top=5), Star(top=9)):
        assert rule_from_json(rule_as_json(rule)) == rule
    assert vote.rule("star", top=5) == Star(top=5)
    with pytest.raises(WrongUse, match="the highest score"):
        vote.rule("star")
    with pytest.raises(WrongUse, match="at least 1"):
        Star(top=0)


def test_the_command_counts_stars(tmp_path: Path) -> None:
    path = tmp_path / "stars.csv"
    path.write_text("Amy,Brian,Chuck\n" + "".join(f"{a},{b},{c}\n" for a, b, c in STARVOTE), encoding="utf-8")
    words = ["vote", "tally", str(path), "--columns", "scores=Amy/Brian/Chuck", "--rule", "star", "--json"]
    record = ["--record", str(tmp_path / "r.json"), "--ledger", str(tmp_path / "l.db")]
    done = CliRunner().invoke(commands, [*words, *record])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert (answer["winner"], answer["rounds"][0]["counts"]) == ("Chuck", {"Chuck": 13, "Amy": 10, "Brian": 9})
    again = CliRunner().invoke(commands, ["verify", record[1], "--ballots", str(path), "--key", answer["public_key"]])
    assert again.exit_code == 0, again.output
    refused = CliRunner().invoke(commands, [*words[:-2], "schulze"])
    assert refused.exit_code == 2
    assert "holds ballots of scores" in refused.output
