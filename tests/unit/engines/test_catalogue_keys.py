"""Where a database itself keeps ids apart, they are not compared again; where that is in doubt, they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hubbub.engines.duckdb import duckdb_engine
from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.engines.files.files import open_file
from hubbub.engines.files.frames import open_table
from hubbub.engines.opening import open_join
from hubbub.engines.sql import queries
from hubbub.engines.sql.sql_engine import SqlEngine
from hubbub.engines.sql.sqlite import open_sqlite
from hubbub.errors import Refused, in_python
from hubbub.noise.source import SystemSource
from hubbub.tables.cell_format import Missing
from hubbub.tables.engine import NO_ID, SEVERAL_ROWS, CountQuery, Engine
from hubbub.tables.identity import Chosen, IdObserver
from tests import servers

on_postgresql = pytest.mark.xdist_group("postgresql")


def people(engine: Engine, *, is_watched: bool = False, person: str = "id") -> int:
    """How many there are, told with one row each."""
    told: list[Chosen] = []
    if is_watched:
        engine = engine.observing_ids(IdObserver(turn=3, most=50, on_chosen=told.append))
    found = int(engine.count(CountQuery(axes=(), person=person), SystemSource()).counts.sum())
    assert not is_watched or len(set(told[0].ids)) == found
    return found


def refusal(engine: Engine) -> str | None:
    """Why it is refused, the same for whoever watches and whoever does not."""
    said: set[str | None] = set()
    for is_watched in (False, True):
        try:
            people(engine, is_watched=is_watched)
            said.add(None)
        except Refused as error:
            said.add(str(error))
    assert len(said) == 1
    return said.pop()


def is_key(engine: SqlEngine, column: str = "id") -> bool:
    with engine.database.snapshot():
        return engine.database.is_key(column)


def forbid_grouping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where ids are gathered to compare them."""

    def forbidden(*_: object) -> Any:
        raise AssertionError("ids are compared")

    monkeypatch.setattr(queries, "people_of", forbidden)
    for name in ("are_several", "distinct_people", "are_many"):
        monkeypatch.setattr(duckdb_engine, name, forbidden)


# --- SQLite ---------------------------------------------------------------------------------------------------------


def of_sqlite(tmp_path: Path, *statements: str, rows: Sequence[object] = (1, 2, 3), table: str = "t") -> SqlEngine:
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        for each in statements:
            connection.execute(each)
        if rows:
            connection.executemany("INSERT INTO t(id) VALUES (?)", [(row,) for row in rows])
        connection.commit()
    return open_sqlite(str(tmp_path / "people.db"), table)


SQLITE_KEYS = {
    "the number of the row": ["CREATE TABLE t(id INTEGER PRIMARY KEY, town)"],
    "the same, declared beside": ["CREATE TABLE t(town, id INTEGER, PRIMARY KEY (id))"],
    "whole numbers": ["CREATE TABLE t(id INT NOT NULL UNIQUE)"],
    "counting down": ["CREATE TABLE t(id INTEGER PRIMARY KEY DESC)"],
    "without a number of its own": ["CREATE TABLE t(id INTEGER PRIMARY KEY, town) WITHOUT ROWID"],
    "an index": ["CREATE TABLE t(id BIGINT)", "CREATE UNIQUE INDEX i ON t(id)"],
    "texts": ["CREATE TABLE t(id TEXT PRIMARY KEY)"],
    "texts whose capitals do not count": ["CREATE TABLE t(id VARCHAR(9) COLLATE NOCASE UNIQUE)"],
    "as is said": ["CREATE TABLE t(id INTEGER UNIQUE) STRICT"],
}


