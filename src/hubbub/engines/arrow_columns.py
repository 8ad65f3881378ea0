"""Columns between an engine and NumPy: whole numbers out, secret words in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.engines.repaired_copy import readable
from hubbub.noise.source import Source

_BATCH: Final = 1 << 17
_SIGN: Final = np.uint64(1 << 63)


def numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A column of whole numbers without nulls. (Its own to_numpy would load pandas, if pandas is there.)"""
    parts = [np.from_dlpack(chunk).astype(np.int64) for chunk in column.chunks]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def read_groups(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], count: int
) -> tuple[list[NDArray[np.int64]], tuple[list[str | None], ...]]:
    """The first and the last `count` columns as numbers, and the labels in between."""
    indices = (0, *range(len(schema) - count, len(schema)))
    parts: tuple[list[pa.Array], ...] = tuple([] for _ in indices)
    found: tuple[list[str | None], ...] = tuple([] for _ in range(1, len(schema) - count))
    for batch in batches:
        for part, index in zip(parts, indices, strict=True):
            part.append(batch.column(index))
        for i, labels in enumerate(found, 1):
            labels += batch.column(i).to_pylist()
    kinds = [schema.field(i).type for i in indices]
    return [numbers(pa.chunked_array(part, kind)) for part, kind in zip(parts, kinds, strict=True)], found


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
