"""How ballots moved: every ballot of a column is in the next, and small candidates are one pile."""

from __future__ import annotations

import numpy as np
import pytest

from hubbub.demo.council import ballots as council
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.flow import EXHAUSTED, Flow, flow
from hubbub.voting.rules.pairs.pair_rules import PairRule
from hubbub.voting.rules.rules import (
    ApproximateRunoff,
    Borda,
    InstantRunoff,
    RepeatedPlurality,
    Rule,
    ScoringElimination,
)


def adds_up(drawn: Flow, voters: int) -> None:
    for number, column in enumerate(drawn.columns):
        piles = dict(column.piles)
        assert sum(piles.values()) == voters
        if number:
            arrived = [link for link in drawn.links if link.column == number - 1]
            for name, ballots in piles.items():
                assert sum(link.ballots for link in arrived if link.target == name) == ballots
        if number + 1 < len(drawn.columns):
            left = [link for link in drawn.links if link.column == number]
            for name, ballots in piles.items():
                assert sum(link.ballots for link in left if link.origin == name) == ballots


def many(candidates: int, voters: int) -> Ballots:
    rng = np.random.default_rng(5)
    rows = np.argsort(rng.gumbel(size=(voters, candidates)) + np.linspace(0, 3, candidates), axis=1)
    rows[:, 5:] = -1
    return Ballots.from_rows([f"C{i}" for i in range(candidates)], rows.astype(np.int8)).merged()


@pytest.mark.parametrize("rule", [InstantRunoff(), RepeatedPlurality(margin=40), ApproximateRunoff(margin=25)])
@pytest.mark.parametrize("candidates", [4, 8, 9, 25])
def test_every_ballot_is_somewhere(rule: Rule, candidates: int) -> None:
    ballots = many(candidates, 2_000)
    result = rule.run(ballots, ScriptedSource.from_label("flow"))
    drawn = flow(result)
    adds_up(drawn, 2_000)
    single = [name for name in drawn.order if name in ballots.candidates]
    assert len(single) == (candidates if candidates <= 8 else 7)
    assert drawn.order[0] == drawn.winner == result.winner_name


def test_rounds_in_which_only_small_candidates_go_are_one_column() -> None:
    ballots = many(25, 2_000)
    result = InstantRunoff().run(ballots, ScriptedSource.from_label("flow"))
    drawn = flow(result)
    assert len(result.rounds) > 12
    assert drawn.columns[0].round == 1
    assert len(drawn.columns) == 7
    assert drawn.columns[0].out == ("18 others",)
    assert drawn.columns[0].gone == 18


def test_the_council() -> None:
    drawn = flow(InstantRunoff().run(council(), ScriptedSource()))
    assert [column.out for column in drawn.columns] == [("Eli Ford",), ("Cai Dunn",), ("Dee Eads",), ("Ben Cole",)]
    assert dict(drawn.columns[-1].piles) == {"Ada Bell": 4960, "Ben Cole": 4270, EXHAUSTED: 1186}


def test_a_rule_that_counts_points_has_one_column() -> None:
    for rule in (Borda(), ScoringElimination(plurality_of_two=True), PairRule(name="nanson"), PairRule(name="baldwin")):
        drawn = flow(rule.run(council(), ScriptedSource.from_label("points")))
        assert len(drawn.columns) == 1
        assert len(drawn.columns[0].piles) == len(council().candidates)
        assert drawn.links == ()
        assert "points" in drawn.what


def test_a_candidate_may_be_called_exhausted() -> None:
    rows: dict[tuple[str, ...], int] = {("exhausted", "b"): 2, ("b", "c"): 5, ("b",): 3, ("c",): 4, (): 1}
    ballots = Ballots.of(("exhausted", "b", "c"), rows)
    drawn = flow(InstantRunoff().run(ballots, ScriptedSource()))
    adds_up(drawn, 15)
    assert dict(drawn.columns[0].piles) == {"b": 8, "c": 4, "exhausted": 2, "(exhausted)": 1}
