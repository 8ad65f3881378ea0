"""Who opens a source: the first engine that knows it.

Addresses of databases, and which engine opens one. No message repeats an address: it may hold a password.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from hubbub.dictionary.dictionary import NONE, Dictionary
from hubbub.engines.duckdb import duckdb_engine
from hubbub.engines.files import files
from hubbub.engines.files.csv_file import Form, form
from hubbub.errors import WrongUse, install
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, rational
from hubbub.tables.bins import Discovered, parse
from hubbub.tables.cell_format import Missing
from hubbub.tables.engine import CountQuery, Engine, MultiRowPolicy
from hubbub.tables.schema import ColumnType, Schema, bind_axes, column, is_numbering, names_a_thing, unnamed_person
from hubbub.tables.unlisted import AllowedOutside

if TYPE_CHECKING:
    from hubbub.engines.sql.sql_engine import SqlEngine

_POSTGRESQL: Final = ("postgresql://", "postgres://")
_SPARK: Final = ("spark://", "sc://")
_SQLITE: Final = "sqlite:///"
_EXTRAS: Final = {"psycopg": "postgresql", "pyspark": "spark"}
_WHERE: Final = {
    "sqlite": "hubbub.engines.sql.sqlite",
    "postgresql": "hubbub.engines.sql.postgresql",
    "spark": "hubbub.engines.spark.spark_engine",
}


def is_address(source: str | os.PathLike[str]) -> bool:
    """Whether it is an address and not a path."""
    return "://" in os.fspath(source)


def without_secrets(url: str) -> str:
    """An address as it may be shown: nothing after the user's name up to the last @, and no parameters.

    >>> without_secrets("postgresql://steward:open@sesame@host/city?sslmode=require&password=open")
    'postgresql://steward@host/city'
    >>> without_secrets("sc://host:15002/;token=open;user_id=steward"), without_secrets("sqlite:////tmp/a@b.sqlite")
    ('sc://host:15002/', 'sqlite:////tmp/a@b.sqlite')
    """
    if url.startswith(_SQLITE):
        return url
    scheme, mark, rest = url.partition("://")
    user, at, host = rest.rpartition("@")
    host = re.split(r"[?;#]", host, maxsplit=1)[0]
    return f"{scheme}{mark}{re.split(r'[:?;#/]', user, maxsplit=1)[0]}{at}{host}"


def open_address(url: str, table: str | None, *, unreadable: Fraction = Fraction(1)) -> SqlEngine:
    """The table, or the query, at an address."""
    if not is_text(url):
        raise WrongUse("an address is text in UTF-8; check how it was typed")
    if url.startswith(_SQLITE):
        return _engine("sqlite").open_sqlite(url.removeprefix(_SQLITE), table, unreadable=unreadable)  # type: ignore[no-any-return]
    if url.startswith(_POSTGRESQL):
        return _engine("postgresql").open_postgresql(url, table, unreadable=unreadable)  # type: ignore[no-any-return]
    if url.startswith(_SPARK):
        return _engine("spark").open_spark(url, table, unreadable=unreadable)  # type: ignore[no-any-return]
    raise WrongUse(
        "an address begins with postgresql://, sqlite:///, spark:// or sc:// (Spark Connect); give one of those, a "
        "file, or a frame"
    )


def is_text(given: str) -> bool:
    """What a shell hands over may be any bytes."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in given


def _engine(name: str) -> Any:
    """Loaded when it is asked for, and not before."""
    try:
        return import_module(_WHERE[name])
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
    raise WrongUse(f"{name} needs a package that is not installed; {install(extra)}")


if TYPE_CHECKING:  # what only joins, databases and looks need is loaded by them
    from hubbub.engines.sql.sql_engine import SqlEngine
    from hubbub.tables.inspection import Inspection, Partners

ONCE: Final = "a join is of two tables; join the others beforehand, one row for each person in the first"
_MOST_VALUES: Final = 1000  # of a column that are listed
_SHARES: Final = ("unlisted", "clamped")
_BOTH: Final = ("delimiter", "encoding", "unreadable", *_SHARES)  # of both tables of a join, where it is said once
_MOST_ROWS: Final = 100  # of an id on average; the values of a code have more


