"""Theorem A solved for k, for the rate and for epsilon, and why something is impossible."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.numeric.exact import INFINITY
from hubbub.plan.targets import Target, Want, epsilon_of, largest_inner, largest_rate, reaches, smallest_crowd, why_not

ZK = Target.parse(Want.ZERO_KNOWLEDGE, "0.5", "1e-9")


@pytest.mark.parametrize("want", [Want.ZERO_KNOWLEDGE, Want.DISTRIBUTIONAL])
@pytest.mark.parametrize("inner", ["0", "0.2"])
def test_the_smallest_crowd_is_enough_and_one_fewer_is_not(want: Want, inner: str) -> None:
    goal = Target.parse(want, "0.5", "1e-9", inner)
    k = smallest_crowd(goal, "0.1")
    assert reaches(goal, k, Fraction(1, 10))
    assert not reaches(goal, k - 1, Fraction(1, 10))


def test_the_smallest_crowds_of_a_plan() -> None:
    assert smallest_crowd(ZK, "0.1") == 17
    # With noise up to the most that sampling hides, the crowd need not grow.
    most = largest_inner(Fraction(1, 2), Fraction(1, 10))
    assert smallest_crowd(Target.parse(Want.DIFFERENTIAL, "0.5", "1e-9", most), "0.1") == 17


def test_the_largest_rate_is_enough_and_a_little_more_is_not() -> None:
    rate = largest_rate(ZK, 20)
    assert rate == Fraction("0.128288")
    assert not reaches(ZK, 20, rate + Fraction(1, 10**6))
    tiny = largest_rate(Target.parse(Want.ZERO_KNOWLEDGE, "0.5", "1e-30"), 3)  # rate^3 must be below 1e-30
    assert Fraction(1, 10**11) < tiny <= Fraction(1, 10**10)
    wide = largest_rate(Target.parse(Want.ZERO_KNOWLEDGE, 3, "0.3"), 5)
    assert 0 < wide < 1


def test_the_most_noise_that_a_sample_hides() -> None:
    for epsilon, rate in (("0.5", "0.2"), ("0.01", "0.9"), ("3", "0.001")):
        most = largest_inner(Fraction(epsilon), Fraction(rate))
        assert subsampled_loss(most, Fraction(rate)) <= Fraction(epsilon)
        assert subsampled_loss(most * Fraction(100_002, 100_000), Fraction(rate)) > Fraction(epsilon)
    assert largest_inner(Fraction(0), Fraction(1, 2)) == 0


def test_epsilon_at_a_delta() -> None:
    assert float(epsilon_of(ZK, 20, "0.1").epsilon) == pytest.approx(0.36987, abs=1e-5)  # type: ignore[arg-type]
    assert epsilon_of(ZK, 20, "0.5").epsilon is INFINITY


def test_why_something_is_impossible() -> None:
    said = why_not(ZK, 5, Fraction(1, 2))
    assert said is not None
    assert "at least 0.0313 at every epsilon" in said  # 2^-5
    assert "the rate to the power of k" in said
    said = why_not(ZK, 20, Fraction(1, 5))
    assert said is not None
    assert "needs epsilon 0.895" in said
    assert why_not(ZK, 40, Fraction(1, 10)) is None
    with pytest.raises(Refused, match="never reach delta = 0"):
        smallest_crowd(Target.parse(Want.ZERO_KNOWLEDGE, "0.5", 0), "0.1")
    with pytest.raises(Refused, match="no crowd of up to"):
        smallest_crowd(Target.parse(Want.ZERO_KNOWLEDGE, 0, "1e-9"), "0.1")
    with pytest.raises(WrongUse, match="about the table itself"):
        smallest_crowd(Target.parse(Want.OUTLIER, "0.5", "1e-9"), "0.1")
    with pytest.raises(WrongUse, match="rate must lie between"):
        smallest_crowd(ZK, 1)
    with pytest.raises(Refused, match="no rate reaches"):
        largest_rate(Target.parse(Want.ZERO_KNOWLEDGE, "0.5", "1e-200"), 2)
    with pytest.raises(WrongUse, match="delta must be"):
        Target.parse(Want.ZERO_KNOWLEDGE, "0.5", 1)
    with pytest.raises(WrongUse, match="finite"):
        Target.parse(Want.ZERO_KNOWLEDGE, "inf", "1e-9")
