"""Rare events among very many trials: the digits of a gap have exactly its law, and so has every set of successes."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from flint import arb

from hubbub.errors import WrongUse
from hubbub.noise.rare import MOST_TRIALS, _gaps, digits, rare
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.exact import ball


def masses(table: CertifiedTable) -> list[arb]:
    """The probabilities of the cells, as balls."""
    ends = [arb(0), *table._boundaries(), arb(1)]
    return [b - a for a, b in pairwise(ends)]


def law_of_gaps(trials: int, p: Fraction) -> tuple[list[arb], arb]:
    """P(gap = 0), ..., P(gap = trials - 1), and the probability that the cell says "beyond"."""
    *lower, last = (masses(table) for table in digits(trials, lambda: ball(p)))
    *within, beyond = last
    found = within
    for table in reversed(lower):
        found = [high * low for high in found for low in table]
    return found, beyond


@pytest.mark.parametrize("trials", [1, 2, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("p", ["1/3", "0.001", "1e-12"])
def test_the_digits_of_a_gap_have_its_law(trials: int, p: str) -> None:
    found, beyond = law_of_gaps(trials, Fraction(p))
    q = 1 - ball(Fraction(p))
    assert len(found) >= trials
    for gap in {0, trials // 2, trials - 1, len(found) - 1}:
        assert found[gap].overlaps(ball(Fraction(p)) * q**gap), gap
    assert beyond.overlaps(q ** len(found))


@pytest.mark.parametrize("trials", [3, 5])
def test_every_set_of_successes_has_its_probability(trials: int) -> None:
    """Gaps that end among the trials, and one that does not: exactly a coin for each trial."""
    p = Fraction(2, 7)
    found, _ = law_of_gaps(trials, p)
    for size in range(trials + 1):
        for chosen in combinations(range(trials), size):
            chance, at = arb(1), 0
            for place in chosen:
                chance *= found[place - at]
                at = place + 1
            chance *= 1 - sum(found[: trials - at], arb(0))  # the next one is past the end
            assert chance.overlaps(ball(p) ** size * (1 - ball(p)) ** (trials - size)), chosen


def test_successes_are_different_trials_in_order() -> None:
    source = ScriptedSource.from_label("rare")
    for trials, p in ((10, "0.9"), (10**6, "0.01"), (10**12, "1e-8"), (MOST_TRIALS, "1e-15"), (MOST_TRIALS, "1e-30")):
        found = rare(trials, lambda p=p: ball(Fraction(p)), source)  # type: ignore[misc]
        assert np.all(np.diff(found) > 0)
        assert not found.size or (found[0] >= 0 and int(found[-1]) < trials)


def test_what_cannot_happen_costs_no_randomness() -> None:
    source = SystemSource()
    assert rare(10**12, lambda: arb(0), source).size == rare(0, lambda: ball("1/2"), source).size == 0
    assert not source.used
    for trials in (-1, MOST_TRIALS + 1):
        with pytest.raises(WrongUse, match="between 0 and 2"):
            rare(trials, lambda: ball("1/2"), source)
    with pytest.raises(WrongUse, match="below 1"):
        rare(5, lambda: arb(1), source)


@pytest.mark.parametrize("trials", [1, 3, 1024, 1500])
def test_the_last_trial_succeeds_where_the_gap_ends_just_before_it(trials: int) -> None:
    """Words in the middle of the cells of its digits make the largest gap that is within the trials."""
    chance = Fraction(1, trials + 1)
    tables = digits(trials, lambda: ball(chance))
    words = []
    for position, table in reversed(list(enumerate(tables))):
        cell = (trials - 1 >> 10 * position) & 1023
        ends = [arb(0), *table._boundaries(), arb(1)]
        words.append(int(float((ends[cell] + ends[cell + 1]) / 2) * 2**64))
    drawn = _gaps(tables, 1, ScriptedSource(words))
    assert drawn.tolist() == [trials - 1]
    beyond = _gaps(tables, 1, ScriptedSource([2**64 - 1] * len(tables), then="ends"))
    assert beyond.tolist() == [MOST_TRIALS]
