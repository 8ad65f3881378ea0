"""What a margin promises: table B5, the inverse questions, and the thesis's own numbers beside them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.numeric.exact import INFINITY, ball, rational
from hubbub.voting.guarantees.guarantee import (
    SMALL_ELECTION,
    SMALL_GAIN,
    alpha_needed,
    best_margin,
    gain_bound,
    observations,
    possible_ballots,
    thesis_rate,
    thesis_voters,
)
from hubbub.voting.rules.margins import KINDS, alpha_min, default_margin
from hubbub.voting.rules.punishing import mix_probability

REPEATED = "repeated-plurality"
TWELFTH = Fraction(1, 10**12)
GAINS = (Fraction(1, 1000), Fraction(1, 10**6), Fraction(1, 2**100))

B5: list[tuple[int, str, int, float, float, str, tuple[str, ...]]] = [
    # n, d, B, ln delta of the thesis, ln keep part, alpha of its rate, alpha needed for 1e-3, 1e-6, 2^-100
    (10**4, "0.1", 251, 2.1, -1.4, ".146", ("none", "none", "none")),
    (10**4, "0.25", 1000, -9.6, -48, ".333", (".141", ".155", "none")),
    (10**4, "0.4", 3981, -195, -813, ">1", (".435", ".448", ".503")),
    (10**6, "0.1", 3981, 0.9, -6, ".030", ("none", "none", "none")),
    (10**6, "0.25", 31622, -122, -498, ".098", (".036", ".037", ".044")),
    (10**6, "0.4", 251188, -7884, -31886, ">1", (".255", ".257", ".263")),
]


@pytest.mark.parametrize(("voters", "d", "margin", "thesis", "keep", "rate", "needed"), B5)
def test_table_b5_to_the_printed_digits(
    voters: int, d: str, margin: int, thesis: float, keep: float, rate: str, needed: tuple[str, ...]
) -> None:
    """B is printed as n^(1/2+d) rounded; counts are whole, so what counts is the whole number below."""
    found = thesis_rate(REPEATED, voters, 3, rational(d))
    assert found.margin == margin
    assert float(found.delta.log()) == pytest.approx(thesis, abs=0.5 if abs(thesis) > 90 else 0.05)
    assert float(found.keep_part.log()) == pytest.approx(keep, abs=0.5 if abs(keep) > 2 else 0.05)
    assert found.alpha > 1 if rate == ">1" else round(float(found.alpha), 3) == float(rate)
    for eta, text in zip(GAINS, needed, strict=True):
        alpha = alpha_needed(REPEATED, voters, 3, eta, margin)
        if text == "none":
            assert alpha is INFINITY
        else:
            assert isinstance(alpha, Fraction)
            assert round(float(alpha), 3) == float(text)
            assert gain_bound(REPEATED, voters, 3, margin, alpha) <= eta
            assert gain_bound(REPEATED, voters, 3, margin, alpha * Fraction(9999, 10000)) > eta


@pytest.mark.parametrize("kind", KINDS)
def test_theorem_b1_the_sharp_bound_is_below_the_squares(kind: str) -> None:
    """At B* and its alpha_min the Kullback-Leibler form promises at most eta, and needs a smaller alpha."""
    for voters, m, eta, r in ((2001, 3, TWELFTH, 1), (50_000, 5, GAINS[2], 1), (20_000, 4, GAINS[0], 3)):
        span = r if kind == "scoring" else 1
        margin = default_margin(kind, voters, m, eta, points_range=span)
        least = alpha_min(kind, voters, m, eta, margin, points_range=span)
        assert isinstance(least, Fraction)
        assert gain_bound(kind, voters, m, margin, least, points_range=span) <= eta
        sharp = alpha_needed(kind, voters, m, eta, margin, points_range=span)
        assert isinstance(sharp, Fraction)
        assert sharp <= least


def test_rate_check_of_the_thesis() -> None:
    """n >= (3/alpha + 1)^ceil(1/(1/2 - d)) gives (n - 1) alpha >= 3 n^(1/2 + d)."""
    for d in (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)):
        for parts in (1, 2, 5, 16):
            n = thesis_voters(Fraction(1, parts), d)
            assert ball(Fraction(n - 1, parts)) >= 3 * ball(n) ** ball(d + Fraction(1, 2))
            assert thesis_rate(REPEATED, n, 3, d).alpha <= Fraction(1, parts) * (1 + Fraction(1, 10**15))


def test_gain_bound_falls_with_coarseness_and_is_never_above_1() -> None:
    bounds = [gain_bound(REPEATED, 10_000, 3, 785, Fraction(1, k)) for k in range(1, 40)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == 1
    assert gain_bound(REPEATED, 11, 3, 19, Fraction(1, 2)) == 1  # a margin wider than the election drops nobody


def test_the_best_margin_is_the_best() -> None:
    for voters, alpha in ((1001, Fraction(1, 4)), (10_000, Fraction(1, 8)), (10_000, Fraction(1, 2))):
        best = best_margin(REPEATED, voters, 3, alpha)
        bound = gain_bound(REPEATED, voters, 3, best, alpha)
        for other in range(best - 40, best + 41):
            assert bound <= gain_bound(REPEATED, voters, 3, other, alpha)


@pytest.mark.parametrize(
    ("voters", "alpha", "power"),
    [(10**4, "1/4", -95), (10**4, "1/8", -7), (10**5, "1/8", -258), (10**6, "1/32", -146), (10**4, "1/2", -481)],
)
def test_the_remark_on_2_to_the_minus_100_with_theorem_b1(voters: int, alpha: str, power: int) -> None:
    """q of the punishing mix at the best margin, utilities as coarse as beliefs (Definition 75 has one alpha)."""
    coarse = rational(alpha)
    gained = gain_bound(REPEATED, voters, 3, best_margin(REPEATED, voters, 3, coarse), coarse)
    q = mix_probability(gain=gained, voters=voters, candidates=3, utility_coarseness=coarse)
    assert Fraction(2) ** (power - 1) < q < Fraction(2) ** (power + 1)


def test_below_a_thousand_voters_the_guarantee_is_empty() -> None:
    """No margin covers a third: the best one for alpha = 1/3 allows more than 1e-12."""
    for voters in (10, 100, SMALL_ELECTION):
        best = best_margin(REPEATED, voters, 3, Fraction(1, 3))
        assert gain_bound(REPEATED, voters, 3, best, Fraction(1, 3)) > SMALL_GAIN


def test_observations_and_ballots() -> None:
    assert observations(INFINITY, 3) == (0, None)
    assert observations(Fraction(3, 2), 3) == (0, None)
    assert observations(Fraction(1, 6), 3) == (6, 0)
    assert observations(Fraction(156, 1000), 3) == (6, 0)
    assert observations(Fraction(1, 3), 3) == (3, None)
    assert observations(Fraction(1, 20), 3, truncated=True) == (20, 4)
    assert [possible_ballots(m) for m in (2, 3, 4)] == [2, 6, 24]
    assert possible_ballots(3, truncated=True) == 1 + 3 + 6 + 6
