"""How the bins of a release are cut into parts, by public numbers alone, and what each part publishes.

::

    listed      bins start..stop-1, in the order of their codes; a part is cut into blocks of about a million
    sparse      every N-th bin, from the number of the part on; those that show a number
    found       those whose labels an engine's hash puts there, in the order of their labels; those that show a number

A block is a group of bins that go through the channel together. Its noise is drawn from a stream of its own
(:class:`hubbub.noise.source.BlockKeys`), so what a part publishes is a function of the secret, the number of the part
and its counts: not of the machine, the attempt, the order in which counts arrive, or how tasks are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.mechanism import CODE, Bins, in_columns, in_order, present, sample_people, through
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.sparse import is_sparse, visible_bins
from hubbub.noise.source import BlockKeys, Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import declared_size
from hubbub.tables.engine import ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.histogram.spec import Histogram

from hubbub.tables.parts import Cut, Found, Listed, Sparse

BLOCK: Final = 1 << 20  # bins


def cut_bins(spec: Histogram) -> Cut:
    """How the bins of a release in parts are cut; there are fewer parts if there are fewer bins."""
    total, parts = declared_size(spec.axes), spec.parts
    assert parts is not None
    if total is None:
        return Found(parts)
    return Sparse(total, min(parts, total)) if is_sparse(spec) else Listed(total, -(-total // parts))


def publish_part(spec: Histogram, cut: Cut, keys: BlockKeys, part: int, counted: ExactCounts) -> Iterator[Counts]:
    """What a part publishes, some of its bins at a time; `counted` has those of its bins that are not empty.

    Guarantee: over the parts of a cut, each bin goes through the channel once, after the secret sample if there is one,
    from the law of its count, empty ones too (:func:`hubbub.kinds.histogram.sparse.visible_bins` for what is not listed);
    bins are independent given the secret is drawn afresh, since every block has a stream of its own. That is the law of
    :class:`hubbub.kinds.histogram.mechanism.Bins`. The same secret and counts give the same rows, to the byte. Should a
    part be worked out twice from *different* counts (a table that changes while it is read), the two answers share
    their noise: whoever publishes keeps one of them and removes the other unseen
    (:mod:`hubbub.kinds.histogram.distributed`).
    """
    match cut:
        case Listed():
            yield from _publish_listed(spec, cut, keys, part, counted)
        case Sparse():
            yield _publish_sparse(spec, cut, keys, part, counted)
        case Found():
            source, order = keys.stream(part), in_order(counted.codes, counted.found)
            found = tuple([labels[i] for i in order.tolist()] for labels in counted.found)
            exact = ExactCounts(counted.codes[order], counted.counts[order], found)
            yield present(spec, Measurement(cells=release(Bins(spec), exact, source)))


def _publish_listed(spec: Histogram, cut: Listed, keys: BlockKeys, part: int, counted: ExactCounts) -> Iterator[Counts]:
    start = part * cut.width
    counts = np.zeros(min(cut.width, cut.total - start), dtype=np.int64)
    counts[counted.codes - start] = counted.counts
    _once(np.count_nonzero(counts) == counted.codes.size)
    for block, first in enumerate(range(0, counts.size, BLOCK)):
        exact = ExactCounts(
            np.arange(start + first, min(start + first + BLOCK, start + counts.size)), counts[first : first + BLOCK]
        )
        yield present(spec, Measurement(cells=release(Block(spec), exact, keys.stream(part, block))))


def _publish_sparse(spec: Histogram, cut: Sparse, keys: BlockKeys, part: int, counted: ExactCounts) -> Counts:
    order = np.argsort(counted.codes)
    exact = ExactCounts(counted.codes[order], counted.counts[order])
    _once(bool((np.diff(exact.codes // cut.parts) > 0).all()))
    return present(spec, Measurement(cells=release(SparseBlock(spec, cut, part), exact, keys.stream(part))))


@dataclass(frozen=True, slots=True)
class Block:
    """The channel of a histogram, run independently in each of some bins that are listed, after the secret sample.

    Guarantee: that of :class:`hubbub.kinds.histogram.mechanism.Bins` for these bins; each bin of the release is in one
    block.
    """

    spec: Histogram

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(CODE, pa.int64()), *Bins(self.spec).outcome])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        published = through(self.spec, sample_people(self.spec, exact.counts, source), source)
        return in_columns(self.schema, published, exact.codes)


@dataclass(frozen=True, slots=True)
class SparseBlock:
    """The same for every `cut.parts`-th bin of a domain too big to list: those that show a number.

    Guarantee: that of :class:`hubbub.kinds.histogram.mechanism.Bins` for these bins, empty ones included
    (:func:`hubbub.kinds.histogram.sparse.visible_bins`); each bin of the release is in one part.
    """

    spec: Histogram
    cut: Sparse
    part: int

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(CODE, pa.int64()), *Bins(self.spec).outcome])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        empty = self.spec.channel.empty_bins()
        assert empty is not None
        positions: NDArray[np.int64] = exact.codes // self.cut.parts
        published = through(self.spec, sample_people(self.spec, exact.counts, source), source)
        bins = -(-(self.cut.total - self.part) // self.cut.parts)
        positions, published = visible_bins(positions, published, empty, bins, source)
        return in_columns(self.schema, published, positions * self.cut.parts + self.part)


def _once(right: bool) -> None:
    if not right:
        raise CheckFailed("a bin was counted twice")
