"""For all counts: a sampled release has the law of thinning and then the channel, and intervals cover.

Where every random word matters little, all of them are enumerated and the law is compared exactly; elsewhere draws are
compared with the law, with a size and a power. Coverage is worked out from the laws, with no draws at all, and then
once more by running releases.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from hubbub.channels.catalogue import channel
from hubbub.channels.estimate import interval
from hubbub.channels.protocol import Channel, Published
from hubbub.channels.subsample import Subsampled
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.result import Counts
from hubbub.noise.source import ScriptedSource, Source
from hubbub.numeric.exact import lower, upper
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.estimation import population_intervals
from hubbub.tables.schema import Schema
from tests.fresh import counts, played

SIZE = 1e-6  # of each statistical test: how often a true law is rejected
POWER = 0.999  # how often a wrong one is, at least


class Crowd:
    """An engine whose bins all hold the same number of people."""

    def __init__(self, count: int, bins: int) -> None:
        self.counted = ExactCounts(np.arange(bins), np.full(bins, count))

    def columns(self) -> Schema:
        return Schema({})

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        return self.counted


def released(count: int, bins: int, source: Source, **words: Any) -> Counts:
    return counts(played(histogram([f"age:0..{bins}:1"], **words), Crowd(count, bins), source))


# --- sampling is thinning -----------------------------------------------------------------------------------------


RATES = {Fraction(1, 2): 1, Fraction(1, 4): 2, Fraction(3, 4): 2, Fraction(5, 8): 3}  # and their binary digits


@pytest.mark.parametrize(
    ("p", "count"), [(p, count) for p, digits in RATES.items() for count in range(8 // digits + 1)], ids=str
)
def test_a_sampled_release_has_exactly_the_law_of_the_thinned_channel(p: Fraction, count: int) -> None:
    """Every way the words of the sample can fall, counted: the bits of one word for each binary digit of p."""
    digits = RATES[p]
    spec = histogram(["age:0..1:1"], crowd=2, sample=p, at_delta="0.9")
    law = Subsampled(p, spec.channel).law(count)
    outcomes: Counter[tuple[int | None, str]] = Counter()
    for words in product(range(2**count), repeat=digits):
        release = counts(played(spec, Crowd(count, 1), ScriptedSource(words)))
        outcomes[release.published.outcome(0)] += 1
    for (value, tag), times in outcomes.items():
        chance = Fraction(times, 2 ** (count * digits))
        mass = law.mass(value or 0, tag)
        assert lower(mass) <= chance <= upper(mass), f"{value} {tag}: {chance}, and the law says {mass}"
    assert sum(outcomes.values()) == 2 ** (count * digits)


N = 40_000  # bins
SAMPLED: list[tuple[int, dict[str, Any]]] = [
    (7, {"crowd": 3, "at_delta": "0.5"}),
    (40, {"crowd": 10, "at_delta": "0.01"}),
    (7, {"crowd": 5, "epsilon": 1, "at_delta": "0.5"}),
    (30, {"epsilon": 1}),
    (5, {"outlier": "1:0.5,4:2"}),
]
P = Fraction(1, 3)


def cells(law_of: Channel, count: int) -> dict[tuple[str, int], float]:
    atoms = law_of.law(count).atoms(Fraction(1, 10**9))
    return {(tag, value): float(mass.mid()) for tag, value, mass in atoms}


def chi_square(outcomes: Counter[tuple[str, int]], law: dict[tuple[str, int], float]) -> tuple[float, int]:
    """The statistic and its degrees of freedom, with rare outcomes put together."""
    common = [outcome for outcome, mass in law.items() if N * mass > 20]
    expected = [N * law[outcome] for outcome in common]
    observed = [outcomes[outcome] for outcome in common]
    expected.append(max(N - sum(expected), 1.0))
    observed.append(N - sum(observed))
    statistic = sum((seen - due) ** 2 / due for seen, due in zip(observed, expected, strict=True))
    return statistic, len(common)


@pytest.mark.parametrize(("count", "words"), SAMPLED, ids=str)
def test_draws_of_a_sampled_release_follow_the_thinned_law(count: int, words: dict[str, Any]) -> None:
    release = released(count, N, ScriptedSource.from_label(f"sampled {count} {words}"), sample=P, **words)
    published = release.published
    outcomes = Counter(
        (published.names[tag], value)
        for tag, value in zip(published.tags.tolist(), published.values.tolist(), strict=True)
    )
    statistic, freedom = chi_square(outcomes, cells(Subsampled(P, release.spec.channel), count))
    threshold = float(stats.chi2.isf(SIZE, freedom))
    assert statistic < threshold, f"n = {N}, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"


@pytest.mark.parametrize(("count", "words"), SAMPLED, ids=str)
@pytest.mark.parametrize("wrong", [P * Fraction(9, 10), P * Fraction(11, 10)], ids=str)
def test_a_sample_at_another_rate_would_be_noticed(count: int, words: dict[str, Any], wrong: Fraction) -> None:
    made = histogram(["age:0..1:1"], **words).channel
    right, other = cells(Subsampled(P, made), count), cells(Subsampled(wrong, made), count)
    common = [outcome for outcome, mass in right.items() if N * mass > 20]
    distance = N * sum((other.get(outcome, 0.0) - right[outcome]) ** 2 / right[outcome] for outcome in common)
    power = float(stats.ncx2.sf(stats.chi2.isf(SIZE, len(common)), len(common), distance))
    assert power > POWER, f"n = {N}: power {power}, wanted {POWER}"


# --- intervals cover ----------------------------------------------------------------------------------------------

CHANNELS: dict[str, dict[str, Any]] = {
    "exact-or-suppressed": {"k": 10},
    "noisy-below": {"k": 10, "epsilon": "0.5"},
    "noisy-below, tagged": {"k": 10, "epsilon": "0.5", "tagged": True},
    "geometric": {"epsilon": 1},
    "group": {"k": 5, "epsilon": 1},
    "simple-suppressed": {"k": 10},
    "simple-noisy": {"k": 10, "epsilon": 1},
    "outlier-suppressed": {"k": 10, "epsilon": 1, "alpha": 5},
    "warped": {"curve": "1:0.1,10:1"},
    "warped, hidden": {"curve": "1:0.1,10:1", "show_above": 5},
}
COVERAGES = [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(999, 1000)]
TAIL = Fraction(1, 10**12)


def made(name: str) -> Channel:
    return channel(name.partition(",")[0], **CHANNELS[name])


def missed(law_of: Channel, count: int, coverage: Fraction) -> float:
    """The probability that the interval of a value that is shown leaves out the count, given that one is shown."""
    total = shown = 0.0
    for tag, value, mass in law_of.law(count).atoms(TAIL):
        if tag.startswith("suppressed"):
            continue
        shown += float(mass.mid())
        found = interval(law_of, value, tag, coverage)
        if not (found.low <= count and (found.high is None or count <= found.high)):
            total += float(mass.mid())
    return total / shown if shown > 1e-4 else 0.0


@pytest.mark.parametrize("name", CHANNELS)
@settings(max_examples=12)
@given(count=st.integers(0, 60), coverage=st.sampled_from(COVERAGES))
def test_for_all_counts_an_interval_misses_at_most_as_often_as_it_says(
    name: str, count: int, coverage: Fraction
) -> None:
    chance = missed(made(name), count, coverage)
    assert chance <= float(1 - coverage) + 1e-9, f"count {count}: missed with probability {chance}"


def test_an_interval_that_is_too_short_is_noticed() -> None:
    """The check above can fail: intervals made for another noise miss too often."""
    narrow, wide = channel("geometric", epsilon=1), channel("geometric", epsilon="0.5")
    chance = 0.0
    for tag, value, mass in wide.law(20).atoms(TAIL):
        found = interval(narrow, value, tag, Fraction(19, 20))
        if found.high is not None and not found.low <= 20 <= found.high:
            chance += float(mass.mid())
    assert chance > 0.1


def ends(law_of: Channel, outcomes: list[tuple[str, int]], p: Fraction, coverage: Fraction) -> tuple[Any, Any]:
    """Intervals for everybody, of these outcomes on a sample: what a release with scale-up does."""
    names = tuple(dict.fromkeys(tag for tag, _ in outcomes))
    published = Published(
        np.array([value for _, value in outcomes], dtype=np.int64),
        np.array([names.index(tag) for tag, _ in outcomes], dtype=np.intp),
        names,
    )
    return population_intervals(law_of, published, p, coverage)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 10)], ids=str)
def test_scaled_up_intervals_miss_at_most_as_often_as_they_say_given_that_the_bin_is_shown(
    name: str, p: Fraction
) -> None:
    """The law of the whole channel, the sample and then the noise, at counts around the threshold."""
    law_of, coverage = made(name), Fraction(9, 10)
    known: dict[tuple[str, int], tuple[int, int]] = {}
    for count in (0, 1, 9, 10, 11, 37, 60, *range(90, 121, 10)):
        chance, shown = 0.0, 1e-9
        for m in range(count + 1):
            weight = float(comb(count, m) * p**m * (1 - p) ** (count - m))
            if weight < 1e-12:
                continue
            listed = law_of.law(m).atoms(Fraction(1, 10**9))
            atoms = [(tag, value, float(mass.mid())) for tag, value, mass in listed if not tag.startswith("suppressed")]
            shown += weight * sum(mass for _, _, mass in atoms)
            fresh = [(tag, value) for tag, value, _ in atoms if (tag, value) not in known]
            if fresh:
                known |= zip(
                    fresh, zip(*(end.tolist() for end in ends(law_of, fresh, p, coverage)), strict=True), strict=True
                )
            for tag, value, mass in atoms:
                low, high = known[tag, value]
                if not (low <= count and (high < 0 or count <= high)):
                    chance += weight * mass
        if shown > 1e-4:
            assert chance <= (float(1 - coverage) + 1e-6) * shown, f"count {count}: missed with {chance} of {shown}"


def covers(release: Counts, count: int) -> NDArray[np.bool_]:
    return (release.low <= count) & ((release.high < 0) | (count <= release.high))


RUNS: list[tuple[int, dict[str, Any]]] = [
    (3, {"epsilon": 1}),
    (50, {"epsilon": "0.1"}),
    (6, {"crowd": 10, "epsilon": 1}),
    (12, {"crowd": 10}),
    (12, {"outlier": "1:0.1,10:1"}),
    (2, {"outlier": "1:0.1,10:1", "show_above": 5}),
    (200, {"epsilon": 1, "sample": "0.2", "scale_up": True}),
    (200, {"crowd": 20, "sample": "0.2", "scale_up": True}),
    (110, {"crowd": 20, "sample": "0.1", "scale_up": True}),
    (150, {"outlier": "1", "show_above": 20, "sample": "0.1", "scale_up": True}),
    (5000, {"crowd": 20, "epsilon": 1, "sample": "0.1", "scale_up": True}),
]


@pytest.mark.parametrize(("count", "words"), RUNS, ids=str)
def test_intervals_of_releases_cover_the_count_they_are_for(count: int, words: dict[str, Any]) -> None:
    """One-sided: the misses among N bins are at most a binomial number with the stated chance, at the stated size."""
    coverage, bins = Fraction(9, 10), 20_000
    release = released(count, bins, ScriptedSource.from_label(f"covers {count} {words}"), coverage=coverage, **words)
    shown = release.visible
    misses, many = int(np.count_nonzero(~covers(release, count) & shown)), int(np.count_nonzero(shown))
    most = int(stats.binom.isf(SIZE, many, float(1 - coverage)))
    assert misses <= most, f"n = {many}: {misses} misses, at most {most}"


def test_intervals_that_cover_less_would_be_noticed() -> None:
    """Power: a coverage of 0.88 where 0.9 is said is rejected with probability 0.999."""
    bins = 20_000
    most = int(stats.binom.isf(SIZE, bins, 0.1))
    power = float(stats.binom.sf(most, bins, 0.12))
    assert power > POWER, f"n = {bins}: power {power}"
