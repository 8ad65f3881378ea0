"""The invented election shows what it is for: rules that disagree."""

from __future__ import annotations

from hubbub.demo.council import CANDIDATES, ballots
from hubbub.noise.source import ScriptedSource
from hubbub.voting.rules.rules import Borda, InstantRunoff, Plurality, RepeatedPlurality


def test_three_rules_elect_three_people() -> None:
    winners = [rule.run(ballots(), ScriptedSource()).winner_name for rule in (Plurality(), InstantRunoff(), Borda())]
    assert len(set(winners)) == 3
    assert RepeatedPlurality().run(ballots(), ScriptedSource()).winner_name == winners[1]


def test_ballots_are_truncated_and_some_blank() -> None:
    council = ballots()
    assert council.candidates == CANDIDATES
    assert (council.complete, council.tied_voters) == (0, 0)
    assert council.blank == 16
