"""How often the intervals of a standard deviation and its mean are right, and how little it errs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hubbub.kinds.sums.mechanism import NoisyBins, present
from hubbub.kinds.sums.variance import Deviation, spread
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.measurement import Measurement, release
from hubbub.tables.engine import ExactCounts

RUNS = 300


@pytest.mark.parametrize(
    ("words", "people"),
    [
        ({"epsilon": "1"}, 200),
        ({"epsilon": "0.5"}, 8),
        ({"crowd": "5", "epsilon": "1"}, 40),
        ({"zero_knowledge": "1", "rows": "200", "people": "400"}, 400),
    ],
)
def test_intervals_hold_at_least_as_often_as_they_say(words: dict[str, Any], people: int) -> None:
    """Coverage 0.8, mean and deviation at once. Size: at most 1e-6 (more than 95 of 300 wrong at a rate of at most 0.2).
    Power: intervals that are wrong every other time are found but for a chance of 1e-10."""
    spec = spread(Deviation, of="x:0..100:1", coverage="0.8", **words)
    values = np.minimum(np.random.default_rng(5).geometric(1 / 12, people), 100)
    steps, counts = np.unique(values, return_counts=True)
    exact, source = ExactCounts(steps.astype(np.int64), counts.astype(np.int64)), ScriptedSource.from_label("moments")
    mean, deviation, wrong = float(values.mean()), float(values.std()), 0
    for _ in range(RUNS):
        (answer,) = present(spec, Measurement(answers=release(NoisyBins(spec), exact, source))).answers
        truth = zip(answer.estimates, (deviation, mean), strict=True)
        right = all(each.high is not None and each.low <= value <= each.high for each, value in truth)
        wrong += not right
    assert wrong <= 95


@pytest.mark.parametrize(("people", "error"), [(200, 0.0051), (2000, 0.0005)])
def test_the_error_is_that_of_the_theory(people: int, error: float) -> None:
    """Uniform on 0..100, epsilon 1: the root mean squared error of the deviation in parts of the range, within 10 %."""
    spec = spread(Deviation, of="x:0..100:1", epsilon="1")
    rng, source, squares = np.random.default_rng(9), ScriptedSource.from_label("error"), []
    for _ in range(600):
        values = rng.integers(0, 101, people)
        steps, counts = np.unique(values, return_counts=True)
        exact = ExactCounts(steps.astype(np.int64), counts.astype(np.int64))
        (answer,) = present(spec, Measurement(answers=release(NoisyBins(spec), exact, source))).answers
        assert answer.estimate is not None
        squares.append((float(answer.estimate) - float(values.std())) ** 2 / 100**2)
    assert (sum(squares) / len(squares)) ** 0.5 <= 1.1 * error