@pytest.mark.parametrize("named", SQLITE_KEYS)
def test_sqlite_keeps_ids_apart(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = of_sqlite(tmp_path, *SQLITE_KEYS[named])
    assert is_key(engine)
    forbid_grouping(monkeypatch)
    assert people(engine) == people(engine, is_watched=True) == 3


SQLITE_TRAPS: dict[str, tuple[list[str], tuple[object, ...], str | None]] = {
    "no key": (["CREATE TABLE t(id INTEGER)"], (1, 1), SEVERAL_ROWS),
    "a number and its text are two to SQLite": (["CREATE TABLE t(id PRIMARY KEY)"], (1, "1"), SEVERAL_ROWS),
    "the same in a column of any type": (["CREATE TABLE t(id BLOB_ID UNIQUE)"], ("1", 2), None),
    "numbers beyond 2^53 are one as floats": (["CREATE TABLE t(id NUMERIC UNIQUE)"], (2**53, 2**53 + 1), SEVERAL_ROWS),
    "places that are cut off": (["CREATE TABLE t(id DECIMAL(5,1) UNIQUE)"], (1.25, 1.26), SEVERAL_ROWS),
    "one day, written in two ways": (["CREATE TABLE t(id DATE UNIQUE)"], ("2026-01-01", "2026-01-01 10:00"), SEVERAL_ROWS),
    "a key of two columns": (["CREATE TABLE t(id INTEGER, x DEFAULT (random()), PRIMARY KEY (id, x))"], (1, 1), SEVERAL_ROWS),
    "an index of some rows": (["CREATE TABLE t(id INTEGER)", "CREATE UNIQUE INDEX i ON t(id) WHERE id > 5"], (1, 1), SEVERAL_ROWS),
    "an index of an expression": (
        ["CREATE TABLE t(id INTEGER, x DEFAULT (random()))", "CREATE UNIQUE INDEX i ON t(id + x)"], (1, 1), SEVERAL_ROWS,
    ),
    "an index that is not unique": (["CREATE TABLE t(id INTEGER)", "CREATE INDEX i ON t(id)"], (1, 1), SEVERAL_ROWS),
    "another column's": (["CREATE TABLE t(id INTEGER, x INTEGER PRIMARY KEY)"], (1, 1), SEVERAL_ROWS),
}  # fmt: skip


@pytest.mark.parametrize("named", SQLITE_TRAPS)
def test_what_sqlite_does_not_keep_apart_is_looked_at(named: str, tmp_path: Path) -> None:
    statements, rows, why = SQLITE_TRAPS[named]
    engine = of_sqlite(tmp_path, *statements, rows=rows)
    assert not is_key(engine)
    assert refusal(engine) == (None if why is None else in_python(why))


def test_a_view_of_a_sqlite_table_is_looked_at(tmp_path: Path) -> None:
    twice = "CREATE VIEW v AS SELECT id FROM t UNION ALL SELECT id FROM t"
    engine = of_sqlite(tmp_path, "CREATE TABLE t(id INTEGER PRIMARY KEY)", twice, table="v")
    assert not is_key(engine)
    assert refusal(engine) == in_python(SEVERAL_ROWS)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("CREATE TABLE t(id TEXT PRIMARY KEY)", ("a", None, None)),  # which SQLite allows
        ("CREATE TABLE t(id INT UNIQUE)", (1, None)),
        ("CREATE TABLE t(id INT UNIQUE)", (1, "nobody")),  # no whole number, so missing
        ("CREATE TABLE t(id TEXT UNIQUE)", ("a", b"a")),  # no text
    ],
)
def test_rows_of_nobody_are_found_beside_a_key_of_sqlite(
    statement: str, rows: Sequence[object], tmp_path: Path
) -> None:
    engine = of_sqlite(tmp_path, statement, rows=rows)
    assert is_key(engine)
    assert refusal(engine) == in_python(NO_ID)


def test_an_id_that_is_spelled_as_missing_is_one_of_nobody(tmp_path: Path) -> None:
    engine = of_sqlite(tmp_path, "CREATE TABLE t(id TEXT PRIMARY KEY)", rows=("a", "NA"))
    assert refusal(engine) is None
    assert refusal(engine.with_missing(Missing.parse("NA"))) == in_python(NO_ID)


def test_a_join_is_looked_at(tmp_path: Path) -> None:
    of_sqlite(tmp_path, "CREATE TABLE t(id INTEGER PRIMARY KEY)", "CREATE TABLE visits(id INTEGER, n INTEGER)")
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.execute("INSERT INTO visits VALUES (1, 1), (1, 2)")
        connection.commit()
    address = f"sqlite:///{tmp_path / 'people.db'}"
    first = open_sqlite(str(tmp_path / "people.db"), "t")
    joined = open_join(address, first, "visits", "id", unreadable="1", missing=())
    assert refusal(joined) == in_python(SEVERAL_ROWS)


# --- PostgreSQL -----------------------------------------------------------------------------------------------------


