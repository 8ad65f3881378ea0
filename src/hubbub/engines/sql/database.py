"""The protocol of a database: it answers the SQL queries that this package builds.

Fetching rows of a database by their rank: those alone leave it, and which they are was drawn without them.

Rows are in buckets, each numbered from 0 on. How many a bucket has comes here; ranks are drawn here, exactly; what goes
back is a list of places, and the rows that stand there come. A database that answers in one piece has one bucket and
numbers its rows as it meets them. Where a part of an answer may be made twice, on another machine, the bucket and the
number depend on nothing but the cells (:meth:`hubbub.engines.sql.dialect.Dialect.ranked_rows_sql`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy as copied
from dataclasses import field
from typing import Protocol, Self

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.duckdb.count_sql import MOVED
from hubbub.engines.sql.dialect import ARROW, Dialect, Field, Form, Part
from hubbub.errors import Refused
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Countable
from hubbub.tables.engine import Choice
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

    def fetch_numbers(
        self, sql: str, names: Sequence[str] = "n", lookups: Mapping[int, pa.Table] | None = None
    ) -> list[int]:
        """The only row of an answer of whole numbers with these names."""
        row = self.fetch(sql, dict.fromkeys(names, Form.INTEGER), lookups=lookups)
        return [int(numbers(row.column(name))[0]) for name in names]

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


def chosen_rows(database: Database, parts: Mapping[str, Part], chosen: Choice) -> pa.Table:
    """The rows with the ranks that are chosen, in their order.

    Guarantee: ranks and rows are numbered one to one, by a numbering that does not depend on the ranks. So if every
    list of K different ranks is equally likely, then every list of K different rows is; equal rows are as many as they
    are. A task that is run twice fetches the same.
    """
    dialect = database.dialect
    tally = database.fetch(bucket_sizes(dialect, parts, database.people), {"b": Form.INTEGER, "n": Form.INTEGER})
    buckets, sizes = (numbers(tally.column(name)) for name in ("b", "n"))
    order = np.argsort(buckets)
    buckets, sizes = buckets[order], sizes[order]
    starts = np.cumsum(sizes) - sizes
    ranks = chosen(int(sizes.sum()))
    at = np.searchsorted(starts, ranks, side="right") - 1  # the last that starts there: none of them is empty
    positions = pa.table({"v": buckets[at], "id": ranks - starts[at]})
    forms = {name: part.form for name, part in parts.items()} | {"b": Form.INTEGER, "i": Form.INTEGER}
    table = database.fetch(rows_at_positions(dialect, parts, database.people), forms, lookups={0: positions})
    b, i = (numbers(table.column(name)) for name in ("b", "i"))
    found = starts[np.clip(np.searchsorted(buckets, b), 0, max(buckets.size - 1, 0))] + i
    if not np.array_equal(np.sort(found), np.sort(ranks)):
        raise Refused(MOVED)
    take = np.empty(ranks.size, np.int64)
    take[np.argsort(ranks)] = np.argsort(found)
    return table.select(list(parts)).take(pa.array(take))


def bucket_sizes(dialect: Dialect, parts: Mapping[str, Part], people: str) -> str:
    """How many rows each bucket has."""
    return f"SELECT b, count(*) AS n FROM ({_rows_with_bucket(dialect, parts, people)}) AS t GROUP BY b"


def rows_at_positions(dialect: Dialect, parts: Mapping[str, Part], people: str) -> str:
    """The rows at the places, with the bucket and the number in it."""
    names = list(parts)
    positions = dialect.dictionary(0, Form.INTEGER, Form.INTEGER)
    rows = _rows_with_bucket(dialect, parts, people)
    ranked = dialect.ranked_rows_sql(rows, names, positions)
    if ranked is not None:
        return ranked
    numbered = f"SELECT t.*, row_number() OVER () - 1 AS i FROM ({rows}) AS t"
    return f"SELECT {', '.join(names)}, b, i FROM ({numbered}) AS t JOIN {positions} ON i = d0.id"


def _rows_with_bucket(dialect: Dialect, parts: Mapping[str, Part], people: str) -> str:
    cells = ", ".join(f"{part.sql} AS {name}" for name, part in parts.items())
    return f"SELECT t.*, {dialect.bucket(list(parts))} AS b FROM (SELECT {cells} FROM {people}) AS t"
