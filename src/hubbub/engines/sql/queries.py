"""Counting queries that every database can run: rows become groups, and people with several rows become one or few.

Numbers are put into bins by the database, exactly; text, and whatever else is told apart by its values, comes back as
groups, and becomes bins and labels on this side (:mod:`hubbub.engines.sql.groups`), by one rule for all databases. The
columns are met in the innermost SELECT only, so that no name of theirs can be taken for one of ours.

The choice among a person's rows is a function of a secret key and of the rows as a multiset: whatever runs twice, in
another order or on another machine chooses the same.

Several small cells of a row as one number, or as one text in the same order: one cell costs less to collect than many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import Final

import pyarrow as pa

from hubbub.engines.column import Number
from hubbub.engines.duckdb.expressions import ends, inner_edges
from hubbub.engines.sql.dialect import Dialect, Field, Form, Part
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Countable, Dates, Discovered, Edges, Steps, Values, size
from hubbub.tables.schema import ColumnType, has_integer_steps

_MOST: Final = 2**62


@dataclass(frozen=True, slots=True)
class Packed:
    """Fewer parts, and how all are read off groups of these."""

    parts: Mapping[str, Part]
    read: Callable[[str], str]


def pack_parts(dialect: Dialect, parts: Mapping[str, Part]) -> Packed:
    """Neighbours that are small become one number, the first of them the highest digit, the missing the last.

    So the order of rows by all parts is the same before and after.
    """
    fewer: dict[str, Part] = {}
    cells: dict[str, str] = {}
    for small, group in groupby(parts.items(), lambda item: item[1].below is not None):
        run = [(name, part, (part.below or 0) + 1) for name, part in group]
        if not small or len(run) == 1 or prod(base for *_, base in run) >= _MOST:
            fewer |= {name: part for name, part, _ in run}
            continue
        code, number, weight = f"p{len(fewer)}", "0", 1
        for _, part, base in run:
            number = f"({number} * {base} + coalesce({dialect.integer(part.sql)}, {base - 1}))"
        for name, _, base in reversed(run):
            digit = dialect.rest(dialect.quotient(code, weight), str(base))
            cells[name] = f"CASE WHEN {digit} < {base - 1} THEN {digit} END"
            weight *= base
        fewer[code] = Part(number, Form.INTEGER, pa.int64(), prod(base for *_, base in run))
    lined = dialect.lines and len(fewer) > 1 and fits_line(fewer)
    projection = ", ".join(f"{cells.get(name, name)} AS {name}" for name in parts)

    def read(groups: str) -> str:
        rows = read_lines(dialect, fewer, groups) if lined else groups
        return f"SELECT {projection}, n FROM ({rows}) AS t"

    if lined:
        return Packed({LINE: line_of(dialect, fewer)}, read)
    return Packed(fewer, read if cells else str)


LINE: Final = "line"
_MOST_IN_LINE: Final = 10**17
_HERE, _NOTHING = "'0'", "'1'"  # so that the missing come last


def fits_line(parts: Mapping[str, Part]) -> bool:
    """Whether all of them are texts or small numbers."""
    return all(
        part.form is Form.TEXT or (part.below is not None and part.below < _MOST_IN_LINE) for part in parts.values()
    )


def line_of(dialect: Dialect, parts: Mapping[str, Part]) -> Part:
    """A number in as many digits as the largest has; a text with its end, which no text has inside: after a zero byte
    of its own stands a one. A text that is no UTF-8 is missing, here as everywhere."""
    zero, one, end = (dialect.literal(signs) for signs in ("\0", "\0\1", "\0\0"))
    pieces = []
    for i, part in enumerate(parts.values()):
        if part.below is not None:
            high = 10 ** len(str(part.below))
            pieces.append(dialect.text(f"(coalesce({dialect.integer(part.sql)}, {part.below}) + {high})"))
            continue
        broken = dialect.broken(part.sql)
        gone = f"{part.sql} IS NULL" if broken is None else f"{part.sql} IS NULL OR {broken}"
        last = i == len(parts) - 1
        prefix = [_HERE, part.sql] if last else [_HERE, f"replace({part.sql}, {zero}, {one})", end]
        pieces.append(f"CASE WHEN {gone} THEN {_NOTHING} ELSE concat({', '.join(prefix)}) END")
    return Part(f"concat({', '.join(pieces)})", Form.TEXT, pa.string())


def read_lines(dialect: Dialect, parts: Mapping[str, Part], groups: str) -> str:
    """The parts of lines, one after the other; what is left of a line is `rest`."""
    zero, one, end = (dialect.literal(signs) for signs in ("\0", "\0\1", "\0\0"))
    sql = f"SELECT t.*, {LINE} AS rest0 FROM ({groups}) AS t"
    for i, (name, part) in enumerate(parts.items()):
        rest = f"rest{i}"
        if part.below is not None:
            high = 10 ** len(str(part.below))
            digits = len(str(high))
            number = f"({dialect.integer(f'substr({rest}, 1, {digits})')} - {high})"
            cell, left = f"CASE WHEN {number} < {part.below} THEN {number} END", f"substr({rest}, {digits + 1})"
        else:
            here, position = f"substr({rest}, 1, 1) = {_HERE}", f"instr({rest}, {end})"
            text = f"replace(substr({rest}, 2, {position} - 2), {one}, {zero})"
            cell = f"CASE WHEN {here} THEN {f'substr({rest}, 2)' if i == len(parts) - 1 else text} END"
            left = f"CASE WHEN {here} THEN substr({rest}, {position} + 2) ELSE substr({rest}, 2) END"
        sql = f"SELECT t.*, {cell} AS {name}, {left} AS rest{i + 1} FROM ({sql}) AS t"
    return sql


_FEW: Final = 100  # listed values: so many are looked for in the database, of more all values come back
_NARROW: Final = 2**62
_HIGH: Final = 2**60  # a word is below this


def part(dialect: Dialect, field: Field, axis: Countable | None = None) -> Part:
    """What is handed over of a cell: the number of its bin if that is made by the database, else what is in it."""
    if axis is not None and in_database(field, axis):
        assert isinstance(axis, Edges | Steps)
        return Part(_code(dialect, field, axis), Form.INTEGER, pa.int64(), size(axis))
    cell = dialect.name(field.name)
    match field.kind:
        case ColumnType.INTEGER:
            return Part(dialect.integer(cell), Form.INTEGER, pa.int64())
        case ColumnType.BOOLEAN:
            return Part(dialect.flag(cell), Form.INTEGER, pa.bool_(), 2)
        case ColumnType.FLOAT:
            return Part(_plain_float(dialect, cell), Form.FLOAT, field.type or pa.float64())
        case ColumnType.DECIMAL:
            return Part(dialect.decimal(field), Form.TEXT, field.type or pa.string())
        case ColumnType.DATE:
            unit = axis.unit if isinstance(axis, Dates | Discovered) else None
            if unit is None and field.moment != "date":
                return Part(dialect.micros(field), Form.INTEGER, pa.timestamp("us"))
            return Part(dialect.days(field, unit), Form.INTEGER, pa.date32())
        case ColumnType.TEXT:
            return Part(_listed_or_other(dialect, dialect.bytes(cell), axis), Form.TEXT, pa.string())
        case _:
            return Part(dialect.bytes(dialect.text(cell)), Form.TEXT, pa.string())


def in_database(field: Field, axis: Countable) -> bool:
    """Whether the database itself makes the number of the bin: of numbers that are cut at edges, where it can."""
    if not isinstance(axis, Edges | Steps) or field.number is None or field.kind is ColumnType.TEXT:
        return False
    return not _has_equal_steps(field, axis) or axis.steps * axis.width + abs(axis.low) < _NARROW  # type: ignore[union-attr]


def groups(parts: Mapping[str, Part], people: str, total: str | None = None, most: int | None = None) -> str:
    """Each row is a person: how many there are of each group, and with `total` the sum of that part in it, put into
    0..`most`, which then is no part of the group but for whether it is missing (`has` is NULL) or lies outside (2)."""
    if not parts:
        return f"SELECT count(*) AS n FROM {people}"
    return _group_rows(
        f"SELECT {', '.join(f'{part.sql} AS {name}' for name, part in parts.items())} FROM {people}", parts, total, most
    )


def _group_rows(rows: str, parts: Mapping[str, Part], total: str | None, most: int | None = None) -> str:
    names = [name for name in parts if name != total]
    if total is None:
        return f"SELECT {', '.join(names)}, count(*) AS n FROM ({rows}) AS t GROUP BY {', '.join(names)}"
    outside = "" if most is None else f"WHEN {total} < 0 OR {total} > {most} THEN 2 "
    has = f"CASE WHEN {total} IS NULL THEN NULL {outside}ELSE 0 END"
    if most is not None:
        total = f"CASE WHEN {total} < 0 THEN 0 WHEN {total} > {most} THEN {most} ELSE {total} END"
    inner = f"SELECT t.*, {has} AS has FROM ({rows}) AS t"
    keys = ", ".join([*names, "has"])
    return f"SELECT {keys}, count(*) AS n, coalesce(sum({total}), 0) AS s FROM ({inner}) AS t GROUP BY {keys}"


def one_row_each(dialect: Dialect, parts: Mapping[str, Part], who: Part, people: str, total: str | None = None) -> str:
    """How many people have their one row in each group, and with `total` the sum of that part, as :func:`groups`.

    A person's n rows are put in order by what is handed over of them, the missing last, and the r-th is kept (from 0),
    where r = h mod n, and h are 120 bits of the SHA-256 of the key and the person's text: the first, where the dialect
    has no cheaper words of it. Which of two equal rows it is makes no difference.

    Guarantee: a function of the key and the multiset of the person's rows; over a uniform key, as far as SHA-256 is
    like a random function, each row is kept with a probability that differs from 1/n by at most 2^-120.
    """
    if not parts:  # whichever row it is
        return f"SELECT count(*) AS n FROM ({people_of(who, people)}) AS p WHERE who IS NOT NULL"
    # What is added up stays as it is: a sum is made of the kept rows themselves.
    fewer = pack_parts(dialect, parts) if total is None else Packed(parts, str)
    names = list(fewer.parts)
    rows = f"SELECT * FROM ({_rows(fewer.parts, who, people)}) AS t WHERE who IS NOT NULL"
    kept = dialect.one_row_sql(rows, names) or _by_window(dialect, rows, names)
    return fewer.read(_group_rows(kept, fewer.parts, total))


def pick(dialect: Dialect, who: str, word: str, n: str) -> str:
    """r of :func:`one_row_each`."""
    return rank_of_digits(dialect, keyed_hash(dialect, who, word), n)


def keyed_hash(dialect: Dialect, who: str, word: str) -> str:
    """The SHA-256 of the key and the person's text, in hexadecimal digits."""
    return dialect.sha256(f"{word} || {dialect.text(who)}")


