"""A histogram measured and presented: count exactly, subsample, run the channel; then work out the intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.protocol import Published
from hubbub.kinds.count_tables import count_cells, every_bin
from hubbub.kinds.histogram.estimands import published_intervals
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.sparse import is_sparse, visible_bins
from hubbub.protocol.measurement import LABELS, Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.bins import Discovered, declared_size

if TYPE_CHECKING:
    from hubbub.kinds.histogram.spec import Histogram
    from hubbub.noise.source import Source
    from hubbub.tables.engine import Engine, ExactCounts

_BATCH = 1 << 20  # bins at a time
CODE, VALUE, TAG = "code", "value", "tag"  # columns of what is drawn


@dataclass(frozen=True, slots=True)
class Bins:
    """The mechanism of a histogram: its channel, run independently in every bin of the public partition, after the
    secret sample if there is one.

    Guarantee: one person more or less moves the exact count of one bin by one (of at most `distinct` bins, where a
    person may be in several; of several bins by as much as the bounds on what a person contributes let it, where rows
    count), and each bin is drawn from the law that the channel has for its count. Which bins are
    drawn follows from the declared ones, or, where they are found in the data, from those that show a number.
    """

    spec: Histogram

    @property
    def schema(self) -> pa.Schema:
        """Every declared bin in order: a value and what was done to it. Of a domain too big to list, and of found
        bins, also the code of the declared part; of found bins their labels."""
        found = [axis for axis in self.spec.axes if isinstance(axis, Discovered)]
        code = [(CODE, pa.int64())] if found or is_sparse(self.spec) else []
        labels = [(found_name(i), LABELS) for i in range(len(found))]
        return pa.schema([*code, *labels, *self.outcome])

    @property
    def outcome(self) -> list[tuple[str, pa.DataType]]:
        """The columns of what is drawn for a bin."""
        return [(VALUE, pa.int64()), (TAG, LABELS)]

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        total = declared_size(self.spec.axes)
        if total is None:
            return self._draw_found_bins(exact, source)
        if is_sparse(self.spec):
            return self._draw_sparse_bins(exact, total, source)
        return in_columns(
            self.schema, through(self.spec, sample_people(self.spec, every_bin(exact, total), source), source)
        )

    def _draw_found_bins(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        """Of bins that were found in the data, those that show a number."""
        counts = sample_people(self.spec, exact.counts, source)
        # Bins are those found in the sample: one that nobody of the sample is in must not reach the channel.
        some = np.flatnonzero(counts)
        published = through(self.spec, counts[some], source)
        # An absent bin looks like a hidden one, so hidden ones are absent too.
        visible = np.flatnonzero(published.visible)
        keep = some[visible]
        found = tuple([labels[i] for i in keep.tolist()] for labels in exact.found)
        # Rows stand in the order of what they show: another one, as that of the table, would tell more than they do.
        order = in_order(exact.codes[keep], found)
        found = tuple([labels[i] for i in order.tolist()] for labels in found)
        return in_columns(self.schema, published.at(visible[order]), exact.codes[keep[order]], found)

    def _draw_sparse_bins(self, exact: ExactCounts, total: int, source: Source) -> pa.RecordBatch:
        """Of a domain too big to list, the bins that show a number.

        Guarantee: that of :func:`hubbub.kinds.histogram.sparse.visible_bins`. A bin that the secret sample leaves empty
        goes through the channel by itself, like any other.
        """
        empty = self.spec.channel.empty_bins()
        assert empty is not None, "refused before anything was read"
        order = np.argsort(exact.codes)  # noise does not follow the order in which an engine found the bins
        counts = sample_people(self.spec, exact.counts[order], source)
        codes, published = visible_bins(exact.codes[order], through(self.spec, counts, source), empty, total, source)
        return in_columns(self.schema, published, codes)


def in_columns(
    schema: pa.Schema,
    published: Published,
    codes: NDArray[np.int64] | None = None,
    found: tuple[Sequence[str | None], ...] = (),
) -> pa.RecordBatch:
    """What was drawn, under the schema of the mechanism."""
    arrays = [] if codes is None else [integer_array(codes)]
    for labels in found:
        known = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        arrays.append(labelled(np.array([known[label] for label in labels], dtype=np.int64), list(known)))
    arrays += [integer_array(published.values), labelled(published.tags, published.names)]
    return pa.record_batch(arrays, schema=schema)


def in_order(codes: NDArray[np.int64], found: Sequence[Sequence[str | None]]) -> NDArray[np.intp]:
    """Which found bin comes first, second, and so on: by the declared part, then by the bytes of the labels, the
    missing last."""
    columns = [codes]
    for labels in found:
        known = sorted({label for label in labels if label is not None})
        ranks: dict[str | None, int] = {label: i for i, label in enumerate(known)}
        columns.append(np.array([ranks.get(label, len(ranks)) for label in labels], dtype=np.int64))
    return np.lexsort(columns[::-1])  # (characters are ordered as their bytes in UTF-8 are)


def found_name(i: int) -> str:
    """The column of the labels of the i-th found axis."""
    return f"found {i}"


def measure(spec: Histogram, data: Engine, source: Source) -> Measurement:
    """Count exactly in the engine, then add noise."""
    return Measurement(cells=release(Bins(spec), count_cells(spec.axes, spec.unit, data, source), source))


def present(spec: Histogram, measurement: Measurement) -> Counts:
    """The published counts with their intervals."""
    drawn = measurement["cells"]
    which, names = drawn.labels(TAG)
    published = Published(drawn.integers(VALUE), which.astype(np.intp), names)
    columns = drawn.batch.schema.names
    codes = drawn.integers(CODE) if CODE in columns else None
    found = tuple(drawn.texts(name) for name in columns if name not in (CODE, VALUE, TAG))
    return Counts(spec, published, *published_intervals(spec, published), found, codes)


def sample_people(spec: Histogram, counts: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
    """The counts of a fresh secret sample, if there is to be one."""
    from hubbub.noise.binomial import binomial

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
