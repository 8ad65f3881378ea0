"""A query in the place of a table is one statement that only reads, on every engine (threat 58)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.engines.opening import open_source
from hubbub.engines.query import ONE_SELECT, RowsMove, function_names, remarks
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.opening import open as open_table
from hubbub.tables.bins import axis as parse
from hubbub.tables.engine import CountQuery
from tests import servers

PLANTED = (
    "SELECT 1) AS a; COMMIT; DROP TABLE {canary}; SELECT * FROM (SELECT * FROM {people}",
    "SELECT 1 AS x; DROP TABLE {canary}",
    "SELECT 1 AS x; COMMIT; DROP TABLE {canary}; --",
    "SELECT * FROM {people}) AS a, (SELECT 1 AS y",
    "WITH gone AS (DELETE FROM {canary} RETURNING *) SELECT * FROM gone",
    "WITH x AS (SELECT 1 AS a) INSERT INTO {canary} SELECT a FROM x",
    "FROM {people} INSERT INTO {canary} SELECT id",
    "SELECT id AS x INTO {canary}_2 FROM {people}",
    "SELECT * FROM {people} /* ) AS a; DROP TABLE {canary}; --",
    "SELECT 1; COPY {canary} TO PROGRAM 'touch {mark}'",
    "SELECT 1; ATTACH DATABASE '{mark}' AS other",
    "SELECT * FROM {people} FOR UPDATE; TRUNCATE {canary}",
    "TABLE {canary}; TRUNCATE {canary}",
)


def counted(source: object, table: str, by: str) -> int:
    found = open_source(source, table=table).count(CountQuery(axes=(parse(by),)), SystemSource())
    return int(found.counts.sum())


# --- PostgreSQL -----------------------------------------------------------------------------------------------------

on_postgresql = pytest.mark.xdist_group("postgresql")


@pytest.fixture
def url() -> str:
    return str(servers.or_skip(servers.postgresql))


@pytest.fixture
def people(url: str) -> str:
    return servers.load_postgresql(url, pa.table({"id": list(range(60)), "town": ["Bath", "York", "Ely"] * 20}))


def run(url: str, sql: str) -> list[Any]:
    import psycopg

    with psycopg.connect(url) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


@on_postgresql
def test_nothing_but_one_select_reaches_postgresql(url: str, people: str, tmp_path: Path) -> None:
    canary, mark = f"{people}_canary", tmp_path / "mark"
    run(url, f"CREATE TABLE {canary} AS SELECT 1 AS a")
    run(url, f"CREATE SEQUENCE {people}_numbers")
    run(url, f"CREATE FUNCTION {people}_gone() RETURNS int LANGUAGE sql AS 'DELETE FROM {canary} RETURNING 1'")
    run(url, f"CREATE FUNCTION {people}_lies() RETURNS int STABLE LANGUAGE sql AS 'SELECT {people}_gone()'")
    functions = (
        f"SELECT {people}_gone() AS x",
        f"SELECT {people}_lies() AS x",
        f"SELECT nextval('{people}_numbers') AS x",
        f"SELECT NEXTVAL /* a */ ('{people}_numbers') AS x",
        f"SELECT \"nextval\"('{people}_numbers') AS x",
        f"SELECT U&\"n\\0065xtval\"('{people}_numbers') AS x",
        f"SELECT E'\\'', pg_catalog.nextval('{people}_numbers') AS x, ''",
        f"SELECT query_to_xml('DELETE FROM {canary}', true, true, '')::text AS x",
        "SELECT set_config('transaction_read_only', 'off', false) AS x",
        "SELECT lo_create(4711) AS x",
        f"SELECT * FROM {people} WHERE random() < 0.5",
    )
    for query in (*(each.format(canary=canary, people=people, mark=mark) for each in PLANTED), *functions):
        with pytest.raises(WrongUse):
            counted(url, query, "x")
    assert run(url, f"SELECT * FROM {canary}") == [(1,)]
    assert run(url, f"SELECT last_value, is_called FROM {people}_numbers") == [(1, False)]
    assert run(url, "SELECT count(*) FROM pg_largeobject_metadata WHERE oid = 4711") == [(0,)]
    assert run(url, f"SELECT to_regclass('{canary}_2') IS NULL") == [(True,)]
    assert not mark.exists()


@on_postgresql
def test_every_usual_query_of_postgresql_is_counted(url: str, people: str) -> None:
    for query in (
        f"SELECT * FROM {people};",
        f"select town from {people} -- all of them",
        f"WITH p AS (SELECT * FROM {people}) SELECT town, id % 2 AS odd FROM p WHERE town LIKE '%a%' OR true",
        f"TABLE {people}",
        f"SELECT upper(town) AS town, coalesce(id, 0), now() FROM {people}\n",
        f"SELECT town FROM {people} WHERE town IN ('Bath', 'York', 'Ely') /* a remark (here) */",
    ):
        assert counted(url, query, "town") == 60, query
    with pytest.raises(WrongUse, match="'random' is VOLATILE in this database; leave it out"):
        counted(url, f"SELECT * FROM {people} WHERE random() < 0.5", "town")


@on_postgresql
def test_two_statements_are_refused_by_the_protocol_itself(url: str, people: str, monkeypatch: Any) -> None:
    """Without the look at the query by itself, too."""
    from hubbub.engines.sql import postgresql

    run(url, f"CREATE TABLE {people}_canary AS SELECT 1 AS a")
    monkeypatch.setattr(postgresql._Server, "_check_query", lambda self, query: None)
    with pytest.raises(WrongUse):
        counted(url, PLANTED[0].format(people=people, canary=f"{people}_canary", mark=""), "town")
    assert run(url, f"SELECT * FROM {people}_canary") == [(1,)]


# --- files of DuckDB ------------------------------------------------------------------------------------------------


@pytest.fixture
def city(tmp_path: Path) -> Path:
    place = tmp_path / "city.duckdb"
    with duckdb.connect(str(place)) as duck:
        duck.execute(
            "CREATE TABLE people AS SELECT range AS id, ['Bath', 'York'][range % 2 + 1] AS town FROM range(60)"
        )
        duck.execute("CREATE TABLE canary (a INTEGER); CREATE SEQUENCE numbers; CREATE MACRO dice() AS random()")
        duck.execute("CREATE MACRO every() AS TABLE SELECT * FROM people")
    return place


def test_every_usual_query_of_a_duckdb_file_is_counted(city: Path) -> None:
    for query in (
        "SELECT * FROM people;",
        "select town from people -- all of them",
        "WITH p AS (SELECT * FROM people) SELECT town, id % 2 AS odd FROM p WHERE town LIKE '%a%' OR true",
        "FROM people",
        "SELECT upper(town) AS town, coalesce(id, 0) FROM people\n",
        "SELECT town FROM people WHERE id < 30 UNION ALL SELECT town FROM main.people WHERE id >= 30",
    ):
        assert counted(city, query, "town") == 60, query
    assert open_source(city, table="SELECT * FROM people").identity() == open_source(city, table="people").identity()


@pytest.mark.parametrize(
    "query",
    [
        *PLANTED,
        "SELECT random() AS x FROM people",
        "SELECT dice() AS x FROM people",
        "SELECT * FROM every()",
        "SELECT nextval('numbers') AS x",
        "SELECT * FROM query('SELECT random() AS x')",
        "SELECT * FROM read_text('{mark}')",
        "SELECT * FROM '{mark}.csv'",
        "SELECT * FROM glob('*')",
        "SELECT x FROM nowhere",
    ],
)
def test_nothing_but_one_select_reaches_a_duckdb_file(city: Path, tmp_path: Path, query: str) -> None:
    before = city.read_bytes()
    Path(tmp_path, "mark.csv").write_text("x\n1\n")
    with pytest.raises(WrongUse):
        counted(city, query.format(people="people", canary="canary", mark=tmp_path / "mark"), "x")
    assert city.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["city.duckdb", "mark.csv"]


# --- SQLite and connections: names alone -----------------------------------------------------------------------------


@pytest.mark.parametrize("query", [*PLANTED, "SELECT * FROM {people}"])
def test_files_of_sqlite_and_connections_are_asked_by_names_alone(tmp_path: Path, query: str) -> None:
    given = query.format(people="people", canary="canary", mark=tmp_path / "mark")
    town = tmp_path / "town.sqlite"
    with closing(sqlite3.connect(town)) as lite:
        lite.executescript("CREATE TABLE people (id INTEGER); CREATE TABLE canary (a INTEGER)")
    before = town.read_bytes()
    with pytest.raises(WrongUse, match="make a view of the query"):
        open_source(f"sqlite:///{town}", table=given)
    assert town.read_bytes() == before
    with duckdb.connect(":memory:") as own:
        own.execute("CREATE TABLE people (id INTEGER); CREATE TABLE canary (a INTEGER)")
        with pytest.raises(WrongUse, match="make a view of the query"):
            open_source(own, table=given)
        assert own.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(2,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["town.sqlite"]


# --- Spark ----------------------------------------------------------------------------------------------------------

_PROPERTY = "('java.lang.System', 'setProperty', 'hubbub', '1')"
SPARK_RUNS = (
    f"SELECT java_method{_PROPERTY} AS x",
    "SELECT REFLECT('a', 'b')",
    f"SELECT `REFLECT`{_PROPERTY} AS x",
    f"SELECT system.builtin.`Java_Method` {_PROPERTY} AS x",
    f"SELECT reflect --\\\n still a comment\n{_PROPERTY} AS x",
    f"SELECT reflect --\r{_PROPERTY} AS x",
    f"SELECT IDENTIFIER('ref' || 'lect'){_PROPERTY} AS x",
    f"SELECT \u0131dentifier('reflect'){_PROPERTY} AS x",
    f"SELECT ref${{{{spark.empty}}}}lect{_PROPERTY} AS x",
    "SELECT TRANSFORM(town) USING 'touch {mark}; cat' AS (x string) FROM {people}",
    "FROM {people} MAP town USING 'touch {mark}; cat' AS x",
    "FROM {people} REDUCE town us\u0131ng 'touch {mark}; cat' AS x",
    'SELECT * FROM (SELECT TRANSFORM (town) USING /* ( */ "touch {mark}; cat" AS (x string) FROM {people})',
)
"""Queries that read in form, and run a program or code of Java's."""


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("start", [servers.spark, servers.connect])
def test_nothing_but_one_select_reaches_spark(start: Any, tmp_path: Path) -> None:
    session = servers.or_skip(start)
    session.createDataFrame([(i, "Bath") for i in range(20)], "id int, town string").createOrReplaceTempView("q_people")
    canary = f"q_canary_{start.__name__}"
    session.sql(f"CREATE TABLE {canary} (a INT) USING parquet LOCATION '{tmp_path / 'canary'}'")
    try:
        session.sql(f"INSERT INTO {canary} VALUES (1)")
        for query in (*PLANTED, *SPARK_RUNS):
            with pytest.raises(WrongUse) as wrong:
                open_source(session, table=query.format(people="q_people", canary=canary, mark=tmp_path / "mark"))
            assert str(wrong.value) == ONE_SELECT
        assert [row[0] for row in session.table(canary).collect()] == [1]
        for query in ("SELECT * FROM q_people;", "WITH p AS (SELECT * FROM q_people) SELECT town FROM p -- all"):
            assert counted(session, query, "town") == 20
        assert counted(session, "FROM q_people SELECT town", "town") == 20
        joined = "SELECT transform(array(a.town), x -> x)[0] AS town FROM q_people a JOIN q_people b USING (id)"
        assert counted(session, joined, "town") == 20
        assert not (tmp_path / "mark").exists()
    finally:
        session.sql(f"DROP TABLE IF EXISTS {canary}")