def open_source(
    source: object,
    *,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    no_header: str | None = None,
    unreadable: Exact = 1,
    unlisted: Exact = 1,
    clamped: Exact = 1,
    missing: str | Sequence[str] = (),
) -> Engine:
    """The table in a file, at an address, a frame, a relation, a connection or a session; how a CSV is written, if not
    as usual, and how missing cells are spelled."""
    declared = Missing.parse(missing)
    engine = _open(
        source,
        table,
        form(delimiter=delimiter, encoding=encoding, no_header=no_header),
        _share(unreadable, "unreadable"),
    )
    for name in declared.columns:
        column(engine.columns(), name)
    engine = engine.allowing(_read_shares(unlisted=unlisted, clamped=clamped))
    return engine.with_missing(declared) if declared.declared else engine


def _read_shares(**shares: Exact) -> AllowedOutside:
    return AllowedOutside(**{name: _share(value, name) for name, value in shares.items()})


def _open(source: object, table: str | None, how: Form, share: Fraction) -> Engine:
    if how.is_declared and not (isinstance(source, str | os.PathLike) and not is_address(source)):
        raise WrongUse("`delimiter`, `encoding` and `no_header` are about CSV files; leave them out")
    if not is_text(table or ""):
        raise WrongUse("the name of a table is text in UTF-8; check how it was typed")
    if isinstance(source, str | os.PathLike):
        if is_address(source):
            return open_address(os.fspath(source), table, unreadable=share)
        return files.open_file(source, table=table, form=how, unreadable=share)
    from hubbub.engines.files import frames

    if _is_spark(source):
        from hubbub.engines.spark import spark_engine

        if spark_engine.is_frame(source):
            return spark_engine.open_frame(source, unreadable=share)
        if spark_engine.is_session(source):
            return spark_engine.open_session(source, table, unreadable=share)
    if frames.is_connection(source):
        if table is None:
            raise WrongUse("a connection holds many tables; name one, like open(connection, table='people')")
        return frames.open_table(source, table, unreadable=share)
    if frames.is_relation(source):
        return frames.open_relation(source, unreadable=share)
    return frames.open_frame(source, unreadable=share)


def _is_spark(source: object) -> bool:
    return type(source).__module__.startswith("pyspark.sql")


def open_join(
    source: object, first: Engine, other: object, on: str, *, missing: str | Sequence[str] = (), **how: Any
) -> Engine:
    """The join of a table that was opened from `source` with another (:mod:`hubbub.engines.join`): a source like any,
    or, for a database, a connection or a session, the name of one of its tables. Cells that are spelled so are
    `missing` in both."""
    if not isinstance(on, str) or not on:
        raise WrongUse("say by which column people are found again in the other table, with `on=COLUMN`")
    if isinstance(other, str) and _has_tables(source) and not (_is_path(source) and os.path.isfile(other)):
        both = join(first, open_source(source, **{**how, "table": other}), on)
    else:
        both = join(first, open_source(other, **how), on)
    both = both.allowing(_read_shares(**{name: how[name] for name in _SHARES if name in how}))
    declared = Missing.parse(missing)
    for name in declared.columns:
        column(both.columns(), name)
    return both.with_missing(declared) if declared.declared else both


def join(first: Engine, second: Engine, on: str) -> Engine:
    """The rows of the second table, each with the columns of its person's row of the first."""
    from hubbub.engines.duckdb.joined import Joined
    from hubbub.engines.join import ELSEWHERE
    from hubbub.engines.sql.joined import Joined as JoinedInDatabase
    from hubbub.engines.sql.sql_engine import SqlEngine

    if isinstance(first, duckdb_engine.DuckDB) and isinstance(second, duckdb_engine.DuckDB):
        if isinstance(first, Joined) or isinstance(second, Joined):
            raise WrongUse(ONCE)
        return Joined(first, second, on)
    if not isinstance(first, SqlEngine) or not isinstance(second, SqlEngine):
        raise WrongUse(ELSEWHERE)
    if hasattr(first.database, "partners") or hasattr(second.database, "partners"):
        raise WrongUse(ONCE)
    if (frames_joined := _join_of_spark(first, second, on)) is not None:
        return frames_joined
    return SqlEngine(JoinedInDatabase(first.database, second.database, on), unreadable=second.allowed_share)


