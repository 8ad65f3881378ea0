"""A join of two tables of one database (:mod:`hubbub.engines.join`), made by the database itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from hubbub.engines.join import ELSEWHERE, KEYS, JoinedColumns, both, joined_columns, partners_query
from hubbub.engines.sql.database import Database, SqlQuery
from hubbub.engines.sql.dialect import Field
from hubbub.engines.sql.queries import part, several
from hubbub.errors import Refused, WrongUse
from hubbub.tables.identity import Identity
from hubbub.tables.inspection import Partners
from hubbub.tables.schema import Schema


class Joined(Database):
    """Rows of the second table with the columns of their person's row of the first, asked by the second's connection.

    Guarantee: as :mod:`hubbub.engines.join` has it: whatever is asked is asked inside a snapshot, and one begins with
    the refusal of a first table in which somebody has several rows, or a row nobody.
    """

    def __init__(self, first: Database, second: Database, on: str) -> None:
        here, there = ({each.digest for each in one.identity().parts} for one in (first, second))
        if type(first) is not type(second) or here.isdisjoint(there):
            raise WrongUse(ELSEWHERE)
        self._first, self._second, self._on, self.dialect = first, second, on, second.dialect
        names = columns_of(first, second, on)
        self.fields = fields_of(names, first, second)
        name = self.dialect.name
        cells = [f"hubbub_f.{name(own)} AS {name(new)}" for new, own in names.first.items()]
        cells += [f"hubbub_s.{name(own)} AS {name(new)}" for new, own in names.second.items()]
        tables = (
            f"(SELECT t.*, {key} AS hubbub_id FROM (SELECT * FROM {each.people}) AS t) AS hubbub_{which}"
            for each, key, which in ((second, self._key(second), "s"), (first, self._key(first), "f"))
        )
        joined = " LEFT JOIN ".join(tables) + " ON hubbub_s.hubbub_id = hubbub_f.hubbub_id"
        self.people = f"(SELECT {', '.join(cells)} FROM {joined}) AS hubbub_people"

    def partners(self) -> Partners:
        """How the two tables meet; for the steward alone."""
        first, second = (f"SELECT {self._key(each)} AS who FROM {each.people}" for each in (self._first, self._second))
        with self._second.snapshot():
            return partners_of(self._second, both(first, second), self._on)

    def _key(self, table: Database) -> str:
        field = next(each for each in table.fields if each.name == self._on)
        return part(self.dialect, field).sql

    def table(self, query: SqlQuery) -> pa.Table:
        return self._second.table(query)

    def stream(self, query: SqlQuery) -> Iterator[pa.RecordBatch]:
        return self._second.stream(query)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._second.snapshot():
            check_keys(self._second, self._first, self._on)
            yield

    def identity(self) -> Identity:
        """What both tables are: a release of the join is one of each."""
        return self._first.identity().join(self._second.identity())


def columns_of(first: Database, second: Database, on: str) -> JoinedColumns:
    """The columns of a join, or one sentence."""
    return joined_columns(on, *(Schema({each.name: each.kind for each in one.fields}) for one in (first, second)))


def fields_of(names: JoinedColumns, first: Database, second: Database) -> tuple[Field, ...]:
    """The columns of a join as the database describes them, by the order of their names."""
    own, theirs = ({each.name: each for each in one.fields} for one in (first, second))
    return (
        *(replace(own[name], name=new) for new, name in names.first.items()),
        *(replace(theirs[name], name=new) for new, name in names.second.items()),
    )


def check_keys(reader: Database, first: Database, on: str) -> None:
    """Refuse if somebody has several rows in the first table, or a row there nobody; `reader` can read it."""
    who = part(first.dialect, next(each for each in first.fields if each.name == on))
    if reader.fetch_numbers(several(who, first.people)) != [0]:
        raise Refused(KEYS)


def partners_of(database: Database, rows: str, on: str) -> Partners:
    """How the rows of two tables meet (:func:`hubbub.engines.join.both`)."""
    return Partners(on, *database.fetch_numbers(partners_query(rows), [f"p{i}" for i in range(6)]))
