"""THREATS 22 to 25: races, crashes, full disks, and ledgers that are not what they were."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.table import Table
from hubbub.ledger import key, store
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.log import Entry
from hubbub.ledger.policy import Policy
from hubbub.ledger.store import ADOPTED, Store
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Release
from hubbub.publication.staging import unfinished
from hubbub.release import save
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.verification import verify
from tests.fresh import counts
from tests.fresh import open as open_fresh
from tests.fresh import opened as open_table

HERE = Path(__file__).parent
TOWN = pa.table({"dept": ["a"] * 40 + ["b"] * 25 + ["c"] * 3, "age": list(range(68))})


def charge(**words: Any) -> Charge:
    return charge_of(Bound(histogram(["dept=a,b,c"], **words)))


def town(ledger: Path) -> Table:
    return open_table(TOWN, dataset="town", ledger=ledger)


def script(name: str, *words: object) -> str:
    done = subprocess.run(
        [sys.executable, str(HERE / name), *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- 22: races ----------------------------------------------------------------------------------------------------


def test_22_eight_processes_never_spend_more_than_the_cap(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "ledger.db")
    book.set_policy("town", Policy(differential_epsilon=Fraction(1)))
    granted = int(script("racing.py", book.path, 8, 4, "0.1"))
    assert granted == 10 == len(book.account("town").records)
    total = book.account("town").totals
    assert total is not None
    assert total.differential.guarantee.epsilon == 1  # type: ignore[union-attr]


def test_22_eight_processes_that_find_no_ledger_make_one(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.db"
    assert int(script("racing.py", path, 8, 1, "0.1")) == 8
    entries = Ledger(path).entries()
    assert [entry.kind for entry in entries] == ["created"] + ["reserved"] * 8
    assert len({entry.body["nonce"] for entry in entries[1:]}) == 8
    assert Ledger(path).public_key() == entries[0].body["public_key"]


# --- 23: crashes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0, 1])
def test_23_a_kill_at_any_line_leaves_nothing_unpaid_and_pays_nothing_twice(tmp_path: Path, part: int) -> None:
    told = json.loads(script("crashing.py", tmp_path, part, 2))
    assert told["ended"] == 0
    assert told["whole"]["visible"] in told["whole"]["committed"]
    assert len(told["cases"]) > 100
    finished = 0
    for case in told["cases"]:
        assert case["ended"] == -signal.SIGKILL, case
        assert "error" not in case, case
        for seen in (case["after"], case["then"]):
            assert seen["spent"] <= seen["reserved"] <= 1, case  # never paid twice
            assert seen["spent"] == seen["reserved"] or not seen["noise"], case  # given back only if nothing was drawn
            assert len(seen["committed"]) <= 1, case
            if seen["noise"]:
                assert seen["spent"] == 1, case  # the debit was there before the first draw
            if seen["visible"] is not None:
                assert seen["committed"] == [seen["visible"]], case
            assert seen.get("verified", True), case
        assert case["then"]["unfinished"] == 0, case
        if case["after"]["committed"]:  # what was committed comes out, as the same bytes
            assert case["then"]["visible"] == case["after"]["committed"][0], case
        finished += case["after"]["visible"] is None and case["then"]["visible"] is not None
    assert finished > 5, "no kill fell between ready and visible: is the protocol still there?"


def test_23_the_debit_is_on_the_disk_before_anything_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.db"
    table = town(path)
    count, seen = table.engine.count, []

    def watched(*given: Any) -> Any:
        with sqlite3.connect(path) as other:
            seen.append(other.execute("SELECT kind FROM entries ORDER BY number DESC LIMIT 1").fetchone()[0])
        return count(*given)

    monkeypatch.setattr(table.engine, "count", watched)
    table.histogram(["dept=a,b,c"], epsilon=1)
    assert seen == ["reserved"]
    with sqlite3.connect(path) as base:
        assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)


# --- 24: disks ----------------------------------------------------------------------------------------------------


def nothing_unpaid(folder: Path, book: Ledger) -> bool:
    """Whether something is visible; if so it is whole and committed."""
    values = folder / "release.csv"
    if not values.exists():
        return False
    digests = [digest for record in book.account("town").records for digest in record.files]
    assert sha256(values) in digests
    if (folder / CERTIFICATE).exists():
        assert verify((folder / CERTIFICATE).read_bytes(), release=values).passed
    return True


def test_24_a_full_disk_publishes_nothing(tmp_path: Path) -> None:
    """No file may grow beyond a limit: the log of the ledger, the values or the certificate then fail to be written."""
    ends = set()
    for limit in (0, 4_000, 20_000, 40_000, 60_000, 400_000):
        book = Ledger(tmp_path / str(limit) / "ledger.db")
        book.set_policy("town", Policy())
        out = tmp_path / str(limit) / "out"
        code = int(script("filling.py", book.path, out, limit))
        assert nothing_unpaid(out, book) == (code == 0), limit
        if code and out.exists():
            assert list(out.iterdir()) == [], limit
        ends.add(code)
    assert ends == {0, 3}, "the limits must reach from too little to enough"


def test_24_a_failing_fsync_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.fsync
    for nth in range(1, 30):
        home = tmp_path / str(nth)
        calls = iter(range(1, 1000))

        def failing(handle: int, calls: Any = calls, nth: int = nth) -> None:
            if next(calls) == nth:
                raise OSError(errno.EIO, "the disk gave up")
            whole(handle)

        monkeypatch.setattr(os, "fsync", failing)
        try:
            save(town(home / "ledger.db").histogram(["dept=a,b,c"], epsilon=1), home / "out")
        except HubbubError:
            monkeypatch.setattr(os, "fsync", whole)
            if (home / "out" / "release.csv").exists():  # the last fsync of all is after the files have their names
                assert nothing_unpaid(home / "out", Ledger(home / "ledger.db"))
                assert nth > 5
            continue
        monkeypatch.setattr(os, "fsync", whole)
        assert nothing_unpaid(home / "out", Ledger(home / "ledger.db"))
        break
    else:
        pytest.fail("no run was left alone")
    assert nth > 6, "too few writes were made durable"


def test_24_a_folder_that_cannot_be_written_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.db"
    made = town(path).histogram(["dept=a,b,c"], epsilon=1)
    opened = os.open

    def read_only(place: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and str(place).startswith(str(tmp_path / "out")):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(place, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(WrongUse, match="could not be written"):
        save(made, tmp_path / "out")
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()


def test_24_a_ledger_that_cannot_be_written_refuses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(Refused, match="so nothing is published"):
        Ledger(tmp_path / "file" / "ledger.db").reserve("town", charge(epsilon=1))
    (tmp_path / "ledger.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(WrongUse, match="is no ledger; name another with ledger"):
        Ledger(tmp_path / "ledger.db").reserve("town", charge(epsilon=1))


def test_24_a_file_that_is_no_ledger_is_left_as_it_is_and_not_called_damaged(tmp_path: Path) -> None:
    other, mine = tmp_path / "other.db", tmp_path / "mine.db"
    with closing(sqlite3.connect(other)) as base:
        base.executescript("CREATE TABLE songs (name TEXT)")
    before = other.read_bytes()
    for act in (lambda: Ledger(other).entries(), lambda: Ledger(other).reserve("town", charge(epsilon=1))):
        with pytest.raises(WrongUse, match="is no ledger"):
            act()
    assert other.read_bytes() == before
    Ledger(mine).reserve("town", charge(epsilon=1))
    mine.write_bytes(b"once this was a ledger" * 100)
    with pytest.raises(CheckFailed, match="is damaged; restore it from a backup"):
        Ledger(mine).entries()


# --- 25: another ledger than it was -------------------------------------------------------------------------------


@pytest.fixture
def used(tmp_path: Path) -> Ledger:
    book = Ledger(tmp_path / "books" / "ledger.db")
    for _ in range(3):
        book.reserve("town", charge(epsilon="0.1"))
    with sqlite3.connect(book.path) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return book


EDITS = {
    "a body": "UPDATE entries SET body = CAST(replace(body, '0.1', '0.01') AS BLOB) WHERE number = 3",
    "a dataset": "UPDATE entries SET dataset = 'city' WHERE number = 3",
    "a kind": "UPDATE entries SET kind = 'abandoned' WHERE number = 3",
    "a time": "UPDATE entries SET time = '2020-01-01T00:00:00Z' WHERE number = 3",
    "a hash": "UPDATE entries SET hash = '00' WHERE number = 3",
    "the last entry gone": "DELETE FROM entries WHERE number = 4",
    "one in the middle gone": "DELETE FROM entries WHERE number = 3",
    "all gone": "DELETE FROM entries",
    "renumbered": "UPDATE entries SET number = 9 WHERE number = 4",
}


@pytest.mark.parametrize("edit", EDITS)
def test_25_an_edited_ledger_is_noticed(used: Ledger, edit: str) -> None:
    with sqlite3.connect(used.path) as base:
        with pytest.raises(sqlite3.IntegrityError, match="entries stay"):
            base.execute(EDITS[edit])
        base.executescript("DROP TRIGGER never_change; DROP TRIGGER never_delete")
        base.execute(EDITS[edit])
    for use in (used.accounts, lambda: used.reserve("town", charge(epsilon="0.1")), used.public_key):
        with pytest.raises(CheckFailed):
            use()


def test_25_a_chain_sealed_anew_is_noticed(used: Ledger) -> None:
    """Who edits an entry and works out every hash after it is caught by what is remembered outside."""
    from hubbub.ledger.log import START, seal

    with sqlite3.connect(used.path) as base:
        base.executescript("DROP TRIGGER never_change; DROP TRIGGER never_delete")
        rows = base.execute("SELECT number, kind, dataset, time, body FROM entries ORDER BY number").fetchall()
        last = START
        for number, kind, dataset, when, body in rows:
            changed = bytes(body).replace(b'"0.1"', b'"0.01"')
            own = seal(number, kind, dataset, when, changed, last)
            base.execute(
                "UPDATE entries SET body = ?, previous = ?, hash = ? WHERE number = ?", (changed, last, own, number)
            )
            last = own
    with pytest.raises(CheckFailed, match="older than it was"):
        used.accounts()


def test_25_a_ledger_put_back_to_an_older_state_is_noticed(used: Ledger, tmp_path: Path) -> None:
    shutil.copytree(used.path.parent, tmp_path / "backup")
    used.reserve("town", charge(epsilon="0.1"))
    shutil.rmtree(used.path.parent)
    shutil.copytree(tmp_path / "backup", used.path.parent)
    with pytest.raises(CheckFailed, match=r"older than it was: entry 5 is missing"):
        used.reserve("town", charge(epsilon="0.1"))


def test_25_a_missing_ledger_is_no_fresh_budget(used: Ledger) -> None:
    shutil.rmtree(used.path.parent)
    with pytest.raises(CheckFailed, match="is gone, and with it what was spent"):
        used.reserve("town", charge(epsilon="0.1"))
    with pytest.raises(CheckFailed, match="is gone"):
        used.accounts()
    used.new()  # said out loud
    assert used.accounts() == {}


def test_25_a_copied_ledger_is_noticed_and_can_be_adopted(used: Ledger, tmp_path: Path) -> None:
    shutil.copytree(used.path.parent, tmp_path / "elsewhere")
    copy = Ledger(tmp_path / "elsewhere" / "ledger.db")
    with pytest.raises(CheckFailed, match=r"copied or moved; .*hubbub ledger adopt"):
        copy.reserve("town", charge(epsilon="0.1"))
    copy.adopt()
    assert copy.reserve("town", charge(epsilon="0.1")).release == 4


def settled(book: Ledger) -> Ledger:
    """A second ledger, in use elsewhere."""
    book.reserve("town", charge(epsilon="0.1"))
    return book


def replaced(used: Ledger, tmp_path: Path, how: str) -> None:
    """Take a ledger away and put a link in its place."""
    folder, away = used.path.parent, tmp_path / "away"
    if how == "a dangling link":
        used.path.rename(away)
        used.path.symlink_to(tmp_path / "nowhere.db")
    elif how == "a link to itself elsewhere":
        folder.rename(away)
        folder.mkdir()
        for file in away.iterdir():
            (folder / file.name).symlink_to(file)
    elif how == "a link to another ledger":
        used.path.rename(away)
        used.path.symlink_to(settled(Ledger(tmp_path / "other" / "ledger.db")).path)
    elif how == "a folder that is a link to an empty one":
        folder.rename(away)
        (tmp_path / "empty").mkdir()
        folder.symlink_to(tmp_path / "empty")
    elif how == "a folder that is a link to nothing":
        folder.rename(away)
        folder.symlink_to(tmp_path / "nowhere")
    elif how == "a folder that is a link to another ledger's":
        folder.rename(away)
        folder.symlink_to(settled(Ledger(tmp_path / "other" / "ledger.db")).path.parent)


LINKS = [
    "a dangling link",
    "a link to itself elsewhere",
    "a link to another ledger",
    "a folder that is a link to an empty one",
    "a folder that is a link to nothing",
    "a folder that is a link to another ledger's",
]


@pytest.mark.parametrize("how", LINKS)
def test_25_a_link_in_the_place_of_a_ledger_is_no_fresh_budget(how: str, used: Ledger, tmp_path: Path) -> None:
    replaced(used, tmp_path, how)
    for _ in range(2):
        with pytest.raises(CheckFailed):
            Ledger(used.path).reserve("town", charge(epsilon="0.1"))
        with pytest.raises(CheckFailed):
            Ledger(used.path).accounts()


def test_25_a_ledger_that_was_always_used_through_a_link_is_known_by_both_paths(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    through, itself = tmp_path / "link" / "ledger.db", tmp_path / "real" / "ledger.db"
    for path in (through, itself, through):
        Ledger(path).reserve("town", charge(epsilon="0.1"))
    (tmp_path / "link").unlink()
    (tmp_path / "link").mkdir()
    with pytest.raises(CheckFailed, match="is gone"):
        Ledger(through).reserve("town", charge(epsilon="0.1"))
    assert Ledger(itself).reserve("town", charge(epsilon="0.1")).release == 4


def test_25_a_link_that_is_meant_is_adopted(used: Ledger, tmp_path: Path) -> None:
    replaced(used, tmp_path, "a link to another ledger")
    assert Ledger(used.path).adopt() is None
    assert Ledger(used.path).reserve("town", charge(epsilon="0.1")).release == 2


def test_25_links_that_go_in_a_circle_get_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(HubbubError, match=r"its links go in a circle|cannot be written"):
        Ledger(tmp_path / "one" / "ledger.db").reserve("town", charge(epsilon="0.1"))


def test_25_whoever_adopts_an_older_copy_is_told_what_it_lacks(used: Ledger, tmp_path: Path) -> None:
    shutil.copytree(used.path.parent, tmp_path / "backup")
    for _ in range(2):
        used.reserve("town", charge(epsilon="0.1"))
    copy = Ledger(tmp_path / "backup" / "ledger.db")
    assert copy.adopt() == (5, 6)
    assert copy.entries()[-1].body["missing"] == [5, 6]
    shutil.rmtree(used.path.parent)
    shutil.copytree(tmp_path / "backup", used.path.parent)
    assert used.adopt() == (6, 6)  # that the fifth is another cannot be seen: only the last one is remembered
    assert used.adopt() is None


def test_25_whoever_adopts_a_ledger_that_is_as_it_was_left_is_noted(used: Ledger) -> None:
    before = used.entries()
    assert used.adopt() is None
    *same, last = used.entries()
    assert same == before
    assert (last.kind, last.body) == (ADOPTED, {"place": str(used.path), "missing": []})
    assert used.reserve("town", charge(epsilon="0.1")).release == 4


def test_25_every_entry_is_checked_unless_the_ledger_is_as_it_was_left(
    used: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = list[int]()
    check = Store._check

    def noted(store: Store, found: Sequence[Entry]) -> None:
        checked.append(len(found))
        check(store, found)

    monkeypatch.setattr(Store, "_check", noted)
    used.reserve("town", charge(epsilon="0.1"))  # the log was moved into the file since
    used.reserve("town", charge(epsilon="0.1"))
    used.reserve("town", charge(epsilon="0.1"))
    assert checked == [4]
    os.utime(used.path, ns=(1, 1))
    used.reserve("town", charge(epsilon="0.1"))
    assert checked == [4, 7]
    used.adopt()  # what is remembered is forgotten, so that nothing can be compared with it
    assert checked == [4, 7]
    used.reserve("town", charge(epsilon="0.1"))
    assert checked == [4, 7]


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_STATE_HOME", "HUBBUB_LEDGER"])
def test_25_a_ledger_in_every_folder_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "data/x.db")
    with pytest.raises(WrongUse, match=f"{variable} must be a path from the root"):
        Ledger().reserve("town", charge(epsilon="0.1"))


def test_25_another_ledger_in_its_place_is_noticed(used: Ledger, tmp_path: Path) -> None:
    other = Ledger(tmp_path / "other" / "ledger.db")
    other.reserve("town", charge(epsilon="0.1"))
    with sqlite3.connect(other.path) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(other.path, used.path)
    with pytest.raises(CheckFailed, match="another than the one that was here"):
        used.accounts()


def test_25_the_clock_may_go_back_and_entries_do_not(used: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    before = used.entries()[-1].time
    monkeypatch.setattr("time.gmtime", lambda: (1999, 1, 1, 0, 0, 0, 4, 1, 0))
    used.reserve("town", charge(epsilon="0.1"))
    assert used.entries()[-1].time == before


def test_25_a_certificate_that_is_out_tells_of_both_folders_put_back(tmp_path: Path, own_ledger: Path) -> None:
    """Ledger and memory rolled back together: the published certificate is the third witness."""
    from hubbub.ledger.ledger import committed_certificate

    book = Ledger(tmp_path / "books" / "ledger.db")
    book.set_policy("town", Policy())
    shutil.copytree(book.path.parent, tmp_path / "backup")
    shutil.copytree(store.anchor_folder(), tmp_path / "memory")
    written = save(town(book.path).histogram(["dept=a,b,c"], epsilon=1), tmp_path / "out")
    data = Path(written["certificate"]).read_bytes()
    assert committed_certificate(book, data, "it")["files"]["release.csv"] == sha256(written["release"])
    for folder, back in ((book.path.parent, "backup"), (store.anchor_folder(), "memory")):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / back, folder)
    book.accounts()  # nothing to see
    with pytest.raises(CheckFailed, match="does not know the certificate"):
        committed_certificate(book, data, "it")


# --- what is free, what is spent ----------------------------------------------------------------------------------


def test_a_refusal_for_the_data_comes_before_anything_is_spent(tmp_path: Path) -> None:
    people = pa.table({"dept": ["a", "a"], "id": [1, 1]})
    table = open_table(people, person="id", dataset="town", ledger=tmp_path / "ledger.db")
    with pytest.raises(Refused, match="one row"):
        table.histogram(["dept=a"], crowd=5)
    (record,) = Ledger(tmp_path / "ledger.db").account("town").records
    assert (record.state, record.drawn, record.is_spent) == ("abandoned", False, False)
    whole = open_table(pa.table({"dept": ["a"], "id": [1]}), person="id", dataset="town", ledger=tmp_path / "ledger.db")
    whole.histogram(["dept=a"], crowd=5)  # still free


def test_a_failure_after_noise_was_drawn_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("hubbub.kinds.histogram.estimands.intervals", fails)
    with pytest.raises(MemoryError):
        town(tmp_path / "ledger.db").histogram(["dept=a,b,c"], epsilon=1)
    (record,) = Ledger(tmp_path / "ledger.db").account("town").records
    assert (record.state, record.drawn, record.is_spent) == ("abandoned", True, True)


def test_a_release_that_is_in_no_ledger_is_not_saved(tmp_path: Path) -> None:
    release: Release = open_fresh(TOWN).histogram(["dept=a,b,c"], crowd=5)
    with pytest.raises(Refused, match="in no ledger"):
        save(release, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_same_numbers_in_another_form_cost_nothing(tmp_path: Path) -> None:
    release = town(tmp_path / "ledger.db").histogram(["dept=a,b,c"], crowd=5)
    for form in ("csv", "parquet", "csv"):
        save(release, tmp_path / "out", form=form, replace=True)
    (record,) = Ledger(tmp_path / "ledger.db").account("town").records
    assert len(record.files) == 2
    assert unfinished(tmp_path / "out") == []


def test_the_same_file_under_a_second_name_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    parquet.write_table(TOWN, tmp_path / "town.parquet")
    open_table(tmp_path / "town.parquet", ledger=tmp_path / "l.db").histogram(["dept=a,b,c"], crowd=5)
    again = open_table(tmp_path / "town.parquet", dataset="village", ledger=tmp_path / "l.db")
    with pytest.raises(Refused, match=r"released before as 'town'.*dataset=town"):
        again.histogram(["age:0..100:10"], crowd=5)


def test_the_key_is_private_and_is_the_ledgers_own(used: Ledger) -> None:
    file = key.key_path(used.path)
    assert file.stat().st_mode & 0o777 == 0o600
    public = used.public_key()
    file.chmod(0o644)
    with pytest.raises(CheckFailed, match="others may read the key"):
        used.public_key()
    file.chmod(0o600)
    file.write_text("00" * 32)
    with pytest.raises(CheckFailed, match="not the one that the ledger names"):
        used.public_key()
    file.unlink()
    with pytest.raises(CheckFailed, match="missing or damaged"):
        used.sign(b"")
    assert used.new_key() == used.public_key() != public


def test_a_frame_has_no_name_of_its_own() -> None:
    with pytest.raises(WrongUse, match="has no name in the ledger"):
        open_table(TOWN).histogram(["dept=a,b,c"], crowd=5)


def test_a_ledger_holds_no_count(tmp_path: Path) -> None:
    secret = pa.table({"dept": ["a"] * 7919 + ["hush"] * 3, "age": [7] * 7922})
    release = open_table(secret, dataset="town", ledger=tmp_path / "ledger.db").histogram(["dept=a,b,c"], crowd=5)
    assert counts(release).published.values.tolist()[0] == 7919
    save(release, tmp_path / "out")
    for path in tmp_path.glob("ledger.db*"):
        assert not re.search(rb"(?<![0-9a-f])7919(?![0-9a-f])", path.read_bytes())  # in a digest it may stand by chance
        assert b"hush" not in path.read_bytes()
