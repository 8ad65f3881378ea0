"""Several small whole numbers of a row as one: to collect one number of a row costs less than to collect a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Final

import pyarrow as pa

from hubbub.engines.sql import packed_lines
from hubbub.engines.sql.dialect import Dialect, Form, Part

_MOST: Final = 2**62


@dataclass(frozen=True, slots=True)
class Packed:
    """Fewer parts, and how all are read off groups of these."""

    parts: Mapping[str, Part]
    read: Callable[[str], str]


def packed(dialect: Dialect, parts: Mapping[str, Part]) -> Packed:
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
    lined = dialect.lines and len(fewer) > 1 and packed_lines.fits(fewer)
    projection = ", ".join(f"{cells.get(name, name)} AS {name}" for name in parts)

    def read(groups: str) -> str:
        rows = packed_lines.read(dialect, fewer, groups) if lined else groups
        return f"SELECT {projection}, n FROM ({rows}) AS t"

    if lined:
        return Packed({packed_lines.LINE: packed_lines.written(dialect, fewer)}, read)
    return Packed(fewer, read if cells else str)
