"""What databases hold and prefer that nobody expects: it changes no count, stops no release, and is quoted nowhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from hubbub.engines.opening import inspect, open_source
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import axis as parse
from hubbub.tables.condition import parse as condition
from hubbub.tables.engine import CountQuery, Engine, MultiRowPolicy
from tests import servers

on_postgresql = pytest.mark.xdist_group("postgresql")
on_spark = pytest.mark.xdist_group("spark")


def counted(engine: Engine, by: str, **question: Any) -> dict[Any, int]:
    found = engine.count(CountQuery(axes=(parse(by),), **question), SystemSource())
    labels = found.found[0] if found.found else found.codes.tolist()
    return dict(zip(labels, found.counts.tolist(), strict=True))


@pytest.mark.parametrize("name", ["people\udcff", "people\0"])
def test_a_name_that_is_no_text_is_one_sentence(name: str, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "town.sqlite").close()
    for source in (f"sqlite:///{tmp_path}/town.sqlite", object()):
        with pytest.raises(WrongUse, match="text in UTF-8"):
            open_source(source, table=name)
    with pytest.raises(WrongUse, match="text in UTF-8"):
        open_source(f"sqlite:///{name}", table="people")


# --- SQLite ---------------------------------------------------------------------------------------------------------


def sqlite(place: Path, *statements: str) -> Engine:
    with closing(sqlite3.connect(place)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return open_source(f"sqlite:///{place}", table="people")


def test_columns_that_sqlite_works_out_are_columns(tmp_path: Path) -> None:
    engine = sqlite(
        tmp_path / "town.sqlite",
        "CREATE TABLE people (age INT, half INT GENERATED ALWAYS AS (age / 2) VIRTUAL, "
        "word TEXT GENERATED ALWAYS AS (age || 'y') STORED)",
        "INSERT INTO people VALUES (10), (10), (30)",
    )
    assert list(engine.columns()) == ["age", "half", "word"]
    assert counted(engine, "half:0..20:10") == {0: 2, 1: 1}
    assert counted(engine, "word") == {"10y": 2, "30y": 1}


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_texts_are_the_same_however_a_file_of_sqlite_is_encoded(encoding: str, tmp_path: Path) -> None:
    engine = sqlite(
        tmp_path / "town.sqlite",
        f"PRAGMA encoding = '{encoding}'",
        "CREATE TABLE people (id INT, ö TEXT)",
        "INSERT INTO people VALUES (1, 'Café'), (2, 'a'), (3, '\U0001f600'), (4, NULL), (5, '\u3000')",
    )
    right = {"Café": 1, "a": 1, "\U0001f600": 1, None: 1, "\u3000": 1}
    assert counted(engine, "ö") == right
    assert counted(engine, "ö=Café,\U0001f600,null,other") == {0: 1, 1: 1, 2: 1, 3: 2}
    assert counted(engine, "ö", person="id", repeats=MultiRowPolicy.DISTINCT) == right
    assert sum(counted(engine, "id:0..9:9", person="ö", repeats=MultiRowPolicy.ONE_ROW).values()) == 4
    assert [(each.missing, each.values) for each in inspect(engine, (), None).columns] == [(0, 5), (2, 4)]


def test_one_bin_that_nobody_is_in(tmp_path: Path) -> None:
    engine = sqlite(tmp_path / "town.sqlite", "CREATE TABLE people (x TEXT)", "INSERT INTO people VALUES ('much')")
    assert counted(engine, "x:0..1:1") == {}
    assert inspect(engine, ("x:0..1:1",), None).fares == ()


def test_a_zone_that_is_none_is_no_time(tmp_path: Path) -> None:
    engine = sqlite(
        tmp_path / "town.sqlite",
        "CREATE TABLE people (at TIMESTAMP)",
        "INSERT INTO people VALUES ('2024-01-31T10:00-99:99'), ('2024-01-31T23:00-05:30'), ('2024-01-31T24:00')",
    )
    assert counted(engine, "at:day") == {"2024-02-01": 1, None: 2}


# --- PostgreSQL -----------------------------------------------------------------------------------------------------


@pytest.fixture
def url() -> str:
    return str(servers.or_skip(servers.postgresql))


@pytest.fixture
def run(url: str) -> Callable[..., None]:
    import psycopg

    def done(*statements: str, at: str = url) -> None:
        with psycopg.connect(at, autocommit=True, client_encoding="utf8") as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[arg-type]

    return done


@on_postgresql
@pytest.mark.parametrize("setting", ["extra_float_digits=-15", "standard_conforming_strings=off", "DateStyle=SQL,DMY"])
def test_settings_of_an_address_change_nothing(setting: str, url: str, run: Callable[..., None]) -> None:
    run("CREATE TABLE IF NOT EXISTS odd_settings AS SELECT 'Bath' AS x, float8 '0.30000000000000004' AS f, 1 AS id")
    engine = open_source(f"{url}?options={quote(f'-c {setting}')}", table="odd_settings")
    assert counted(engine, "x=Bath,other") == {0: 1}
    assert counted(engine, "f") == {"0.30000000000000004": 1}
    assert sum(counted(engine, "f", person="id", repeats=MultiRowPolicy.ONE_ROW).values()) == 1


@on_postgresql
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "WIN1252"])
def test_a_database_that_is_not_in_utf_8(encoding: str, url: str, run: Callable[..., None]) -> None:
    """In one without an encoding a text may be any bytes: what is no UTF-8 is missing, and stops nothing."""
    name = f"odd_{encoding.lower()}"
    run(f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    there = url.replace("/postgres", f"/{name}")
    bad = "chr(255) || 'a'" if encoding == "SQL_ASCII" else "NULL"
    texts = f"(1, 'Café'), (2, 'Bath'), (3, {bad}), (4, NULL), (5, ' ')"
    run("CREATE TABLE people (id int, x text)", f"INSERT INTO people VALUES {texts}", at=there)
    engine = open_source(there, table="people")
    assert counted(engine, "x") == {"Café": 1, "Bath": 1, None: 2, " ": 1}
    assert counted(engine, "x=Café,\U0001f600,null,other") == {0: 1, 2: 2, 3: 2}
    assert counted(engine, "id:0..9:9", where=condition('x = "\U0001f600" or x = Café')) == {0: 1}
    assert counted(engine, "id:0..9:9", person="x", repeats=MultiRowPolicy.ONE_ROW) == {0: 3}
    found = inspect(engine, (), None)
    assert [(each.missing, each.values) for each in found.columns] == [(0, 5), (3, 3)]
    assert inspect(engine, ("x:0..9:9",), None).columns[0].unreadable == 2


@on_postgresql
def test_a_value_that_no_text_of_postgresql_can_be_is_in_no_cell(url: str) -> None:
    assert counted(open_source(url, table="SELECT text 'a' AS x"), "x=a\0b,other") == {1: 1}


@on_postgresql
def test_a_server_that_is_gone_is_one_sentence(url: str, run: Callable[..., None]) -> None:
    engine = open_source(f"{url}?application_name=hubbub-gone", table="SELECT 1 AS x")
    run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hubbub-gone'")
    for ask in (engine.identity, lambda: counted(engine, "x"), lambda: inspect(engine, (), None)):
        with pytest.raises(WrongUse, match="could not count"):
            ask()


@on_postgresql
def test_names_with_dots_and_columns_of_one_name(url: str, run: Callable[..., None]) -> None:
    run('CREATE SCHEMA "odd.schema"', 'CREATE TABLE "odd.schema"."a.""b" AS SELECT 1 AS x')
    run('CREATE TABLE "odd.table" AS SELECT 2 AS x')
    assert counted(open_source(url, table='"odd.schema"."a.""b"'), "x") == {"1": 1}
    for name in ('"odd.table"', 'public."odd.table"'):
        assert counted(open_source(url, table=name), "x") == {"2": 1}
    with pytest.raises(WrongUse, match="two columns"):
        open_source(url, table="SELECT 1 AS x, 2 AS x")


@on_postgresql
def test_a_role_that_may_only_read_a_table_is_enough(url: str, run: Callable[..., None]) -> None:
    """Even where the server does not say who it is, and of rows that a policy hides."""
    run("CREATE DATABASE odd_roles", "CREATE ROLE odd_reader LOGIN PASSWORD 'open-sesame'")
    there = url.replace("/postgres", "/odd_roles")
    run(
        "CREATE TABLE people AS SELECT i AS id, i % 2 AS odd FROM generate_series(1, 9) AS i",
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON people FOR SELECT TO odd_reader USING (odd = 1)",
        "GRANT SELECT ON people TO odd_reader",
        "CREATE TABLE secret AS SELECT 'Bath' AS town",
        "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public",
        at=there,
    )
    place = there.partition("@")[2]
    reader = open_source(f"postgresql://odd_reader:open-sesame@{place}", table="people")
    assert counted(reader, "odd") == {"1": 5}
    assert reader.identity().parts[0].tables == ("public.people",)
    with pytest.raises(WrongUse, match="cannot be read"):
        open_source(f"postgresql://odd_reader:open-sesame@{place}", table="secret")


# --- Spark ----------------------------------------------------------------------------------------------------------


@on_spark
def test_times_at_the_ends_of_the_calendar_stop_nothing() -> None:
    session = servers.or_skip(servers.spark).newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    ends = ("294247-01-10 04:00:54.775807", "-290308-12-21 19:59:06", "2024-03-31 23:59:59.999999")
    frame = session.sql(" UNION ALL ".join(f"SELECT timestamp_ntz'{end}' AS t" for end in ends))
    assert counted(open_source(frame), "t") == {"2024-03-31 23:59:59.999999": 1, None: 2}
    assert sum(counted(open_source(frame), "t:day").values()) == 3
    assert inspect(open_source(frame), (), None).columns[0].missing == 2


@on_spark
def test_what_spark_says_of_a_cell_is_written_nowhere(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    session = servers.or_skip(servers.spark).newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    frame = session.createDataFrame([("open-sesame",)], "town string")
    frame.createOrReplaceTempView("odd_towns")
    for source, table in (
        (session, "SELECT CAST(town AS INT) AS x FROM odd_towns"),
        (frame.select(frame.town.cast("int").alias("x")), None),
    ):
        with pytest.raises(WrongUse) as refusal:
            counted(open_source(source, table=table), "x")
        assert refusal.value.__cause__ is refusal.value.__context__ is None
    assert "open-sesame" not in "".join(capfd.readouterr()) + caplog.text


@on_spark
def test_columns_of_a_frame_that_differ_in_case_or_in_nothing() -> None:
    session = servers.or_skip(servers.spark)
    frame = session.createDataFrame([(1, 2, "p")], "x int, X int, `sel``ect . %s` string")
    assert [counted(open_source(frame), name) for name in ("x", "X", '"sel`ect . %s"')] == [
        {"1": 1},
        {"2": 1},
        {"p": 1},
    ]
    with pytest.raises(WrongUse, match="two columns"):
        open_source(session.range(3).selectExpr("id AS x", "id + 1 AS x"))


@on_spark
def test_collations_of_spark_reach_no_count_and_do_no_harm() -> None:
    session = servers.or_skip(servers.spark)
    if session.version < "4":
        pytest.skip("Spark 3.5 has no collations")
    query = "SELECT '{}' COLLATE UTF8_LCASE AS x, array('a' COLLATE UTF8_LCASE) AS list"
    frame = session.sql(" UNION ALL ".join(query.format(town) for town in ("Bath", "bath")))
    assert counted(open_source(frame), "x") == {"Bath": 1, "bath": 1}
    assert counted(open_source(frame), "x=Bath,other", person="x", repeats=MultiRowPolicy.ONE_ROW) == {0: 1, 1: 1}


class _Stopped:
    """What a frame is once its session was stopped."""

    schema = property(lambda self: self.sparkSession)

    @property
    def sparkSession(self) -> Any:  # noqa: N802
        raise RuntimeError("open-sesame")


def test_a_frame_of_a_session_that_was_stopped_is_one_sentence() -> None:
    from hubbub.engines.spark.spark_engine import open_frame

    with pytest.raises(WrongUse, match="cannot be read") as refusal:
        open_frame(_Stopped())
    assert refusal.value.__context__ is None
