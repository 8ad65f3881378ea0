"""A frame, a table or a query of Spark's (3.5 or later), counted where it is; classic sessions and Connect.

Nothing is set in the session, and what is set there (a zone, ANSI or not, how literals are read) changes nothing: text
is spelled in digits, times are taken in UTC by whole numbers, and no expression fails for the sake of a value. The
relations that a query needs are views of the session, for as long as it runs. The key of a choice is a row of such a
view, and so in no plan.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from itertools import count
from logging import LogRecord
from threading import get_ident
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from hubbub.engines.column import Number
from hubbub.engines.identity import of_files
from hubbub.engines.join import ELSEWHERE
from hubbub.engines.query import ONE_SELECT, bare, function_names, is_query
from hubbub.engines.spark.spark_publish import SparkCounts, as_arrow, convert_answer
from hubbub.engines.sql.database import CountRequest, Database, SqlQuery
from hubbub.engines.sql.dialect import ARROW, KEY, Dialect, Field, Form
from hubbub.engines.sql.joined import check_keys, columns_of, partners_of
from hubbub.engines.sql.queries import keyed_hash, order, part, rank_of_digits
from hubbub.engines.sql.sql_engine import UNCOUNTABLE, SqlEngine
from hubbub.errors import WrongUse
from hubbub.tables.identity import Identity, Part
from hubbub.tables.inspection import Partners
from hubbub.tables.schema import ColumnType

_DAY: Final = 86_400_000_000  # microseconds
_FIRST: Final = -9_223_372_022_400_000_000  # the first moment that files can hold
_FAR: Final = 100_000_000  # days
_LAST_DAY: Final = 106_751_991  # on which microseconds end; minus this, begin
_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # they write what Spark says of a cell
_SPARK: Final = {Form.TEXT: "string", Form.INTEGER: "bigint", Form.FLOAT: "double"}
_BUCKETS: Final = 1 << 16
_SMALL: Final = 1_000_000  # rows that are sent to every machine
_UNITS: Final = {"month": "MM", "quarter": "QUARTER", "year": "YEAR"}


class Spark(Dialect):
    """How Spark spells it. Columns have names of ours: those of a frame may differ in case alone."""

    lines = True

    def __init__(self, columns: Sequence[str] = (), *, knows_utf8: bool = True) -> None:
        self._aliases = {name: f"c{i}" for i, name in enumerate(columns)}
        self._knows_utf8 = knows_utf8

    def name(self, name: str) -> str:
        return self._aliases[name]

    def bytes(self, cell: str) -> str:
        return cell

    def broken(self, cell: str) -> str | None:
        if self._knows_utf8:
            return f"NOT is_valid_utf8({cell})"
        raw = f"CAST({cell} AS BINARY)"  # Spark 3.5: what is no UTF-8 does not come back from being decoded
        return f"CAST(decode({raw}, 'UTF-8') AS BINARY) <> {raw}"

    def text(self, cell: str) -> str:
        return f"CAST({cell} AS STRING)"

    def literal(self, text: str) -> str:
        return f"CAST(X'{text.encode().hex()}' AS STRING)"

    def different(self, cell: str) -> str:
        return f"approx_count_distinct({cell})"  # of several columns at once, exact ones would multiply the rows

    def quotient(self, a: str, b: int) -> str:
        return f"({a} div {b})"

    def not_a_number(self, cell: str) -> str:
        return f"isnan({cell})"

    def double(self, numeral: str) -> str:
        return f"CAST('{numeral}' AS DOUBLE)"

    def as_double(self, cell: str) -> str:
        return f"CAST({cell} AS DOUBLE)"

    def multiples(self, field: Field) -> str:
        cell = self.name(field.name)
        if field.type is None:
            return self.integer(cell)
        # Within the range of a measure this is exact: it was checked that doubles hold it.
        return self.floor(f"CAST({cell} AS DOUBLE) * {10**field.type.scale} + CAST('0.5' AS DOUBLE)")

    def days(self, field: Field, unit: str | None) -> str:
        cell = self.name(field.name)
        if field.moment == "instant":
            micros = f"unix_micros({cell})"
            days = f"CAST(({micros} - pmod({micros}, {_DAY})) div {_DAY} AS INT)"
            day = f"CASE WHEN {micros} >= {_FIRST} THEN date_from_unix_date({days}) END"
        else:
            day = f"CAST({cell} AS DATE)"
        if unit in _UNITS:  # but not at the ends of the calendar, where a period may begin before it
            near = f"unix_date({day}) BETWEEN -{_FAR} AND {_FAR}"
            day = f"CASE WHEN {near} THEN trunc({day}, '{_UNITS[unit]}') ELSE {day} END"
        return f"CAST(unix_date({day}) AS BIGINT)"

    def micros(self, field: Field) -> str:
        cell = self.name(field.name)
        if field.moment == "instant":
            return f"unix_micros({cell})"
        day, seconds = f"unix_date(CAST({cell} AS DATE))", f"CAST(hour({cell}) * 3600 + minute({cell}) * 60 AS BIGINT)"
        micros = f"{day} * {_DAY} + {seconds} * 1000000 + CAST(extract(SECOND FROM {cell}) * 1000000 AS BIGINT)"
        return f"CASE WHEN {day} BETWEEN -{_LAST_DAY} AND {_LAST_DAY} - 1 THEN {micros} END"

    def sha256(self, text: str) -> str:
        return f"sha2(CAST({text} AS BINARY), 256)"

    def word(self, digits: str, i: int) -> str:
        """Spark has no cheap way from digits to a number but a hash. Of 8 bytes xxhash64 is one to one: it multiplies by
        odd numbers, turns, adds constants and shifts onto itself, each of which can be undone. So its last 60 bits are
        as uniform as the 16 digits are."""
        return f"(xxhash64(unhex(substr({digits}, {1 + 16 * i}, 16))) & {2**60 - 1})"

    def one_row_sql(self, rows: str, parts: Sequence[str]) -> str:
        """One aggregate for each person, and one shuffle: a window sorts all rows (benchmarks/README.md).

        Rows are moved before they are collected: most people have few on a machine, and to collect those first is work
        for nothing.
        """
        cells = ", ".join(f"'{name}_', {name} IS NULL, '{name}', {name}" for name in parts)
        # A list leaves missing values out. Of one part that is as good: they come last, and beyond the list is nothing.
        bins = f"named_struct({cells})" if len(parts) > 1 else parts[0]
        each = f"SELECT who, count(*) AS n, collect_list({bins}) AS b FROM ({rows} DISTRIBUTE BY who) AS t GROUP BY who"
        # The hash is named, so that it is worked out once for each person and not once for each half of it.
        digits = f"CASE WHEN n > 1 THEN {keyed_hash(self, 'who', 'word')} END"
        known = f"SELECT b, n, {digits} AS h FROM ({each}) AS t CROSS JOIN {KEY}"
        kept = f"SELECT get(sort_array(b), CAST({rank_of_digits(self, 'h', 'n')} AS INT)) AS b FROM ({known}) AS t"
        names = [f"b.{name} AS {name}" for name in parts] if len(parts) > 1 else [f"b AS {parts[0]}"]
        return f"SELECT {', '.join(names)} FROM ({kept}) AS t"

    def bucket(self, names: Sequence[str]) -> str:
        return f"pmod(xxhash64({', '.join(names)}), {_BUCKETS})"

    def ranked_rows_sql(self, rows: str, names: Sequence[str], positions: str) -> str:
        """Equal rows are one stretch of numbers; only buckets that somebody was drawn from are numbered."""
        cells, sorted_ = ", ".join(names), order(names)
        joined_rows = f"SELECT t.* FROM ({rows}) AS t LEFT SEMI JOIN {positions} ON b = d0.v"
        each = f"SELECT b, {cells}, count(*) AS n FROM ({joined_rows}) AS t GROUP BY b, {cells}"
        before = f"sum(n) OVER (PARTITION BY b ORDER BY {sorted_} ROWS UNBOUNDED PRECEDING) - n AS first"
        stretches = f"SELECT t.*, {before} FROM ({each}) AS t"
        inside = "b = d0.v AND d0.id >= first AND d0.id < first + n"
        return f"SELECT {cells}, b, d0.id AS i FROM ({stretches}) AS t JOIN {positions} ON {inside}"


_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_FLOATS: Final = {
    "float": (Number("FLOAT", -Fraction(2**24 - 1) * 2**104, Fraction(2**24 - 1) * 2**104), pa.float32()),
    "double": (Number("DOUBLE", -Fraction(2**53 - 1) * 2**971, Fraction(2**53 - 1) * 2**971), pa.float64()),
}
_MOMENTS: Final = {"date": "date", "timestamp_ntz": "local", "timestamp": "instant"}


def field(name: str, kind: str) -> Field:
    """The column of such a type."""
    if kind in _BITS:
        end = Fraction(2 ** (_BITS[kind] - 1))
        return Field(name, ColumnType.INTEGER, Number(kind, -end, end - 1, Fraction(1)))
    if kind in _FLOATS:
        return Field(name, ColumnType.FLOAT, *_FLOATS[kind])
    if kind in _MOMENTS:
        return Field(name, ColumnType.DATE, moment=_MOMENTS[kind])
    if decimal := re.fullmatch(r"decimal\((\d+),(\d+)\)", kind):
        grid = Fraction(1, 10 ** int(decimal[2]))
        most = (10 ** int(decimal[1]) - 1) * grid
        type_ = pa.decimal128(int(decimal[1]), int(decimal[2]))
        return Field(name, ColumnType.DECIMAL, Number(kind, -most, most, grid), type_)
    if kind == "boolean":
        return Field(name, ColumnType.BOOLEAN)
    return Field(name, ColumnType.TEXT if re.match(r"(string|char|varchar)\b", kind) else ColumnType.OTHER)


@contextmanager
def _quietly() -> Iterator[None]:
    """Nothing is written about what fails here: Spark 4 logs what it says of a cell before we catch it."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # Spark 3.5 logs nothing
        yield
        return
    here = get_ident()

    def elsewhere(record: LogRecord) -> bool:
        return record.thread != here

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(elsewhere)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(elsewhere)


