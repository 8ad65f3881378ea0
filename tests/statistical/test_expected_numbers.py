"""Of people with several rows: intervals for what was kept hold that, and those for what is kept on average hold this.

Size: intervals that miss 5 times in 100 are rejected with a probability below 10^-6. Power: those that miss 18 times in
100 are rejected with a probability above 0.98; and intervals for what was kept, taken for what is kept on average, are.
What is kept on average is worked out by hand: each row weighs one over how many its person has.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub.kinds.sums.result import Answers
from hubbub.kinds.sums.spec import Statistic
from hubbub.noise.source import ScriptedSource, Source
from hubbub.tables.bounded_column import Measure
from hubbub.tables.engine import CountQuery, ExactCounts, MultiRowPolicy
from hubbub.tables.privacy_unit import Unit
from tests.statistical import half_steps
from tests.unit.shared.statistics import statistic

RUNS, MISS, SIZE = 400, 0.05, 1e-6
THRESHOLD = int(stats.binom.isf(SIZE, RUNS, MISS))
N, EACH = 1500, 3
RNG = np.random.default_rng(33)  # the rows, which are public here, and which of them are kept
TOWN = RNG.choice(3, (N, EACH), p=[0.6, 0.35, 0.05])
STEP = np.clip(RNG.gamma(2, 5, (N, EACH)).astype(int) + 15 * TOWN, 0, 50)
HAS = RNG.integers(1, EACH + 1, N)  # rows of a person
WEIGHT = np.where(np.arange(EACH) < HAS[:, None], 1 / HAS[:, None], 0.0)
HIGH = STEP >= 20


@pytest.fixture(autouse=True)
def _only_noise_and_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """These values lie on the steps: without the half step for rounding, an end that is too short is seen."""
    half_steps.leave_out(monkeypatch)


def test_the_threshold_has_power() -> None:
    assert stats.binom.sf(THRESHOLD, RUNS, 0.18) > 0.98


class People:
    """Keeps a row of each and answers questions about these, without a database."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)
        self.kept = np.zeros(N, dtype=int)

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        assert question.repeats is MultiRowPolicy.ONE_ROW
        self.kept = (self.rng.random(N) * HAS).astype(int)
        town, step, high = (each[np.arange(N), self.kept] for each in (TOWN, STEP, HIGH))
        bins = town if question.axes else np.zeros(N, dtype=int)
        steps = step if isinstance(question.measure, Measure) else high.astype(int)
        taken = high if question.where is not None else np.ones(N, dtype=bool)
        width = 1 if question.measure is None or not question.by_value else (51 if steps is step else 2)
        codes = np.where(taken, bins * width + (steps if width > 1 else 0), -1)
        codes = codes if question.everybody else codes[taken]
        found, counts = np.unique(codes, return_counts=True)
        sums = None
        if question.measure is not None and not question.by_value:
            sums = tuple(int(steps[taken & (bins == code)].sum()) for code in found.tolist())
        return ExactCounts(found, counts, (), sums)


def truth(spec: Statistic, weights: np.ndarray) -> list[float]:
    """The true number of every bin, each row with its weight."""
    found = []
    for town in range(spec.bins):
        here = weights * (np.equal(TOWN, town) if spec.axes else 1)
        values = STEP if spec.kind.name == "mean" else HIGH
        found.append(float((here * values).sum() / (1 if spec.kind.name == "count" else here.sum())))
    return found


KNOWN = {"zero_knowledge": "1", "rows": 500, "people": N}
BY = {"by": ("town=a,b,c",)}
OLDER, OF = {"where": "step >= 20"}, {"of": "step:0..50:1"}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "count, noise": ("count", {**OLDER, **BY, "epsilon": "1"}),
    "count, crowds": ("count", {**OLDER, **BY, "crowd": 20}),
    "count, sampled": ("count", {**OLDER, **BY, "crowd": 10, "sample": "0.3", "at_delta": "0.1"}),
    "count, known": ("count", {**OLDER, **KNOWN}),
    "count, exact": ("count", {**OLDER, **KNOWN, "zero_knowledge": "4"}),
    "count by, known": ("count", {**OLDER, **BY, **KNOWN}),
    "fraction, known": ("fraction", {**OLDER, **KNOWN}),
    "fraction by, known": ("fraction", {**OLDER, **BY, **KNOWN}),
    "fraction by, noise": ("fraction", {**OLDER, **BY, "epsilon": "3"}),
    "mean by, noise": ("mean", {**OF, **BY, "epsilon": "20"}),
    "mean, known": ("mean", {**OF, **KNOWN, "zero_knowledge": "5"}),
}


@lru_cache(maxsize=32)
def misses(name: str, *, asked_average: bool, true_average: bool) -> tuple[int, ...]:
    """In how many runs the interval of each bin missed, where a number was shown."""
    kind, words = ASKED[name]
    unit = Unit(person="id", one_row_per_person=True, expected_rows=asked_average)
    spec = statistic(kind, unit=unit, **words)
    source, people = ScriptedSource.from_label(name), People()
    missed = [0] * spec.bins
    for _ in range(RUNS):
        answers = spec.present(spec.measure(people, source))  # type: ignore[arg-type]
        assert isinstance(answers, Answers)
        weights = WEIGHT if true_average else np.eye(EACH)[people.kept]
        for town, (answer, right) in enumerate(zip(answers.answers, truth(spec, weights), strict=True)):
            if answer.estimate is not None:
                assert answer.high is not None
                assert answer.low <= answer.estimate <= answer.high
                missed[town] += not float(answer.low) - 1e-9 <= right <= float(answer.high) + 1e-9
    return tuple(missed)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("average", [False, True], ids=["kept", "on average"])
def test_intervals_hold_what_they_say_as_often_as_they_say(name: str, average: bool) -> None:
    for missed in misses(name, asked_average=average, true_average=average):
        assert missed <= THRESHOLD, f"{name}: {missed} of {RUNS} missed, threshold {THRESHOLD}"


@pytest.mark.parametrize("name", ["count, noise", "count, crowds", "fraction by, noise", "mean by, noise"])
def test_what_was_kept_is_not_what_is_kept_on_average(name: str) -> None:
    """The control: these intervals are about the rows of this release alone, and the test notices it."""
    assert max(misses(name, asked_average=False, true_average=True)) > THRESHOLD
