"""Draws against their laws. Every test has a size (how often a true law is rejected) and a checked power.

Chi-square on bins that the law makes about equally likely, for laws that spread out; exact binomial (Clopper-Pearson)
limits on one event for rare ones. The scripts are fixed by labels, so a test that passes passes always; the size
says how lucky that label had to be. The probabilities are computed here from the definition, in floats, whose error
of 1e-12 is nothing beside 1/sqrt(n).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy import stats

from hubbub.noise import sampler
from hubbub.noise.sampler import (
    bernoulli,
    bernoulli_certified,
    bernoulli_exp,
    geometric,
    two_sided_geometric,
    two_sided_geometric_each,
)
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball

SIZE = 1e-6  # of each test: the probability that the true law is rejected
POWER = 0.999  # at least this probability that a law OFF away in epsilon is rejected
OFF = Fraction(1, 20)
N = 200_000
BINS = 20
WRONG = (1 - OFF, 1 + OFF)

Draw = Callable[[Fraction, int, ScriptedSource], NDArray[np.int64]]
Tail = Callable[[Fraction, int], float]


def one_sided_tail(epsilon: Fraction, m: int) -> float:
    """P(G >= m)."""
    return math.exp(-float(epsilon) * max(m, 0))


def two_sided_tail(epsilon: Fraction, m: int) -> float:
    """P(X >= m), summed from P(x) = (1 - q)/(1 + q) q^|x| as a geometric series."""
    q = math.exp(-float(epsilon))
    return q**m / (1 + q) if m >= 1 else 1 - q ** (1 - m) / (1 + q)


LAWS: dict[str, tuple[Draw, Tail]] = {
    "one-sided": (geometric, one_sided_tail),
    "two-sided": (two_sided_geometric, two_sided_tail),
}


# --- chi-square -------------------------------------------------------------------------------------------------


def edges_of(tail: Tail, epsilon: Fraction) -> list[int]:
    """Integers that cut the law into at most BINS bins, as equal as integers allow."""
    scale = 40 * math.ceil(1 / epsilon)
    edges = set()
    for i in range(1, BINS):
        low, high = -scale, scale
        while low < high:  # the least m with P(X >= m) <= i/BINS
            middle = (low + high) // 2
            low, high = (low, middle) if tail(epsilon, middle) <= i / BINS else (middle + 1, high)
        edges.add(low)
    return sorted(edges)


def bin_probabilities(tail: Tail, epsilon: Fraction, edges: list[int]) -> NDArray[np.float64]:
    tails = np.array([1.0, *(tail(epsilon, edge) for edge in edges), 0.0])
    probabilities: NDArray[np.float64] = tails[:-1] - tails[1:]
    return probabilities[probabilities > 0]  # a one-sided law has no values below its first edge, 0


def rejection(values: NDArray[np.int64], tail: Tail, epsilon: Fraction) -> tuple[bool, str]:
    """Whether the draws are rejected as coming from the law, with the numbers."""
    edges = [edge for edge in edges_of(tail, epsilon) if tail(epsilon, edge) < 1]
    expected = len(values) * bin_probabilities(tail, epsilon, edges)
    observed = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
    assert expected.min() > 50, "bins too small for the chi-square approximation"
    statistic = float(((observed - expected) ** 2 / expected).sum())
    threshold = float(stats.chi2.isf(SIZE, len(expected) - 1))
    return statistic > threshold, f"n = {len(values)}, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"


def power(tail: Tail, claimed: Fraction, true: Fraction, n: int) -> float:
    """The probability that draws with `true` are rejected as draws with `claimed`."""
    edges = [edge for edge in edges_of(tail, claimed) if tail(claimed, edge) < 1]
    p, p_true = bin_probabilities(tail, claimed, edges), bin_probabilities(tail, true, edges)
    distance = n * float(((p_true - p) ** 2 / p).sum())
    return float(stats.ncx2.sf(stats.chi2.isf(SIZE, len(p) - 1), len(p) - 1, distance))


SPREAD = [Fraction(text) for text in ("1e-6", "1e-3", "0.01", "0.1", "1")]  # 1e-6 and 1e-3 take two words per sample


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", SPREAD, ids=str)
def test_the_true_law_is_accepted(name: str, epsilon: Fraction) -> None:
    draw, tail = LAWS[name]
    rejected, numbers = rejection(draw(epsilon, N, ScriptedSource.from_label(f"{name} {epsilon}")), tail, epsilon)
    assert not rejected, numbers


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", SPREAD, ids=str)
@pytest.mark.parametrize("factor", WRONG, ids=str)
def test_a_law_five_per_cent_off_is_rejected(name: str, epsilon: Fraction, factor: Fraction) -> None:
    draw, tail = LAWS[name]
    claimed = factor * epsilon
    chance = power(tail, claimed, epsilon, N)
    assert chance > POWER, f"n = {N}: power {chance}, wanted {POWER}"
    values = draw(epsilon, N, ScriptedSource.from_label(f"{name} {epsilon} off"))
    rejected, numbers = rejection(values, tail, claimed)
    assert rejected, numbers


def test_a_missing_restart_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    # With tables that reach one nat only, a third of the draws restart. Cutting them there must be seen, and
    # restarting must not.
    epsilon, (draw, tail) = Fraction(1, 10), LAWS["two-sided"]
    for kept in (sampler._both_sides, sampler._one_sided):
        kept.cache_clear()
    monkeypatch.setattr(sampler, "_REACH", 1)
    values = draw(epsilon, N, ScriptedSource.from_label("short tables"))
    reach = sampler._both_sides(epsilon).quotients
    for kept in (sampler._both_sides, sampler._one_sided):
        kept.cache_clear()
    assert reach == 10
    rejected, numbers = rejection(values, tail, epsilon)
    assert not rejected, numbers
    rejected, numbers = rejection(np.clip(values, -reach - 1, reach + 1), tail, epsilon)
    assert rejected, numbers


def test_elements_with_different_epsilons_each_follow_their_own_law() -> None:
    tail = LAWS["two-sided"][1]
    which = np.arange(len(SPREAD) * N) % len(SPREAD)
    values = two_sided_geometric_each(SPREAD, which, ScriptedSource.from_label("each"))
    for i, epsilon in enumerate(SPREAD):
        rejected, numbers = rejection(values[which == i], tail, epsilon)
        assert not rejected, f"epsilon = {epsilon}: {numbers}"
        rejected, numbers = rejection(values[which == i], tail, epsilon * WRONG[1])
        assert rejected, f"epsilon = {epsilon}: {numbers}"


def test_neighbouring_draws_are_independent() -> None:
    # Lag-one correlation of signs and of sizes: sqrt(n) times it is standard normal when the draws are independent.
    # A word used for two samples gives a correlation of order one, hundreds of times the threshold.
    values = two_sided_geometric(Fraction(1, 1000), N, ScriptedSource.from_label("neighbours"))
    threshold = float(stats.norm.isf(SIZE / 2))
    for name, part in (("sign", np.sign(values)), ("size", np.abs(values))):
        statistic = float(abs(np.corrcoef(part[1:], part[:-1])[0, 1])) * math.sqrt(N - 1)
        assert statistic < threshold, f"{name}: n = {N}, statistic = {statistic:.2f}, threshold = {threshold:.2f}"
    statistic = float(abs(np.corrcoef(np.sign(values), np.abs(values))[0, 1])) * math.sqrt(N)
    assert statistic < threshold, f"sign and size: n = {N}, statistic = {statistic:.2f}, threshold = {threshold:.2f}"


# --- one event --------------------------------------------------------------------------------------------------


def excluded(successes: int, n: int, p: float) -> tuple[bool, str]:
    """Whether the Clopper-Pearson interval of level 1 - SIZE leaves p out."""
    low = float(stats.beta.ppf(SIZE / 2, successes, n - successes + 1)) if successes else 0.0
    high = float(stats.beta.isf(SIZE / 2, successes + 1, n - successes)) if successes < n else 1.0
    return not low <= p <= high, f"n = {n}, {successes} events, p = {p:.6g}, interval [{low:.6g}, {high:.6g}]"


def event_power(claimed: float, true: float, n: int) -> float:
    """The probability that n draws with `true` exclude `claimed`: outside the counts that the claim explains."""
    few, many = stats.binom.isf(1 - SIZE / 2, n, claimed), stats.binom.isf(SIZE / 2, n, claimed)
    return float(stats.binom.cdf(few - 1, n, true) + stats.binom.sf(many + 1, n, true))


def check_event(
    count: Callable[[Fraction], int], probability: Callable[[Fraction], float], parameter: Fraction, n: int
) -> None:
    """The true parameter is accepted; draws with one OFF away are rejected, and with power."""
    outside, numbers = excluded(count(parameter), n, probability(parameter))
    assert not outside, numbers
    for factor in WRONG:
        chance = event_power(probability(parameter), probability(factor * parameter), n)
        assert chance > POWER, f"n = {n}: power {chance}, wanted {POWER}"
        outside, numbers = excluded(count(factor * parameter), n, probability(parameter))
        assert outside, numbers


@pytest.mark.parametrize("name", LAWS)
def test_epsilon_ten(name: str) -> None:
    # An event of probability 5e-5, hence more draws: 10 million give about 450 events.
    draw, tail = LAWS[name]
    n = 10_000_000

    def count(epsilon: Fraction) -> int:
        return int(np.count_nonzero(draw(epsilon, n, ScriptedSource.from_label(f"ten {name} {epsilon}")) >= 1))

    check_event(count, lambda epsilon: tail(epsilon, 1), Fraction(10), n)


@pytest.mark.parametrize("name", LAWS)
def test_epsilon_fifty_given_the_first_word(name: str) -> None:
    # P(X >= 1) = 2e-22 is never seen. Given that the first word is 2**64 - 1, U is within 2**-64 of 1 and that
    # probability is 0.0036: every draw takes the slow path, where the law must hold as well.
    tail = LAWS[name][1]
    n, last = 15_000, np.uint64(2**64 - 1)

    def count(epsilon: Fraction) -> int:
        table, zero = (
            (sampler._one_sided(epsilon).table, 0)
            if name == "one-sided"
            else (sampler._both_sides(epsilon).table, sampler._both_sides(epsilon).quotients + 1)
        )
        cells = table.sample_from(np.full(n, last), ScriptedSource.from_label(f"fifty {name} {epsilon}"))
        return int(np.count_nonzero(cells > zero))

    check_event(count, lambda epsilon: tail(epsilon, 1) * 2.0**64, Fraction(50), n)


@pytest.mark.parametrize("r", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(5)], ids=str)
def test_exponential_coins(r: Fraction) -> None:
    n = 5_000_000  # 5 % of r = 0.01 moves the probability by 0.0005 only

    def count(rate: Fraction) -> int:
        return int(np.count_nonzero(bernoulli_exp(rate, n, ScriptedSource.from_label(f"exp {rate}"))))

    check_event(count, lambda rate: math.exp(-float(rate)), r, n)


@pytest.mark.parametrize("p", [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)], ids=str)
def test_rational_coins(p: Fraction) -> None:
    n = 5_000_000

    def count(chance: Fraction) -> int:
        return int(np.count_nonzero(bernoulli(chance, n, ScriptedSource.from_label(f"rational {chance}"))))

    check_event(count, float, p, n)


def test_certified_coins() -> None:
    # 1/pi, a number that no other sampler here can have as its probability.
    n = 1_000_000

    def count(scale: Fraction) -> int:
        def chance() -> arb:
            return ball(scale) / arb.pi()

        return int(np.count_nonzero(bernoulli_certified(chance, n, ScriptedSource.from_label(f"pi {scale}"))))

    check_event(count, lambda scale: float(scale) / math.pi, Fraction(1), n)
