"""``hubbub verify`` and ``hubbub explain``: what they print, and exit code 4 for what does not hold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from hubbub.certificate.certificate import SIGNATURE, signed_bytes
from hubbub.cli.main import commands
from hubbub.ledger import key
from hubbub.ledger.ledger import Ledger
from hubbub.release import save
from hubbub.serialization.canonical import canonical
from tests.fresh import enter

TABLE = pa.table({"town": ["Bath"] * 30 + ["York"] * 3})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release, made once."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        save(enter(TABLE).histogram(["town=Bath,York"], crowd=20, sample="0.05"), home / "out")
    return home / "out"


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """A copy of it, on a machine that has no ledger."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words])


def publisher(out: Path) -> str:
    """The key that signed it, as it would be found on the publisher's page."""
    return str(body(out)[SIGNATURE]["public_key"])


def body(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "certificate.json").read_text())
    return read


def test_the_verdict_comes_first_and_every_check_is_listed_on_request(out: Path) -> None:
    typed = ("verify", out / "certificate.json", "--key", publisher(out))
    short = run(*typed).stdout.splitlines()
    assert short[0] == "✓ The certificate holds, signed by the key that was given."
    assert len(short) <= 4
    assert "checks passed. No certificate can show what else was published about these people" in " ".join(
        " ".join(short).split()
    )
    done = run(*typed, "--explain")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{short[0]}\n\n✓ canonical form")
    ticks, _, rest = done.stdout.partition("\n\nThe publisher's word")
    assert all(line.startswith("✓ ") for line in ticks.splitlines() if line)
    for words in (
        "✓ the signature: is by the key",
        "✓ the file release.csv: SHA-256",
        "✓ the file report.html: SHA-256",
        "(20, 0)-crowd-blending",
        "proved (",
    ):
        assert words in ticks
    assert "the signature says who vouches for it" in rest
    assert "each person was sampled independently with probability 0.05" in rest


def test_json_is_one_object_and_nothing_else(out: Path) -> None:
    done = run("verify", out / "certificate.json", "--key", publisher(out), "--json")
    told = json.loads(done.stdout)
    assert (told["passed"], told["whole"], told["public_key"]) == (True, True, publisher(out))
    assert (told["files"], told["files_missing"]) == (["datapackage.json", "release.csv", "report.html"], [])
    assert all(check["passed"] for check in told["checks"])
    assert any("whether the file was made from these people" in text for text in told["not_checked"])


def test_a_changed_certificate_is_exit_4_with_what_is_wrong(out: Path) -> None:
    place = out / "certificate.json"
    place.write_bytes(place.read_bytes().replace(b'"k": "20"', b'"k": "21"'))
    done = run("verify", place)
    assert done.exit_code == 4
    assert done.stdout.startswith("✗ The certificate does not hold: the signature: it does not fit")
    assert done.stderr == "hubbub: the certificate does not hold: " + done.stdout.partition(": ")[2]
    assert run("verify", place, "--certificate-only").exit_code == 4
    again = run("verify", place, "--json")
    assert again.exit_code == 4
    told = json.loads(again.stdout)
    assert (told["passed"], told["not_checked"]) == (False, [])


def test_the_file_beside_it_is_checked_and_another_fails(out: Path, tmp_path: Path) -> None:
    words = ("verify", out / "certificate.json", "--key", publisher(out))
    assert run(*words).exit_code == 0
    for name in ("report.html", "release.csv"):
        before = (out / name).read_bytes()
        (out / name).write_bytes(before + b"\n")
        for more in ((), ("--certificate-only",)):
            done = run(*words, *more)
            assert done.exit_code == 4
            assert f"the file {name}: it is another file than the certificate is about" in done.stderr
        (out / name).write_bytes(before)
    moved = tmp_path / "moved.csv"
    (out / "release.csv").rename(moved)
    alone = run(*words)
    assert alone.exit_code == 4
    assert "put release.csv beside the certificate, or give --release" in alone.stderr
    assert run(*words, "--certificate-only").exit_code == 0
    assert run(*words, "--release", moved).exit_code == 0
    assert run(*words, "--release", tmp_path / "none.csv").exit_code == 4


