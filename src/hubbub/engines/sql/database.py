"""What a database does for us: it answers queries that are made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from hubbub.engines.sql.dialect import ARROW, Dialect, Field, Form, Part
from hubbub.tables.bins import Countable
from hubbub.tables.identity import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRequest:
    """A counting query, what it hands over, and what the axes of that are; `sizes` where it hands over the numbers of
    bins along each axis."""

    sql: str
    forms: Mapping[str, Form]
    parts: Mapping[str, Part]
    axes: tuple[Countable, ...]
    sizes: tuple[int, ...] | None = None
    key: str | None = field(default=None, repr=False)
    lookups: Mapping[int, pa.Table] | None = field(default=None, repr=False)


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
        lookups: Mapping[int, pa.Table] | None = None,
    ) -> pa.Table:
        """The answer, its columns in these forms; `key` and `lookups` are the relations that the query reads."""
        schema = pa.schema([(name, ARROW[form]) for name, form in forms.items()])
        return pa.Table.from_batches(self.stream(sql, forms, key=key, lookups=lookups), schema)

    def stream(
        self,
        sql: str,
        forms: Mapping[str, Form],
        *,
        key: str | None = None,
        lookups: Mapping[int, pa.Table] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The same, batch by batch, inside one snapshot."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is asked inside sees the same rows, where the database can do that."""
        ...

    def identity(self) -> Identity: ...

    def reading(self, cells: Mapping[str, str]) -> Database:
        """The same table, with these cells, each an expression over a row, in the place of the columns of their names."""
        ...


def read_as(dialect: Dialect, fields: Sequence[Field], people: str, cells: Mapping[str, str]) -> str:
    """What stands after FROM, with these cells in the place of the columns of their names."""
    names = [(dialect.name(field.name), cells.get(field.name)) for field in fields]
    each = ", ".join(name if cell is None else f"{cell} AS {name}" for name, cell in names)
    return f"(SELECT {each} FROM {people}) AS hubbub_read"
