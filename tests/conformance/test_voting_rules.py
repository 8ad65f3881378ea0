"""One suite for every voting rule: whatever is made by name passes all of this, or is not a rule.

Elections are small enough for the exact law of the winner to be listed. Draws come from scripts fixed by a label.
"""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from itertools import permutations

import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import RecordingSource, ReplaySource, ScriptedSource, SystemSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.continuing import RunoffByContinuing
from hubbub.voting.rules.elimination import NearBest, NearWorst
from hubbub.voting.rules.pair_rules import PAIR_RULES, PairRule
from hubbub.voting.rules.rules import (
    SUMMARY,
    EliminateThenSelect,
    InstantRunoff,
    Mix,
    Power,
    RandomDictator,
    Rule,
    ScoringElimination,
    make,
)

NAMES = "abcd"
RULES: dict[str, Rule] = {
    **{name: make(name, points=(4, 3, 1, 0) if name == "positional" else None) for name in SUMMARY},
    **{name: make(name) for name in PAIR_RULES},
    "repeated-plurality, margin 1": make("repeated-plurality", margin=1),
    "repeated-plurality, power": make("repeated-plurality", margin=Power(Fraction(1, 10))),
    "approximate-runoff, margin 1": make("approximate-runoff", margin=1),
    "scoring-elimination, margin 3": make("scoring-elimination", margin=3),
    "scoring-elimination, then a dictator": ScoringElimination(margin=4, then=RandomDictator()),
    "eliminate, then runoff": EliminateThenSelect(eliminate=NearBest(margin=1), select=InstantRunoff()),
    "runoff, then lot": EliminateThenSelect(eliminate=NearWorst(margin=0), select=make("random-dictator")),
    "runoff by continuing": RunoffByContinuing(),
    "mix": Mix(rule=make("repeated-plurality", margin=1), probability=Fraction(1, 3)),
}

ELECTIONS = {
    "complete": {"abcd": 5, "bcda": 4, "cdab": 3, "dabc": 2},
    "tied": {"abcd": 2, "bcda": 2, "cdab": 2, "dabc": 2},
    "truncated": {"ab": 4, "b": 3, "cda": 3, "": 2, "d": 1},
    "one voter": {"cbad": 1},
    "unanimous": {"dcba": 7},
    "blank": {"": 3},
    "nearly tied": {"ab": 3, "ba": 3, "ca": 1, "cb": 1, "d": 2},
}


def election(name: str) -> Ballots:
    return Ballots.from_counts(NAMES, {tuple(ranking): count for ranking, count in ELECTIONS[name].items()})


every_rule = pytest.mark.parametrize("rule", [pytest.param(rule, id=name) for name, rule in RULES.items()])
every_election = pytest.mark.parametrize("name", list(ELECTIONS))


@every_rule
@every_election
def test_the_lottery_is_a_law(rule: Rule, name: str) -> None:
    ballots = election(name)
    law = rule.lottery(ballots)
    assert len(law) == len(NAMES)
    assert sum(law) == 1
    assert all(isinstance(chance, Fraction) and chance >= 0 for chance in law)
    assert law == rule.lottery(ballots)


@every_rule
@every_election
def test_a_run_elects_somebody_who_can_win_and_records_it(rule: Rule, name: str) -> None:
    ballots = election(name)
    law = rule.lottery(ballots)
    for label in range(12):
        result = rule.run(ballots, ScriptedSource.from_label(f"{name} {label}"))
        assert law[result.winner] > 0
        assert (result.rule, result.candidates, result.voters) == (rule, tuple(NAMES), ballots.voters)
        assert result.winner_name == NAMES[result.winner]
        assert not result.secure
        branching = Mix | InstantRunoff | RunoffByContinuing | EliminateThenSelect | PairRule
        if law[result.winner] == 1 and not isinstance(rule, branching):
            assert result.draws == ()


