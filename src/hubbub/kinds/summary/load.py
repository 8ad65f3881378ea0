"""The file of a summary, read back: what was drawn for each bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.kinds.summary.result import columns, integer_columns, schema
from hubbub.kinds.sums.columns import NO_NUMBERS, bins_of_file, in_columns
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary


def load(spec: Summary, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every bin has all of its numbers, and every found bin is there once.
    """
    names, keys = integer_columns(spec), key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *names])
    rows = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    if any(None in row for row in rows):
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, names, rows, bins_of_file(spec, table, keys))
    return Measurement(answers=loaded(batch.schema, batch))
