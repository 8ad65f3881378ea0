"""Who is in a table of a database: the ids pass through here, and are ranked as those of files are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from hubbub.engines.duckdb.people_sql import distinct_people
from hubbub.engines.sql.dialect import Part
from hubbub.engines.sql.groups import registered
from hubbub.tables.sketch import IdObserver


def report_chosen(ids: pa.Table, who: Part, observer: IdObserver) -> None:
    """Tell who is in a table with the columns `who` and `n`.

    The hash that ranks them is the same as for files, so that the same people are known again wherever they are.
    """
    people = registered(ids.select(["who"]).rename_columns(["g0"]), {"g0": who})

    def query(sql: str, *values: object) -> list[tuple[Any, ...]]:
        return people.query(sql, values)

    _, chosen = distinct_people(query, people.described()["g0"], people.sql, observer)
    observer.on_chosen(chosen)
