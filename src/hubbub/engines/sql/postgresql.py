"""A table, a view or a read-only query of PostgreSQL's, counted where it is.

Every count is one transaction that may only read and sees one state of the table, and what has a query of the user's
in it goes by the extended protocol, which takes one statement. Nothing is set for anybody else: the
connection is our own. What the server says when something fails may quote a cell, and is not passed on.
"""

from __future__ import annotations

import hashlib
import re
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, Final

import psycopg
import pyarrow as pa
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ExecStatus, TransactionStatus

from hubbub.engines.arrow_columns import batches
from hubbub.engines.column import Number
from hubbub.engines.query import ONE_SELECT, bare, function_names, is_query
from hubbub.engines.sql.database import Database, SqlQuery
from hubbub.engines.sql.dialect import ARROW, BLANKS, LAST_DAY, LAST_MOMENT, Dialect, Field, Form
from hubbub.engines.sql.queries import order, pick
from hubbub.engines.sql.sql_engine import UNCOUNTABLE, SqlEngine
from hubbub.errors import WrongUse
from hubbub.numeric.exact import to_text
from hubbub.tables.identity import Identity, Part
from hubbub.tables.schema import ColumnType

_ARRAYS: Final = {Form.TEXT: "text[]", Form.INTEGER: "bigint[]", Form.FLOAT: "float8[]"}
_FIRST, _LAST = "DATE '4000-01-01 BC'", "DATE '290000-01-01'"
_BYTES: Final = "SQL_ASCII"  # no encoding: any bytes
_TAIL: Final = r"[\x80-\xbf]"
_UTF8: Final = (  # byte by byte, as such a database takes it
    rf"^([\x01-\x7f]|[\xc2-\xdf]{_TAIL}|\xe0[\xa0-\xbf]{_TAIL}|[\xe1-\xec\xee\xef]{_TAIL}{_TAIL}|\xed[\x80-\x9f]{_TAIL}"
    rf"|\xf0[\x90-\xbf]{_TAIL}{_TAIL}|[\xf1-\xf3]{_TAIL}{_TAIL}{_TAIL}|\xf4[\x80-\x8f]{_TAIL}{_TAIL})*$"
)
_ROWS: Final = 4096 if psycopg.pq.version() >= 170000 else 1  # at a time; an older libpq sends each alone
_WAIT: Final = 30  # seconds for the server to answer
_SETTINGS: Final = "SET LOCAL extra_float_digits = 3; SET LOCAL standard_conforming_strings = on"
"""Of one transaction: floats and literals are what they are, whatever the role or the address prefers."""


