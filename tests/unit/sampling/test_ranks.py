"""Samples without replacement over counts: the law itself on small tables, every set of ranks in turn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise import sampler
from hubbub.noise.source import ScriptedSource, Source, SystemSource
from hubbub.sampling import ranks
from hubbub.sampling.ranks import sample_counts


@pytest.mark.parametrize("counts", [(3,), (2, 0, 3), (1, 1, 1, 1), (4, 2, 1), (0, 0, 5)])
def test_the_law_is_multivariate_hypergeometric(counts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    # Every set of ranks, once each: what comes out is the law itself.
    n = sum(counts)
    for k in range(n + 1):
        drawn = min(k, n - k)
        found: Counter[tuple[int, ...]] = Counter()
        for chosen in combinations(range(n), drawn):

            def given(size: int, of: int, source: Source, chosen: tuple[int, ...] = chosen) -> NDArray[np.int64]:
                assert (size, of) == (len(chosen), n)
                return np.array(chosen, dtype=np.int64)

            monkeypatch.setattr(ranks, "ranks", given)
            found[tuple(sample_counts(np.array(counts), k, ScriptedSource()).tolist())] += 1
        law = {
            drawn: prod(comb(c, s) for c, s in zip(counts, drawn, strict=True))
            for drawn in product(*(range(c + 1) for c in counts))
            if sum(drawn) == k
        }
        assert found == Counter(law)


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 4), (2, 5), (3, 6)])
def test_every_set_of_ranks_is_equally_likely(k: int, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every sequence of six uniform draws, once each; those that end with k different ones meet each set equally often.
    found: Counter[tuple[int, ...]] = Counter()
    for sequence in product(range(n), repeat=6):
        rest = iter(sequence)

        def given(bound: int, size: int, source: Source, rest: object = rest) -> NDArray[np.int64]:
            assert bound == n
            return np.array([next(rest) for _ in range(size)], dtype=np.int64)  # type: ignore[call-overload]

        monkeypatch.setattr(sampler, "below", given)
        try:
            found[tuple(sampler.distinct(k, n, ScriptedSource()).tolist())] += 1
        except StopIteration:
            continue
    assert set(found) == set(combinations(range(n), k))
    assert len(set(found.values())) == 1


def test_large_samples_of_very_many_people() -> None:
    counts = np.array([1, 10**12 - 10**9, 0, 10**9 - 1], dtype=np.int64)
    drawn = sample_counts(counts, 10**6, SystemSource())
    assert drawn.sum() == 10**6
    assert ((drawn >= 0) & (drawn <= counts)).all()
    assert drawn[2] == 0
    few, all_but_one = np.array([3, 2]), sample_counts(np.array([3, 2]), 4, SystemSource())
    assert (few - all_but_one).sum() == 1


def test_nobody_and_everybody_need_no_word() -> None:
    counts, nothing = np.array([[2, 0], [5, 1]]), ScriptedSource()
    assert sample_counts(counts, 0, nothing).tolist() == [[0, 0], [0, 0]]
    assert sample_counts(counts, 8, nothing).tolist() == counts.tolist()
    assert sample_counts(counts[:0], 0, nothing).shape == (0, 2)


@pytest.mark.parametrize(
    ("counts", "k", "rule"),
    [
        (np.array([2, 3]), 6, "to all there are"),
        (np.array([2, 3]), -1, "to all there are"),
        (np.array([2.0]), 1, "whole numbers"),
        (np.array([-1, 3]), 1, "at least 0"),
        (np.array([2**62, 2**62, 1]), 1, "less than 2\\^63"),
        (np.array([10**10]), 10**9, "at most 100000000"),
    ],
)
def test_wrong_uses(counts: NDArray[np.int64], k: int, rule: str) -> None:
    with pytest.raises(WrongUse, match=rule):
        sample_counts(counts, k, ScriptedSource())
