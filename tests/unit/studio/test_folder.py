"""Which files can be named: those in the folder, links followed, and nothing hidden (threat 29)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.studio.folder import TABLES, Folder
from tests.unit.studio.opened import CSV, FILLED, Opened, plain
from tests.unit.studio.opened import opened as open_studio


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "books").mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for name in ("people.csv", "sub/more.parquet", ".hidden.csv", "books/ledger.csv", "notes.md"):
        (root / name).write_text("a\n1\n")
    (root / "out.csv").symlink_to(tmp_path / "secret.csv")
    (root / "near.csv").symlink_to(root / "people.csv")
    (root / "circle.csv").symlink_to(root / "circle.csv")
    (root / "up").symlink_to(tmp_path, target_is_directory=True)
    return Folder.at(root, root / "books" / "ledger.db")


OUTSIDE = ("../secret.csv", "sub/../../secret.csv", "out.csv", "up/secret.csv", "/etc/passwd", "circle.csv")
NEVER = (".hidden.csv", "books/ledger.csv", "", "   ", "a\0b", "sub", "missing.csv", "x" * 2000, "sub/.hidden/x.csv")


@pytest.mark.parametrize("name", [*OUTSIDE, *NEVER])
def test_what_is_outside_or_hidden_or_no_file_is_not_opened(folder: Folder, name: str) -> None:
    with pytest.raises(WrongUse):
        folder.file(name)


def test_what_is_inside_is(folder: Folder) -> None:
    assert folder.file("people.csv") == folder.root / "people.csv"
    assert folder.file(str(folder.root / "people.csv")) == folder.root / "people.csv"
    assert folder.file("near.csv") == folder.root / "people.csv"
    assert folder.files(TABLES, lambda folder: ()) == ["near.csv", "people.csv", "sub/more.parquet"]


@pytest.mark.parametrize("books", ["ledger.db", "root/ledger.db"])
def test_a_ledger_above_the_folder_or_in_it_shuts_its_own_files_alone(folder: Folder, books: str) -> None:
    ledger = folder.root.parent / books
    for end in ("", "-wal", ".key", ".key.old"):
        ledger.with_name(f"{ledger.name}{end}").write_text("secret")
    here = Folder.at(folder.root, ledger)
    assert here.file("people.csv") == folder.root / "people.csv"
    assert here.new("out") == folder.root / "out"
    for end in ("", "-wal", ".key", ".key.old"):
        with pytest.raises(WrongUse):
            here.file(str(ledger) + end)
    assert not [
        name for name in here.files((".db", ".key", ".old", "-wal"), lambda folder: ()) if name.startswith("ledger")
    ]


def test_pipes_and_devices_are_no_files(folder: Folder) -> None:
    os.mkfifo(folder.root / "pipe.csv")
    with pytest.raises(WrongUse):
        folder.file("pipe.csv")


@pytest.mark.parametrize("name", ["../out", "up/out", ".", ".hidden", "books/out"])
def test_a_release_goes_into_a_folder_inside(folder: Folder, name: str) -> None:
    with pytest.raises(WrongUse):
        folder.new(name)


def test_with_a_ledger_above_the_folder_its_tables_are_open(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "people.csv").write_text(CSV, encoding="utf-8")
    with open_studio(tmp_path / "tables", tmp_path / "ledger.db") as opened:
        assert "people.csv" in opened.get("/publish")[1]
        assert opened.get("/publish/table", params={"file": "people.csv", "named": "1"})[0] == 200


def test_pages_say_so_and_do_nothing(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("code\n4711\n")
    (opened.folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    for name in ("../secret.csv", "link.csv", str(tmp_path / "secret.csv")):
        status, text = opened.get("/publish/table", params={"file": name})
        assert status == 400
        assert "outside the folder" in plain(text)
        assert "4711" not in text
        assert opened.get("/publish/kind/histogram", params={"file": name})[0] == 400
        assert opened.get("/check/folder", params={"folder": name})[0] == 400
    assert "link.csv" not in opened.get("/publish")[1]
    status, text = opened.send("/publish/release", {**FILLED, "out": "../out"})
    assert status == 400
    assert not (tmp_path / "out").exists()


def test_values_are_listed_and_not_read_from_a_file(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_text("Bath\n")
    form = {**FILLED, "by1-values": f"@{tmp_path / 'values.txt'}"}
    assert "list the values here" in plain(opened.get("/publish/answer", params=form)[1])
    generic = {"file": "people.csv", "kind": "histogram", "asked": "1", "rows_are_people": "on", "epsilon": "1"}
    told = opened.get("/publish/answer", params={**generic, "by": f"town=@{tmp_path / 'values.txt'}"})[1]
    assert "list the values here" in plain(told)


def test_only_published_files_are_handed_out(opened: Opened) -> None:
    for name in ("people.csv", "../people.csv", "certificate.json"):
        assert opened.get("/file", params={"folder": ".", "name": name})[0] == 400
