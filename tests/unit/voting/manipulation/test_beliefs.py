"""Beliefs: read, made from ballots, mixed; their coarseness; utilities likewise."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.manipulation.beliefs import (
    Belief,
    Ranking,
    belief,
    dirichlet,
    empirical,
    mixture,
    observed_in,
    read_ranking,
)
from hubbub.voting.manipulation.question import Utility, check_consistent, corners, utility

ABC = ("a", "b", "c")


def test_text_comes_back() -> None:
    for text in ("abc:0.5,bac:0.5", "kiss>wright:0.25,wright>kiss:0.75", "cba:1", "abc:1/3,cba:2/3"):
        assert belief(text).text() == text
    short = belief("ab:0.5,c:0.25,:0.25", ABC, truncated=True)
    assert short.text() == "ab:0.5,c:0.25,:0.25"
    assert belief(short.text(), ABC, truncated=True) == short


@pytest.mark.parametrize(
    ("text", "coarse"),
    [
        ("abc:1/2,bac:1/2", Fraction(1, 2)),
        ("abc:1", Fraction(1)),
        ("abc:1/2,bac:1/3,cab:1/6", Fraction(1, 6)),
        ("abc:0.4,bac:0.6", Fraction(1, 5)),
        ("abc:2/3,bac:1/3", Fraction(1, 3)),
        ("abc:4/9,bac:5/9", Fraction(1, 9)),
    ],
)
def test_coarseness_is_one_over_the_common_denominator(text: str, coarse: Fraction) -> None:
    """beta is one over a whole number, because the masses sum to 1; every mass is a multiple of it, and none larger."""
    found = belief(text)
    assert found.coarseness == coarse
    assert all((share / coarse).denominator == 1 for _, share in found.shares)
    assert coarse.numerator == 1


def test_tops_count_the_best_of_those_left() -> None:
    found = belief("abc:1/2,bca:1/4,cab:1/4")
    assert found.tops(range(3)) == {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}
    assert found.tops([1, 2]) == {1: Fraction(3, 4), 2: Fraction(1, 4)}
    assert belief("a:1/2,bca:1/2", ABC, truncated=True).tops([1, 2]) == {1: Fraction(1, 2), 2: 0}


def test_a_belief_from_ballots() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b", "c"): 3, ("b", "a", "c"): 1, ("b",): 2})
    seen = observed_in(ballots)
    assert seen == {(0, 1, 2): 3, (1, 0, 2): 1, (1,): 2}
    frequencies = empirical(seen, ABC, truncated=True)
    assert dict(frequencies.shares)[(1,)] == Fraction(1, 3)
    assert frequencies.coarseness == Fraction(1, 6)
    with pytest.raises(WrongUse, match="truncated"):
        empirical(seen, ABC)
    with pytest.raises(WrongUse, match="at least one"):
        empirical({}, ABC)


def test_appendix_b2_empirical_and_dirichlet_beliefs_are_coarse() -> None:
    for ballots in range(1, 30):
        seen: dict[Ranking, int] = {(0, 1, 2): ballots // 2 + 1, (2, 1, 0): ballots - ballots // 2}
        total = sum(seen.values())
        assert empirical(seen, ABC).coarseness >= Fraction(1, total)
        posterior = dirichlet(seen, ABC)
        assert posterior.coarseness >= Fraction(1, 6 + total)
        assert dict(posterior.shares)[(0, 2, 1)] == Fraction(1, 6 + total)
        assert len(posterior.shares) == 6
    assert dirichlet({}, ABC).coarseness == Fraction(1, 6)
    with pytest.raises(WrongUse, match="rankings"):
        dirichlet({}, tuple("abcdefghi"))


def test_a_mixture_is_a_belief_and_takes_rationals_only() -> None:
    one, two = belief("abc:1/2,bac:1/2"), belief("abc:1/3,cab:2/3", ABC)
    mixed = mixture([("1/4", one), (Fraction(3, 4), two)])
    assert dict(mixed.shares) == {(0, 1, 2): Fraction(3, 8), (1, 0, 2): Fraction(1, 8), (2, 0, 1): Fraction(1, 2)}
    assert mixed.coarseness == Fraction(1, 8)
    with pytest.raises(FloatRefused, match="exact"):
        mixture([(0.5**0.5, one), (1 - 0.5**0.5, two)])
    with pytest.raises(WrongUse, match="add up to 1"):
        mixture([("1/2", one)])
    with pytest.raises(WrongUse, match="same candidates"):
        mixture([("1/2", one), ("1/2", belief("abd:1"))])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("abc:1/2,bac:1/3", "add up to 5/6"),
        ("abc", "like abc:1/2"),
        ("abc:1/2,abc:1/2", "twice"),
        ("abc:1/2,abb:1/2", "at most once"),
        ("abc:1/2,ab:1/2", "2 of 3 candidates"),
        ("abc:-1,bac:2", "above 0"),
        ("abc:x", "number like"),
        ("aa:1", "two candidates|at most once"),
        ("", "like abc:1/2"),
    ],
)
def test_a_wrong_belief_is_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(WrongUse, match=complaint):
        belief(text)


def test_an_unknown_candidate_is_named() -> None:
    with pytest.raises(WrongUse, match="'d' in 'abd' is no candidate"):
        read_ranking("abd", ABC)
    assert read_ranking("kiss", ("kiss", "wright"), truncated=True) == (0,)
    with pytest.raises(WrongUse, match="rational above 0"):
        Belief(candidates=ABC, shares=(((0, 1, 2), 1.0),))  # type: ignore[arg-type]


# --- utilities ----------------------------------------------------------------------------------------------------


def test_utilities_are_read_and_their_coarseness_is_the_least_step() -> None:
    worth = utility("c=1, a=0.4, b=0", ABC)
    assert worth.values == (Fraction(2, 5), Fraction(0), Fraction(1))
    assert worth.coarseness == Fraction(2, 5)
    assert worth.text() == "a=0.4,b=0,c=1"
    assert utility("a=1/2,b=1/2,c=1/2", ABC).coarseness == 1
    assert worth.consistent_with((2, 0, 1))
    assert not worth.consistent_with((0, 2, 1))
    assert utility("a=1,b=0,c=0", ABC).consistent_with((0,))
    assert not utility("a=1,b=0.5,c=0", ABC).consistent_with((0,))
    with pytest.raises(WrongUse, match="not consistent"):
        check_consistent(worth, (0, 1, 2))


@pytest.mark.parametrize("text", ["a=1", "a=1,b=0,d=0", "a=1,b=0,a=0", "a=2,b=1,c=0", "a,b,c", "a=x,b=0,c=0"])
def test_a_wrong_utility_is_one_sentence(text: str) -> None:
    with pytest.raises(WrongUse):
        utility(text, ABC)


def test_corners_are_where_a_linear_gain_is_largest() -> None:
    """For falling utilities on a grid, a linear functional is at most its largest value at a corner, or 0."""
    truth = (2, 0, 1)
    found = corners(truth, ABC)
    assert [c.text() for c in found] == ["a=0,b=0,c=1", "a=1,b=0,c=1"]
    grid = [Fraction(i, 6) for i in range(7)]
    for change in permutations((Fraction(-3), Fraction(1), Fraction(2))):
        most = max(sum(v * d for v, d in zip(corner.values, change, strict=True)) for corner in found)
        for top, middle, last in ((x, y, z) for x in grid for y in grid for z in grid if x > y > z):
            worth = Utility(candidates=ABC, values=(middle, last, top))
            assert worth.consistent_with(truth)
            assert sum(v * d for v, d in zip(worth.values, change, strict=True)) <= max(most, 0)