def rank_of_digits(dialect: Dialect, digits: str, n: str) -> str:
    """h mod n. No product is as large as 2^63 while a person has fewer than 2^31 rows."""
    high, low = dialect.word(digits, 0), dialect.word(digits, 1)
    drawn = dialect.rest(f"{dialect.rest(high, n)} * {dialect.rest(str(_HIGH), n)} + {low}", n)
    return f"CASE WHEN {n} = 1 THEN 0 ELSE {drawn} END"


def order(names: Sequence[str]) -> str:
    """One order for all databases: by value, the missing last."""
    return ", ".join(f"CASE WHEN {name} IS NULL THEN 1 ELSE 0 END, {name}" for name in names)


def _by_window(dialect: Dialect, rows: str, names: Sequence[str]) -> str:
    each = f"row_number() OVER (PARTITION BY who ORDER BY {order(names)}) - 1 AS i"
    ranked = f"SELECT t.*, {each}, count(*) OVER (PARTITION BY who) AS n FROM ({rows}) AS t"
    drawn = pick(dialect, "who", "word", "n")
    return f"SELECT {', '.join(names)} FROM ({ranked}) AS t CROSS JOIN {dialect.key()} WHERE i = {drawn}"


def bounded_rows(dialect: Dialect, parts: Mapping[str, Part], who: Part, people: str, most: int | None) -> str:
    """At most so many rows of each person, with who it is; all of them if `most` is None.

    Of somebody with more, the rows are put in order by the SHA-256 of the key, the person, what is handed over of the
    row, each of one length, and which of its equals it is.

    Guarantee: as with :func:`one_row_each`, of the key and the multiset of the person's rows; each set of `most` of
    them is as likely as any other, up to ties of 256 bits.
    """
    rows, names = f"SELECT * FROM ({_rows(parts, who, people)}) AS t WHERE who IS NOT NULL", list(parts)
    if most is None:
        return rows
    cells = ", ".join(["who", *names])
    copy = f"row_number() OVER (PARTITION BY {cells} ORDER BY who) AS copy"
    copies = f"SELECT t.*, {copy}, count(*) OVER (PARTITION BY who) AS many FROM ({rows}) AS t"
    mixed = [f"CASE WHEN {g} IS NULL THEN '-' ELSE {dialect.sha256(dialect.text(g))} END" for g in names]
    mark = dialect.sha256(" || ".join(["word", dialect.sha256(dialect.text("who")), *mixed, dialect.text("copy")]))
    marked = (
        f"SELECT t.*, CASE WHEN many > {most} THEN {mark} END AS mark FROM ({copies}) AS t CROSS JOIN {dialect.key()}"
    )
    rank = f"row_number() OVER (PARTITION BY who ORDER BY {order(['mark', *names])}, copy)"
    return f"SELECT {cells} FROM (SELECT t.*, {rank} AS i FROM ({marked}) AS t) AS t WHERE i <= {most}"


