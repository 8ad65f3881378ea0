"""THREATS 39 and 41: one table by several names has one budget, and one partition only while it stays the same."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines import identity as engine_identity
from hubbub.engines.identity import digest, of_files
from hubbub.errors import Refused
from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger
from hubbub.release import save
from hubbub.tables.identity import Identity
from tests.fresh import opened as open_table

TOWN = pa.table({"dept": ["a"] * 40 + ["b"] * 25 + ["c"] * 3, "id": list(range(68))})
OTHERS = pa.table({"dept": ["a"] * 7 + ["b"] * 61, "id": list(range(68))})


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A file that has been released."""
    place = tmp_path / "town.parquet"
    pq.write_table(TOWN, place)
    release(open_table(place))
    return place


def release(table: Table, **words: Any) -> None:
    table.histogram(["dept=a,b,c"], **({"crowd": 20} | words))


def refused(table: Table, names: str = "'town'") -> None:
    with pytest.raises(Refused, match=f"released before as {names}"):
        release(table)


def view(sql: str, *before: str, base: str = ":memory:") -> Table:
    connection = duckdb.connect(base)
    for each in (*before, f"CREATE VIEW people AS {sql}"):
        connection.execute(each)
    return open_table(connection, table="people", dataset="view")


PATTERNS = ["tow?.parquet", "*.parquet", "[t]own.parquet", "t*", "?own.parquet", "./*/../town.parquet"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_39_a_pattern_is_no_second_name(pattern: str, town: Path) -> None:
    (town.parent / "folder").mkdir()
    refused(open_table(str(town.parent / pattern), dataset="pattern"))


def test_39_nor_is_what_a_pattern_would_be_called(town: Path) -> None:
    for pattern in ("tow?.parquet", "*.parquet"):
        with pytest.raises(Refused, match=r"use dataset=town, or leave out the files they share"):
            release(open_table(str(town.parent / pattern)))


SAME: dict[str, Callable[[Path, Path], object]] = {
    "hard link": os.link,
    "link": os.symlink,
    "copy": shutil.copyfile,
    "copy with its times": shutil.copy2,
    "moved": shutil.move,
}


@pytest.mark.parametrize("how", SAME)
def test_39_links_and_copies_are_the_same_table(how: str, town: Path, tmp_path: Path) -> None:
    SAME[how](town, tmp_path / "village.parquet")
    refused(open_table(tmp_path / "village.parquet"))


def test_39_a_hard_link_is_the_same_table_after_it_was_added_to(tmp_path: Path) -> None:
    place, other = tmp_path / "town.csv", tmp_path / "village.csv"
    place.write_text("dept\n" + "a\n" * 40)
    os.link(place, other)
    release(open_table(place))
    with other.open("a") as file:
        file.write("b\n")
    refused(open_table(other))


def test_39_the_number_of_a_file_that_is_gone_may_be_given_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "town.parquet"
    pq.write_table(TOWN, place)
    (known,) = of_files([str(place)]).parts
    release(open_table(place))
    place.unlink()
    pq.write_table(OTHERS, tmp_path / "city.parquet")
    (other,) = of_files([str(tmp_path / "city.parquet")]).parts
    reused = Identity(
        parts=(
            type(other)(
                path=other.path,
                device=known.device,
                inode=known.inode,
                digest=other.digest,
                changed=other.changed,
            ),
        )
    )
    engine = open_table(OTHERS).engine
    monkeypatch.setattr(type(engine), "identity", lambda self: reused)
    release(open_table(OTHERS, dataset="city"))


def test_39_a_part_and_then_all_parts_overlap(tmp_path: Path) -> None:
    for i, each in enumerate((TOWN, OTHERS), 1):
        pq.write_table(each, tmp_path / f"part-{i}.parquet")
    release(open_table(tmp_path / "part-1.parquet"))
    refused(open_table(str(tmp_path / "*.parquet")), "'part-1'")
    release(open_table(str(tmp_path / "*.parquet"), dataset="part-1"), crowd=None, epsilon=1)
    refused(open_table(tmp_path / "part-2.parquet"), "'part-1'")


def test_39_parts_of_two_names_are_released_one_by_one(tmp_path: Path) -> None:
    for i, each in enumerate((TOWN, OTHERS), 1):
        pq.write_table(each, tmp_path / f"part-{i}.parquet")
        release(open_table(tmp_path / f"part-{i}.parquet"))
    with pytest.raises(Refused, match=r"a part of it, was released before as 'part-1' and 'part-2'.* one by one"):
        release(open_table(str(tmp_path / "*.parquet")))


VIEWS = [
    "SELECT * FROM '{}'",
    "SELECT * FROM read_parquet(['{}'])",
    "SELECT upper(dept) AS dept, id FROM parquet_scan('{}') WHERE id > 3",
    "SELECT * FROM before",
    "SELECT * FROM reading('{}')",
    "SELECT * FROM (SELECT * FROM before UNION ALL SELECT * FROM before)",
    "SELECT * FROM before WHERE id IN (SELECT id FROM '{}')",
]


@pytest.mark.parametrize("sql", VIEWS)
def test_39_a_view_is_what_it_reads(sql: str, town: Path) -> None:
    before = (
        f"CREATE VIEW before AS SELECT * FROM '{town}'",
        "CREATE MACRO reading(file) AS TABLE SELECT * FROM read_parquet(file)",
    )
    refused(view(sql.format(town), *before))


def test_39_a_view_over_a_pattern_is_what_it_matches(town: Path) -> None:
    refused(view(f"SELECT * FROM '{town.parent}/tow*.parquet'"))


def test_39_views_and_tables_of_one_database(tmp_path: Path) -> None:
    place = tmp_path / "city.duckdb"
    with duckdb.connect(str(place)) as base:
        base.register("given", TOWN)
        base.execute("CREATE TABLE people AS SELECT * FROM given; CREATE TABLE shops AS SELECT * FROM given LIMIT 30")
        base.execute("CREATE VIEW adults AS SELECT * FROM people WHERE id > 18; CREATE SCHEMA other")
        base.execute("CREATE TABLE other.people AS SELECT * FROM given LIMIT 31")
    release(open_table(place, table="people"))
    refused(open_table(place, table="adults"), "'city.people'")
    release(open_table(place, table="shops"))  # other people, as far as anybody can see
    refused(open_table(duckdb.connect(str(place)), table="people", dataset="x"), "'city.people'")
    shutil.copyfile(place, tmp_path / "copy.duckdb")
    refused(open_table(tmp_path / "copy.duckdb", table="adults"), "'city.people'")
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{tmp_path / 'copy.duckdb'}' AS c; CREATE VIEW v AS SELECT * FROM c.main.shops")
    refused(open_table(connection, table="v", dataset="x"), "'city.shops'")


def test_39_a_view_of_which_nothing_is_known_is_the_whole_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "city.duckdb"
    with duckdb.connect(str(place)) as base:
        base.register("given", TOWN)
        base.execute("CREATE TABLE people AS SELECT * FROM given")
        base.execute("CREATE VIEW hidden AS SELECT * FROM people")
    release(open_table(place, table="people"))
    secret = [{"extra_info": {"Function": "SOME_SCAN"}}]
    monkeypatch.setattr(engine_identity, "_leaves", lambda plan: iter([each["extra_info"] for each in secret]))
    found = open_table(place, table="hidden").engine.identity()
    assert [part.tables for part in found.parts] == [()]
    refused(open_table(place, table="hidden"), "'city.people'")


def test_39_tables_in_memory_have_no_identity_but_their_name() -> None:
    base = duckdb.connect()
    base.register("given", TOWN)
    base.execute("CREATE TABLE people AS SELECT * FROM given")
    assert open_table(base, table="people", dataset="x").engine.identity() == Identity()
    assert open_table(TOWN, dataset="x").engine.identity() == Identity()


def test_39_other_people_are_not_refused(town: Path, tmp_path: Path) -> None:
    pq.write_table(OTHERS, tmp_path / "city.parquet")
    release(open_table(tmp_path / "city.parquet"))


def test_39_large_files_are_known_by_many_of_their_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_identity, "READ_IN_FULL", 1 << 16)
    monkeypatch.setattr(engine_identity, "_BLOCK", 1 << 10)
    place = tmp_path / "large"
    place.write_bytes(os.urandom(1 << 20))
    whole = digest(str(place))
    assert digest(str(place)) == whole
    for at in (0, (1 << 20) - 1):
        data = bytearray(place.read_bytes())
        data[at] ^= 1
        (tmp_path / "other").write_bytes(data)
        assert digest(str(tmp_path / "other")) != whole
    with place.open("ab") as file:
        file.write(b"x")
    assert digest(str(place)) != whole


