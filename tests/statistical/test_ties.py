"""Ties are drawn uniformly, and lotteries by their chances: each test with a size and a power.

Chi-square over many runs of the same election. A law in which one of those tied is favoured a little must be rejected,
and how surely it is, is computed. Scripts are fixed by labels, so a test that passes passes always.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.rules import InstantRunoff, Mix, Plurality, Punishing, RandomDictator, RepeatedPlurality, Rule

SIZE = 1e-4  # the probability that the true law is rejected
POWER = 0.999  # at least this probability that a wrong law is rejected
THIRDS = 9_000  # runs that tell a third from a tenth more or less
UNEVEN = 6_000  # fewer do where one chance is large
OFF = Fraction(1, 10)  # of one candidate's chance, moved to another

TIED = Ballots.from_counts("abc", {("a", "b", "c"): 3, ("b", "c", "a"): 3, ("c", "a", "b"): 3})
MIXED = Ballots.from_counts("abc", {("a", "b", "c"): 4, ("b",): 3, ("c", "a"): 2})

CASES = [
    pytest.param(RepeatedPlurality(margin=2), TIED, THIRDS, id="a tie of three at the end"),
    pytest.param(InstantRunoff(), TIED, THIRDS, id="who goes first"),
    pytest.param(RandomDictator(), MIXED, UNEVEN, id="a dictator"),
    pytest.param(Punishing(), MIXED, UNEVEN, id="a place on a ballot"),
    pytest.param(Mix(rule=Plurality(), probability=Fraction(2, 3)), MIXED, UNEVEN, id="a mix"),
]


def rejected(observed: NDArray[np.int64], law: tuple[Fraction, ...]) -> tuple[bool, str]:
    runs = int(observed.sum())
    expected = runs * np.array([float(chance) for chance in law])
    statistic = float(((observed - expected) ** 2 / expected).sum())
    threshold = float(stats.chi2.isf(SIZE, len(law) - 1))
    return statistic > threshold, f"{runs} runs, {observed.tolist()}: {statistic:.1f} against {threshold:.1f}"


def favouring(law: tuple[Fraction, ...], first: int, second: int) -> tuple[Fraction, ...]:
    moved = OFF * law[second]
    return tuple(chance + moved * ((i == first) - (i == second)) for i, chance in enumerate(law))


@pytest.mark.parametrize(("rule", "ballots", "runs"), CASES)
def test_winners_follow_the_lottery(rule: Rule, ballots: Ballots, runs: int) -> None:
    law = rule.lottery(ballots)
    source = ScriptedSource.from_label(f"ties of {rule.name}")
    winners = np.bincount([rule.run(ballots, source).winner for _ in range(runs)], minlength=len(law))
    wrong, message = rejected(winners, law)
    assert not wrong, message


@pytest.mark.parametrize(("rule", "ballots", "runs"), CASES)
def test_a_law_that_favours_somebody_a_little_is_rejected(rule: Rule, ballots: Ballots, runs: int) -> None:
    law = rule.lottery(ballots)
    # The least of the ways to favour one of two by a tenth of the larger chance, the easiest to miss.
    largest = max(range(len(law)), key=law.__getitem__)
    other = favouring(law, next(i for i in range(len(law)) if i != largest), largest)
    shift = sum(float((b - a) ** 2 / a) for a, b in zip(law, other, strict=True))
    power = float(stats.ncx2.sf(stats.chi2.isf(SIZE, len(law) - 1), len(law) - 1, runs * shift))
    assert power > POWER, f"{runs} runs, power {power}"
    rng = np.random.default_rng(7)
    observed = rng.multinomial(runs, np.array([float(chance) for chance in other]))
    wrong, message = rejected(observed, law)
    assert wrong, message
