"""The queries of a look at a table: cells that cannot be read, what they look like, and how they could be read."""

from __future__ import annotations

from typing import Any, Final

from hubbub.engines.column import Column
from hubbub.engines.duckdb.bin_sql import code_where, missing_number, value
from hubbub.engines.duckdb.cell_sql import boolean, identifier, literal, moment, number, unreadable
from hubbub.tables.bins import Axis, Dates, Discovered, Edges, Steps, Values
from hubbub.tables.cell_format import BOOLEAN, COMMA, DATE, MONEY
from hubbub.tables.schema import ColumnType

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
            found[name] = f"{number(column, reads)} IS NOT NULL"
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
