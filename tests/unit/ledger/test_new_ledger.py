"""A second ledger begins with nothing spent, and whoever begins one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.ledger import paths
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HUBBUB_PROGRESS", "1")
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "HUBBUB_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "login_home", lambda: tmp_path / "home")


@pytest.mark.parametrize("way", ["another file", "another home", "another state"])
def test_25_a_new_ledger_beside_another_of_this_user_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    Ledger().set_policy("town", Policy())
    Ledger().set_policy("town", Policy())
    first = Ledger().path
    assert capsys.readouterr().err == ""
    if way != "another file":
        monkeypatch.setenv("HOME" if way == "another home" else "XDG_STATE_HOME", str(tmp_path / "other"))
    second = Ledger(None if way == "another home" else tmp_path / "second.db")
    second.set_policy("town", Policy())
    told = capsys.readouterr().err
    assert told.startswith(f"{second.path} is a new ledger: it knows nothing of what was spent in {first}.")
    second.set_policy("town", Policy())
    assert capsys.readouterr().err == ""


def test_a_ledger_that_is_gone_is_no_other_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Ledger(tmp_path / "first.db").set_policy("town", Policy())
    (tmp_path / "first.db").unlink()
    Ledger(tmp_path / "second.db").set_policy("town", Policy())
    assert capsys.readouterr().err == ""
