"""Samples without replacement over counts, drawn for real, against the hypergeometric law: with a size and a power.

Chi-square on the number drawn from the first of two cells and on the joint numbers of three. The law with replacement,
which a sampler gets that forgets to reject repeats, must be rejected. The scripts are fixed by labels.
"""

from __future__ import annotations

from itertools import product
from math import comb, prod

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.noise.source import ScriptedSource
from hubbub.sampling.ranks import sample_counts

SIZE = 1e-6  # the probability that the true law is rejected
POWER = 0.999  # at least this probability that the law with replacement is rejected
DRAWS = 6_000
EXPECTED = 20  # draws in a cell of the test, at least

Cells = dict[tuple[int, ...], float]


def without(counts: tuple[int, ...], k: int) -> Cells:
    n = sum(counts)
    return {
        drawn: prod(comb(c, s) for c, s in zip(counts, drawn, strict=True)) / comb(n, k)
        for drawn in product(*(range(min(c, k) + 1) for c in counts))
        if sum(drawn) == k
    }


def replaced(counts: tuple[int, ...], k: int) -> Cells:
    shares = np.array(counts) / sum(counts)
    return {
        drawn: float(stats.multinomial.pmf(drawn, k, shares))
        for drawn in product(range(k + 1), repeat=len(counts))
        if sum(drawn) == k
    }


def cells(law: Cells) -> list[set[tuple[int, ...]]]:
    """Outcomes by falling probability; those at the end together, so that each cell is expected often enough."""
    listed, rest = [], set()
    for outcome, mass in sorted(law.items(), key=lambda item: -item[1]):
        if mass * DRAWS >= EXPECTED:
            listed.append({outcome})
        else:
            rest.add(outcome)
    if sum(law[outcome] for outcome in rest) * DRAWS < EXPECTED:
        rest |= listed.pop()
    return [*listed, rest]


def masses(law: Cells, into: list[set[tuple[int, ...]]]) -> NDArray[np.float64]:
    known = set().union(*into[:-1])
    named = [sum(law.get(outcome, 0.0) for outcome in cell) for cell in into[:-1]]
    return np.array([*named, sum(mass for outcome, mass in law.items() if outcome not in known)])


@pytest.mark.parametrize(("counts", "k"), [((12, 8), 10), ((6, 5, 4), 7), ((30, 10), 31)], ids=str)
def test_draws_follow_the_law_without_replacement_and_not_the_one_with(counts: tuple[int, ...], k: int) -> None:
    source = ScriptedSource.from_label(f"ranks {counts} {k}")
    drawn = [tuple(sample_counts(np.array(counts), k, source).tolist()) for _ in range(DRAWS)]
    for law, is_true in ((without(counts, k), True), (replaced(counts, k), False)):
        into = cells(law)
        expected = DRAWS * masses(law, into)
        known = set().union(*into[:-1])
        seen = np.array([*(sum(each in cell for each in drawn) for cell in into[:-1]), 0])
        seen[-1] = sum(each not in known for each in drawn)
        statistic = float(((seen - expected) ** 2 / expected).sum())
        threshold = float(stats.chi2.isf(SIZE, len(into) - 1))
        numbers = f"{counts}, k = {k}, {DRAWS} draws, {len(into)} cells: {statistic:.1f} against {threshold:.1f}"
        assert (statistic <= threshold) is is_true, numbers
        if not is_true:
            p, actual = masses(law, into), masses(without(counts, k), into)
            distance = DRAWS * float(((actual - p) ** 2 / p).sum())
            power = float(stats.ncx2.sf(threshold, len(into) - 1, distance))
            assert power > POWER, f"{numbers}: power {power}, wanted {POWER}"
