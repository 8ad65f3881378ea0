"""Batches on their way from a database to DuckDB: each is let go when it was read, so that groups by the ten million
are not held twice."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from hubbub.errors import WrongUse


class SingleUseStream:
    """A stream that is read once. A second reading fails, and does not find an empty table."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self.schema, self._batches = schema, batches
        self._reader: object = None
        self.trouble = ""  # why it broke off, in our words

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self.schema, self._read()).__arrow_c_stream__()

    def _read(self) -> Iterator[pa.RecordBatch]:
        own = object()
        self._reader = self._reader or own
        if self._reader is not own:
            raise WrongUse("a stream is read once")
        try:
            yield from self._batches
        except WrongUse as trouble:
            self.trouble = str(trouble)
            raise

    def close(self) -> None:
        """Nobody reads on: whoever sends is told, and is free for other questions."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()

    def table(self) -> pa.Table:
        """All of it."""
        return pa.Table.from_batches(list(self), self.schema)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._read()
