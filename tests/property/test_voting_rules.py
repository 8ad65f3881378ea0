"""For all elections: efficiency and closeness of the elimination rules, and agreement with slow counts by definition.

The counts here are written from the definitions, with lists and loops, and share nothing with the library.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.guarantees.verdict import Proved, Undecided
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.guarantees.efficiency import close_to_optimal, pareto
from hubbub.voting.rules.points import scores
from hubbub.voting.rules.rules import (
    ApproximateRunoff,
    Borda,
    InstantRunoff,
    Mix,
    Plurality,
    RandomDictator,
    RepeatedPlurality,
    ScoringElimination,
)

Profile = tuple[str, list[str]]
NAMES = "abcdef"
SOME = settings(max_examples=150, deadline=None)


@st.composite
def profiles(draw: st.DrawFn, *, complete: bool = False, least: int = 2) -> Profile:
    names = NAMES[: draw(st.integers(2, 5))]
    ballot = st.permutations(names).map("".join)
    if not complete:
        ballot = st.tuples(ballot, st.integers(0, len(names))).map(lambda pair: pair[0][: pair[1]])
    # Few different ballots, each cast often, so that margins and ties come into play.
    kinds = draw(st.lists(ballot, min_size=1, max_size=6))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(kinds), max_size=len(kinds)))
    votes = [kind for kind, weight in zip(kinds, weights, strict=True) for _ in range(weight)]
    return (names, votes * least) if len(votes) < least else (names, votes)


def ballots_of(profile: Profile) -> Ballots:
    names, votes = profile
    return Ballots.from_counts(names, {tuple(vote): count for vote, count in Counter(votes).items()})


def tops(names: str, votes: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(names, 0)
    for vote in votes:
        first = next((name for name in vote if name in names), None)
        if first is not None:
            counts[first] += 1
    return counts


def winners(counts: dict[str, int]) -> dict[str, Fraction]:
    best = [name for name, count in counts.items() if count == max(counts.values())]
    return {name: Fraction(1, len(best)) for name in best}


def repeated(names: str, votes: list[str], margin: int) -> dict[str, Fraction]:
    """Example 20, word by word."""
    while True:
        counts = tops(names, votes)
        left = "".join(name for name in names if max(counts.values()) - counts[name] <= margin)
        if left == names:
            return winners(counts)
        names = left


def approximate(names: str, votes: list[str], margin: int) -> dict[str, Fraction]:
    """Example 21, word by word."""
    while True:
        counts = tops(names, votes)
        left = "".join(name for name in names if counts[name] - min(counts.values()) > margin)
        if not left:
            return winners(counts)
        names = left


def runoff(names: str, votes: list[str]) -> dict[str, Fraction]:
    """One candidate at a time, every tie followed, nothing struck out together."""
    if len(names) == 1:
        return {names: Fraction(1)}
    counts = tops(names, votes)
    last = [name for name in names if counts[name] == min(counts.values())]
    law: dict[str, Fraction] = {}
    for out in last:
        for name, chance in runoff(names.replace(out, ""), votes).items():
            law[name] = law.get(name, Fraction(0)) + chance / len(last)
    return law


def named(law: tuple[Fraction, ...], names: str) -> dict[str, Fraction]:
    return {name: chance for name, chance in zip(names, law, strict=True) if chance}


@SOME
@given(profiles(), st.integers(0, 20))
def test_elimination_rules_are_their_definitions(profile: Profile, margin: int) -> None:
    names, votes = profile
    ballots = ballots_of(profile)
    assert named(RepeatedPlurality(margin=margin).lottery(ballots), names) == repeated(names, votes, margin)
    assert named(ApproximateRunoff(margin=margin).lottery(ballots), names) == approximate(names, votes, margin)


@settings(max_examples=60, deadline=None)
@given(profiles(), st.integers(0, 20), st.data())
def test_anonymity_and_neutrality_under_random_ties(profile: Profile, margin: int, data: st.DataObject) -> None:
    """Who votes how makes no difference, only how many do; and new names for the candidates are that and no more."""
    names, votes = profile
    shuffled = data.draw(st.permutations(votes))
    renamed = dict(zip(names, data.draw(st.permutations(names)), strict=True))
    one_by_one = Ballots.from_rows(names, [[*map(names.index, v), *[-1] * (len(names) - len(v))] for v in shuffled])
    after = ballots_of((names, ["".join(renamed[letter] for letter in vote) for vote in votes]))
    for rule in (
        RepeatedPlurality(margin=margin),
        ApproximateRunoff(margin=margin),
        ScoringElimination(margin=margin, plurality_of_two=True),
        Mix(rule=RepeatedPlurality(margin=margin), probability=Fraction(1, 7)),
        InstantRunoff(),
        Borda(),
    ):
        law = named(rule.lottery(ballots_of(profile)), names)
        assert named(rule.lottery(one_by_one), names) == law
        assert named(rule.lottery(after), names) == {renamed[name]: chance for name, chance in law.items()}


@SOME
@given(profiles())
def test_instant_runoff_is_its_definition(profile: Profile) -> None:
    names, votes = profile
    assert named(InstantRunoff().lottery(ballots_of(profile)), names) == runoff(names, votes)


@SOME
@given(profiles())
def test_yardsticks_are_their_definitions(profile: Profile) -> None:
    names, votes = profile
    ballots = ballots_of(profile)
    assert named(Plurality().lottery(ballots), names) == winners(tops(names, votes))
    points = {name: sum(len(names) - 1 - vote.index(name) for vote in votes if name in vote) for name in names}
    assert named(Borda().lottery(ballots), names) == winners(points)
    counts = tops(names, votes)
    if any(counts.values()):
        law = {name: Fraction(count, sum(counts.values())) for name, count in counts.items() if count}
        assert named(RandomDictator().lottery(ballots), names) == law


@SOME
@given(profiles(), st.integers(0, 40), st.integers(0, 5))
def test_theorem_78_efficient_and_close_to_optimal_for_every_margin(profile: Profile, margin: int, label: int) -> None:
    names, votes = profile
    ballots = ballots_of(profile)
    result = RepeatedPlurality(margin=margin).run(ballots, ScriptedSource.from_label(str(label)))
    counts = tops(names, votes)
    winner = result.winner_name
    assert max(counts.values()) - counts[winner] <= margin
    vacuous = margin > 0 and max(counts.values()) - min(counts.values()) <= margin  # then every candidate is close
    assert isinstance(close_to_optimal(result, ballots), Undecided if vacuous else Proved)
    assert not dominated(winner, names, votes)
    assert isinstance(pareto(ballots, result.winner), Proved)


@SOME
@given(profiles(), st.integers(0, 40), st.integers(0, 5))
def test_theorem_79_efficient_for_every_margin(profile: Profile, margin: int, label: int) -> None:
    names, votes = profile
    result = ApproximateRunoff(margin=margin).run(ballots_of(profile), ScriptedSource.from_label(str(label)))
    assert not dominated(result.winner_name, names, votes)


@SOME
@given(profiles(complete=True), st.integers(0, 60), st.integers(0, 5))
def test_theorem_89_close_to_optimal_and_efficient_where_points_fall(profile: Profile, margin: int, label: int) -> None:
    names, votes = profile
    ballots = ballots_of(profile)
    result = ScoringElimination(margin=margin).run(ballots, ScriptedSource.from_label(str(label)))
    points = scores(Borda().points_for(len(names)), ballots)
    assert max(points) - points[result.winner] <= margin
    vacuous = margin > 0 and max(points) - min(points) <= margin
    assert isinstance(close_to_optimal(result, ballots), Undecided if vacuous else Proved)
    if margin < len(votes):
        assert not dominated(result.winner_name, names, votes)


def dominated(winner: str, names: str, votes: list[str]) -> bool:
    """Whether all voters prefer one other candidate."""

    def prefers(vote: str, other: str) -> bool:
        return other in vote and (winner not in vote or vote.index(other) < vote.index(winner))

    return any(all(prefers(vote, other) for vote in votes) for other in names if other != winner)


@SOME
@given(profiles(), st.integers(0, 4))
def test_pareto_is_its_definition(profile: Profile, chosen: int) -> None:
    names, votes = profile
    winner = chosen % len(names)
    assert isinstance(pareto(ballots_of(profile), winner), Proved) is not dominated(names[winner], names, votes)


@SOME
@given(profiles(), st.data())
def test_a_restriction_is_its_definition(profile: Profile, data: st.DataObject) -> None:
    names, votes = profile
    kept = data.draw(st.lists(st.sampled_from(range(len(names))), min_size=2, unique=True))
    letters = {names[i] for i in kept}
    expected = Counter(tuple(name for name in vote if name in letters) for vote in votes)
    assert ballots_of(profile).restrict_to(kept).counts() == dict(expected)
