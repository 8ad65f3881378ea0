"""A look at a table for its steward: what cannot be read, who is in it, how much would be shown. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from hubbub.engines.cell_sql import identifier
from hubbub.engines.column import Column
from hubbub.engines.duckdb import DuckDB
from hubbub.engines.look_sql import counted, readable, shapes, ways
from hubbub.noise.source import Source
from hubbub.tables.bins import Axis, declared_size
from hubbub.tables.engine import Question, Repeats
from hubbub.tables.look import Cells, Fare, Look, Persons, fares
from hubbub.tables.schema import column as known
from hubbub.tables.schema import resolved

_NEARLY_ALL: Final = 0.99
_RULES: Final = {
    "MISSING COLUMNS": "too few cells",
    "INVALID ENCODING": "a cell that is not in the file's encoding",
    "LINE SIZE OVER MAXIMUM": "longer than 2 MiB",
}

Ask: TypeAlias = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


def look(table: DuckDB, specs: Sequence[str], axes: Sequence[Axis], person: str | None, source: Source) -> Look:
    """Look at the columns in question, or at all if there are none. A CSV is read once.

    Guarantee: none. What it returns is private.
    """
    axes = resolved(tuple(axes), table.columns())
    if person is not None:
        known(table.columns(), person)
    used = list(dict.fromkeys([*([] if person is None else [person]), *(axis.column for axis in axes)]))
    with table.read_once(used if axes else list(table.columns())) as (copy, rejected):
        ask, columns = copy.ask, copy.described()
        rows = int(ask(f"SELECT count(*) FROM {copy.sql}", ())[0][0])
        persons = None if person is None else _persons(ask, person, copy.sql)
        cells: tuple[Cells, ...]
        bins: int | None = None
        shown: tuple[Fare, ...] = ()
        if axes:
            cells = tuple(
                _of_axis(ask, spec, axis, columns[axis.column], copy.sql, rows)
                for spec, axis in zip(specs, axes, strict=True)
            )
            several = persons is not None and not persons.once
            repeats = Repeats.ONE_ROW if several else Repeats.REFUSE
            told = tuple(_told(axis, each) for axis, each in zip(axes, cells, strict=True))
            found = copy.count(Question(axes=told, person=person, repeats=repeats), source)
            bins = declared_size(axes) or len(found.counts)
            shown = fares(found.counts, bins) if found.counts.any() else ()
        else:
            cells = tuple(_of_column(ask, column, copy.sql, rows) for column in columns.values())
        left_out = tuple((_RULES.get(name, name.lower()), many) for name, many in rejected)
    return Look(rows=rows, left_out=left_out, columns=cells, persons=persons, bins=bins, fares=shown)


def _told(axis: Axis, cells: Cells) -> Axis:
    """The axis with its cells read in the way that was found, if they cannot be read as declared."""
    if cells.reads in (None, "numbers", "dates") or not cells.unreadable or axis.reads:
        return axis
    return replace(axis, reads=cells.reads or "")


def _persons(ask: Ask, person: str, people: str) -> Persons:
    name = identifier(person)
    each = f"SELECT count(*) AS n FROM {people} WHERE {name} IS NOT NULL GROUP BY {name}"
    rows = [(int(n), int(many)) for n, many in ask(f"SELECT n, count(*) FROM ({each}) GROUP BY n ORDER BY n", ())]
    nobody = int(ask(f"SELECT count(*) FROM {people} WHERE {name} IS NULL", ())[0][0])
    return Persons(column=person, people=sum(many for _, many in rows), nobody=nobody, rows=tuple(rows))


def _of_axis(ask: Ask, spec: str, axis: Axis, column: Column, people: str, rows: int) -> Cells:
    counts, parameters = counted(axis, column)
    missing, bad, inside = map(int, ask(f"SELECT {', '.join(counts)} FROM {people}", parameters)[0])
    query = shapes(axis, column, people) if bad else None
    return Cells(
        column=axis.column,
        spec=spec,
        missing=missing,
        unreadable=bad,
        outside=rows - missing - bad - inside,
        shapes=() if query is None else tuple((str(shape), int(n)) for shape, n in ask(query, ())),
        reads=_way(ask, axis, column, people)[0] if bad else None,
    )


def _of_column(ask: Ask, column: Column, people: str, rows: int) -> Cells:
    way, there, values = _way(ask, None, column, people)
    return Cells(column=column.name, missing=rows - there, reads=way, values=values)


def _way(ask: Ask, axis: Axis | None, column: Column, people: str) -> tuple[str | None, int, int]:
    """The first way in which nearly all cells can be read (None: text, or its own type), how many there are of them,
    and of their values."""
    there, values, *read = map(int, ask(readable(axis, column, people), ())[0])
    least = _NEARLY_ALL * there
    fits = (way for way, many in zip(ways(axis, column), read, strict=True) if there and many >= least)
    return next(fits, None), there, values
