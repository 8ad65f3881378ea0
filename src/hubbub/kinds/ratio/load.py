"""The file of a ratio, read back: the sums that were drawn for each bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.kinds.ratio.mechanism import SCHEMA, in_columns
from hubbub.kinds.ratio.result import DRAWN, schema
from hubbub.kinds.statistic.mechanism import NO_NUMBERS
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio


def load(spec: Ratio, files: Files) -> Measurement:
    """What was drawn for the bins of a published file.

    Guarantee: every bin has both sums.
    """
    table = files.table("release", schema(spec), list(DRAWN))
    columns = [table.column(name).to_pylist() for name in DRAWN]
    if any(None in each for each in columns):
        raise CheckFailed(NO_NUMBERS)
    return Measurement(answers=loaded(SCHEMA, in_columns(columns)))
