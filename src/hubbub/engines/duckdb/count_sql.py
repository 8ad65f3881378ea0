"""The queries that count: rows become bins, and bins that a person may have several of become few.

Each gives the number of a bin (`code`), the labels of discovered axes, and how many people it has, for every bin that
is not empty, sorted by labels where there are any. The table's columns are met only in the innermost SELECT, so that no
name of theirs can be taken for one of ours.

The queries that fetch rows by their rank: rows are numbered in any way, since the ranks were drawn without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.engines.column import Column
from hubbub.engines.duckdb.expressions import code, code_where, identifier, key, literal, unreadable, value
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Countable, Dates, Discovered, Edges, Lattice, Steps, Values, size
from hubbub.tables.generalization import REST, Grouped

Columns: TypeAlias = Mapping[str, Column]
Query: TypeAlias = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Weight:
    """For how many people a row stands, as an aggregate, and how a measure `{x}` of theirs is added up."""

    people: str
    total: str


ROW: Final = Weight("count(*)", "sum({x})")
KEPT: Final = "hubbub_kept"

BINNED: Final = "CASE WHEN n > 0 THEN code END IS NOT NULL"
"""Whether a group is a bin that is not empty. Without `n` in it DuckDB would ask it of every row, before it groups."""


def bad_row(axes: Sequence[Countable], columns: Columns) -> str:
    """Whether a row has a cell that is read and cannot be read as declared."""
    tests = filter(None, (unreadable(axis, columns[axis.column]) for axis in axes))
    return " OR ".join(tests) or "FALSE"


def every_row(
    axes: Sequence[Countable], columns: Columns, people: str, person: str | None = None, weight: Weight = ROW
) -> Query:
    """Each row is a person. Whoever fits no bin is dropped by a condition where that says the same as a case.

    A person column is read here as well: a line of a CSV may be left out for a cell that is read, and the lines that
    are counted must be among those whose person was checked.
    """
    parts = parts_of(axes, columns)
    conditions = [] if person is None else [f"({person} IS NOT NULL)"]
    for i, axis in enumerate(axes):
        if isinstance(axis, Edges | Steps | Dates | Lattice) and not axis.null and not axis.other:
            parts[i], condition = code_where(axis, columns[axis.column])
            conditions.append(f"({condition})")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    if not axes:  # everybody is in one bin, if there is anybody
        return f"SELECT 0 AS code, count(*) AS n FROM {people}{where} HAVING count(*) > 0", []
    many = f"CAST({weight.people} AS BIGINT) AS n"
    return _sum_bins(axes, f"SELECT {name_parts(parts)}, {many} FROM {people}{where} GROUP BY ALL")


def lookup_sql(axis: Countable, columns: Columns, people: str, carried: str) -> Query:
    """Beside each row what is carried, its code and, if the axis is discovered, its label."""
    parts = f"SELECT {name_parts(parts_of((axis,), columns))}, {carried} FROM {people}"
    return with_codes((axis,), parts, carried)


def one_row_each(axes: Sequence[Countable], columns: Columns, people: str, person: str, word: str) -> Query:
    """Each person is in the bin of the row with the smallest word."""
    row = ", ".join(f"{_of_least(part, word)} AS g{i}" for i, part in enumerate(parts_of(axes, columns)))
    kept = f"SELECT {row} FROM {people} WHERE {person} IS NOT NULL GROUP BY {person}"
    groups = ", ".join(f"g{i}" for i in range(len(axes)))
    return _sum_bins(axes, f"SELECT {groups}, count(*) AS n FROM ({kept}) GROUP BY ALL")


def _of_least(cell: str, word: str) -> str:
    """The cell of the row with the smallest word, as an aggregate; it may be missing.

    Several such cells of a person are of one row: the rows are met in the same order, and of equal words the first
    counts. One struct of them would say the same and takes twice as long.
    """
    return f"arg_min_null({cell}, {word})"


def kept_rows(columns: Sequence[str], people: str, person: str, word: str) -> str:
    """The row with the smallest word of each person, as a table of these columns; asked once, by one query."""
    cells = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(columns))
    rows = f"SELECT {person} AS who, {cells}, {word} AS word FROM {people}"
    kept = ", ".join(f"{_of_least(f'c{i}', 'word')} AS {identifier(name)}" for i, name in enumerate(columns))
    return f"SELECT {kept} FROM ({rows}) WHERE who IS NOT NULL GROUP BY who"


def with_kept(kept: str, query: Query) -> Query:
    """A query about the kept rows, which it may read as often as it likes: they are chosen once."""
    return f"WITH {KEPT} AS MATERIALIZED ({kept}) {query[0]}", query[1]


def any_row(test: str, people: str, person: str) -> str:
    """How many people there are, and how many have a row that passes the test."""
    each = f"SELECT bool_or(coalesce({test}, FALSE)) AS met FROM {people} WHERE {person} IS NOT NULL GROUP BY {person}"
    return f"SELECT count(*), coalesce(count_if(met), 0) FROM ({each})"


def distinct_bins(axes: Sequence[Countable], columns: Columns, people: str, person: str, word: str, most: int) -> Query:
    """Each person is once in each of at most `most` of their bins, those with the smallest words."""
    groups = ", ".join(f"g{i}" for i in range(len(axes)))
    rows = f"SELECT {person} AS who, {name_parts(parts_of(axes, columns))}, {word} AS word FROM {people}"
    few = f"SELECT who, {groups}, min(word) AS word FROM ({rows}) WHERE who IS NOT NULL GROUP BY who, {groups}"
    coded, parameters = with_codes(axes, few, "who, word")
    bins = bin_columns(axes)
    # Two values of one bin (both `other`, say) are one bin; a row in no bin takes no place.
    each = f"SELECT who, {bins}, min(word) AS word FROM ({coded}) WHERE code IS NOT NULL GROUP BY who, {bins}"
    rank = "row_number() OVER (PARTITION BY who ORDER BY word)"
    kept = f"SELECT {bins} FROM ({each}) QUALIFY {rank} <= {most}"
    return f"SELECT {bins}, count(*) AS people FROM ({kept}) GROUP BY {bins}{order(axes)}", parameters


def parts_of(axes: Sequence[Countable], columns: Columns) -> list[str]:
    """One SQL expression for each axis: a bin's number (-1: none), or the text itself where it is looked up later."""
    parts = []
    for axis in axes:
        column = columns[axis.column]
        if isinstance(axis, Discovered):
            parts.append(key(axis, column))
        else:
            parts.append(value(axis, column) if isinstance(axis, Values) else code(axis, column))
    return parts