def bounded_groups(
    dialect: Dialect, parts: Mapping[str, Part], who: Part, people: str, most: int, total: str | None = None
) -> str:
    """How many rows are in each group, at most so many of a person, and with `total` the sum of that part, as
    :func:`groups`."""
    if not parts:  # whichever rows they are
        some = f"CASE WHEN n < {most} THEN n ELSE {most} END"
        return f"SELECT coalesce(sum({some}), 0) AS n FROM ({people_of(who, people)}) AS p WHERE who IS NOT NULL"
    return _group_rows(bounded_rows(dialect, parts, who, people, most), parts, total)


def any_row(test: str, parts: Mapping[str, Part], who: Part, people: str) -> str:
    """How many people there are, and how many have a row that passes the test of its parts."""
    met = f"max(CASE WHEN {test} THEN 1 ELSE 0 END)"
    each = f"SELECT who, {met} AS met FROM ({_rows(parts, who, people)}) AS t WHERE who IS NOT NULL GROUP BY who"
    return f"SELECT count(*) AS n, coalesce(sum(met), 0) AS s FROM ({each}) AS p"


def people_with(parts: Mapping[str, Part], listed: Mapping[int, str], who: Part, people: str) -> str:
    """How many people there are, and how many have a row with a part that is listed: `listed` has, by the place of a
    part, the relation of its values."""
    joins = " ".join(f"LEFT JOIN {listed[i]} ON {name} = d{i}.v" for i, name in enumerate(parts) if i in listed)
    found = " OR ".join(f"d{i}.v IS NOT NULL" for i in listed)
    some = f"SELECT who, CASE WHEN {found} THEN 1 ELSE 0 END AS has FROM ({_rows(parts, who, people)}) AS t {joins}"
    each = f"SELECT who, max(has) AS has FROM ({some}) AS t WHERE who IS NOT NULL GROUP BY who"
    return f"SELECT count(*) AS n, coalesce(sum(has), 0) AS s FROM ({each}) AS p"


