"""The protocol of a database: it answers the SQL queries that this package builds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy as copied
from dataclasses import field
from typing import Protocol, Self

import pyarrow as pa

from hubbub.engines.sql.dialect import ARROW, Dialect, Field, Form, Part
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Countable
from hubbub.tables.identity import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQuery:
    """A query, the forms of the columns that it hands over, and the relations that it reads: the one with the secret
    key, and lookups by their number."""

    sql: str
    forms: Mapping[str, Form]
    key: str | None = field(default=None, repr=False)
    lookups: Mapping[int, pa.Table] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRequest(SqlQuery):
    """A counting query, and what the axes of its answer are; `sizes` where it hands over the numbers of bins along each
    axis."""

    parts: Mapping[str, Part]
    axes: tuple[Countable, ...]
    sizes: tuple[int, ...] | None = None


class Database(Protocol):
    """A table in a database that can be asked."""

    dialect: Dialect
    people: str  # what stands after FROM
    fields: tuple[Field, ...]
    original: object = None  # the table that this one reads otherwise, whose end closes the connection

    def fetch(
        self,
        sql: str,
        forms: Mapping[str, Form],
        *,
        key: str | None = None,
        lookups: Mapping[int, pa.Table] | None = None,
    ) -> pa.Table:
        """The answer, its columns in these forms; `key` and `lookups` are the relations that the query reads."""
        return self.table(SqlQuery(sql=sql, forms=forms, key=key, lookups=lookups))

    def table(self, query: SqlQuery) -> pa.Table:
        """The whole answer at once."""
        schema = pa.schema([(name, ARROW[form]) for name, form in query.forms.items()])
        return pa.Table.from_batches(self.stream(query), schema)

    def stream(self, query: SqlQuery) -> Iterator[pa.RecordBatch]:
        """The answer batch by batch, inside one snapshot."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is asked inside sees the same rows, where the database can do that."""
        ...

    def identity(self) -> Identity: ...

    def is_key(self, column: str) -> bool:
        """Whether the database itself keeps rows from having one value of the column twice, missing ones aside; asked
        inside a snapshot.

        Guarantee: true only of a table that is read as it is, with a constraint that holds at every moment for all of
        its rows and this column alone, and takes any two ids for one that a count here would.
        """
        return False

    def reading(self, cells: Mapping[str, str]) -> Self:
        """The same table, with these cells, each an expression over a row, in the place of the columns of their names."""
        other = copied(self)
        other.people, other.original = read_as(self.dialect, self.fields, self.people, cells), self
        return other


def read_as(dialect: Dialect, fields: Sequence[Field], people: str, cells: Mapping[str, str]) -> str:
    """What stands after FROM, with these cells in the place of the columns of their names."""
    names = [(dialect.name(field.name), cells.get(field.name)) for field in fields]
    each = ", ".join(name if cell is None else f"{cell} AS {name}" for name, cell in names)
    return f"(SELECT {each} FROM {people}) AS hubbub_read"
