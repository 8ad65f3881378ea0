"""Binomial draws against the certified law, each test with a size (how often a true law is rejected) and a power.

Chi-square on cells of the certified law, pooled until each is expected often enough; for a million people, on stretches
of about equal probability. Laws with a rate that is a little wrong must be rejected, and the power of that is computed.
The scripts are fixed by labels, so a test that passes passes always.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.noise.binomial import binomial
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.binomial import at_most, masses

SIZE = 1e-6  # of each test: the probability that the true law is rejected
POWER = 0.999  # at least this probability that a wrong law is rejected
EXPECTED = 50  # draws in a cell, at least
STRETCHES = 20

HALF, TENTH, THIRD, MOST, RARE = (Fraction(text) for text in ("1/2", "0.1", "1/3", "0.999", "1e-6"))


def off(p: Fraction, by: Fraction) -> Fraction:
    """p with its smaller side, p or 1 - p, too large by a share `by`."""
    return p * (1 + by) if p <= HALF else 1 - (1 - p) * (1 + by)


def cells(n: int, p: Fraction, draws: int) -> list[int]:
    """The first values of cells that are each expected at least EXPECTED times, with 0 as the first."""
    lo, listed, _ = masses(n, p, Fraction(1, 10**20))
    starts, gathered = [0], 0.0
    for value, mass in enumerate(listed, lo):
        gathered += float(mass.mid())
        rest = 1 - sum(float(m.mid()) for m in listed[: value - lo + 1]) if gathered * draws >= EXPECTED else 1.0
        if gathered * draws >= EXPECTED and rest * draws >= EXPECTED:
            starts.append(value + 1)
            gathered = 0.0
    return starts


def stretches(n: int, p: Fraction) -> list[int]:
    """The first values of STRETCHES stretches of about equal probability (a guess; the law itself is certified)."""
    deviation = math.sqrt(n * p * (1 - p))
    return [0, *(round(n * float(p) + deviation * float(stats.norm.ppf(i / STRETCHES))) for i in range(1, STRETCHES))]


def probabilities(n: int, p: Fraction, starts: list[int]) -> NDArray[np.float64]:
    below = [float(at_most(n, p, start - 1).mid()) for start in starts]
    return np.diff(np.array([*below, 1.0]))


def rejection(values: NDArray[np.int64], n: int, p: Fraction, starts: list[int]) -> tuple[bool, str]:
    """Whether the draws are rejected as Binomial(n, p), with the numbers."""
    expected = len(values) * probabilities(n, p, starts)
    observed = np.bincount(np.searchsorted(starts, values, side="right") - 1, minlength=len(starts))
    statistic = float(((observed - expected) ** 2 / expected).sum())
    threshold = float(stats.chi2.isf(SIZE, len(starts) - 1))
    return statistic > threshold, (
        f"n = {n}, p = {p}, {len(values)} draws in {len(starts)} cells, chi-square = {statistic:.1f}, "
        f"threshold = {threshold:.1f}"
    )


def power(n: int, claimed: Fraction, true: Fraction, draws: int, starts: list[int]) -> float:
    """The probability that draws of `true` are rejected as draws of `claimed`."""
    p, actual = probabilities(n, claimed, starts), probabilities(n, true, starts)
    distance = draws * float(((actual - p) ** 2 / p).sum())
    return float(stats.ncx2.sf(stats.chi2.isf(SIZE, len(starts) - 1), len(starts) - 1, distance))


def drawn(n: int, p: Fraction, draws: int, label: str = "") -> NDArray[np.int64]:
    return binomial(np.full(draws, n), p, ScriptedSource.from_label(f"binomial {n} {p} {draws} {label}"))


# --- a few people up to a thousand: every cell ------------------------------------------------------------------

FEW = [1, 5, 64, 65, 400, 1000]  # 64 trials are one word, 65 are counted by popcount first


@pytest.mark.parametrize("n", FEW)
@pytest.mark.parametrize("p", [HALF, TENTH, THIRD, MOST], ids=str)
def test_the_true_law_is_accepted(n: int, p: Fraction) -> None:
    draws = 200_000 if n < 100 else 40_000
    rejected, numbers = rejection(drawn(n, p, draws), n, p, cells(n, p, draws))
    assert not rejected, numbers


@pytest.mark.parametrize(
    ("n", "p", "draws"),
    [(1, HALF, 200_000), (5, TENTH, 200_000), (65, THIRD, 200_000), (400, TENTH, 40_000), (1000, MOST, 60_000)],
    ids=str,
)
def test_a_rate_five_per_cent_off_is_rejected(n: int, p: Fraction, draws: int) -> None:
    claimed = off(p, Fraction(1, 20))
    starts = cells(n, claimed, draws)
    chance = power(n, claimed, p, draws, starts)
    assert chance > POWER, f"{draws} draws: power {chance}, wanted {POWER}"
    rejected, numbers = rejection(drawn(n, p, draws, "off"), n, claimed, starts)
    assert rejected, numbers


def test_p_cut_to_eight_digits_is_rejected() -> None:
    # What a sampler does that stops after eight binary digits: 1/3 becomes 85/256, 0.4 % less.
    n, draws, cut = 1000, 200_000, Fraction(85, 256)
    starts = cells(n, cut, draws)
    chance = power(n, cut, THIRD, draws, starts)
    assert chance > POWER, f"{draws} draws: power {chance}, wanted {POWER}"
    rejected, numbers = rejection(drawn(n, THIRD, draws), n, cut, starts)
    assert rejected, numbers


def test_bins_of_different_sizes_each_follow_their_own_law() -> None:
    sizes = np.tile([3, 64, 100, 1000], 40_000)
    values = binomial(sizes, THIRD, ScriptedSource.from_label("mixed sizes"))
    for n in (3, 64, 100, 1000):
        part = values[sizes == n]
        rejected, numbers = rejection(part, n, THIRD, cells(n, THIRD, part.size))
        assert not rejected, numbers


def test_neighbouring_bins_are_independent() -> None:
    # sqrt(draws) times the correlation is standard normal; a word shared by two bins would give one of order 1.
    draws = 200_000
    threshold = float(stats.norm.isf(SIZE / 2))
    for n in (10, 100):
        values = drawn(n, THIRD, draws, "neighbours").astype(np.float64)
        statistic = abs(float(np.corrcoef(values[1:], values[:-1])[0, 1])) * math.sqrt(draws - 1)
        assert statistic < threshold, f"n = {n}, statistic = {statistic:.2f}, threshold = {threshold:.2f}"


# --- millions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [HALF, TENTH, THIRD, MOST], ids=str)
def test_a_million_people(p: Fraction) -> None:
    n, draws = 10**6, 2000
    values = drawn(n, p, draws)
    rejected, numbers = rejection(values, n, p, stretches(n, p))
    assert not rejected, numbers
    # 5 % off is out of sight here; 0.5 % of the smaller side is still found.
    claimed = off(p, Fraction(1, 20 if p == MOST else 200))
    starts = stretches(n, claimed)
    chance = power(n, claimed, p, draws, starts)
    assert chance > POWER, f"{draws} draws: power {chance}, wanted {POWER}"
    rejected, numbers = rejection(values, n, claimed, starts)
    assert rejected, numbers


@pytest.mark.parametrize(("p", "draws"), [(TENTH, 12), (RARE, 28)], ids=str)
def test_a_thousand_million_people(p: Fraction, draws: int) -> None:
    # Few draws, since each takes a tenth of a second: the sum of squared normal scores of F(x) is chi-square.
    n = 10**9
    values = drawn(n, p, draws)
    scores = np.array([float(stats.norm.ppf(float(at_most(n, p, int(x)).mid()))) for x in values])
    statistic = float((scores**2).sum())
    low, high = float(stats.chi2.ppf(SIZE / 2, draws)), float(stats.chi2.isf(SIZE / 2, draws))
    assert low < statistic < high, (
        f"n = {n}, {draws} draws, statistic = {statistic:.1f}, not in {low:.1f} to {high:.1f}"
    )
    # All draws together are one of Binomial(draws n, p). Its limits exclude a rate 5 % off, with power.
    total, trials = int(values.sum()), draws * n
    few, many = stats.binom.isf(1 - SIZE / 2, trials, float(p)), stats.binom.isf(SIZE / 2, trials, float(p))
    assert few <= total <= many, f"{total} of {trials}, accepted: {few} to {many}"
    for wrong in (off(p, Fraction(1, 20)), off(p, Fraction(-1, 20))):
        few, many = stats.binom.isf(1 - SIZE / 2, trials, float(wrong)), stats.binom.isf(SIZE / 2, trials, float(wrong))
        chance = float(stats.binom.cdf(few - 1, trials, float(p)) + stats.binom.sf(many, trials, float(p)))
        assert chance > POWER, f"{draws} draws: power {chance}, wanted {POWER}"
        assert not few <= total <= many, f"{total} of {trials}, rejected: {few} to {many}"
