"""Records measured, read back and presented: the mechanism is that of the histogram of which the rows are a function."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.channels.published import Published
from hubbub.errors import CheckFailed
from hubbub.kinds.count_tables import count_cells
from hubbub.kinds.histogram import mechanism as of_cells
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.records.result import Rows, schema
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, loaded, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.records.spec import Records
    from hubbub.tables.engine import Engine, ExactCounts


@dataclass(frozen=True, slots=True)
class RowsOfCrowds:
    """The mechanism where columns are published untouched: rows of crowds of k, with these columns as they are.

    Guarantee: none about the untouched columns. Without them, what comes out is what the histogram of the key columns
    draws: a sum of Binomial(c_i, p) over the values of the untouched columns is Binomial(c, p), and the channel sees
    that sum alone.
    """

    spec: Records

    @property
    def schema(self) -> pa.Schema:
        return of_cells.Bins(self.spec.joint).schema

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        counts = of_cells.sample_people(self.spec.cells, exact.counts, source)
        keys = list(zip(*exact.found[: len(self.spec.cells.axes)], strict=True))
        crowds: Counter[tuple[str | None, ...]] = Counter()
        for key, count in zip(keys, counts.tolist(), strict=True):
            crowds[key] += count
        some = {key: count for key, count in crowds.items() if count}
        published = of_cells.through(self.spec.cells, np.array(list(some.values()), dtype=np.int64), source)
        visible = {key for key, is_visible in zip(some, published.visible.tolist(), strict=True) if is_visible}
        kept = [i for i, count in enumerate(counts.tolist()) if count and keys[i] in visible]
        found = tuple([labels[i] for i in kept] for labels in exact.found)
        order = of_cells.in_order(np.zeros(len(kept), dtype=np.int64), found).tolist()
        rows = Published(counts[[kept[i] for i in order]], np.zeros(len(kept), dtype=np.intp), ("",))
        labels = tuple([each[i] for i in order] for each in found)
        return of_cells.in_columns(self.schema, rows, np.zeros(len(kept), dtype=np.int64), labels)


def measure(spec: Records, data: Engine, source: Source) -> Measurement:
    """How often each record is published."""
    if spec.keep:
        exact = count_cells(spec.joint.axes, spec.joint.unit, data, source)
        return Measurement(cells=release(RowsOfCrowds(spec), exact, source))
    return of_cells.measure(spec.cells, data, source)


def present(spec: Records, measurement: Measurement) -> Rows:
    """A row for each person of a crowd."""
    if spec.keep:
        drawn = measurement["cells"]
        values = drawn.integers(of_cells.VALUE)
        found = tuple(drawn.texts(of_cells.found_name(i)) for i in range(len(spec.joint.axes)))
        published = Published(values, np.zeros(values.size, dtype=np.intp), ("",))
        return Rows(spec, Counts(spec.joint, published, values, values, found, drawn.integers(of_cells.CODE)))
    return Rows(spec, of_cells.present(spec.cells, measurement))


# --- what was published, read back --------------------------------------------------------------------------------------


def load(spec: Records, files: Files) -> Measurement:
    """The distinct records with how often each is there.

    Guarantee: every record that is in the file is there at least k times (where columns are untouched, without them),
    or the file is refused.
    """
    often: Counter[tuple[str | None, ...]] = Counter()
    described = schema(spec)
    for batch in files.batches("release", described):
        often.update(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    crowds: Counter[tuple[str | None, ...]] = Counter()
    for record, rows in often.items():
        crowds[record[: len(spec.cells.axes)]] += rows
    if min(crowds.values(), default=spec.k) < spec.k:
        raise CheckFailed(f"a record is there fewer than {spec.k} times")
    values = np.array(list(often.values()), dtype=np.int64)
    published = Published(values, np.zeros(values.size, dtype=np.intp), ("",))
    found = tuple([record[i] for record in often] for i in range(len(described.names)))
    if spec.keep:
        order = of_cells.in_order(np.zeros(values.size, dtype=np.int64), found).tolist()
        published, found = (
            published.at(np.array(order, dtype=np.intp)),
            tuple([each[i] for i in order] for each in found),
        )
    mechanism = of_cells.Bins(spec.joint)
    batch = of_cells.in_columns(mechanism.schema, published, np.zeros(values.size, dtype=np.int64), found)
    return Measurement(cells=loaded(mechanism.schema, batch))
