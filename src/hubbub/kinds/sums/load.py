"""The file of any declared statistic, read back: the integers that were drawn for each bin, from the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hubbub.errors import CheckFailed
from hubbub.kinds.statistic.drawn_columns import NO_NUMBERS, Row, bins_of_file, in_columns, may_hide
from hubbub.kinds.sums.result import columns, drawn_columns, schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared

_MOST_SAMPLED: Final = 10**10  # people, in a file that somebody made: their intervals would take for ever


def load(spec: Declared, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every found bin is there once; a number is missing only where all that was drawn for the bin is, and only
    where crowds are hidden. A file of more than 10^10 people in crowds is refused.
    """
    names, keys = drawn_columns(spec), key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *names])
    rows: list[Row] = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    if any(None in row and not (may_hide(spec) and set(row) == {None}) for row in rows):
        raise CheckFailed(NO_NUMBERS)
    if may_hide(spec) and sum(row[0] or 0 for row in rows) > _MOST_SAMPLED:
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, names, rows, bins_of_file(spec, table, keys))
    return Measurement(answers=loaded(batch.schema, batch))
