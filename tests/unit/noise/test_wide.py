"""Noise wider than a million: its law, and where it ends."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.noise.sampler import WIDEST, wide_noise
from hubbub.noise.source import ScriptedSource

DRAWS = 20_000


@pytest.mark.parametrize("rate", ["1/1000", "1/10000000", "1/30000000000", "1/1000000000000"])
def test_the_law_is_that_of_the_rate(rate: str) -> None:
    """Ten cells of equal chance: chi-square on 9 degrees is below 40 but for a chance of 1e-5 (the words are fixed); a
    rate that is 10 % off has about 90 and is found."""
    law = Fraction(rate)
    drawn = wide_noise(law, DRAWS, ScriptedSource.from_label("wide")) * float(law)
    inner = [-math.log(1 - part / 5) for part in range(1, 5)]
    edges = [-np.inf, *(-edge for edge in reversed(inner)), 0.0, *inner, np.inf]
    counts, _ = np.histogram(drawn, edges)
    expected = DRAWS / 10
    assert sum((count - expected) ** 2 / expected for count in counts) < 40


def test_the_last_digit_is_no_round_number() -> None:
    """The remainders of two thousand are all there."""
    drawn = wide_noise(Fraction(1, 10**9), DRAWS, ScriptedSource.from_label("digits"))
    found = np.bincount(np.abs(drawn) % 20, minlength=20)
    assert found.min() > DRAWS / 20 - 200
    assert found.max() < DRAWS / 20 + 200


def test_wider_noise_is_refused() -> None:
    with pytest.raises(WrongUse, match="declare a coarser step, or raise epsilon"):
        wide_noise(WIDEST / 2, 1, ScriptedSource.from_label("wide"))
