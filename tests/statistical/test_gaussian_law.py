"""Gaussian noise against its law, by chi-square: the size is 1e-6, and a variance 3 % off is rejected with power .999."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.source import ScriptedSource

SIZE, POWER, N, BINS = 1e-6, 0.999, 400_000, 30
OFF = Fraction(3, 100)
VARIANCES = ("1/2", "7", "179/10", "90000", "1000000", "30000000000000")  # the last three: table's end, both rejections


def cells(s2: float, edges: list[int]) -> NDArray[np.float64]:
    """The chances between the edges, summed from the definition."""
    wide = 12 * math.sqrt(s2) + 10
    step = max(int(math.sqrt(s2) / 2000), 1)  # a wide law is even over so few integers, to 1e-7
    middle = (step - 1) / 2
    values = np.arange(-int(wide) // step * step, int(wide), step, dtype=np.float64)
    weights = np.exp(-((values + middle) ** 2) / (2 * s2))
    found = np.add.reduceat(weights, np.searchsorted(values, [values[0], *edges]))
    return np.asarray(found / weights.sum())


def edges_of(s2: float) -> list[int]:
    step = max(int(math.sqrt(s2) / 2000), 1)
    ends = {round(math.sqrt(s2) * stats.norm.ppf(i / BINS) / step) * step for i in range(1, BINS)}
    return sorted(ends)


@pytest.mark.parametrize("variance", VARIANCES)
def test_draws_have_the_law_of_the_discrete_gaussian(variance: str) -> None:
    s2 = Fraction(variance)
    edges = edges_of(float(s2))
    drawn = discrete_gaussian(s2, N, ScriptedSource.from_label(f"gaussian {variance}"))
    seen = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(edges) + 1)
    expected = N * cells(float(s2), edges)
    statistic = float(((seen - expected) ** 2 / expected).sum())
    limit = float(stats.chi2.isf(SIZE, len(edges)))
    assert statistic <= limit
    for factor in (1 - OFF, 1 + OFF):
        other = N * cells(float(s2 * factor), edges)
        away = float(((other - expected) ** 2 / expected).sum())
        assert stats.ncx2.sf(limit, len(edges), away) >= POWER, "a variance 3 % off must be noticed"
        assert float(((seen - other) ** 2 / other).sum()) > limit
