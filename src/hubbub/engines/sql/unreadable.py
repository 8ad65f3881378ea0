"""How many people of a database have a row that cannot be read as declared, where each may have several.

Every value that is read as something else (a number, a date, a boolean) comes here once, and is read by the grammar
that reads files; the database then counts who has one that is no such thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.duckdb.unreadable import check_share
from hubbub.engines.sql import groups
from hubbub.engines.sql.database import Database
from hubbub.engines.sql.dialect import Dialect, Field, Form, Part
from hubbub.engines.sql.leaves import is_read_here, leaf_part, may_be_unreadable, steps
from hubbub.engines.sql.queries import part, people_with, values
from hubbub.tables.bins import Countable
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.engine import CountQuery
from hubbub.tables.schema import ColumnType


def is_doubted(fields: Mapping[str, Field], axis: Countable) -> bool:
    """Whether there may be cells that cannot be read as the bins declare."""
    return may_be_unreadable(axis, fields[axis.column].kind)


def is_doubtful(fields: Mapping[str, Field], question: CountQuery) -> bool:
    """The same of all that a question reads."""
    rules = (question.where, question.measure)
    leaves = [leaf for rule in rules if isinstance(rule, Condition) for leaf in rule.leaves()]
    measure = question.measure if isinstance(question.measure, Measure) else None
    return (
        any(is_doubted(fields, axis) for axis in question.axes)
        or any(is_read_here(leaf, fields[leaf.column]) for leaf in leaves)
        or (measure is not None and fields[measure.column].kind is ColumnType.TEXT)
    )


def check_people(
    database: Database,
    fields: Mapping[str, Field],
    person: str,
    axes: Sequence[Countable],
    rules: Sequence[Measure | Condition],
    allowed: Fraction,
) -> None:
    """Refuse if too many people have a row with a cell that one of these reads and that cannot be read as declared."""
    parts: dict[str, Part] = {}
    lookups: dict[int, pa.Table] = {}
    for about, handed in _doubts(database.dialect, fields, axes, rules):
        found = database.fetch(values(handed, database.people), {"g": handed.form})
        wrong = groups.unreadable(found, about, handed)
        if wrong.num_rows:
            lookups[len(parts)], parts[f"g{len(parts)}"] = wrong, handed
    if not lookups:
        return
    who = part(database.dialect, fields[person])
    listed = {i: database.dialect.dictionary(i, each.form, Form.INTEGER) for i, each in enumerate(parts.values())}
    sql = people_with(parts, listed, who, database.people)
    row = database.fetch(sql, {"n": Form.INTEGER, "s": Form.INTEGER}, lookups=lookups)
    people, bad = (int(numbers(row.column(name))[0]) for name in ("n", "s"))
    check_share(allowed, people, bad)


def _doubts(
    dialect: Dialect, fields: Mapping[str, Field], axes: Sequence[Countable], rules: Sequence[Measure | Condition]
) -> Iterator[tuple[CountQuery, Part]]:
    """What may be unreadable: the question that reads it, in a column g, and what is handed over."""
    for axis in axes:
        if is_doubted(fields, axis):
            yield CountQuery(axes=(replace(axis, column="g"),)), part(dialect, fields[axis.column], axis)
    for rule in dict.fromkeys(rules):
        if isinstance(rule, Measure):
            field = fields[rule.column]
            if field.kind is ColumnType.TEXT:
                yield CountQuery(axes=(), measure=replace(rule, column="g")), steps(dialect, field, rule)
            continue
        for leaf in dict.fromkeys(rule.leaves()):
            if is_read_here(leaf, fields[leaf.column]):
                about = Condition(replace(leaf, column="g"))
                yield CountQuery(axes=(), where=about), leaf_part(dialect, fields[leaf.column], leaf)