def of_postgresql(*statements: str, table: str = "keys.t") -> SqlEngine:
    url = str(servers.or_skip(servers.postgresql))
    import psycopg

    from hubbub.engines.sql.postgresql import open_postgresql

    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA IF EXISTS keys CASCADE")
        connection.execute("CREATE SCHEMA keys")
        for each in statements:
            connection.execute(each)
    return open_postgresql(url, table)


POSTGRESQL_KEYS = {
    "a primary key": "CREATE TABLE keys.t(id integer PRIMARY KEY)",
    "unique": "CREATE TABLE keys.t(id bigint UNIQUE NOT NULL)",
    "that carries others": "CREATE TABLE keys.t(id smallint, x int, UNIQUE (id) INCLUDE (x))",
    "texts by their bytes": 'CREATE TABLE keys.t(id text COLLATE "C" PRIMARY KEY)',
    "in parts": "CREATE TABLE keys.t(id int PRIMARY KEY) PARTITION BY RANGE (id); "
    "CREATE TABLE keys.p PARTITION OF keys.t FOR VALUES FROM (0) TO (9)",
    "a strange name": 'CREATE TABLE keys."50% t"(id int PRIMARY KEY)',
}


@on_postgresql
@pytest.mark.parametrize("named", POSTGRESQL_KEYS)
def test_postgresql_keeps_ids_apart(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = 'keys."50% t"' if "50%" in POSTGRESQL_KEYS[named] else "keys.t"
    engine = of_postgresql(POSTGRESQL_KEYS[named], f"INSERT INTO {table}(id) VALUES (1), (2), (3)", table=table)
    assert is_key(engine)
    forbid_grouping(monkeypatch)
    assert people(engine) == people(engine, is_watched=True) == 3


POSTGRESQL_TRAPS = {
    "no key": ("CREATE TABLE keys.t(id int); INSERT INTO keys.t VALUES (1)", SEVERAL_ROWS),
    "heirs, whose rows are in no index of the table": (
        "CREATE TABLE keys.t(id int PRIMARY KEY); CREATE TABLE keys.heir() INHERITS (keys.t); "
        "INSERT INTO keys.heir VALUES (1)",
        SEVERAL_ROWS,
    ),
    "deferrable": ("CREATE TABLE keys.t(id int PRIMARY KEY DEFERRABLE)", None),
    "deferred": ("CREATE TABLE keys.t(id int UNIQUE DEFERRABLE INITIALLY DEFERRED)", None),
    "an index of some rows": (
        "CREATE TABLE keys.t(id int); CREATE UNIQUE INDEX ON keys.t(id) WHERE id > 5; INSERT INTO keys.t VALUES (1)",
        SEVERAL_ROWS,
    ),
    "an index of an expression": ("CREATE TABLE keys.t(id int); CREATE UNIQUE INDEX ON keys.t((id + 0))", None),
    "a key of two columns": (
        "CREATE TABLE keys.t(id int, x serial, PRIMARY KEY (id, x)); INSERT INTO keys.t VALUES (1)",
        SEVERAL_ROWS,
    ),
    "an order of the operating system": ("CREATE TABLE keys.t(id text PRIMARY KEY)", None),
    "numbers with places": ("CREATE TABLE keys.t(id numeric PRIMARY KEY)", None),
    "floats": ("CREATE TABLE keys.t(id float8 PRIMARY KEY)", None),
    "a hash that need not be unique": (
        "CREATE TABLE keys.t(id int); CREATE INDEX ON keys.t USING hash (id); INSERT INTO keys.t VALUES (1)",
        SEVERAL_ROWS,
    ),
    "an index that is not valid": (
        "CREATE TABLE keys.t(id int); CREATE UNIQUE INDEX u ON keys.t(id); "
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'keys.u'::regclass",
        None,
    ),
}


@on_postgresql
@pytest.mark.parametrize("named", POSTGRESQL_TRAPS)
def test_what_postgresql_does_not_keep_apart_is_looked_at(named: str) -> None:
    statement, why = POSTGRESQL_TRAPS[named]
    engine = of_postgresql(statement, "INSERT INTO keys.t(id) VALUES (1), (2), (3)")
    assert not is_key(engine)
    assert refusal(engine) == (None if why is None else in_python(why))


@on_postgresql
@pytest.mark.parametrize("how", ["a view", "a kept view", "a query"])
def test_what_is_no_table_of_postgresql_is_looked_at(how: str) -> None:
    base = "CREATE TABLE keys.t(id int PRIMARY KEY)", "INSERT INTO keys.t VALUES (1), (2)"
    twice = "SELECT t.id FROM keys.t, keys.t AS other"
    if how == "a query":
        engine = of_postgresql(*base, table=twice)
    elif how == "a view":
        engine = of_postgresql(*base, f"CREATE VIEW keys.v AS {twice}", table="keys.v")
    else:
        kept = "CREATE MATERIALIZED VIEW keys.v AS SELECT id FROM keys.t; CREATE UNIQUE INDEX ON keys.v(id)"
        engine = of_postgresql(*base, kept, table="keys.v")
    assert not is_key(engine)
    assert refusal(engine) == (None if how == "a kept view" else in_python(SEVERAL_ROWS))


@on_postgresql
def test_rows_of_nobody_are_found_beside_a_key_of_postgresql() -> None:
    engine = of_postgresql("CREATE TABLE keys.t(id int UNIQUE)", "INSERT INTO keys.t VALUES (1), (NULL), (NULL)")
    assert is_key(engine)
    assert refusal(engine) == in_python(NO_ID)


# --- DuckDB ---------------------------------------------------------------------------------------------------------


def of_duckdb(*statements: str, table: str = "t") -> DuckDB:
    connection = duckdb.connect()
    for each in statements:
        connection.execute(each)
    return open_table(connection, table)


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE t(id INTEGER PRIMARY KEY)", "CREATE TABLE t(x INT, id BIGINT UNIQUE)", "CREATE TABLE t(id HUGEINT UNIQUE)"],
)  # fmt: skip
def test_duckdb_keeps_ids_apart(statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "INSERT INTO t(id) VALUES (1), (2), (3)"
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(statement)
        connection.execute(rows)
    forbid_grouping(monkeypatch)
    for engine in (of_duckdb(statement, rows), open_file(tmp_path / "people.duckdb", table="t")):
        assert people(engine) == people(engine, is_watched=True) == 3


DUCKDB_TRAPS = {
    "no key": ("CREATE TABLE t(id INTEGER)", "(1), (1)", SEVERAL_ROWS),
    "capitals do not count, but in its index they do": (
        "CREATE TABLE t(id VARCHAR COLLATE NOCASE PRIMARY KEY)", "('a'), ('A')", SEVERAL_ROWS,
    ),
    "a key of two columns": ("CREATE TABLE t(id INT, x DOUBLE DEFAULT random(), PRIMARY KEY (id, x))", "(1), (1)", SEVERAL_ROWS),
    "another column's": ("CREATE TABLE t(id INT, x DOUBLE DEFAULT random() UNIQUE)", "(1), (1)", SEVERAL_ROWS),
}  # fmt: skip


@pytest.mark.parametrize("named", DUCKDB_TRAPS)
def test_what_duckdb_does_not_keep_apart_is_looked_at(named: str) -> None:
    statement, rows, why = DUCKDB_TRAPS[named]
    assert refusal(of_duckdb(statement, f"INSERT INTO t(id) VALUES {rows}")) == in_python(why)


def test_another_table_of_duckdb_vouches_for_nothing() -> None:
    """Of another schema, or a view by the name of its columns."""
    statements = ["CREATE SCHEMA s", "CREATE TABLE s.t(id INTEGER PRIMARY KEY)", "CREATE TABLE t(id INTEGER)"]
    rows = ["INSERT INTO s.t VALUES (1)", "INSERT INTO t VALUES (1), (1)"]
    assert refusal(of_duckdb(*statements, *rows)) == in_python(SEVERAL_ROWS)
    view = "CREATE VIEW v AS SELECT * FROM s.t UNION ALL SELECT * FROM s.t"
    assert refusal(of_duckdb(*statements, *rows, view, table="v")) == in_python(SEVERAL_ROWS)


def test_rows_of_nobody_are_found_beside_a_key_of_duckdb() -> None:
    engine = of_duckdb("CREATE TABLE t(id INTEGER UNIQUE)", "INSERT INTO t VALUES (1), (NULL), (NULL)")
    assert refusal(engine) == in_python(NO_ID)
    spelled = of_duckdb("CREATE TABLE t(id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (-99)")
    assert refusal(spelled) is None
    assert refusal(spelled.with_missing(Missing.parse("id=-99"))) == in_python(NO_ID)
