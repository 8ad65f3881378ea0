"""The days that a column of dates has, as a table says them: as dates, as moments, or as text like 2026-01-31."""

from __future__ import annotations

import datetime
import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

NO_DAY: Final = -(1 << 62)
"""Long before every calendar."""
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_A_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_WRITTEN: Final = re.compile(r"\s*(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?)\s*", re.ASCII)


def days(dates: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of each row the day, since 1970-01-01 and in UTC where there is a time zone, and whether something is there that is no
    date; `NO_DAY` where there is none.

    Guarantee: a function of each cell by itself; nothing wraps round, whatever the moment is.
    """
    kind = dates.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return _of_texts(pc.cast(dates, pa.string()))
    a_day = 1 if pa.types.is_date32(kind) else _A_DAY["ms" if pa.types.is_date64(kind) else kind.unit]
    numbers = pc.cast(pc.cast(dates, pa.int32() if a_day == 1 else pa.int64()), pa.int64())
    found = np.where(pc.is_valid(dates).to_numpy(), pc.fill_null(numbers, 0).to_numpy() // a_day, NO_DAY)
    return found, np.zeros(len(found), dtype=bool)


def _of_texts(dates: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    coded = dates.combine_chunks().dictionary_encode()
    written: list[str | None] = coded.dictionary.to_pylist()
    read = np.array([_day(text) for text in written] + [NO_DAY], dtype=np.int64)  # the last one: a row without a text
    is_text = np.array([bool(text and text.strip()) for text in written] + [False])
    codes = pc.fill_null(coded.indices.cast(pa.int64()), len(written)).to_numpy()
    return read[codes], (read[codes] == NO_DAY) & is_text[codes]


def _day(text: str | None) -> int:
    """The day of one text; `NO_DAY` if it is none."""
    found = _WRITTEN.fullmatch(text or "")
    if found is None:
        return NO_DAY
    try:
        moment = datetime.datetime.fromisoformat(found[1])
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return NO_DAY
    return moment.date().toordinal() - _EPOCH