def values(part: Part, people: str) -> str:
    """Every value, once."""
    return f"SELECT DISTINCT g FROM (SELECT {part.sql} AS g FROM {people}) AS t"


def distinct_bins(
    dialect: Dialect,
    axes: Sequence[Countable],
    parts: Mapping[str, Part],
    lookups: Mapping[int, str],
    who: Part,
    people: str,
    most: int,
) -> str:
    """How many people are in each bin, once in each of at most `most` of theirs.

    What is told apart by its values was looked up: `looked_up` has, for such a part, the relation that says which bin a
    value is in. A person's bins are ranked by the SHA-256 of the key, the person and the bin, each of one length.

    Guarantee: as with :func:`one_row_each`, of the key and the set of the person's bins; each set of `most` of them is
    as likely as any other, up to ties of 256 bits.
    """
    names = [f"b{i}" for i in range(len(axes))]
    mixed = [f"CASE WHEN {b} IS NULL THEN '-' ELSE {dialect.sha256(dialect.text(b))} END" for b in names]
    bins, tests = ", ".join(names), _inside(axes)
    coded = _bin_rows(axes, lookups, f"SELECT * FROM ({_rows(parts, who, people)}) AS t WHERE who IS NOT NULL")
    where = f" WHERE {tests}" if tests else ""
    each = f"SELECT DISTINCT who, {bins} FROM ({coded}) AS t{where}"
    mark = dialect.sha256(" || ".join(["word", dialect.sha256(dialect.text("who")), *mixed]))
    rank = f"row_number() OVER (PARTITION BY who ORDER BY {mark}, {order(names)})"
    ranked = f"SELECT t.*, {rank} AS i FROM ({each}) AS t CROSS JOIN {dialect.key()}"
    kept = f"SELECT {bins}, count(*) AS n FROM ({ranked}) AS t WHERE i <= {most} GROUP BY {bins}"
    return f"SELECT {', '.join(f'b{i} AS g{i}' for i in range(len(axes)))}, n FROM ({kept}) AS t"


