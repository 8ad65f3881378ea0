"""Three candidates by top counts: inside its error bound of the exact rationals, and what it is built on."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball, log, precision
from hubbub.voting.manipulation.beliefs import Belief, Ranking, belief
from hubbub.voting.manipulation.gain_masses import cut_log, halving_sum, log_factorials
from hubbub.voting.manipulation.gain_profiles import laws_of_reports
from hubbub.voting.manipulation.gain_three import REPORTS, moves_of_three, states
from hubbub.voting.manipulation.gain_winners import CONTESTS, Contest

RANKINGS = list(permutations(range(3)))
NOTHING = ((Fraction(0), Fraction(0)),) * 2


def some(label: str, size: int) -> list[int]:
    return [int(word) for word in ScriptedSource.from_label(label).words(size)]


def drawn_case(i: int) -> tuple[Belief, int, Contest, Ranking]:
    """A belief with one to four rankings, few voters, any of the rules with any margin and any way to break ties."""
    w = some(f"three {i}", 16)
    support = sorted({w[j] % 6 for j in range(1 + w[4] % 4)})
    weights = [1 + w[5 + j] % 3 for j in range(len(support))]
    shares = tuple((RANKINGS[s], Fraction(k, sum(weights))) for s, k in zip(support, weights, strict=True))
    kind = CONTESTS[i % 4]
    margin = w[10] % 7 if i % 4 > 1 else None
    order = RANKINGS[w[11] % 6] if w[12] % 2 else None
    found = Belief(candidates=("a", "b", "c"), shares=shares)
    return found, 2 + w[13] % 10, Contest(kind=kind, margin=margin, order=order), RANKINGS[w[14] % 6]


@pytest.mark.parametrize("i", range(120))
def test_agrees_with_every_profile_counted(i: int) -> None:
    found, voters, contest, truth = drawn_case(i)
    lies = tuple(report for report in REPORTS if report != truth)
    exact = laws_of_reports(found, voters, contest, [truth, *lies])
    for lie, bounds in moves_of_three(found, voters, contest, [truth])[truth].items():
        for j, (low, high) in enumerate(bounds, 1):
            gained = sum((exact[lie][c] for c in truth[:j]), Fraction(0))
            assert low <= gained <= high
            assert high - low < Fraction(1, 10**12)


def test_a_lie_that_changes_nothing_is_exactly_nothing() -> None:
    """Example of chapter 5: c is sure to be dropped, so the voter's ballot counts for a whatever it says first."""
    others = belief("abc:1/2,bac:1/2", ("a", "b", "c"))
    for kind in ("repeated-plurality", "approximate-runoff"):
        found = moves_of_three(others, 1001, Contest(kind=kind, margin=177), [(2, 0, 1)])[(2, 0, 1)]
        assert found[(0, 1, 2)] == NOTHING
        assert found[(0, 2, 1)] == NOTHING


@pytest.mark.parametrize("voters", [201, 401])
def test_half_coarse_beliefs_leave_no_gain_at_all(voters: int) -> None:
    """Theorem B1 checked exactly: alpha = 1/2 gives gain 0, for every such belief and both rules."""
    for i, one in enumerate(RANKINGS):
        for two in RANKINGS[i + 1 :]:
            others = Belief(candidates=("a", "b", "c"), shares=((one, Fraction(1, 2)), (two, Fraction(1, 2))))
            for kind in ("repeated-plurality", "approximate-runoff"):
                found = moves_of_three(others, voters, Contest(kind=kind, margin=voters // 4), [(0, 1, 2)])[(0, 1, 2)]
                assert all(high <= 0 for bounds in found.values() for _, high in bounds)


@pytest.mark.parametrize(("margin", "gain"), [(12, 2.6e-2), (24, 8.2e-3), (36, 1.8e-2)])
def test_too_small_and_too_large_a_margin_reward_a_lie(margin: int, gain: float) -> None:
    """Theory B1, n = 201: the largest gains over all beliefs with denominators 3 and 4 are at these beliefs."""
    text = "abc:1/4,bca:1/4,cba:1/2" if margin == 36 else "abc:1/3,bca:1/3,cba:1/3"
    contest = Contest(kind="repeated-plurality", margin=margin)
    found = moves_of_three(belief(text), 201, contest, [(0, 1, 2)])[(0, 1, 2)]
    largest = max(high for bounds in found.values() for _, high in bounds)
    assert float(f"{float(largest):.2g}") == gain


def test_the_number_of_states() -> None:
    assert states(belief("abc:1"), 100) == 1
    assert states(belief("abc:1/2,bac:1/2"), 100) == 100
    assert states(belief("abc:1/3,bac:1/3,cab:1/3"), 100) == 100 * 101 // 2


# --- what the error bound rests on --------------------------------------------------------------------------------


def test_exp_of_numpy_is_right_to_eight_units_in_the_last_place() -> None:
    words = np.array(some("exp", 4000), dtype=np.uint64)
    points = -np.ldexp((words >> np.uint64(11)).astype(np.float64), -53) * 700
    points[::2] = np.round(points[::2] * 2**26) / 2**26
    values = np.exp(points)
    for x, y in zip(points.tolist(), values.tolist(), strict=True):
        with precision(120):
            error = (ball(Fraction(y)) / ball(Fraction(x)).exp() - 1).abs_upper()
        assert error < ball(Fraction(8, 1 << 52)), x


def test_logarithms_are_cut_where_additions_are_exact() -> None:
    high, low = log_factorials(300)
    for k in (0, 1, 2, 5, 37, 300):
        exact = log(factorial(k))
        assert (float(high[k]) * 2**26).is_integer()
        assert abs(ball(Fraction(high[k]) + Fraction(low[k])) - exact) < ball("1e-24")
    for share in (Fraction(1, 3), Fraction(999, 1000), Fraction(1, 10**9)):
        coarse, fine = cut_log(share)
        assert (coarse * 2**26).is_integer()
        assert abs(fine) <= 2**-27
        assert abs(ball(Fraction(coarse) + Fraction(fine)) - log(share)) < ball("1e-24")


def test_sums_by_halving() -> None:
    for size in (0, 1, 63, 64, 65, 1000, 4097):
        assert halving_sum(np.ones(size)) == size
    terms = np.array([2.0**-k for k in range(200)])
    assert abs(halving_sum(terms) - 2.0) < 1e-15
