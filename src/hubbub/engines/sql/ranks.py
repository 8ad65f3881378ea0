"""Fetching rows of a database by their rank: those alone leave it, and which they are was drawn without them.

Rows are in buckets, each numbered from 0 on. How many a bucket has comes here; ranks are drawn here, exactly; what goes
back is a list of places, and the rows that stand there come. A database that answers in one piece has one bucket and
numbers its rows as it meets them. Where a part of an answer may be made twice, on another machine, the bucket and the
number depend on nothing but the cells (:meth:`hubbub.engines.sql.dialect.Dialect.ranked_rows_sql`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.duckdb.rows_sql import MOVED
from hubbub.engines.sql.database import Database
from hubbub.engines.sql.dialect import Dialect, Form, Part
from hubbub.errors import Refused
from hubbub.tables.engine import Choice


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
    table = database.fetch(rows_at_places(dialect, parts, database.people), forms, lookups={0: positions})
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


def rows_at_places(dialect: Dialect, parts: Mapping[str, Part], people: str) -> str:
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