class PostgreSQL(Dialect):
    """How PostgreSQL spells it. In a database that is not in UTF-8, a text that it cannot hold is in no cell."""

    def __init__(self, encoding: str = "UTF8") -> None:
        self._encoding = encoding

    def name(self, name: str) -> str:
        return super().name(name).replace("%", "%%")  # a % begins a parameter

    def bytes(self, cell: str) -> str:
        text = f"CAST({cell} AS text)"
        if self._encoding == _BYTES:
            text = f"(CASE WHEN {text} ~ '{_UTF8}' THEN {text} END)"
        return f'{text} COLLATE "C"'

    def broken(self, cell: str) -> str | None:
        return f"CAST({cell} AS text) !~ '{_UTF8}'" if self._encoding == _BYTES else None

    def decimal(self, field: Field) -> str:
        cell = self.name(field.name)
        return f"CASE WHEN {cell} = 'NaN' THEN NULL ELSE CAST(trim_scale({cell}) AS text) END"

    def literal(self, text: str) -> str:
        if "\0" in text or (self._encoding not in ("UTF8", _BYTES) and not _holds(self._encoding, text)):
            return "CAST(NULL AS text)"
        return f"convert_from(decode('{text.encode().hex()}', 'hex'), 'UTF8')"

    def trim(self, cell: str) -> str:
        if self._encoding == _BYTES:  # where a sign is a byte, those of others would be cut off with them
            return f"btrim({cell}, ' ')"
        blanks = "".join(sign for sign in BLANKS if self._encoding == "UTF8" or _holds(self._encoding, sign))
        return f"btrim({cell}, {self.literal(blanks)})"

    def not_a_number(self, cell: str) -> str:
        return f"{cell} = 'NaN'"

    def nearest(self, field: Field, low: Fraction, step: Fraction) -> str:
        cell = f"CAST({self.name(field.name)} AS numeric)"
        return f"CAST(div(2 * ({cell} - ({to_text(low)})) + {to_text(step)}, 2 * {to_text(step)}) AS bigint)"

    def infinite(self, cell: str, number: Number) -> str:
        if number.type == "numeric":  # which has infinite values since version 14, and before does not know the word
            return f"CAST({cell} AS text) IN ('Infinity', '-Infinity')"
        return super().infinite(cell, number)

    def days(self, field: Field, unit: str | None) -> str:
        cell = self.name(field.name)
        moment = f"({cell} AT TIME ZONE 'UTC')" if field.moment == "instant" else cell
        day = f"CAST({moment} AS date)"
        if unit not in (None, "day"):  # but not at the ends of the calendar, where a period may begin before it
            first = f"CAST(date_trunc('{unit}', CAST({day} AS timestamp)) AS date)"
            day = f"CASE WHEN {day} BETWEEN {_FIRST} AND {_LAST} THEN {first} ELSE {day} END"
        return (
            f"CASE WHEN {cell} = 'infinity' THEN {LAST_DAY} WHEN {cell} = '-infinity' THEN -{LAST_DAY} "
            f"ELSE ({day}) - DATE '1970-01-01' END"
        )

    def micros(self, field: Field) -> str:
        cell = self.name(field.name)
        moment = f"({cell} AT TIME ZONE 'UTC')" if field.moment == "instant" else cell
        return (
            f"CASE WHEN {cell} = 'infinity' THEN {LAST_MOMENT} WHEN {cell} = '-infinity' THEN -{LAST_MOMENT} "
            f"WHEN CAST({moment} AS date) <= {_LAST} THEN CAST(extract(epoch FROM {moment}) * 1000000 AS bigint) END"
        )

    def sha256(self, text: str) -> str:
        return f"encode(sha256(convert_to({text}, 'UTF8')), 'hex')"

    def word(self, digits: str, i: int) -> str:
        return f"CAST(CAST('x0' || substr({digits}, {1 + 15 * i}, 15) AS bit(64)) AS bigint)"

    def dictionary(self, i: int, form: Form, to: Form) -> str:
        return f"unnest(%(v{i})s::{_ARRAYS[form]}, %(id{i})s::{_ARRAYS[to]}) AS d{i}(v, id)"

    def key(self) -> str:
        return "(SELECT %(key)s::text AS word) AS k"

    def one_row_sql(self, rows: str, parts: list[str]) -> str:  # type: ignore[override]
        """One aggregate for each person; a window would keep all rows."""
        lists = ", ".join(f"array_agg({name} ORDER BY {order(parts)}) AS {name}" for name in parts)
        each = f"SELECT who, count(*) AS n, {lists} FROM ({rows}) AS t GROUP BY who"
        drawn = pick(self, "who", "word", "n")
        kept = f"SELECT {', '.join(parts)}, CAST({drawn} AS int) + 1 AS i FROM ({each}) AS t CROSS JOIN {self.key()}"
        return f"SELECT {', '.join(f'{name}[i] AS {name}' for name in parts)} FROM ({kept}) AS t"


def _holds(encoding: str, text: str) -> bool:
    """Whether a database in such an encoding can hold the text."""
    try:
        text.encode(re.sub(r"^WIN", "cp", encoding))
        return True
    except (UnicodeEncodeError, LookupError):
        return text.isascii()


def _integers(name: str, bits: int) -> Number:
    return Number(name, Fraction(-(2 ** (bits - 1))), Fraction(2 ** (bits - 1) - 1), Fraction(1))


_INTEGERS: Final = {21: _integers("smallint", 16), 23: _integers("integer", 32), 20: _integers("bigint", 64)}
_FLOATS: Final = {
    700: (Number("real", -Fraction(2**24 - 1) * 2**104, Fraction(2**24 - 1) * 2**104), pa.float32()),
    701: (Number("double precision", -Fraction(2**53 - 1) * 2**971, Fraction(2**53 - 1) * 2**971), pa.float64()),
}
_MOMENTS: Final = {1082: "date", 1114: "local", 1184: "instant"}
_TEXTS: Final = (18, 19, 25, 1042, 1043, 2950)  # "char", name, text, char(n), varchar, uuid
_BOOLEAN, _NUMERIC = 16, 1700
_MOST: Final = Fraction(10) ** 131072


def field(name: str, oid: int, precision: int | None, scale: int | None, texts: Mapping[int, bool]) -> Field:
    """The column that the server describes so."""
    if oid in _INTEGERS:
        return Field(name, ColumnType.INTEGER, _INTEGERS[oid])
    if oid in _FLOATS:
        return Field(name, ColumnType.FLOAT, *_FLOATS[oid])
    if oid in _MOMENTS:
        return Field(name, ColumnType.DATE, moment=_MOMENTS[oid])
    if oid == _BOOLEAN:
        return Field(name, ColumnType.BOOLEAN)
    if oid == _NUMERIC:
        # Without a grid even where the type has one: not-a-number is a value of it.
        fits = precision is not None and scale is not None and 0 <= scale <= precision <= 38
        return Field(
            name,
            ColumnType.DECIMAL,
            Number("numeric", -_MOST, _MOST),
            pa.decimal128(precision, scale) if fits else None,
        )
    return Field(name, ColumnType.TEXT if oid in _TEXTS or texts.get(oid) else ColumnType.OTHER)


