"""Instant-runoff with many candidates: as many steps as there are rounds, and an early word where ties branch."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.piles import Piles
from hubbub.voting.rules.runoff import MOST_BRANCHES, InstantRunoff
from hubbub.voting.ties import FixedTies


def one_each(candidates: int) -> Ballots:
    """Everybody has one voter, who names nobody else."""
    names = tuple(f"c{i}" for i in range(candidates))
    return Ballots.from_counts(names, {(name,): 1 for name in names})


def test_thousands_of_rounds_need_no_deep_stack() -> None:
    ballots = one_each(1100)
    rule = InstantRunoff(ties=FixedTies(ballots.candidates))
    law = rule.lottery(ballots)
    assert law[0] == 1
    assert rule.run(ballots, ScriptedSource()).winner == 0


def test_ties_that_branch_too_much_are_refused_before_they_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[int] = []
    without = Piles.without_candidates

    def counted(self: Piles, out: Iterable[int]) -> Piles:
        followed.append(1)
        return without(self, out)

    monkeypatch.setattr(Piles, "without_candidates", counted)
    for candidates in (100, 1500):
        followed.clear()
        with pytest.raises(Refused, match="too many for the exact law"):
            InstantRunoff().lottery(one_each(candidates))
        assert len(followed) < MOST_BRANCHES / 20
    result = InstantRunoff().run(one_each(100), SystemSource())
    assert len(result.rounds) == 99


def test_a_dozen_tied_are_followed_to_the_end() -> None:
    assert InstantRunoff().lottery(one_each(12)) == (Fraction(1, 12),) * 12


def test_an_order_that_leaves_somebody_out_is_refused() -> None:
    with pytest.raises(WrongUse, match="name each of them once"):
        InstantRunoff(ties=FixedTies(("c0", "c1"))).lottery(one_each(3))


rankings = st.lists(
    st.permutations("abcdef").flatmap(lambda p: st.integers(0, 6).map(lambda n: tuple(p[:n]))), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(votes=rankings, gone=st.sets(st.integers(0, 5), max_size=5), weighted=st.booleans())
def test_striking_all_at_once_is_striking_one_by_one(
    votes: list[tuple[str, ...]], gone: set[int], weighted: bool
) -> None:
    counts = {vote: (3 if weighted else 1) * votes.count(vote) for vote in votes}
    ballots = Ballots.from_counts(tuple("abcdef"), counts)
    slow, start = Piles(ballots), Piles(ballots)
    before = (list(start.counts), start.exhausted)
    for candidate in sorted(gone):
        slow.strike([candidate])
    fast = start.without_candidates(gone)
    assert (fast.counts, fast.exhausted) == (slow.counts, slow.exhausted)
    assert (start.counts, start.exhausted) == before
    left = next(i for i in range(6) if i not in gone)
    if len(gone) < 5:
        assert fast.strike([left]) == slow.strike([left])
        assert fast.counts == slow.counts


def followed_one_by_one(ballots: dict[tuple[str, ...], int], left: frozenset[str]) -> dict[str, Fraction]:
    """The law of the winner as the rule reads: whoever has the fewest goes, each of several with the same chance."""
    if len(left) == 1:
        return dict.fromkeys(left, Fraction(1))
    counts = dict.fromkeys(left, 0)
    for ranking, voters in ballots.items():
        top = next((name for name in ranking if name in left), None)
        if top is not None:
            counts[top] += voters
    if not any(counts.values()):
        return dict.fromkeys(left, Fraction(1, len(left)))
    last = [name for name in left if counts[name] == min(counts.values())]
    law = dict.fromkeys(left, Fraction(0))
    for name in last:
        for winner, chance in followed_one_by_one(ballots, left - {name}).items():
            law[winner] += chance / len(last)
    return law


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.permutations("abcde").map(tuple).flatmap(lambda r: st.integers(1, 5).map(lambda n: r[:n])),
        st.integers(1, 3),
        min_size=1,
        max_size=8,
    )
)
def test_the_law_is_that_of_every_tie_followed_one_by_one(ballots: dict[tuple[str, ...], int]) -> None:
    names = tuple("abcde")
    law = followed_one_by_one(ballots, frozenset(names))
    assert InstantRunoff().lottery(Ballots.from_counts(names, ballots)) == tuple(law[name] for name in names)
