"""Tables at an address: opened, known again, and silent about passwords and cells."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub.cli.check import PRIVATE
from hubbub.cli.main import commands
from hubbub.engines.opening import open_address, open_source
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource
from hubbub.opening import open as open_table
from hubbub.release import save
from hubbub.tables.bins import Countable, Lattice
from hubbub.tables.bins import axis as parse
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, MultiRowPolicy
from hubbub.tables.schema import ColumnType
from tests import servers

on_postgresql = pytest.mark.xdist_group("postgresql")


@pytest.fixture
def url() -> str:
    return str(servers.or_skip(servers.postgresql))


@pytest.fixture
def people(url: str) -> str:
    table = pa.table({"id": list(range(60)), "town": ["Bath", "York", "Ely"] * 20, "age": [i % 50 for i in range(60)]})
    return servers.load_postgresql(url, table)


def run(url: str, sql: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(sql)


def counted(source: object, table: str | None, by: str) -> dict[Any, int]:
    engine = open_source(source, table=table)
    found = engine.count(CountQuery(axes=(parse(by),)), SystemSource())
    labels = found.found[0] if found.found else found.codes.tolist()
    return dict(zip(labels, found.counts.tolist(), strict=True))


@on_postgresql
def test_a_table_a_view_and_a_query_of_postgresql(url: str, people: str) -> None:
    run(url, f"CREATE VIEW {people}_young AS SELECT * FROM {people} WHERE age < 10")
    assert counted(url, people, "town") == {"Bath": 20, "Ely": 20, "York": 20}
    assert sum(counted(url, f"public.{people}_young", "town").values()) == 20
    assert sum(counted(url, f"SELECT town, age % 2 AS odd FROM {people} WHERE town <> 'Ely';", "odd").values()) == 40
    whole, view = (open_source(url, table=name).identity() for name in (people, f"{people}_young"))
    assert set(whole.marks()) & set(view.overlap_marks()), "a view is known by the table that it reads"


@on_postgresql
def test_a_query_can_change_nothing(url: str, people: str) -> None:
    run(url, f"CREATE FUNCTION {people}_gone() RETURNS int LANGUAGE sql AS 'DELETE FROM {people} RETURNING 1'")
    for query in (f"SELECT {people}_gone() AS x", f"SELECT 1 AS x; DROP TABLE {people}"):
        with pytest.raises(WrongUse):
            counted(url, query, "x")
    assert sum(counted(url, people, "town").values()) == 60


@on_postgresql
def test_a_password_is_in_no_message_ledger_or_certificate(url: str, people: str, tmp_path: Path) -> None:
    password = urlsplit(url).password
    assert password
    ledger = tmp_path / "ledger"
    table = open_table(url, table=people, person="id", ledger=ledger)
    release = table.histogram(["town"], crowd=5)
    assert release.reservation is not None
    assert release.reservation.dataset == f"postgres.{people}"
    save(release, tmp_path / "out")
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) > 3
    for file in written:
        assert password.encode() not in file.read_bytes(), file.name
        if file.parent.name == "out":
            assert b"127.0.0.1" not in file.read_bytes(), file.name
    with pytest.raises(Refused, match="same table"):
        open_table(url, table=people, person="id", dataset="other", ledger=ledger).histogram(["town=Bath"], epsilon=1)
    wrong = url.replace(password, "open-sesame")
    for bad in (wrong, f"{wrong}?sslmode=nonsense", "postgresql://steward:open-sesame@127.0.0.1:1/x"):
        with pytest.raises(WrongUse) as refusal:
            open_address(bad, "people")
        assert "open-sesame" not in _everything(refusal.value)
    assert Ledger(ledger).path.exists()


def _everything(error: BaseException) -> str:
    """A message and all that it drags along."""
    seen = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        if (one := waiting.pop()) is not None:
            seen.append(f"{one!r} {one}")
            waiting += [one.__cause__, one.__context__]
    return " ".join(seen)


@on_postgresql
def test_what_a_database_says_about_a_cell_is_not_passed_on(url: str, people: str) -> None:
    run(url, f"CREATE VIEW {people}_bad AS SELECT id, CAST(town AS integer) AS x FROM {people}")
    with pytest.raises(WrongUse) as refusal:
        counted(url, f"{people}_bad", "x:0..10:1")
    assert "Bath" not in _everything(refusal.value)


@on_postgresql
def test_types_and_collations_of_postgresql(url: str, people: str) -> None:
    run(url, f"CREATE TYPE {people}_mood AS ENUM ('glad', 'sad')")
    run(url, f"CREATE DOMAIN {people}_years AS int")
    run(
        url,
        f"CREATE TABLE {people}_kinds (a uuid, b {people}_mood, c {people}_years, d char(5), e numeric, f bytea, "
        '"100% ""odd""" smallint, g date)',
    )
    run(
        url,
        f"""INSERT INTO {people}_kinds VALUES
            (gen_random_uuid(), 'glad', 7, 'ab', 'NaN', 'x', 1, 'infinity'),
            (gen_random_uuid(), 'sad', 7, 'ab ', 1.50, 'x', 2, '0044-03-15 BC'),
            (gen_random_uuid(), 'sad', 8, 'AB', 1.5, 'x', NULL, '12024-01-01'),
            (NULL, NULL, NULL, NULL, 'Infinity', NULL, 3, '-infinity')""",
    )
    table = f"{people}_kinds"
    kinds = open_source(url, table=table).columns()
    text, whole = ColumnType.TEXT, ColumnType.INTEGER
    assert list(kinds.values()) == [
        text,
        text,
        whole,
        text,
        ColumnType.DECIMAL,
        ColumnType.OTHER,
        whole,
        ColumnType.DATE,
    ]
    assert counted(url, table, "b") == {"glad": 1, "sad": 2, None: 1}
    assert counted(url, table, "d") == {"AB": 1, "ab": 2, None: 1}
    assert counted(url, table, "e") == {"1.5": 2, "Infinity": 1, None: 1}
    assert counted(url, table, "e=1.5,Infinity,null") == {0: 2, 1: 1, 2: 1}
    assert counted(url, table, "e:[0,1.5,inf),null,other") == {1: 2, 2: 1, 3: 1}
    assert counted(url, table, '"100% ""odd""":0..5:1,null') == {1: 1, 2: 1, 3: 1, 5: 1}
    assert counted(url, table, "g:year") == {"-43": 1, "12024": 1, None: 2}
    run(url, f"CREATE TABLE {people}_ends (d date, t timestamp, z timestamptz)")
    run(
        url,
        f"""INSERT INTO {people}_ends VALUES
            ('5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59Z'),
            ('4713-11-24 BC', '4713-11-24 BC', '4713-11-24 00:00:00Z BC'),
            ('2024-02-29', '2024-02-29', '2024-02-29 23:00:00-05'), (NULL, 'infinity', NULL)""",
    )
    for spec in ("d:quarter", "d:year", "d", "t:month", "t:year", "t", "z:quarter", "z:day", "z"):
        assert sum(counted(url, f"{people}_ends", spec).values()) == 4, spec
    assert counted(url, f"{people}_ends", "d=2024-02-29,5874897-12-31,null,other") == {0: 1, 1: 1, 2: 1, 3: 1}
    with pytest.raises(WrongUse, match="holds dates, and 'a' is none that it can hold"):
        counted(url, f"{people}_ends", "d=a,null,other")
    assert counted(url, f"{people}_ends", "z:day")["2024-03-01"] == 1
    run(url, f"CREATE COLLATION {people}_same (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    run(url, f"CREATE TABLE {people}_same (x text COLLATE {people}_same)")
    run(url, f"INSERT INTO {people}_same VALUES ('Bath'), ('bath'), ('b\u00e4th')")
    assert counted(url, f"{people}_same", "x") == {"Bath": 1, "bath": 1, "b\u00e4th": 1}
    assert counted(url, f"{people}_same", "x=Bath,other") == {0: 1, 1: 2}


@on_postgresql
def test_the_key_of_a_choice_is_no_literal_of_a_statement(url: str, people: str) -> None:
    from hubbub.engines.sql.postgresql import PostgreSQL

    assert re.fullmatch(r"\(SELECT %\(key\)s::text AS word\) AS k", PostgreSQL().key())


# --- SQLite ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "town.sqlite"
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("CREATE TABLE people (id INTEGER, age INTEGER, town TEXT, note, paid DECIMAL(6,2), at DATE)")
        towns = ("York", "Bath")
        rows: list[tuple[Any, ...]] = [(i, i % 50, towns[i % 2], i, i / 4, "2024-01-31") for i in range(40)]
        rows += [(40, "old", b"\xff", 1.5, "much", "soon"), (41, 7.5, "Ely", "x", 0.129, "2024-02-29T23:59Z")]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO people VALUES (42, 3, CAST(X'ff' AS TEXT), NULL, NULL, NULL)")
        connection.execute("CREATE VIEW half AS SELECT * FROM people WHERE id % 2")
    return place


def test_cells_of_sqlite_that_are_not_what_the_column_holds_are_missing(file: Path) -> None:
    url = f"sqlite:///{file}"
    assert counted(url, "people", "age:0..100:100,null,other") == {0: 41, 1: 2}
    assert counted(url, "people", "town") == {"Bath": 20, "Ely": 1, "York": 20, None: 2}
    assert counted(url, "people", "paid:0..0.12:0.12,null") == {0: 1, 1: 2}
    assert counted(url, "people", "paid:0.12..0.13:0.01") == {0: 1}
    assert counted(url, "people", "at:month") == {"2024-01": 40, "2024-02": 1, None: 2}
    assert counted(url, "half", "town")["Bath"] == 20


@pytest.mark.parametrize(
    "repeats", [each for each in MultiRowPolicy if each is not MultiRowPolicy.ANY_ROW]
)  # which has no bins
@pytest.mark.parametrize(
    "axis",
    [Lattice("lon", Fraction(0), Fraction(1), 4), parse("lon:0..4:1"), parse("lon:1"), parse("lon:month")],
    ids=str,
)
def test_too_many_cells_that_cannot_be_read_are_refused_as_in_files(
    axis: Countable, repeats: MultiRowPolicy, tmp_path: Path
) -> None:
    """Also where one row of a person is chosen, and of every way to read text: no cell is a number or a date."""
    with closing(sqlite3.connect(tmp_path / "rides.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE rides (id integer, lon text)")
        connection.executemany("INSERT INTO rides VALUES (?, ?)", [(i, "somewhere") for i in range(60)])
    engine = open_source(f"sqlite:///{tmp_path}/rides.sqlite", table="rides", unreadable=Fraction(1, 100))
    bounds = ContributionBounds(rows_per_person=2) if repeats is MultiRowPolicy.BOUNDED else None
    question = CountQuery(axes=(axis,), person="id", repeats=repeats, bounds=bounds, most_bins=1)
    with pytest.raises(Refused, match="cannot be read as declared"):
        engine.count(question, SystemSource())


def test_a_view_of_sqlite_is_known_by_its_table(file: Path, tmp_path: Path) -> None:
    whole, view = (open_address(f"sqlite:///{file}", name).identity() for name in ("people", "half"))
    assert "people" in whole.parts[0].tables
    assert set(whole.marks()) & set(view.overlap_marks())


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ("sqlite:///nowhere.sqlite", "people"),
        ("sqlite:///{file}", None),
        ("sqlite:///{file}", "nobody"),
        ("mysql://steward:open-sesame@host/town", "people"),
        ("postgresql://steward:open-sesame@127.0.0.1:1/town", None),
    ],
)
def test_a_wrong_address_is_one_sentence(source: str, table: str | None, file: Path) -> None:
    if source.startswith("postgresql"):
        pytest.importorskip("psycopg")
    with pytest.raises(WrongUse) as refusal:
        open_source(source.format(file=file), table=table)
    assert "open-sesame" not in _everything(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_csv_form_is_for_files(file: Path) -> None:
    with pytest.raises(HubbubError, match="about CSV"):
        open_source(f"sqlite:///{file}", table="people", delimiter=";")


def test_a_look_at_an_address_from_the_command_line_and_from_python(file: Path, tmp_path: Path) -> None:
    url, ledger = f"sqlite:///{file}", tmp_path / "ledger"
    told = CliRunner().invoke(commands, ["check", url, "--table", "people", "--person", "id", "--by", "age:0..60:10"])
    assert told.stdout.splitlines()[:3] == [PRIVATE, "43 rows are read.", "43 people by id, each with one row."]
    assert "age:0..60:10: 2 missing (4.7 %)." in told.stdout
    again = f"hubbub release histogram {url} --table people --person id --by age:0..60:10 --epsilon 1"
    assert again in told.stdout.replace("\n", " ")
    found = open_table(url, table="people", person="id", ledger=ledger).check(["age:0..60:10", "note:0..60:10"])
    assert [(each.missing, each.unreadable, each.outside) for each in found.columns] == [(2, 0, 0), (1, 1, 0)]
    assert found.columns[1].shapes == (("x", 1),)
    assert not ledger.exists()


@on_postgresql
def test_a_look_shows_no_password(url: str, people: str) -> None:
    password = urlsplit(url).password
    assert password
    for words in (["--by", "town"], ["--by", "nowhere"], [], ["--json"], ["--person", "id", "--by", "age:0..9:1"]):
        done = CliRunner().invoke(commands, ["check", f"{url}?application_name=look", "--table", people, *words])
        assert password not in done.output, words
        assert ("release histogram postgresql://steward@" in done.output) is ("nowhere" not in words)
    query = ["check", url, "--table", f"SELECT town FROM {people} WHERE age < 10", "--by", "town"]
    assert "--dataset people" in CliRunner().invoke(commands, query).stdout


def test_a_query_has_no_name_in_the_ledger_by_itself(file: Path, tmp_path: Path) -> None:
    table = open_table(f"sqlite:///{file}", table="people", rows_are_people=True, ledger=tmp_path / "ledger")
    release = table.histogram(["town=Bath,York,null,other"], crowd=5, accept_weak=True)
    assert release.reservation is not None
    assert release.reservation.dataset == "town.people"
