"""Certified binomial masses and tails against exact rational arithmetic, and far beyond its reach."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from flint import arb

from hubbub.numeric.binomial import at_least, at_most, mass, masses
from hubbub.numeric.exact import ball, lower, precision, upper


def exactly(n: int, p: Fraction, m: int) -> Fraction:
    return comb(n, m) * p**m * (1 - p) ** (n - m)


def holds(found: arb, truth: Fraction) -> bool:
    """Whether the ball holds the truth and is narrow relative to it."""
    return lower(found) <= truth <= upper(found) and upper(found) - lower(found) <= truth / 2**120


@pytest.mark.parametrize("n", [1, 2, 7, 60, 333])
@pytest.mark.parametrize(
    "p", [Fraction(1, 2), Fraction(1, 10), Fraction(2, 3), Fraction(999, 1000), Fraction(1, 10**6)]
)
def test_masses_and_tails_are_right_at_every_value(n: int, p: Fraction) -> None:
    law = [exactly(n, p, m) for m in range(n + 1)]
    for m in {0, 1, n // 10, n // 2, n - 1, n}:
        assert holds(mass(n, p, m), law[m])
        assert holds(at_least(n, p, m), sum(law[m:], Fraction(0)))
        assert holds(at_most(n, p, m), sum(law[: m + 1], Fraction(0)))


def test_beyond_the_ends() -> None:
    p = Fraction(1, 3)
    assert mass(5, p, -1) == 0
    assert mass(5, p, 6) == 0
    assert at_least(5, p, 0) == 1
    assert at_least(5, p, 6) == 0
    assert at_most(5, p, -1) == 0
    assert at_most(5, p, 5) == 1


def test_a_tail_far_out_keeps_its_digits() -> None:
    # Chernoff: Pr[Bin(n, p) >= n a] is between e^(-n KL)/(n + 1)^2 and e^(-n KL).
    n, p, a = 10**8, Fraction(1, 10), Fraction(1, 5)
    with precision():
        kl = ball(a) * ball(a / p).log() + ball(1 - a) * ball((1 - a) / (1 - p)).log()
        top = (-n * kl).exp()
        found = at_least(n, p, int(n * a))
        assert found <= top
        assert found >= top / (n + 1) ** 2
        assert found.rel_accuracy_bits() > 120


def test_a_huge_population_is_nearly_poisson() -> None:
    # n = 10^15, p = 10^-15: the tail is that of Poisson(1) up to 10^-14.
    n = 10**15
    with precision():
        poisson = 1 - sum((arb(1) / arb(f).gamma() for f in (1, 2, 3)), arb(0)) / arb(1).exp()
        assert abs(at_least(n, Fraction(1, n), 3) - poisson) < arb(10) ** -14


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(999, 1000)])
@pytest.mark.parametrize("n", [0, 1, 40, 5000])
def test_the_list_around_the_peak_and_what_it_leaves_out(n: int, p: Fraction) -> None:
    missing = Fraction(1, 10**25)
    lo, listed, left_out = masses(n, p, missing)
    total = sum(listed, arb(0))
    assert lower(total) <= 1
    assert upper(total) >= 1 - left_out
    assert left_out <= missing
    for i in {0, len(listed) // 2, len(listed) - 1}:
        assert listed[i].overlaps(mass(n, p, lo + i) if n else arb(1))
    outside = 1 - sum((exactly(n, p, m) for m in range(lo, lo + len(listed))), Fraction(0)) if n < 100 else 0
    assert outside <= left_out
    if n == 5000 and p == Fraction(1, 2):
        assert len(listed) < n / 3


def test_what_is_certain_is_one_value() -> None:
    assert masses(7, Fraction(1), Fraction(1, 2)) == (7, [arb(1)], Fraction(0))
    assert masses(7, Fraction(0), Fraction(1, 2)) == (0, [arb(1)], Fraction(0))
