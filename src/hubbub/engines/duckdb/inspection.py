"""A look at a table for its steward: what cannot be read, who is in it, how much would be shown. Nothing is written.

The queries of a look at a table: cells that cannot be read, what they look like, and how they could be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from typing import Any, Final, Protocol, TypeAlias

from hubbub.engines.column import Column
from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.engines.duckdb.expressions import (
    boolean,
    code_where,
    identifier,
    literal,
    missing_number,
    moment,
    number_of,
    unreadable,
    value,
)
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps, Values, declared_size, parse
from hubbub.tables.bounded_column import Measure
from hubbub.tables.cell_format import BOOLEAN, COMMA, DATE, MONEY
from hubbub.tables.condition import Condition
from hubbub.tables.condition import bind as bind_condition
from hubbub.tables.contribution import MOST_CAP, ContributionBounds
from hubbub.tables.engine import CountQuery, ExactCounts, MultiRowPolicy
from hubbub.tables.inspection import BOUNDS, Cells, Fare, Inspection, Kept, Persons, bins_kept, fares, values_kept
from hubbub.tables.schema import ColumnType, Schema, bind_axes
from hubbub.tables.schema import column as known

SHAPES: Final = 5
_MOST_UNLISTED: Final = 1000  # values among which one is looked for that was meant
_LONGEST: Final = 40  # signs of a shape
PATTERNS: Final = ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%y", "%Y/%m/%d", "%Y%m%d", "%d-%b-%Y")
ROWS: Final = "count(*) FILTER (WHERE {test})"
GROUPS: Final = "coalesce(sum(n) FILTER (WHERE {test}), 0)"
"""How many pass a test: where each row is one, and where it stands for n."""
_BLANKS: Final = ("na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "missing", "k.a.", "k. a.", "?", "-", "--", ".")
"""How missing cells are often spelled, in small letters."""
_STAMPS: Final = tuple(f"{pattern} %H:%M{seconds}" for pattern in PATTERNS[:3] for seconds in ("", ":%S"))


def cell_counts(axis: Axis, column: Column, many: str) -> tuple[list[str], list[Any]]:
    """(missing, unreadable, inside of a bin) as counts."""
    bad = unreadable(axis, column) or "FALSE"
    inside, parameters = "TRUE", []
    if isinstance(axis, Values):
        inside, parameters = f"list_contains(?::VARCHAR[], {value(axis, column)})", [list(axis.values)]
    elif not isinstance(axis, Discovered):
        inside = code_where(axis, column)[1]
    missing = _missing(column)
    tests = (missing, bad, f"NOT {missing} AND NOT ({bad}) AND ({inside})")
    return [many.format(test=test) for test in tests], parameters


def _groups(axis: Values, column: Column, people: str, many: str) -> str:
    return f"SELECT {value(axis, column)} AS g, {many.format(test='TRUE')} AS cells FROM {people} GROUP BY ALL"


def unlisted_values(axis: Values, column: Column, people: str, many: str) -> tuple[str, list[Any]]:
    """The values that most cells have of those that are in no listed bin."""
    groups = _groups(axis, column, people, many)
    test = "g IS NOT NULL AND NOT list_contains(?::VARCHAR[], g)"
    query = (
        f"SELECT g, CAST(cells AS BIGINT) FROM ({groups}) WHERE {test} ORDER BY cells DESC, g LIMIT {_MOST_UNLISTED}"
    )
    return query, [list(axis.values)]


def listed_values(axis: Values, column: Column, people: str, many: str) -> tuple[str, list[Any]]:
    """For each listed value how many cells have it, and how many others are the same but for capitals and blanks."""
    groups = _groups(axis, column, people, many)
    named = "SELECT unnest(?::VARCHAR[]) AS v, generate_subscripts(?::VARCHAR[], 1) AS i"
    plain = "lower(regexp_replace({}, '[\\s\\p{{Z}}]+', '', 'g'))"
    met = (
        f"SELECT i, v, coalesce(sum(cells) FILTER (WHERE g = v), 0) AS same, coalesce(sum(cells) FILTER (WHERE NOT "
        f"list_contains(?::VARCHAR[], g)), 0) AS nearly FROM ({named}) LEFT JOIN ({groups}) "
        f"ON {plain.format('g')} = {plain.format('v')} GROUP BY i, v"
    )
    return f"SELECT v, CAST(same AS BIGINT), CAST(nearly AS BIGINT) FROM ({met}) ORDER BY i", [list(axis.values)] * 3


def _missing(column: Column) -> str:
    cell = identifier(column.name)
    if column.kind is ColumnType.FLOAT:  # not-a-number is missing
        return missing_number(column)
    return f"({cell} IS NULL OR trim({cell}) = '')" if column.kind is ColumnType.TEXT else f"({cell} IS NULL)"


def _seems_missing(column: Column) -> str:
    """Whether a text is spelled as missing cells often are."""
    cell = identifier(column.name)
    return f"coalesce(lower(trim({cell})) IN ({', '.join(map(literal, _BLANKS))}), FALSE)"


def spelled_missing(column: Column, people: str, many: str) -> str | None:
    """Spellings of cells that look missing, and how many there are of each."""
    if column.kind is not ColumnType.TEXT:
        return None
    test = _seems_missing(column)
    return (
        f"SELECT trim({identifier(column.name)}) AS spelling, {many.format(test='TRUE')} AS cells FROM {people} "
        f"WHERE {test} GROUP BY ALL ORDER BY cells DESC, spelling LIMIT {SHAPES}"
    )


def shapes(axis: Axis, column: Column, people: str, many: str) -> str | None:
    """How cells look that cannot be read: digits are 9, letters x or X, and all but the beginning is cut off."""
    bad = unreadable(axis, column)
    if bad is None:
        return None
    masked = f"CAST({identifier(column.name)} AS VARCHAR)"
    for signs, mask in ((r"\p{Nd}", "9"), (r"\p{Lu}", "X"), (r"\p{L}", "x")):
        inside = signs if mask != "x" else r"[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]"
        masked = f"regexp_replace({masked}, '{inside}', '{mask}', 'g')"
    return (
        f"SELECT left({masked}, {_LONGEST}) AS shape, {many.format(test=bad)} AS cells FROM {people} WHERE {bad} "
        f"GROUP BY ALL ORDER BY cells DESC, shape LIMIT {SHAPES}"
    )


def ways(axis: Axis | None, column: Column) -> dict[str, str]:
    """Ways in which a text column could be read for such bins, each with the condition that a cell can be."""
    if column.kind is not ColumnType.TEXT:
        return {}
    found = {}
    if axis is None or isinstance(axis, Edges | Steps):
        for name, reads in (("numbers", ""), (MONEY, MONEY), (COMMA, COMMA), (f"{MONEY},{COMMA}",) * 2):
            found[name] = f"{number_of(column, reads)} IS NOT NULL"
    if axis is None or isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit is not None):
        found["dates"] = f"{moment(column)} IS NOT NULL"
        for pattern in (*PATTERNS, *_STAMPS):
            found[f"{DATE}{pattern}"] = f"{moment(column, f'{DATE}{pattern}')} IS NOT NULL"
    if axis is None:
        found[BOOLEAN] = f"{boolean(column)} IN ('true', 'false')"
    return found


def readable(axis: Axis | None, column: Column, people: str, many: str) -> str:
    """One row: how many cells there are, how many of them look missing, about how many values, and how many can be read
    in each of the ways."""
    present = f"NOT {_missing(column)}"
    blank = _seems_missing(column) if column.kind is ColumnType.TEXT else "FALSE"
    counts = [
        *(many.format(test=test) for test in (present, blank)),
        f"approx_count_distinct({identifier(column.name)})",
    ]
    counts += [many.format(test=f"{present} AND {test}") for test in ways(axis, column).values()]
    return f"SELECT {', '.join(counts)} FROM {people}"


_NEAR: Final = 0.8  # so alike are a listed value and one that was meant
_NEARLY_ALL: Final = Fraction(99, 100)
_RULES: Final = {
    "MISSING COLUMNS": "too few cells",
    "INVALID ENCODING": "a cell that is not in the file's encoding",
    "LINE SIZE OVER MAXIMUM": "longer than 2 MiB",
}

Ask: TypeAlias = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


class InspectedTable(Protocol):
    """Where a table is, while it is looked at."""

    @property
    def left_out(self) -> tuple[tuple[str, int], ...]: ...

    def rows(self) -> int: ...

    def persons(self, person: str) -> Persons: ...

    def cells(self, spec: str, axis: Axis, rows: int) -> Cells:
        """The cells of a column, as its bins would read them."""
        ...

    def every_column(self, rows: int) -> tuple[Cells, ...]:
        """The cells of each column, and how they could be read."""
        ...

    @property
    def count(self) -> Callable[[CountQuery, Source], ExactCounts]: ...


class Seen(Protocol):
    """A table that can be looked at; `columns` are those in question."""

    def columns(self) -> Schema: ...

    def open_inspection(self, columns: Sequence[str]) -> AbstractContextManager[InspectedTable]: ...


def inspect_table(
    table: DuckDB | Seen,
    specs: Sequence[str],
    axes: Sequence[Axis],
    person: str | None,
    source: Source,
    *,
    where: Condition | None = None,
    of: tuple[str, Measure] | None = None,
) -> Inspection:
    """Look at the columns in question, or at all if there are none, and at a condition and a range if they are given.
    A CSV is read once.

    Guarantee: none. What it returns is private.
    """
    axes = bind_axes(tuple(axes), table.columns())
    ranges = () if of is None else bind_axes((_range(of[1].bind(table.columns())),), table.columns())
    if person is not None:
        known(table.columns(), person)
    if where is not None:
        bind_condition(where, table.columns())
    named = [*(axis.column for axis in (*axes, *ranges)), *([] if where is None else where.columns)]
    used = list(dict.fromkeys([*([] if person is None else [person]), *named]))
    used = used if axes else list(table.columns())
    with _in_duckdb(table, used) if isinstance(table, DuckDB) else table.open_inspection(used) as inspected:
        rows = inspected.rows()
        persons = None if person is None else inspected.persons(person)
        cells: tuple[Cells, ...]
        bins: int | None = None
        priced: tuple[Fare, ...] = ()
        sizes: tuple[tuple[int, int], ...] = ()
        kept: tuple[Kept, ...] = ()
        if axes:
            cells = tuple(inspected.cells(spec, axis, rows) for spec, axis in zip(specs, axes, strict=True))
            several = persons is not None and not persons.once
            repeats = MultiRowPolicy.ONE_ROW if several else MultiRowPolicy.REFUSE
            read_axes = tuple(_with_discovered_values(axis, each) for axis, each in zip(axes, cells, strict=True))
            found = inspected.count(CountQuery(axes=read_axes, person=person, repeats=repeats), source)
            bins = declared_size(axes) or len(found.counts)
            priced = fares(found.counts, bins) if found.counts.any() else ()
            sizes = tuple(sorted(Counter(found.counts.tolist()).items()))
            kept = _bins_kept(inspected, read_axes, person, source) if several and found.counts.any() else ()
        else:
            cells = inspected.every_column(rows)
        met = None if where is None else _count_matches(inspected, where, persons, source)
        measured = None if of is None else inspected.cells(of[0], ranges[0], rows)
        values = () if of is None else _values_kept(inspected, of[1].bind(table.columns()), persons, source)
    return Inspection(
        rows=rows,
        left_out=inspected.left_out,
        columns=cells,
        persons=persons,
        bins=bins,
        fares=priced,
        sizes=sizes,
        bins_kept=kept,
        met=met,
        measured=measured,
        values_kept=values,
    )


def inspect_cells(
    table: DuckDB | Seen, specs: Sequence[str], keys: Sequence[str]
) -> tuple[tuple[Cells, ...], tuple[Persons, ...]]:
    """The cells of some columns, as these bins would read them, and how many rows have the same in others.

    Guarantee: none. What it returns is private.
    """
    axes = bind_axes(tuple(map(parse, specs)), table.columns())
    used = list(dict.fromkeys([*(axis.column for axis in axes), *keys]))
    if not used:
        return (), ()
    with _in_duckdb(table, used) if isinstance(table, DuckDB) else table.open_inspection(used) as inspected:
        rows = inspected.rows()
        cells = tuple(inspected.cells(spec, axis, rows) for spec, axis in zip(specs, axes, strict=True))
        return cells, tuple(inspected.persons(key) for key in keys)


def _bins_kept(
    inspected: InspectedTable, axes: tuple[Axis, ...], person: str | None, source: Source
) -> tuple[Kept, ...]:
    """How often people are counted in all does not depend on which of their bins are kept."""

    @cache
    def count_kept(most: int) -> int:
        repeats = MultiRowPolicy.DISTINCT
        found = inspected.count(CountQuery(axes=axes, person=person, repeats=repeats, most_bins=most), source)
        return int(found.counts.sum())

    return bins_kept(count_kept, count_kept(1))


def _values_kept(
    inspected: InspectedTable, measure: Measure, persons: Persons | None, source: Source
) -> tuple[Kept, ...]:
    """What caps on the sums of people with several rows would keep, of values that are not negative."""
    if persons is None or persons.once or measure.low < 0 or (measure.low / measure.step).denominator != 1:
        return ()
    most, largest = max((rows for rows, _ in persons.rows), default=1), int(measure.high / measure.step)
    if not 0 < largest * max(most, max(BOUNDS)) <= MOST_CAP:
        return ()

    def count_capped(cap: int) -> tuple[int, int]:
        about = CountQuery(
            axes=(),
            person=persons.column,
            repeats=MultiRowPolicy.BOUNDED,
            bounds=ContributionBounds(rows_per_person=most, cap=cap),
            measure=measure,
        )
        kept = sum(inspected.count(about, source).sums or ())
        by_band = replace(about, bounds=ContributionBounds(rows_per_person=most), bands=(cap,))
        found = inspected.count(by_band, source)
        return kept, int(found.counts[found.codes == 0].sum())

    return values_kept(count_capped, largest, most)


def _range(measure: Measure) -> Edges:
    """What comes to a step of the range without being cut."""
    half = measure.step / 2
    return Edges(measure.column, (measure.low - half, measure.high + half), reads=measure.reads)


def _count_matches(inspected: InspectedTable, where: Condition, persons: Persons | None, source: Source) -> int:
    """How many people meet a condition, by any of their rows."""
    person, repeats = (None, MultiRowPolicy.REFUSE) if persons is None else (persons.column, MultiRowPolicy.ANY_ROW)
    found = inspected.count(CountQuery(axes=(), where=where, person=person, repeats=repeats), source)
    return int(found.counts.sum())


def _with_discovered_values(axis: Axis, cells: Cells) -> Axis:
    """The axis with its cells read in the way that was found, if they cannot be read as declared."""
    if cells.reads in (None, "numbers", "dates") or not cells.unreadable or axis.reads:
        return axis
    return replace(axis, reads=cells.reads or "")


@dataclass(frozen=True, slots=True)
class Relation:
    """What DuckDB can be asked about: rows, or groups of `n` rows; `many` counts them."""

    query: Ask
    sql: str
    many: str = ROWS

    def cells(self, spec: str, axis: Axis, column: Column, rows: int) -> Cells:
        """The cells of a column, as its bins would read them."""
        counts, parameters = cell_counts(axis, column, self.many)
        missing, bad, inside = map(int, self.query(f"SELECT {', '.join(counts)} FROM {self.sql}", parameters)[0])
        query = shapes(axis, column, self.sql, self.many) if bad else None
        found = self.query(*listed_values(axis, column, self.sql, self.many)) if isinstance(axis, Values) else []
        unused = tuple(str(name) for name, same, _ in found if not same)
        return Cells(
            column=axis.column,
            spec=spec,
            missing=missing,
            unreadable=bad,
            outside=rows - missing - bad - inside,
            shapes=() if query is None else tuple((str(shape), int(n)) for shape, n in self.query(query, ())),
            reads=self.way(axis, column)[0] if bad else None,
            nearly=tuple((str(name), int(nearly)) for name, _, nearly in found if nearly),
            unused=unused,
            misspelt=self._misspelt(axis, column, unused) if isinstance(axis, Values) and unused else (),
            spelled=tuple(
                each
                for each in self.missing_spellings(column)
                if not (isinstance(axis, Values) and each[0] in axis.values)
            ),
        )

    def _misspelt(self, axis: Values, column: Column, unused: Sequence[str]) -> tuple[tuple[str, int], ...]:
        """Listed values that no cell has, with how many cells of no listed bin are nearly the same."""
        others = self.query(*unlisted_values(axis, column, self.sql, self.many))
        cells = {str(value): int(many) for value, many in others}
        near = {name: get_close_matches(name, cells, 1, _NEAR) or _values_containing(name, cells) for name in unused}
        return tuple((name, sum(cells[value] for value in found)) for name, found in near.items() if found)

    def way(self, axis: Axis | None, column: Column) -> tuple[str | None, int, int]:
        """The first way in which nearly all cells can be read (None: text, or its own type), how many there are of
        them, and of their values."""
        present, blank, values, *read = map(int, self.query(readable(axis, column, self.sql, self.many), ())[0])
        least = _NEARLY_ALL * (present - blank)
        fits = (way for way, many in zip(ways(axis, column), read, strict=True) if present > blank and many >= least)
        return next(fits, None), present, values

    def missing_spellings(self, column: Column) -> tuple[tuple[str, int], ...]:
        """How cells are spelled that look missing, with how many there are."""
        query = spelled_missing(column, self.sql, self.many)
        return () if query is None else tuple((str(text), int(n)) for text, n in self.query(query, ()))


class _InDuckDB:
    """Files, frames and tables that DuckDB reads."""

    def __init__(self, table: DuckDB, rejected: Sequence[tuple[str, int]]) -> None:
        self._relation, self._columns = Relation(table.query, table.sql), table.column_types()
        self.count = table.count
        self.left_out = tuple((_RULES.get(name, name.lower()), many) for name, many in rejected)

    def rows(self) -> int:
        return int(self._query(f"SELECT count(*) FROM {self._relation.sql}")[0][0])

    def persons(self, person: str) -> Persons:
        name, people = identifier(person), self._relation.sql
        each = f"SELECT count(*) AS n FROM {people} WHERE {name} IS NOT NULL GROUP BY {name}"
        found = self._query(f"SELECT n, count(*) FROM ({each}) GROUP BY n ORDER BY n")
        nobody = int(self._query(f"SELECT count(*) FROM {people} WHERE {name} IS NULL")[0][0])
        rows = tuple((int(n), int(many)) for n, many in found)
        return Persons(column=person, people=sum(many for _, many in rows), nobody=nobody, rows=rows)

    def cells(self, spec: str, axis: Axis, rows: int) -> Cells:
        return self._relation.cells(spec, axis, self._columns[axis.column], rows)

    def every_column(self, rows: int) -> tuple[Cells, ...]:
        found = []
        for column in self._columns.values():
            way, present, values = self._relation.way(None, column)
            spelled = self._relation.missing_spellings(column)
            found.append(Cells(column=column.name, missing=rows - present, reads=way, values=values, spelled=spelled))
        return tuple(found)

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        return self._relation.query(sql, ())


@contextmanager
def _in_duckdb(table: DuckDB, columns: Sequence[str]) -> Iterator[InspectedTable]:
    with table.read_once(columns) as (copy, rejected):
        yield _InDuckDB(copy, rejected)


def _values_containing(name: str, values: Iterable[str]) -> list[str]:
    """The values that have a name in them, but for capitals."""
    return [value for value in values if len(name) > 2 and name.casefold() in value.casefold()]
