"""Conditions and measures for every database: what one row tells, as a whole number.

A comparison becomes 1 or 0, a measure its number of steps. Text that is compared as a number or a date is handed over
as it is, and read on this side, like that of bins.

How many people of a database have a row that cannot be read as declared, where each may have several.

Every value that is read as something else (a number, a date, a boolean) comes here once, and is read by the grammar
that reads files; the database then counts who has one that is no such thing.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa

from hubbub.engines.duckdb.unreadable import check_share
from hubbub.engines.sql import groups
from hubbub.engines.sql.database import Database
from hubbub.engines.sql.dialect import LAST_DAY, Dialect, Field, Form, Part
from hubbub.engines.sql.queries import number_type, part, people_with, values
from hubbub.numeric.exact import rational, to_text
from hubbub.tables.bins import Countable, Dates, Discovered, Edges, Lattice, Steps
from hubbub.tables.bounded_column import Measure
from hubbub.tables.cell_format import BOOLEAN
from hubbub.tables.condition import Both, Compare, Condition, Either, Leaf, Missing, Node, Not, OneOf, fits
from hubbub.tables.engine import CountQuery
from hubbub.tables.generalization import Ranges
from hubbub.tables.schema import ColumnType

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)


def is_read_here(leaf: Leaf, field: Field) -> bool:
    """Whether the text itself is handed over."""
    return isinstance(leaf, Compare) and field.kind is ColumnType.TEXT


def leaf_part(dialect: Dialect, field: Field, leaf: Leaf) -> Part:
    """1 where the comparison holds and 0 where it does not, or the text that has to be read."""
    if is_read_here(leaf, field):
        return part(dialect, field)
    return Part(f"CASE WHEN {_leaf(dialect, field, leaf)} THEN 1 ELSE 0 END", Form.INTEGER, pa.int64())


def rename_leaves(condition: Condition, names: dict[Leaf, str], here: set[Leaf]) -> Condition:
    """The same condition about what was handed over."""

    def node(given: Node) -> Node:
        match given:
            case Not(inner):
                return Not(node(inner))
            case Both(parts):
                return Both(tuple(map(node, parts)))
            case Either(parts):
                return Either(tuple(map(node, parts)))
            case Compare(_, sign, than) if given in here:
                return Compare(names[given], sign, than)
            case _:
                return OneOf(names[given], ("1",))

    return Condition(node(condition.node))


def _leaf(dialect: Dialect, field: Field, leaf: Leaf) -> str:
    cell = dialect.name(field.name)
    match leaf:
        case Missing():
            return f"({missing(dialect, field)})"
        case Compare(_, sign, than):
            if isinstance(than, datetime.date):
                return _on_days(dialect, field, f"{sign} {than.toordinal() - _EPOCH}")
            return _unless(missing(dialect, field), number_type(field).compare(cell, sign, than, dialect.edge))
        case OneOf(_, values):
            if field.kind in _NUMBERS:
                tests = [number_type(field).equals(cell, rational(value), dialect.edge) for value in values]
                return _unless(missing(dialect, field), f"({' OR '.join(tests)})")
            if field.kind is ColumnType.BOOLEAN:
                return f"{dialect.flag(cell)} IN ({', '.join('1' if value == 'true' else '0' for value in values)})"
            if field.kind is ColumnType.DATE:
                days = (datetime.date.fromisoformat(value).toordinal() - _EPOCH for value in values)
                return _on_days(dialect, field, f"IN ({', '.join(map(str, days))})")
            return f"{dialect.bytes(cell)} IN ({', '.join(map(dialect.literal, values))})"


def is_spelled_sql(dialect: Dialect, field: Field, spellings: Sequence[str]) -> str | None:
    """Whether a cell reads like one of these: text without blanks at its ends, other cells by their value. None where
    no cell of the column can."""
    if field.kind is ColumnType.TEXT:
        cell = dialect.bytes(dialect.trim(dialect.name(field.name)))
        return f"{cell} IN ({', '.join(map(dialect.literal, spellings))})" if spellings else None
    possible = tuple(each for each in spellings if field.kind is not ColumnType.OTHER and fits(each, field.kind))
    return _leaf(dialect, field, OneOf(field.name, possible)) if possible else None


def missing(dialect: Dialect, field: Field) -> str:
    """Whether there is nothing in a cell; not-a-number is nothing."""
    cell = dialect.name(field.name)
    if field.number is not None and field.number.grid is None:
        return f"{cell} IS NULL OR {dialect.not_a_number(cell)}"
    broken = dialect.broken(cell) if field.kind is ColumnType.TEXT else None
    return f"{cell} IS NULL" if broken is None else f"{cell} IS NULL OR {broken}"


def _unless(missing: str, test: str) -> str:
    """CASE and not AND: only CASE keeps a database from working out what comes later."""
    return f"CASE WHEN {missing} THEN 0 WHEN {test} THEN 1 ELSE 0 END = 1"


def _on_days(dialect: Dialect, field: Field, test: str) -> str:
    day = dialect.days(field, None)
    return f"(({day}) {test} AND ({day}) NOT IN ({LAST_DAY}, -{LAST_DAY}))"


# --- measures -------------------------------------------------------------------------------------------------------


def steps(dialect: Dialect, field: Field, measure: Measure, *, beyond: bool = False) -> Part:
    """The number of steps, NULL where there is no value; or the text that has to be read. With `beyond`, what lies outside
    of the range by half a step or more is one step below or above it."""
    if field.kind is ColumnType.TEXT:
        return part(dialect, field)
    cell, number = dialect.name(field.name), field.number
    assert number is not None  # resolved
    cases = [(missing(dialect, field), "NULL")]
    if beyond:
        cases += [
            (number.compare(cell, "<", measure.low - measure.step / 2, dialect.edge), "-1"),
            (number.compare(cell, ">=", measure.high + measure.step / 2, dialect.edge), str(measure.steps + 1)),
        ]
    cases += [
        (number.compare(cell, "<", measure.low, dialect.edge), "0"),
        (number.compare(cell, ">=", measure.high, dialect.edge), str(measure.steps)),
    ]
    is_float = field.kind is ColumnType.FLOAT
    inside = _round_float(dialect, cell, measure) if is_float else dialect.nearest(field, measure.low, measure.step)
    tests = " ".join(f"WHEN {test} THEN {then}" for test, then in cases)
    return Part(f"CASE {tests} ELSE {inside} END", Form.INTEGER, pa.int64())


def _round_float(dialect: Dialect, cell: str, measure: Measure) -> str:
    """Of a float, by the arithmetic of doubles. Next to nothing is nothing: a database may fail to divide it."""
    low, step, tiny = (dialect.double(to_text(x)) for x in (measure.low, measure.step, measure.step / 10**10))
    moved = f"({dialect.as_double(cell)} - {low})"
    floored = dialect.floor(f"{moved} / {step} + {dialect.double('0.5')}")
    return f"CASE WHEN {moved} < {tiny} THEN 0 WHEN {floored} > {measure.steps} THEN {measure.steps} ELSE {floored} END"


def may_be_unreadable(axis: Countable, kind: ColumnType) -> bool:
    """Whether cells of the kind may be no value of the axis."""
    if axis.reads == BOOLEAN:
        return True
    if isinstance(axis, Discovered):
        return kind is ColumnType.TEXT and (axis.unit is not None or isinstance(axis.coarser, Ranges))
    return kind is ColumnType.TEXT and isinstance(axis, Dates | Edges | Steps | Lattice)


def is_doubted(fields: Mapping[str, Field], axis: Countable) -> bool:
    """Whether there may be cells that cannot be read as the bins declare."""
    return may_be_unreadable(axis, fields[axis.column].kind)


def is_doubtful(fields: Mapping[str, Field], question: CountQuery) -> bool:
    """The same of all that a question reads."""
    rules = (question.where, question.measure)
    leaves = [leaf for rule in rules if isinstance(rule, Condition) for leaf in rule.leaves()]
    measure = question.measure if isinstance(question.measure, Measure) else None
    return (
        any(is_doubted(fields, axis) for axis in question.axes)
        or any(is_read_here(leaf, fields[leaf.column]) for leaf in leaves)
        or (measure is not None and fields[measure.column].kind is ColumnType.TEXT)
    )


def check_people(
    database: Database,
    fields: Mapping[str, Field],
    person: str,
    axes: Sequence[Countable],
    rules: Sequence[Measure | Condition],
    allowed: Fraction,
) -> None:
    """Refuse if too many people have a row with a cell that one of these reads and that cannot be read as declared."""
    parts: dict[str, Part] = {}
    lookups: dict[int, pa.Table] = {}
    for about, handed in _doubts(database.dialect, fields, axes, rules):
        found = database.fetch(values(handed, database.people), {"g": handed.form})
        wrong = groups.unreadable(found, about, handed)
        if wrong.num_rows:
            lookups[len(parts)], parts[f"g{len(parts)}"] = wrong, handed
    if not lookups:
        return
    who = part(database.dialect, fields[person])
    listed = {i: database.dialect.dictionary(i, each.form, Form.INTEGER) for i, each in enumerate(parts.values())}
    sql = people_with(parts, listed, who, database.people)
    check_share(allowed, *database.fetch_numbers(sql, "ns", lookups))


def _doubts(
    dialect: Dialect, fields: Mapping[str, Field], axes: Sequence[Countable], rules: Sequence[Measure | Condition]
) -> Iterator[tuple[CountQuery, Part]]:
    """What may be unreadable: the question that reads it, in a column g, and what is handed over."""
    for axis in axes:
        if is_doubted(fields, axis):
            yield CountQuery(axes=(replace(axis, column="g"),)), part(dialect, fields[axis.column], axis)
    for rule in dict.fromkeys(rules):
        if isinstance(rule, Measure):
            field = fields[rule.column]
            if field.kind is ColumnType.TEXT:
                yield CountQuery(axes=(), measure=replace(rule, column="g")), steps(dialect, field, rule)
            continue
        for leaf in dict.fromkeys(rule.leaves()):
            if is_read_here(leaf, fields[leaf.column]):
                about = Condition(replace(leaf, column="g"))
                yield CountQuery(axes=(), where=about), leaf_part(dialect, fields[leaf.column], leaf)
