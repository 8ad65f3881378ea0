"""Counting in DuckDB: files, frames and tables are read in place, and only the bins come back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy as copied
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Self, TypeAlias, TypeVar

import duckdb
import pyarrow as pa

from hubbub.engines.arrow_columns import stream
from hubbub.engines.column import Column
from hubbub.engines.duckdb import count_sql
from hubbub.engines.duckdb.connection import TROUBLE, UNREADABLE, Relation, batches_of, lock, relation_of, rows_of
from hubbub.engines.duckdb.count_sql import KEPT, ROW, Query, Weight
from hubbub.engines.duckdb.expressions import holds, identifier, is_spelled_sql
from hubbub.engines.duckdb.joint_sql import (
    WORDS,
    bounded_rows,
    each_row_query,
    joint_answer,
    joint_query,
    query_of_chosen,
    rows_answer,
    unreadable,
    with_words,
)
from hubbub.engines.duckdb.measured_sql import (
    answer,
    are_very_many,
    bad_cells,
    cell_columns,
    measured_query,
    near_sql,
    outside_query,
)
from hubbub.engines.duckdb.people_sql import are_several, check_one_row_each, distinct_people, lowest_rows
from hubbub.engines.duckdb.repeated_ids import IdReader, are_many
from hubbub.engines.duckdb.unreadable import UnreadableRows
from hubbub.engines.identity import of_files, of_relation
from hubbub.engines.join import KEYS
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source, choosing
from hubbub.runtime.interruption import stop_if_interrupted
from hubbub.tables.bins import Countable
from hubbub.tables.cell_format import Missing
from hubbub.tables.engine import (
    NO_ID,
    ONE_ROW_EACH,
    ONE_ROW_OF_SEVERAL,
    OTHER_NUMBER,
    SEVERAL_ROWS,
    Choice,
    CountQuery,
    ExactCounts,
    Joint,
    MultiRowPolicy,
    of_any_row,
    rows_of_one,
)
from hubbub.tables.identity import Chosen, Identity, IdObserver
from hubbub.tables.kept_rows import KeptRows
from hubbub.tables.schema import ColumnType, Schema
from hubbub.tables.schema import column as known
from hubbub.tables.unlisted import EVERYBODY_MAY_BE, AllowedOutside, Outside

_LARGE = 1 << 25  # bytes of files

_UNCOUNTABLE = "the table could not be counted; check that the file is whole and that memory suffices"

_T = TypeVar("_T")
Connection: TypeAlias = duckdb.DuckDBPyConnection

Repair: TypeAlias = Callable[[Sequence[str]], str]
"""From the columns in question to another relation, where what the first one fails on is missing."""

Check: TypeAlias = Callable[[Sequence[str]], bool]
"""Whether the first relation can be used for these columns at all."""


class _Failed(WrongUse):
    """The error of a query that DuckDB could not run."""


class DuckDB:
    """A table of people that DuckDB can read, made by :func:`open_frame`, :func:`open_table` or a file."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: str,
        *,
        repair: Repair | None = None,
        spoilt: Check = lambda columns: False,
        columns_are_public: bool = True,
        files: Sequence[str] = (),
        catalog: str = "",
        allowed: Fraction = Fraction(1),
        taken_out: int | None = None,
        mark: str = ",",
        table: pa.Table | None = None,
        weight: Weight = ROW,
        doubting: Callable[[], duckdb.DuckDBPyConnection] | None = None,
    ) -> None:
        self._doubting = doubting  # a connection that believes nothing a file says of its numbers, for sums of them
        self._is_doubted = False  # whether this is by such a connection
        self._connection, self._repair, self._spoilt = connection, repair, spoilt
        self._files, self._catalog = files, catalog  # where the rows are: in files, or in a database of that name
        self._table = table  # kept as long as it is read
        self._near: dict[str, bool] = {}  # whether values are near their bins, by the query that asks
        self._weight = weight  # of a row: itself, or how many people it stands for
        self._columns_are_public = columns_are_public
        self._observer: IdObserver | None = None
        self._allowed = EVERYBODY_MAY_BE
        self._given, self._missing = relation, Missing()
        self._full_relation = relation_of(connection, relation)
        self._columns = self._full_relation.columns
        self._unreadable = UnreadableRows(connection, allowed, taken_out, mark, tuple(self._columns))
        self._word = "hubbub_word"
        while self._word in {name.lower() for name in self._columns}:
            self._word += "_"

    def identity(self) -> Identity:
        """The identity of the table, which does not depend on its name."""
        missing = tuple(self._missing.to_json())
        if self._catalog:
            query = partial(rows_of, self._connection, trouble=WrongUse(UNREADABLE))
            return replace(of_relation(query, self._given, self._catalog), missing=missing)
        return replace(of_files(self._files), missing=missing)

    def with_missing(self, missing: Missing) -> Self:
        """The same table, where cells that are spelled so are missing."""
        other = copied(self)
        other._missing = missing
        other._full_relation = other._with_missing_cells(self._full_relation)
        return other

    def _with_missing_cells(self, people: Relation) -> Relation:
        """The relation, with NULL in the place of cells that are spelled as missing."""
        tests = {name: is_spelled_sql(each, self._missing.of_column(name)) for name, each in people.columns.items()}
        cells = ", ".join(
            f"CASE WHEN {test} THEN NULL ELSE {identifier(name)} END AS {identifier(name)}"
            for name, test in tests.items()
            if test is not None
        )
        return (
            replace(people, sql=f"(SELECT * REPLACE ({cells}) FROM {people.sql}) AS hubbub_read") if cells else people
        )

    def allowing(self, allowed: AllowedOutside) -> Self:
        """The same table, of which a larger share of people in no bin, or outside of a range, is refused."""
        other = copied(self)
        other._allowed = allowed
        return other

    def observing_ids(self, observer: IdObserver) -> Self:
        """The same table, which reports ids to the observer before it counts."""
        other = copied(self)
        other._observer = observer
        return other

    def columns(self) -> Schema:
        known = {name: column.kind for name, column in self._columns.items()}
        return Schema(known, public=self._columns_are_public)

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        return self._ask((question,), partial(DuckDB._count, source=source), doubts=question.measure is not None)

    def joint_count(self, questions: tuple[CountQuery, ...], source: Source) -> Joint:
        return self._ask(questions, partial(DuckDB._joint_count, source=source))

    def kept_rows(self, questions: tuple[CountQuery, ...], source: Source, people: int | None = None) -> KeptRows:
        return self._ask(questions, partial(DuckDB._kept_rows, source=source, declared=people))

    def outside(self, question: CountQuery) -> Outside:
        return self._ask(
            (question,), lambda engine, bound, people, used: engine._outside(bound[0], people), doubts=False
        )

    def _ask(
        self,
        questions: tuple[CountQuery, ...],
        ask: Callable[[DuckDB, tuple[CountQuery, ...], Relation, Sequence[str]], _T],
        *,
        doubts: bool = True,
    ) -> _T:
        """What is said of the columns that these questions read, where it matters by a connection that believes nothing a
        file says of its numbers."""
        if doubts and self._doubting is not None:
            return self._doubtful(self._doubting())._ask(questions, ask)
        bound = tuple(question.bind(self.columns()) for question in questions)
        people = [each.person for each in bound if each.person is not None]
        used = list(dict.fromkeys([*people, *(name for each in bound for name in each.columns)]))
        return self.read(used, lambda relation: ask(self, bound, relation, used))

    def _kept_rows(
        self,
        questions: tuple[CountQuery, ...],
        people: Relation,
        used: Sequence[str],
        *,
        source: Source,
        declared: int | None,
    ) -> KeptRows:
        """Rows of each person are chosen, and then looked at by every question."""
        name, most = rows_of_one(questions)
        query = each_row_query(questions, people.columns, KEPT, identifier(name), self._word)
        kept = bounded_rows(used, with_words(people.sql), identifier(name), self._word, most, with_words=True)
        rows = self._check_rows(questions, people, used, declared)
        return rows_answer(self._by_words(count_sql.with_kept(kept, query), rows, source), len(questions))

    def _doubtful(self, connection: duckdb.DuckDBPyConnection) -> DuckDB:
        """The same table by another connection: here a wrong footer makes a wrong count, there a sum without bounds."""
        other = copied(self)
        other._connection, other._doubting, other._is_doubted = connection, None, True
        other._unreadable = replace(self._unreadable, connection=connection)
        return other

    def _joint_count(
        self, questions: tuple[CountQuery, ...], people: Relation, used: Sequence[str], *, source: Source
    ) -> Joint:
        person = questions[0].person
        if person is not None and questions[0].repeats is MultiRowPolicy.ONE_ROW:
            query = joint_query(questions, people.columns, KEPT, None, reports_unreadable=False)
            kept = count_sql.kept_rows(used, with_words(people.sql), identifier(person), self._word)
            rows = self._check_rows(questions, people, used, questions[0].people)
            return joint_answer(self._by_words(count_sql.with_kept(kept, query), rows, source), questions)[0]
        if person is not None:
            self._observe_each(people.columns[person], people, ONE_ROW_OF_SEVERAL, questions[0].repeats)
        reports_unreadable = self._unreadable.is_counted(unreadable(questions, people.columns))
        who = None if person is None else self._to_read_again(person, questions[0].repeats)
        query = joint_query(
            questions, people.columns, people.sql, who, reports_unreadable=reports_unreadable, weight=self._weight
        )
        self._unreadable.forget()
        joint, bad = joint_answer(self.arrow(query), questions, reports_unreadable=reports_unreadable)
        if reports_unreadable:
            self._unreadable.check(int(joint.counts.sum()), bad, person)
        for question, outside in zip(questions, joint.outside, strict=True):
            self._allowed.check(question, outside, partial(self._outside, people=people))
        return joint

    def _outside(self, question: CountQuery, people: Relation) -> Outside:
        who = None if question.is_one_row_each else identifier(question.person or "")
        sql, values = outside_query(question, people.columns, people.sql, who)
        everybody, unlisted, clamped = map(int, self._query(sql, *values)[0])
        return Outside(people=everybody, unlisted=unlisted, clamped=clamped)

    def _check_outside(self, questions: Sequence[CountQuery], people: Relation) -> None:
        """Refuse people in no bin or outside of a range where a person has several rows, before any are chosen. Those of
        each person are looked at only where two rows or more are outside."""
        for question in questions:
            if self._allowed.asks(question):
                rows = replace(question, person=None, repeats=MultiRowPolicy.REFUSE, bounds=None, bands=())
                again = partial(self._outside, people=people)
                self._allowed.check(question, again(rows), again, person=True)

    def rows(self, columns: Sequence[str], person: str | None, chosen: Choice) -> pa.Table:
        used = list(dict.fromkeys([*columns, *([] if person is None else [person])]))
        for name in used:
            known(self.columns(), name)
        return self.read(used, lambda people: self._fetch_rows(columns, person, people, chosen))

    def _fetch_rows(self, columns: Sequence[str], person: str | None, people: Relation, chosen: Choice) -> pa.Table:
        if person is not None:
            self._one_row_each(people.columns[person], people)
        count, numbered = (
            count_sql.count_rows_sql(columns, person, people.sql),
            count_sql.chosen_rows_sql(columns, person, people.sql),
        )
        positions = chosen(int(self._query(count)[0][0]))
        self._connection.register(count_sql.POSITIONS, count_sql.positions_table(positions))
        try:
            found = self.arrow((numbered, []))
        finally:
            with suppress(*TROUBLE):
                self._connection.unregister(count_sql.POSITIONS)
        if found.num_rows != positions.size:
            raise Refused(count_sql.MOVED)
        return found.rename_columns(list(columns))

    def read(self, used: Sequence[str], read: Callable[[Relation], _T]) -> _T:
        """What is read of the table, or of a mended copy where these columns of it cannot be."""
        try:
            if not self._spoilt(used):
                return read(self._full_relation)
        except _Failed:
            if self._repair is None:
                raise
        return read(self._repair_relation(used))

    def _count(
        self, questions: tuple[CountQuery, ...], people: Relation, used: Sequence[str], *, source: Source
    ) -> ExactCounts:
        (question,) = questions
        if question.person is None:
            return self._rows(question, people, None)
        who = people.columns[question.person]
        if question.is_one_row_each:
            several = SEVERAL_ROWS if question.plain else ONE_ROW_OF_SEVERAL
            self._observe_each(who, people, several, question.repeats)
            return self._rows(question, people, self._to_read_again(question.person, question.repeats))
        if question.repeats is MultiRowPolicy.ANY_ROW:  # without bins or a range that somebody could be outside of
            self._count_rows(bad_cells(question, question.axes, people.columns), who, used, people)
            test = holds(question.rule, people.columns)
            many, met = self._query(count_sql.any_row(test, people.sql, identifier(question.person)))[0]
            return of_any_row(question, int(many), int(met))
        query, chooses = query_of_chosen(question, people.columns, people.sql, used, self._word)
        rows = self._check_rows(questions, people, used, question.people)
        return answer(self._by_words(query, rows, source) if chooses else self.arrow(query), question)[0]

    def _check_rows(
        self, questions: Sequence[CountQuery], people: Relation, used: Sequence[str], declared: int | None
    ) -> int:
        """How many rows there are, before any is chosen; a refusal if too many cannot be read, or too many people are in
        no bin or outside of a range, or if they are others in number than was declared."""
        person = questions[0].person or ""
        rows = self._count_rows(unreadable(questions, people.columns), people.columns[person], used, people)
        for question in questions:
            if self._allowed.asks(question):  # those of each person are looked at only where two rows are outside
                each = replace(question, person=None, repeats=MultiRowPolicy.REFUSE, bounds=None, bands=(), people=None)
                again = partial(self._outside, people=people)
                self._allowed.check(question, again(each), again, person=True)
        if declared is not None:
            cells = ", ".join(f"count({identifier(name)})" for name in used)  # as where rows are counted
            number = f"SELECT count(DISTINCT {identifier(person)}), {cells} FROM {people.sql}"
            if self._query(number)[0][0] != declared:
                raise Refused(OTHER_NUMBER)
        return rows

    def _by_words(self, query: Query, rows: int, source: Source) -> pa.Table:
        """What a query says of a reading in which each row has a secret word."""
        self._connection.register(WORDS, stream(rows, self._word, choosing(source)))
        try:
            return self.arrow(query)
        finally:
            with suppress(*TROUBLE):  # after an error that is fatal to DuckDB nothing can be unregistered
                self._connection.unregister(WORDS)

    def _to_read_again(self, person: str, repeats: MultiRowPolicy) -> str | None:
        """The person column, where another reading may leave out other rows than the one in which everybody had an id:
        a record of a CSV goes for a cell that is read."""
        is_checked = repeats is MultiRowPolicy.REFUSE and self._unreadable.taken_out is not None
        return identifier(person) if is_checked else None

    def _rows(self, question: CountQuery, people: Relation, person: str | None) -> ExactCounts:
        """Each row is a person. Where only bins are asked for, every cell can be read, and how many rows there are stands
        in the file or is of no use, the plain query; else one that tells in the same pass how many cannot, and who is
        outside."""
        axes, looks = question.axes, bool(question.axes) or not question.plain
        reports_outside = looks and self._reports_outside(question)
        reports_unreadable = looks and self._unreadable.is_counted(bad_cells(question, axes, people.columns))
        outside_again = partial(self._outside, people=people)
        in_footer = self._files and self._unreadable.taken_out is None and self._weight is ROW
        if question.plain and not reports_unreadable and (in_footer or not reports_outside):
            query = count_sql.every_row(axes, people.columns, people.sql, person, self._weight)
            counted, inside, _ = answer(self.arrow(query), question)
            if reports_outside:
                rows = int(self._query(f"SELECT count(*) FROM {people.sql}")[0][0])
                self._allowed.check(question, Outside(people=rows, unlisted=rows - inside), outside_again)
            return counted
        reports = {"reports_unreadable": reports_unreadable, "reports_outside": reports_outside}
        sql_of = partial(
            measured_query,
            question,
            axes,
            people.columns,
            people.sql,
            person,
            **reports,
            weight=self._weight,
            doubted=self._is_doubted,
            by_cell=self._are_near_bins(axes, people),
        )
        self._unreadable.forget()
        from_groups = self._weight is not ROW  # groups of a database are read once, and are few
        counted, rows, bad = answer(self.arrow(sql_of(very_many=from_groups)), question, **reports)
        if reports_unreadable:
            self._unreadable.check(rows, bad, question.person)
        if counted.outside is not None:
            self._allowed.check(question, counted.outside, outside_again)
        if not from_groups and are_very_many(question, rows):
            counted, _, _ = answer(self.arrow(sql_of(very_many=True)), question, **reports)
        return counted

    def _reports_outside(self, question: CountQuery) -> bool:
        """Whether a reading has to tell who is outside: for a check here, or, of groups, by whoever made them."""
        return self._allowed.asks(question) or self._weight is not ROW

    def _are_near_bins(self, axes: tuple[Countable, ...], people: Relation) -> bool:
        """Whether large files say that their values are in bins or near them. The same query is then answered faster."""
        if not self._is_doubted or not self._are_large or cell_columns(axes, people.columns) is None:
            return False
        sql = near_sql(axes, people.columns, self._files)
        if sql not in self._near:
            self._near[sql] = False  # also where a file cannot be asked, as one with texts in its footer that are none
            with suppress(_Failed):
                self._near[sql] = bool(self._query(sql)[0][0])
        return self._near[sql]

    # --- as the first table of a join -----------------------------------------------------------------------------

    def one_row_each(self, columns: Sequence[str], person: str) -> pa.Table:
        """These columns of every row, or a refusal if somebody has several rows, a row nobody, or too many records
        cannot be read."""

        def read_checked(people: Relation) -> pa.Table:
            self._unreadable.forget()
            names = ", ".join(map(identifier, columns))
            found = self.arrow((f"SELECT {names} FROM {people.sql}", []))
            self._unreadable.check(found.num_rows, 0, person)
            if self._find_repeated(people.columns[person], people, None)[0]:
                raise Refused(KEYS)
            return found

        return self.read(columns, read_checked)

    def every_row(self, column: str) -> pa.Table:
        """All values of a column, for the steward alone."""
        return self.read([column], lambda people: self.arrow((f"SELECT {identifier(column)} FROM {people.sql}", [])))

    @property
    def _are_large(self) -> bool:
        """Whether a look at what files say of themselves costs little beside all rows."""
        return sum(os.path.getsize(path) for path in self._files if os.path.exists(path)) >= _LARGE

    @property
    def connection(self) -> Connection:
        return self._connection

    # --- looking --------------------------------------------------------------------------------------------------

    @property
    def sql(self) -> str:
        """The relation as SQL."""
        return self._full_relation.sql

    def column_types(self) -> Mapping[str, Column]:
        """The names and types of the columns."""
        return self._columns

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, for the steward alone."""
        try:
            return self._connection.execute(sql, list(parameters)).fetchall()
        except TROUBLE:
            stop_if_interrupted()
        raise WrongUse(_UNCOUNTABLE)

    @contextmanager
    def read_once(self, columns: Sequence[str]) -> Iterator[tuple[DuckDB, list[tuple[str, int]]]]:
        """The same table, of these columns, to be asked several times, and why how many records are not in it.

        A CSV is read into memory, and what does not fit there into the private folder; others are read where they are.
        """
        if self._unreadable.taken_out is None:
            here = copied(self)
            here._unreadable, here._observer = replace(self._unreadable, allowed=Fraction(1)), None
            here._allowed = EVERYBODY_MAY_BE
            yield here, []
            return
        names = ", ".join(map(identifier, columns))
        self._unreadable.forget()
        self.query(f"CREATE OR REPLACE TEMP TABLE {_INSPECTED} AS SELECT {names} FROM {self.sql}")
        try:
            rejected = self._unreadable.why()
            yield DuckDB(self._connection, _INSPECTED, columns_are_public=self._columns_are_public), rejected
        finally:
            self.query(f"DROP TABLE {_INSPECTED}")

    # --- asking ---------------------------------------------------------------------------------------------------

    def _repair_relation(self, used: Sequence[str]) -> Relation:
        assert self._repair is not None
        try:
            return self._with_missing_cells(relation_of(self._connection, self._repair(used)))
        except (*TROUBLE, pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            pass
        raise WrongUse(_UNCOUNTABLE)

    def _observe_each(self, who: Column, people: Relation, several: str, repeats: MultiRowPolicy) -> None:
        """Tell who is in the table, of which each row is a person; a refusal if that is not so and nobody declared it."""
        if repeats is MultiRowPolicy.REFUSE:
            self._one_row_each(who, people, several)
        elif self._observer is not None:
            self._observer.on_chosen(lowest_rows(self._query, who, people.sql, self._observer))

    def _one_row_each(self, who: Column, people: Relation, several: str = ONE_ROW_EACH) -> None:
        found, chosen = self._find_repeated(who, people, self._observer)
        if found:
            raise Refused(NO_ID if found > 1 else several)
        if self._observer and chosen:
            self._observer.on_chosen(chosen)

    def _find_repeated(self, who: Column, people: Relation, observer: IdObserver | None) -> tuple[int, Chosen | None]:
        """2 if a row has no id, else 1 if somebody has several rows, else 0; and who is there, if anybody asks."""
        if self._is_key(who):
            nobodys = self._query(f"SELECT count(*) FROM {people.sql} WHERE {identifier(who.name)} IS NULL")[0][0]
            if nobodys or observer is None:
                return 2 if nobodys else 0, None
            return 0, lowest_rows(self._query, who, people.sql, observer)
        # A text of a database may have a collation, by which unlike texts are one; its hash knows nothing of that.
        collated = self._catalog and who.kind is ColumnType.TEXT
        if not collated and are_many(self._query, who, people.sql):
            return IdReader(self._connection, _Failed(_UNCOUNTABLE), who, people.sql, observer).find_repeated()
        if observer is None:
            return are_several(self._query, who, people.sql), None
        return distinct_people(self._query, who, people.sql, observer)

    def _is_key(self, who: Column) -> bool:
        """Whether the database itself keeps rows from having one value of the column twice, missing ones aside.

        Guarantee: true only of a table of a DuckDB file that is read as it is, with a primary key or a unique constraint
        of this column alone, of whole numbers. Of texts it is never believed: unlike ones may be one by a collation, and
        its index does not look at that.
        """
        if not self._catalog or who.kind is not ColumnType.INTEGER:
            return False
        keys = self._query(_KEYS)
        return any((".".join(map(identifier, table)), column) == (self._given, who.name) for *table, column in keys)

    def arrow(self, query: Query) -> pa.Table:
        """The result of a query as Arrow, read once, since a relation keeps no result."""
        schema, batches = batches_of(self._connection, *query, _Failed(_UNCOUNTABLE))
        return pa.Table.from_batches(list(batches), schema)

    def _count_rows(self, bad: str, who: Column, used: Sequence[str], people: Relation) -> int:
        """In one reading: how many there are, whether they can be read, and who is in the table."""
        if self._observer is None:
            self._unreadable.forget()
            # A line of a CSV may be left out for a cell that is read, so the same cells are read here.
            cells = ", ".join(f"count({identifier(name)})" for name in used)
            sql = f"SELECT count(*), count(*) FILTER (WHERE {bad}), {cells} FROM {people.sql}"
            rows, unreadable, *_ = self._query(sql)[0]
            self._unreadable.check_people(self._query, int(unreadable), bad, who, people.sql)
            return int(rows)
        rows, unreadable, chosen = check_one_row_each(
            self._query, who, used, bad, people.sql, self._observer, begin=self._unreadable.forget
        )
        self._unreadable.check_people(self._query, unreadable, bad, who, people.sql)
        self._observer.on_chosen(chosen)
        return rows

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return rows_of(self._connection, sql, _Failed(_UNCOUNTABLE), values)


_KEYS = (
    "SELECT c.database_name, c.schema_name, c.table_name, c.constraint_column_names[1] FROM duckdb_constraints() AS c "
    "JOIN duckdb_databases() AS d USING (database_oid) WHERE d.type = 'duckdb' "
    "AND c.constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(c.constraint_column_names) = 1"
)
_INSPECTED = "hubbub_look"


# --- opening ------------------------------------------------------------------------------------------------------


def open_locked(connection: duckdb.DuckDBPyConnection, paths: list[str], relation: str, **options: Any) -> DuckDB:
    """The table, with a connection that may read these files and no other from now on."""
    return DuckDB(lock(connection, paths), relation, **options)
