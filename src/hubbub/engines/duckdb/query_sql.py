"""A query in the place of a table of a DuckDB file: one SELECT, read by DuckDB's own parser before anything else.

Guarantee: the database is attached to be read only, and its connection reaches no other file. Beyond that the query may
only select, calls no function that answers differently each time, no macro of the file, and no table function that
reads something else or runs text as SQL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import duckdb

from hubbub.engines.duckdb.connection import rows_of
from hubbub.engines.query import ONE_SELECT, bare
from hubbub.errors import WrongUse

_TABLES: Final = ("range", "generate_series", "unnest")  # table functions that read nothing
_NODES: Final = ("SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE")
_MOVING: Final = (
    "SELECT lower(function_name) FROM duckdb_functions() GROUP BY 1 "
    "HAVING bool_or(coalesce(stability = 'VOLATILE', FALSE) OR NOT internal)"
)


def query_relation(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """What stands after FROM for a query, or one sentence if it is not one SELECT that only reads."""
    (answer,) = rows_of(connection, "SELECT json_serialize_sql(?)", WrongUse(ONE_SELECT), [bare(query)])[0]
    parsed = json.loads(answer)
    if parsed["error"] or len(parsed["statements"]) != 1:
        raise WrongUse(ONE_SELECT)
    moving = {name for (name,) in rows_of(connection, _MOVING, WrongUse(ONE_SELECT))}
    for node in _nodes(parsed):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _NODES:
            raise WrongUse(ONE_SELECT)
        if kind == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in _TABLES:
            raise WrongUse(ONE_SELECT)
        if str(node.get("function_name", "")).lower() in moving:
            raise WrongUse(
                f"a query calls no function that answers differently each time, and no macro, and "
                f"{node['function_name']!r} is one; leave it out"
            )
    relation = f"(\n{bare(query)}\n) AS hubbub_query"
    rows_of(connection, f"DESCRIBE SELECT * FROM {relation}", WrongUse(ONE_SELECT))
    return relation


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every part of a parsed query."""
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)
