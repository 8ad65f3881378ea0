"""Cells as numbers, dates and booleans in SQL, by how the bins say that they are written.

Text is read here and not by sniffing: a cell that is no number has no bin, and no other cell can change how it is read.
"""

from __future__ import annotations

from typing import Final

from hubbub.engines.column import Column
from hubbub.numeric.exact import to_text
from hubbub.tables.bins import Countable, Dates, Discovered, Edges, Steps
from hubbub.tables.cell_format import BOOLEAN, DATE, FALSE, MONEY, TRUE
from hubbub.tables.generalization import Ranges
from hubbub.tables.lattice import Lattice
from hubbub.tables.schema import ColumnType

_FIRST_MOMENT, _LAST_MOMENT = "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54"  # that microseconds can hold
_SIGNS: Final = "$€£¥"
_CODES: Final = "[A-Z]{3}|kr|Kč|zł"  # of currencies, before the number or after it
_NEITHER: Final = "'?'"  # no boolean: not missing, and no value that is listed


def identifier(name: str) -> str:
    """A column name as SQL, whatever characters are in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL: for paths and for names that were checked; what people list travels as parameters."""
    return "'" + text.replace("'", "''") + "'"


def sound(column: Column) -> str:
    """The cell, or NULL where what is stored is no value of its type: DuckDB fails when it meets such a one."""
    cell = identifier(column.name)
    if column.moment is not None:
        first, last, *ends = (
            f"CAST('{end}' AS {column.moment})" for end in (_FIRST_MOMENT, _LAST_MOMENT, "infinity", "-infinity")
        )
        return f"CASE WHEN {cell} BETWEEN {first} AND {last} OR {cell} IN ({', '.join(ends)}) THEN {cell} END"
    return f"CASE WHEN {has_digits(column)} THEN {cell} END" if column.kind is ColumnType.DECIMAL else cell


def unknown(cell: str) -> str:
    """The cell, of which nothing is believed but what is read: a file may say wrong things about its values."""
    return f"TRY({cell})"


def has_digits(column: Column) -> str:
    """Whether a decimal has no more digits than its type; NULL if it is missing."""
    assert column.number is not None
    ends = (f"CAST('{to_text(end)}' AS {column.number.type})" for end in (column.number.least, column.number.most))
    return f"{identifier(column.name)} BETWEEN {' AND '.join(ends)}"


def number(column: Column, reads: str) -> str:
    """The cell as a number of the type that the column is compared in; NULL if it is none."""
    cell = identifier(column.name)
    if column.kind is not ColumnType.TEXT:
        return cell
    if not reads:
        return f"TRY_CAST({_read(cell)} AS DOUBLE)"
    group, point = (".", ",") if reads.endswith(",") else (",", ".")
    digits = rf"(\d{{1,3}}([{group}]\d{{3}})+|\d+)([{point}]\d*)?|[{point}]\d+"
    form, gone = rf"\s*[-+]?({digits})([eE][-+]?\d+)?\s*", group
    if reads.startswith(MONEY):
        currency = rf"([{_SIGNS}]|{_CODES})?"
        signed = rf"\s*[-+]?\s*{currency}\s*[-+]?\s*({digits})\s*{currency}\s*"
        form, gone = rf"{signed}|\s*\({currency}\s*({digits})\s*{currency}\)\s*", f"{group}) {_SIGNS}"
        plain = f"regexp_replace({cell}, {literal(_CODES)}, '', 'g')"
    else:
        plain = cell
    plain = f"translate({plain}, {literal('(' + point + gone)}, '-.')"  # (5) is -5; what has no counterpart goes
    return f"CASE WHEN regexp_full_match({cell}, {literal(form)}) THEN TRY_CAST({plain} AS DOUBLE) END"


def moment(column: Column, reads: str = "") -> str:
    """The cell as a point in time; NULL if it is none. One with a time zone is taken in UTC."""
    if reads.startswith(DATE):
        return f"try_strptime({identifier(column.name)}, {literal(reads.removeprefix(DATE))})"
    cell = sound(column)
    return f"TRY_CAST({_read(cell) if column.kind is ColumnType.TEXT else cell} AS TIMESTAMP)"


def _read(cell: str) -> str:
    """A text that is no bare column: DuckDB would have the reader of a CSV cast that, which leaves out, without a word,
    every record whose cell is no such value. The empty text is none either."""
    return f"nullif({cell}, '')"


def boolean(column: Column) -> str:
    """The cell as the text true or false, NULL if it is missing, and a text that is neither if it is neither."""
    cell = f"lower(trim(CAST({identifier(column.name)} AS VARCHAR)))"
    true, false = (", ".join(map(literal, spellings)) for spellings in (TRUE, FALSE))
    return (
        f"CASE WHEN {cell} IS NULL THEN NULL WHEN {cell} IN ({true}) THEN 'true' "
        f"WHEN {cell} IN ({false}) THEN 'false' ELSE {_NEITHER} END"
    )


def unreadable(axis: Countable, column: Column) -> str | None:
    """Whether a cell is there and cannot be read as declared, as SQL; None where every cell can be read."""
    cell = identifier(column.name)
    if axis.reads == BOOLEAN:
        return f"coalesce({boolean(column)} = {_NEITHER}, FALSE)"
    if column.kind is not ColumnType.TEXT:
        return None
    if isinstance(axis, Edges | Steps | Lattice) or (isinstance(axis, Discovered) and isinstance(axis.coarser, Ranges)):
        value = number(column, axis.reads)
    elif isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit is not None):
        value = moment(column, axis.reads)
    else:
        return None
    return f"({cell} IS NOT NULL AND trim({cell}) <> '' AND {value} IS NULL)"
