"""Threats 30 and 35: files that would do harm get one sentence, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import pickle
import random
import stat
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hubbub
from hubbub.errors import Refused, WrongUse
from tests import fresh
from tests.fresh import enter, open
from tests.fresh import save_over as save
from tests.unit.threats.tables import Told, sources, written

# --- 30: malicious files ------------------------------------------------------------------------------------------


def test_30_parquet_that_is_broken_gets_one_sentence(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"town": [f"town {i % 7}" for i in range(5000)], "x": list(range(5000))}), tmp_path / "x.parquet"
    )
    whole = (tmp_path / "x.parquet").read_bytes()
    broken = [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(4) + b"PAR1", whole[:-1], whole[: len(whole) // 2], whole[4:]]
    broken += [whole[:-8] + b"\xff\xff\xff\x7fPAR1", bytes(len(whole)), b"town\nBath\n", b"\x80\x04\x95"]
    chance = random.Random("broken parquet")
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 3, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        broken.append(bytes(damaged))
    for content in broken:
        path = written(tmp_path, "broken.parquet", content)
        told = Told(lambda path=path: open(path).histogram(["town"], crowd=2))  # type: ignore[misc]
        if told.release is None:  # damage may also leave a table that can be read
            assert told.raised in (
                (WrongUse, "the table could not be read; check that the file is what its name says"),
                (WrongUse, "the table could not be counted; check that the file is whole and that memory suffices"),
                (
                    WrongUse,
                    f"there is no column 'town'; there are {told.raised and told.raised[1].partition('are ')[2]}",
                ),
            )
    assert Told(lambda: open(tmp_path / "x.parquet").histogram(["town"], crowd=2)).raised is None


def test_30_databases_that_are_none_get_one_sentence(tmp_path: Path) -> None:
    for content in (b"", b"garbage" * 1000, b"SQLite format 3\0" + bytes(5000), b"PAR1"):
        with pytest.raises(WrongUse, match="the database could not be opened; check that it is one of DuckDB"):
            open(written(tmp_path, "people.duckdb", content), table="people")


def test_30_nothing_is_ever_unpickled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    content = pickle.dumps(Trap())
    for name in ("people.pickle", "people.pkl", "people.csv", "people.parquet", "people.duckdb"):
        with pytest.raises(WrongUse):
            open(written(tmp_path, name, content), table="people").histogram(["town"], crowd=2)
    assert not (tmp_path / "sprung").exists()
    source = Path(hubbub.__file__).parent
    own_pipes = source / "studio" / "background.py"  # it reads those of its own process alone
    for path in {*source.rglob("*.py")} - {own_pipes}:
        assert "import pickle" not in path.read_text(encoding="utf-8")


# --- 35: leftovers ------------------------------------------------------------------------------------------------


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder where temporary files go, and nothing else. No database is kept for other tests."""
    monkeypatch.setattr(fresh, "_LARGE", -1)
    gc.collect()
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert tempfile.gettempdir() == str(folder)
    return folder


def test_35_nothing_is_left_of_a_release(scratch: Path, tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"] * 40, "id": list(range(20)) * 2})
    for source in sources(table, tmp_path).values():
        opened = enter(source, person="id")
        folders = list(scratch.iterdir())
        assert len(folders) == 1
        assert stat.S_IMODE(folders[0].stat().st_mode) == 0o700
        for words in ({"crowd": 5, "one_row_per_person": True}, {"epsilon": 1, "distinct": 2}):
            save(
                opened.histogram(["town=Bath", "id"] if "crowd" in words else ["town=Bath"], **words), tmp_path / "out"
            )  # type: ignore[arg-type]
        with pytest.raises(Refused):
            opened.histogram(["town=Bath"], crowd=5)
        del opened
        gc.collect()
        assert list(scratch.iterdir()) == []


def test_35_nothing_is_left_of_a_refusal(scratch: Path, tmp_path: Path) -> None:
    base = duckdb.connect(str(tmp_path / "good.duckdb"))
    base.execute("CREATE TABLE people (x INTEGER)")
    base.close()
    calls: list[Callable[[], object]] = [
        lambda: open(written(tmp_path, "broken.parquet", b"PAR1")),
        lambda: open(written(tmp_path, "broken.duckdb", b"x" * 5000), table="people"),
        lambda: open(tmp_path / "good.duckdb", table="nothing"),
        lambda: open(written(tmp_path, "broken.csv", b"\xff\xfe")),
        lambda: open(object()),
        lambda: open(pa.table({})),
        lambda: open(pa.table({"x": pa.array([1], pa.decimal128(5, 2)).cast(pa.decimal256(60, 2))})),
    ]
    for call in calls:
        with pytest.raises(WrongUse):
            call()
        gc.collect()
        assert list(scratch.iterdir()) == []


def test_35_a_table_that_spills_leaves_nothing_behind(scratch: Path, tmp_path: Path) -> None:
    opened = open(pa.table({"id": list(range(1000))}))
    connection = opened.engine._connection  # type: ignore[attr-defined]
    (place,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
    assert Path(place).parent.parent == scratch
    Path(place).mkdir()
    (Path(place) / "spilled").write_bytes(b"a row")
    del opened, connection
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_35_the_engines_own_words_never_come_along() -> None:
    """A view fails on a cell, and the engine would quote it: neither the message nor what hangs on it has the cell."""
    base = duckdb.connect()
    base.execute("CREATE TABLE people AS SELECT 'secret cell' AS x, 1 AS id")
    base.execute("CREATE VIEW numbers AS SELECT CAST(x AS INTEGER) AS x, id FROM people")
    with pytest.raises(duckdb.Error, match="secret cell"):  # so it does
        base.execute("SELECT * FROM numbers").fetchall()
    for words in ({}, {"one_row_per_person": True}):
        for by in (["x:0..10:1"], ["x"]):
            with pytest.raises(WrongUse) as refusal:
                open(base, table="numbers", person="id").histogram(by, crowd=2, **words)
            error = refusal.value
            assert error.__cause__ is None
            assert error.__context__ is None
            assert "secret" not in "".join(traceback.format_exception(error))


def test_35_no_reference_to_a_table_outlives_it() -> None:
    table = pa.table({"town": ["Bath"] * 5, "id": list(range(5))})
    opened = open(table, person="id")
    opened.histogram(["town=Bath"], crowd=2, one_row_per_person=True)
    found = sys.getrefcount(table)
    del opened
    gc.collect()
    assert sys.getrefcount(table) <= found
