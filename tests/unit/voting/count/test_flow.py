"""How ballots moved: every ballot of a column is in the next, and small candidates are one pile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.demo.council import ballots as council
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.drawing import Flow
from hubbub.voting.ballots import Ballots
from hubbub.voting.rctab.answer_rounds import answer_rounds
from hubbub.voting.rctab.rounds_flow import EXHAUSTED, rounds_flow
from hubbub.voting.rules.pair_rules import PairRule
from hubbub.voting.rules.rules import (
    ApproximateRunoff,
    Borda,
    InstantRunoff,
    RepeatedPlurality,
    Rule,
    ScoringElimination,
)
from hubbub.voting.rules.stv import RULES, TransferableVote


def flow(rule: Rule | TransferableVote, ballots: Ballots, most_named: int = 7) -> Flow:
    return rounds_flow(
        answer_rounds(rule.run(ballots, ScriptedSource.from_label("flow")), ballots), most_named=most_named
    )


def adds_up(drawn: Flow, voters: int) -> None:
    for number, column in enumerate(drawn.columns):
        piles = dict(column.piles)
        assert sum(piles.values()) == pytest.approx(voters, abs=0.1)
        assert all(link.ballots > 0 for link in drawn.links)
        if number:
            arrived = [link for link in drawn.links if link.column == number - 1]
            for name, ballots in piles.items():
                assert sum(link.ballots for link in arrived if link.target == name) == pytest.approx(ballots, abs=0.1)
        if number + 1 < len(drawn.columns):
            left = [link for link in drawn.links if link.column == number]
            for name, ballots in piles.items():
                assert sum(link.ballots for link in left if link.origin == name) == pytest.approx(ballots, abs=0.1)


def many(candidates: int, voters: int) -> Ballots:
    rng = np.random.default_rng(5)
    rows = np.argsort(rng.gumbel(size=(voters, candidates)) + np.linspace(0, 3, candidates), axis=1)
    rows[:, 5:] = -1
    return Ballots.from_rows([f"C{i}" for i in range(candidates)], rows.astype(np.int8)).merge_equal()


@pytest.mark.parametrize("rule", [InstantRunoff(), RepeatedPlurality(margin=40), ApproximateRunoff(margin=25)])
@pytest.mark.parametrize("candidates", [4, 8, 9, 25])
def test_every_ballot_is_somewhere(rule: Rule, candidates: int) -> None:
    ballots = many(candidates, 2_000)
    drawn = flow(rule, ballots)
    adds_up(drawn, 2_000)
    single = [name for name in drawn.order if name in ballots.candidates]
    assert len(single) == (candidates if candidates <= 8 else 7)
    assert drawn.order[0] == drawn.winner == rule.run(ballots, ScriptedSource.from_label("flow")).winner_name


def test_rounds_in_which_only_small_candidates_go_are_one_column() -> None:
    drawn = flow(InstantRunoff(), many(25, 2_000))
    assert len(drawn.columns) == 7
    assert (drawn.columns[0].heading, drawn.columns[0].note) == ("round 1", "out: 18 candidates")
    assert drawn.columns[1].heading == "round 11"


def test_the_council() -> None:
    drawn = flow(InstantRunoff(), council())
    assert [column.note for column in drawn.columns] == [
        *("out: Eli Ford", "out: Cai Dunn", "out: Dee Eads", "elected: Ada Bell")
    ]
    assert dict(drawn.columns[-1].piles) == {"Ada Bell": 4960, "Ben Cole": 4270, EXHAUSTED: 1170}


def test_a_rule_that_counts_points_has_one_column() -> None:
    for rule in (Borda(), ScoringElimination(plurality_of_two=True), PairRule(name="nanson"), PairRule(name="baldwin")):
        drawn = flow(rule, council())
        assert (len(drawn.columns), drawn.links) == (1, ())
        assert len(drawn.columns[0].piles) == len(council().candidates)


NAMES = tuple("abcdefghij")
RANKINGS = st.lists(st.sampled_from(NAMES), unique=True, max_size=6).map(tuple)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(RANKINGS, st.integers(1, 40), min_size=2, max_size=12),
    st.integers(1, 4),
    st.sampled_from(list(RULES)),
    st.integers(4, 10),
)
def test_votes_of_several_seats_add_up(counts: dict[tuple[str, ...], int], seats: int, rules: str, most: int) -> None:
    drawn = flow(TransferableVote(seats=seats, rules=RULES[rules]), Ballots.from_counts(NAMES, counts), most)
    adds_up(drawn, sum(weight for ranking, weight in counts.items() if ranking))


def test_the_elected_come_first_and_small_candidates_are_one_pile() -> None:
    drawn = flow(
        TransferableVote(seats=2), Ballots.from_counts(NAMES, {(name,): 30 - 2 * i for i, name in enumerate(NAMES)}), 4
    )
    assert (drawn.order[:2], drawn.order[-2:]) == (("a", "b"), ("6 others", EXHAUSTED))


def test_a_candidate_may_be_called_exhausted() -> None:
    rows: dict[tuple[str, ...], int] = {("exhausted", "b"): 2, ("b", "c"): 5, ("b",): 3, ("c",): 4, (): 1}
    ballots = Ballots.from_counts(("exhausted", "b", "c"), rows)
    drawn = flow(InstantRunoff(), ballots)
    adds_up(drawn, 14)
    assert dict(drawn.columns[0].piles) == {"b": 8, "c": 4, "exhausted": 2}
    assert dict(drawn.columns[-1].piles) == {"b": 10, "c": 4}
