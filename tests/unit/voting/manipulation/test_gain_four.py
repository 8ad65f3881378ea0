"""Instant-runoff with four candidates: inside its bounds of the exact rationals, ties included."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.manipulation import gain_four
from hubbub.voting.manipulation.beliefs import Belief, dirichlet
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_four import REPORTS, gain_of, laws_of_four
from hubbub.voting.manipulation.gain_profiles import laws_of_reports


@pytest.mark.parametrize("i", range(24))
def test_agrees_with_every_profile_counted(i: int) -> None:
    w = [int(word) for word in ScriptedSource.from_label(f"four {i}").words(16)]
    support = sorted({REPORTS[x % 24] for x in w[: 1 + w[8] % 4]})
    weights = [1 + x % 3 for x in w[4 : 4 + len(support)]]
    others = Belief(
        candidates=tuple("abcd"),
        shares=tuple((r, Fraction(k, sum(weights))) for r, k in zip(support, weights, strict=True)),
    )
    order = REPORTS[w[9] % 24] if i % 2 else None
    voters, truth = 2 + w[10] % 9, REPORTS[w[11] % 24]
    lies = [report for report in REPORTS if report != truth]
    exact = laws_of_reports(others, voters, Contest(kind="instant-runoff", order=order), [truth, *lies])
    laws = laws_of_four(others, voters, order)
    for lie in lies:
        change = exact[lie]
        for first in range(1, 4):
            worth = [Fraction(int(c in truth[:first])) for c in range(4)]
            gained = sum((change[c] for c in truth[:first]), Fraction(0))
            low, high = gain_of(laws, voters, truth, lie, worth)
            assert low <= gained <= high
            assert high - low < Fraction(1, 10**11)


def test_chances_add_up_where_piles_are_long() -> None:
    """All orders equally likely: the law adds up to 1, and candidates next to each other in a report are as likely
    to be swapped as their names are."""
    laws = laws_of_four(dirichlet({}, "abcd"), 25)
    for report, law in laws.items():
        assert abs(sum(law) - 1) < Fraction(1, 10**13)
        ranked = [law[c] for c in report]
        assert ranked == sorted(ranked, reverse=True)
        assert max(abs(a - b) for a, b in zip(ranked, [laws[REPORTS[0]][c] for c in range(4)], strict=True)) < 1e-13


def test_narrow_windows_are_paid_for_in_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = tuple((r, Fraction(k, 9)) for r, k in (((0, 1, 2, 3), 2), ((1, 3, 0, 2), 3), ((2, 3, 1, 0), 4)))
    question = Question(
        belief=Belief(candidates=tuple("abcd"), shares=shares),
        truth=(3, 0, 1, 2),
        voters=16,
        contest=Contest(kind="instant-runoff"),
    )
    exact = gain(question, "enumerate")
    monkeypatch.setattr(gain_four, "_BEYOND", Fraction(1, 10**4))
    narrow = gain(question, "four")
    assert narrow.low <= exact.low <= narrow.high
    assert narrow.high - narrow.low > Fraction(1, 10**3)


def test_a_fourth_candidate_without_votes_is_no_candidate() -> None:
    """Nobody ranks d but last, and the voter neither: what is left is instant-runoff of three."""
    three = Belief(
        candidates=tuple("abc"),
        shares=(((0, 1, 2), Fraction(2, 5)), ((1, 2, 0), Fraction(2, 5)), ((2, 0, 1), Fraction(1, 5))),
    )
    four = Belief(candidates=tuple("abcd"), shares=tuple(((*r, 3), share) for r, share in three.shares))
    contest = Contest(kind="instant-runoff")
    fewer = gain(Question(belief=three, truth=(2, 0, 1), voters=41, contest=contest, lies=((0, 2, 1),)), "three")
    more = gain(Question(belief=four, truth=(2, 0, 1, 3), voters=41, contest=contest, lies=((0, 2, 1, 3),)), "four")
    assert max(fewer.low, more.low) <= min(fewer.high, more.high)
    assert more.high - more.low < Fraction(1, 10**11)


def test_what_is_refused() -> None:
    uniform = dirichlet({}, "abcd")
    runoff = Contest(kind="instant-runoff")
    with pytest.raises(WrongUse, match="up to 401 voters"):
        gain(Question(belief=uniform, truth=(0, 1, 2, 3), voters=402, contest=runoff), "four")
    with pytest.raises(WrongUse, match="four candidates"):
        gain(Question(belief=dirichlet({}, "abc"), truth=(0, 1, 2), voters=9, contest=runoff), "four")