def name_parts(parts: Sequence[str]) -> str:
    return ", ".join(f"{part} AS g{i}" for i, part in enumerate(parts))


def _keys(axes: Sequence[Countable]) -> list[str]:
    return [f"g{i}" for i, axis in enumerate(axes) if isinstance(axis, Discovered)]


def bin_columns(axes: Sequence[Countable]) -> str:
    return ", ".join(["code", *_keys(axes)])


def order(axes: Sequence[Countable]) -> str:
    """By code and labels, whatever order the connection prefers; declared bins are put in order by their numbers."""
    keys = _keys(axes)
    return " ORDER BY " + ", ".join(f"{name} ASC NULLS LAST" for name in ("code", *keys)) if keys else ""


def _sum_bins(axes: Sequence[Countable], inner: str) -> Query:
    """Groups (g0, g1, ..., n) as bins."""
    coded, parameters = with_codes(axes, inner, "n")
    bins = bin_columns(axes)
    if not any(isinstance(axis, Values | Discovered) for axis in axes):  # the groups are the bins
        # Of a single bin the groups are made by nothing, and there is one even of no rows: its n is 0, or no number.
        return f"SELECT code, n FROM ({coded}) WHERE {BINNED}", parameters
    # Not GROUP BY ALL with HAVING: that groups by what `code` is made of, and several groups then have one code.
    sums = f"SELECT {bins}, CAST(sum(n) AS BIGINT) AS people FROM ({coded}) WHERE {BINNED} GROUP BY {bins}"
    return sums + order(axes), parameters


def with_codes(axes: Sequence[Countable], inner: str, carried: str) -> Query:
    """The numbers of bins from groups; listed values get theirs by a join with the few groups that came out."""
    joins, number, keys = [], "0", []
    parameters: list[Any] = []
    for i, axis in enumerate(axes):
        if isinstance(axis, Discovered):
            keys.append(f"g{i}")
            if isinstance(axis.coarser, Grouped):
                joins.append(
                    f"LEFT JOIN (SELECT unnest(?::VARCHAR[]) COLLATE C AS v, unnest(?::VARCHAR[]) AS l) d{i} "
                    f"ON g{i} = d{i}.v"
                )
                parameters += [list(texts) for texts in zip(*axis.coarser.by.rows, strict=True)]
                label = f"coalesce(d{i}.l, {literal(REST)}) COLLATE C"
                keys[-1] = f"CASE WHEN g{i} IS NOT NULL THEN {label} END AS g{i}"
            continue
        expression = f"nullif(g{i}, -1)"
        if isinstance(axis, Values):
            joins.append(
                f"LEFT JOIN (SELECT unnest(?::VARCHAR[]) COLLATE C AS v, "
                f"generate_subscripts(?::VARCHAR[], 1) - 1 AS c) d{i} ON g{i} = d{i}.v"
            )
            parameters += [list(axis.values)] * 2
            other = str(len(axis) + axis.null) if axis.other else "NULL"
            null = str(len(axis)) if axis.null else other
            expression = f"CASE WHEN g{i} IS NULL THEN {null} ELSE coalesce(d{i}.c, {other}) END"
        number = f"({number} * {size(axis)} + ({expression})::BIGINT)"
    projection = ", ".join([carried, f"{number} AS code", *keys])
    return f"SELECT {projection} FROM ({inner}) {' '.join(joins)}", parameters


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
