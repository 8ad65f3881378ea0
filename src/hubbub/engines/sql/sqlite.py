"""A table in a file of SQLite's. What SQL cannot say there (hashes, dates, exact decimals) are functions of ours.

SQLite lets any column hold anything. A cell that is no value of what the column was declared to hold is missing: a text
in an INTEGER column, a text in a DATE column that is no ISO date. Columns are kept as declared: INTEGER, REAL, TEXT,
BOOLEAN (0 and 1), DATE and TIMESTAMP (ISO text), DECIMAL(p,s) up to 15 digits, of which places beyond s are cut off.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from hubbub.engines.arrow_columns import batches
from hubbub.engines.column import Number
from hubbub.engines.identity import of_files
from hubbub.engines.query import NAMES_ONLY, is_query
from hubbub.engines.sql.database import Database, SqlQuery
from hubbub.engines.sql.dialect import ARROW, BLANKS, KEY, Dialect, Field
from hubbub.engines.sql.sql_engine import UNCOUNTABLE, SqlEngine
from hubbub.errors import WrongUse
from hubbub.tables.bins import period_begin, period_number
from hubbub.tables.identity import Identity
from hubbub.tables.schema import ColumnType

_INTEGER: Final = Number("INTEGER", Fraction(-(2**63)), Fraction(2**63 - 1), Fraction(1))
_REAL: Final = Number("REAL", -Fraction(2**53 - 1) * 2**971, Fraction(2**53 - 1) * 2**971)
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_UTF8: Final = "UTF-8"
_MOST_DIGITS: Final = 15  # of a decimal that a double keeps apart from its neighbours


class SQLite(Dialect):
    """How SQLite spells it. In a file in UTF-16, bytes are no text before a function of ours has read them."""

    def __init__(self, encoding: str = _UTF8) -> None:
        self._is_utf8 = encoding == _UTF8

    def bytes(self, cell: str) -> str:
        return f"({cell}) COLLATE BINARY"

    def decimal(self, field: Field) -> str:
        assert field.type is not None
        return f"hubbub_decimal({self.name(field.name)}, {field.type.scale})"

    def integer(self, cell: str) -> str:
        return cell

    def literal(self, text: str) -> str:
        digits = f"X'{text.encode().hex()}'"
        return f"CAST({digits} AS TEXT)" if self._is_utf8 else f"hubbub_utf8({digits})"

    def trim(self, cell: str) -> str:
        return f"trim({cell}, {self.literal(BLANKS)})"

    def rest(self, a: str, b: str) -> str:
        return f"(({a}) % ({b}))"

    def not_a_number(self, cell: str) -> str:
        return "0"  # SQLite keeps it as NULL

    def infinite(self, cell: str, number: Number) -> str:
        return f"abs({cell}) = 9e999"

    def edge(self, edge: str, number: Number) -> str:
        if number.grid is None:
            return f"hubbub_float('{edge}')"  # SQLite's own reading of numerals is not exact
        return str(int(Fraction(edge) / number.grid))  # decimals are kept as multiples of their grid

    def double(self, numeral: str) -> str:
        return f"hubbub_float('{numeral}')"

    def as_double(self, cell: str) -> str:
        return cell

    def floor(self, value: str) -> str:
        return f"CAST({value} AS INTEGER)"

    def days(self, field: Field, unit: str | None) -> str:
        return f"hubbub_days({self.name(field.name)}, '{unit or 'day'}')"

    def micros(self, field: Field) -> str:
        return f"hubbub_micros({self.name(field.name)})"

    def sha256(self, text: str) -> str:
        return f"hubbub_sha256({text})"

    def word(self, digits: str, i: int) -> str:
        return f"hubbub_word({digits}, {i})"


def field(name: str, declared: str) -> tuple[Field, str]:
    """The column that was declared so, and its cells as SQL: NULL where one is no value of that."""
    cell, kind = SQLite().name(name), declared.upper().strip()
    decimal = re.fullmatch(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)", kind)
    if decimal and int(decimal[2]) <= int(decimal[1]) <= _MOST_DIGITS:
        grid = Fraction(1, 10 ** int(decimal[2]))
        most = (10 ** int(decimal[1]) - 1) * grid
        type_ = pa.decimal128(int(decimal[1]), int(decimal[2]))
        return Field(
            name, ColumnType.DECIMAL, Number("", -most, most, grid), type_
        ), f"hubbub_scaled({cell}, {decimal[2]})"
    if "BOOL" in kind:
        return Field(
            name, ColumnType.BOOLEAN
        ), f"CASE WHEN typeof({cell}) = 'integer' AND {cell} IN (0, 1) THEN {cell} END"
    if kind.startswith(("DATE", "TIMESTAMP")):
        return Field(name, ColumnType.DATE, moment="date" if kind == "DATE" else "local"), _text_of(cell)
    if "INT" in kind:
        return Field(name, ColumnType.INTEGER, _INTEGER), f"CASE WHEN typeof({cell}) = 'integer' THEN {cell} END"
    if any(word in kind for word in ("REAL", "FLOA", "DOUB", "DECIMAL", "NUMERIC")):
        number = f"CASE WHEN typeof({cell}) IN ('integer', 'real') THEN CAST({cell} AS REAL) END"
        return Field(name, ColumnType.FLOAT, _REAL, pa.float64()), number
    if "BLOB" in kind:
        return Field(name, ColumnType.OTHER), cell
    return Field(name, ColumnType.TEXT), _text_of(cell)


def _text_of(cell: str) -> str:
    """A text, if it is one in UTF-8; numbers in a column of any kind are what they are written as."""
    return f"CASE WHEN typeof({cell}) <> 'blob' THEN hubbub_text(CAST({cell} AS BLOB)) END"


class _File(Database):
    """A table or view of a file, opened for reading alone."""

    def __init__(self, path: str, table: str) -> None:
        self._path = path
        self._connection = _connect(path)
        weakref.finalize(self, self._connection.close)
        encoding = self._rows("PRAGMA encoding")[0][0].decode()
        self._connection.create_function("hubbub_text", 1, partial(_text, encoding), deterministic=True)
        self.dialect: Dialect = SQLite(encoding)
        name = self.dialect.name(table)
        # Of hidden columns, those that are worked out from others (2 and 3) are columns like any other.
        described = self._rows(
            f"SELECT name, type FROM pragma_table_xinfo({self.dialect.literal(table)}) WHERE hidden <> 1"
        )
        if not described:
            if is_query(table):
                raise WrongUse(NAMES_ONLY)
            raise WrongUse(f"there is no table {table!r} in the database; name one of those that it has with `table`")
        known = [field(each.decode(), kind.decode()) for each, kind in described]
        self.fields = tuple(each for each, _ in known)
        cells = ", ".join(f"{cell} AS {self.dialect.name(each.name)}" for each, cell in known)
        self.people, self._name = f"(SELECT {cells} FROM {name}) AS hubbub_people", name
        self._table, self._declared = table, {each.decode(): kind.decode().upper() for each, kind in described}

    def identity(self) -> Identity:
        """The file, and the tables of it that are read: a view is known by what it reads."""
        read: set[str] = set()

        def authorize(action: int, table: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_READ and table:
                read.add(table)
            return sqlite3.SQLITE_OK

        other = _connect(self._path)
        other.set_authorizer(authorize)
        try:
            other.execute(f"EXPLAIN SELECT * FROM {self._name}")
        except sqlite3.Error:
            read.clear()
        finally:
            other.close()
        return of_files([self._path], {os.path.realpath(self._path): sorted(read)} if read else None)

    def is_key(self, column: str) -> bool:
        """Whole numbers, and texts of a column that makes text of every number: with any other, 1 and '1' are two to
        SQLite and one person to us. A text equals itself under every collation that SQLite brings along."""
        kind = next(each.kind for each in self.fields if each.name == column)
        is_text = kind is ColumnType.TEXT and any(word in self._declared[column] for word in ("CHAR", "CLOB", "TEXT"))
        if kind is not ColumnType.INTEGER and not is_text:
            return False
        named = {"t": self._table, "c": column}
        if not self._catalogue_rows(_IS_TABLE, named):  # a view, or a table that something else makes
            return False
        return bool(
            self._catalogue_rows(_UNIQUE, named)
            or (self._catalogue_rows(_ROWID, named) and not self._catalogue_rows(_OWN_KEY, named))
        )

    def _catalogue_rows(self, sql: str, named: dict[str, str]) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, named).fetchall()
        except sqlite3.Error:
            return []  # an older SQLite: then ids are looked at

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is asked inside sees the same rows; what is made for a query goes with it."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def stream(self, query: SqlQuery) -> Iterator[pa.RecordBatch]:
        types = {name: ARROW[form] for name, form in query.forms.items()}
        try:
            if query.key is not None:
                self._create(KEY, ("word",), [(query.key,)])
            for i, each in (query.lookups or {}).items():
                self._create(
                    f"hubbub_words_{i}", ("v", "id"), zip(*(column.to_pylist() for column in each.columns), strict=True)
                )
            yield from batches(self._connection.execute(query.sql), types)
            return
        except (sqlite3.Error, pa.ArrowException, OverflowError):
            pass
        raise WrongUse(UNCOUNTABLE)

    def _create(self, name: str, columns: tuple[str, ...], rows: Any) -> None:
        self._connection.execute(f"DROP TABLE IF EXISTS temp.{name}")  # of an earlier question in the same snapshot
        self._connection.execute(f"CREATE TEMP TABLE {name} ({', '.join(columns)})")
        self._connection.executemany(f"INSERT INTO temp.{name} VALUES ({', '.join('?' * len(columns))})", rows)

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql).fetchall()
        except sqlite3.Error:
            pass
        raise WrongUse(
            "the database could not be opened; check that it is one of SQLite's, that it may be read, and that nobody "
            "is writing to it"
        )


_IS_TABLE: Final = "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = :t COLLATE NOCASE"
_UNIQUE: Final = (  # an index of this column alone and of all rows, and not of an expression
    "SELECT 1 FROM pragma_index_list(:t, 'main') AS l WHERE l.\"unique\" AND NOT l.partial AND ("
    "SELECT count(*) = 1 AND min(x.cid) >= 0 AND min(x.name) = :c AND min(x.coll) IN ('BINARY', 'NOCASE', 'RTRIM') "
    "FROM pragma_index_xinfo(l.name, 'main') AS x WHERE x.key)"
)
_ROWID: Final = (  # INTEGER PRIMARY KEY, which is the number of the row itself
    "SELECT 1 FROM pragma_table_info(:t, 'main') GROUP BY 1 HAVING sum(pk > 0) = 1 "
    "AND sum(pk > 0 AND name = :c AND upper(type) = 'INTEGER') = 1"
)
_OWN_KEY: Final = "SELECT 1 FROM pragma_index_list(:t, 'main') WHERE origin = 'pk'"  # then it is not that number


def open_sqlite(path: str, table: str | None, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """A table or view of a file."""
    if not os.path.isfile(path):
        raise WrongUse(f"there is no file {path!r}; check the path after sqlite:///")
    if table is None:
        raise WrongUse("a database holds many tables; name one with `table`")
    return SqlEngine(_File(path, table), unreadable=unreadable)


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = bytes
    connection.execute("PRAGMA temp_store = MEMORY")  # the key of a choice is on no disk
    for name, arguments, function in _FUNCTIONS:
        connection.create_function(name, arguments, function, deterministic=True)
    return connection


# --- functions ------------------------------------------------------------------------------------------------------

_DATE: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:[.](\d{1,6})\d*)?)?)?(Z|[-+](?:0\d|1[0-5]):?[0-5]\d)?",
    re.ASCII,
)


def _text(encoding: str, cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode(encoding)
    except UnicodeDecodeError:
        return None


def _moment(cell: object) -> datetime.datetime | None:
    """ISO 8601; with a zone it is taken in UTC."""
    found = _DATE.fullmatch(cell) if isinstance(cell, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second, part, zone = found.groups()
    try:
        moment = datetime.datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((part or "").ljust(6, "0")),
        )
        if zone and zone != "Z":
            sign = -1 if zone[0] == "-" else 1
            moment -= sign * datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        return moment
    except (ValueError, OverflowError):
        return None


def _days(cell: object, unit: str) -> int | None:
    moment = _moment(cell)
    return None if moment is None else period_begin(unit, period_number(unit, moment.date())).toordinal() - _EPOCH


def _micros(cell: object) -> int | None:
    moment = _moment(cell)
    return None if moment is None else (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)


def _scale(cell: object, decimals: int) -> int | None:
    """A number as a multiple of its last place. A double is what it is written as, at its shortest."""
    if not isinstance(cell, int | float) or cell != cell or cell in (float("inf"), float("-inf")):
        return None
    scaled = int(Decimal(repr(cell)).scaleb(decimals).to_integral_value(ROUND_FLOOR))
    return scaled if abs(scaled) < 2**63 else None


def _decimal(cell: int | None, decimals: int) -> str | None:
    return None if cell is None else f"{Decimal(cell).scaleb(-decimals):f}"


def _sha256(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def _word(digits: str | None, i: int) -> int | None:
    return None if digits is None else int(digits[15 * i : 15 * i + 15], 16)


_FUNCTIONS: Final = (
    ("hubbub_text", 1, partial(_text, _UTF8)),
    ("hubbub_utf8", 1, bytes.decode),
    ("hubbub_days", 2, _days),
    ("hubbub_micros", 1, _micros),
    ("hubbub_scaled", 2, _scale),
    ("hubbub_decimal", 2, _decimal),
    ("hubbub_float", 1, float),
    ("hubbub_sha256", 1, _sha256),
    ("hubbub_word", 2, _word),
)
