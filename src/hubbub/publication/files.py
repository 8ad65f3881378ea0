"""Rows as files: CSV or Parquet. In a CSV, a text that a spreadsheet would run as a formula gets an apostrophe."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from hubbub.errors import WrongUse
from hubbub.serialization.arrow import known, spread, texts
from hubbub.serialization.csv_safety import safe

if TYPE_CHECKING:
    from hubbub.protocol.result import Sheet

FORMATS: Final = ("csv", "parquet", "xlsx")
"""With xlsx, a workbook stands beside the CSV, which stays the file of record."""


def check_format(form: str) -> None:
    """Refuse a form that cannot be written."""
    if form not in FORMATS:
        raise WrongUse(f"format must be csv, parquet or xlsx, not {form[:20]!r}")


def write(sheet: Sheet, form: str, out: IO[bytes]) -> None:
    """The rows of a sheet, a batch at a time."""
    if form != "parquet":
        _write_csv(sheet, out)
    else:
        write_parquet(sheet, out)


def write_parquet(sheet: Sheet, out: IO[bytes]) -> None:
    """The rows of a sheet as Parquet."""
    import pyarrow.parquet as parquet  # late: it loads pandas, if pandas is there

    with parquet.ParquetWriter(out, sheet.schema, compression="zstd", compression_level=1) as writer:
        for batch in sheet.batches():
            writer.write_batch(batch)


def _write_csv(sheet: Sheet, out: IO[bytes]) -> None:
    names = safe(sheet.schema.names)
    options = arrow_csv.WriteOptions(quoting_style="needed")
    writer = None
    for batch in sheet.batches():
        plain = pa.record_batch([_plain(column) for column in batch.columns], names=names)
        writer = writer or arrow_csv.CSVWriter(out, plain.schema, write_options=options)
        writer.write_batch(plain)
    if writer is not None:
        writer.close()


def _plain(column: pa.Array) -> pa.Array:
    """A column as it is written: texts that cannot act, in place of a dictionary of them."""
    if isinstance(column, pa.DictionaryArray):
        valid = known(column.indices)
        which = np.frombuffer(column.indices.buffers()[1], dtype=np.int32)
        which = which[column.offset : column.offset + len(column)]
        return spread(which, safe(column.dictionary.to_pylist()), valid)
    if pa.types.is_string(column.type):
        return texts(safe(column.to_pylist()))
    return column
