"""Theorem A3: the noise of an average, from epsilon and back, against the exact loss on small tables."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from hubbub.errors import WrongUse
from hubbub.sampling.averages import epsilon_for, scale_for


def exact_loss(n: int, k: int, scale: float) -> float:
    """The largest |ln ratio| of densities between avg(D) + Lap and its simulation, over all 0/1 data of n rows."""
    worst = 0.0
    for ones in range(n):
        for own in (0, 1):
            rows = [1] * ones + [0] * (n - 1 - ones)
            average = (ones + own) / n
            means = [sum([*rows, 0.5][i] for i in chosen) / k for chosen in combinations(range(n), k)]
            for at in [*(i / 40 for i in range(-40, 81)), average, *means]:
                simulated = sum(math.exp((abs(at - average) - abs(at - mean)) / scale) for mean in means) / len(means)
                worst = max(worst, abs(math.log(simulated)))
    return worst


@pytest.mark.parametrize(("k", "n"), [(1, 4), (2, 5), (4, 6), (6, 6)])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "4"])
def test_theorem_a3_is_never_below_the_exact_loss(k: int, n: int, epsilon: str) -> None:
    scale = float(scale_for(k, n, epsilon).scale)
    assert exact_loss(n, k, scale) <= float(epsilon) * (1 + 1e-9)
    assert exact_loss(n, k, scale / 4) > float(epsilon)  # it is not idle: a quarter of the noise is too little


def test_a_scale_and_its_epsilon_are_each_others() -> None:
    for k, n, epsilon in ((10, 100, "0.5"), (100, 100, "3"), (1, 10**6, "10")):
        found = scale_for(k, n, epsilon)
        back = epsilon_for(k, n, found.scale)
        assert float(back.epsilon) == pytest.approx(float(epsilon), rel=1e-12)
        assert back.epsilon <= found.epsilon


def test_everybody_known_is_plain_differential_privacy_half_way() -> None:
    assert float(scale_for(1000, 1000, "0.1").scale) == pytest.approx(1 / (2 * 1000 * 0.1))


def test_the_paper_has_no_noise_for_a_small_sample_and_a_small_epsilon() -> None:
    assert scale_for(10, 1000, "0.1").beside["paper_scale"] is None  # 2 e^(-10^(1/3)) is above 0.1 already


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(WrongUse, match="at most all rows"):
        scale_for(11, 10, 1)
    with pytest.raises(WrongUse, match="above 0"):
        epsilon_for(1, 10, 0)
