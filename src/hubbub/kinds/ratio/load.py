"""The file of a ratio, read back: the sums that were drawn for each bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.kinds.ratio.result import DRAWN, schema
from hubbub.kinds.statistic.drawn_columns import NO_NUMBERS, in_columns
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio


def load(spec: Ratio, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every bin has both sums.
    """
    table = files.table("release", schema(spec), list(DRAWN))
    rows = list(zip(*(table.column(name).to_pylist() for name in DRAWN), strict=True))
    if any(None in row for row in rows):
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, DRAWN, rows)
    return Measurement(answers=loaded(batch.schema, batch))
