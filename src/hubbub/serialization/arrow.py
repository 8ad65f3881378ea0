"""Arrow arrays made from their bytes.

Where pandas is installed, ``pyarrow.array`` and ``to_numpy`` load it, which takes longer than a small release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

WIDE: Final = pa.decimal128(38, 0)
"""Whole numbers that need not fit 64 bits."""


def integer_array(numbers: NDArray[Any], known: NDArray[np.bool_] | None = None) -> pa.Array:
    """Whole numbers of 32 or 64 bits, null where not `known`."""
    kind = pa.int32() if numbers.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, numbers.size, [_bits(known), pa.py_buffer(np.ascontiguousarray(numbers))])


def integer_column(numbers: Sequence[int | None], kind: pa.DataType) -> pa.Array:
    """Whole numbers of 64 bits, or `WIDE` ones, null where None."""
    known = np.array([number is not None for number in numbers], dtype=bool)
    valid = None if known.all() else known
    if kind != WIDE:
        return integer_array(np.array([number or 0 for number in numbers], dtype=np.int64), valid)
    data = b"".join(int(number or 0).to_bytes(16, "little", signed=True) for number in numbers)
    return pa.Array.from_buffers(WIDE, len(numbers), [_bits(valid), pa.py_buffer(data)])


def column_integers(column: pa.Array) -> NDArray[Any]:
    """The numbers of a column without nulls, as an array: `WIDE` ones as Python's own."""
    data = column.buffers()[1]
    if column.type != WIDE:
        return np.frombuffer(data, dtype=np.int64)[column.offset : column.offset + len(column)]
    each = range(16 * column.offset, 16 * (column.offset + len(column)), 16)
    return np.array([int.from_bytes(data[i : i + 16].to_pybytes(), "little", signed=True) for i in each], dtype=object)


def floats(values: Sequence[float | None]) -> pa.Array:
    """Numbers with a point, null where None."""
    known = np.array([value is not None for value in values], dtype=bool)
    numbers = np.array([0.0 if value is None else float(value) for value in values])
    bits = None if known.all() else _bits(known)
    return pa.Array.from_buffers(pa.float64(), len(values), [bits, pa.py_buffer(numbers)])


def texts(labels: Sequence[str | None]) -> pa.Array:
    """Texts, null where None."""
    known = np.array([label is not None for label in labels], dtype=bool)
    parts = [label or "" for label in labels]
    data = "".join(parts).encode()
    lengths = map(len, parts) if len(data) == sum(map(len, parts)) else (len(part.encode()) for part in parts)
    ends = np.cumsum([0, *lengths])
    kind = pa.string() if ends[-1] < 2**31 else pa.large_string()
    offsets = ends.astype(np.int32 if kind == pa.string() else np.int64)
    bits = None if known.all() else _bits(known)
    return pa.Array.from_buffers(kind, len(parts), [bits, pa.py_buffer(offsets), pa.py_buffer(data)])


def labelled(which: NDArray[Any], labels: Sequence[str | None]) -> pa.DictionaryArray:
    """For each of many its label, by number; null where that is None."""
    valid = np.array([label is not None for label in labels], dtype=bool)
    known = None if valid.all() else valid[which]
    return pa.DictionaryArray.from_arrays(
        integer_array(which.astype(np.int32), known), texts([label or "" for label in labels])
    )


def spread(which: NDArray[Any], labels: Sequence[str | None], known: NDArray[np.bool_] | None = None) -> pa.Array:
    """The same, written out one by one."""
    valid = np.array([label is not None for label in labels], dtype=bool)
    seen = known if valid.all() else valid[which] if known is None else valid[which] & known
    parts = [(label or "").encode() for label in labels]
    ends = np.concatenate([[0], np.cumsum(np.array([len(part) for part in parts], dtype=np.int64)[which])])
    data = b"".join(map(parts.__getitem__, which.tolist()))
    buffers = [_bits(seen), pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), which.size, buffers)


def known(column: pa.Array) -> NDArray[np.bool_] | None:
    """Which are not null; None if none is."""
    bits = column.buffers()[0]
    if not column.null_count or bits is None:
        return None
    all_bits = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
    return all_bits[column.offset : column.offset + len(column)].astype(bool)


def numbers(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Whole numbers of 64 bits, 0 where null, and which are null."""
    found = np.zeros(len(column), dtype=np.int64)
    missing = np.zeros(len(column), dtype=bool)
    start = 0
    for chunk in column.chunks:
        if len(chunk):
            part = slice(start, start + len(chunk))
            found[part] = np.frombuffer(chunk.buffers()[1], np.int64)[chunk.offset : chunk.offset + len(chunk)]
            if (seen := known(chunk)) is not None:
                missing[part] = ~seen
            start = part.stop
    found[missing] = 0
    return found, missing


def coded(labels: Sequence[str | None]) -> tuple[NDArray[np.int32], list[str | None]]:
    """For each label its number, and what each number stands for, in the order in which they first come."""
    places: dict[str | None, int] = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.fromiter(map(places.__getitem__, labels), np.int32, len(labels)), list(places)


def _bits(known: NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