def _join_of_spark(first: SqlEngine, second: SqlEngine, on: str) -> Engine | None:
    """The join of two frames of Spark's; None if these are none."""
    if "hubbub.engines.spark.spark_engine" not in sys.modules:  # then nobody opened one
        return None
    from hubbub.engines.spark.spark_engine import join_frames

    return join_frames(first, second, on)


def _is_path(source: object) -> bool:
    return isinstance(source, str | os.PathLike) and not is_address(source)


def _has_tables(source: object) -> bool:
    """Whether it holds tables by name, so that another one is a word."""
    if isinstance(source, str | os.PathLike):
        return is_address(source) or os.fspath(source).lower().endswith((".duckdb", ".db"))
    from hubbub.engines.files import frames
    from hubbub.engines.spark import spark_engine

    return frames.is_connection(source) or spark_engine.is_session(source)


def open_inspection(
    source: object,
    specs: Sequence[str],
    person: str | None,
    *,
    where: str | None = None,
    of: str | None = None,
    join: str | None = None,
    on: str | None = None,
    by_name: bool = False,
    declared: Dictionary = NONE,
    **how: Any,
) -> Inspection:
    """A private look at a table for its steward; `how` it is opened, as above. With `by_name`, a column whose name says so
    tells who a row is about, if no `person` does. A table of which nothing in particular is asked is held against its
    data dictionary."""
    if join is None and on is None:
        table = open_source(source, **how)
        schema = table.columns()
        if person is None and by_name:
            person = unnamed_person(schema) or _find_repeated_id(table, schema)
        specs, of = [declared.bins(each, schema) for each in specs], None if of is None else declared.range(of, schema)
        found = inspect(table, specs, person, where=where, of=of)
        found = replace(found, possible_ids=tuple(name for name in _possible_ids(table, schema) if name != person))
        everything = declared.fields and not specs and where is None and of is None
        return replace(found, broken=_broken(table, declared)) if everything else found
    person, missing = joined_person(join, on, person), how.pop("missing", ())
    table = open_source(source, **how)
    both = {name: how[name] for name in _BOTH if name in how}
    return inspect(open_join(source, table, join, person, missing=missing, **both), specs, person, where=where, of=of)


def _find_repeated_id(table: Engine, schema: Schema) -> str | None:
    """The first column that numbers something, by its name, and does so several times: maybe those whom rows are about.
    One with few values is a code of something else.

    Guarantee: none. It is for the steward alone.
    """
    from hubbub.engines.duckdb.inspection import inspect_cells
    from hubbub.engines.sql.sql_engine import SqlEngine

    asked = [
        name for name, kind in schema.items() if kind in (ColumnType.TEXT, ColumnType.INTEGER) and is_numbering(name)
    ]
    if not isinstance(table, duckdb_engine.DuckDB | SqlEngine):
        return None
    for found in inspect_cells(table, (), asked)[1]:
        rows = sum(many * people for many, people in found.rows)
        if found.people < rows <= found.people * _MOST_ROWS:
            return found.column
    return None


def _possible_ids(table: Engine, schema: Schema) -> tuple[str, ...]:
    """The columns of words or whole numbers with far more values than a category has, some of them in several rows: they
    may say who a row is about, unless their names say that they are of a thing or an amount.

    Guarantee: none. It is for the steward alone.
    """
    from hubbub.engines.duckdb.inspection import inspect_cells
    from hubbub.engines.sql.sql_engine import SqlEngine

    if not isinstance(table, duckdb_engine.DuckDB | SqlEngine):
        return ()
    types = (ColumnType.TEXT, ColumnType.INTEGER)
    asked = [name for name, kind in schema.items() if kind in types and not names_a_thing(name)]
    return tuple(found.column for found in inspect_cells(table, (), asked)[1] if found.like_ids)


