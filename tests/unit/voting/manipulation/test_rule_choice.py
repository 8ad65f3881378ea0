"""The club of forty: which rule is recommended, by which gains, and what is said where theorems promise nothing."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from itertools import permutations
from math import comb
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub import vote
from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved
from hubbub.noise.source import ScriptedSource
from hubbub.voting.guarantees.strategyproofness import Promised
from hubbub.voting.manipulation.gain import USUAL, Contest, Question, at_most, gain
from hubbub.voting.manipulation.rule_choice import EXPLAINED, RuleChoice, chance_of_a_lot, stated_beliefs


def choice(voters: int = 40, candidates: int = 3, **more: object) -> RuleChoice:
    source = ScriptedSource.from_label(f"choice {voters} {candidates}")
    return vote.choose(voters=voters, candidates=candidates, draws=2000, source=source, **more)  # type: ignore[arg-type]


def test_the_club_of_forty() -> None:
    """Three candidates: no theorem about a rule that counts, computed gains in its place, one rule in two sentences."""
    found = choice()
    assert {each.rule for each in found.rules} == set(EXPLAINED)
    counting = [each for each in found.rules if each.rule != "random-dictator"]
    assert not any(isinstance(each.promise, Promised) for each in counting)
    best = found.recommendation
    assert best.rule in ("repeated-plurality", "approximate-runoff")
    assert all(best.gain[1] <= each.gain[1] for each in counting if each.margin is None)
    assert found.reason().count(". ") == 1
    assert found.reason().endswith(".")
    (nothing,) = (text for text in found.sentences() if "promise nothing" in text)
    assert all(f"{each.rule} {each.gain_text()}" in nothing for each in counting)
    lone = found.rules[-1]
    assert (lone.rule, lone.gain) == ("random-dictator", (0, 0))
    assert isinstance(lone.promise, Promised)


def test_each_gain_is_the_largest_of_vote_gain_over_all_truths() -> None:
    found = choice(15)
    for kind in ("plurality", "instant-runoff", "borda"):
        (facts,) = (each for each in found.rules if each.rule == kind)
        for stated in stated_beliefs(3):
            single = [
                gain(Question(belief=stated.belief, truth=truth, voters=15, contest=Contest(kind=kind)))
                for truth in permutations(range(3))
            ]
            low, high = dict(facts.gains)[stated.name]
            assert all(each.confidence is None for each in single)
            assert max(each.low for each in single) <= high
            assert low <= max(each.high for each in single)
            assert high - low < Fraction(1, 10**9)
            assert all(isinstance(at_most(each, high + Fraction(1, 10**9)), Proved) for each in single)


def test_a_lot_decides_as_often_as_two_camps_tie() -> None:
    camps = stated_beliefs(3)[1].belief
    question = Question(belief=camps, truth=(0, 1, 2), voters=40, contest=Contest(kind="plurality"))
    tied = Fraction(comb(40, 20), 2**40)
    assert chance_of_a_lot(question, USUAL) == (tied, tied)
    even = replace(question, belief=stated_beliefs(3)[0].belief, contest=Contest(kind="minimax"), voters=61)
    low, high = chance_of_a_lot(even, replace(USUAL, draws=4000, source=ScriptedSource.from_label("lots")))
    assert 0 < low < high < Fraction(1, 5)


def test_with_a_promise_the_promised_rule_is_recommended() -> None:
    """At 1/10 the theorem covers a poll of ten ballots from some thousand voters on."""
    found = choice(4000, eta="1/10")
    assert isinstance(found.recommendation.promise, Promised)
    assert found.recommendation.rule in ("repeated-plurality", "approximate-runoff")
    assert "promises that no lie gains more than 0.1" in found.reason()
    assert found.reason().count(". ") == 1
    assert not any("promise nothing" in text for text in found.sentences())


def test_a_belief_of_ones_own_counts_too() -> None:
    found = choice(11, belief=("abc:2/3,bac:1/3",))
    assert found.beliefs[-1].words == "abc:2/3,bac:1/3"
    assert all(dict(each.gains).keys() >= {"circle", "abc:2/3,bac:1/3"} for each in found.rules)
    with pytest.raises(FrozenInstanceError):
        found.voters = 3  # type: ignore[misc]


def test_what_is_proved_cuts_the_interval_of_a_sample() -> None:
    """Four candidates: a sample of 50 elections alone says next to nothing, and the union over pairs 0.0014."""
    even = stated_beliefs(4)[0].belief
    asked = Question(belief=even, truth=(0, 1, 2, 3), voters=40, contest=Contest(kind="repeated-plurality", margin=17))
    found = gain(asked, None, replace(USUAL, draws=50, source=ScriptedSource.from_label("fifty")))
    assert found.method == "sample"
    assert found.high == gain(asked, "bound").high < Fraction(2, 1000)


def test_the_command_says_what_python_says() -> None:
    run = CliRunner().invoke(
        commands, ["vote", "choose", "--voters", "12", "--candidates", "3", "--json"], catch_exceptions=False
    )
    facts = json.loads(run.stdout)
    assert facts["recommended"] == choice(12).recommendation.rule
    assert facts["reason"] in facts["words"]
    assert {"gain_low", "gain_high", "promise", "decided_by_lot", "ease"} <= facts["rules"][0].keys()
    text = CliRunner().invoke(commands, ["vote", "choose", "--voters", "12", "--candidates", "3"])
    assert "12 voters, 3 candidates" in text.stdout
    assert "Choose " in text.stdout


def test_compare_shows_gains_beside_no_promise(tmp_path: Path) -> None:
    file = tmp_path / "club.abif"
    file.write_text("4: a>b>c\n3: b>c>a\n3: c>a>b\n")
    line = ["vote", "tally", str(file), "--compare"]
    run = CliRunner().invoke(commands, [*line, "--json"], catch_exceptions=False)
    rows = {row["rule"]: row["computed_gain"] for row in json.loads(run.stdout)["compare"]}
    assert rows["random-dictator"] is None
    assert rows["repeated-plurality"] == rows["plurality"] is not None
    assert rows["scoring-elimination"] is None  # a lot among all, and no plurality
    assert rows["borda"] not in (None, rows["instant-runoff"])
    text = CliRunner().invoke(commands, line, catch_exceptions=False).stdout
    assert "no promise; " in " ".join(text.split())


def test_what_is_refused() -> None:
    with pytest.raises(WrongUse, match="between two, the majority"):
        choice(40, 2)
    with pytest.raises(WrongUse, match="3 to 5"):
        choice(40, 6)
    with pytest.raises(WrongUse, match="vote guarantee"):
        choice(6000)
