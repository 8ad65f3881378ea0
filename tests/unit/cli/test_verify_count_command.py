"""``hubbub verify`` on the signed result of a count: counted again from the ballots, bit for bit, or exit 4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.certificate.certificate import SIGNATURE, signed_bytes
from hubbub.cli.main import commands
from hubbub.ledger import key
from hubbub.serialization.canonical import canonical, read

TIE = "count,ranking\n3,Ann>Bob\n3,Bob>Ann\n3,Cid\n3,Dan>Cid\n"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(commands, [str(arg) for arg in args], catch_exceptions=False)


@pytest.fixture
def ballots(tmp_path: Path) -> Path:
    (tmp_path / "tie.csv").write_text(TIE)
    return tmp_path / "tie.csv"


def counted(ballots: Path, *more: str) -> Path:
    record = ballots.parent / "count.json"
    done = run("vote", "tally", ballots, "--rule", "instant-runoff", "--record", record, *more)
    assert done.exit_code == 0, done.stderr
    assert f"Count it again: hubbub verify {record} --ballots {ballots}" in done.stderr
    return record


def resigned(record: Path, forger: Path, edit: dict[str, Any] | None = None) -> Path:
    """The result with other words in it, signed by somebody else."""
    body = read(record.read_bytes(), "it")
    del body[SIGNATURE]
    body["count"] |= edit or {}
    key.make(forger)
    value = key.sign(forger, signed_bytes(body))
    signature = {"algorithm": key.ALGORITHM, "public_key": key.public(forger), "value": value}
    record.write_bytes(canonical(body | {SIGNATURE: signature}))
    return record


def test_a_result_with_public_dice_is_counted_again_with_its_draws(ballots: Path) -> None:
    record = counted(ballots, "--dice", "three swans")
    done = run("verify", record, "--ballots", ballots, "--explain")
    assert done.exit_code == 0, done.stderr
    assert "drawn again from the public words" in done.stdout
    assert "said after the last ballot and before the count" in done.stdout
    assert "The result holds, signed by you (the key is that of your own ledger), counted again" in done.stdout
    told = json.loads(run("verify", record, "--ballots", ballots, "--json").stdout)
    assert (told["passed"], told["whole"], told["files_missing"]) == (True, True, [])
    assert [each["what"] for each in told["checks"]][-4:] == ["the ballots", "the rounds", "the draws", "the winner"]


def test_without_dice_the_draws_are_replayed_and_nobody_can_check_where_they_came_from(ballots: Path) -> None:
    done = run("verify", counted(ballots), "--ballots", ballots, "--explain")
    assert done.exit_code == 0, done.stderr
    assert "taken from the record, not checked" in done.stdout
    assert "where the recorded draws came from" in done.stdout


def test_without_the_ballots_it_is_not_enough(ballots: Path) -> None:
    record = counted(ballots)
    done = run("verify", record)
    assert done.exit_code == 4
    assert "give the ballots, --ballots FILE" in done.stderr
    assert run("verify", record, "--certificate-only").exit_code == 0


def test_another_ballot_or_a_changed_byte_is_exit_4(ballots: Path) -> None:
    record = counted(ballots)
    other = ballots.with_name("other.csv")
    other.write_text(TIE.replace("3,Cid", "4,Cid"))
    done = run("verify", record, "--ballots", other)
    assert (done.exit_code, "the ballots are not those of the record" in done.stdout) == (4, True)
    whole = record.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 60)):
        record.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert run("verify", record, "--ballots", ballots).exit_code == 4, at


@pytest.mark.parametrize(
    "edit",
    [
        {"winners": ["Cid", "Dan"]},
        {"rounds": []},
        {"draws": []},
        {"draws": [{"number": "1", "of": "0"}]},
        {"dice": "words chosen afterwards"},
        {"rule": {"name": "plurality", "ties": "random"}},
        {"rule": 7},
        {"reading": None},
        {"file": {"format": 9}},
        {"ballots": []},
        {"wire": "tally/9"},
        {"more": ""},
    ],
)
def test_no_signed_lie_about_the_count_passes(ballots: Path, tmp_path: Path, edit: dict[str, Any]) -> None:
    # draws from the machine's entropy agree with other words now and then, and then nobody lied
    words = ("--dice", "three swans") if "dice" in edit else ()
    record = resigned(counted(ballots, *words), tmp_path / "forger.db", edit)
    done = run("verify", record, "--ballots", ballots, "--certificate-only")
    assert done.exit_code == 4, done.stdout
    assert done.stdout.count("✗") == 1
    assert "Traceback" not in done.output


def test_a_true_count_that_somebody_unknown_signed_is_told_so(ballots: Path, tmp_path: Path) -> None:
    record = resigned(counted(ballots), tmp_path / "forger.db")
    done = run("verify", record, "--ballots", ballots)
    assert done.exit_code == 4
    assert "unknown key" in done.stdout
    assert run("verify", record, "--ballots", ballots, "--key", key.public(tmp_path / "forger.db")).exit_code == 0


def test_neither_passes_for_the_other(ballots: Path, tmp_path: Path) -> None:
    record = counted(ballots)
    assert run("verify", record, "--release", ballots).exit_code == 2
    other = tmp_path / "certificate.json"
    other.write_bytes(record.read_bytes().replace(b"hubbub count 1", b"hubbub certificate 1"))
    assert run("verify", other).exit_code == 4
    assert run("verify", other, "--ballots", ballots).exit_code == 4


def test_the_invented_election_and_several_seats(tmp_path: Path) -> None:
    record = tmp_path / "count.json"
    for more in ([], ["--rule", "stv", "--seats", "2", "--dice", "swans"]):
        if more:
            (tmp_path / "x.csv").write_text(TIE)
        file = str(tmp_path / "x.csv") if more else "millbrook"
        assert run("vote", "tally", file, *more, "--record", record).exit_code == 0
        done = run("verify", record, "--ballots", file)
        assert done.exit_code == 0, done.output


CAST = ["Ann,Bob", "Ann,", "Ann,Cid", "Bob,Ann", "Cid,Bob", ",", ","]


def _form(path: Path, cast: list[str], *, when: bool) -> Path:
    heads = "Choice [First],Choice [Second]"
    rows = [f"2026/10/01 9:1{i}:00,{cells}" if when else cells for i, cells in enumerate(cast)]
    path.write_text("\n".join([f"Timestamp,{heads}" if when else heads, *rows]) + "\n")
    return path


def test_the_ballots_without_their_timestamps_verify_and_blank_ones_are_told(tmp_path: Path) -> None:
    record = counted(_form(tmp_path / "club.csv", CAST, when=True))
    done = run("verify", record, "--ballots", _form(tmp_path / "out.csv", CAST[::-1], when=False))
    assert done.exit_code == 0, done.stderr
    assert "2 blank ballots fewer than in the record (rows of empty cells are left out); the result is the same" in (
        " ".join(done.stdout.split())
    )
    assert "blank" not in run("verify", record, "--ballots", tmp_path / "club.csv").stdout
    again = tmp_path / "again"
    again.mkdir()
    record = counted(_form(again / "club.csv", CAST, when=False))
    done = run("verify", record, "--ballots", tmp_path / "club.csv")
    assert (done.exit_code, "2 blank ballots more" in " ".join(done.stdout.split())) == (0, True)


@pytest.mark.parametrize("when", [True, False])
@pytest.mark.parametrize(("at", "cells"), [(5, "Bob,Ann"), (3, ","), (0, "Ann,Cid")])
def test_a_forged_ballot_is_noticed_whatever_blank_ones_are_left_out(
    tmp_path: Path, when: bool, at: int, cells: str
) -> None:
    """A vote in place of a blank ballot, a blank ballot in place of a vote, and another vote."""
    record = counted(_form(tmp_path / "club.csv", CAST, when=True))
    forged = [*CAST[:at], cells, *CAST[at + 1 :]]
    done = run("verify", record, "--ballots", _form(tmp_path / "forged.csv", forged, when=when))
    assert done.exit_code == 4
    assert "the ballots are not those of the record" in done.stderr
    assert when or "it has 7 ballots and the file" in done.stderr
