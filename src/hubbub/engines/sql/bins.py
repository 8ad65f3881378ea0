"""Bins that a database cannot make by itself: worked out here, value by value, and handed to it as a relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.sql import groups, queries
from hubbub.engines.sql.database import Database
from hubbub.engines.sql.dialect import Field, Form, Part
from hubbub.tables.bins import Countable, Discovered


def lookups_for(
    database: Database, fields: Mapping[str, Field], axes: Sequence[Countable], parts: Mapping[str, Part]
) -> tuple[dict[int, pa.Table], dict[int, str]]:
    """By the place of its axis: the bin of every value, and what that relation is called."""
    lookups, relations = {}, {}
    for i, (axis, part) in enumerate(zip(axes, parts.values(), strict=True)):
        if not queries.in_database(fields[axis.column], axis):
            found = database.fetch(queries.values(part, database.people), {"g": part.form})
            lookups[i] = groups.lookup_table(found, axis, part)
            to = Form.TEXT if isinstance(axis, Discovered) else Form.INTEGER
            relations[i] = database.dialect.dictionary(i, part.form, to)
    return lookups, relations


def unlisted(
    database: Database,
    fields: Mapping[str, Field],
    axes: Sequence[Countable],
    parts: Mapping[str, Part],
    who: Part | None,
) -> tuple[int, int]:
    """How many people are in no bin, by none of their rows, and how many there are."""
    lookups, relations = lookups_for(database, fields, axes, parts)
    sql = queries.unlisted(axes, parts, relations, who, database.people)
    row = database.fetch(sql, {"n": Form.INTEGER, "s": Form.INTEGER}, lookups=lookups)
    people, inside = (int(numbers(row.column(name))[0]) for name in ("n", "s"))
    return people - inside, people
