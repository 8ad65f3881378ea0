"""Counting where the rows are: one set of queries for every database that has a :class:`Dialect`.

Exact counts of groups leave the database and nothing else, but for the ids of people where the ledger is told who is in
a table: those pass through this process, and the few that it chooses are kept as a keyed hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy as copied
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.engines import groups, portable_leaves, portable_ranks, portable_sql
from hubbub.engines.arrow_columns import numbers
from hubbub.engines.database import Database
from hubbub.engines.dialect import ARROW, Dialect, Form, Part
from hubbub.engines.duckdb import SEVERAL_ROWS
from hubbub.engines.once import Once
from hubbub.engines.people import told
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import Source
from hubbub.tables import condition
from hubbub.tables.bins import Countable, Dates, Discovered, Edges, Steps
from hubbub.tables.coarser import Ranges
from hubbub.tables.engine import ONE_ROW_EACH, Choice, Counted, Joint, Question, Repeats
from hubbub.tables.identity import Identity
from hubbub.tables.lattice import Lattice
from hubbub.tables.measure import Measure
from hubbub.tables.reading import BOOLEAN
from hubbub.tables.schema import Holds, Schema, resolved
from hubbub.tables.schema import column as known
from hubbub.tables.sketch import Notice

UNCOUNTABLE = (
    "the database could not count the table; check that it can be reached, that you may read the table, and that its "
    "memory and temporary room suffice"
)


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
        if not question.plain and question.repeats is not Repeats.REFUSE:
            raise WrongUse("a condition or a measure goes with one row for each person; keep to such tables")
        if question.person is not None:
            known(self.columns(), question.person)
        for rule in (question.where, question.measure):
            if isinstance(rule, Measure):
                rule.resolved(self.columns())
            elif rule is not None:
                condition.resolved(rule, self.columns())
        with self._database.snapshot():
            return self._count(replace(question, axes=axes), source)

    def together(self, questions: tuple[Question, ...]) -> Joint:
        """The database counts groups of all that the questions look at; their places are read off here."""
        person, columns = questions[0].person, self.columns()
        axes = tuple(dict.fromkeys(axis for each in questions for axis in resolved(each.axes, columns)))
        rules = [rule for each in questions for rule in (each.where, each.measure) if rule is not None]
        if person is not None:
            known(columns, person)
        for rule in rules:
            if isinstance(rule, Measure):
                rule.resolved(columns)
            else:
                condition.resolved(rule, columns)
        parts = self._parts(axes)
        bins = dict(zip(axes, self._bins(axes), strict=True))
        here = {rule: self._handed(rule, parts) for rule in dict.fromkeys(rules)}
        about = tuple(
            replace(
                each,
                axes=tuple(bins[axis] for axis in resolved(each.axes, columns)),
                person=None,
                where=None if each.where is None else here[each.where],
                measure=None if each.measure is None else here[each.measure],
            )
            for each in questions
        )
        with self._database.snapshot():
            if person is not None:
                self._one_row_each(portable_sql.part(self._dialect, self._fields[person]))
            found = self._groups(portable_sql.groups(parts, self._people), _forms(parts))
            return groups.together(found, parts, about, weight=groups.READ, allowed=self._allowed)

    def rows(self, columns: Sequence[str], person: str | None, chosen: Choice) -> pa.Table:
        """As counted: not-a-number is missing, times are in UTC, whole numbers have 64 bits."""
        for name in (*columns, *([] if person is None else [person])):
            known(self.columns(), name)
        parts = {f"g{i}": portable_sql.part(self._dialect, self._fields[name]) for i, name in enumerate(columns)}
        with self._database.snapshot():
            if person is not None:
                self._one_row_each(portable_sql.part(self._dialect, self._fields[person]))
            found = portable_ranks.chosen_rows(self._database, parts, chosen)
        return groups.typed(found, parts).rename_columns(list(columns))

    def _handed(self, rule: Measure | condition.Condition, parts: dict[str, Part]) -> Any:
        """A condition or a measure by value, about what is handed over, which is added to the parts."""
        if isinstance(rule, condition.Condition):
            return self._tested(rule, parts)
        field, name = self._fields[rule.column], f"x{len(parts)}"
        parts[name] = portable_leaves.steps(self._dialect, field, rule)
        return replace(rule, column=name) if field.kind is Holds.TEXT else _whole_steps(name, rule)

    def _count(self, question: Question, source: Source) -> Counted:
        if question.person is None:
            return self._every_row(question, source)
        who = portable_sql.part(self._dialect, self._fields[question.person])
        if question.repeats is Repeats.REFUSE:
            self._one_row_each(who, SEVERAL_ROWS if question.plain else ONE_ROW_EACH)
            return self._every_row(question, source)
        self._readable(question.axes, source)
        if self._notice is not None:
            told(self._ids(who), who, self._notice)
        if question.repeats is Repeats.DISTINCT:
            return self._distinct(question, who, source)
        parts = self._parts(question.axes)
        sql = portable_sql.one_row_each(self._dialect, parts, who, self._people)
        found = self._groups(sql, _forms(parts), key=_drawn(source))
        return groups.counted(found, parts, Question(axes=self._bins(question.axes)), source)

    @property
    def _dialect(self) -> Dialect:
        return self._database.dialect

    @property
    def _people(self) -> str:
        return self._database.people

    def _groups(self, sql: str, forms: Mapping[str, Form], **relations: Any) -> Once:
        """Groups as they come: there may be more of them than fit twice."""
        schema = pa.schema([(name, ARROW[form]) for name, form in forms.items()])
        return Once(schema, self._database.stream(sql, forms, **relations))

    def _in_database(self, axis: Countable) -> bool:
        return portable_sql.in_database(self._fields[axis.column], axis)

    def _parts(self, axes: Sequence[Countable]) -> dict[str, Part]:
        """What is handed over of each axis."""
        fields = [self._fields[axis.column] for axis in axes]
        return {
            f"g{i}": portable_sql.part(self._dialect, field, axis)
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

    # --- each row is a person -------------------------------------------------------------------------------------

    def _every_row(self, question: Question, source: Source) -> Counted:
        if question.plain and not question.axes:
            total = numbers(self._database.fetch(portable_sql.groups({}, self._people), _forms({})).column("n"))
            return Counted(np.zeros(int(total[0] > 0), np.int64), total[total > 0])
        parts = self._parts(question.axes)
        about = replace(question, axes=self._bins(question.axes), person=None)
        if question.where is not None:
            about = replace(about, where=self._tested(question.where, parts))
        words: dict[str, Any] = {"allowed": self._allowed}
        if isinstance(question.measure, condition.Condition):
            about, words["weight"] = replace(about, measure=self._tested(question.measure, parts)), groups.READ
        if not isinstance(question.measure, Measure):
            found = self._groups(portable_sql.groups(parts, self._people), _forms(parts))
        else:
            found, measure = self._measured(question.measure, parts, by_value=question.by_value)
            about = replace(about, measure=measure)
            words |= {} if measure.column == _HAS else {"weight": groups.READ}
        return groups.counted(found, parts, about, source, **words)

    def _tested(self, where: condition.Condition, parts: dict[str, Part]) -> condition.Condition:
        """The condition about what is handed over of its comparisons, which are added to the parts."""
        names: dict[condition.Leaf, str] = {}
        for leaf in where.leaves():
            if leaf not in names:
                names[leaf] = f"w{len(parts)}"
                parts[names[leaf]] = portable_leaves.leaf_part(self._dialect, self._fields[leaf.column], leaf)
        here = {leaf for leaf in names if portable_leaves.is_read_here(leaf, self._fields[leaf.column])}
        return portable_leaves.renamed(where, names, here)

    def _measured(self, measure: Measure, parts: dict[str, Part], *, by_value: bool) -> tuple[Once, Measure]:
        """Groups with a measure, and what that is about them: the database adds it up unless it is text, or groups by
        its value."""
        field = self._fields[measure.column]
        steps = portable_leaves.steps(self._dialect, field, measure)
        if by_value or field.kind is Holds.TEXT:
            parts[_STEPS] = steps
            here = replace(measure, column=_STEPS)
            there = _whole_steps(_STEPS, measure)
            found = self._groups(portable_sql.groups(parts, self._people), _forms(parts))
            return found, here if field.kind is Holds.TEXT else there
        sql = portable_sql.groups({**parts, _STEPS: steps}, self._people, total=_STEPS)
        parts[_HAS] = replace(steps, sql="")
        return self._groups(sql, _forms(parts) | {"s": Form.WHOLE}), Measure(_HAS, Fraction(0), Fraction(1), 1)

    # --- people with several rows ---------------------------------------------------------------------------------

    def _distinct(self, question: Question, who: Part, source: Source) -> Counted:
        """The bins of what is told apart by its values are worked out here, and handed to the database."""
        axes, parts, words = question.axes, self._parts(question.axes), {}
        for i, (axis, part) in enumerate(zip(axes, parts.values(), strict=True)):
            if not self._in_database(axis):
                found = self._database.fetch(portable_sql.values(part, self._people), {"g": part.form})
                words[i] = groups.words(found, axis, part)
        ids = [Form.TEXT if isinstance(axis, Discovered) else Form.WHOLE for axis in axes]
        relations = {i: self._dialect.dictionary(i, parts[f"g{i}"].form, ids[i]) for i in words}
        sql = portable_sql.distinct_bins(self._dialect, axes, parts, relations, who, self._people, question.most_bins)
        bins = {f"g{i}": Part("", form, pa.string() if form is Form.TEXT else pa.int64()) for i, form in enumerate(ids)}
        found = self._groups(sql, _forms(bins), key=_drawn(source), words=words)
        ready = tuple(
            Discovered(f"g{i}") if isinstance(axis, Discovered) else groups.ready(axis, f"g{i}")
            for i, axis in enumerate(axes)
        )
        return groups.counted(found, bins, Question(axes=ready), source)

    def _readable(self, axes: Sequence[Countable], source: Source) -> None:
        """Refuse if too many rows cannot be read as declared, before anything is chosen."""
        doubtful = tuple(axis for axis in axes if _may_be_unreadable(axis, self._fields[axis.column].kind))
        if doubtful and self._allowed < 1:
            self._every_row(Question(axes=doubtful), source)

    def _one_row_each(self, who: Part, several: str = ONE_ROW_EACH) -> None:
        if self._notice is None:
            found = self._database.fetch(portable_sql.several(who, self._people), _forms({})).column("n")
            if numbers(found)[0]:
                raise Refused(several)
            return
        ids = self._ids(who)
        if (numbers(ids.column("n")) > 1).any() or ids.column("who").null_count:
            raise Refused(several)
        told(ids, who, self._notice)

    def _ids(self, who: Part) -> pa.Table:
        return self._database.fetch(portable_sql.people_of(who, self._people), {"who": who.form, "n": Form.WHOLE})


_STEPS, _HAS = "x", "has"


def _whole_steps(name: str, measure: Measure) -> Measure:
    """The steps themselves, as a measure."""
    return Measure(name, Fraction(0), Fraction(1), measure.steps)


def _forms(parts: Mapping[str, Part]) -> dict[str, Form]:
    return {name: part.form for name, part in parts.items()} | {"n": Form.WHOLE}


def _drawn(source: Source) -> str:
    """A key of 256 bits, for one query."""
    return source.words(4).tobytes().hex()


def _may_be_unreadable(axis: Countable, kind: Holds) -> bool:
    if axis.reads == BOOLEAN:
        return True
    if isinstance(axis, Discovered):
        return kind is Holds.TEXT and (axis.unit is not None or isinstance(axis.coarser, Ranges))
    return kind is Holds.TEXT and isinstance(axis, Dates | Edges | Steps | Lattice)