_EFFECTS: Final = frozenset({"reflect", "java_method", "try_reflect"})
"""Functions of Spark's that run any code of Java's."""
_RUNS: Final = re.compile(r"\busing\b(?!\s*\()|\bidentifier\b|\$\{", re.IGNORECASE)
"""What runs a program of the system's (TRANSFORM (a) USING 'program'; the USING of a join has a bracket), and what
names a function by a text of its own or by a setting (IDENTIFIER('a')(b), ${a}), rather too much than too little."""

_numbers = count(1)


def _own() -> str:
    """The end of a view's name that no other query has."""
    return f"{os.getpid()}_{next(_numbers)}"


def _plain(name: str, kind: str) -> str:
    """A text is compared as bytes, whatever its column prefers."""
    return f"CAST(CAST({name} AS BINARY) AS STRING) AS {name}" if kind.startswith("string collate") else name


class _Frame(Database):
    """A frame with columns c0, c1, ..., and the session that it belongs to."""

    def __init__(self, frame: Any, identity: Callable[[], Identity] | None = None) -> None:
        self._given, self._identity = frame, identity
        try:
            kinds = [(each.name, each.dataType.simpleString()) for each in frame.schema.fields]
            self._session = frame.sparkSession
            self._frame = frame.toDF(*(f"c{i}" for i in range(len(kinds)))).selectExpr(
                *(_plain(f"c{i}", kind) for i, (_, kind) in enumerate(kinds))
            )
        except Exception:  # of Spark, of Java, of a channel: the message may quote a cell
            kinds = None
        if kinds is None:
            raise WrongUse("the table cannot be read; check its name or the query, and that you may read it")
        self.fields = tuple(field(name, kind) for name, kind in kinds)
        self.dialect: Dialect = Spark([name for name, _ in kinds], knows_utf8=_knows_utf8(self._session))
        self.people = self._view = f"hubbub_people_{_own()}"

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Spark reads a frame anew each time; what it reads is not ours to hold."""
        yield

    def table(self, query: SqlQuery) -> pa.Table:
        try:
            with self.frame_of(query) as answer:
                return _fetch(answer, query.forms)
        except Exception:  # of Spark, of Java, of a channel: the message may quote a cell
            pass
        raise WrongUse(UNCOUNTABLE)

    @contextmanager
    def frame_of(self, query: SqlQuery) -> Iterator[Any]:
        """The answer as a frame, which can be worked with as long as the views that it reads are there."""
        own, sql = _own(), query.sql
        views: dict[str, Any] = {self._view: self._frame}
        try:
            if query.key is not None:
                views[f"{KEY}_{own}"] = _everywhere(self._session.createDataFrame([(query.key,)], "word string"))
                sql = sql.replace(KEY, f"{KEY}_{own}")
            for i, each in (query.lookups or {}).items():
                views[f"hubbub_words_{i}_{own}"] = self._send(each)
                sql = sql.replace(f"hubbub_words_{i} ", f"hubbub_words_{i}_{own} ")
            for name, view in views.items():
                view.createOrReplaceTempView(name)
            cast = [f"CAST({name} AS {_SPARK[form]}) AS {name}" for name, form in query.forms.items()]
            with _quietly():
                yield self._session.sql(sql).selectExpr(*cast)
        finally:
            for name in views:
                with suppress(Exception):
                    self._session.catalog.dropTempView(name)

    def with_key_column(self, on: str, cells: Sequence[str], key: str) -> Any:
        """The frame with its column of people as `key`, as it is counted, and these expressions of its cells."""
        who = part(self.dialect, next(each for each in self.fields if each.name == on)).sql
        return self._frame.selectExpr(f"{who} AS {key}", *cells)

    def is_with(self, other: _Frame) -> bool:
        """Whether both frames are of one session."""
        return self._session is other._session

    def remote_count(self, request: CountRequest) -> SparkCounts:
        """Counts that stay with Spark. Its tasks in Python look for no module in the folder that Spark was started in;
        a server of Connect is told nothing, and works where it was set up."""
        with suppress(Exception):
            self._session.sparkContext.environment["PYTHONSAFEPATH"] = "1"
        return SparkCounts(self, request)

    def stream(self, query: SqlQuery) -> Iterator[pa.RecordBatch]:
        """Spark hands over all at once; here each batch is let go when it was read."""
        left = self.table(query).to_batches()[::-1]
        while left:
            yield left.pop()

    def _send(self, lookup: pa.Table) -> Any:
        kinds = {pa.string(): "string", pa.int64(): "bigint", pa.float64(): "double"}
        schema = ", ".join(f"{each.name} {kinds[each.type]}" for each in lookup.schema)
        rows = list(zip(*(column.to_pylist() for column in lookup.columns), strict=True))
        sent = self._session.createDataFrame(rows, schema)
        return _everywhere(sent) if lookup.num_rows <= _SMALL else sent

    def identity(self) -> Identity:
        """The files that are read, as far as Spark tells; a frame made of something else has no identity."""
        if self._identity is not None:
            return self._identity()
        try:
            found = list(self._given.inputFiles())
        except Exception:  # of Spark, of Java, of a channel
            found = []
        local = [unquote(urlsplit(each).path) for each in found if urlsplit(each).scheme in ("file", "")]
        remote = sorted({each for each in found if urlsplit(each).scheme not in ("file", "")})
        parts = of_files(local).parts if local else ()
        return Identity(parts=(*parts, *map(_remote_part, remote)))


def _everywhere(small: Any) -> Any:
    """Sent to every machine: Spark does not know that it is small, and would move the people instead, or read them
    once for each part of it."""
    return small.hint("broadcast")


def _remote_part(address: str) -> Part:
    """A file somewhere else, known by its address alone."""
    parsed = urlsplit(address)
    plain = f"{parsed.scheme}://{parsed.hostname or ''}{parsed.path}"  # without a user and a password
    name = hashlib.sha256(plain.encode()).hexdigest()
    return Part(path=plain, device=0, inode=0, digest=name, changed=time.time_ns())


def _fetch(answer: Any, forms: Mapping[str, Form]) -> pa.Table:
    """As Arrow, each column in its form."""
    return convert_answer(as_arrow(answer, pa.schema({name: ARROW[form] for name, form in forms.items()})), forms)


def _knows_utf8(session: Any) -> bool:
    """Whether the session has the function, in whatever catalog it is: the query is looked at and not run."""
    try:
        with _quietly():
            return bool(session.sql("SELECT is_valid_utf8('')").schema.fields)
    except Exception:  # Spark 3.5
        return False


def is_frame(source: object) -> bool:
    """Whether it is a frame of Spark's, classic or not."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "sparkSession")


