"""Published records, read back: which there are, and how often each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from hubbub.channels.published import Published
from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.mechanism import Bins, in_columns, in_order
from hubbub.kinds.records.result import schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.records.spec import Records


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
        order = in_order(np.zeros(values.size, dtype=np.int64), found).tolist()
        published, found = (
            published.at(np.array(order, dtype=np.intp)),
            tuple([each[i] for i in order] for each in found),
        )
    mechanism = Bins(spec.joint)
    batch = in_columns(mechanism.schema, published, np.zeros(values.size, dtype=np.int64), found)
    return Measurement(cells=loaded(mechanism.schema, batch))