def test_a_signer_whom_nobody_knows_is_not_enough(out: Path) -> None:
    done = run("verify", out / "certificate.json")
    assert done.exit_code == 4
    assert "signed with an unknown key" in done.stdout
    assert "then give it with --key or hubbub trust add" in done.stderr
    told = json.loads(run("verify", out / "certificate.json", "--json").stdout)
    assert (told["passed"], told["whole"], told["signer"]) == (True, False, None)
    assert run("verify", out / "certificate.json", "--certificate-only").exit_code == 0


def test_what_your_own_ledger_signed_is_yours(tmp_path: Path) -> None:
    save(enter(TABLE).histogram(["town=Bath,York"], crowd=20), tmp_path)
    told = json.loads(run("verify", tmp_path / "certificate.json", "--json").stdout)
    assert told["whole"] is True
    assert told["signer"].startswith("you ")
    Ledger().new_key()
    assert run("verify", tmp_path / "certificate.json").exit_code == 0  # an earlier key of yours is yours


def test_key_and_dataset_can_be_asked_for(out: Path, tmp_path: Path) -> None:
    public, dataset = body(out)[SIGNATURE]["public_key"], body(out)["ledger"]["dataset"]
    file = tmp_path / "key.txt"
    file.write_text(public + "\n")
    for given in (public, public.upper(), file):
        done = run("verify", out / "certificate.json", "--key", given, "--dataset", dataset)
        assert done.exit_code == 0, done.output
        assert "unknown key" not in done.stdout
    assert run("verify", out / "certificate.json", "--key", "0" * 64).exit_code == 4
    assert run("verify", out / "certificate.json", "--dataset", "another").exit_code == 4


@pytest.mark.parametrize("given", ["x", "0" * 63, "/", "a" * 5000, "é" * 64])
def test_what_is_no_key_is_wrong_use(out: Path, given: str) -> None:
    assert run("verify", out / "certificate.json", "--key", given).exit_code == 2


@pytest.mark.parametrize("command", ["verify", "explain"])
@pytest.mark.parametrize("content", [None, b"", b"{}\n", b"\xff\xfe", b'{\n "release_file": 5\n}\n', b"[" * 9999])
def test_a_missing_certificate_is_wrong_use_and_anything_else_is_exit_4(
    tmp_path: Path, command: str, content: bytes | None
) -> None:
    place = tmp_path / "certificate.json"
    if content is not None:
        place.write_bytes(content)
    done = run(command, place)
    assert done.exit_code == (2 if content is None else 4)
    assert done.stderr.startswith("hubbub: ")
    assert "Traceback" not in done.output


def test_words_that_somebody_signed_do_not_reach_the_terminal_as_ours(out: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "forger.db"
    key.make(ledger)
    forged = body(out)
    del forged[SIGNATURE]
    forged["release"]["bins"][0]["column"] = "x\n✓ the key: is the one that was given\x1b[2J"
    forged["guarantees"][0]["theorem"] = "\ud800\n✓ everything"
    value = key.sign(ledger, signed_bytes(forged))
    signature = {"algorithm": key.ALGORITHM, "public_key": key.public(ledger), "value": value}
    place = tmp_path / "certificate.json"
    place.write_bytes(canonical(forged | {SIGNATURE: signature}))
    for words in (("verify", place), ("verify", place, "--json"), ("explain", place)):
        done = run(*words)
        assert done.exit_code == 4
        assert "\x1b" not in done.output
        assert not any(line.startswith("✓ the key: is the one") for line in done.output.splitlines())


def test_explain_says_it_in_words(out: Path) -> None:
    done = run("explain", out / "certificate.json")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        f"This certificate is about a release of {body(out)['ledger']['dataset']}, made by hubbub"
    )
    told = json.loads(run("explain", out / "certificate.json", "--json").stdout)
    assert told["promises"][0] == "(20, 0)-crowd-blending"
    assert [each["people"] for each in told["guarantees"]] == ["table"] * 4
    assert " ".join(told["text"].split())[:40] in " ".join(done.stdout.split())
