"""A join of two tables that DuckDB reads (:mod:`hubbub.engines.join`), whichever files or frames they are in.

The first table, of which a person has one row, is read into memory: its column of people and whatever else of it is
asked for. The second stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy as copied
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from hubbub.engines.duckdb.connection import TROUBLE, Relation, relation_of
from hubbub.engines.duckdb.duckdb_engine import Connection, DuckDB
from hubbub.engines.duckdb.expressions import identifier
from hubbub.engines.join import both, joined_columns, partners_query
from hubbub.tables.identity import Identity
from hubbub.tables.inspection import Partners
from hubbub.tables.schema import ColumnType

_PARTNERS = "hubbub_partners"
_T = TypeVar("_T")


class Joined(DuckDB):
    """The rows of the second table, each with the columns of its person's row of the first.

    Guarantee: as :mod:`hubbub.engines.join` has it; a first table in which somebody has several rows, or a row nobody,
    is refused before anything of the second is read.
    """

    def __init__(self, first: DuckDB, second: DuckDB, on: str) -> None:
        self._first, self._second = first, second
        self._joined = joined_columns(on, first.columns(), second.columns())
        self._partners: tuple[tuple[str, ...], pa.Table] | None = None  # the columns of the first table, as last read
        own = ", ".join(map(identifier, [on, *self._joined.first.values()]))
        nobody = first.arrow((f"SELECT {own} FROM {first.sql} LIMIT 0", []))
        with self._registering(second.connection, nobody):
            every = self._relation(second.connection, second.sql, [*self._joined.first, *self._joined.second])
            super().__init__(
                second.connection,
                every.sql,
                columns_are_public=first.columns().public and second.columns().public,
                weight=second._weight,
                doubting=second._doubting,
            )
        self._unreadable = second._unreadable

    def identity(self) -> Identity:
        """What both tables are: a release of the join is one of each."""
        missing = tuple(self._missing.to_json())
        return replace(self._first.identity().join(self._second.identity()), missing=missing)

    @contextmanager
    def read_once(self, columns: Sequence[str]) -> Iterator[tuple[DuckDB, list[tuple[str, int]]]]:
        """The same table, of these columns, in memory; and why how many records of either are not in it."""
        names = ", ".join(map(identifier, columns))
        self._unreadable.forget()

        def copy(people: Relation) -> None:
            self.query(f"CREATE OR REPLACE TEMP TABLE {_LOOK} AS SELECT {names} FROM {people.sql}")

        self.read(columns, copy)
        try:
            rejected = [*self._first._unreadable.why(), *self._unreadable.why()]
            yield DuckDB(self._connection, _LOOK, columns_are_public=self._columns_are_public), rejected
        finally:
            self.query(f"DROP TABLE {_LOOK}")

    def partners(self) -> Partners:
        """How the two tables meet; for the steward alone."""
        key = identifier(self._joined.on)
        table = self._first.every_row(self._joined.on)

        def count_partners(people: Relation) -> Partners:
            with self._registering(self._connection, table):
                rows = both(f"SELECT {key} AS who FROM {_PARTNERS}", f"SELECT {key} AS who FROM {people.sql}")
                counts = map(int, self._query(partners_query(rows))[0])
                return Partners(self._joined.on, *counts)

        return self._second.read([self._joined.on], count_partners)

    def _doubtful(self, connection: Connection) -> DuckDB:
        other = copied(self)
        other._second = self._second._doubtful(connection)
        other._connection, other._doubting, other._unreadable = connection, None, other._second._unreadable
        return other

    def read(self, used: Sequence[str], read: Callable[[Relation], _T]) -> _T:
        """What is read of the join, of these columns alone; the first table is looked at before anything else."""
        theirs = tuple(self._joined.first[name] for name in used if name in self._joined.first)
        table = self._checked_first(theirs)
        own = [self._joined.on, *(self._joined.second[name] for name in used if name in self._joined.second)]

        def read_joined(people: Relation) -> _T:
            with self._registering(self._connection, table):
                return read(self._with_missing_cells(self._relation(self._connection, people.sql, used)))

        return self._second.read(list(dict.fromkeys(own)), read_joined)

    def _checked_first(self, columns: tuple[str, ...]) -> pa.Table:
        """The rows of the first table, with these columns, or a refusal."""
        if self._partners is None or self._partners[0] != columns:
            self._partners = columns, self._first.one_row_each([self._joined.on, *columns], self._joined.on)
        return self._partners[1]

    def _relation(self, connection: Connection, second: str, used: Sequence[str]) -> Relation:
        """What stands after FROM. Ids are compared as they are written, whatever a column prefers."""
        joined, key = self._joined, identifier(self._joined.on)
        cells = [f"hubbub_s.{identifier(joined.second[n])} AS {identifier(n)}" for n in used if n in joined.second]
        theirs = [f"hubbub_f.{identifier(joined.first[n])} AS {identifier(n)}" for n in used if n in joined.first]
        plain = " COLLATE C" if self._second.columns()[joined.on] is ColumnType.TEXT else ""
        met = f"LEFT JOIN {_PARTNERS} AS hubbub_f ON hubbub_s.{key}{plain} = hubbub_f.{key}" if theirs else ""
        sql = f"(SELECT {', '.join([*cells, *theirs])} FROM (SELECT * FROM {second}) AS hubbub_s {met}) AS hubbub_join"
        return relation_of(connection, sql)

    @contextmanager
    def _registering(self, connection: Connection, table: pa.Table) -> Iterator[None]:
        connection.register(_PARTNERS, table)
        try:
            yield
        finally:
            with suppress(*TROUBLE):
                connection.unregister(_PARTNERS)


_LOOK = "hubbub_look"
