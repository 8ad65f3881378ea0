"""What an election promises its voters, and the reason where it promises nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pytest

from hubbub.numeric.exact import to_float
from hubbub.voting.ballots import Ballots
from hubbub.voting.guarantees.strategyproofness import NotPromised, Promised, alternatives, strategyproofness
from hubbub.voting.rules import margins
from hubbub.voting.rules.elimination import NearBest
from hubbub.voting.rules.rules import (
    ApproximateRunoff,
    Borda,
    EliminateThenSelect,
    FirstInOrder,
    ForGain,
    InstantRunoff,
    Lot,
    Mix,
    Plurality,
    Positional,
    Punishing,
    RandomDictator,
    RepeatedPlurality,
    Rule,
    ScoringElimination,
    mix_probability,
)
from hubbub.voting.ties import FixedTies

ETA = Fraction(1, 10**12)
SIZE: dict[str, Any] = {"voters": 10_000, "candidates": 3, "truncated": False, "eta": ETA}


def promised(rule: Rule, **size: Any) -> Promised:
    answer = strategyproofness(rule, **{**SIZE, **size})
    assert isinstance(answer, Promised), answer
    return answer


def refused(rule: Rule, **size: Any) -> str:
    answer = strategyproofness(rule, **{**SIZE, **size})
    assert isinstance(answer, NotPromised), answer
    return answer.reason


@pytest.mark.parametrize(
    ("voters", "margin", "alpha"), [(10**4, 785, 0.156), (10**5, 2483, 0.049), (10**6, 7850, 0.0156)]
)
def test_theorem_b1_default_table(voters: int, margin: int, alpha: float) -> None:
    answer = promised(RepeatedPlurality(), voters=voters)
    assert answer.margin == margin
    assert to_float(answer.alpha_min, round_up=True) == pytest.approx(alpha, rel=0.01)
    assert (answer.eta, answer.theorem) == (ETA, "Theorem B1")


def test_a_margin_of_ones_own_is_answered_with_its_coarseness() -> None:
    answer = promised(ApproximateRunoff(margin=1000))
    assert answer.alpha_min == margins.alpha_min("approximate-runoff", 10_000, 3, ETA, 1000)
    assert "too narrow" in refused(RepeatedPlurality(margin=200))
    assert "too few" in refused(RepeatedPlurality(), voters=100)
    assert "the margin 1,000,000 is too wide" in refused(RepeatedPlurality(margin=10**6))
    assert "no others" in refused(RepeatedPlurality(), voters=1)


def test_a_promise_for_one_single_ranking_is_none() -> None:
    """800 voters, 5 candidates, eta = 1e-12: 0.562-coarse, and above 1/2 all probabilities are 0 or 1."""
    answer = strategyproofness(RepeatedPlurality(), voters=800, candidates=5, truncated=False, eta=ETA)
    assert isinstance(answer, NotPromised)
    assert answer.margin == 227
    assert answer.alpha_min is not None
    assert Fraction(1, 2) < answer.alpha_min < Fraction(563, 1000)
    said = answer.promise()
    assert (said["empty"], said["margin"], round(said["alpha_min"], 4)) == (True, 227, 0.5612)
    assert "one single ranking" in said["why"]
    assert answer.as_json()["holds"] is False


def test_a_gain_below_every_float_is_not_told_as_nothing() -> None:
    tiny = Fraction(1, 10**400)
    answer = promised(RepeatedPlurality(margin=ForGain(tiny)), voters=10**8, eta=tiny)
    assert answer.as_json()["eta"] > 0
    assert "No lie gains more than 1e-400 in expected utility" in answer.sentences()[0]


def test_what_is_offered_instead_is_promised() -> None:
    """Every gain, rule and number of voters that is offered keeps its promise when it is chosen."""
    for rule in (RepeatedPlurality(), ApproximateRunoff(), ScoringElimination()):
        size: dict[str, Any] = {"candidates": 5, "truncated": False}
        found = alternatives(rule, voters=800, eta=ETA, **size)
        assert found is not None
        for offer in found.gains:
            chosen = replace(rule, margin=ForGain(offer.eta))
            answer = strategyproofness(chosen, voters=800, eta=offer.eta, **size)
            assert isinstance(answer, Promised)
            assert answer.alpha_min <= offer.coarseness
            assert answer.margin == offer.margin
        for alpha, needed in found.voters:
            answer = strategyproofness(rule, voters=needed.always, eta=ETA, **size)
            assert isinstance(answer, Promised)
            assert answer.alpha_min <= alpha
    assert alternatives(Plurality(), voters=800, eta=ETA, candidates=5, truncated=False) is None


def test_b2_a_fixed_order_is_refused_with_the_reason() -> None:
    fixed = FixedTies(("a", "b", "c"))
    for rule in (RepeatedPlurality(ties=fixed), ApproximateRunoff(ties=fixed)):
        assert "fixed order" in refused(rule)
        assert "B2" in refused(rule)
        assert promised(rule, candidates=2, voters=5).eta == 0  # between two, any way to break a tie is fine


def test_theorem_89_the_range_of_points_widens_the_margin() -> None:
    narrow = promised(ScoringElimination(scoring=Plurality()), voters=10**6)
    wide = promised(ScoringElimination(), voters=10**6)
    assert narrow.margin is not None
    assert wide.margin is not None
    assert wide.margin > 2 * narrow.margin - 2
    with_nothing = promised(ScoringElimination(scoring=Positional(points=(3, 2, 1))), voters=10**6)
    unranked = promised(ScoringElimination(scoring=Positional(points=(3, 2, 1))), voters=10**6, truncated=True)
    assert unranked.alpha_min > with_nothing.alpha_min


def test_the_last_stage_must_be_strategy_proof() -> None:
    for good in (Lot(), RandomDictator(), FirstInOrder(order=("a", "b", "c"))):
        promised(ScoringElimination(then=good), voters=10**6)
    assert "strategy-proof" in refused(ScoringElimination(then=Borda()), voters=10**6)


def test_one_ballot_decides_alone() -> None:
    for rule in (RandomDictator(), Punishing()):
        answer = promised(rule, voters=7)
        assert (answer.eta, answer.alpha_min) == (0, 0)


def test_yardsticks_promise_nothing_but_between_two() -> None:
    for rule in (Plurality(), Borda(), InstantRunoff()):
        assert "can reward a lie" in refused(rule)
        assert promised(rule, candidates=2).eta == 0
    assert "Theorem 77" in refused(EliminateThenSelect(eliminate=NearBest(), select=Plurality()))


def test_draws_from_elsewhere_promise_nothing() -> None:
    assert "operating system" in refused(RepeatedPlurality(), secure=False)


@pytest.mark.parametrize("truncated", [False, True])
def test_lemma_81_corrected_mix_promises_that_no_lie_gains(truncated: bool) -> None:
    q = mix_probability(gain=ETA, voters=10_000, candidates=3, utility_coarseness=Fraction(1, 20), truncated=truncated)
    answer = promised(Mix(rule=RepeatedPlurality(), probability=q), truncated=truncated)
    assert answer.eta == 0
    assert answer.utility_apart == Fraction(1, 20)
    assert "at least 0.05 apart" in answer.assumptions[-1]
    assert promised(Mix(rule=RepeatedPlurality(), probability=q / 10**6), truncated=truncated).eta == ETA
    assert promised(Mix(rule=RepeatedPlurality(), probability=Fraction(0))).eta == ETA
    assert "can reward a lie" in refused(Mix(rule=Plurality(), probability=q))


def test_the_needed_utility_is_rounded_against_us() -> None:
    """Just above 0.05 is told as 0.0501, never as 0.05."""
    q = mix_probability(gain=ETA, voters=10_000, candidates=3, utility_coarseness=Fraction(50_001, 10**6))
    assert "at least 0.0501 apart" in promised(Mix(rule=RepeatedPlurality(), probability=q)).assumptions[-1]


def test_a_mix_that_a_short_ballot_escapes_promises_no_more_than_its_rule() -> None:
    """To leave out the last candidate costs nothing under the punishing rule, and takes a point from them here."""
    scored: dict[str, Positional | Borda] = {"a": Positional(points=(3, 2, 1)), "b": Borda()}
    ballots = {full: Ballots.from_counts("abc", {("a", "b", "c")[: 3 if full else 2]: 1}) for full in (True, False)}
    assert Punishing().lottery(ballots[True]) == Punishing().lottery(ballots[False])
    answers = {}
    for name, scoring in scored.items():
        rule = ScoringElimination(scoring=scoring, margin=2)
        assert (rule.lottery(ballots[True]) == rule.lottery(ballots[False])) is (name == "b")
        mix = Mix(rule=ScoringElimination(scoring=scoring), probability=Fraction(1, 2))
        answers[name] = promised(mix, voters=10**6, truncated=True)
        assert promised(mix, voters=10**6).eta == 0  # nobody may leave anybody out
    assert answers["a"].eta == ETA
    assert "leaves out the last candidate" in answers["a"].remarks[-1]
    assert answers["b"].eta == 0


def test_assumptions_say_what_ballots_are_thought_of() -> None:
    complete, truncated = promised(RepeatedPlurality()), promised(RepeatedPlurality(), truncated=True)
    assert any("ranks all candidates" in text for text in complete.assumptions)
    assert any("of every length" in text for text in truncated.assumptions)
    assert any("counts for one" in text for text in complete.assumptions)


@pytest.mark.parametrize(
    "rule",
    [
        Plurality(),
        Borda(),
        InstantRunoff(),
        RepeatedPlurality(margin=1),
        ApproximateRunoff(margin=1),
        Plurality(ties=FixedTies(("a", "b"))),
        RepeatedPlurality(margin=0, ties=FixedTies(("b", "a"))),
    ],
)
def test_between_two_candidates_no_lie_helps(rule: Rule) -> None:
    """All ballots of three others, truncated ones too: the truth is the best report."""
    reports: list[tuple[str, ...]] = [("a", "b"), ("b", "a"), ("a",), ("b",), ()]
    for others in combinations_with_replacement(reports, 3):
        chances = {report: rule.lottery(Ballots.from_counts("ab", Counter((*others, report))))[0] for report in reports}
        assert chances["a", "b"] == max(chances.values())