def _broken(table: Engine, declared: Dictionary) -> tuple[str, ...]:
    from hubbub.dictionary.dictionary import broken, held_keys, held_specs
    from hubbub.engines.duckdb.inspection import inspect_cells
    from hubbub.engines.sql.sql_engine import SqlEngine

    assert isinstance(table, duckdb_engine.DuckDB | SqlEngine)
    schema = table.columns()
    specs = [spec for _, spec in held_specs(declared, schema)]
    cells, keys = inspect_cells(table, specs, held_keys(declared, schema))
    return tuple(broken(declared, schema, cells, keys))


def found_values(table: Engine, name: str) -> list[str]:
    """The values that occur in a column, in order, where somebody declares that this is public.

    Guarantee: none. It is exact, and public by declaration alone.
    """
    if column(table.columns(), name) not in (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN):
        raise WrongUse(f"the values of {name} are listed where they are words or whole numbers; declare bins instead")
    axis = bind_axes((Discovered(name),), table.columns())[0]
    if not isinstance(axis, Discovered):
        return ["false", "true"]
    found = table.count(CountQuery(axes=(axis,), person=None, repeats=MultiRowPolicy.REFUSE), SystemSource()).found[0]
    if len(found) > _MOST_VALUES:
        raise WrongUse(f"{name} has more than {_MOST_VALUES:,} values; list those that are public in a file yourself")
    return sorted(each for each in found if each is not None)


def joined_person(join: object, on: str | None, person: str | None) -> str:
    """Who is a person in a join, or one sentence: by the column in which the tables meet, since whoever leaves takes
    their row of the first table and all theirs of the second."""
    if join is None or on is None:
        raise WrongUse("`join` and `on` belong together: the second table, and the column that both have; say both")
    if person is not None and person != on:
        raise WrongUse(
            f"in a join a person is whoever the tables are joined by, {on!r}, and not {person!r}; leave out `person`, "
            "or join by it"
        )
    return on


def inspect(
    table: Engine, specs: Sequence[str], person: str | None, *, where: str | None = None, of: str | None = None
) -> Inspection:
    """The same of a table that is open."""
    from hubbub.engines.duckdb.inspection import inspect_table
    from hubbub.engines.duckdb.joined import Joined
    from hubbub.engines.sql.sql_engine import SqlEngine
    from hubbub.tables.bounded_column import measured
    from hubbub.tables.condition import parse as parse_condition
    from hubbub.tables.inspection import Inspection

    axes = tuple(parse(spec) for spec in specs)
    if not isinstance(table, duckdb_engine.DuckDB | SqlEngine):
        raise WrongUse("this table cannot be looked at; open it from a file, a frame or a database")
    partners = table.partners() if isinstance(table, Joined) else _met_in_database(table)
    if partners is not None and not partners.can_join:
        return Inspection(rows=0, left_out=(), columns=(), persons=None, partners=partners)
    rule = None if where is None else parse_condition(where)
    ranged = None if of is None else (of, measured(of))
    found = inspect_table(table, specs, axes, person, SystemSource(), where=rule, of=ranged)
    return replace(found, partners=partners, unnamed_person=None if person else unnamed_person(table.columns()))


def _met_in_database(table: Engine) -> Partners | None:
    from hubbub.engines.spark import spark_engine
    from hubbub.engines.sql.joined import Joined as JoinedInDatabase
    from hubbub.engines.sql.sql_engine import SqlEngine

    if not isinstance(table, SqlEngine) or not isinstance(table.database, JoinedInDatabase | spark_engine.Joined):
        return None
    return table.database.partners()


def _share(value: Exact, name: str) -> Fraction:
    share = rational(value, name)
    if not 0 <= share <= 1:
        raise WrongUse(f"{name} must lie between 0 and 1, not {share}; 0.01 allows one person in a hundred")
    return share
