"""Margins and the coarseness they cover: the default table, the constants, and rounding against us."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.numeric.exact import INFINITY, ball, lower, upper
from hubbub.voting.guarantees.guarantee import observations
from hubbub.voting.rules.margins import KINDS, alpha_min, default_margin, drop_constant, keep_constant

TWELFTH = Fraction(1, 10**12)
HUNDRED_BITS = Fraction(1, 2**100)


@pytest.mark.parametrize(
    ("voters", "eta", "margin", "alpha", "digits", "ballots"),
    [
        (10**3, TWELFTH, 249, 0.494, 3, 2),
        (10**4, TWELFTH, 785, 0.156, 3, 6),
        (10**4, HUNDRED_BITS, 1205, 0.240, 3, 4),
        (10**5, TWELFTH, 2483, 0.049, 3, 20),
        (10**6, TWELFTH, 7850, 0.0156, 4, 64),
        (10**6, HUNDRED_BITS, 12041, 0.024, 3, 41),
        (10**7, TWELFTH, 24824, 0.0049, 4, 203),
    ],
)
def test_the_default_table_of_b5(
    voters: int, eta: Fraction, margin: int, alpha: float, digits: int, ballots: int
) -> None:
    found = default_margin("repeated-plurality", voters, 3, eta)
    assert found == margin
    least = alpha_min("repeated-plurality", voters, 3, eta, found)
    assert isinstance(least, Fraction)
    assert round(float(least), digits) == alpha
    assert observations(least, 3)[0] == ballots


def rounds(left: int) -> list[list[int]]:
    """Every way repeated plurality may go from `left` candidates: how many each round keeps."""
    return [[left]] + [[kept, *rest] for kept in range(1, left) for rest in rounds(kept)]


@pytest.mark.parametrize("m", range(2, 9))
def test_keep_constant_is_the_worst_path_of_theorem_b1(m: int) -> None:
    assert keep_constant("repeated-plurality", m) == max(sum(e * (e - 1) for e in path) for path in rounds(m))


def test_the_printed_constants_of_theorem_b1() -> None:
    assert [keep_constant("repeated-plurality", m) for m in range(2, 7)] == [2, 6, 12, 24, 44]
    assert [drop_constant("repeated-plurality", m) for m in (2, 3, 6)] == [1, 2, 5]
    assert [keep_constant("approximate-runoff", m) for m in (2, 3, 6)] == [2, 6, 30]
    assert [drop_constant("approximate-runoff", m) for m in (2, 3, 6)] == [1, 3, 15]
    assert [(keep_constant("scoring", m), drop_constant("scoring", m)) for m in (2, 3, 6)] == [(2, 1), (6, 2), (30, 5)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eta", [Fraction(1, 1000), TWELFTH, HUNDRED_BITS])
def test_default_margin_is_the_least_whole_number_that_keeps(kind: str, eta: Fraction) -> None:
    voters, m = 5001, 4
    r = 3 if kind == "scoring" else 1
    found = default_margin(kind, voters, m, eta, points_range=r)

    def kept(margin: int) -> object:
        return keep_constant(kind, m) * (-(ball(margin - r + 1) ** 2) / (2 * r * r * (voters - 1))).exp()

    assert upper(kept(found)) <= eta / 4 < lower(kept(found - 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_alpha_min_leaves_the_drop_part_what_the_keep_part_left(kind: str) -> None:
    voters, m, eta = 5001, 4, TWELFTH
    n, r = voters - 1, 2 if kind == "scoring" else 1
    margin = default_margin(kind, voters, m, eta, points_range=r)
    alpha = alpha_min(kind, voters, m, eta, margin, points_range=r)
    assert isinstance(alpha, Fraction)

    def dropped(alpha: Fraction) -> Fraction:
        gap = ball(n * alpha - margin - r)
        return upper(drop_constant(kind, m) * (-(gap**2) / (2 * r * r * n)).exp())

    assert dropped(alpha) <= eta / 4  # rounded up: at alpha_min the bound is kept
    assert dropped(alpha * (1 - Fraction(1, 10**15))) > eta / 4  # and not much above it


def test_a_margin_too_narrow_covers_nobody() -> None:
    assert alpha_min("repeated-plurality", 10_000, 3, TWELFTH, 251) is INFINITY
    assert alpha_min("repeated-plurality", 10_000, 3, TWELFTH, 0) is INFINITY
    assert alpha_min("scoring", 10_000, 3, TWELFTH, 1, points_range=2) is INFINITY
    wide = alpha_min("repeated-plurality", 11, 3, TWELFTH, 11)
    assert isinstance(wide, Fraction)
    assert wide > 1


def test_a_margin_between_spends_what_is_left() -> None:
    """Narrower than B*, but not too narrow: the keep part takes more than half, and the drop part gets the rest."""
    best = default_margin("repeated-plurality", 10_000, 3, TWELFTH)
    at_best = alpha_min("repeated-plurality", 10_000, 3, TWELFTH, best)
    narrower = alpha_min("repeated-plurality", 10_000, 3, TWELFTH, best - 2)
    assert isinstance(narrower, Fraction)
    assert narrower < at_best + Fraction(1, 100)


def test_what_is_refused() -> None:
    with pytest.raises(FloatRefused):
        default_margin("repeated-plurality", 100, 3, 1e-12)  # type: ignore[arg-type]
    for eta in (Fraction(0), Fraction(1)):
        with pytest.raises(WrongUse, match="eta"):
            default_margin("repeated-plurality", 100, 3, eta)
    with pytest.raises(WrongUse, match="one of"):
        keep_constant("plurality", 3)
    with pytest.raises(WrongUse, match="2 candidates"):
        drop_constant("scoring", 1)
    with pytest.raises(WrongUse, match="2 voters"):
        default_margin("scoring", 1, 3, TWELFTH)
    with pytest.raises(WrongUse, match="range of points"):
        default_margin("repeated-plurality", 100, 3, TWELFTH, points_range=2)
