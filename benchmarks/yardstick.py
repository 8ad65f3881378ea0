"""Violations that other auditors published, written down again from their descriptions: which of them do we catch?

dp-recorder (Cebere, Erb, Desfontaines, Bellet, Fitzsimons, PETS 2026) distils the faults that it found in libraries
into small examples, and dp_auditorium (arXiv 2307.05608) ships mechanisms that are not private. Each is here with
integer noise from our source, for whoever wants to know what an audit of ours would have said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.blackbox import Experiment, compare
from hubbub.audit.finding import Finding
from hubbub.audit.replay import replay
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source, SystemSource

Integers: TypeAlias = NDArray[np.int64]

RUNS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Published:
    """A violation, who published it, and our audit of it."""

    whose: str
    what: str
    audit: Callable[[], Finding]


# --- dp-recorder: the code around the noise -------------------------------------------------------------------------


def _mean_by_exact_size(values: Sequence[int], source: Source) -> int:
    """The number of rows, as it is, sets the scale of the noise."""
    total = sum(min(max(value, 0), 10) for value in values)
    return (total + int(two_sided_geometric(Fraction(1, len(values)), 1, source)[0])) // len(values)


def _classes_of_the_data(labels: Sequence[str], source: Source) -> dict[str, int]:
    """Which classes there are is read off the labels."""
    seen = sorted(set(labels))
    counts = Geometric(Fraction(1)).release(np.array([labels.count(each) for each in seen]), source).values
    return dict(zip(seen, map(int, counts), strict=True))


def _sum_without_clipping(values: Sequence[int], source: Source) -> int:
    """Noise for values up to 10, of values that were not clipped."""
    return sum(values) + int(two_sided_geometric(Fraction(1, 10), 1, source)[0])


def _clipped_but_for_nan(values: Sequence[float], source: Source) -> float:
    """A clamp by comparisons, which nan passes."""
    total = 0.0
    for value in values:
        total += 10.0 if value > 10 else 0.0 if value < 0 else value
    return total + int(two_sided_geometric(Fraction(1, 10), 1, source)[0])


def _noise_switched_off() -> Finding:
    """A sensitivity that some parameters make 0, and so no noise."""
    return compare(lambda n: [40] * n, lambda n: [41] * n, epsilon=1, runs=RUNS)


def _spent_twice() -> Finding:
    """Two answers at epsilon each, entered as one."""
    source = SystemSource()

    def answers(count: int) -> Experiment:
        def many(n: int) -> list[object]:
            noise = two_sided_geometric(1, 2 * n, source).reshape(n, 2)
            return [tuple(row) for row in (noise + count).tolist()]

        return many

    return compare(answers(40), answers(41), epsilon=1, runs=RUNS)


# --- dp_auditorium: means and sparse vectors ------------------------------------------------------------------------


def _mean_noise_by_size() -> Finding:
    """The noise of a mean shrinks with the exact number of rows: 1 row or 2."""
    source = SystemSource()

    def mean(rows: int) -> Experiment:
        def many(n: int) -> list[object]:
            return [int(x) for x in two_sided_geometric(Fraction(rows, 20), n, source)]  # in twentieths

        return many

    return compare(mean(1), mean(2), epsilon=1, runs=RUNS)


def _sparse_vector(
    query_scale: Fraction | int,
    threshold_scale: int,
    queries: tuple[int, int],
    answers: int,
    *,
    releases_value: bool = False,
    runs: int = RUNS,
) -> Finding:
    """Which queries are above a noisy threshold: so many of 0, then so many of 1, or the other way round.

    Noise of scale 0 is none; after so many answers it stops; `shown` answers with the noisy value itself.
    """
    source = SystemSource()
    one = np.repeat([0, 1], queries)

    def experiment(values: Integers) -> Experiment:
        def many(n: int) -> list[object]:
            noisy = values + _noise(query_scale, n * values.size, source).reshape(n, values.size)
            above = noisy >= _noise(threshold_scale, n, source)[:, None]
            before: Integers = np.cumsum(above, axis=1) - above
            published = np.where(above, noisy if releases_value else 1, -99 if releases_value else 0)
            return list(map(tuple, np.where(before < answers, published, -1000).tolist()))

        return many

    return compare(experiment(one), experiment(1 - one), epsilon=1, runs=runs)


def _noise(scale: Fraction | int, size: int, source: Source) -> Integers:
    return two_sided_geometric(1 / Fraction(scale), size, source) if scale else np.zeros(size, dtype=np.int64)


_LABELS: Final = ("x", "x", "y")
_VALUES: Final = (3, 8, 2)

YARDSTICK: Final = (
    Published(
        "dp-recorder (Opacus)",
        "the exact number of rows sets the noise",
        lambda: replay(_mean_by_exact_size, _VALUES, (*_VALUES, 5), distance=10),
    ),
    Published(
        "dp-recorder (diffprivlib, dpmm)",
        "classes are read off the data",
        lambda: replay(_classes_of_the_data, _LABELS, (*_LABELS, "z"), distance=1),
    ),
    Published(
        "dp-recorder (SmartNoise)",
        "a sum of values that were not clipped",
        lambda: replay(_sum_without_clipping, _VALUES, (*_VALUES, 90), distance=10),
    ),
    Published("dp-recorder (Synthcity)", "a sensitivity of 0 switches the noise off", _noise_switched_off),
    Published(
        "dp-recorder",
        "nan passes the clamp",
        lambda: replay(_clipped_but_for_nan, _VALUES, (*_VALUES, math.nan), distance=10),
    ),
    Published("dp-recorder (MOSTLY AI)", "a budget is spent twice", _spent_twice),
    Published("dp_auditorium", "the noise of a mean shrinks with the exact number of rows", _mean_noise_by_size),
    Published(
        "dp_auditorium, SVT 3",
        "noisy values shown, threshold noise reused",
        lambda: _sparse_vector(2, 2, (4, 1), 1, releases_value=True, runs=2 * RUNS),
    ),
    Published(
        "dp_auditorium, SVT 4",
        "query noise does not grow with the answers",
        lambda: _sparse_vector(Fraction(4, 3), 4, (50, 50), 100),
    ),
    Published("dp_auditorium, SVT 5", "queries without noise", lambda: _sparse_vector(0, 2, (10, 10), 20)),
    Published("dp_auditorium, SVT 6", "no limit on answers", lambda: _sparse_vector(2, 2, (10, 10), 20)),
)