@every_rule
@every_election
def test_rounds_add_up(rule: Rule, name: str) -> None:
    ballots = election(name)
    result = rule.run(ballots, ScriptedSource.from_label(name))
    assert result.rounds
    inside = set(range(len(NAMES)))
    for number, counted in enumerate(result.rounds):
        assert set(counted.remaining) <= inside
        assert set(counted.eliminated) < set(counted.remaining)
        assert result.winner in counted.remaining
        assert result.winner not in counted.eliminated
        if counted.what == "top choices":
            assert sum(count for _, count in counted.counts) + counted.exhausted == ballots.voters
        if counted.transfers:
            after = result.rounds[number + 1]
            moved = dict(counted.counts)
            for transfer in counted.transfers:
                assert transfer.origin in counted.eliminated
                moved[transfer.origin] -= transfer.ballots
                if transfer.target is not None:
                    moved[transfer.target] += transfer.ballots
            assert {i: count for i, count in moved.items() if i not in counted.eliminated} == dict(after.counts)
            gone = sum(transfer.ballots for transfer in counted.transfers if transfer.target is None)
            assert after.exhausted == counted.exhausted + gone
        inside = set(counted.remaining) - set(counted.eliminated)


@every_rule
def test_draws_are_recorded_with_their_chances(rule: Rule) -> None:
    for label in range(5):
        for draw in rule.run(election("tied"), ScriptedSource.from_label(str(label))).draws:
            assert sum(draw.chances) == 1
            assert len(draw.among) == len(draw.chances) > 1
            assert draw.chosen in draw.among
            assert draw.why


@every_rule
def test_anonymity(rule: Rule) -> None:
    """Who cast a ballot, in what order, and whether equal ballots come together, makes no difference."""
    for name in ("complete", "truncated", "nearly tied"):
        ballots = election(name)
        rows = [
            row for row, w in zip(ballots.rankings.tolist(), ballots.weights.tolist(), strict=True) for _ in range(w)
        ]
        for order in (rows, rows[::-1], rows[1::2] + rows[::2]):
            assert rule.lottery(Ballots.from_rows(NAMES, order)) == rule.lottery(ballots)


@every_rule
def test_neutrality_under_random_ties(rule: Rule) -> None:
    """Renaming the candidates renames the winner."""
    for name in ("complete", "tied", "truncated", "nearly tied"):
        law = rule.lottery(election(name))
        for order in list(permutations(range(len(NAMES))))[1::5]:
            renamed = {
                tuple(NAMES[order[NAMES.index(letter)]] for letter in ranking): count
                for ranking, count in ELECTIONS[name].items()
            }
            assert [rule.lottery(Ballots.from_counts(NAMES, renamed))[i] for i in order] == list(law)


@every_rule
def test_tied_ballots_are_not_counted_silently(rule: Rule) -> None:
    tied = Ballots.from_counts(NAMES, {("a",): 3}, tied={(frozenset("ab"),): 1})
    if isinstance(rule, RunoffByContinuing):  # the one rule whose count settles them
        assert rule.run(tied, ScriptedSource()).rounds[0].exhausted == 1
        return
    for act in (lambda: rule.lottery(tied), lambda: rule.run(tied, ScriptedSource())):
        with pytest.raises(WrongUse, match="settle them first"):
            act()


@every_rule
def test_a_rule_is_a_value(rule: Rule) -> None:
    assert isinstance(rule, Rule)
    same = deepcopy(rule)
    assert same == rule
    assert hash(same) == hash(rule)
    assert [other for other in RULES.values() if other == rule] == [rule]
    with pytest.raises((AttributeError, TypeError)):  # Python says it either way, by whether the name is a field
        rule.name = "another"  # type: ignore[misc]


@every_rule
def test_draws_come_from_the_source_and_from_nowhere_else(rule: Rule) -> None:
    recording = RecordingSource(SystemSource())
    result = rule.run(election("tied"), recording)
    assert result.secure
    again = rule.run(election("tied"), ReplaySource(recording.record))
    assert (again.winner, again.draws, again.rounds) == (result.winner, result.draws, result.rounds)
    assert not again.secure


def test_unanimity_wins_unless_the_rule_is_a_lottery_over_places() -> None:
    for name, rule in RULES.items():
        chance = rule.lottery(election("unanimous"))[NAMES.index("d")]
        if name in ("punishing", "mix"):
            assert 0 < chance < 1
        elif "scoring" not in name:  # seven voters are too few for its margin to drop anybody
            assert chance == 1, name
