"""The file of any statistic by bins, read back: the integers that were drawn for each bin, from the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.sums.columns import NO_NUMBERS, Row, bins_of_file, in_columns, may_hide
from hubbub.kinds.sums.result import columns, schema
from hubbub.kinds.sums.sums import ENDS
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Statistic

_MOST_SAMPLED: Final = 10**10  # people, in a file that somebody made: their intervals would take for ever


def load(spec: Statistic, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every found bin is there once; a number is missing only where all that was drawn for the bin is, and only
    where crowds are hidden. A file of more than 10^10 sampled people is refused.
    """
    keys = key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *spec.published, *ENDS])
    rows = rows_in(spec, table)
    if may_hide(spec) and spec.sampled and sum(row[0] or 0 for row in rows) > _MOST_SAMPLED:
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, spec.columns, rows, bins_of_file(spec, table, keys))
    return Measurement(answers=loaded(batch.schema, batch))


def rows_in(spec: Statistic, table: pa.Table) -> list[Row]:
    """The integers of every row."""
    published = zip(*(table.column(name).to_pylist() for name in spec.published), strict=True)
    ends = (table.column(name).to_pylist() for name in ENDS[1:])
    rows = [spec.ends_in_file(row, *own) for row, *own in zip(published, *ends, strict=True)]
    if any(None in row and not (may_hide(spec) and set(row) == {None}) for row in rows):
        raise CheckFailed(NO_NUMBERS)
    return rows
