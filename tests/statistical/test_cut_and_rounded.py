"""Threat 52: intervals of means and quantiles hold the number of values that are cut, between the steps and outside.

Each case has values that all err to one side: 0.4 of a step above a step, and half of them beyond the range. The truth
is that of the values cut to the range, not rounded.

Size: a release whose intervals miss 5 times in 100 is rejected with a probability below 10^-6. Power: one that misses
20 times in 100 is rejected with a probability above 0.98; without the half step nearly all intervals miss, and that is
tried. The scripts are fixed by labels, so a test that passes passes always.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub.kinds.sums.result import Answers
from hubbub.noise.source import ScriptedSource, Source
from hubbub.tables.engine import CountQuery, ExactCounts
from tests.statistical import half_steps
from tests.unit.shared.statistics import statistic

RUNS, MISS, SIZE = 200, 0.05, 1e-6
THRESHOLD = int(stats.binom.isf(SIZE, RUNS, MISS))
N = 20_000
VALUES = {
    "between steps": np.full(N, 0.4),
    "just below a half": np.resize([3.49, 3.4, 8.45], N),
    "just above a half": np.resize([2.5, 6.51, 6.6], N),
    "beyond the range": np.resize([14.0, 3.4, -7.0, 25.0], N),
}
KNOWN = {"zero_knowledge": "1", "rows": 4000, "people": N}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "mean, noise": ("mean", {"epsilon": "1"}),
    "mean, crowds": ("mean", {"crowd": 20, "epsilon": "1"}),
    "mean, known": ("mean", KNOWN),
    "quantile, noise": ("quantile", {"epsilon": "1", "q": "0.9"}),
    "median, known": ("quantile", {**KNOWN, "q": "0.5"}),
}


def test_the_threshold_has_power() -> None:
    assert stats.binom.sf(THRESHOLD, RUNS, 0.2) > 0.98


class People:
    """Counts these values as an engine does: cut to 0..10, then to the nearest of its steps, halves upwards."""

    def __init__(self, values: np.typing.NDArray[np.float64]) -> None:
        self.steps = np.floor(np.clip(values, 0, 10) + 0.5).astype(int)

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        if not question.by_value:
            return ExactCounts(np.array([0]), np.array([N]), (), (int(self.steps.sum()),))
        found, counts = np.unique(self.steps, return_counts=True)
        return ExactCounts(found, counts, ())


def truth(kind: str, q: str, values: np.typing.NDArray[np.float64]) -> tuple[float, float]:
    """Of values that are cut, exactly: the mean, or the least and the largest quantile."""
    cut = np.clip(values, 0, 10)
    if kind == "mean":
        exact = float(sum(map(Fraction, cut.tolist())) / N)
        return exact, exact
    rank = Fraction(q) * N
    points = np.unique(cut)
    right = [x for x in points if (cut < x).sum() <= rank <= (cut <= x).sum()]
    return float(min(right)), float(max(right))


def misses(kind: str, words: dict[str, Any], values: np.typing.NDArray[np.float64], label: str) -> int:
    spec = statistic(kind, of="v:0..10:1", **words)
    source, people = ScriptedSource.from_label(label), People(values)
    least, most = truth(kind, words.get("q", "0.5"), values)
    missed = 0
    for _ in range(RUNS):
        found: Any = spec.present(spec.measure(people, source))
        assert isinstance(found, Answers)
        (answer,) = found.answers
        assert answer.high is not None
        missed += not (answer.low <= most and least <= answer.high)
    return missed


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("values", VALUES)
def test_intervals_hold_the_number_of_values_that_are_cut(name: str, values: str) -> None:
    kind, words = ASKED[name]
    assert misses(kind, words, VALUES[values], f"{name} {values}") <= THRESHOLD


def test_without_half_a_step_intervals_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    half_steps.leave_out(monkeypatch)
    for kind, words in (ASKED["mean, noise"], ASKED["quantile, noise"]):
        assert misses(kind, words, VALUES["between steps"], "control") > RUNS // 2
