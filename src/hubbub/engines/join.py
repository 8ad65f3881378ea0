"""Two tables about the same people: what each row of the second says is joined by its person's row of the first.

The first table has at most one row for each person (patients), the second any number (visits). What is released are
the rows of the second, each with the columns of its person's row of the first, which are missing where there is none.

Guarantee: the rows of a person in the join are a function of that person's row in the first table and of their rows
in the second, and of nobody else's. Whoever leaves both tables takes exactly their own rows out of the join, and every
other row stays as it is; so two pairs of tables that differ in one person become joins that differ in one person, and
whatever is promised to the people of the join is promised to the people of both tables. Caps on what one person
contributes are on the rows of the join, of which a person has as many as in the second table. Where a person had two
rows in the first table this would fail to be one row for each visit: such tables are refused before anything is
counted.
"""

from __future__ import annotations

from typing import Final

from hubbub.engines.arrow_columns import distinct
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.tables.schema import ColumnType, Schema, column

KEYS: Final = (
    "the first table of a join does not have exactly one row for each person, with their id; give one that has (hubbub "
    "check says how many people have several, or none), and nothing is spent until then"
)
"""Reads the same for every such table. It is for the steward alone: it tells something about the data."""

ELSEWHERE: Final = (
    "the two tables of a join are in one place: files or frames, two tables of one database, or two frames of one Spark "
    "session; bring them together, or export the smaller one"
)

_KEY_TYPES: Final = (ColumnType.TEXT, ColumnType.INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedColumns:
    """The columns of a join: the name of each there, and its own, by the table that it comes from.

    The column `on` is the second table's. A name that both tables have is numbered, the first table's as 1.
    """

    on: str
    first: dict[str, str]
    second: dict[str, str]


def _column_of(which: str, schema: Schema, on: str) -> ColumnType:
    try:
        return column(schema, on)
    except WrongUse as wrong:
        raise WrongUse(f"in the {which} table {wrong.marked}") from None


def joined_columns(on: str, first: Schema, second: Schema) -> JoinedColumns:
    """The columns of a join, from the schemas alone, or one sentence if it cannot be made of them."""
    kinds = _column_of("first", first, on), _column_of("second", second, on)
    if kinds[0] is not kinds[1]:
        raise WrongUse(
            f"{on!r} holds {kinds[0].value} in the first table and {kinds[1].value} in the second, and nothing says "
            "which of them are the same; write it alike in both"
        )
    if kinds[0] not in _KEY_TYPES:
        raise WrongUse(
            f"people are found again by text or whole numbers, and {on!r} holds {kinds[0].value}; write the ids so in "
            "both tables"
        )
    own = [name for name in first if name != on]
    names = distinct([*own, *second])
    return JoinedColumns(
        on=on,
        first=dict(zip(names[: len(own)], own, strict=True)),
        second=dict(zip(names[len(own) :], second, strict=True)),
    )


def both(first: str, second: str) -> str:
    """Every row of two relations that have a column `who`: 1 as `a` for a row of the first, as `b` for the second."""
    return (
        f"SELECT who, 1 AS a, 0 AS b FROM ({first}) AS hubbub_first UNION ALL "
        f"SELECT who, 0 AS a, 1 AS b FROM ({second}) AS hubbub_second"
    )


def partners_query(rows: str) -> str:
    """The numbers of :class:`hubbub.tables.inspection.Partners` in their order, as `p0` to `p5`, of :func:`both`."""
    ids = f"SELECT who, sum(a) AS a, sum(b) AS b FROM ({rows}) AS t GROUP BY who"
    numbers = (
        "CASE WHEN who IS NOT NULL AND a > 0 THEN 1 ELSE 0 END",
        "CASE WHEN who IS NOT NULL AND a > 1 THEN 1 ELSE 0 END",
        "CASE WHEN who IS NULL THEN a ELSE 0 END",
        "CASE WHEN who IS NOT NULL AND a = 0 THEN b ELSE 0 END",
        "CASE WHEN who IS NOT NULL AND a = 0 THEN 1 ELSE 0 END",
        "CASE WHEN who IS NOT NULL AND b = 0 THEN 1 ELSE 0 END",
    )
    sums = ", ".join(f"coalesce(sum({number}), 0) AS p{i}" for i, number in enumerate(numbers))
    return f"SELECT {sums} FROM ({ids}) AS t"
