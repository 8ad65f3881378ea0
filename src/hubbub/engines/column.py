"""What a column of a table can hold: its kind, and for numbers the range and the grid of their type.

An edge is compared with a column as a value of the column's own type. Nothing is cast on the way, so no value, however
large, can fail to be compared: a table is counted or not by its schema alone.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.schema import ColumnType


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric type: its name in SQL, its smallest and largest value, and the step between values if there is one."""

    type: str
    least: Fraction
    most: Fraction
    grid: Fraction | None = None

    def compare(self, value: str, sign: str, edge: Fraction) -> str:
        """`value` < `edge` or `value` >= `edge` as SQL, with an edge that the type has and the same answer."""
        cut = edge if self.grid is None else math.ceil(edge / self.grid) * self.grid
        if cut <= self.least:
            return "FALSE" if sign == "<" else "TRUE"
        if cut > self.most:
            return "TRUE" if sign == "<" else "FALSE"
        return f"{value} {sign} CAST('{to_text(cut)}' AS {self.type})"


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its name; `number` is the type its cells are compared in, for numbers and for text."""

    name: str
    kind: ColumnType
    number: Number | None = None
    moment: str | None = None  # the type of a time stamp that may hold what is no time


_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE")  # nanoseconds are all times
_KINDS = {"VARCHAR": ColumnType.TEXT, "BOOLEAN": ColumnType.BOOLEAN, "DATE": ColumnType.DATE}


def _integers(name: str, bits: int, *, signed: bool) -> Number:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return Number(name, Fraction(least), Fraction(most), Fraction(1))


def _floats(name: str, most: Fraction) -> Number:
    return Number(name, -most, most)


DOUBLE = _floats("DOUBLE", Fraction(2**53 - 1) * 2**971)

NUMBERS = (
    {name: _integers(name, bits, signed=True) for name, bits in _BITS.items()}
    | {f"U{name}": _integers(f"U{name}", bits, signed=False) for name, bits in _BITS.items()}
    | {"DOUBLE": DOUBLE, "FLOAT": _floats("FLOAT", Fraction(2**24 - 1) * 2**104)}
)


def column(name: str, type_name: str) -> Column:
    """The column that DuckDB describes so."""
    if type_name in NUMBERS:
        number = NUMBERS[type_name]
        return Column(name, ColumnType.FLOAT if number.grid is None else ColumnType.INTEGER, number)
    if decimal := re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", type_name):
        grid = Fraction(1, 10 ** int(decimal[2]))
        most = (10 ** int(decimal[1]) - 1) * grid
        return Column(name, ColumnType.DECIMAL, Number(type_name, -most, most, grid))
    if type_name.startswith("TIMESTAMP"):
        return Column(name, ColumnType.DATE, moment=type_name if type_name in _MOMENTS else None)
    kind = ColumnType.TEXT if type_name.startswith("ENUM") else _KINDS.get(type_name, ColumnType.OTHER)
    return Column(name, kind, DOUBLE if kind is ColumnType.TEXT else None)
