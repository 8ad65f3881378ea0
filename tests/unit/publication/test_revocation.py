"""A release that was taken back or corrected: told by whoever verifies, if its publisher said so."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.publication.revocation import REPLACED, REPLACES, WITHDRAWN, correct, withdraw
from hubbub.release import save
from tests.fresh import enter
from tests.unit.shared.saved import TABLE

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
    done = run("release", "withdraw", out, "--reason", REASON)
    assert done.exit_code == 0, done.output
    told = run("verify", out / "certificate.json")
    assert told.exit_code == 4
    assert f"its publisher withdrew it: {REASON}" in told.output
    assert {name: (out / name).read_bytes() for name in before} == before
    again = run("release", "withdraw", out, "--reason", REASON)
    assert (again.exit_code, "withdrawn already" in again.stderr) == (2, True)


def test_only_who_published_it_withdraws_it(out: Path, tmp_path: Path) -> None:
    stranger = Ledger(tmp_path / "stranger.db")
    stranger.public_key()
    with pytest.raises(Refused, match="only who published"):
        withdraw(out, REASON, ledger=stranger)
    Ledger().new_key()
    with pytest.raises(Refused, match="an earlier key"):
        withdraw(out, REASON, ledger=Ledger())
    with pytest.raises(WrongUse, match="say why"):
        withdraw(out, " ", ledger=Ledger())
    with pytest.raises(WrongUse, match="there is no release"):
        withdraw(tmp_path / "nowhere", REASON, ledger=Ledger())


def test_a_notice_that_is_forged_or_of_another_release_counts_for_nothing(out: Path, tmp_path: Path) -> None:
    save(enter(TABLE).histogram(["town=Bath,York"], crowd=20), tmp_path / "other")
    other = withdraw(tmp_path / "other", REASON, ledger=Ledger()).read_bytes()
    (out / WITHDRAWN).write_bytes(other)
    assert hubbub.verify(out / "certificate.json").passed
    mine = withdraw_bytes(out)
    for forged in (mine.replace(b"wrongly", b"rightly"), b"", b"{}\n", json.dumps([1]).encode()):
        (out / WITHDRAWN).write_bytes(forged)
        assert hubbub.verify(out / "certificate.json").passed
    (out / WITHDRAWN).write_bytes(mine)
    assert not hubbub.verify(out / "certificate.json").passed


def withdraw_bytes(out: Path) -> bytes:
    (out / WITHDRAWN).unlink()
    return withdraw(out, REASON, ledger=Ledger()).read_bytes()


@pytest.fixture
def corrected(tmp_path: Path) -> Path:
    save(enter(TABLE).histogram(["town=Bath,York"], crowd=21), tmp_path / "corrected")
    return tmp_path / "corrected"


def test_a_corrected_release_is_named_by_the_old_one_and_names_it(out: Path, corrected: Path) -> None:
    before = {path: path.read_bytes() for folder in (out, corrected) for path in folder.iterdir()}
    spent = [len(each.spent_releases) for each in Ledger().accounts().values()]
    done = run("release", "correct", out, "--by", corrected, "--reason", REASON)
    assert done.exit_code == 0, done.output
    old, new = (hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest() for folder in (out, corrected))
    told = run("verify", out / "certificate.json")
    assert told.exit_code == 4
    assert f"replaced it by the release whose certificate has the digest {new}: {REASON}" in " ".join(
        told.output.split()
    )
    checked = hubbub.verify(corrected / "certificate.json")
    assert checked.passed
    assert f"the release whose certificate has the digest {old}: {REASON}" in [each.found for each in checked.checks]
    assert (out / REPLACED).read_bytes() == (corrected / REPLACES).read_bytes()
    assert {path: path.read_bytes() for path in before} == before
    assert [len(each.spent_releases) for each in Ledger().accounts().values()] == spent
    for again in (("correct", out, "--by", corrected), ("withdraw", out)):
        refused = run("release", *again, "--reason", REASON)
        assert (refused.exit_code, "replaced already" in refused.stderr) == (2, True)


def test_what_cannot_correct_a_release_is_refused(out: Path, corrected: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot replace itself"):
        correct(out, out, REASON)
    with pytest.raises(WrongUse, match="there is no release"):
        correct(out, tmp_path / "nowhere", REASON)
    with pytest.raises(Refused, match="only who published"):
        correct(out, corrected, REASON, ledger=tmp_path / "stranger.db")
    with pytest.raises(WrongUse, match="say why"):
        correct(out, corrected, "two\nlines")
    save(enter(TABLE).histogram(["town=Bath,York"], crowd=22), tmp_path / "third")
    correct(out, corrected, REASON)
    with pytest.raises(WrongUse, match="replaces another one already"):
        correct(tmp_path / "third", corrected, REASON)
    with pytest.raises(WrongUse, match="replaced already"):
        correct(tmp_path / "third", out, REASON)  # what stands no more replaces nothing
    assert hubbub.verify(tmp_path / "third" / "certificate.json").passed


def test_a_correction_that_is_forged_or_misplaced_counts_for_nothing(out: Path, corrected: Path) -> None:
    correct(out, corrected, REASON)
    notice = (out / REPLACED).read_bytes()
    for name, data in (
        (REPLACED, notice.replace(b"wrongly", b"rightly")),
        (WITHDRAWN, notice),  # it is no withdrawal
        (REPLACES, notice),  # it is of another release
    ):
        (out / REPLACED).unlink(missing_ok=True)
        (out / name).write_bytes(data)
        assert hubbub.verify(out / "certificate.json").passed
        (out / name).unlink()
    (out / REPLACED).write_bytes(notice)
    assert not hubbub.verify(out / "certificate.json").passed
    (corrected / REPLACED).write_bytes(notice)
    assert hubbub.verify(corrected / "certificate.json").passed