# --- what is told ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT * FROM people LIMIT 100", "LIMIT or the like"),
        ("SELECT * FROM people ORDER BY age FETCH FIRST 5 ROWS ONLY", "LIMIT or the like"),
        ("SELECT DISTINCT ON (town) * FROM people", "LIMIT or the like"),
        ("SELECT town, row_number() OVER(PARTITION BY town) AS n FROM people", "a window function"),
        ("SELECT sum(x) over w FROM t WINDOW w AS (ORDER BY y) limit 3", "a window function and LIMIT or the like"),
        ("SELECT limited, overall FROM people WHERE note = 'no limit over (here)' -- limit", ""),
        ("people", ""),
        ("limit", ""),
    ],
)
def test_window_functions_and_limits_are_told(query: str, told: str) -> None:
    assert [told in remark for remark in remarks(query)] == ([True] if told else [])


@on_postgresql
def test_whoever_opens_such_a_query_is_told(url: str, people: str, tmp_path: Path) -> None:
    query = f"SELECT * FROM {people} ORDER BY id LIMIT 30"
    with pytest.warns(RowsMove, match="one person may move more than one row"):
        open_table(url, table=query, person="id", dataset="town")
    words = [
        "release",
        "histogram",
        url,
        "--table",
        query,
        "--person",
        "id",
        "--dataset",
        "town",
        "--by",
        "town=Bath,other",
    ]
    done = CliRunner().invoke(commands, [*words, "--epsilon", "1", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert done.stderr.count("Note: the query has LIMIT or the like, so one person may move more than one row") == 1


def test_the_functions_of_a_query_are_found_wherever_they_hide() -> None:
    assert "nextval" in function_names("SELECT NextVal\n -- why\n ('s')")
    assert "nextval" in function_names("SELECT nextval -- why\r('s')")
    assert "nextval" in function_names("SELECT nextval /* /* a */ b */ ('s')")
    assert "nextval" in function_names("SELECT E'\\'', nextval('s'), ''")
    assert 'od"d' in function_names('SELECT "od""d" (1)')
