"""Counting in DuckDB: files, frames and tables are read in place, and only the bins come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy as copied
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.engines import rows_sql
from hubbub.engines.arrow_columns import numbers as whole_numbers
from hubbub.engines.arrow_columns import stream
from hubbub.engines.cell_sql import identifier
from hubbub.engines.column import Column, column
from hubbub.engines.connection import TROUBLE, UNREADABLE, batches_of, described, rows_of
from hubbub.engines.count_sql import ROW, Query, Weight, bad_row, distinct_bins, every_row, every_row_told, one_row_each
from hubbub.engines.csv_file import MOST_REJECTS
from hubbub.engines.identity import of_files, of_relation
from hubbub.engines.joint_sql import answer_together, asked_together, unreadable
from hubbub.engines.measured_sql import answer, asked, bad_cells
from hubbub.engines.people_sql import look_at_people, look_at_rows
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.tables import condition
from hubbub.tables.bins import Countable
from hubbub.tables.engine import ONE_ROW_EACH, Choice, Counted, Joint, Question, Repeats
from hubbub.tables.identity import Identity
from hubbub.tables.measure import Measure
from hubbub.tables.schema import Schema, resolved
from hubbub.tables.schema import column as known
from hubbub.tables.sketch import Notice

_WORDS = "hubbub_words"

SEVERAL_ROWS = (
    "the table does not have exactly one row for each person; give one that has, or publish a histogram: keep one "
    "row of each, chosen secretly (`one_row_per_person=True`), or count each person once in at most B bins "
    "(`distinct=B`)"
)
"""Reads the same for every such table. It is for the steward alone: it tells something about the data."""

TOO_MANY_UNREADABLE = (
    "more rows than `unreadable` allows cannot be read as declared; see which and why with hubbub check, then say how "
    "they are written (`encoding`, `delimiter`, or money, decimal=, or date= in the bins), or allow a larger share"
)
"""Reads the same for every such table and every share. For the steward alone: it tells something about the data."""

_UNCOUNTABLE = "the table could not be counted; check that the file is whole and that memory suffices"

_T = TypeVar("_T")
Connection: TypeAlias = duckdb.DuckDBPyConnection

Mend: TypeAlias = Callable[[Sequence[str]], str]
"""From the columns in question to another relation, where what the first one fails on is missing."""

Check: TypeAlias = Callable[[Sequence[str]], bool]
"""Whether the first relation can be used for these columns at all."""


class _Failed(WrongUse):
    """DuckDB could not count."""


@dataclass(frozen=True, slots=True)
class _Relation:
    """What stands after FROM, made here only, and its columns."""

    sql: str
    columns: Mapping[str, Column]


class DuckDB:
    """A table of people that DuckDB can read, made by :func:`open_frame`, :func:`open_table` or a file."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: str,
        *,
        mend: Mend | None = None,
        spoilt: Check = lambda columns: False,
        columns_are_public: bool = True,
        files: Sequence[str] = (),
        catalog: str = "",
        allowed: Fraction = Fraction(1),
        taken_out: int | None = None,
        table: pa.Table | None = None,
        weight: Weight = ROW,
    ) -> None:
        self._connection, self._mend, self._spoilt = connection, mend, spoilt
        self._files, self._catalog = files, catalog  # where the rows are: in files, or in a database of that name
        self._allowed = allowed  # the share of rows that may be unreadable
        self._table = table  # kept as long as it is read
        self._weight = weight  # of a row: itself, or how many people it stands for
        self._taken_out = taken_out  # records that were too long for DuckDB; None if this is no CSV
        self._columns_are_public = columns_are_public
        self._notice: Notice | None = None
        self._whole = _relation(connection, relation)
        self._columns = self._whole.columns
        self._word = "hubbub_word"
        while self._word in {name.lower() for name in self._columns}:
            self._word += "_"

    def identity(self) -> Identity:
        """What the table is, whatever it is called."""
        if self._catalog:
            ask = partial(rows_of, self._connection, trouble=WrongUse(UNREADABLE))
            return of_relation(ask, self._whole.sql, self._catalog)
        return of_files(self._files)

    def noticing(self, notice: Notice) -> DuckDB:
        """The same table, which tells who is in it before it counts."""
        other = copied(self)
        other._notice = notice
        return other

    def columns(self) -> Schema:
        known = {name: column.kind for name, column in self._columns.items()}
        return Schema(known, public=self._columns_are_public)

    def count(self, question: Question, source: Source) -> Counted:
        axes = resolved(question.axes, self.columns())
        if question.person is None and question.repeats is not Repeats.REFUSE:
            raise WrongUse("without a person column each row is a person; name the column with `person`")
        if not question.plain and question.repeats is not Repeats.REFUSE:
            raise WrongUse("a condition or a measure goes with one row for each person; keep to such tables")
        used = self._used(replace(question, axes=axes))
        return self._read(used, lambda people: self._count(question, axes, source, people, used))

    def together(self, questions: tuple[Question, ...]) -> Joint:
        asked = tuple(replace(each, axes=resolved(each.axes, self.columns())) for each in questions)
        return self._read(self._used(*asked), lambda people: self._together(asked, people))

    def _together(self, questions: tuple[Question, ...], people: _Relation) -> Joint:
        person = questions[0].person
        if person is not None:
            self._one_row_each(people.columns[person], people)
        told = self._allowed < 1 and (self._taken_out is not None or unreadable(questions, people.columns) != "FALSE")
        who = None if person is None else identifier(person)
        query = asked_together(questions, people.columns, people.sql, who, told=told, weight=self._weight)
        self._forget_rejects()
        joint, bad = answer_together(self.arrow(query), len(questions), told=told)
        if told:
            self._check_readable(int(joint.counts.sum()), bad)
        return joint

    def rows(self, columns: Sequence[str], person: str | None, chosen: Choice) -> pa.Table:
        used = list(dict.fromkeys([*columns, *([] if person is None else [person])]))
        for name in used:
            known(self.columns(), name)
        return self._read(used, lambda people: self._chosen(columns, person, people, chosen))

    def _chosen(self, columns: Sequence[str], person: str | None, people: _Relation, chosen: Choice) -> pa.Table:
        if person is not None:
            self._one_row_each(people.columns[person], people)
        count, numbered = rows_sql.counted(columns, person, people.sql), rows_sql.chosen(columns, person, people.sql)
        places = chosen(int(self._ask(count)[0][0]))
        self._connection.register(rows_sql.PLACES, rows_sql.places(places))
        try:
            found = self.arrow((numbered, []))
        finally:
            with suppress(*TROUBLE):
                self._connection.unregister(rows_sql.PLACES)
        if found.num_rows != places.size:
            raise Refused(rows_sql.MOVED)
        return found.rename_columns(list(columns))

    def _used(self, *questions: Question) -> list[str]:
        """The columns that are read, or one sentence if one of them cannot be."""
        names: list[str] = []
        for question in questions:
            names += [question.person] if question.person is not None else []
            names += [axis.column for axis in question.axes]
            for rule in (question.where, question.measure):
                if isinstance(rule, Measure):
                    names.append(rule.resolved(self.columns()).column)
                elif rule is not None:
                    names += condition.resolved(rule, self.columns()).columns
        for name in names:
            known(self.columns(), name)
        return list(dict.fromkeys(names))

    def _read(self, used: Sequence[str], read: Callable[[_Relation], _T]) -> _T:
        """What is read of the table, or of a mended copy where these columns of it cannot be."""
        try:
            if not self._spoilt(used):
                return read(self._whole)
        except _Failed:
            if self._mend is None:
                raise
        return read(self._mended(used))

    def _count(
        self, question: Question, axes: tuple[Countable, ...], source: Source, people: _Relation, used: Sequence[str]
    ) -> Counted:
        if question.person is None:
            return self._rows(question, axes, people, None)
        person, who = identifier(question.person), people.columns[question.person]
        if question.repeats is Repeats.REFUSE:
            self._one_row_each(who, people, SEVERAL_ROWS if question.plain else ONE_ROW_EACH)
            return self._rows(question, axes, people, person)
        joined = f"{people.sql} POSITIONAL JOIN {_WORDS}"
        if question.repeats is Repeats.ONE_ROW:
            query = one_row_each(axes, people.columns, joined, person, self._word)
        else:
            query = distinct_bins(axes, people.columns, joined, person, self._word, question.most_bins)
        self._connection.register(_WORDS, stream(self._count_rows(axes, who, used, people), self._word, source))
        try:
            return self._collect(query)
        finally:
            with suppress(*TROUBLE):  # after an error that is fatal to DuckDB nothing can be unregistered
                self._connection.unregister(_WORDS)

    def _rows(self, question: Question, axes: tuple[Countable, ...], people: _Relation, person: str | None) -> Counted:
        """Each row is a person."""
        if question.plain:
            return self._every_row(axes, people, person)
        bad = bad_cells(question, axes, people.columns)
        told = self._allowed < 1 and (self._taken_out is not None or bad != "FALSE")
        query = asked(question, axes, people.columns, people.sql, person, told=told, weight=self._weight)
        self._forget_rejects()
        counted, rows, unreadable = answer(self.arrow(query), question, told=told)
        if told:
            self._check_readable(rows, unreadable)
        return counted

    def _every_row(self, axes: tuple[Countable, ...], people: _Relation, person: str | None) -> Counted:
        """Where every cell can be read, the plain query; else one that tells in the same pass how many cannot."""
        if self._allowed >= 1 or not axes or (self._taken_out is None and bad_row(axes, people.columns) == "FALSE"):
            return self._collect(every_row(axes, people.columns, people.sql, person, self._weight))
        self._forget_rejects()
        told = every_row_told(axes, people.columns, people.sql, person, self._weight)
        (codes, people_in, bad), found = self._fetched(told, 2)
        self._check_readable(int(people_in.sum()), int(bad.sum()))
        binned = codes >= 0
        kept = np.flatnonzero(binned).tolist()
        return Counted(codes[binned], people_in[binned], tuple([labels[i] for i in kept] for labels in found))

    # --- looking --------------------------------------------------------------------------------------------------

    @property
    def sql(self) -> str:
        """What stands after FROM."""
        return self._whole.sql

    def described(self) -> Mapping[str, Column]:
        """The columns with their types."""
        return self._columns

    def ask(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query says, all of it; for the steward alone."""
        try:
            return self._connection.execute(sql, list(parameters)).fetchall()
        except TROUBLE:
            pass
        raise WrongUse(_UNCOUNTABLE)

    @contextmanager
    def read_once(self, columns: Sequence[str]) -> Iterator[tuple[DuckDB, list[tuple[str, int]]]]:
        """The same table, of these columns, to be asked several times, and why how many records are not in it.

        A CSV is read into memory, and what does not fit there into the private folder; others are read where they are.
        """
        if self._taken_out is None:
            yield self, []
            return
        names = ", ".join(map(identifier, columns))
        self._forget_rejects()
        self.ask(f"CREATE OR REPLACE TEMP TABLE {_LOOK} AS SELECT {names} FROM {self.sql}")
        try:
            rejected = []
            with suppress(*TROUBLE):
                rejected = self._connection.execute(_REJECTED_WHY).fetchall()
            if self._taken_out:
                rejected.append(("LINE SIZE OVER MAXIMUM", self._taken_out))
            yield DuckDB(self._connection, _LOOK, columns_are_public=self._columns_are_public), rejected
        finally:
            self.ask(f"DROP TABLE {_LOOK}")

    # --- asking ---------------------------------------------------------------------------------------------------

    def _mended(self, used: Sequence[str]) -> _Relation:
        assert self._mend is not None
        try:
            return _relation(self._connection, self._mend(used))
        except (*TROUBLE, pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            pass
        raise WrongUse(_UNCOUNTABLE)

    def _one_row_each(self, who: Column, people: _Relation, several: str = ONE_ROW_EACH) -> None:
        if self._notice is None:
            person = identifier(who.name)
            groups = f"SELECT {person} AS who, count(*) AS n FROM {people.sql} GROUP BY {person}"
            asked = f"SELECT coalesce(bool_or(n > 1 OR who IS NULL), FALSE) FROM ({groups})"
            found, chosen = self._ask(asked)[0][0], None
        else:
            found, chosen = look_at_people(self._ask, who, people.sql, self._notice)
        if found:
            raise Refused(several)
        if self._notice and chosen:
            self._notice.tell(chosen)

    def _collect(self, query: Query) -> Counted:
        (codes, counts), found = self._fetched(query, 1)
        return Counted(codes, counts, found)

    def _fetched(self, query: Query, numbers: int) -> tuple[list[NDArray[np.int64]], tuple[list[str | None], ...]]:
        """The code and the last so many columns as numbers, and the labels in between."""
        schema, batches = batches_of(self._connection, *query, _Failed(_UNCOUNTABLE))
        places = (0, *range(len(schema) - numbers, len(schema)))
        parts: tuple[list[pa.Array], ...] = tuple([] for _ in places)
        found: tuple[list[str | None], ...] = tuple([] for _ in range(1, len(schema) - numbers))
        for batch in batches:
            for part, place in zip(parts, places, strict=True):
                part.append(batch.column(place))
            for i, labels in enumerate(found, 1):
                labels += batch.column(i).to_pylist()
        kinds = [schema.field(i).type for i in places]
        return [whole_numbers(pa.chunked_array(part, kind)) for part, kind in zip(parts, kinds, strict=True)], found

    def arrow(self, query: Query) -> pa.Table:
        """What a query says, once: a relation keeps no result."""
        schema, batches = batches_of(self._connection, *query, _Failed(_UNCOUNTABLE))
        return pa.Table.from_batches(list(batches), schema)

    def _count_rows(self, axes: tuple[Countable, ...], who: Column, used: Sequence[str], people: _Relation) -> int:
        """In one reading: how many there are, whether they can be read, and who is in the table."""
        bad = bad_row(axes, people.columns)
        self._forget_rejects()
        if self._notice is None:
            # A line of a CSV may be left out for a cell that is read, so the same cells are read here.
            cells = ", ".join(f"count({identifier(name)})" for name in used)
            asked = f"SELECT count(*), count(*) FILTER (WHERE {bad}), {cells} FROM {people.sql}"
            rows, unreadable, *_ = self._ask(asked)[0]
            self._check_readable(int(rows), int(unreadable))
            return int(rows)
        rows, unreadable, chosen = look_at_rows(self._ask, who, used, bad, people.sql, self._notice)
        self._check_readable(rows, unreadable)
        self._notice.tell(chosen)
        return rows

    def _ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return rows_of(self._connection, sql, _Failed(_UNCOUNTABLE), values)

    def _check_readable(self, rows: int, unreadable: int) -> None:
        """Refuse if too many rows cannot be read. One alone never is: nobody stops a release by a row of their own."""
        lost = self._left_out()
        bad = unreadable + lost
        if self._allowed < 1 and bad > 1 and (bad > self._allowed * (rows + lost) or lost >= MOST_REJECTS):
            raise Refused(TOO_MANY_UNREADABLE)

    def _left_out(self) -> int:
        """Records of a CSV that the last reading left out."""
        if self._taken_out is None:
            return 0
        try:
            found = self._connection.execute(_REJECTED).fetchall()
        except TROUBLE:  # there is no such table before the first reading
            return self._taken_out
        listed, lines = found[0]
        return self._taken_out + (MOST_REJECTS if listed >= MOST_REJECTS else lines)

    def _forget_rejects(self) -> None:
        if self._taken_out is not None:
            with suppress(*TROUBLE):
                self._connection.execute("DELETE FROM reject_errors")


_LOOK = "hubbub_look"
_REJECTED_WHY = (
    "SELECT CAST(error_type AS VARCHAR), count(DISTINCT (scan_id, file_id, line)) FROM reject_errors "
    "GROUP BY 1 ORDER BY 2 DESC"
)
_REJECTED = "SELECT count(*), count(DISTINCT (scan_id, file_id, line)) FROM reject_errors"


def _relation(connection: duckdb.DuckDBPyConnection, sql: str) -> _Relation:
    return _Relation(sql, {name: column(name, kind) for name, kind in described(connection, sql)})


# --- opening ------------------------------------------------------------------------------------------------------


def locked(connection: duckdb.DuckDBPyConnection, paths: list[str], relation: str, **words: Any) -> DuckDB:
    """The table, by a connection that from now on reads these files and no other."""
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return DuckDB(connection, relation, **words)
