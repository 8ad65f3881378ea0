"""For all beliefs, truths, rules and margins: a lie never gains more than the bound, and the methods agree."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.voting.manipulation.beliefs import Belief, belief, mixture
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_winners import CONTESTS
from hubbub.voting.manipulation.question import Utility

BY_TOPS = CONTESTS[:4]  # those that are counted by first places of what is left
MARGINED = CONTESTS[2:4]


@st.composite
def beliefs(draw: st.DrawFn, m: int, most: int = 3) -> Belief:
    rankings = st.sampled_from(list(permutations(range(m))))
    support = draw(st.lists(rankings, min_size=1, max_size=most, unique=True))
    weights = [draw(st.integers(1, 4)) for _ in support]
    shares = tuple((r, Fraction(w, sum(weights))) for r, w in zip(support, weights, strict=True))
    return Belief(candidates=tuple("abcd"[:m]), shares=shares)


@st.composite
def questions(draw: st.DrawFn, kinds: tuple[str, ...] = MARGINED) -> Question:
    m = draw(st.integers(2, 4))
    kind = draw(st.sampled_from(kinds))
    voters = draw(st.integers(2, 40 if m < 4 else 14))
    margin = draw(st.integers(0, voters + 1)) if kind in MARGINED else None
    return Question(
        belief=draw(beliefs(m)),
        truth=draw(st.permutations(range(m)).map(tuple)),
        voters=voters,
        contest=Contest(kind=kind, margin=margin),
    )


@settings(max_examples=150)
@given(questions())
def test_a_lie_never_gains_more_than_the_bound(question: Question) -> None:
    exact = gain(question, "enumerate")
    assert exact.low == exact.high <= gain(question, "bound").high


@st.composite
def truncated_questions(draw: st.DrawFn) -> Question:
    ballots = [r for length in range(4) for r in permutations(range(3), length)]
    support = draw(st.lists(st.sampled_from(ballots), min_size=1, max_size=3, unique=True))
    weights = [draw(st.integers(1, 4)) for _ in support]
    shares = tuple((r, Fraction(w, sum(weights))) for r, w in zip(support, weights, strict=True))
    return Question(
        belief=Belief(candidates=("a", "b", "c"), shares=shares, truncated=True),
        truth=draw(st.sampled_from(ballots[1:])),
        voters=draw(st.integers(2, 25)),
        contest=Contest(kind=draw(st.sampled_from(MARGINED)), margin=draw(st.integers(0, 12))),
    )


@settings(max_examples=100)
@given(truncated_questions())
def test_neither_does_a_lie_where_ballots_may_be_truncated(question: Question) -> None:
    """Not voting included (theory: Theorem B1 holds as it stands over the larger set of ballots)."""
    exact = gain(question, "enumerate")
    assert exact.low == exact.high <= gain(question, "bound").high


@settings(max_examples=60)
@given(questions(BY_TOPS))
def test_three_candidates_by_top_counts_agree_with_every_profile(question: Question) -> None:
    if len(question.belief.candidates) == 3:
        exact, close = gain(question, "enumerate"), gain(question, "three")
        assert close.low <= exact.high <= close.high
        assert close.high - close.low < Fraction(1, 10**11)


@settings(max_examples=80)
@given(questions(("plurality",)), st.booleans(), st.data())
def test_plurality_by_pivots_agrees_with_every_profile(question: Question, fixed: bool, data: st.DataObject) -> None:
    if fixed:
        order = tuple(data.draw(st.permutations(range(len(question.belief.candidates)))))
        question = replace(question, contest=Contest(kind="plurality", order=order))
    exact, close = gain(question, "enumerate"), gain(question, "pivots")
    assert close.low <= exact.high <= close.high
    assert close.high - close.low < Fraction(1, 10**12)


@settings(max_examples=15, deadline=None)
@given(beliefs(4), st.permutations(range(4)), st.integers(2, 12))
def test_runoff_of_four_agrees_with_every_profile(others: Belief, truth: list[int], voters: int) -> None:
    question = Question(belief=others, truth=tuple(truth), voters=voters, contest=Contest(kind="instant-runoff"))
    exact, close = gain(question, "enumerate"), gain(question, "four")
    assert close.low <= exact.high <= close.high
    assert close.high - close.low < Fraction(1, 10**11)


@settings(max_examples=40)
@given(questions(BY_TOPS), st.data())
def test_no_consistent_utility_gains_more_than_the_supremum(question: Question, data: st.DataObject) -> None:
    """And the gain of names does not depend on what candidates are called."""
    m = len(question.belief.candidates)
    steps = data.draw(st.lists(st.integers(0, 12), min_size=m, max_size=m, unique=True))
    falling = sorted(steps, reverse=True)
    values = [Fraction(0)] * m
    for candidate, step in zip(question.truth, falling, strict=True):
        values[candidate] = Fraction(step, 12)
    worth = Utility(candidates=question.belief.candidates, values=tuple(values))
    one = Question(
        belief=question.belief, truth=question.truth, voters=question.voters, contest=question.contest, worth=worth
    )
    most = gain(question, "enumerate").high
    assert gain(one, "enumerate").high <= most
    turn = tuple(data.draw(st.permutations(range(m))))
    shares = tuple((tuple(turn[c] for c in r), share) for r, share in question.belief.shares)
    renamed = Question(
        belief=Belief(candidates=question.belief.candidates, shares=shares),
        truth=tuple(turn[c] for c in question.truth),
        voters=question.voters,
        contest=question.contest,
    )
    assert gain(renamed, "enumerate").high == most
    every = tuple(r for r in permutations(range(m)) if r != question.truth)
    tried = Question(
        belief=question.belief, truth=question.truth, voters=question.voters, contest=question.contest, lies=every
    )
    assert gain(tried, "enumerate").high == most


@settings(max_examples=100)
@given(beliefs(3), beliefs(3), st.fractions(0, 1, max_denominator=20))
def test_mixtures_are_coarse_and_texts_come_back(one: Belief, two: Belief, weight: Fraction) -> None:
    mixed = mixture([(weight, one), (1 - weight, two)])
    assert mixed.coarseness.numerator == 1
    assert all((share / mixed.coarseness).denominator == 1 for _, share in mixed.shares)
    assert belief(mixed.text(), mixed.candidates) == mixed
