"""Counting where the rows are: one set of queries for every database that has a :class:`Dialect`.

Exact counts of groups leave the database and nothing else, but for the ids of people where the ledger is told who is in
a table: those pass through this process, and the few that it chooses are kept as a keyed hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy as copied
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.duckdb.count_sql import ROW, Weight
from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.engines.duckdb.expressions import condition_sql
from hubbub.engines.duckdb.joint_sql import counts_rows_only
from hubbub.engines.duckdb.people_sql import lowest_rows
from hubbub.engines.sql import groups, leaves, queries
from hubbub.engines.sql.database import CountRequest, Database, SqlQuery, chosen_rows
from hubbub.engines.sql.dialect import ARROW, Dialect, Field, Form, Part
from hubbub.engines.sql.groups import SingleUseStream, register_groups
from hubbub.engines.sql.inspection import InDatabase
from hubbub.engines.sql.leaves import check_people, is_doubted, is_doubtful
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source, SystemSource, choosing
from hubbub.tables import condition
from hubbub.tables.bins import Countable, Discovered, declared_size, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.cell_format import Missing
from hubbub.tables.contribution import MOST_ROWS, ContributionBounds
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
from hubbub.tables.identity import Identity, IdObserver
from hubbub.tables.kept_rows import KeptRows
from hubbub.tables.schema import ColumnType, Schema, bind_axes
from hubbub.tables.schema import column as known
from hubbub.tables.unlisted import EVERYBODY_MAY_BE, AllowedOutside, Outside

UNCOUNTABLE = (
    "the database could not count the table; check that it can be reached, that you may read the table, and that its "
    "memory and temporary room suffice"
)


class SqlEngine:
    """A table of people in a database."""

    def __init__(self, database: Database, *, unreadable: Fraction = Fraction(1)) -> None:
        self._database, self._allowed, self._missing = database, unreadable, Missing()
        self._fields = {field.name: field for field in database.fields}
        if len(self._fields) < len(database.fields):
            raise WrongUse("two columns of the table have one name; give each its own, in a view or a query")
        self._observer: IdObserver | None = None
        self._allowed_outside = EVERYBODY_MAY_BE

    def columns(self) -> Schema:
        return Schema({name: field.kind for name, field in self._fields.items()})

    def identity(self) -> Identity:
        """What the table is, whatever it is called."""
        return replace(self._database.identity(), missing=tuple(self._missing.to_json()))

    def with_missing(self, missing: Missing) -> SqlEngine:
        """The same table, where cells that are spelled so are missing."""
        tests = {
            name: leaves.is_spelled_sql(self._dialect, field, missing.of_column(name))
            for name, field in self._fields.items()
        }
        cells = {
            name: f"CASE WHEN {test} THEN NULL ELSE {self._dialect.name(name)} END"
            for name, test in tests.items()
            if test is not None
        }
        other = copied(self)
        other._database, other._missing = self._database.reading(cells) if cells else self._database, missing
        return other

    def allowing(self, allowed: AllowedOutside) -> SqlEngine:
        """The same table, of which a larger share of people in no bin, or outside of a range, is refused."""
        other = copied(self)
        other._allowed_outside = allowed
        return other

    def observing_ids(self, observer: IdObserver) -> SqlEngine:
        """The same table, which tells who is in it before it counts."""
        other = copied(self)
        other._observer = observer
        return other

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        bound = question.bind(self.columns())
        with self._database.snapshot():
            return self._count(bound, source)

    @property
    def database(self) -> Database:
        """Where the table is."""
        return self._database

    @property
    def allowed_share(self) -> Fraction:
        """The share of people who may have a row that cannot be read."""
        return self._allowed

    def outside(self, question: CountQuery) -> Outside:
        with self._database.snapshot():
            return self._outside(question)

    def _outside(self, question: CountQuery) -> Outside:
        """The database looks at the rows of each person; where text has to be read for that, what differs of them comes
        here."""
        measure = question.measure if isinstance(question.measure, Measure) else None
        asked = CountQuery(axes=question.axes, where=question.where, measure=measure)
        parts = dict[str, Part]()
        axes, _, (about,) = self._handed_over((asked,), parts)
        who = None if question.is_one_row_each else queries.part(self._dialect, self._fields[question.person or ""])
        if any(parts[name].type == pa.string() for name in parts if not name.startswith("g")):
            every = parts if who is None else {"who": who, **parts}
            here = self._fetch_here(queries.groups(every, self._people), every, weight=groups.READ)
            if who is not None:
                return here.outside(replace(about, person="who", repeats=MultiRowPolicy.ONE_ROW))
            found = here.count(about, SystemSource()).outside
            assert found is not None, "groups always tell"
            return found
        met, near = ["1 = 1"] if about.where is None else [_flags_sql(about.where)], "1 = 1"
        if isinstance(about.measure, Measure):
            met.append(f"{about.measure.column} IS NOT NULL")
            near = f"{about.measure.column} >= 0 AND {about.measure.column} <= {about.measure.steps}"
        lookups, relations = lookups_for(self._database, self._fields, axes, self._parts(axes))
        sql = queries.outside(axes, parts, relations, who, self._people, met=" AND ".join(met), near=f"({near})")
        people, listed, inside = self._database.fetch_numbers(sql, "nsb", lookups=lookups)
        return Outside(people=people, unlisted=people - listed, clamped=people - inside)

    def _check_outside(self, questions: Sequence[CountQuery], source: Source) -> None:
        """Refuse people in no bin or outside of a range where a person has several rows, before any are chosen. Those of
        each person are looked at only where two rows or more are outside."""
        for question in questions:
            if self._allowed_outside.asks(question):
                rows = replace(question, person=None, repeats=MultiRowPolicy.REFUSE, bounds=None, bands=(), people=None)
                found = self.allowing(EVERYBODY_MAY_BE)._every_row(rows, source).outside
                assert found is not None, "groups always tell"
                self._allowed_outside.check(question, found, self._outside, person=True)

    @contextmanager
    def open_inspection(self, columns: Sequence[str]) -> Iterator[InDatabase]:
        """For a look by its steward: one state of the table, however much of it can be read."""
        here = copied(self)
        here._allowed, here._observer, here._allowed_outside = Fraction(1), None, EVERYBODY_MAY_BE
        with self._database.snapshot():
            yield InDatabase(self._database, self._fields, here._count)

    def joint_count(self, questions: tuple[CountQuery, ...], source: Source) -> Joint:
        """The database counts groups of all that the questions look at; their places are read off here."""
        person, parts = questions[0].person, dict[str, Part]()
        axes, rules, about = self._handed_over(questions, parts)
        chooses = questions[0].repeats is MultiRowPolicy.ONE_ROW
        with self._database.snapshot():
            if chooses:
                self._readable(replace(questions[0], axes=axes, where=None, measure=None), source, rules)
                self._check_outside(questions, source)
            if person is not None:
                who = queries.part(self._dialect, self._fields[person])
                if chooses:
                    self._report_chosen(who)
                else:
                    self._observe_each(person, ONE_ROW_OF_SEVERAL, questions[0].repeats)
            allowed = Fraction(1) if chooses else self._allowed
            found = self._groups(questions[0], parts, source)
            joint = groups.count_jointly(found, parts, about, source, weight=groups.READ, allowed=allowed)
            for question, outside in zip(questions, joint.outside, strict=True):
                if not chooses:
                    self._allowed_outside.check(question, outside, self._outside)
            return joint

    def kept_rows(self, questions: tuple[CountQuery, ...], source: Source, people: int | None = None) -> KeptRows:
        """The database keeps the rows of each person; where the questions count them is read off here."""
        (person, most), parts = rows_of_one(questions), dict[str, Part]()
        axes, rules, about = self._handed_over(questions, parts)
        who = queries.part(self._dialect, self._fields[person])
        with self._database.snapshot():
            self._readable(replace(questions[0], axes=axes, where=None, measure=None), source, rules)
            self._check_outside(questions, source)
            self._report_chosen(who)
            if people is not None:
                self._check_number(who, people)
            sql = queries.bounded_rows(self._dialect, parts, who, self._people, most)
            engine = self._fetch_here(sql, {"who": who, **parts}, key=_draw_key(source))
        all_rows = ContributionBounds(rows_per_person=MOST_ROWS)
        here = tuple(replace(each, person="who", repeats=MultiRowPolicy.BOUNDED, bounds=all_rows) for each in about)
        return engine.kept_rows(here, source)

    def _fetch_here(
        self, sql: str, parts: Mapping[str, Part], *, key: str | None = None, weight: Weight = ROW
    ) -> DuckDB:
        """What a query hands over, as a table that is counted here: rows, or groups of so many people each."""
        forms = {name: part.form for name, part in parts.items()} if weight is ROW else _forms(parts)
        return groups.register_groups(self._database.fetch(sql, forms, key=key), parts, weight=weight)

    def _check_number(self, who: Part, declared: int) -> None:
        """Refuse a table of another number of people than was declared, before a row is chosen."""
        if self._database.fetch_numbers(queries.one_row_each(self._dialect, {}, who, self._people)) != [declared]:
            raise Refused(OTHER_NUMBER)

    def _handed_over(
        self, questions: Sequence[CountQuery], parts: dict[str, Part], *, shifted: bool = False
    ) -> tuple[tuple[Countable, ...], list[Measure | condition.Condition], tuple[CountQuery, ...]]:
        """All axes, all conditions and measures, and the questions about what is handed over, which becomes `parts`."""
        bound = [each.bind(self.columns()) for each in questions]
        axes = tuple(dict.fromkeys(axis for each in bound for axis in each.axes))
        rules = [rule for each in bound for rule in (each.where, each.measure) if rule is not None]
        parts.update(self._parts(axes))
        bins = dict(zip(axes, self._bins(axes), strict=True))
        beyond = questions[0].is_one_row_each
        here = {rule: self._hand_over(rule, parts, shifted=shifted, beyond=beyond) for rule in dict.fromkeys(rules)}
        about = tuple(
            replace(
                each,
                axes=tuple(bins[axis] for axis in each.axes),
                person=None,
                repeats=MultiRowPolicy.REFUSE,
                bounds=None,
                where=None if each.where is None else here[each.where],
                measure=None if each.measure is None else here[each.measure],
            )
            for each in bound
        )
        return axes, rules, about

    def rows(self, columns: Sequence[str], person: str | None, chosen: Choice) -> pa.Table:
        """As counted: not-a-number is missing, times are in UTC, whole numbers have 64 bits."""
        for name in (*columns, *([] if person is None else [person])):
            known(self.columns(), name)
        parts = {f"g{i}": queries.part(self._dialect, self._fields[name]) for i, name in enumerate(columns)}
        with self._database.snapshot():
            if person is not None:
                self._one_row_each(person)
            found = chosen_rows(self._database, parts, chosen)
        return groups.convert_cells(found, parts).rename_columns(list(columns))

    def _hand_over(
        self,
        rule: Measure | condition.Condition,
        parts: dict[str, Part],
        *,
        shifted: bool = False,
        beyond: bool = False,
    ) -> Any:
        """A condition or a measure by value, about what is handed over, which is added to the parts; what is `shifted`
        begins where the measure does. With `beyond` what lies outside of the range is handed over as such."""
        if isinstance(rule, condition.Condition):
            return self._hand_over_condition(rule, parts)
        field, name = self._fields[rule.column], f"x{len(parts)}"
        parts[name] = leaves.steps(self._dialect, field, rule, beyond=beyond)
        if field.kind is ColumnType.TEXT:
            return replace(rule, column=name)
        if not shifted:
            return _integer_steps(name, rule)
        first = int(rule.low / rule.step)
        parts[name] = replace(parts[name], sql=f"({parts[name].sql} + ({first}))")
        return Measure(name, Fraction(first), Fraction(1), rule.steps)

    def _count(self, question: CountQuery, source: Source) -> ExactCounts:
        if question.person is None:
            return self._every_row(question, source)
        who = queries.part(self._dialect, self._fields[question.person])
        if question.is_one_row_each:
            several = SEVERAL_ROWS if question.plain else ONE_ROW_OF_SEVERAL
            self._observe_each(question.person, several, question.repeats)
            return self._every_row(question, source)
        self._readable(question, source)
        self._check_outside((question,), source)
        self._report_chosen(who)
        if question.repeats is MultiRowPolicy.BOUNDED or (
            question.repeats is MultiRowPolicy.DISTINCT and not question.plain
        ):
            bins = declared_size(question.axes) if question.axes else 1
            if not counts_rows_only(question, bins):
                return self._per_person(question, who, source)
        elif question.repeats is MultiRowPolicy.DISTINCT:
            return self._distinct(question, who, source)
        if question.repeats is MultiRowPolicy.ANY_ROW:
            return self._any_row(question, who, source)
        return self._every_row(question, source)

    def remote_count(self, question: CountQuery, source: Source) -> Any:
        """The same counts, which stay where they are (:class:`hubbub.engines.spark.spark_publish.SparkCounts`): what is
        refused because of the data is refused now, and nothing is counted yet."""
        remote_count = getattr(self._database, "remote_count", None)
        if remote_count is None:
            raise WrongUse("only Spark can write a release in parts; leave out `parts`, or open the table with Spark")
        question = replace(question, axes=bind_axes(question.axes, self.columns()))
        with self._database.snapshot():
            self._readable(question, source)
            if self._allowed_outside.asks(question):
                self._allowed_outside.check(question, self._outside(question), self._outside)
        axes, parts = question.axes, self._parts(question.axes)
        bins, numbered = self._bins(axes), all(map(self._in_database, axes))
        lookups: dict[int, pa.Table] = {}
        key: str | None = None
        if question.person is None:
            sql = queries.groups(parts, self._people)
        else:
            who = queries.part(self._dialect, self._fields[question.person])
            if question.is_one_row_each:
                self._observe_each(question.person, SEVERAL_ROWS, question.repeats)
                sql = queries.groups(parts, self._people)
            else:
                if question.bounds is not None or not question.plain:
                    raise WrongUse("a release in parts counts people by bins; leave out `parts`, or the bounds on rows")
                self._report_chosen(who)
                if question.repeats is MultiRowPolicy.DISTINCT:
                    sql, parts, bins, lookups = self._distinct_count(question, who)
                    numbered = not any(isinstance(axis, Discovered) for axis in axes)
                else:
                    sql = queries.one_row_each(self._dialect, parts, who, self._people)
                key = _draw_key(source)
        sizes = tuple(size(axis) for axis in axes if not isinstance(axis, Discovered)) if numbered else None
        return remote_count(
            CountRequest(sql=sql, forms=_forms(parts), parts=parts, axes=bins, sizes=sizes, key=key, lookups=lookups)
        )

    @property
    def _dialect(self) -> Dialect:
        return self._database.dialect

    @property
    def _people(self) -> str:
        return self._database.people

    def _once(self, sql: str, forms: Mapping[str, Form], **relations: Any) -> SingleUseStream:
        """Groups as they come: there may be more of them than fit twice."""
        schema = pa.schema([(name, ARROW[form]) for name, form in forms.items()])
        return SingleUseStream(schema, self._database.stream(SqlQuery(sql=sql, forms=forms, **relations)))

    def _in_database(self, axis: Countable) -> bool:
        return queries.in_database(self._fields[axis.column], axis)

    def _parts(self, axes: Sequence[Countable]) -> dict[str, Part]:
        """What is handed over of each axis."""
        fields = [self._fields[axis.column] for axis in axes]
        return {
            f"g{i}": queries.part(self._dialect, field, axis)
            for i, (axis, field) in enumerate(zip(axes, fields, strict=True))
        }

    def _bins(self, axes: Sequence[Countable]) -> tuple[Countable, ...]:
        """The axes of what was handed over."""
        return tuple(
            groups.ready(axis, f"g{i}")
            if not isinstance(axis, Discovered) and self._in_database(axis)
            else replace(axis, column=f"g{i}")
            for i, axis in enumerate(axes)
        )

    # --- each row is a person, or one of each is kept ----------------------------------------------------------------

    def _groups(
        self,
        question: CountQuery,
        parts: Mapping[str, Part],
        source: Source,
        total: Part | None = None,
        most: int | None = None,
    ) -> SingleUseStream:
        """Groups of all rows, or of the row that is kept of each person, with the sum of a part if that is asked; of all
        rows, put into 0..`most`."""
        forms = {name: part.form for name, part in parts.items()}
        forms |= {"n": Form.INTEGER} if total is None else {_HAS: Form.INTEGER, "n": Form.INTEGER, "s": Form.INTEGER}
        every, name = (parts, None) if total is None else ({**parts, _STEPS: total}, _STEPS)
        if question.is_one_row_each or question.person is None:
            return self._once(queries.groups(every, self._people, name, most), forms)
        who = queries.part(self._dialect, self._fields[question.person])
        if question.bounds is not None:
            most = question.bounds.rows_per_person
            assert most is not None, "rows alone are bounded by nothing else"
            sql = queries.bounded_groups(self._dialect, every, who, self._people, most, name)
            return self._once(sql, forms, key=_draw_key(source))
        sql = queries.one_row_each(self._dialect, every, who, self._people, name)
        if question.people is not None:
            self._check_number(who, question.people)
        return self._once(sql, forms, key=_draw_key(source))

    def _every_row(self, question: CountQuery, source: Source) -> ExactCounts:
        if question.plain and not question.axes:
            total = numbers(self._groups(question, {}, source).table().column("n"))
            return ExactCounts(np.zeros(int(total[0] > 0), np.int64), total[total > 0])
        parts = dict[str, Part]()
        is_measured = isinstance(question.measure, Measure)
        _, _, (about,) = self._handed_over((replace(question, measure=None) if is_measured else question,), parts)
        # Of kept rows it was looked at before they were chosen how many cannot be read.
        chosen = not question.is_one_row_each
        options: dict[str, Any] = {} if chosen else {"allowed": self._allowed}
        if isinstance(question.measure, condition.Condition):
            options["weight"] = groups.READ
        if not isinstance(question.measure, Measure):
            found = self._groups(question, parts, source)
        else:
            found, measure = self._measured_groups(question, question.measure, parts, source)
            about = replace(about, measure=measure)
            options |= {} if measure.column == _HAS else {"weight": groups.READ}
        counted = groups.count_groups(found, parts, about, source, **options)
        if not chosen and counted.outside is not None:
            self._allowed_outside.check(question, counted.outside, self._outside)
        return counted

    def _hand_over_condition(self, where: condition.Condition, parts: dict[str, Part]) -> condition.Condition:
        """The condition about what is handed over of its comparisons, which are added to the parts."""
        names: dict[condition.Leaf, str] = {}
        for leaf in where.leaves():
            if leaf not in names:
                names[leaf] = f"w{len(parts)}"
                parts[names[leaf]] = leaves.leaf_part(self._dialect, self._fields[leaf.column], leaf)
        here = {leaf for leaf in names if leaves.is_read_here(leaf, self._fields[leaf.column])}
        return leaves.rename_leaves(where, names, here)

    def _measured_groups(
        self, question: CountQuery, measure: Measure, parts: dict[str, Part], source: Source
    ) -> tuple[SingleUseStream, Measure]:
        """Groups with a measure, and what that is about them: the database adds it up unless it is text, or groups by
        its value."""
        field = self._fields[measure.column]
        each = question.is_one_row_each
        steps = leaves.steps(self._dialect, field, measure, beyond=each)
        if question.by_value or field.kind is ColumnType.TEXT:
            parts[_STEPS] = steps
            here = replace(measure, column=_STEPS)
            scaled = _integer_steps(_STEPS, measure)
            return self._groups(question, parts, source), here if field.kind is ColumnType.TEXT else scaled
        found = self._groups(question, parts, source, total=steps, most=measure.steps if each else None)
        parts[_HAS] = replace(steps, sql="")
        return found, Measure(_HAS, Fraction(0), Fraction(1), 1)

    # --- people with several rows ---------------------------------------------------------------------------------

    def _distinct(self, question: CountQuery, who: Part, source: Source) -> ExactCounts:
        sql, bins, ready, lookups = self._distinct_count(question, who)
        found = self._once(sql, _forms(bins), key=_draw_key(source), lookups=lookups)
        return groups.count_groups(found, bins, CountQuery(axes=ready), source)

    def _distinct_count(
        self, question: CountQuery, who: Part
    ) -> tuple[str, dict[str, Part], tuple[Countable, ...], dict[int, pa.Table]]:
        """The query, what it hands over, the axes of that, and the words that it looks up: the bins of what is told
        apart by its values are worked out here, and handed to the database."""
        axes, parts = question.axes, self._parts(question.axes)
        lookups, relations = lookups_for(self._database, self._fields, axes, parts)
        ids = [Form.TEXT if isinstance(axis, Discovered) else Form.INTEGER for axis in axes]
        sql = queries.distinct_bins(self._dialect, axes, parts, relations, who, self._people, question.most_bins)
        bins = {f"g{i}": Part("", form, pa.string() if form is Form.TEXT else pa.int64()) for i, form in enumerate(ids)}
        ready: tuple[Countable, ...] = tuple(
            Discovered(f"g{i}") if isinstance(axis, Discovered) else groups.ready(axis, f"g{i}")
            for i, axis in enumerate(axes)
        )
        return sql, bins, ready, lookups

    def _per_person(self, question: CountQuery, who: Part, source: Source) -> ExactCounts:
        """The database keeps the rows of each person; what they come to in each bin is worked out here, of rows that
        say no more than is needed for that."""
        parts, bounds = dict[str, Part](), question.bounds
        _, _, (about,) = self._handed_over((replace(question, bands=()),), parts, shifted=question.sums)
        left = None if bounds is None else replace(bounds, rows_per_person=None)
        about = replace(about, person="who", repeats=question.repeats, bounds=left, bands=question.bands)
        most = None if bounds is None else bounds.rows_per_person
        sql = queries.bounded_rows(self._dialect, parts, who, self._people, most)
        return self._fetch_here(sql, {"who": who, **parts}, key=_draw_key(source)).count(about, source)

    def _any_row(self, question: CountQuery, who: Part, source: Source) -> ExactCounts:
        """The database looks at the rows of each person; where text has to be read, what differs of them comes here."""
        parts: dict[str, Part] = {}
        rule = self._hand_over_condition(question.rule, parts)
        if not any(part.type == pa.string() for part in parts.values()):
            sql = queries.any_row(_flags_sql(rule), parts, who, self._people)
            return of_any_row(question, *self._database.fetch_numbers(sql, "ns"))
        every = {"who": who, **parts}
        about = replace(question, person="who", where=rule, measure=None, everybody=True)
        here = self._fetch_here(queries.groups(every, self._people), every, weight=groups.WEIGHT)
        counts = here.count(about, source)
        people, met = int(counts.counts.sum()), int(counts.counts[counts.codes == 0].sum())
        return of_any_row(question, people, met)

    def _readable(self, question: CountQuery, source: Source, rules: Sequence[Any] = ()) -> None:
        """Refuse if too many people cannot be read as declared, before anything is chosen; `rules` are conditions and
        measures beside those of the question."""
        rules = [rule for rule in (question.where, question.measure, *rules) if rule is not None]
        if self._allowed >= 1:
            return
        if question.person is not None and not question.is_one_row_each:
            check_people(self._database, self._fields, question.person, question.axes, rules, self._allowed)
        elif is_doubtful(self._fields, question):
            doubted = tuple(axis for axis in question.axes if is_doubted(self._fields, axis))
            every = replace(
                question, axes=doubted, person=None, repeats=MultiRowPolicy.REFUSE, everybody=not question.plain
            )
            self._every_row(every, source)

    def _report_chosen(self, who: Part) -> None:
        if self._observer is not None:
            report_chosen(self._ids(who), who, self._observer)

    def _observe_each(self, person: str, several: str, repeats: MultiRowPolicy) -> None:
        """Tell who is in the table, of which each row is a person; a refusal if that is not so and nobody declared it."""
        if repeats is MultiRowPolicy.REFUSE:
            self._one_row_each(person, several)
        else:
            self._report_rows(queries.part(self._dialect, self._fields[person]))

    def _one_row_each(self, person: str, several: str = ONE_ROW_EACH) -> None:
        """Refuse somebody with several rows, or a row of nobody. Ids that the database itself keeps apart are not
        compared again."""
        who = queries.part(self._dialect, self._fields[person])
        if self._database.is_key(person):
            if self._database.fetch_numbers(queries.nobodys(who, self._people)) != [0]:
                raise Refused(NO_ID)
            self._report_rows(who)
            return
        if self._observer is None:
            (found,) = self._database.fetch_numbers(queries.several(who, self._people))
            if found:
                raise Refused(NO_ID if found > 1 else several)
            return
        ids = self._ids(who)
        if ids.column("who").null_count:
            raise Refused(NO_ID)
        if (numbers(ids.column("n")) > 1).any():
            raise Refused(several)
        report_chosen(ids, who, self._observer)

    def _report_rows(self, who: Part) -> None:
        if self._observer is not None:
            ids = self._database.fetch(queries.ids(who, self._people), {"who": who.form})
            report_chosen(ids, who, self._observer)

    def _ids(self, who: Part) -> pa.Table:
        return self._database.fetch(queries.people_of(who, self._people), {"who": who.form, "n": Form.INTEGER})


def _flags_sql(condition: condition.Condition) -> str:
    """A condition about what was handed over as 1 or 0, for the database itself."""
    return condition_sql(condition, lambda leaf: f"({leaf.column} = 1)")


_STEPS, _HAS = "x", "has"


def _integer_steps(name: str, measure: Measure) -> Measure:
    """The steps themselves, as a measure."""
    return Measure(name, Fraction(0), Fraction(1), measure.steps)


def _forms(parts: Mapping[str, Part]) -> dict[str, Form]:
    return {name: part.form for name, part in parts.items()} | {"n": Form.INTEGER}


def _draw_key(source: Source) -> str:
    """A key of 256 bits, for one query."""
    return choosing(source).words(4).tobytes().hex()


# Who is in a table of a database: the ids pass through here, and are ranked as those of files are.


def report_chosen(ids: pa.Table, who: Part, observer: IdObserver) -> None:
    """Tell who is in a table with the column `who`, in which nobody comes twice.

    The hash that ranks them is the same as for files, so that the same people are known again wherever they are.
    """
    people = register_groups(ids.select(["who"]).rename_columns(["g0"]), {"g0": who})

    def query(sql: str, *values: object) -> list[tuple[Any, ...]]:
        return people.query(sql, values)

    observer.on_chosen(lowest_rows(query, people.column_types()["g0"], people.sql, observer))


# Bins that a database cannot make by itself: worked out here, value by value, and handed to it as a relation.


def lookups_for(
    database: Database, fields: Mapping[str, Field], axes: Sequence[Countable], parts: Mapping[str, Part]
) -> tuple[dict[int, pa.Table], dict[int, str]]:
    """By the place of its axis: the bin of every value, and what that relation is called."""
    lookups, relations = {}, {}
    for i, (axis, part) in enumerate(zip(axes, parts.values(), strict=True)):
        if not queries.in_database(fields[axis.column], axis):
            found = database.fetch(queries.values(part, database.people), {"g": part.form})
            lookups[i] = groups.lookup_table(found, axis, part)
            to = Form.TEXT if isinstance(axis, Discovered) else Form.INTEGER
            relations[i] = database.dialect.dictionary(i, part.form, to)
    return lookups, relations
