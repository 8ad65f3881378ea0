"""``hubbub trust``: names for keys, which keep them, and what ``hubbub verify`` makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from hubbub.certificate.certificate import SIGNATURE
from hubbub.cli.main import commands
from hubbub.ledger import trust
from hubbub.release import save
from tests.fresh import opened as open_table

ONE, TWO = "1" * 64, "2" * 64


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words])


def told(*words: object) -> Any:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_name_is_added_listed_and_removed(tmp_path: Path) -> None:
    assert told("trust", "list") == {"keys": {}}
    assert "Nobody's key is known yet" in run("trust", "list").stdout
    assert told("trust", "add", "Millbrook Town", ONE) == {"name": "Millbrook Town", "public_key": ONE, "new": True}
    file = tmp_path / "key.txt"
    file.write_text(TWO.upper() + "\n")
    assert "This is its first use here." in run("trust", "add", "other", file).stdout
    assert told("trust", "list") == {"keys": {"Millbrook Town": ONE, "other": TWO}}
    assert run("trust", "list").stdout == f"Millbrook Town: {ONE}\nother: {TWO}\n"
    assert told("trust", "remove", "other") == {"removed": "other"}
    assert told("trust", "list") == {"keys": {"Millbrook Town": ONE}}


def test_a_name_keeps_its_key() -> None:
    run("trust", "add", "town", ONE)
    assert told("trust", "add", "town", ONE)["new"] is False
    done = run("trust", "add", "town", TWO)
    assert done.exit_code == 3
    assert "known with another key" in done.stderr
    assert told("trust", "list") == {"keys": {"town": ONE}}
    run("trust", "remove", "town")
    assert told("trust", "add", "town", TWO)["new"] is True


@pytest.mark.parametrize(
    "words",
    [
        ("add", "town", "x"),
        ("add", "", ONE),
        ("add", "_town", ONE),
        ("add", "a/b", ONE),
        ("add", "a\nb", ONE),
        ("add", "x" * 81, ONE),
        ("add", "town"),
        ("remove", "nobody"),
        ("nonsense",),
    ],
)
def test_wrong_use_is_exit_2_in_one_sentence(words: tuple[str, ...]) -> None:
    done = run("trust", *words)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("hubbub: ")
    assert done.stderr.count("\n") == 1
    assert told("trust", "list") == {"keys": {}}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"town": 5}', "\0"])
def test_a_damaged_file_of_names_is_exit_4(content: str) -> None:
    trust.trust_path().parent.mkdir(parents=True)
    trust.trust_path().write_text(content)
    for words in (("list",), ("add", "town", ONE), ("remove", "town")):
        assert run("trust", *words).exit_code == 4
    assert trust.trust_path().read_text() == content


def test_verify_knows_whom_you_trust_by_name(tmp_path: Path) -> None:
    table = open_table(pa.table({"town": ["Bath"] * 30}), dataset="town", ledger=tmp_path / "theirs" / "ledger.db")
    place = save(table.histogram(["town=Bath"], crowd=20), tmp_path / "out")["certificate"]
    public = json.loads(Path(place).read_text())[SIGNATURE]["public_key"]
    assert run("verify", place).exit_code == 4
    run("trust", "add", "Bath", public)
    run("trust", "add", "York", TWO)
    assert told("verify", place)["signer"] == "Bath"
    assert "The certificate holds, signed by Bath." in run("verify", place).stdout
    assert run("verify", place, "--key", "Bath").exit_code == 0
    assert run("verify", place, "--key", "York").exit_code == 4
    assert run("verify", place, "--key", "Hull").exit_code == 2
    run("trust", "remove", "Bath")
    assert run("verify", place).exit_code == 4


@pytest.mark.parametrize("command", ["add", "list", "remove"])
def test_help_has_an_example(command: str) -> None:
    done = run("trust", command, "--help")
    assert done.exit_code == 0
    assert "Example" in done.stdout


def test_a_file_whose_path_has_as_many_signs_as_a_key_is_read(tmp_path: Path) -> None:
    name = "k" * (64 - len(str(tmp_path)) - 1)
    file = tmp_path / name if name else tmp_path / "k"
    file.write_text(TWO + "\n")
    assert told("trust", "add", "other", file)["public_key"] == TWO
