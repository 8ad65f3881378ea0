"""A histogram, carried out: count exactly, thin to the secret sample, run the channel, work out the intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.channel import Published
from hubbub.errors import WrongUse
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.tables.bins import declared_size
from hubbub.tables.counts import Counts
from hubbub.tables.engine import Counted, Engine, Question, Repeats
from hubbub.tables.intervals import of_published
from hubbub.tables.sparse import is_sparse, shown_bins

if TYPE_CHECKING:
    from hubbub.tables.histogram import Histogram

_BATCH = 1 << 20  # bins at a time

BEYOND: Final = (
    "a row lies beyond the declared bins, because the file says other things of itself than it holds; write it anew"
)


def run(spec: Histogram, engine: Engine, source: Source) -> Counts:
    """Count, sample, publish."""
    total = declared_size(spec.axes)
    counted = engine.count(question(spec), source)
    if total is not None and is_sparse(spec):
        return _shown_only(spec, counted, total, source)
    if total is None:
        return shown_of_found(spec, counted, source)
    published = through(spec, sampled(spec, every_bin(counted, total), source), source)
    return Counts(spec, published, *of_published(spec, published))


def shown_of_found(spec: Histogram, counted: Counted, source: Source) -> Counts:
    """Of bins that were found in the data, those that show a number."""
    counts = sampled(spec, counted.counts, source)
    # Bins are those found in the sample: one that nobody of the sample is in must not reach the channel.
    some = np.flatnonzero(counts)
    published = through(spec, counts[some], source)
    # An absent bin looks like a hidden one, so hidden ones are absent too.
    shown = np.flatnonzero(published.shown)
    published = published.at(shown)
    keep = some[shown]
    found = tuple([labels[i] for i in keep.tolist()] for labels in counted.found)
    return Counts(spec, published, *of_published(spec, published), found, counted.codes[keep])


def declared_counts(spec: Histogram, engine: Engine, source: Source) -> NDArray[np.int64]:
    """The exact count of every declared bin, thinned to the secret sample if there is one. Private, as all counts."""
    total = declared_size(spec.axes)
    assert total is not None
    return sampled(spec, every_bin(engine.count(question(spec), source), total), source)


def _shown_only(spec: Histogram, counted: Counted, total: int, source: Source) -> Counts:
    """Of a domain too big to list, the bins that show a number.

    Guarantee: that of :func:`hubbub.tables.sparse.shown_bins`. A bin that the secret sample leaves empty goes through
    the channel by itself, like any other.
    """
    empty = spec.channel.empty_bins()
    assert empty is not None, "refused before anything was read"
    order = np.argsort(counted.codes)  # noise does not follow the order in which an engine found the bins
    counts = sampled(spec, counted.counts[order], source)
    codes, published = shown_bins(counted.codes[order], through(spec, counts, source), empty, total, source)
    return Counts(spec, published, *of_published(spec, published), (), codes)


def question(spec: Histogram) -> Question:
    unit = spec.unit
    if unit.one_row_per_person:
        return Question(axes=spec.axes, person=unit.person, repeats=Repeats.ONE_ROW)
    if unit.distinct is not None:
        return Question(axes=spec.axes, person=unit.person, repeats=Repeats.DISTINCT, most_bins=unit.distinct)
    return Question(axes=spec.axes, person=unit.person)


def every_bin(counted: Counted, total: int) -> NDArray[np.int64]:
    """Empty bins are bins: a count for every declared one."""
    if counted.codes.size and not 0 <= counted.codes.min() <= counted.codes.max() < total:
        raise WrongUse(BEYOND)
    counts = np.zeros(total, dtype=np.int64)
    counts[counted.codes] = counted.counts
    return counts


def sampled(spec: Histogram, counts: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
    """The counts of a fresh secret sample, if there is to be one."""
    if spec.sample is None:
        return counts
    parts = (counts[start : start + _BATCH] for start in range(0, counts.size, _BATCH))
    return np.concatenate([counts[:0], *(binomial(part, spec.sample, source) for part in parts)])


def through(spec: Histogram, counts: NDArray[np.int64], source: Source) -> Published:
    """The channel, a batch of bins at a time."""
    values, tags = np.empty(counts.size, dtype=np.int64), np.empty(counts.size, dtype=np.intp)
    names: dict[str, int] = {}
    for start in range(0, counts.size, _BATCH) or [0]:  # no bins at all have the same names as any
        out = spec.channel.release(counts[start : start + _BATCH], source)
        index = np.array([names.setdefault(name, len(names)) for name in out.names], dtype=np.intp)
        values[start : start + _BATCH], tags[start : start + _BATCH] = out.values, index[out.tags]
    return Published(values, tags, tuple(names))
