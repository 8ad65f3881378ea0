"""Definition 10, Lemma 11, Proposition 12, Corollaries 13 and 14, Proposition 15: exact losses on small tables."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import pytest

from hubbub import account
from hubbub.account.sample_complexity import histogram_error
from hubbub.errors import Refused, WrongUse
from hubbub.sampling.sample_complexity import (
    COROLLARY_13,
    COROLLARY_14,
    PROPOSITION_12,
    SampleComplexity,
    epsilon_of_noise,
    least_epsilon,
    sampler_of,
    scale_of_noise,
    sensitivity_bound,
)

BLANK = 0  # stands for a blank row: an allowed value


def means(rows: tuple[int, ...], k: int) -> list[float]:
    return [sum(chosen) / k for chosen in combinations(rows, k)]


def complexity_of_the_mean(n: int, k: int, delta: Fraction) -> SampleComplexity:
    """The exact failure of the mean of k rows, over all 0/1 tables of n rows."""
    worst = Fraction(0)
    for rows in product((0, 1), repeat=n):
        near = [abs(Fraction(sum(chosen), k) - Fraction(sum(rows), n)) <= delta for chosen in combinations(rows, k)]
        worst = max(worst, 1 - Fraction(sum(near), len(near)))
    return SampleComplexity(delta=delta, beta=worst)


def exact_loss(n: int, k: int, scale: float) -> float:
    """The largest |ln ratio| between avg(D) + Lap(scale) and the mean of k rows with the first blank, plus that noise."""
    worst = 0.0
    for rows in product((0, 1), repeat=n):
        average, drawn = sum(rows) / n, means((BLANK, *rows[1:]), k)
        for at in [i / 10 for i in range(-20, 31)] + drawn + [average]:
            simulated = sum(math.exp((abs(at - average) - abs(at - mean)) / scale) for mean in drawn) / len(drawn)
            worst = max(worst, abs(math.log(simulated)))
    return worst


@pytest.mark.parametrize(("n", "k", "delta"), [(4, 2, "1/4"), (5, 3, "1/5"), (6, 3, "1/3"), (4, 4, "0")])
@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
def test_proposition_12_is_never_below_the_exact_loss(n: int, k: int, delta: str, epsilon: str) -> None:
    complexity, sensitivity = complexity_of_the_mean(n, k, Fraction(delta)), Fraction(1, n)
    scale = scale_of_noise(complexity, sensitivity, Fraction(1), Fraction(epsilon))
    assert epsilon_of_noise(complexity, sensitivity, Fraction(1), scale) <= Fraction(epsilon)
    assert exact_loss(n, k, float(scale)) <= float(Fraction(epsilon)) * (1 + 1e-9)
    assert exact_loss(n, k, float(scale) / 5) > float(Fraction(epsilon))  # it is not idle
    smaller = scale * (1 - Fraction(1, 10**9))
    assert epsilon_of_noise(complexity, sensitivity, Fraction(1), smaller) > Fraction(epsilon)


@pytest.mark.parametrize(("n", "k", "delta"), [(5, 1, "9/10"), (6, 2, "2/3"), (6, 1, "5/6")])
def test_lemma_11_bounds_the_sensitivity(n: int, k: int, delta: str) -> None:
    complexity = complexity_of_the_mean(n, k, Fraction(delta))
    assert complexity.beta < (1 - Fraction(k, n)) / 2
    assert sensitivity_bound(complexity, k, n) == 2 * Fraction(delta) >= Fraction(1, n)


def test_lemma_11_is_false_for_a_sampler_that_fails_more_often() -> None:
    """The first row itself: a random row is right with probability above 1/2 only if it is that row."""
    rows = 4
    with pytest.raises(Refused, match="Lemma 11"):
        sensitivity_bound(SampleComplexity(delta=Fraction(0), beta=1 - Fraction(1, rows)), 1, rows)
    with pytest.raises(WrongUse, match="1 to all"):
        sensitivity_bound(SampleComplexity(delta=Fraction(0), beta=Fraction(0)), 5, 4)


def test_corollary_13_takes_three_deltas() -> None:
    found = account.noise("0.05", "1e-6", 1, rows=2000, of=10_000, scale="0.4")
    assert found.theorem == COROLLARY_13
    assert found.sensitivity == Fraction(1, 10)
    expected = math.log((1 - 1e-6) * math.exp(3 * 0.05 / 0.4) + 1e-6 * math.exp(1 / 0.4))
    assert float(found.epsilon) == pytest.approx(expected, rel=1e-12)
    assert account.noise("0.05", "1e-6", 1, sensitivity="0.0001", epsilon_zk="0.5").theorem == PROPOSITION_12


def test_corollary_14_is_the_noise_of_differential_privacy() -> None:
    found = account.noise(0, 0, 1, sensitivity="0.001", rows=10, of=10, epsilon_zk="0.5")
    assert found.theorem == COROLLARY_14
    assert found.scale == Fraction("0.002")


def test_proposition_12_never_asks_for_more_than_the_whole_spread() -> None:
    """As printed, sensitivity + delta may exceed (b - a) m; then that is the distance."""
    far = SampleComplexity(delta=Fraction(9), beta=Fraction(1, 10))
    assert epsilon_of_noise(far, Fraction(1), Fraction(2), Fraction(1)) == 2


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2)])
def test_proposition_15_the_simulator_is_a_sampler(n: int, k: int) -> None:
    """A release with exact loss e, right but for beta: its simulator fails no more often than is said."""
    scale, delta = 0.5, 0.6
    beta = math.exp(-delta / scale)  # P(|Lap| > delta)
    worst, loss = 0.0, exact_loss(n, k, scale)
    for rows in product((0, 1), repeat=n):
        average, drawn = sum(rows) / n, means((BLANK, *rows[1:]), k)
        right = sum(_between(average - delta - mean, average + delta - mean, scale) for mean in drawn) / len(drawn)
        worst = max(worst, 1 - right)
    assert worst <= float(sampler_of(Fraction(beta), Fraction(loss))) + 1e-9
    assert least_epsilon(Fraction(beta), Fraction(worst)) <= Fraction(loss)


def _between(low: float, high: float, scale: float) -> float:
    def below(x: float) -> float:
        return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

    return below(high) - below(low)


def test_proposition_15_backwards_undoes_it() -> None:
    failure = sampler_of(Fraction(1, 20), Fraction(1, 10))
    assert float(least_epsilon(Fraction(1, 20), failure)) == pytest.approx(0.1, rel=1e-9)
    assert least_epsilon(Fraction(1, 2), Fraction(1, 4)) == 0
    assert "least epsilon" in account.converse("0.05", sampler_fails="0.5").table()[0][0]


@pytest.mark.parametrize(
    ("k", "n", "bins", "epsilon", "printed"),
    [(10**4, 10**6, 10, "0.04", 0.059), (10**4, 10**6, 100, "0.04", 0.139), (10**5, 10**6, 20, "0.1", 0.022)],
)
def test_a2_histograms_are_as_exact_as_the_table_says(k: int, n: int, bins: int, epsilon: str, printed: float) -> None:
    """The note has continuous noise; whole numbers cost 1/2 a bin more."""
    found = account.histogram(k, n, bins, epsilon)
    continuous = float(found.error.total) - n / k * bins / 2
    assert continuous / n == pytest.approx(printed, abs=0.0006)
    assert found.error.largest < found.error.total
    wider = histogram_error(k, n, bins, found.rate / 2, Fraction(1, 20))
    assert wider.total > found.error.total


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"epsilon_zk": 1}, "sensitivity"),
        ({"sensitivity": 1}, "give one of"),
        ({"sensitivity": 1, "epsilon_zk": 1, "rows": 3}, "belong together"),
        ({"sensitivity": -1, "epsilon_zk": 1}, "0 or more"),
    ],
)
def test_wrong_numbers_are_refused(words: dict[str, int], reason: str) -> None:
    with pytest.raises(WrongUse, match=reason):
        account.noise("0.1", "0.1", 1, **words)
    with pytest.raises(WrongUse, match="probability"):
        SampleComplexity(delta=Fraction(0), beta=Fraction(1))
    with pytest.raises(WrongUse, match="give one of"):
        account.converse("0.1")
