"""What differs between databases, spelled once for each: quoting, casts, hashes, dates. The queries are the same.

A column of such a database is a :class:`Field`; what a query hands over of it is a :class:`Part`, in one of three forms
that every database can send and take: text, whole numbers, floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from math import lcm
from typing import Final

import pyarrow as pa

from hubbub.engines.column import Number
from hubbub.runtime.frozen import dataclass
from hubbub.tables.schema import ColumnType

KEY: Final = "hubbub_key"
"""The relation with one row and one column `word`, the secret key of a choice in 64 hexadecimal digits."""

LAST_DAY: Final = 2**31 - 1
LAST_MOMENT: Final = 2**63 - 1
"""How an infinite date or time is handed over; minus this is minus infinity. DuckDB takes them so."""


BLANKS: Final = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
"""What Unicode calls space separators; a text of nothing else is missing."""


class Form(Enum):
    """How values are encoded between the database and Python."""

    TEXT = "text"
    INTEGER = "whole numbers"
    FLOAT = "floats"


ARROW: Final = {Form.TEXT: pa.string(), Form.INTEGER: pa.int64(), Form.FLOAT: pa.float64()}


@dataclass(frozen=True, slots=True)
class Field:
    """A column as the database describes it; `number` has the database's own name of the type."""

    name: str
    kind: ColumnType
    number: Number | None = None
    type: pa.DataType | None = None  # of decimals and floats; None for a decimal without limits
    moment: str | None = None  # "date", "local" for a time without a zone, "instant" for one with


@dataclass(frozen=True, slots=True)
class Part:
    """An expression over a row, how its values travel, and of which type of Arrow's they then are."""

    sql: str
    form: Form
    type: pa.DataType
    below: int | None = None  # whole numbers from 0 to this, without it; or missing


class Dialect:
    """Standard SQL where there is one; a database overrides what it spells otherwise."""

    lines = False  # whether a text made of several cells costs less than a record of them

    def name(self, name: str) -> str:
        """A name as SQL, whatever characters are in it."""
        return '"' + name.replace('"', '""') + '"'

    def bytes(self, cell: str) -> str:
        """A text that is compared and grouped as its UTF-8 bytes."""
        raise NotImplementedError

    def broken(self, cell: str) -> str | None:
        """Whether a text is no UTF-8, and so missing; None where the database holds no such text."""
        return None

    def text(self, cell: str) -> str:
        """Any value as text."""
        return f"CAST({cell} AS text)"

    def decimal(self, field: Field) -> str:
        """A decimal as text, alike for equal values; NULL for what is no number."""
        return self.text(self.name(field.name))

    def integer(self, cell: str) -> str:
        return f"CAST({cell} AS bigint)"

    def flag(self, cell: str) -> str:
        """A boolean as 1 or 0."""
        return f"CASE WHEN {cell} THEN 1 WHEN NOT {cell} THEN 0 END"

    def trim(self, cell: str) -> str:
        """A text without the blanks at its ends, which are those that are cut off in files."""
        return f"trim(BOTH {self.literal(BLANKS)} FROM {cell})"

    def different(self, cell: str) -> str:
        """About how many different values there are, as an aggregate."""
        return f"count(DISTINCT {cell})"

    def literal(self, text: str) -> str:
        """Public text, spelled in digits so that no setting of a session can read it otherwise."""
        raise NotImplementedError

    def quotient(self, a: str, b: int) -> str:
        """a // b for a whole number that is not negative."""
        return f"({a} / {b})"

    def rest(self, a: str, b: str) -> str:
        """a mod b for whole numbers that are not negative."""
        return f"mod({a}, {b})"

    def not_a_number(self, cell: str) -> str:
        raise NotImplementedError

    def infinite(self, cell: str, number: Number) -> str:
        return f"{cell} IN (CAST('Infinity' AS {number.type}), CAST('-Infinity' AS {number.type}))"

    def double(self, numeral: str) -> str:
        """A decimal numeral as a double, correctly rounded."""
        return f"CAST('{numeral}' AS double precision)"

    def as_double(self, cell: str) -> str:
        return f"CAST({cell} AS double precision)"

    def floor(self, value: str) -> str:
        """The whole part of a double that is not negative."""
        return f"CAST(floor({value}) AS bigint)"

    def nearest(self, field: Field, low: Fraction, step: Fraction) -> str:
        """floor((cell - low)/step + 1/2) of a whole number or a decimal that is at least `low`, exactly."""
        grid = Fraction(1) if field.number is None or field.number.grid is None else field.number.grid
        fine = Fraction(1, lcm(low.denominator, step.denominator, grid.denominator))
        start, width = int(low / fine), int(step / fine)
        moved = f"({self.multiples(field)} * {int(grid / fine)} - ({start}))"
        return self.quotient(f"(2 * {moved} + {width})", 2 * width)

    def multiples(self, field: Field) -> str:
        """A whole number, or a decimal in units of its last place."""
        return self.integer(self.name(field.name))

    def edge(self, edge: str, number: Number) -> str:
        """A decimal numeral as a value of the type, correctly rounded."""
        return f"CAST('{edge}' AS {number.type})"

    def days(self, field: Field, unit: str | None) -> str:
        """Days since 1970, in UTC, of the first day of the period that a cell is in."""
        raise NotImplementedError

    def micros(self, field: Field) -> str:
        """Microseconds since 1970, in UTC."""
        raise NotImplementedError

    def sha256(self, text: str) -> str:
        """64 hexadecimal digits, lower case, of the UTF-8 bytes."""
        raise NotImplementedError

    def word(self, digits: str, i: int) -> str:
        """The i-th of two words of 60 bits of a SHA-256, as a whole number: of 15 digits of its own, where nothing else
        is said.

        Guarantee: of digits that are uniform, the two words are uniform and independent.
        """
        raise NotImplementedError

    def dictionary(self, i: int, form: Form, to: Form) -> str:
        """The i-th relation d(v, id) that was handed over, as it stands after JOIN."""
        return f"hubbub_words_{i} AS d{i}"

    def key(self) -> str:
        """The relation with the secret key, as it stands after FROM."""
        return KEY

    def one_row_sql(self, rows: str, parts: Sequence[str]) -> str | None:
        """A cheaper spelling of :func:`hubbub.engines.sql.queries.one_row_each`, if the database has one."""
        return None

    def bucket(self, names: Sequence[str]) -> str:
        """The number of a row's bucket (:mod:`hubbub.engines.sql.database`)."""
        return "0"

    def ranked_rows_sql(self, rows: str, names: Sequence[str], positions: str) -> str | None:
        """The rows at the places, where the number in a bucket `b` is to be made of the cells alone."""
        return None
