"""Pareto efficiency and closeness to optimal, checked on the ballots."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from hubbub.guarantees.verdict import Proved, Refuted, Undecided
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.guarantees.efficiency import close_to_optimal, pareto
from hubbub.voting.rules.rules import ApproximateRunoff, Borda, Mix, Plurality, RepeatedPlurality, ScoringElimination

ALL_PREFER_A = Ballots.from_counts("abc", {("a", "b", "c"): 3, ("c", "a", "b"): 2, ("a",): 1})


def test_a_candidate_whom_all_voters_pass_over_is_refuted_with_a_witness() -> None:
    verdict = pareto(ALL_PREFER_A, 1)
    assert isinstance(verdict, Refuted)
    assert dict(verdict.witness) == {"winner": "b", "preferred": "a", "voters": "6"}
    assert isinstance(pareto(ALL_PREFER_A, 0), Proved)
    assert isinstance(pareto(ALL_PREFER_A, 2), Proved)


def test_who_ranks_neither_prefers_neither() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 3, ("c",): 1})
    assert isinstance(pareto(ballots, 1), Proved)


def test_theorem_78_closeness_is_checked_with_the_margin() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 10, ("b", "a", "c"): 9, ("c", "b", "a"): 4})
    result = RepeatedPlurality(margin=5).run(ballots, ScriptedSource())
    assert result.winner == 1
    assert close_to_optimal(result, ballots) == Proved(
        "the winner is 1 first choices behind the best, and the margin is 5"
    )
    forged = close_to_optimal(replace(result, winner=2), ballots)
    assert isinstance(forged, Refuted)
    assert dict(forged.witness) == {"winner": "c", "best": "a", "behind": "6", "margin": "5"}


def test_theorem_89_closeness_is_about_points() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 4, ("b", "c", "a"): 3, ("c", "b", "a"): 2})
    result = ScoringElimination(margin=4).run(ballots, ScriptedSource.from_label("lot"))
    assert isinstance(close_to_optimal(result, ballots), Proved)
    assert isinstance(close_to_optimal(replace(result, winner=2), ballots), Refuted)


@pytest.mark.parametrize("rule", [Plurality(), Borda()])
def test_the_best_is_no_ballot_behind(rule: Plurality | Borda) -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 4, ("b", "c", "a"): 3})
    result = rule.run(ballots, ScriptedSource())
    assert isinstance(close_to_optimal(result, ballots), Proved)
    assert isinstance(close_to_optimal(replace(result, winner=2), ballots), Refuted)


def test_rules_that_claim_nothing_are_undecided_and_mixes_are_their_rule() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 10, ("b", "a", "c"): 9, ("c", "b", "a"): 4})
    result = ApproximateRunoff(margin=4).run(ballots, ScriptedSource())
    verdict = close_to_optimal(result, ballots)
    assert verdict == Undecided("approximate-runoff does not claim it; the winner is 1 first choices behind the best")
    mixed = Mix(rule=RepeatedPlurality(margin=5), probability=Fraction(0)).run(ballots, ScriptedSource())
    assert isinstance(close_to_optimal(mixed, ballots), Proved)


def test_a_mix_that_punished_claims_nothing() -> None:
    """The last candidate of all, drawn by the punishing rule, does not refute what repeated plurality claims."""
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 10, ("b", "a", "c"): 2})
    mix = Mix(rule=RepeatedPlurality(margin=5), probability=Fraction(1, 2))
    runs = [mix.run(ballots, ScriptedSource.from_label(f"punished {i}")) for i in range(40)]
    for result in runs:
        verdict = close_to_optimal(result, ballots)
        assert isinstance(verdict, Undecided if result.draws[0].chosen == "punishing" else Proved), verdict
    assert any(result.winner for result in runs)
    sure = Mix(rule=RepeatedPlurality(margin=5), probability=Fraction(1)).run(
        ballots, ScriptedSource.from_label("sure")
    )
    assert isinstance(close_to_optimal(sure, ballots), Undecided)