def is_session(source: object) -> bool:
    """Whether it is a session of Spark's."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "createDataFrame")


def open_frame(frame: Any, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """A frame of Spark's."""
    return SqlEngine(_Frame(frame), unreadable=unreadable)


class Joined(_Frame):
    """A join of two frames of one session (:mod:`hubbub.engines.join`)."""

    def __init__(self, first: _Frame, second: _Frame, on: str) -> None:
        self._first, self._second, self._on = first, second, on
        if not first.is_with(second):
            raise WrongUse(ELSEWHERE)
        names = columns_of(first, second, on)
        one = first.with_key_column(
            on, [f"{first.dialect.name(own)} AS f{i}" for i, own in enumerate(names.first.values())], _ID
        )
        other = second.with_key_column(
            on, [f"{second.dialect.name(own)} AS s{i}" for i, own in enumerate(names.second.values())], _ID
        )
        cells = [*(f"f{i}" for i in range(len(names.first))), *(f"s{i}" for i in range(len(names.second)))]
        made = other.join(one, on=[_ID], how="left").select(*cells).toDF(*names.first, *names.second)
        super().__init__(made, lambda: first.identity().join(second.identity()))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Begins with the refusal of a first frame in which somebody has several rows, or a row nobody."""
        check_keys(self._first, self._first, self._on)
        yield

    def partners(self) -> Partners:
        """How the two frames meet; for the steward alone."""
        one, other = (
            each.with_key_column(self._on, [f"{a} AS a", f"{b} AS b"], "who")
            for each, a, b in ((self._first, 1, 0), (self._second, 0, 1))
        )
        rows = _Frame(one.unionAll(other))
        return partners_of(rows, f"SELECT c0 AS who, c1 AS a, c2 AS b FROM {rows.people}", self._on)


_ID: Final = "hubbub_id"


def join_frames(first: SqlEngine, second: SqlEngine, on: str) -> SqlEngine | None:
    """A join of two frames of Spark's; None if one of the tables is none."""
    if not isinstance(first.database, _Frame) or not isinstance(second.database, _Frame):
        return None
    return SqlEngine(Joined(first.database, second.database, on), unreadable=second.allowed_share)


