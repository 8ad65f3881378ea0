"""Uniform whole numbers, and k of n."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from hubbub.errors import WrongUse
from hubbub.noise.sampler import below, distinct
from hubbub.noise.source import ScriptedSource, SystemSource


def test_words_that_are_not_below_the_bound_are_thrown_away() -> None:
    top = [3 << 62, 1 << 62, 2 << 62, 0]  # two bits each: 3, 1, 2, 0
    assert below(3, 3, ScriptedSource(top, then="rest")).tolist() == [1, 2, 0]
    assert below(1, 4, ScriptedSource()).tolist() == [0, 0, 0, 0]
    assert below(2**63, 2, ScriptedSource([2**64 - 1, 2], then="rest")).tolist() == [2**63 - 1, 1]


@pytest.mark.parametrize("bound", [2, 3, 7, 100])
def test_numbers_are_uniform(bound: int) -> None:
    """Size 1e-6 by chi-square on 50,000 draws; power: draws modulo a bound of 8/7 of it are rejected."""
    draws = 50_000
    found = np.bincount(below(bound, draws, ScriptedSource.from_label(f"below {bound}")), minlength=bound)
    assert stats.chisquare(found).pvalue > 1e-6, (draws, found)
    wrong = below(-(-bound * 8 // 7), draws, ScriptedSource.from_label("wrong")) % bound
    assert stats.chisquare(np.bincount(wrong, minlength=bound)).pvalue < 1e-6


@pytest.mark.parametrize(("k", "n"), [(0, 3), (1, 4), (2, 5), (3, 5), (5, 5)])
def test_every_set_is_equally_likely(k: int, n: int) -> None:
    """Size 1e-6 by chi-square on 4,000 sets."""
    source, draws = ScriptedSource.from_label(f"{k} of {n}"), 4000
    found = Counter(tuple(distinct(k, n, source).tolist()) for _ in range(draws))
    assert set(found) <= set(combinations(range(n), k))
    assert len(found) == comb(n, k)
    if len(found) > 1:
        assert stats.chisquare(list(found.values())).pvalue > 1e-6, found


def test_many_of_many() -> None:
    for k in (300, 70_000, 99_999):
        found = distinct(k, 100_000, SystemSource())
        assert (found.size, len(set(found.tolist()))) == (k, k)
        assert (np.diff(found) > 0).all()


def test_numbers_that_cannot_be_are_refused() -> None:
    for bound in (0, 2**63 + 1):
        with pytest.raises(WrongUse):
            below(bound, 1, ScriptedSource())
    with pytest.raises(WrongUse):
        distinct(4, 3, ScriptedSource())