# --- 41: one partition ----------------------------------------------------------------------------------------------


def together(tmp_path: Path, between: Callable[[Path], object]) -> bool:
    """Whether two releases of a file by the same bins are taken to be on one partition."""
    place = tmp_path / "town.parquet"
    pq.write_table(TOWN, place)
    release(open_table(place), crowd=None, outlier="1:0.1,21:1")
    between(place)
    release(open_table(place), crowd=None, outlier="1:0.1,21:1")
    charges = [record.release.charge for record in Ledger().account("town").records]
    return charges[0].partition == charges[1].partition


def test_41_a_file_that_stays_the_same_is_one_partition(tmp_path: Path) -> None:
    assert together(tmp_path, lambda place: os.link(place, place.with_name("link.parquet")))


@pytest.mark.parametrize("how", ["other rows", "the same time"])
def test_41_a_file_that_was_overwritten_is_another_partition(how: str, tmp_path: Path) -> None:
    def overwritten(place: Path) -> None:
        before = place.stat()
        pq.write_table(OTHERS, place)
        if how == "the same time":
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert not together(tmp_path, overwritten)


# --- it stays in the ledger -----------------------------------------------------------------------------------------


def test_nothing_that_depends_on_the_table_leaves_the_ledger(town: Path, tmp_path: Path) -> None:
    """The certificate has the hash of the entry; the entry has a secret, so the hash tells nothing of the rest."""
    done = open_table(town).histogram(["dept=a,b,c"], epsilon=1)
    written = save(done, tmp_path / "out")
    body = Ledger().entries()[-2].body
    (part,) = body["source"]["parts"]
    assert len(body["secret"]) == 32
    for path in written.values():
        text = Path(path).read_text()
        assert not any(word in text for word in (part["digest"], body["secret"], str(tmp_path)))
    assert json.loads(Path(written["certificate"]).read_text())["ledger"]["nonce"] == body["nonce"]
