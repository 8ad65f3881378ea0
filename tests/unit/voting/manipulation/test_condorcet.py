"""Condorcet efficiency: against every profile counted, and the figures known for equally likely orders."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.manipulation.beliefs import Belief, dirichlet
from hubbub.voting.manipulation.condorcet import ERROR, efficiencies
from hubbub.voting.manipulation.gain_profiles import Weights, every_profile
from hubbub.voting.manipulation.gain_three import REPORTS
from hubbub.voting.manipulation.gain_winners import CONTESTS, Contest, Tally, denominator, lotteries


def counted(belief: Belief, voters: int, contest: Contest) -> tuple[Fraction, Fraction]:
    """(elected, exists), exactly, profile by profile."""
    support = [ranking for ranking, _ in belief.shares]
    weights = Weights(belief, voters)
    (profiles,) = every_profile(belief, voters)
    elected = exists = Fraction(0)
    for row, chances in zip(profiles.tolist(), lotteries(contest, Tally(support, 3, profiles)).tolist(), strict=True):
        mass = Fraction(weights.ways_to_make(row), weights.total)
        for w in range(3):
            over = [
                sum(n for n, r in zip(row, support, strict=True) if r.index(w) < r.index(x)) for x in range(3) if x != w
            ]
            if all(2 * votes > voters for votes in over):
                exists += mass
                elected += mass * Fraction(chances[w], denominator(contest, 3))
    return elected, exists


@pytest.mark.parametrize("i", range(16))
def test_agrees_with_every_profile_counted(i: int) -> None:
    w = [int(word) for word in ScriptedSource.from_label(f"condorcet {i}").words(16)]
    support = sorted({REPORTS[x % 6] for x in w[: 1 + w[8] % 6]})
    weights = [1 + x % 4 for x in w[9 : 9 + len(support)]]
    shares = tuple((r, Fraction(k, sum(weights))) for r, k in zip(support, weights, strict=True))
    belief, voters = Belief(candidates=tuple("abc"), shares=shares), 3 + i % 5
    order = REPORTS[i % 6] if i % 3 == 0 else None
    contests = [
        Contest(kind=kind, margin=i % 4 if kind in CONTESTS[2:4] else None, order=order) for kind in CONTESTS[:-2]
    ]
    for contest, found in zip(contests, efficiencies(belief, voters, contests), strict=True):
        elected, exists = counted(belief, voters, contest)
        assert abs(found.elected - elected) < ERROR
        assert abs(found.exists - exists) < ERROR


def test_figures_known_for_many_voters_and_equally_likely_orders() -> None:
    """Limits for three candidates: there is a Condorcet winner in 91.2 %; plurality elects 75.7, Borda 90.1, runoff
    96.9 % of them (Gehrlein and Fishburn; the values for 1001 voters are near)."""
    contests = [Contest(kind=kind) for kind in ("plurality", "instant-runoff", "borda")]
    found = efficiencies(dirichlet({}, "abc"), 1001, contests)
    assert [round(each.share or 0, 3) for each in found] == [0.762, 0.963, 0.901]
    assert {round(each.exists, 4) for each in found} == {0.9123}


def test_a_wide_margin_makes_it_plurality() -> None:
    uniform = dirichlet({}, "abc")
    plain, wide = efficiencies(
        uniform, 101, [Contest(kind="plurality"), Contest(kind="repeated-plurality", margin=200)]
    )
    assert plain == wide
    never = Belief(
        candidates=tuple("abc"), shares=tuple((r, Fraction(1, 3)) for r in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
    )
    assert efficiencies(never, 1001, [Contest(kind="borda")])[0].share is None  # a cycle is nearly certain


def test_what_is_refused() -> None:
    with pytest.raises(WrongUse, match="three candidates"):
        efficiencies(dirichlet({}, "abcd"), 11, [Contest(kind="plurality")])
    with pytest.raises(WrongUse, match="up to 2,001 voters"):
        efficiencies(dirichlet({}, "abc"), 5000, [Contest(kind="plurality")])
