"""Bins that are not listed against the law of listing them, each test with a size and a power.

A domain of many bins, all empty or all but a few: how many show each value is compared with law(0) by chi-square, and
where they lie with the uniform law. A chance that is 5 % off must be rejected, and the power of that is computed. The
scripts are fixed by labels, so a test that passes passes always.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.channels.catalogue import make
from hubbub.channels.protocol import Channel
from hubbub.channels.published import EmptyBins
from hubbub.channels.visibility import given_visible
from hubbub.kinds.histogram.sparse import visible_bins
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball

SIZE = 1e-6  # of each test: the probability that the true law is rejected
POWER = 0.999  # at least this probability that a chance that is 5 % off is rejected
EXPECTED = 50  # bins in a cell, at least
PLACES = 20
WRONG = Fraction(21, 20)

CASES: dict[str, tuple[str, dict[str, Any], int]] = {
    "warped": ("warped", {"curve": "1/2", "show_above": 6}, 3_000_000),
    "two levels of a curve": ("warped", {"curve": "1:0.2,5:1", "show_above": 6}, 3_000_000),
    "example 4": ("outlier-suppressed", {"k": 2, "epsilon": "1", "offset": 2}, 8_000_000),
    "two levels": ("staircase", {"thresholds": "8,2", "epsilons": "1,0.5,0", "offsets": "2,7"}, 10_000_000),
    "three levels": ("staircase", {"thresholds": "7,5,2", "epsilons": "2,1,0.5,0", "offsets": "1,3,5"}, 10_000_000),
}
TAKEN = np.array([5, 6, 7, 1000, 400_000])  # bins with people, who are hidden here: their channel says nothing


def channel(name: str) -> Channel:
    kind, options, _ = CASES[name]
    return make(kind, **options).channel


def cells(name: str, bins: int) -> tuple[list[tuple[str, int]], NDArray[np.float64]]:
    """(tag, value) with the numbers of bins expected there; all that is expected less often is left out."""
    law = given_visible(channel(name).law(0))
    found = []
    for tag in law.tags:
        for value in range(80):
            expected = bins * float(law.mass(value, tag).mid())
            if expected >= EXPECTED:
                found.append(((tag, value), expected))
    return [cell for cell, _ in found], np.array([expected for _, expected in found])


def drawn(name: str, empty: EmptyBins, bins: int) -> tuple[NDArray[np.int64], list[tuple[str, int]]]:
    """The codes that show a number, and what they show."""
    source = ScriptedSource.from_label(f"sparse {name}")
    hidden = make("exact-or-suppressed", k=1000).channel.release(np.full(TAKEN.size, 3), source)
    codes, out = visible_bins(TAKEN, hidden, empty, bins + TAKEN.size, source)
    return codes, [(out.names[tag], int(value)) for tag, value in zip(out.tags.tolist(), out.values, strict=True)]


def rejection(shown: list[tuple[str, int]], name: str, bins: int) -> tuple[bool, str, int]:
    """Whether the numbers of bins per outcome are rejected: chi-square with what is left over as a further cell."""
    places, expected = cells(name, bins)
    observed = np.array([shown.count(place) for place in places])
    rest, seen = bins - expected.sum(), bins - observed.sum()
    statistic = float(((observed - expected) ** 2 / expected).sum() + (seen - rest) ** 2 / rest)
    threshold = float(stats.chi2.isf(SIZE, len(places)))
    told = f"{name}: {bins} bins, {len(places)} cells, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"
    return statistic > threshold, told, len(places)


@pytest.mark.parametrize("name", CASES)
def test_bins_that_are_not_listed_have_the_law_of_those_that_are(name: str) -> None:
    bins, empty = CASES[name][2], channel(name).empty_bins()
    assert empty is not None
    codes, shown = drawn(name, empty, bins)
    rejected, told, _ = rejection(shown, name, bins)
    assert not rejected, told
    assert not set(codes.tolist()) & set(TAKEN.tolist())
    where = np.bincount(codes * PLACES // (bins + TAKEN.size), minlength=PLACES)
    statistic = float(((where - codes.size / PLACES) ** 2 / (codes.size / PLACES)).sum())
    threshold = float(stats.chi2.isf(SIZE, PLACES - 1))
    assert statistic < threshold, f"{name}: places, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"


@pytest.mark.parametrize("name", CASES)
def test_a_chance_five_per_cent_off_is_rejected(name: str) -> None:
    bins, empty = CASES[name][2], channel(name).empty_bins()
    assert empty is not None
    wrong = EmptyBins(lambda: empty.chance() * ball(WRONG), empty.draw)
    _, shown = drawn(name, wrong, bins)
    rejected, told, many = rejection(shown, name, bins)
    _, expected = cells(name, bins)
    distance = float(((WRONG - 1) ** 2 * expected).sum())
    power = float(stats.ncx2.sf(stats.chi2.isf(SIZE, many), many, distance))
    assert power > POWER, f"{name}: power {power}, wanted {POWER}"
    assert rejected, told
