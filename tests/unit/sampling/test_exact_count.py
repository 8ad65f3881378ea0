"""Noise on the exact count for what K random people tell: the table of Theorem A3, and its closed form."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.sampling import averages
from hubbub.sampling.exact_count import closed_scale, enough, scale_for

TABLE = [  # n, k, epsilon, scale/n with the largest mean deviation
    (10**4, 100, "0.1", 0.398),
    (10**4, 100, "1", 0.0398),
    (10**4, 1000, "0.1", 0.120),
    (10**4, 1000, "1", 0.0120),
    (10**6, 100, "0.1", 0.400),
    (10**6, 1000, "1", 0.0126),
    (10**6, 10**4, "0.1", 0.0397),
    (10**6, 10**4, "1", 0.00397),
]


@pytest.mark.parametrize(("n", "k", "epsilon", "share"), TABLE)
def test_theorem_a3_in_largest_remainders(n: int, k: int, epsilon: str, share: float) -> None:
    scale = closed_scale(k, n, epsilon)
    assert float(scale) / n == pytest.approx(share, rel=0.005)
    continuous = n * averages.scale_for(k, n, epsilon).scale
    assert scale >= continuous * (1 - Fraction(1, 10**15))  # rounding costs, and never gains
    assert enough(k, n, scale, epsilon)
    assert not enough(k, n, scale / 3, epsilon)


def test_everybody_may_be_known() -> None:
    # k = n: half a person each way, and the rounding of that half: the same as a fair coin under Theorem A1'.
    assert float(closed_scale(10**4, 10**4, "0.1")) == pytest.approx(5.2386, rel=1e-4)


def test_more_people_than_there_are_cannot_be_known() -> None:
    with pytest.raises(WrongUse):
        scale_for(11, 10, "1")