def outside(
    axes: Sequence[Countable],
    parts: Mapping[str, Part],
    lookups: Mapping[int, str],
    who: Part | None,
    people: str,
    *,
    met: str,
    near: str,
) -> str:
    """How many people pass the test `met` of the parts by any of their rows (n), how many of these are in a bin (s), and
    how many pass `near` (b), by such rows; `lookups` as above. Without `who` each row is a person."""
    rows = _rows(parts, Part("0", Form.INTEGER, pa.int64()) if who is None else who, people)
    flags = f"CASE WHEN {met} THEN 1 ELSE 0 END AS met, CASE WHEN {met} AND {near} THEN 1 ELSE 0 END AS near"
    coded = _bin_rows(axes, lookups, f"SELECT t.*, {flags} FROM ({rows}) AS t WHERE who IS NOT NULL", ("met", "near"))
    listed = f"CASE WHEN met = 1 AND {_inside(axes) or '1 = 1'} THEN 1 ELSE 0 END"
    each = f"SELECT who, met, {listed} AS listed, near FROM ({coded}) AS t"
    if who is not None:
        each = f"SELECT who, max(met) AS met, max(listed) AS listed, max(near) AS near FROM ({each}) AS t GROUP BY who"
    sums = (("met", "n"), ("listed", "s"), ("near", "b"))
    return f"SELECT {', '.join(f'coalesce(sum({flag}), 0) AS {name}' for flag, name in sums)} FROM ({each}) AS p"


def _bin_rows(axes: Sequence[Countable], lookups: Mapping[int, str], rows: str, carried: Sequence[str] = ()) -> str:
    """Rows with the bin (b0, b1, ...) along each axis, NULL where there is none, and what else of them is carried."""
    columns, joins = [], []
    for i, axis in enumerate(axes):
        value = f"g{i}"
        if i in lookups:
            joins.append(f"LEFT JOIN {lookups[i]} ON g{i} = d{i}.v")
            value = f"d{i}.id"
            if not isinstance(axis, Discovered) and (axis.null or axis.other):
                # What has no entry is missing, or a text that is none; that is in `other` if null is no bin.
                value = f"CASE WHEN d{i}.v IS NULL THEN {len(axis)} ELSE d{i}.id END"
        columns.append(f"{value} AS b{i}")
    return f"SELECT {', '.join(['who', *carried, *columns])} FROM ({rows}) AS t {' '.join(joins)}"


def _inside(axes: Sequence[Countable]) -> str:
    return " AND ".join(f"b{i} IS NOT NULL" for i, axis in enumerate(axes) if not isinstance(axis, Discovered))


