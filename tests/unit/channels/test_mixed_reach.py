"""Sums of geometric noises of two rates: the tail is at most what is asked for, and hardly less."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hubbub.channels.mechanisms.noise_reach import reach_of_mixed_sum, reach_of_sum

MISS = Fraction(1, 20)


def tail(groups: tuple[tuple[Fraction, int], ...], reach: int) -> float:
    """P(|sum| > reach), in floats."""
    law = np.array([1.0])
    for rate, many in groups:
        q, wide = float(np.exp(-float(rate))), int(60 / float(rate))
        one = (1 - q) / (1 + q) * q ** np.abs(np.arange(-wide, wide + 1))
        for _ in range(many):
            law = np.convolve(law, one)
    middle = len(law) // 2
    return 1 - float(law[middle - reach : middle + reach + 1].sum())


@pytest.mark.parametrize(
    "groups",
    [
        ((Fraction(1, 2), 3), (Fraction(3, 5), 4)),
        ((Fraction(2, 5), 1), (Fraction(3, 2), 6)),
        ((Fraction(1), 2), (Fraction(2), 1), (Fraction(3), 2)),
    ],
)
def test_the_law_of_a_mixed_sum_is_bounded_from_below(groups: tuple[tuple[Fraction, int], ...]) -> None:
    found = reach_of_mixed_sum(groups, MISS)
    assert tail(groups, found) <= 0.05 + 1e-12
    assert tail(groups, found - 1) > 0.05


def test_a_wide_mixed_sum_pays_a_share_of_the_tail_for_each_rate() -> None:
    wide = ((Fraction(1, 10**5), 3), (Fraction(1, 10**4), 2))
    assert reach_of_mixed_sum(wide, MISS) == sum(reach_of_sum(rate, many, MISS / 2) for rate, many in wide)
    assert reach_of_mixed_sum(wide[:1], MISS) == reach_of_sum(*wide[0], MISS)
