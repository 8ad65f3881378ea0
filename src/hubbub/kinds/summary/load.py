"""The file of a summary, read back: what was drawn for each bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.kinds.statistic.drawn_columns import NO_NUMBERS, in_columns
from hubbub.kinds.summary.result import integer_columns, schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary


def load(spec: Summary, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every bin has all of its numbers.
    """
    names = integer_columns(spec)
    table = files.table("release", schema(spec), names)
    rows = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    if any(None in row for row in rows):
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, names, rows)
    return Measurement(answers=loaded(batch.schema, batch))
