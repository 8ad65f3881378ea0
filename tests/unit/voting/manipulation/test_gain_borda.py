"""Borda's count with three candidates: inside its bounds of the exact rationals, and the transform it rests on."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.manipulation import gain_borda
from hubbub.voting.manipulation.beliefs import Belief, dirichlet
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_borda import close_points, moves_of_borda, power, roots, smooth
from hubbub.voting.manipulation.gain_profiles import laws_of_reports
from hubbub.voting.manipulation.gain_three import REPORTS
from hubbub.voting.manipulation.gain_winners import points


def drawn(i: int) -> Belief:
    w = [int(word) for word in ScriptedSource.from_label(f"borda {i}").words(16)]
    support = sorted({REPORTS[x % 6] for x in w[: 1 + w[8] % 6]})
    weights = [1 + x % 4 for x in w[9 : 9 + len(support)]]
    shares = tuple((r, Fraction(k, sum(weights))) for r, k in zip(support, weights, strict=True))
    return Belief(candidates=tuple("abc"), shares=shares)


@pytest.mark.parametrize("i", range(30))
def test_agrees_with_every_profile_counted(i: int) -> None:
    others, voters = drawn(i), 2 + i % 9
    contest = Contest(kind="borda", order=REPORTS[i % 6] if i % 2 else None)
    truth = REPORTS[(5 * i) % 6]
    lies = [report for report in REPORTS if report != truth]
    exact = laws_of_reports(others, voters, contest, [truth, *lies])
    for lie, bounds in moves_of_borda(others, voters, contest, (truth,))[truth].items():
        for first, (low, high) in enumerate(bounds, 1):
            gained = sum((exact[lie][c] for c in truth[:first]), Fraction(0))
            assert low <= gained <= high
            assert high - low < Fraction(1, 10**10)


def exact_points(others: Belief, number: int) -> Counter[tuple[int, int, int]]:
    """The law of the points, as rationals, ballot by ballot."""
    law: dict[tuple[int, int, int], Fraction] = {(0, 0, 0): Fraction(1)}
    for _ in range(number):
        further: dict[tuple[int, int, int], Fraction] = {}
        for scored, chance in law.items():
            for ranking, share in others.shares:
                a, b, c = points(ranking, 3)
                at = (scored[0] + a, scored[1] + b, scored[2] + c)
                further[at] = further.get(at, Fraction(0)) + chance * share
        law = further
    return Counter(law)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_law_of_points_is_right_to_its_error(wrapped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the grid is narrower than the points, so that they come back on its other side."""
    number = 60
    if wrapped:
        monkeypatch.setattr(gain_borda, "_REACH", 5)
    others = drawn(3)
    found, exact = close_points(others, number), exact_points(others, number)
    assert found.all is not wrapped
    wrong = sum(
        abs(Fraction(mass) - exact[tuple(scores)])
        for scores, mass in zip(found.scores.tolist(), found.mass.tolist(), strict=True)
    )
    near = sum(chance for scored, chance in exact.items() if sorted(scored)[2] - sorted(scored)[1] <= 2)
    missed = near - sum(exact[tuple(scores)] for scores in found.scores.tolist())
    assert missed >= 0
    assert wrong + missed <= found.error
    assert found.error < (Fraction(1, 1000) if wrapped else Fraction(1, 10**9))


def test_equal_rankings_reward_no_lie_of_the_second_place() -> None:
    """Uniform belief: burying the second candidate under the third gains nothing by symmetry of the two."""
    question = Question(belief=dirichlet({}, "abc"), truth=(0, 1, 2), voters=501, contest=Contest(kind="borda"))
    found = gain(question)
    assert found.method == "three"
    assert found.low == 0
    assert found.high < Fraction(1, 10**10)


def test_numpys_transform_is_right_to_what_is_assumed() -> None:
    """Relative to the root of the sum of squares, against transforms that are known: t is 2^-47 log2(M^2)."""
    for size in (60, 640, 1024):
        turn = roots(size)
        at = np.arange(size)
        one = 0.5 * turn[at][:, None] + 0.5 * turn[(2 * at) % size][None, :] * turn[at][:, None]
        law = np.fft.ifft2(power(one, 1)).real
        law[1, 0] -= 0.5
        law[1, 2] -= 0.5
        root = math.sqrt(0.5)
        assert math.sqrt(float((law * law).sum())) < root * 2 * size.bit_length() / 2**47 / 8
    number = 41
    law = np.fft.ifft2(power(0.5 + 0.5 * roots(64)[:, None] * np.ones(64), number)).real[:, 0]
    exact = np.array([math.comb(number, k) / 2**number for k in range(number + 1)])
    assert np.abs(law[: number + 1] - exact).max() < 1e-16 * 64


def test_roots_powers_and_sizes() -> None:
    table = roots(12)
    assert table[3] == -1j
    assert abs(table[1] - complex(math.sqrt(3) / 2, -0.5)) < 2e-16
    assert [smooth(least) for least in (1, 7, 11, 613)] == [1, 8, 12, 625]
    assert power(np.array([2 + 0j]), 10)[0] == 1024


def test_truths_together_are_the_truths_alone() -> None:
    others = drawn(7)
    together = moves_of_borda(others, 101, Contest(kind="borda"), REPORTS)
    for truth in permutations(range(3)):
        assert together[truth] == moves_of_borda(others, 101, Contest(kind="borda"), (truth,))[truth]


def test_what_is_refused() -> None:
    with pytest.raises(WrongUse, match="ask for a sample"):
        gain(Question(belief=drawn(1), truth=(0, 1, 2), voters=10**5, contest=Contest(kind="borda")), "three")
