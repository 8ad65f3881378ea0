"""Plurality by the chances that a ballot decides: inside its bounds of the exact rationals, for any candidates."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb

import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.manipulation import gain_pivots
from hubbub.voting.manipulation.beliefs import Belief, dirichlet
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_masses import Masses, window
from hubbub.voting.manipulation.gain_pivots import gain_of, pivots
from hubbub.voting.manipulation.gain_profiles import laws_of_reports


def some(label: str, size: int) -> list[int]:
    return [int(word) for word in ScriptedSource.from_label(label).words(size)]


def drawn(i: int) -> Question:
    """Two to six candidates, few voters, one to four rankings or none, ties at random or by an order."""
    w = some(f"pivots {i}", 32)
    m = 2 + w[0] % 5
    rankings = list(permutations(range(m)))
    blank = w[1] % 3 == 0
    support = sorted({rankings[x % len(rankings)] for x in w[2 : 3 + w[6] % 4]}) + ([()] if blank else [])
    weights = [1 + x % 4 for x in w[8 : 8 + len(support)]]
    shares = tuple((r, Fraction(k, sum(weights))) for r, k in zip(support, weights, strict=True))
    order = rankings[w[20] % len(rankings)] if w[21] % 2 else None
    return Question(
        belief=Belief(candidates=tuple("abcdef"[:m]), shares=shares, truncated=blank),
        truth=rankings[w[22] % len(rankings)],
        voters=2 + w[23] % 8,
        contest=Contest(kind="plurality", order=order),
    )


@pytest.mark.parametrize("i", range(80))
def test_agrees_with_every_profile_counted(i: int) -> None:
    """Every lie, not voting included, and every corner: exact rationals lie between the bounds."""
    question = drawn(i)
    exact = laws_of_reports(question.belief, question.voters, question.contest, [question.truth, *question.reports])
    flows = pivots(question.belief, question.voters, question.contest.order)
    for lie in question.reports:
        change = exact[lie]
        for worth in question.worths:
            gained = sum((v * by for v, by in zip(worth.values, change, strict=True)), Fraction(0))
            low, high = gain_of(flows, question.truth[0], lie[0] if lie else None, worth.values)
            assert low <= gained <= high
            assert high - low < Fraction(1, 10**12)


def test_table_b4_the_motivating_example() -> None:
    """C(n - 1, (n - 1)/2)/2^n, the gain of voting a with half a and half b on top, also for 10,001 voters."""
    others = Belief(candidates=("a", "b", "c"), shares=(((0, 1, 2), Fraction(1, 2)), ((1, 0, 2), Fraction(1, 2))))
    for voters in (11, 101, 1001, 10_001):
        question = Question(belief=others, truth=(2, 0, 1), voters=voters, contest=Contest(kind="plurality"))
        found = gain(question, "pivots")
        exact = Fraction(comb(voters - 1, (voters - 1) // 2), 2**voters)
        assert found.low <= exact <= found.high
        assert found.high - found.low < exact / 10**11


@pytest.mark.parametrize(("m", "voters"), [(4, 301), (3, 601)])
def test_windows_leave_out_only_what_they_say(m: int, voters: int) -> None:
    """B2 at sizes where counts go beyond the windows: equally likely tops and random ties reward no lie at all."""
    found = gain(
        Question(
            belief=dirichlet({}, "abcdef"[:m]), truth=tuple(range(m)), voters=voters, contest=Contest(kind="plurality")
        ),
        "pivots",
    )
    assert found.low == 0
    assert found.high < Fraction(1, 10**13)


@pytest.mark.parametrize("order", [None, (2, 0, 1)])
def test_narrow_windows_are_paid_for_in_the_upper_bound(
    order: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With windows so narrow that they cut off what matters, exact rationals still lie between the bounds."""
    shares = tuple((r, Fraction(k, 9)) for r, k in (((0, 1, 2), 2), ((1, 0, 2), 3), ((2, 1, 0), 4)))
    question = Question(
        belief=Belief(candidates=tuple("abc"), shares=shares),
        truth=(0, 1, 2),
        voters=30,
        contest=Contest(kind="plurality", order=order),
    )
    exact = gain(question, "enumerate")
    whole = gain(question, "pivots")
    monkeypatch.setattr(gain_pivots, "window", lambda others, chance: window(others, chance, Fraction(1, 20)))
    narrow = gain(question, "pivots")
    assert narrow.low <= exact.low <= narrow.high
    assert narrow.high - narrow.low > 10**6 * (whole.high - whole.low)


def test_three_candidates_by_top_counts_agree() -> None:
    others = Belief(
        candidates=tuple("abc"), shares=tuple((r, Fraction(k, 21)) for k, r in enumerate(permutations(range(3)), 1))
    )
    for order in (None, (1, 2, 0)):
        contest = Contest(kind="plurality", order=order)
        question = Question(belief=others, truth=(0, 2, 1), voters=401, contest=contest)
        one, two = gain(question, "pivots"), gain(question, "three")
        assert max(one.low, two.low) <= min(one.high, two.high)
        assert one.lie == two.lie


def test_the_factors_make_the_multinomial_law() -> None:
    chances = (Fraction(1, 3), Fraction(1, 2), Fraction(1, 6), Fraction(0))
    masses = Masses(12, chances)
    factors = [masses.factor(chance) for chance in chances]
    for a in range(13):
        for b in range(13 - a):
            exact = comb(12, a) * comb(12 - a, b) * chances[0] ** a * chances[1] ** b * chances[2] ** (12 - a - b)
            found = masses.norm * factors[0][a] * factors[1][b] * factors[2][12 - a - b]
            assert found == pytest.approx(float(exact), rel=1e-14)
    table = masses.binomials(9, Fraction(1, 3))
    assert table[9, 4] == pytest.approx(float(comb(9, 4) * Fraction(1, 3) ** 4 * Fraction(2, 3) ** 5), rel=1e-14)
    assert table[3, 4] == 0


@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(1, 50), Fraction(49, 50), Fraction(0), Fraction(1)])
def test_a_window_misses_no_more_than_it_says(chance: Fraction) -> None:
    for rare in (Fraction(1, 100), Fraction(1, 10**9)):
        found = window(60, chance, rare)
        outside = [n for n in range(61) if not found.low <= n <= found.high]
        missed = sum((comb(60, n) * chance**n * (1 - chance) ** (60 - n) for n in outside), Fraction(0))
        assert missed <= found.beyond <= 2 * rare


def test_what_is_refused() -> None:
    others = dirichlet({}, "abc")
    with pytest.raises(WrongUse, match="for plurality"):
        gain(Question(belief=others, truth=(0, 1, 2), voters=9, contest=Contest(kind="borda")), "pivots")
    names = tuple("abcdefghijklmnop")
    shares = tuple(((i, *(j for j in range(16) if j != i)), Fraction(i + 1, 136)) for i in range(16))
    many = Belief(candidates=names, shares=shares)
    with pytest.raises(WrongUse, match="ask for a sample"):
        gain(Question(belief=many, truth=tuple(range(16)), voters=10**5, contest=Contest(kind="plurality")), "pivots")
