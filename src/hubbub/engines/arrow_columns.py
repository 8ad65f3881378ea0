"""Columns between an engine and NumPy: whole numbers out, secret words in.

A copy of columns in which whatever DuckDB cannot read is missing: times beyond its calendar, text that is no UTF-8.

Nobody may be able to stop a release by a row of their own. DuckDB fails on such a value before any SQL sees it, so a
table is read as it is, and only if that fails, once more from a copy of the columns in question. Everybody else's
values are the same in both.

The names of columns of which several have one name: ``town#1``, ``town#2``, in files and in frames.

Capitals and small letters are alike, as in SQL. The bare name is then nobody's, and whoever uses it is told which there
are (:func:`hubbub.tables.schema.column`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.noise.source import Source


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, each once: those that are there several times are numbered from 1.

    >>> distinct(["id", "town", "Town"]), distinct(["a", "a", "A#2"])
    (('id', 'town#1', 'Town#2'), ('a#1', 'a#3', 'A#2'))
    """
    often = Counter(name.lower() for name in names)
    taken = {name for name, many in often.items() if many == 1}
    numbers = {name: count(1) for name, many in often.items() if many > 1}
    found = []
    for name in names:
        if (free := numbers.get(name.lower())) is not None:
            name = next(new for i in free if (new := f"{name}#{i}").lower() not in taken)
            taken.add(name.lower())
        found.append(name)
    return tuple(found)


def column_letters(number: int) -> str:
    """What a spreadsheet calls a column: A is 1."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


_MICROSECONDS = {"s": 10**6, "ms": 10**3, "us": 1}
_INFINITY = 2**63 - 1  # to DuckDB, in every unit; minus this is minus infinity


def parquet_names(file: str) -> tuple[str, ...] | None:
    """The names of a Parquet file's columns if several have one name, each with its number; else None."""
    import pyarrow.parquet as pq  # late: it takes as long to load as a small file to be counted

    try:
        with pq.ParquetFile(file) as source:
            return _unique_names(source.schema_arrow.names)
    except (pa.ArrowException, OSError):  # it cannot be read: whoever reads it says so
        return None


def _unique_names(names: Sequence[str]) -> tuple[str, ...] | None:
    return new if (new := distinct(names)) != tuple(names) else None


def mend_parquet(file: str, columns: Sequence[str], to: str, names: Sequence[str] | None = None) -> None:
    """A Parquet file of these columns alone, batch by batch; `names` are those of all its columns, if others."""
    import pyarrow.parquet as pq

    wanted = list(columns)
    with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as source:
        empty = source.schema_arrow.empty_table()
        schema = repair_table((empty if names is None else empty.rename_columns(list(names))).select(wanted)).schema
        with pq.ParquetWriter(to, schema) as target:
            for batch in source.iter_batches(columns=wanted if names is None else None):
                read = batch if names is None else batch.rename_columns(list(names))
                target.write_table(repair_table(pa.table(read.select(wanted))))


def named_apart(frame: Any) -> Any:
    """A frame whose columns have a name each; itself, if they do already or cannot be given others."""
    if hasattr(frame, "collect_schema"):  # polars
        given = frame.collect_schema().names()
    else:
        given = frame.columns if hasattr(frame, "iloc") else frame.schema.names
    if not all(isinstance(name, str) for name in given) or (names := _unique_names(list(given))) is None:
        return frame
    if hasattr(frame, "iloc"):
        return frame.set_axis(list(names), axis=1)
    if hasattr(frame, "rename_columns"):
        return frame.rename_columns(list(names))
    return frame.rename(dict(zip(given, names, strict=True))) if hasattr(frame, "rename") else frame


def mend_frame(frame: Any, columns: Sequence[str]) -> pa.Table:
    """The same for a frame of pandas, polars or Arrow, in memory."""
    names = list(columns)
    if hasattr(frame, "iloc"):  # pandas
        return repair_table(pa.table({name: pa.array(_texts(frame[name]), from_pandas=True) for name in names}))
    if hasattr(frame, "to_table"):  # a dataset of Arrow
        return repair_table(frame.to_table(columns=names))
    picked = frame.select(names)
    picked = picked.collect() if hasattr(picked, "collect") else picked
    return repair_table(picked.to_arrow() if hasattr(picked, "to_arrow") else pa.table(picked))


