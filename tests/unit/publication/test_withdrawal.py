"""A release that was taken back: told by whoever verifies, if its publisher said so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.publication.withdrawal import NOTICE, withdraw
from hubbub.release import save
from tests.fresh import enter
from tests.unit.saved import TABLE

REASON = "a column was read wrongly"


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, list(map(str, words)))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    save(enter(TABLE).histogram(["town=Bath,York"], crowd=20), tmp_path / "out")
    return tmp_path / "out"


def test_a_release_that_was_withdrawn_fails_with_the_reason(out: Path) -> None:
    assert hubbub.verify(out / "certificate.json").passed
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = run("ledger", "withdraw", out, "--reason", REASON)
    assert done.exit_code == 0, done.output
    told = run("verify", out / "certificate.json")
    assert told.exit_code == 4
    assert f"its publisher withdrew it: {REASON}" in told.output
    assert {name: (out / name).read_bytes() for name in before} == before
    again = run("ledger", "withdraw", out, "--reason", REASON)
    assert (again.exit_code, "withdrawn already" in again.stderr) == (2, True)


def test_only_who_published_it_withdraws_it(out: Path, tmp_path: Path) -> None:
    stranger = Ledger(tmp_path / "stranger.db")
    stranger.public_key()
    with pytest.raises(Refused, match="only who published"):
        withdraw(out, REASON, stranger)
    Ledger().new_key()
    with pytest.raises(Refused, match="an earlier key"):
        withdraw(out, REASON, Ledger())
    with pytest.raises(WrongUse, match="say why"):
        withdraw(out, " ", Ledger())
    with pytest.raises(WrongUse, match="there is no release"):
        withdraw(tmp_path / "nowhere", REASON, Ledger())


def test_a_notice_that_is_forged_or_of_another_release_counts_for_nothing(out: Path, tmp_path: Path) -> None:
    save(enter(TABLE).histogram(["town=Bath,York"], crowd=20), tmp_path / "other")
    other = withdraw(tmp_path / "other", REASON, Ledger()).read_bytes()
    (out / NOTICE).write_bytes(other)
    assert hubbub.verify(out / "certificate.json").passed
    mine = withdraw_bytes(out)
    for forged in (mine.replace(b"wrongly", b"rightly"), b"", b"{}\n", json.dumps([1]).encode()):
        (out / NOTICE).write_bytes(forged)
        assert hubbub.verify(out / "certificate.json").passed
    (out / NOTICE).write_bytes(mine)
    assert not hubbub.verify(out / "certificate.json").passed


def withdraw_bytes(out: Path) -> bytes:
    (out / NOTICE).unlink()
    return withdraw(out, REASON, Ledger()).read_bytes()
