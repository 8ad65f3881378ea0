"""Certificates, files and a ledger that were published once: they stay readable for ever.

A failure here is not mended by making the files again, unless nobody has published in this format yet.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from hubbub import registry
from hubbub.guarantees.people import DECLARED_UNIQUE
from hubbub.ledger.ledger import Ledger, committed_certificate
from hubbub.ledger.series_state import load as load_state
from hubbub.verification import load, verify
from hubbub.verification.series import verify_series
from tests.golden.json_schema import faults
from website.certificate_format import PAGE, SCHEMA, page, schema

FOLDER = Path(__file__).with_name("format")
CERTIFICATES = sorted(FOLDER.rglob("certificate.json"))
PUBLIC = (FOLDER / "public_key").read_text(encoding="ascii")
NAMES = [str(each.parent.relative_to(FOLDER)) for each in CERTIFICATES]
every = pytest.mark.parametrize("certificate", CERTIFICATES, ids=NAMES)


def wrong(body: Any) -> list[str]:
    known_schema = schema()
    return list(faults(body, known_schema, known_schema))


def test_every_kind_has_a_golden_release() -> None:
    assert {name.partition("/")[0] for name in NAMES} == {*registry.names(), *registry._MADE_OF_OTHERS}


@every
def test_a_golden_release_verifies_and_stays_readable_for_ever(certificate: Path) -> None:
    done = verify(load(certificate), folder=certificate.parent, key=PUBLIC)
    assert done.passed, done.verdict
    assert not done.missing
    assert not done.not_recomputed


@every
def test_a_golden_release_that_was_changed_does_not_verify(certificate: Path, tmp_path: Path) -> None:
    """The control."""
    shutil.copytree(certificate.parent, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "release.csv"
    file.write_bytes(file.read_bytes() + b"\n")
    assert not verify(load(tmp_path / "certificate.json"), folder=tmp_path, key=PUBLIC).passed


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A copy on this machine, whose key only its owner may read."""
    for name in ("ledger.db", "ledger.db.key"):
        shutil.copyfile(FOLDER / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    return Ledger(tmp_path / "ledger.db")


def test_the_golden_ledger_is_checked_and_knows_every_certificate(ledger: Ledger) -> None:
    ledger.adopt()
    assert ledger.check() > len(CERTIFICATES)
    assert ledger.public_key() == PUBLIC
    for each in CERTIFICATES:
        assert committed_certificate(ledger, load(each), str(each))["ledger"]["hash"]


def test_every_golden_file_is_read() -> None:
    """Those that a certificate names are compared where it is verified; beside them are the ledger and what is its."""
    named = {each.parent / name for each in CERTIFICATES for name in json.loads(each.read_bytes())["files"]}
    rest = {each for each in FOLDER.rglob("*") if each.is_file()} - named - set(CERTIFICATES)
    states = set(FOLDER.glob("ledger.db.series-*"))
    assert {each.name for each in rest - states} == {"ledger.db", "ledger.db.key", "public_key"}
    assert states
    for each in states:
        data = each.read_bytes()
        state = load_state(FOLDER / "ledger.db", json.loads(data)["nonce"], hashlib.sha256(data).hexdigest())
        assert state.to_bytes() == data


def test_what_is_declared_of_people_is_among_the_golden_releases() -> None:
    declared = [each for each in CERTIFICATES if DECLARED_UNIQUE in each.read_text(encoding="utf-8")]
    assert [each.parent.name for each in declared] == ["mean"]
    done = verify(load(declared[0]), folder=declared[0].parent, key=PUBLIC)
    assert len(done.declared) == 1


def test_the_golden_series_is_one() -> None:
    found = verify_series(FOLDER / "series", key=PUBLIC)
    assert found.passed, found.verdict


# --- the schema -----------------------------------------------------------------------------------------------------


def test_the_schema_and_the_page_are_what_the_types_say() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema(), "write them again: make format"
    assert PAGE.read_text(encoding="utf-8") == page(), "write them again: make format"


@every
def test_a_golden_certificate_satisfies_the_schema(certificate: Path) -> None:
    assert wrong(json.loads(certificate.read_bytes())) == []


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all objects in a value."""
    if isinstance(value, dict):
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in pairs:
        yield from objects(each, (*path, name))


OPEN = {"files", "given", "counts"}
"""Objects whose names are files, numbers of a theorem, or candidates."""


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


@every
def test_the_schema_refuses_an_unknown_field_and_one_that_was_removed(certificate: Path) -> None:
    body = json.loads(certificate.read_bytes())
    refused = schema()["$defs"]
    for path in objects(body):
        if path and (path[-1] in OPEN or "assumptions" in path):
            continue
        more = deepcopy(body)
        at(more, path)["approved"] = "by everybody"
        assert wrong(more), path
    for name in (*schema()["required"], "format"):
        assert wrong({each: value for each, value in body.items() if each != name}), name
    needed = refused[f"release.{body['kind'].partition('/')[0]}"]["required"]
    for name in needed:
        less = body | {"release": {each: value for each, value in body["release"].items() if each != name}}
        assert wrong(less), name


def test_every_field_is_described() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, defined in schema()["$defs"].items():
        for field in defined.get("properties", {}):
            if field != "is":
                assert f"| `{field}`" in text, (name, field)
