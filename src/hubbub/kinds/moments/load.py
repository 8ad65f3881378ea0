"""The file of a spread, read back: the integers that were drawn for each bin, from the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hubbub.errors import CheckFailed
from hubbub.kinds.moments.result import columns, drawn_columns, schema
from hubbub.kinds.statistic.drawn_columns import NO_NUMBERS, Row, bins_of_file, in_columns
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.key_columns import key_columns
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments

_MOST_SAMPLED: Final = 10**10  # people, in a file that somebody made: their intervals would take for ever


def load(spec: Moments, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every found bin is there once; a number is missing only where all that was drawn for the bin is, and only
    where crowds are hidden.
    """
    keys = key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *drawn_columns(spec)])
    rows: list[Row] = list(zip(*(table.column(name).to_pylist() for name in drawn_columns(spec)), strict=True))
    crowds = isinstance(spec.protection, Crowd)
    if any(None in row and not (crowds and set(row) == {None}) for row in rows):
        raise CheckFailed(NO_NUMBERS)
    if crowds and sum(row[0] or 0 for row in rows) > _MOST_SAMPLED:
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, drawn_columns(spec), rows, bins_of_file(spec, table, keys))
    return Measurement(answers=loaded(batch.schema, batch))
