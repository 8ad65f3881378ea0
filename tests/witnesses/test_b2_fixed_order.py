"""Plurality with ties broken by a fixed order rewards a lie though all candidates are equally likely tops.

The thesis takes plurality to be strategy-proof for such beliefs, "breaking ties in some way" (Theorem 77 needs it for
every consistent utility). With ties broken uniformly at random it is; with a fixed order and three candidates it is
not, and what a lie gains falls like 0.41/n and not exponentially. The witness is two voters.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from hubbub.errors import Refused
from hubbub.voting.ballots import Ballots
from hubbub.voting.manipulation.beliefs import Belief, belief
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_profiles import laws_of_reports
from hubbub.voting.manipulation.gain_three import moves_of_three
from hubbub.voting.rules.rules import make
from hubbub.voting.ties import FixedTies

X, Y, Z = 0, 1, 2
EVEN = belief("xyz:1/3,yzx:1/3,zxy:1/3")
TRUTH = (X, Y, Z)
ORDER = (Y, Z, X)  # y before z before x
FIXED = Contest(kind="plurality", order=ORDER)
DRAWN = Contest(kind="plurality")


def test_the_witness_two_voters() -> None:
    """The truth gives (1 + u(y))/3 and reporting y gives u(y): a gain as soon as u(y) > 1/2, up to 1/3."""
    lie = (Y, X, Z)
    rule = make("plurality", ties=FixedTies(("y", "z", "x")))
    chances = {}
    for report in (TRUTH, lie):
        total = [Fraction(0)] * 3
        for other, share in EVEN.shares:
            names = [tuple("xyz"[c] for c in ranking) for ranking in (report, other)]
            ballots = Ballots.from_counts("xyz", {n: names.count(n) for n in names})
            for c, chance in enumerate(rule.lottery(ballots)):
                total[c] += share * chance
        chances[report] = total
    assert chances[TRUTH] == [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    assert chances[lie] == [0, 1, 0]
    for steps in range(1, 20):
        u = Fraction(steps, 20)
        honest, lying = (chances[report][X] + u * chances[report][Y] for report in (TRUTH, lie))
        assert honest == (1 + u) / 3
        assert lying == u
        assert (lying > honest) is (u > Fraction(1, 2))
    assert laws_of_reports(EVEN, 2, FIXED, [TRUTH, lie])[lie] == (Fraction(-1, 3), Fraction(2, 3), Fraction(-1, 3))
    assert gain(Question(belief=EVEN, truth=TRUTH, voters=2, contest=FIXED)).high == Fraction(1, 3)


@pytest.mark.parametrize("voters", [2, 3, 8, 11])
@pytest.mark.parametrize("m", [3, 4])
def test_b2_with_ties_drawn_at_random_no_lie_pays(m: int, voters: int) -> None:
    """Exact rationals, every truth being alike by exchangeability: the best gain is 0."""
    names = tuple("wxyz"[:m])
    cycles = tuple(((*range(c, m), *range(c)), Fraction(1, m)) for c in range(m))
    even = Belief(candidates=names, shares=cycles)
    question = Question(belief=even, truth=tuple(range(m)), voters=voters, contest=DRAWN)
    found = gain(question, "enumerate")
    assert found.low == found.high == 0


ROW = {11: ".0349", 101: ".00394", 1001: "4.08e-4", 2001: "2.04e-4"}
"""The supremum of the gain for a fixed order. (The table has 2.05e-4 at n = 2001; 2.0446e-4 is certified here.)"""

THRESHOLD = {11: ".144", 101: ".0522", 1001: ".0174", 2001: ".0124"}
"""The lie pays exactly for utilities less coarse than this."""


@pytest.mark.parametrize("voters", ROW)
def test_the_row_of_suprema(voters: int) -> None:
    found = gain(Question(belief=EVEN, truth=TRUTH, voters=voters, contest=FIXED), "three")
    digits = len(ROW[voters].partition("e")[0].lstrip(".0").replace(".", ""))
    for end in (found.low, found.high):
        assert float(f"{float(end):.{digits}g}") == float(ROW[voters])
    assert found.lie is not None
    assert found.lie[0] == Y
    assert Fraction(38, 100) < voters * found.low < Fraction(42, 100)  # about 0.41/n


@pytest.mark.parametrize("voters", THRESHOLD)
def test_the_row_of_thresholds(voters: int) -> None:
    """With u = (1, 1 - a, 0) the gain is a first + (1 - a) second: it pays iff a < second/(second - first)."""
    (first, _), (second, _) = moves_of_three(EVEN, voters, FIXED, [TRUTH])[TRUTH][(Y, X, Z)]
    assert first < 0 < second
    assert float(f"{float(second / (second - first)):.3g}") == float(THRESHOLD[voters])


def test_no_truth_and_no_belief_with_these_tops_gains_more() -> None:
    worst = gain(Question(belief=EVEN, truth=TRUTH, voters=31, contest=FIXED)).high
    for truth in permutations(range(3)):
        assert gain(Question(belief=EVEN, truth=truth, voters=31, contest=FIXED)).high <= worst


def test_the_guarantee_is_refused_for_a_fixed_order() -> None:
    contest = Contest(kind="repeated-plurality", margin=100, order=ORDER)
    with pytest.raises(Refused, match="fixed order"):
        gain(Question(belief=EVEN, truth=TRUTH, voters=1001, contest=contest), "bound")
