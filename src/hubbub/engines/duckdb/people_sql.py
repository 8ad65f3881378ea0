"""Who is in a table, in SQL: a rank for each id that depends on nothing but the id and a secret number.

An id is the same whatever the type of its column: 7, '7', '007' and 7.0 are one. The rank of a row costs two cheap
hashes; what is dear (the keyed hash, in the ledger) is done for the few ids with the lowest ranks alone. The cheap hash
is the engine's own, which may change with its version, so whoever compares ranks asks which way they were made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from hubbub.engines.column import Column
from hubbub.engines.duckdb.expressions import identifier
from hubbub.tables.identity import EVERYBODY, Chosen, IdObserver
from hubbub.tables.schema import ColumnType

Ask: TypeAlias = Callable[..., list[tuple[Any, ...]]]
"""A query and its parameters in, rows out."""
_Found = TypeVar("_Found")

_WAY: Final = "SELECT hash(xor(hash(1::BIGINT), 1::UBIGINT)), hash(xor(hash('hubbub'), 1::UBIGINT))"
"""What tells one version of the hash from another."""

_ROWS: Final = 4  # of a person, as a rule at most: so many times the people wanted are kept where rows repeat
_SPARE: Final = 4  # so many times those wanted pass the filter, if as many rows are there as the engine believes
_SAFE: Final = "9007199254740992"  # below this a float is a whole number for certain
_SEVERAL: Final = "coalesce(max(CASE WHEN who IS NULL THEN 2 WHEN n > 1 THEN 1 ELSE 0 END), 0)"
_PLAIN: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def check_one_row_each(
    query: Ask,
    column: Column,
    used: Sequence[str],
    bad: str,
    people: str,
    observer: IdObserver,
    begin: Callable[[], None] = lambda: None,
) -> tuple[int, int, Chosen]:
    """How many rows there are, how many of them are `bad`, and the people with the lowest ranks, where each may have
    several rows.

    A line of a CSV may be left out for a cell that is read, so the cells that are `used` are read here. `begin` is called
    before each reading.
    """
    cell, wanted = identifier(column.name), _ROWS * observer.most
    cells = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(used))
    counts = ", ".join(f"count(c{i})" for i in range(len(used)))
    rows = f"SELECT {cell} AS who, {cells}, {bad} AS bad, {rank(cell, column)} AS rank FROM {people}"
    counted = f"SELECT count(*) AS n, count(*) FILTER (WHERE bad) AS unreadable, {counts}"

    def read(below: int) -> tuple[tuple[int, int], Chosen]:
        begin()
        seen = f"{counted}, {_lowest(wanted, below)} FROM ({rows})"
        ((found, wrong, ids, ranks),) = query(
            f"SELECT n, unreadable, {_texts(column)}, ranks FROM ({seen})", observer.turn
        )
        return (int(found), int(wrong)), _lowest_people(query, ids, ranks, below, wanted)

    (found, wrong), chosen = _with_enough(read, threshold(query, column, people, wanted), wanted)
    return found, wrong, chosen


def people_among(column: Column, bad: str, people: str, lost: Sequence[str]) -> tuple[str, list[object]]:
    """How many people there are, and how many of them have a row that is `bad`, or are among the lost."""
    rows = f"SELECT {identifier(column.name)} AS who, {bad} AS bad FROM {people}"
    if lost:
        rows += " UNION ALL SELECT unnest(?::VARCHAR[]), TRUE"
    counted = f"SELECT count(DISTINCT who), count(DISTINCT who) FILTER (WHERE bad) FROM ({rows})"
    return counted, [list(lost)] if lost else []


def are_several(query: Ask, column: Column, people: str) -> int:
    """2 if a row has no id, else 1 if somebody has several rows, else 0."""
    cell = identifier(column.name)
    groups = f"SELECT {cell} AS who, count(*) AS n FROM {people} GROUP BY {cell}"
    return int(query(f"SELECT {_SEVERAL} FROM ({groups})")[0][0])


def distinct_people(query: Ask, column: Column, people: str, observer: IdObserver) -> tuple[int, Chosen]:
    """Whether a row has no id or somebody several rows, as above, and the people with the lowest ranks."""
    cell = identifier(column.name)
    groups = f"SELECT {cell} AS who, count(*) AS n FROM {people} GROUP BY {cell}"
    ranked = f"SELECT who, n, {rank('who', column)} AS rank FROM ({groups})"

    def read(below: int) -> tuple[int, Chosen]:
        sql = (
            f"SELECT several, {_texts(column)}, ranks FROM (SELECT {_SEVERAL} AS several, "
            f"{_lowest(observer.most, below)} FROM ({ranked}))"
        )
        ((found, ids, ranks),) = query(sql, observer.turn)
        return int(found), _lowest_people(query, ids, ranks, below, observer.most)

    return _with_enough(read, threshold(query, column, people, observer.most), observer.most)


def lowest_rows(query: Ask, column: Column, people: str, observer: IdObserver) -> Chosen:
    """The people with the lowest ranks, where each row is taken to be another person."""
    below = threshold(query, column, people, observer.most)
    return _with_enough(
        lambda below: (None, lowest_below(query, column, people, below, observer)), below, observer.most
    )[1]


def lowest_below(query: Ask, column: Column, people: str, below: int, observer: IdObserver) -> Chosen:
    """The same of those whose rank is below that."""
    rows = f"(SELECT {identifier(column.name)} AS who FROM {people})"
    return lowest_of(query, column, rows, below, observer)


def lowest_of(query: Ask, column: Column, gathered: str, below: int, observer: IdObserver) -> Chosen:
    """The people with the lowest ranks, of a relation with everybody, as `who`, whose rank is below that."""
    ranked = f"SELECT who, {rank('who', column)} AS rank FROM {gathered}"
    lowest = f"SELECT {_lowest(observer.most, below)} FROM ({ranked})"
    ((ids, ranks),) = query(f"SELECT {_texts(column)}, ranks FROM ({lowest})", observer.turn)
    return _lowest_people(query, ids, ranks, below, observer.most)


def _lowest_people(query: Ask, ids: list[str] | None, ranks: list[int] | None, below: int, most: int) -> Chosen:
    way = "-".join(f"{part:016x}" for part in query(_WAY)[0])
    limit = below if ranks is None or len(ranks) < most else ranks[-1]  # equals of the last one may be left out
    return Chosen(way, tuple(ids or ()), tuple(ranks or ()), limit)


def _with_enough(read: Callable[[int], tuple[_Found, Chosen]], below: int, wanted: int) -> tuple[_Found, Chosen]:
    """What is read with the ranks below that alone, or with all of them where so few people came out.

    Guarantee: those chosen have the lowest ranks of all, as if no rank had been left out: if as many as were wanted are
    below, nobody else has a lower one.
    """
    found, chosen = read(below)
    return (found, chosen) if below >= EVERYBODY or len(chosen.ids) >= wanted else read(EVERYBODY)


def threshold(query: Ask, column: Column, people: str, wanted: int) -> int:
    """The rank from which on nobody is looked at, so that few are. The engine guesses how many rows there are; a wrong
    guess makes the choice dearer, never another."""
    rows, enough = guessed_rows(query, column, people), _SPARE * wanted
    return EVERYBODY if rows <= enough else EVERYBODY * enough // rows


def guessed_rows(query: Ask, column: Column, people: str) -> int:
    """How many rows there are, as the engine believes before it reads them."""
    plan = json.loads(query(f"EXPLAIN (FORMAT JSON) SELECT {identifier(column.name)} FROM {people}")[-1][1])
    return max(_cardinalities(plan), default=0)


def _cardinalities(plan: Any) -> Iterator[int]:
    for node in plan if isinstance(plan, list) else [plan]:
        estimate = str(node.get("extra_info", {}).get("Estimated Cardinality", "")).lstrip("~")
        if estimate.isdigit():
            yield int(estimate)
        yield from _cardinalities(node.get("children", []))


def _lowest(most: int, below: int) -> str:
    few = f"FILTER (who IS NOT NULL{'' if below >= EVERYBODY else f' AND rank < {below}::UBIGINT'})"
    return f"arg_min(who, rank, {most}) {few} AS ids, min(rank, {most}) {few} AS ranks"


def _texts(column: Column) -> str:
    """Ids as texts that are alike for alike ids of other types."""
    number = _number("x", column)
    text = "TRY_CAST(x AS VARCHAR)"
    return f"[{text if number is None else f'coalesce(CAST({number} AS VARCHAR), {text})'} FOR x IN ids]"


def rank(cell: str, column: Column) -> str:
    """The rank of an id, 0..2^64-1; the secret number is its parameter."""
    number = _number(cell, column)
    own = f"hash(TRY_CAST({cell} AS VARCHAR))"
    if column.number is not None and column.number.type in _PLAIN:
        own = f"hash({number})"
    elif number is not None:
        own = f"CASE WHEN {number} IS NOT NULL THEN hash({number}) ELSE {own} END"
    return f"hash(xor({own}, ?::UBIGINT))"


def _number(cell: str, column: Column) -> str | None:
    """The id as a whole number, NULL if it is none."""
    text, as_integer = f"CAST({cell} AS VARCHAR)", f"TRY_CAST({cell} AS BIGINT)"
    match column.kind:
        case ColumnType.INTEGER:
            return as_integer
        case ColumnType.TEXT:  # looked at only if it begins like a number: to try and fail is dear
            return f"CASE WHEN {text} BETWEEN '-' AND ':' THEN TRY_CAST({text} AS BIGINT) END"
        case ColumnType.FLOAT:
            return f"CASE WHEN abs({cell}) < {_SAFE} AND {cell} = trunc({cell}) THEN {as_integer} END"
        case ColumnType.DECIMAL:
            return f"CASE WHEN {cell} = trunc({cell}) THEN {as_integer} END"
        case _:
            return None
