"""What a database does for us: it answers queries that are made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import pyarrow as pa

from hubbub.engines.dialect import Dialect, Field, Form
from hubbub.tables.identity import Identity


class Database(Protocol):
    """A table in a database that can be asked."""

    dialect: Dialect
    people: str  # what stands after FROM
    fields: tuple[Field, ...]

    def fetch(
        self,
        sql: str,
        forms: Mapping[str, Form],
        *,
        key: str | None = None,
        words: Mapping[int, pa.Table] | None = None,
    ) -> pa.Table:
        """The answer, its columns in these forms; `key` and `words` are the relations that the query speaks of."""
        ...

    def stream(
        self,
        sql: str,
        forms: Mapping[str, Form],
        *,
        key: str | None = None,
        words: Mapping[int, pa.Table] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The same, batch by batch, inside one snapshot."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is asked inside sees the same rows, where the database can do that."""
        ...

    def identity(self) -> Identity: ...
