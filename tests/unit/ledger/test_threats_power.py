"""THREATS 38: whenever the power goes out, key and anchor are whole, the ledger opens, and no budget is fresh."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.errors import Refused
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger import durable, key, store
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.bound import Bound
from hubbub.publication.recovery import finish
from hubbub.publication.staging import unfinished
from hubbub.release import save
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.verification import verify
from tests.fresh import opened as open_table
from tests.unit.ledger.disk import Disk

TOWN = pa.table({"dept": ["a"] * 40 + ["b"] * 25 + ["c"] * 3})


def test_38_bytes_are_written_then_synced_then_named_then_the_name_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("write", "fsync", "replace"):
        whole = getattr(os, name)

        def told(*given: Any, name: str = name, whole: Any = whole) -> Any:
            calls.append(name)
            return whole(*given)

        monkeypatch.setattr(os, name, told)
    durable.write(tmp_path / "place", b"x" * 100)
    assert calls == ["write", "fsync", "replace", "fsync"]


def test_38_a_write_that_takes_less_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: whole(handle, bytes(data)[:7]))
    durable.write(tmp_path / "place", bytes(range(100)))
    assert (tmp_path / "place").read_bytes() == bytes(range(100))


def test_38_what_a_killed_process_left_unfinished_is_gone_after_the_next_write(tmp_path: Path) -> None:
    (tmp_path / ".place.part").write_bytes(b"half")
    durable.write(tmp_path / "place", b"whole")
    assert os.listdir(tmp_path) == ["place"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    return home


def opens(home: Path, reserved: bool) -> None:
    """Whatever is left, it can be used, and nothing that was spent is forgotten."""
    book = Ledger()
    for file in store.anchor_folder().glob(f"*{store.ENDING}"):
        assert file.read_bytes().startswith(b"{")
    if key.key_path(book.path).exists():
        assert len(key.public(book.path)) == 64
    records = book.accounts()["town"].records if book.accounts() else []
    if reserved:
        assert [record.is_spent for record in records] == [True]
    spec = histogram(["dept=a,b"], crowd=20)
    if any(record.is_spent for record in records):  # else the power went before anything was drawn
        with pytest.raises(Refused, match="already has release 1"):
            book.reserve("town", charge_of(Bound(spec)))
    values = home / "out" / "release.csv"
    if values.exists():
        assert sha256(values) in records[0].files
    whole = [hidden for hidden in unfinished(home / "out") if (hidden / CERTIFICATE).exists()]
    if records and records[0].files:
        for hidden in unfinished(home / "out"):
            finish(hidden)
        assert verify((home / "out" / CERTIFICATE).read_bytes(), release=values).passed
    else:
        for hidden in whole:
            assert finish(hidden)["release"] == str(values)
    book.sign(b"") if records else book.reserve("town", charge_of(Bound(spec)))


def test_38_after_every_step_of_a_first_release_the_power_may_go_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(home)
    with monkeypatch.context() as patch:
        disk.watch(patch)
        release = open_table(TOWN, dataset="town").histogram(["dept=a,b,c"], crowd=20)
        reserved = len(disk.cuts)
        save(release, home / "out")
    assert len(disk.steps) > 30
    for i, (when, left) in enumerate(disk.cuts):
        disk.put_back(left)
        try:
            opens(home, reserved=i >= reserved)
        except Exception as error:
            raise AssertionError(f"cut {when}: {error!r}") from error


def test_38_a_new_key_is_whole_or_the_old_one_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Ledger()
    book.public_key()
    known = {str(path): path.read_bytes() if path.is_file() else None for path in home.rglob("*")}
    disk = Disk(home)
    with monkeypatch.context() as patch:
        disk.watch(patch)
        for name, data in known.items():
            disk.now[name] = disk.settled[name] = None if data is None else _file(data)
        book.new_key()
    for when, left in disk.cuts:
        disk.put_back(left)
        assert len(key.public(book.path)) == 64, when
        book.entries()


def _file(data: bytes) -> Any:
    from tests.unit.ledger.disk import File

    return File(data)
