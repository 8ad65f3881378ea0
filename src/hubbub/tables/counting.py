"""A histogram, carried out: count exactly, thin to the secret sample, run the channel, work out the intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.channel import Published
from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.tables.bins import declared_size
from hubbub.tables.counts import Counts
from hubbub.tables.engine import Counted, Engine, Question, Repeats
from hubbub.tables.expected_rows import expected_intervals
from hubbub.tables.scaling import population_intervals

if TYPE_CHECKING:
    from hubbub.tables.histogram import Histogram

_BATCH = 1 << 20  # bins at a time


def run(spec: Histogram, engine: Engine, source: Source) -> Counts:
    """Count, sample, publish."""
    total = declared_size(spec.axes)
    counted = engine.count(_question(spec), source)
    counts = _sampled(spec, counted.counts if total is None else _every_bin(counted, total), source)
    if total is not None:
        published = _published(spec, counts, source)
        return Counts(spec, published, *_intervals(spec, published))
    # Bins are those found in the sample: one that nobody of the sample is in must not reach the channel.
    some = np.flatnonzero(counts)
    published = _published(spec, counts[some], source)
    # An absent bin looks like a hidden one, so hidden ones are absent too.
    hidden = np.array([name.startswith(SUPPRESSED) for name in published.names], dtype=bool)
    shown = np.flatnonzero(~hidden[published.tags])
    published = Published(published.values[shown], published.tags[shown], published.names)
    keep = some[shown]
    found = tuple([labels[i] for i in keep.tolist()] for labels in counted.found)
    return Counts(spec, published, *_intervals(spec, published), found, counted.codes[keep])


def declared_counts(spec: Histogram, engine: Engine, source: Source) -> NDArray[np.int64]:
    """The exact count of every declared bin, thinned to the secret sample if there is one. Private, as all counts."""
    total = declared_size(spec.axes)
    assert total is not None
    return _sampled(spec, _every_bin(engine.count(_question(spec), source), total), source)


def _intervals(spec: Histogram, published: Published) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For the counts that the channel saw, or for everybody if the release is scaled up from its sample.

    Guarantee: that of :func:`hubbub.channels.estimate.interval`, of
    :func:`hubbub.tables.scaling.population_intervals` or of :func:`hubbub.tables.expected_rows.expected_intervals`. A
    bin that was found has somebody in it.
    """
    if spec.unit.expected_rows:
        low, high = expected_intervals(spec.channel, published, spec.sample or Fraction(1), spec.coverage)
        return low, high
    if not spec.scale_up or spec.sample is None:
        low, high = intervals(spec.channel, published, spec.coverage)
    else:
        low, high = population_intervals(spec.channel, published, spec.sample, spec.coverage, found=spec.discovered)
    return (np.maximum(low, 1) if spec.discovered else low), high


def _question(spec: Histogram) -> Question:
    unit = spec.unit
    if unit.one_row_per_person:
        return Question(axes=spec.axes, person=unit.person, repeats=Repeats.ONE_ROW)
    if unit.distinct is not None:
        return Question(axes=spec.axes, person=unit.person, repeats=Repeats.DISTINCT, most_bins=unit.distinct)
    return Question(axes=spec.axes, person=unit.person)


def _every_bin(counted: Counted, total: int) -> NDArray[np.int64]:
    """Empty bins are bins: a count for every declared one."""
    counts = np.zeros(total, dtype=np.int64)
    counts[counted.codes] = counted.counts
    return counts


def _sampled(spec: Histogram, counts: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
    """The counts of a fresh secret sample, if there is to be one."""
    if spec.sample is None:
        return counts
    parts = (counts[start : start + _BATCH] for start in range(0, counts.size, _BATCH))
    return np.concatenate([counts[:0], *(binomial(part, spec.sample, source) for part in parts)])


def _published(spec: Histogram, counts: NDArray[np.int64], source: Source) -> Published:
    """The channel, a batch of bins at a time."""
    values, tags = np.empty(counts.size, dtype=np.int64), np.empty(counts.size, dtype=np.intp)
    names: dict[str, int] = {}
    for start in range(0, counts.size, _BATCH) or [0]:  # no bins at all have the same names as any
        out = spec.channel.release(counts[start : start + _BATCH], source)
        index = np.array([names.setdefault(name, len(names)) for name in out.names], dtype=np.intp)
        values[start : start + _BATCH], tags[start : start + _BATCH] = out.values, index[out.tags]
    return Published(values, tags, tuple(names))
