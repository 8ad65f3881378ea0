"""The files of a release, read back: from the names and types that a kind declares to Arrow tables.

In a CSV of ours texts stand in quotation marks, so a missing label (nothing at all) and an empty one are told apart.
An apostrophe before a text that a spreadsheet would run is taken away again.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as arrow_csv

from hubbub.errors import CheckFailed
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import WIDE, texts
from hubbub.serialization.csv_safety import restored, safe


class FileMissing(CheckFailed):
    """A file that is needed is not beside the others; that is no fault of those that are."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is not there")
        self.file = file


CERTIFICATE: Final = "certificate.json"
REPORT: Final = "report.html"
PACKAGE: Final = "datapackage.json"
WORKBOOK: Final = "workbook.xlsx"
"""What lies beside the files of numbers."""

UNREADABLE: Final = (OSError, ValueError, TypeError, KeyError, OverflowError, csv.Error, pa.ArrowException)
_BLOCK: Final = 1 << 24  # bytes of a CSV at a time
_ROWS: Final = 1 << 18  # of Parquet at a time


@dataclass(frozen=True, slots=True)
class Files:
    """The published files of one release: csv or parquet, and where the file of each sheet lies."""

    form: str
    paths: Mapping[str, Path]

    def path(self, sheet: str) -> Path:
        """The file of a sheet; a FileMissing if there is none."""
        found = self.paths.get(sheet)
        if found is None:
            raise FileMissing(f"{sheet}.{self.form}")
        return found

    def table(self, sheet: str, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
        """A sheet as its kind declares it, or some of its columns; a CheckFailed if the file is another."""
        wanted = list(schema.names) if columns is None else list(columns)
        found = list(self.batches(sheet, schema, wanted))
        return pa.Table.from_batches(found, pa.schema([(name, _read(schema.field(name).type)) for name in wanted]))

    def batches(self, sheet: str, schema: pa.Schema, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The same, some rows at a time. Labels are texts."""
        return read_batches(self.path(sheet), self.form, schema, columns)


def read_batches(
    file: Path, form: str, schema: pa.Schema, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a published file under the schema of its sheet; a CheckFailed if it has other columns, or cells that
    are none."""
    wanted = list(schema.names) if columns is None else list(columns)
    types = pa.schema([(name, _read(schema.field(name).type)) for name in wanted])
    try:
        yield from (_csv if form == "csv" else _parquet)(file, schema, types)
    except UNREADABLE:
        raise CheckFailed(f"it cannot be read as {form} with the columns that are described") from None


def _read(kind: pa.DataType) -> pa.DataType:
    """Labels are read as texts."""
    return pa.string() if pa.types.is_dictionary(kind) or pa.types.is_string(kind) else kind


def _csv(file: Path, schema: pa.Schema, types: pa.Schema) -> Iterator[pa.RecordBatch]:
    written = dict(zip(schema.names, safe(schema.names), strict=True))
    convert = arrow_csv.ConvertOptions(
        column_types={written[field.name]: field.type for field in types},
        include_columns=[written[name] for name in types.names],
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    options = {
        "read_options": arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
        "parse_options": arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(schema.names) > 1),
        "convert_options": convert,
    }
    with open(file, encoding="utf-8", newline="") as lines:
        if next(csv.reader(lines, strict=True), []) != list(written.values()):
            raise ValueError("other columns")
    with arrow_csv.open_csv(file, **options) as reader:
        for batch in reader:
            columns = [_unquoted(column) if pa.types.is_string(column.type) else column for column in batch.columns]
            yield pa.record_batch(columns, schema=types)


def _unquoted(column: pa.Array) -> pa.Array:
    written = column.buffers()[2]
    if written is None or b"'" not in written.to_pybytes():  # no label has an apostrophe
        return column
    labels = column.to_pylist()
    plain = restored(labels)
    return column if plain == labels else texts(plain)


def _parquet(file: Path, schema: pa.Schema, types: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(file) as table:
        if list(table.schema_arrow.names) != list(schema.names):
            raise ValueError("other columns")
        for batch in table.iter_batches(_ROWS, columns=list(types.names)):
            by_name: dict[str, Any] = dict(zip(batch.schema.names, batch.columns, strict=True))
            yield pa.record_batch([_cast(by_name[field.name], field.type) for field in types], schema=types)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if (pa.types.is_integer(kind) and not pa.types.is_integer(column.type)) or (kind == WIDE != column.type):
        raise ValueError("no whole numbers")
    return column if column.type == kind else column.cast(kind)
