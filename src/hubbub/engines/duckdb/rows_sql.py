"""The queries that fetch rows by their rank: rows are numbered in any way, since the ranks were drawn without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.engines.duckdb.cell_sql import identifier

POSITIONS: Final = "hubbub_places"
MOVED: Final = "the table changed while its rows were drawn, and nothing came out of it; release it when it is at rest"


def count_rows_sql(columns: Sequence[str], person: str | None, people: str) -> str:
    """How many rows there are; all cells are read, because a line of a CSV may be left out for one that is."""
    cells = ", ".join(f"count({identifier(name)})" for name in columns)
    return f"SELECT count(*), {cells} FROM {people}{_present_sql(person)}"


def chosen_rows_sql(columns: Sequence[str], person: str | None, people: str) -> str:
    """The rows whose rank is among the places, in their order."""
    cells = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(columns))
    named = ", ".join(f"c{i}" for i in range(len(columns)))
    numbered = f"SELECT {cells}, row_number() OVER () - 1 AS r FROM {people}{_present_sql(person)}"
    return f"SELECT {named} FROM ({numbered}) JOIN {POSITIONS} ON r = rank ORDER BY place ASC"


def positions_table(ranks: NDArray[np.int64]) -> pa.Table:
    """Ranks and where each goes."""
    return pa.table({"rank": ranks, "place": np.arange(ranks.size, dtype=np.int64)})


def _present_sql(person: str | None) -> str:
    return "" if person is None else f" WHERE ({identifier(person)} IS NOT NULL)"
