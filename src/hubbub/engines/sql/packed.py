"""Several small cells of a row as one number, or as one text in the same order: one cell costs less to collect than many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from math import prod
from typing import Final

import pyarrow as pa

from hubbub.engines.sql.dialect import Dialect, Form, Part
from hubbub.runtime.frozen import dataclass

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
