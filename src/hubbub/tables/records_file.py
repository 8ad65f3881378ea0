"""Whether a file of published records has the columns described, and every record as often as a crowd is large."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from hubbub.spreadsheet import safe
from hubbub.tables.bins import Axis
from hubbub.tables.written import from_csv, from_parquet, key_columns


def difference(file: str | Path, form: str, axes: Sequence[Axis], k: int) -> str | None:
    """What in the file is not as described, in words; None if nothing is.

    Guarantee: if None, every row that is in the file is there at least k times, and has a cell for each column alone.
    """
    import pyarrow as pa

    names: list[str | None] = list(key_columns(axes))
    try:
        with closing(from_csv(file) if form == "csv" else from_parquet(file, len(axes))) as found:
            if next(found, []) != (safe(names) if form == "csv" else names):
                return "its columns are others"
            often = Counter(_records(found, len(axes)))
    except (OSError, ValueError, TypeError, csv.Error, pa.ArrowException):
        return f"it cannot be read as {form}"
    return None if min(often.values(), default=k) >= k else f"a record is there fewer than {k} times"


def _records(rows: Iterator[list[str | None]], cells: int) -> Iterator[tuple[str | None, ...]]:
    for row in rows:
        record = tuple(row) or ("",)  # of one column, a missing value is an empty line
        if len(record) != cells:
            raise ValueError("a row has another number of cells")
        yield record
