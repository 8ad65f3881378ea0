"""What a column of a table can hold: its kind, and for numbers the range and the grid of their type.

An edge is compared with a column as a value of the column's own type. Nothing is cast on the way, so no value, however
large, can fail to be compared: a table is counted or not by its schema alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.schema import ColumnType

ALWAYS: Final = "(1 = 1)"
NEVER: Final = "(1 = 0)"
"""As every database reads them."""


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric type: its name in SQL, its smallest and largest value, and the step between values if there is one."""

    type: str
    least: Fraction
    most: Fraction
    grid: Fraction | None = None

    def compare(self, value: str, sign: str, edge: Fraction, spell: Spelling | None = None) -> str:
        """A value and an edge (<, >=, <= or >) as SQL, with an edge that the type has and the same answer; `spell` is how
        the database spells a numeral of the type."""
        spell = spell or _cast
        if sign in ("<=", ">"):
            if self.grid is None:
                is_above = abs(edge) > self.most
                always = ALWAYS if (sign == "<=") == (edge > 0) else NEVER
                return always if is_above else f"{value} {sign} {spell(to_text(edge), self)}"
            sign, edge = (
                "<" if sign == "<=" else ">=",
                (math.floor(edge / self.grid) + 1) * self.grid,
            )  # the next number
        cut = edge if self.grid is None else math.ceil(edge / self.grid) * self.grid
        if cut <= self.least or cut > self.most:
            return ALWAYS if (sign == "<") == (cut > self.most) else NEVER
        return f"{value} {sign} {spell(to_text(cut), self)}"

    def equals(self, value: str, number: Fraction, spell: Spelling | None = None) -> str:
        """Whether a value is that number, as SQL."""
        is_off = self.grid is not None and (number / self.grid).denominator != 1
        if is_off or not self.least <= number <= self.most:
            return NEVER
        return f"{value} = {(spell or _cast)(to_text(number), self)}"

    def count_edges(self, value: str, edges: Sequence[Fraction], offset: int = 0, spell: Spelling | None = None) -> str:
        """How many of the edges are at most the value, by halving."""
        if not edges:
            return str(offset)
        middle = len(edges) // 2
        below = self.count_edges(value, edges[:middle], offset, spell)
        above = self.count_edges(value, edges[middle + 1 :], offset + middle + 1, spell)
        return f"(CASE WHEN {self.compare(value, '<', edges[middle], spell)} THEN {below} ELSE {above} END)"


Spelling: TypeAlias = Callable[[str, Number], str]


def _cast(numeral: str, number: Number) -> str:
    return f"CAST('{numeral}' AS {number.type})"


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