def open_session(session: Any, table: str | None, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """A table, a view or a query of a session."""
    if table is None:
        raise WrongUse("a session holds many tables; name one with `table`, or give a query that begins with SELECT")
    if is_query(table) and ({name.lower() for name in function_names(table)} & _EFFECTS or _RUNS.search(table)):
        raise WrongUse(ONE_SELECT)
    try:
        with _quietly():
            if is_query(table):
                session.sql(f"EXPLAIN {bare(table)}")  # it is whole by itself, and is not run
            # In brackets Spark's parser takes a query and nothing else; alone, WITH and FROM may begin an INSERT.
            frame = session.sql(f"SELECT * FROM (\n{bare(table)}\n)") if is_query(table) else session.table(table)
            frame.schema  # noqa: B018  # Connect looks only now
    except Exception:  # of Spark, of Java, of a channel: the message may quote a cell
        frame = None
    if frame is None and is_query(table):
        raise WrongUse(ONE_SELECT)
    if frame is None:
        raise WrongUse("the table cannot be read; check its name or the query, and that you may read it")
    return open_frame(frame, unreadable=unreadable)


def open_spark(url: str, table: str | None, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """A table of the cluster at spark://host:port, or of the Connect server at sc://host:port."""
    return open_session(session_at(url), table, unreadable=unreadable)


# A session of Spark's by its address. No message has the address in it: that may hold a token.
#
# Left alone, pyspark asks a Connect server that does not answer again and again, for about ten minutes. So it is asked
# first whether it is there, for a stated time. What comes after that, such as a cluster that has to be started first, is
# left to Spark's own limits.
WAIT: Final = 30
"""Seconds that a server has to answer, whichever it is."""

SILENT: Final = (
    "the Spark server does not answer within {seconds} seconds; check the address, that the server is running, and "
    "that no firewall is in between"
)
UNREACHABLE: Final = "the Spark cluster cannot be reached; check the address, and that pyspark and Java are installed"


def session_at(url: str, wait: float = WAIT) -> Any:
    """A session at spark://host:port or, by Connect, at sc://host:port."""
    session, answers = None, True
    try:
        from pyspark.sql import SparkSession

        connect = url.startswith("sc://")
        answers = _is_ready(url, wait) if connect else _listens(url, wait)
        if answers:
            builder = SparkSession.builder.appName("hubbub")
            ours = not connect and SparkSession.getActiveSession() is None
            session = (builder.remote(url) if connect else builder.master(url)).getOrCreate()
            if ours:
                session.sparkContext.setLogLevel("OFF")  # what Spark says when a task fails may quote a cell
    except Exception:  # its message may have the address in it, and that a token
        pass
    if not answers:
        raise WrongUse(SILENT.format(seconds=f"{wait:g}"))
    if session is None:
        raise WrongUse(UNREACHABLE)
    return session


def _is_ready(url: str, wait: float) -> bool:
    """Whether a Connect server speaks with us: that a port is open says little, a proxy may hold it."""
    import grpc
    from pyspark.sql.connect.client import core

    builder = getattr(core, "DefaultChannelBuilder", core.ChannelBuilder)
    channel = builder(url).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=wait)
        return True
    except grpc.FutureTimeoutError:
        return False
    finally:
        channel.close()


def _listens(url: str, wait: float) -> bool:
    """Whether one of the masters, spark://host:port,host:port, takes a connection; Spark itself then gives up within
    a minute."""
    end = time.monotonic() + wait
    for master in url.removeprefix("spark://").split(","):
        parsed = urlsplit(f"spark://{master}")
        with suppress(OSError):
            left = max(end - time.monotonic(), 1)
            socket.create_connection((parsed.hostname or "", parsed.port or 7077), timeout=left).close()
            return True
    return False
