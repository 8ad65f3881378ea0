"""The drill: ledger, key and series come back together, or not at all; an older backup is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from hubbub import series
from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger import store
from hubbub.ledger.backup import backup, restore
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.protocol.release import Release


def month(number: int) -> Release:
    table = pa.table({"id": [f"p{i}" for i in range(10 * number, 10 * number + 30)]})
    engine = open_table(table, person="id", dataset="clinic").engine
    return series.release(engine, "clinic", f"2026-0{number}")


def lost() -> None:
    """The ledger's folder is gone; this machine still remembers it."""
    for file in Ledger().path.parent.iterdir():
        if file.is_file():
            file.unlink()


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A series of which two periods are published, and a backup."""
    series.start("clinic", kind="count", person="id", periods=6, first="2026-01", epsilon=1)
    month(1).save(tmp_path / "1")
    month(2).save(tmp_path / "2")
    backup(Ledger(), tmp_path / "backup")
    return tmp_path


def test_25_a_backup_brings_back_ledger_key_and_series(begun: Path) -> None:
    before = (begun / "2" / "certificate.json").read_bytes()
    lost()
    with pytest.raises(CheckFailed, match="is gone"):
        month(3)
    assert restore(Ledger(), begun / "backup", [begun / "2" / "certificate.json"]) > 3
    series.release(None, "clinic", "2026-02").save(begun / "again")
    assert (begun / "again" / "certificate.json").read_bytes() == before
    month(3)
    assert [each.body["period"] for each in Ledger().series("clinic")[1].periods] == [0, 1, 2]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (begun / "backup").iterdir())


def test_25_an_older_backup_is_noticed_by_this_machine_and_elsewhere_by_certificates(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    month(3).save(begun / "3")
    lost()
    with pytest.raises(CheckFailed, match="restore the latest one"):
        restore(Ledger(), begun / "backup")
    monkeypatch.setenv("XDG_STATE_HOME", str(begun / "another machine"))
    assert store.anchor_folder().is_relative_to(begun)
    with pytest.raises(CheckFailed, match="does not know the certificate"):
        restore(Ledger(), begun / "backup", [begun / "3" / "certificate.json"])
    assert not Ledger().path.exists()


def test_63_a_series_does_not_go_on_in_a_ledger_that_was_put_back(begun: Path) -> None:
    """Somebody adopts an older copy all the same: then no period is drawn a second time."""
    month(3).save(begun / "3")
    lost()
    for file in (begun / "backup").iterdir():
        if file.name.startswith("ledger.db"):
            target = Ledger().path.with_name(f"{Ledger().path.name}{file.name.removeprefix('ledger.db')}")
            shutil.copy2(file, target)
    assert Ledger().adopt() is not None
    for period in (2, 3, 4):
        with pytest.raises(Refused, match="start another series"):
            month(period)


def test_a_backup_replaces_nothing_and_one_that_was_changed_is_refused(begun: Path) -> None:
    with pytest.raises(Refused, match="nothing is replaced"):
        restore(Ledger(), begun / "backup")
    with pytest.raises(WrongUse, match="not empty"):
        backup(Ledger(), begun / "backup")
    lost()
    (state,) = (begun / "backup").glob("*.series-*")
    shutil.copytree(begun / "backup", begun / "changed")
    (begun / "changed" / state.name).write_bytes(b"{}")
    with pytest.raises(CheckFailed, match="no whole backup"):
        restore(Ledger(), begun / "changed")


def test_the_commands_back_up_and_restore(begun: Path) -> None:
    told = CliRunner().invoke(commands, ["ledger", "backup", str(begun / "more"), "--json"])
    assert told.exit_code == 0, told.output
    assert len(json.loads(told.stdout)["files"]) == 3
    lost()
    words = ["ledger", "restore", str(begun / "more"), str(begun / "2" / "certificate.json"), "--json"]
    told = CliRunner().invoke(commands, words)
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["certificates"] == 1
