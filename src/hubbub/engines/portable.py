"""Counting where the rows are: one set of queries for every database that has a :class:`Dialect`.

Exact counts of groups leave the database and nothing else, but for the ids of people where the ledger is told who is in
a table: those pass through this process, and the few that it chooses are kept as a keyed hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy as copied
from fractions import Fraction
from typing import Protocol

import numpy as np
import pyarrow as pa

from hubbub.engines import groups, portable_sql
from hubbub.engines.arrow_columns import numbers
from hubbub.engines.dialect import Dialect, Field, Form, Part
from hubbub.engines.duckdb import SEVERAL_ROWS
from hubbub.engines.people import told
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps
from hubbub.tables.engine import Counted, Question, Repeats
from hubbub.tables.identity import Identity
from hubbub.tables.reading import BOOLEAN
from hubbub.tables.schema import Holds, Schema, resolved
from hubbub.tables.schema import column as known
from hubbub.tables.sketch import Notice

UNCOUNTABLE = (
    "the database could not count the table; check that it can be reached, that you may read the table, and that its "
    "memory and temporary room suffice"
)


class Database(Protocol):
    """A table in a database that can be asked."""

    dialect: Dialect
    people: str  # what stands after FROM
    fields: tuple[Field, ...]

    def fetch(
        self,
        sql: str,
        forms: Mapping[str, Form],
        *,
        key: str | None = None,
        words: Mapping[int, pa.Table] | None = None,
    ) -> pa.Table:
        """The answer, its columns in these forms; `key` and `words` are the relations that the query speaks of."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is asked inside sees the same rows, where the database can do that."""
        ...

    def identity(self) -> Identity: ...


class Portable:
    """A table of people in a database."""

    def __init__(self, database: Database, *, unreadable: Fraction = Fraction(1)) -> None:
        self._database, self._allowed = database, unreadable
        self._fields = {field.name: field for field in database.fields}
        self._notice: Notice | None = None

    def columns(self) -> Schema:
        return Schema({name: field.kind for name, field in self._fields.items()})

    def identity(self) -> Identity:
        """What the table is, whatever it is called."""
        return self._database.identity()

    def noticing(self, notice: Notice) -> Portable:
        """The same table, which tells who is in it before it counts."""
        other = copied(self)
        other._notice = notice
        return other

    def count(self, question: Question, source: Source) -> Counted:
        axes = resolved(question.axes, self.columns())
        if question.person is None and question.repeats is not Repeats.REFUSE:
            raise WrongUse("without a person column each row is a person; name the column with `person`")
        if question.person is not None:
            known(self.columns(), question.person)
        with self._database.snapshot():
            return self._count(question, axes, source)

    def _count(self, question: Question, axes: tuple[Axis, ...], source: Source) -> Counted:
        parts = [self._part(axis) for axis in axes]
        if question.person is None:
            return self._every_row(axes, parts, source)
        who = portable_sql.part(self._dialect, self._fields[question.person])
        if question.repeats is Repeats.REFUSE:
            self._one_row_each(who)
            return self._every_row(axes, parts, source)
        self._readable(axes, source)
        if self._notice is not None:
            ids = self._fetch(portable_sql.people_of(who, self._people), {"who": who.form, "n": Form.WHOLE})
            told(ids, who, self._notice)
        if question.repeats is Repeats.ONE_ROW:
            sql = portable_sql.one_row_each(self._dialect, parts, who, self._people)
            return self._groups(sql, axes, parts, source, key=_drawn(source))
        return self._distinct(axes, parts, who, question.most_bins, source)

    @property
    def _dialect(self) -> Dialect:
        return self._database.dialect

    @property
    def _people(self) -> str:
        return self._database.people

    def _part(self, axis: Axis) -> Part:
        return portable_sql.part(self._dialect, self._fields[axis.column], axis)

    def _fetch(self, sql: str, forms: Mapping[str, Form]) -> pa.Table:
        return self._database.fetch(sql, forms)

    def _every_row(self, axes: Sequence[Axis], parts: Sequence[Part], source: Source) -> Counted:
        if not axes:
            total = numbers(self._fetch(portable_sql.groups((), self._people), {"n": Form.WHOLE}).column("n"))
            return Counted(np.zeros(int(total[0] > 0), np.int64), total[total > 0])
        return self._groups(portable_sql.groups(parts, self._people), axes, parts, source, unreadable=self._allowed)

    def _groups(
        self,
        sql: str,
        axes: Sequence[Axis],
        parts: Sequence[Part],
        source: Source,
        *,
        key: str | None = None,
        unreadable: Fraction = Fraction(1),
    ) -> Counted:
        forms = {f"g{i}": part.form for i, part in enumerate(parts)} | {"n": Form.WHOLE}
        table = self._database.fetch(sql, forms, key=key)
        ready = [portable_sql.in_database(self._fields[axis.column], axis) for axis in axes]
        return groups.counted(table, axes, parts, ready, source, unreadable)

    def _distinct(self, axes: Sequence[Axis], parts: Sequence[Part], who: Part, most: int, source: Source) -> Counted:
        """The bins of what is told apart by its values are worked out here, and handed to the database."""
        words = {
            i: groups.words(
                self._fetch(portable_sql.values(parts, self._people, i), {f"g{i}": part.form}), axis, part, i
            )
            for i, (axis, part) in enumerate(zip(axes, parts, strict=True))
            if not portable_sql.in_database(self._fields[axis.column], axis)
        }
        ids = [Form.TEXT if isinstance(axis, Discovered) else Form.WHOLE for axis in axes]
        relations = {i: self._dialect.dictionary(i, parts[i].form, ids[i]) for i in words}
        sql = portable_sql.distinct_bins(self._dialect, axes, parts, relations, who, self._people, most)
        forms = {f"b{i}": form for i, form in enumerate(ids)} | {"n": Form.WHOLE}
        table = self._database.fetch(sql, forms, key=_drawn(source), words=words)
        table = table.rename_columns([f"g{i}" for i in range(len(axes))] + ["n"])
        labels = [Discovered(axis.column) if isinstance(axis, Discovered) else axis for axis in axes]
        texts = [Part("", form, pa.string() if form is Form.TEXT else pa.int64()) for form in ids]
        return groups.counted(table, labels, texts, [form is Form.WHOLE for form in ids], source)

    def _readable(self, axes: Sequence[Axis], source: Source) -> None:
        """Refuse if too many rows cannot be read as declared, before anything is chosen."""
        doubtful = [axis for axis in axes if _may_be_unreadable(axis, self._fields[axis.column].kind)]
        if doubtful and self._allowed < 1:
            self._every_row(doubtful, [self._part(axis) for axis in doubtful], source)

    def _one_row_each(self, who: Part) -> None:
        if self._notice is None:
            found = bool(
                numbers(self._fetch(portable_sql.several(who, self._people), {"n": Form.WHOLE}).column("n"))[0]
            )
        else:
            ids = self._fetch(portable_sql.people_of(who, self._people), {"who": who.form, "n": Form.WHOLE})
            found = bool((numbers(ids.column("n")) > 1).any()) or ids.column("who").null_count > 0
        if found:
            raise Refused(SEVERAL_ROWS)
        if self._notice is not None:
            told(ids, who, self._notice)


def _drawn(source: Source) -> str:
    """A key of 256 bits, for one query."""
    return source.words(4).tobytes().hex()


def _may_be_unreadable(axis: Axis, kind: Holds) -> bool:
    if axis.reads == BOOLEAN:
        return True
    dated = isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit is not None)
    return kind is Holds.TEXT and (dated or isinstance(axis, Edges | Steps))
