"""Threats 28 and 29: a name is only a name, and a path leads to a file or nowhere."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.errors import Refused, WrongUse
from tests.fresh import open
from tests.unit.threats.tables import counts, rows, sources, written

# --- 28: names that are SQL ---------------------------------------------------------------------------------------

NAMES = [
    '"; DROP TABLE people; --',
    "'; DROP TABLE people; --",
    "a\"b'c",
    "--",
    "/* x */",
    "people",
    "hubbub_word",
    "g0",
    "n",
    "code",
    "who",
    "word",
    "count(*)",
    "(SELECT 1)",
    "read_csv('/etc/passwd')",
    "\u201cquoted\u201d",
    "\u2018x\u2019; DROP TABLE people",
    "name with space",
    "SELECT",
    "\\",
    "%s",
    "{0}",
    "$1",
    "?",
    "\u202eeman",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("kind", ["arrow", "pandas", "csv", "parquet"])
def test_28_a_column_name_is_only_a_name(kind: str, tmp_path: Path) -> None:
    table = pa.table({name: ["a", "a", "b", "x"] for name in NAMES} | {"id": [1, 2, 3, 4]})
    opened = open(sources(table, tmp_path)[kind], person="id")
    for name in NAMES:
        spec = quoted(name)
        for words in ({}, {"one_row_per_person": True}):
            release = opened.histogram([f"{spec}=a,b,other"], crowd=2, **words)
            assert rows(release) == [("a", 2), ("b", None), ("other", None)], name
        assert rows(opened.histogram([spec], crowd=2)) == [("a", 2)], name
    pairs = opened.histogram([f"{quoted(name)}=a,b" for name in NAMES[:5]], epsilon=50, distinct=1)
    assert [row for row in rows(pairs) if row[-1]] == [("a",) * 5 + (2,), ("b",) * 5 + (1,)]


def test_28_the_name_of_a_person_column_is_only_a_name() -> None:
    for name in ("hubbub_word", "HUBBUB_WORD", "who", "g0", '"; DROP TABLE people; --'):
        table = open(pa.table({name: [1, 1, 2, 3], "town": ["a", "a", "a", "b"]}), person=name)
        assert rows(table.histogram(["town=a,b"], crowd=2, one_row_per_person=True)) == [("a", 2), ("b", None)]
        assert rows(table.histogram(["town=a,b"], epsilon=100, distinct=2)) == [("a", 2), ("b", 1)]
        with pytest.raises(Refused):
            table.histogram(["town=a,b"], crowd=2)


def test_28_a_table_name_is_only_a_name(tmp_path: Path) -> None:
    names = [*NAMES, "hubbub_words", "hubbub_people", "hubbub_bins", "hubbub_database"]
    base = duckdb.connect(str(tmp_path / "people.duckdb"))
    for name in names:
        base.execute(f"CREATE TABLE {quoted(name)} AS SELECT i // 2 AS id, 'a' AS town FROM range(6) AS r(i)")
    for name in names:
        opened = open(base, table=name, person="id")
        assert rows(opened.histogram(["town=a"], crowd=2, one_row_per_person=True)) == [("a", 3)], name
        assert base.execute("SELECT count(*) FROM information_schema.tables").fetchall() == [(len(names),)]
    del opened
    gc.collect()
    base.close()
    for name in names[::4]:
        opened = open(tmp_path / "people.duckdb", table=name, person="id")
        assert rows(opened.histogram(["town=a"], crowd=2, one_row_per_person=True)) == [("a", 3)], name


def test_28_a_listed_value_is_only_a_value() -> None:
    table = open(pa.table({"town": [name for name in NAMES for _ in range(2)]}))
    listed = ",".join(map(quoted, NAMES))
    assert rows(table.histogram([f"town={listed}"], crowd=2)) == [(name, 2) for name in NAMES]


# --- 29: paths ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [("check",), ("audit", "releases", "--k", "2"), ("audit", "table", "--k", "2"), ("audit", "certificate")],
    ids=" ".join,
)
def test_29_no_command_waits_for_a_pipe(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A pipe to which nobody writes: who opens it as a file waits for ever."""
    os.mkfifo(tmp_path / "pipe.csv")
    told = subprocess.run(
        [sys.executable, "-c", "from hubbub.start import main; main()", *words, str(tmp_path / "pipe.csv")],
        capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert (told.returncode, told.stderr.count("\n")) == (2, 1), told.stderr


def test_29_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    paths = [*(str(tmp_path / name) for name in ("folder.csv", "pipe.csv", "device.csv", "dangling.csv", "loop.csv"))]
    paths += [
        "/dev/zero",
        "/dev/stdin",
        "",
        "nowhere.csv",
        str(tmp_path / "*.parquet"),
        "x\0y.csv",
        "x\0*.csv",
        "\udcff.csv",
    ]
    paths += [
        "https://example.org/people.csv",
        "s3://bucket/people.parquet",
        "file:///etc/passwd",
        ":memory:",
        "md:people",
    ]
    for path in paths:
        said = "an address begins with postgresql" if "://" in path else r"there is no file .*; check the path$"
        with pytest.raises(WrongUse, match=f"^{said}"):
            open(path)


def test_29_other_kinds_of_files_are_refused_by_their_names(tmp_path: Path) -> None:
    for name in ("people.pickle", "people.zip", "people.json", "people", "people.sql"):
        with pytest.raises(WrongUse, match="a table is read from"):
            open(written(tmp_path, name, "town\nBath\n"))
    with pytest.raises(WrongUse, match="a table is read from"):
        open("/etc/passwd")


def test_29_a_path_may_climb_and_links_lead_to_files(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    path = written(tmp_path, "people.csv", "town\nBath\nBath\n")
    (tmp_path / "below" / "link.csv").symlink_to(path)
    for name in (tmp_path / "below" / ".." / "people.csv", tmp_path / "below" / "link.csv"):
        assert counts(name, "town=Bath") == {"Bath": 2}


@pytest.mark.parametrize(
    "name",
    [
        "[ab].{}",
        "*.{}",
        "?.{}",
        "it's.{}",
        "a'], all_varchar=true) --.{}",
        "'); DROP TABLE x; --.{}",
        "x{{a,b}}.{}",
        "ü \\.{}",
    ],
)
def test_29_a_file_name_is_only_a_name(name: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"town": ["right"] * 2}), tmp_path / name.format("parquet"))
    written(tmp_path, name.format("csv"), "town\nright\nright\n")
    pq.write_table(pa.table({"town": ["wrong"] * 3}), tmp_path / "a.parquet")
    written(tmp_path, "a.csv", "town\nwrong\nwrong\n")
    for form in ("parquet", "csv"):
        assert counts(tmp_path / name.format(form), "town") == {"right": 2}


