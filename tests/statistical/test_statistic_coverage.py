"""Intervals of counts, shares, means and quantiles hold the truth as often as they say, over a thousand runs each.

Size: a release whose intervals miss 5 times in 100 is rejected with a probability below 10^-6. Power: one whose
intervals miss 13 times in 100 is rejected with a probability above 0.98, and a control with intervals that are
too short is. The scripts are fixed by labels, so a test that passes passes always.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub.kinds.sums.result import Answers
from hubbub.kinds.sums.spec import Statistic
from hubbub.noise.source import ScriptedSource, Source
from hubbub.tables.bounded_column import Measure
from hubbub.tables.engine import CountQuery, ExactCounts
from tests.statistical import half_steps
from tests.unit.shared.statistics import statistic

RUNS, MISS, SIZE = 1000, 0.05, 1e-6
THRESHOLD = int(stats.binom.isf(SIZE, RUNS, MISS))
N = 4000
RNG = np.random.default_rng(20)  # the people, who are public here
TOWN = np.repeat([0, 1, 2], [2600, 1300, 100])
STEP = np.clip(RNG.gamma(4, 5, N).astype(int) + 3 * TOWN, 0, 100)
OLD = STEP >= 30


@pytest.fixture(autouse=True)
def _only_noise_and_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """These values lie on the steps: without the half step for rounding, an end that is too short is seen."""
    half_steps.leave_out(monkeypatch)


def test_the_threshold_has_power() -> None:
    assert stats.binom.sf(THRESHOLD, RUNS, 0.13) > 0.98


class People:
    """Answers questions about the people above, without a database."""

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        bins = TOWN if question.axes else np.zeros(N, dtype=int)
        steps = STEP if isinstance(question.measure, Measure) else OLD.astype(int)
        taken = OLD if question.where is not None else np.ones(N, dtype=bool)
        width = 1 if question.measure is None or not question.by_value else (101 if steps is STEP else 2)
        codes = np.where(taken, bins * width + (steps if width > 1 else 0), -1)
        codes = codes if question.everybody else codes[taken]
        found, counts = np.unique(codes, return_counts=True)
        sums = None
        if question.measure is not None and not question.by_value:
            sums = tuple(int(steps[taken & (bins == code)].sum()) for code in found.tolist())
        return ExactCounts(found, counts, (), sums)


def truth(spec: Statistic) -> list[tuple[float, float]]:
    """For each bin the true number; of a quantile, the least and the largest step that is one."""
    found = []
    for town in range(spec.bins):
        here = np.equal(TOWN, town) if spec.axes else np.ones(N, dtype=bool)
        match spec.kind.name:
            case "count":
                at = float((here & OLD).sum())
            case "fraction":
                at = float(Fraction(int((here & OLD).sum()), int(here.sum())))
            case "mean":
                at = float(STEP[here].mean())
            case _:
                q: Fraction = spec.q  # type: ignore[attr-defined]
                rank, steps = q * int(here.sum()), STEP[here]
                quantiles = [x for x in range(101) if (steps < x).sum() <= rank <= (steps <= x).sum()]
                found.append((float(quantiles[0]), float(quantiles[-1])))
                continue
        found.append((at, at))
    return found


KNOWN = {"zero_knowledge": "1", "rows": 800, "people": N}
BY = {"by": ("town=a,b,c",)}
OLDER = {"where": "step >= 30"}
OF = {"of": "step:0..100:1"}
THIRD = {"sample": "0.3", "at_delta": "0.1"}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "count, known": ("count", {**OLDER, **KNOWN}),
    "count, exact": ("count", {**OLDER, **KNOWN, "zero_knowledge": "4"}),
    "count by, known": ("count", {**OLDER, **KNOWN, **BY}),
    "fraction, known": ("fraction", {**OLDER, **KNOWN}),
    "fraction by, known": ("fraction", {**OLDER, **KNOWN, **BY}),
    "fraction by, noise": ("fraction", {**OLDER, **BY, "epsilon": "0.3"}),
    "fraction by, crowds": ("fraction", {**OLDER, **BY, "crowd": 20, "epsilon": "0.3"}),
    "fraction by, sampled": ("fraction", {**OLDER, **BY, "crowd": 10, "epsilon": "0.5", **THIRD}),
    "mean, known": ("mean", {**OF, **KNOWN}),
    "mean by, noise": ("mean", {**OF, **BY, "epsilon": "0.5"}),
    "mean by, crowds": ("mean", {**OF, **BY, "crowd": 20, "epsilon": "0.5"}),
    "mean by, sampled": ("mean", {**OF, **BY, "crowd": 10, "epsilon": "1", **THIRD}),
}
RANKED: dict[str, tuple[str, dict[str, Any]]] = {
    "quantile, known": ("quantile", {**OF, **KNOWN}),
    "quantile by, noise": ("quantile", {**OF, **BY, "epsilon": "1", "q": "0.25"}),
    "quantile by, crowds": ("quantile", {**OF, **BY, "crowd": 20, "epsilon": "1", "q": "0.9"}),
    "quantile, sampled": ("quantile", {**OF, "crowd": 10, "epsilon": "1", **THIRD}),
}


@lru_cache(maxsize=1)
def _runs(name: str, coverage: str, runs: int) -> tuple[Statistic, list[Answers]]:
    kind, words = (ASKED | RANKED)[name]
    spec = statistic(kind, coverage=coverage, **words)
    source, people = ScriptedSource.from_label(f"{name} {coverage}"), People()
    found = [spec.present(spec.measure(people, source)) for _ in range(runs)]  # type: ignore[arg-type]
    return spec, [each for each in found if isinstance(each, Answers)]


def misses(name: str, coverage: str = "0.95", runs: int = RUNS) -> list[int]:
    """In how many runs the interval of each bin missed, where a number was shown."""
    spec, found = _runs(name, coverage, runs)
    missed, right = [0] * spec.bins, truth(spec)
    for answers in found:
        for town, (answer, (least, most)) in enumerate(zip(answers.answers, right, strict=True)):
            assert answer.high is not None
            if answer.estimate is None:
                continue
            assert answer.low <= answer.estimate <= answer.high
            missed[town] += not (float(answer.low) <= most + 1e-9 and least - 1e-9 <= float(answer.high))
    return missed


@pytest.mark.parametrize("name", ASKED)
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    for missed in misses(name):
        assert missed <= THRESHOLD, f"{name}: {missed} of {RUNS} missed, threshold {THRESHOLD}"


@pytest.mark.parametrize("name", RANKED)
def test_intervals_of_quantiles_do_too(name: str) -> None:
    """Fewer runs: each draws three points for each bin."""
    runs = 80
    threshold = int(stats.binom.isf(SIZE, runs, MISS))
    for missed in misses(name, runs=runs):
        assert missed <= threshold, f"{name}: {missed} of {runs} missed, threshold {threshold}"


@pytest.mark.parametrize("name", ["count, known", "count, exact", "fraction, known", "mean by, crowds"])
def test_intervals_that_are_too_short_are_noticed(name: str) -> None:
    """Exact laws: those of 80 % miss often, and the same test rejects them as those of 95 %."""
    assert max(misses(name, "0.8")) > THRESHOLD


@pytest.mark.parametrize("name", ["count, known", "fraction by, noise", "mean by, noise", "mean by, crowds"])
def test_estimates_are_right_on_average(name: str) -> None:
    """Within five standard errors: a bias of a quarter of a standard deviation is found with certainty, about."""
    spec, found = _runs(name, "0.95", RUNS)
    for town, (at, _) in enumerate(truth(spec)):
        if town == 2:  # a hundred people: clipping and the ratio of noisy sums bias it, and its interval says so
            continue
        values = np.array([float(each.answers[town].value or 0) for each in found])
        error = float(values.std() / np.sqrt(RUNS))
        assert abs(values.mean() - at) <= 5 * error, (name, town, values.mean(), at, error)
