"""Who is in a table of a database: the ids pass through here, and are ranked as those of files are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from hubbub.engines.duckdb.people_sql import look_at_people
from hubbub.engines.sql.dialect import Part
from hubbub.engines.sql.groups import registered
from hubbub.tables.sketch import Notice


def report_chosen(ids: pa.Table, who: Part, notice: Notice) -> None:
    """Tell who is in a table with the columns `who` and `n`.

    The hash that ranks them is the same as for files, so that the same people are known again wherever they are.
    """
    people = registered(ids.select(["who"]).rename_columns(["g0"]), {"g0": who})

    def ask(sql: str, *values: object) -> list[tuple[Any, ...]]:
        return people.ask(sql, values)

    _, chosen = look_at_people(ask, people.described()["g0"], people.sql, notice)
    notice.on_chosen(chosen)