def people_of(who: Part, people: str) -> str:
    """Everybody, with how many rows they have; rows of nobody come as one."""
    return f"SELECT who, count(*) AS n FROM (SELECT {who.sql} AS who FROM {people}) AS t GROUP BY who"


def ids(who: Part, people: str) -> str:
    """The id of each row that has one."""
    return f"SELECT who FROM (SELECT {who.sql} AS who FROM {people}) AS t WHERE who IS NOT NULL"


def nobodys(who: Part, people: str) -> str:
    """How many rows have no id."""
    return f"SELECT count(*) AS n FROM (SELECT {who.sql} AS who FROM {people}) AS t WHERE who IS NULL"


def several(who: Part, people: str) -> str:
    """2 if a row has no id, else 1 if somebody has several rows, else 0."""
    test = "CASE WHEN who IS NULL THEN 2 WHEN n > 1 THEN 1 ELSE 0 END"
    return f"SELECT coalesce(max({test}), 0) AS n FROM ({people_of(who, people)}) AS p"


def _rows(parts: Mapping[str, Part], who: Part, people: str) -> str:
    cells = [f"{part.sql} AS {name}" for name, part in {"who": who, **parts}.items()]
    return f"SELECT {', '.join(cells)} FROM {people}"


# --- numbers --------------------------------------------------------------------------------------------------------


def _code(dialect: Dialect, field: Field, axis: Edges | Steps) -> str:
    """The number of a cell's bin, with null and other if they are bins; NULL if it has none.

    CASE and not AND: only CASE keeps a database from working out what comes later.
    """
    cell, number = dialect.name(field.name), number_type(field)
    other = str(len(axis) + axis.null) if axis.other else "NULL"
    null = str(len(axis)) if axis.null else other
    cases = [f"WHEN {cell} IS NULL THEN {null}"]
    if number.grid is None:  # a float, or a decimal without limits
        cases += [
            f"WHEN {dialect.not_a_number(cell)} THEN {null}",
            f"WHEN {dialect.infinite(cell, number)} THEN {other}",
        ]
    low, high = ends(axis)
    for end, sign in ((low, "<"), (high, ">=")):
        if end is not None:
            cases.append(f"WHEN {number.compare(cell, sign, end, dialect.edge)} THEN {other}")
    if _has_equal_steps(field, axis):
        assert isinstance(axis, Steps)
        start = f"({dialect.integer(cell)} - ({to_text(axis.low)}))"
        index = start if axis.width == 1 else dialect.quotient(start, int(axis.width))
    else:
        index = number.count_edges(cell, inner_edges(axis), 0, dialect.edge)
    return f"CASE {' '.join(cases)} ELSE {index} END"


def _has_equal_steps(field: Field, axis: Edges | Steps) -> bool:
    return isinstance(axis, Steps) and field.kind is ColumnType.INTEGER and has_integer_steps(axis)


def number_type(field: Field) -> Number:
    """The type of a column of numbers."""
    assert field.number is not None  # resolved
    return field.number


def _plain_float(dialect: Dialect, cell: str) -> str:
    """Not-a-number is missing, and -0.0 is 0.0."""
    return f"CASE WHEN {dialect.not_a_number(cell)} THEN NULL WHEN {cell} = 0 THEN 0 ELSE {cell} END"


# --- text -----------------------------------------------------------------------------------------------------------


def _listed_or_other(dialect: Dialect, cell: str, axis: Countable | None) -> str:
    """Where few values are listed, all others come back as one that is not: there may be one for each person."""
    if not isinstance(axis, Values) or axis.reads or not 0 < len(axis) <= _FEW:
        return cell
    rest = "?"
    while rest in axis.values:
        rest += "?"
    listed = ", ".join(map(dialect.literal, axis.values))
    broken = dialect.broken(cell)
    gone = "" if broken is None else f"WHEN {broken} THEN NULL "
    other = dialect.literal(rest)
    return f"CASE WHEN {cell} IS NULL THEN NULL WHEN {cell} IN ({listed}) THEN {cell} {gone}ELSE {other} END"