class _Raw(Loader):  # type: ignore[misc]  # psycopg is not looked into
    """Text as bytes: an old database may hold what is no UTF-8."""

    def load(self, data: Any) -> bytes:
        return bytes(data)


class _Server(Database):
    """A table or a query, by a connection of its own."""

    def __init__(self, url: str, table: str) -> None:
        self._connection = _connect(url)
        weakref.finalize(self, self._connection.close)
        self.dialect: Dialect = PostgreSQL(self._connection.info.parameter_status("server_encoding") or "UTF8")
        if is_query(table):
            self._check_query(bare(table))
        self.people = _relation(table)
        self._named = None if is_query(table) else self.people.replace("%%", "%")
        described: Any = None
        with self.snapshot(), suppress(psycopg.Error, UnicodeError):
            with self._cursor() as cursor:
                # With a parameter it goes by the extended protocol; what is streamed does anyway.
                cursor.execute(f"SELECT * FROM {self.people} LIMIT %(none)s", {"none": 0})
                described = cursor.description or []
                found = cursor.execute(_TEXT_TYPES, {"oids": [each.type_code for each in described]}).fetchall()
            texts = {oid: bool(text) for oid, text in found}
            self.fields = tuple(field(c.name, c.type_code, c.precision, c.scale, texts) for c in described)
            return
        raise WrongUse(
            "the table cannot be read; check its name (schema.table, if not in the search path) or the query, and that "
            "you may read it"
        )

    def _check_query(self, query: str) -> None:
        """Refuse what is not one statement, or calls a function that the server takes for one with effects.

        Guarantee: the server has parsed the text by itself, as the one statement that a prepared statement is. It
        begins with a word that no command begins with; and that it only reads, the transaction sees to.
        """
        row: Any = None
        with self.snapshot(), suppress(psycopg.Error, UnicodeError), self._cursor() as cursor:
            parsed = self._connection.pgconn.prepare(b"", query.encode())
            if parsed.status == ExecStatus.COMMAND_OK and not re.search(r'u&\s*"', query, re.IGNORECASE):
                row = cursor.execute(_VOLATILE, {"names": sorted(function_names(query))}).fetchall()
        if row is None:
            raise WrongUse(ONE_SELECT)
        if row:
            raise WrongUse(
                "a query calls no function that may change something or answers differently each time, and "
                f"{bytes(row[0][0]).decode()!r} is VOLATILE in this database; leave it out, or declare it STABLE if "
                "it is"
            )

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction: repeatable reads, and nothing else."""
        try:
            yield
        finally:
            with suppress(psycopg.Error):  # of a server that is gone
                self._connection.rollback()

    def _cursor(self) -> psycopg.Cursor[Any]:
        """In a transaction of ours, with what is set in it."""
        cursor = self._connection.cursor(binary=False)
        if self._connection.info.transaction_status is TransactionStatus.IDLE:
            cursor.execute(_SETTINGS)
        return cursor

    def stream(self, query: SqlQuery) -> Iterator[pa.RecordBatch]:
        """As the server sends it. Not by a cursor of the server: it would count with one process alone."""
        given: dict[str, Any] = {} if query.key is None else {"key": query.key}
        for i, each in (query.lookups or {}).items():
            given |= {f"v{i}": each.column("v").to_pylist(), f"id{i}": each.column("id").to_pylist()}
        types = {name: ARROW[form] for name, form in query.forms.items()}
        try:
            with self._cursor() as cursor:
                yield from batches(cursor.stream(query.sql, given, size=_ROWS), types)
                return
        except (psycopg.Error, pa.ArrowException, OverflowError, ValueError):
            pass
        raise WrongUse(UNCOUNTABLE)

    def identity(self) -> Identity:
        """The cluster and the database by what they call themselves, however they are reached, and the tables read."""
        identifier = self._value(_CLUSTER) or self._value(_DATABASE)
        plan = self._value(f"EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM {self.people}")
        if identifier is None or plan is None:
            raise WrongUse(UNCOUNTABLE)
        info = self._connection.info
        name = hashlib.sha256(f"postgresql {identifier[0]} {identifier[1]}".encode()).hexdigest()
        path = f"postgresql://{info.host}:{info.port}/{info.dbname}"
        tables = tuple(sorted(set(_read(plan[0]))))
        return Identity(parts=(Part(path=path, device=0, inode=0, digest=name, changed=time.time_ns(), tables=tables),))

    def is_key(self, column: str) -> bool:
        """Whole numbers, UUIDs, and texts that are compared byte by byte. The order of other collations comes from the
        operating system, and an index that was made before an update of that may have let the same text in twice."""
        if self._named is None:
            return False
        with suppress(psycopg.Error), self._cursor() as cursor, self._connection.transaction():  # a savepoint
            row = cursor.execute(_UNIQUE, {"table": self._named, "column": column}).fetchone()
            return row is not None
        return False

    def _value(self, sql: str) -> Any:
        """One row, or None where the server refuses."""
        with self.snapshot(), suppress(psycopg.Error), self._cursor() as cursor:
            return next(iter(list(cursor.stream(sql, {}))), None)
        return None


_VOLATILE: Final = (
    "SELECT proname::text FROM pg_catalog.pg_proc WHERE proname = ANY(%(names)s::text[]) AND provolatile = 'v' "
    "ORDER BY 1 LIMIT 1"
)
_TEXT_TYPES: Final = (
    "SELECT oid::bigint, typcategory = 'E' OR typname = 'citext' FROM pg_catalog.pg_type "
    "WHERE oid = ANY(%(oids)s::oid[])"
)
_UNIQUE: Final = (
    # Of a table without heirs, whose rows its own index does not know, or of all parts of one that is in parts; valid,
    # for all rows, of one column and no expression, and never put off to the end of a transaction.
    "SELECT 1 FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_index AS i ON i.indrelid = t.oid "
    "JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = i.indkey[0] "
    "JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[0] JOIN pg_catalog.pg_am AS m ON m.oid = o.opcmethod "
    "LEFT JOIN pg_catalog.pg_collation AS c ON c.oid = i.indcollation[0] "
    "WHERE t.oid = to_regclass(%(table)s) AND (t.relkind = 'p' OR (t.relkind = 'r' AND NOT t.relhassubclass)) "
    "AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indislive "
    "AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1 "
    "AND m.amname = 'btree' AND o.opcdefault AND a.attname = %(column)s AND NOT a.attisdropped "
    "AND (a.atttypid IN (20, 21, 23, 2950) OR (a.atttypid IN (25, 1043) AND c.collname IN ('C', 'POSIX') "
    "AND c.collnamespace = 'pg_catalog'::regnamespace)) LIMIT 1"
)
_CLUSTER: Final = (
    "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text, oid::text "
    "FROM pg_catalog.pg_database WHERE datname = current_database()"
)

_DATABASE: Final = (  # of a server that tells only its administrators
    "SELECT coalesce(inet_server_addr()::text, '') || ' ' || current_setting('port'), oid::text "
    "FROM pg_catalog.pg_database WHERE datname = current_database()"
)


def _read(plan: Any) -> Iterator[str]:
    """The tables in a plan."""
    if isinstance(plan, list):
        for each in plan:
            yield from _read(each)
    elif isinstance(plan, dict):
        if "Relation Name" in plan:
            yield f"{plan.get('Schema', '')}.{plan['Relation Name']}"
        for each in plan.values():
            yield from _read(each) if isinstance(each, dict | list) else ()


def _relation(table: str) -> str:
    """What stands after FROM: a query in brackets, or a name, with its schema if that is said. Parts that stand in
    quotation marks may have dots in them."""
    if is_query(table):
        return f"({bare(table).replace('%', '%%')}\n) AS hubbub_people"
    parts = table.split(".", 1)
    if quoted := re.fullmatch(r"(?:(\w+|\"(?:[^\"]|\"\")+\")[.])?\"((?:[^\"]|\"\")+)\"", table):
        parts = [re.sub(r'^"|"$', "", part).replace('""', '"') for part in quoted.groups() if part]
    return ".".join(map(PostgreSQL().name, parts))


def _connect(url: str) -> psycopg.Connection[Any]:
    """As libpq connects: the address, PGPASSWORD, the password file, a service. No message has any of it."""
    connection = None
    try:
        given = conninfo_to_dict(url)
        given.setdefault("connect_timeout", str(_WAIT))
        given.setdefault("application_name", "hubbub")
        connection = psycopg.connect(**{**given, "client_encoding": "utf8"})
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        connection.prepare_threshold = None
        connection.adapters.register_loader("text", _Raw)
        return connection
    except (psycopg.Error, UnicodeError):  # its message may have the address in it
        if connection is not None:
            connection.close()
    raise WrongUse(
        f"the PostgreSQL server cannot be reached, does not let you in, or does not answer within {_WAIT} seconds (or "
        "connect_timeout=, if the address has that); check the address, and the password in PGPASSWORD or the password "
        "file"
    )


def open_postgresql(url: str, table: str | None, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """A table, a view or a query at an address like postgresql://host/database."""
    if table is None:
        raise WrongUse("a database holds many tables; name one with `table`, or give a query that begins with SELECT")
    return SqlEngine(_Server(url, table), unreadable=unreadable)