def test_29_a_glob_takes_what_it_matches_and_no_folder_name_is_a_column(tmp_path: Path) -> None:
    (tmp_path / "town=wrong").mkdir()
    for i in range(3):
        pq.write_table(pa.table({"town": ["right"]}), tmp_path / "town=wrong" / f"{i}.parquet")
    assert counts(str(tmp_path / "town=wrong" / "[0-1].parquet"), "town") == {"right": 2}
    written(tmp_path, "town=wrong/4.csv", "town\nright\n")
    with pytest.raises(WrongUse, match="the files of one table end alike"):
        open(str(tmp_path / "town=wrong" / "*"))


def test_29_files_of_different_schemas_are_not_one_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 2]}), tmp_path / "a1.parquet")
    pq.write_table(pa.table({"age": ["1", "secret"]}), tmp_path / "a2.parquet")
    with pytest.raises(WrongUse, match="do not have the same columns of the same types; write them with one schema"):
        open(str(tmp_path / "a*.parquet"))


def test_29_the_engine_reads_the_file_it_was_given_and_no_other(tmp_path: Path) -> None:
    other = written(tmp_path, "other.csv", "town\nsecret\n")
    path = written(tmp_path, "people.csv", "town\nBath\n")
    pq.write_table(pa.table({"town": ["Bath"]}), tmp_path / "people.parquet")
    base = duckdb.connect(str(tmp_path / "people.duckdb"))
    base.execute("CREATE TABLE people AS SELECT 'Bath' AS town")
    base.execute(f"CREATE VIEW spy AS SELECT * FROM read_csv('{other}')")
    base.close()
    opened = [open(path), open(tmp_path / "people.parquet"), open(pa.table({"town": ["Bath"]}))]
    opened.append(open(tmp_path / "people.duckdb", table="people"))
    for table in opened:
        connection = table.engine._connection  # type: ignore[attr-defined]
        for sql in (
            f"SELECT * FROM read_csv('{other}')",
            f"SELECT * FROM '{other}'",
            f"SELECT * FROM read_text('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'leak.csv'}'",
            f"ATTACH '{tmp_path / 'leak.duckdb'}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SELECT * FROM pa_table",
            f"EXPORT DATABASE '{tmp_path / 'leak'}'",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(sql)
    with pytest.raises(WrongUse, match="the table could not be read"):
        open(tmp_path / "people.duckdb", table="spy")
    assert not list(tmp_path.glob("leak*"))
