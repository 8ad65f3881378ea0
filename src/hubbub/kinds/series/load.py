"""The files of a period, read back: what every period so far drew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.series.crowds import HIDDEN, Crowds
from hubbub.kinds.series.mechanism import DRAWN, SCHEMA, drawn_before
from hubbub.kinds.series.result import SHEET, drawn_rows, drawn_schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.arrow import integer_array
from hubbub.serialization.canonical import digest
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.series.spec import Period


def load(spec: Period, files: Files) -> Measurement:
    """What was drawn in all periods up to this one.

    Guarantee: as many numbers as periods, rows and bins; every whole number can be drawn, but none below a crowd.
    """
    column = files.table(SHEET, drawn_schema(spec.series), [DRAWN]).column(DRAWN)
    if len(column) != drawn_rows(spec.series, spec.index + 1):
        raise CheckFailed("its periods or its bins are others")
    if column.null_count and not isinstance(spec.series.way, Crowds):
        raise CheckFailed("a number is missing")
    numbers = np.array([HIDDEN if n is None else n for n in column.to_pylist()], dtype=np.int64)
    before = drawn_rows(spec.series, spec.index)
    past, now = (
        loaded(SCHEMA, pa.record_batch([integer_array(part)], schema=SCHEMA))
        for part in (numbers[:before].copy(), numbers[before:].copy())
    )
    return Measurement(past=past, now=now)


def drawn_digests(spec: Period, files: Files) -> tuple[str, ...]:
    """A digest of what each period so far drew."""
    measured = load(spec, files)
    every = np.concatenate([measured[name].integers(DRAWN) for name in ("past", "now")])
    return tuple(digest(each.tolist()) for each in drawn_before(spec.series, every, spec.index + 1))