def has_unreadable_text(frame: Any, columns: Sequence[str]) -> bool:
    """Whether some text is no UTF-8: of a frame of Arrow's, DuckDB takes it as it is and fails later, or not."""
    if hasattr(frame, "iloc"):
        columns = [name for name in columns if "pyarrow" in str(frame[name].dtype)]
        return has_unreadable_text(pa.table({name: pa.array(frame[name]) for name in columns}), columns)
    if hasattr(frame, "scanner"):
        texts = [name for name in columns if _is_text(frame.schema.field(name).type)]
        batches = frame.scanner(columns=texts).to_batches()
    else:
        batches = frame.select(list(columns)).to_batches() if isinstance(frame, pa.Table) else [frame]
    cells = (cells for batch in batches for cells in batch.columns)
    return any(_is_text(cells.type) and _repair_cells(cells).null_count > cells.null_count for cells in cells)


def _texts(series: Any) -> Any:
    """Python's objects as text, like DuckDB takes them."""
    if series.dtype != object:
        return series
    missing = series.isna()
    return [None if gone else _encodable(str(cell)) for cell, gone in zip(series, missing, strict=True)]


def _encodable(text: str) -> str | None:
    return _text(text.encode("utf-8", "surrogatepass"))


def repair_table(table: pa.Table) -> pa.Table:
    """The table with what cannot be read missing."""
    return pa.table(
        {
            name: pa.chunked_array(
                [_repair_cells(chunk) for chunk in column.chunks] or [_repair_cells(pa.array([], column.type))]
            )
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def _repair_cells(cells: pa.Array) -> pa.Array:
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _repair_cells(cells.dictionary_decode())
    if pa.types.is_timestamp(kind) and kind.unit in _MICROSECONDS:
        return _in_microseconds(cells).view(pa.timestamp("us", kind.tz))
    return readable(cells) if _is_text(kind) else cells


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return kind in (pa.string(), pa.large_string())


def _in_microseconds(times: pa.Array) -> pa.Array:
    import pyarrow.compute as pc  # late: a small release needs none of it

    numbers, factor = times.view(pa.int64()), _MICROSECONDS[times.type.unit]
    most = _INFINITY // factor
    fits = pc.and_(pc.greater_equal(numbers, -most), pc.less_equal(numbers, most))
    scaled = pc.multiply(pc.if_else(fits, numbers, pa.scalar(None, pa.int64())), factor)
    infinite = pc.is_in(numbers, value_set=pa.array([_INFINITY, -_INFINITY]))
    return pc.if_else(infinite, numbers, scaled)


def readable(texts: pa.Array) -> pa.Array:
    """Texts, missing where they are no UTF-8."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.view(pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary())
        return pa.array([None if cell is None else _text(cell) for cell in raw.to_pylist()], texts.type)
    return texts


def _text(cell: bytes) -> str | None:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


_BATCH: Final = 1 << 17
_SIGN: Final = np.uint64(1 << 63)


def numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A column of whole numbers without nulls. (Its own to_numpy would load pandas, if pandas is there.)"""
    parts = [np.from_dlpack(chunk).astype(np.int64) for chunk in column.chunks]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def batches(rows: Iterable[Sequence[Any]], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    """Rows of a database as columns; texts come as bytes, and are missing where they are no UTF-8."""
    schema, left = pa.schema(list(types.items())), iter(rows)
    while block := list(islice(left, _BATCH)):
        cells = zip(*block, strict=True)
        columns = [_column(column, kind) for column, kind in zip(cells, types.values(), strict=True)]
        yield pa.record_batch(columns, schema=schema)


def _column(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind != pa.string():
        return pa.array(cells, kind)
    return readable(pa.array(cells, pa.binary()).view(pa.string()))


def stream(rows: int, name: str, source: Source) -> pa.RecordBatchReader:
    """One secret word for each row, as a stream: which word meets which row does not matter, they are all alike.

    A word has a sign here, since DuckDB is faster at signed ones; the smallest is still the smallest.
    """
    sizes = (min(_BATCH, rows - start) for start in range(0, rows, _BATCH))
    batches = (pa.record_batch({name: (source.words(size) ^ _SIGN).view(np.int64)}) for size in sizes)
    return pa.RecordBatchReader.from_batches(pa.schema([(name, pa.int64())]), batches)
