"""Bring out what a process left ready when it died or failed. Nothing is drawn, nothing is paid twice, nothing is lost.

A hidden folder without a draft of its certificate was cut short while its numbers were being written: nothing of it can
be finished, and it goes. Everything else stays until it is out, whatever goes wrong meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from hubbub.certificate.certificate import SIGNATURE, signed_bytes
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger.durable import sha256
from hubbub.ledger.key import is_signature
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.release import Reservation, release_digests
from hubbub.publication.staging import DRAFT, PREFIX, RESERVATION_FILE, Staged, exclusive, held, publish, tidy
from hubbub.serialization import manifest
from hubbub.serialization.canonical import read
from hubbub.serialization.published_files import CERTIFICATE


def finish(hidden: Path) -> dict[str, str]:
    """The files of a release that was ready, under their names.

    Guarantee: only bytes for a reservation that the ledger knows come out, signed by the ledger's own key, or signed
    now if they wait in a folder that nobody but the owner of the ledger could write to. Removed is only what has
    neither a certificate nor the draft of one, and what the ledger has not committed; its reservation counts as spent;
    and what is left of a release whose files all have their names. Of a period of a series the files that were not whole
    go: whoever asks for it again gets the same.
    """
    with ExitStack() as stack:
        try:  # whoever is about to write here holds the folder
            stack.enter_context(exclusive(hidden.parent, partial(_refuse, hidden)))
        except FileNotFoundError:
            _refuse(hidden)
        return _finish(hidden)


def _refuse(hidden: Path) -> NoReturn:
    raise Refused(f"{str(hidden)!r} is in use by a release that is still running, or not yours; wait for it")


def _finish(hidden: Path) -> dict[str, str]:
    handle = held(hidden)
    if handle is None:
        _refuse(hidden)
    try:
        if not _exists(hidden / RESERVATION_FILE) and (body := _out_already(hidden)) is not None:
            return _tidied(hidden, body)
        if not _exists(hidden / CERTIFICATE) and not _exists(hidden / DRAFT):
            return _cleared(hidden)
        staged = _ready(hidden, handle)
    except OSError:
        os.close(handle)
        raise WrongUse(f"the release in {str(hidden)!r} could not be read, and stays; try again") from None
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        os.close(handle)
        raise _stays(hidden, "its files are not as they were written") from None
    except BaseException:
        os.close(handle)
        raise
    return publish(staged)


def _exists(file: Path) -> bool:
    """Whether there is such a file. Other errors than its absence are raised."""
    try:
        file.lstat()
    except FileNotFoundError:
        return False
    return True


def _stays(hidden: Path, why: str) -> CheckFailed:
    return CheckFailed(
        f"the release in {str(hidden)!r} is not brought out: {why}; it stays where it is, and counts as spent"
    )


def _cleared(hidden: Path) -> dict[str, str]:
    """Remove what was never whole, or what is left of a release that is out."""
    ledger, nonce = _ledger_of(hidden), hidden.name.removeprefix(PREFIX)
    files = ledger.committed_files(nonce) if ledger is not None else {}
    out = hidden.parent / CERTIFICATE
    if ledger is not None and ledger.is_series(nonce) and not (out.exists() and sha256(out) in files.values()):
        shutil.rmtree(hidden)
        raise Refused(
            "the period was cut short before its files were whole, and they were removed; ask for it again: what was drawn "
            "is kept, and a period that was not drawn yet is drawn then"
        )
    if files:
        if not out.exists() or sha256(out) not in files.values():
            raise _stays(hidden, "the ledger has committed it, and its certificate is missing")
        return _tidied(hidden, read(out.read_bytes(), "the certificate"))
    shutil.rmtree(hidden)
    raise Refused(
        "the release was cut short before it was whole, and nothing of it can be finished; it counts as spent, "
        "and was removed"
    )


def _out_already(hidden: Path) -> Mapping[str, Any] | None:
    """The certificate of this release, if it has its name and all its files have theirs: then a kill came while the
    hidden folder was cleared away."""
    out = hidden.parent / CERTIFICATE
    if not _exists(out):
        return None
    body: dict[str, Any] = read(out.read_bytes(), "the certificate")
    if f"{PREFIX}{body['ledger']['nonce']}" != hidden.name:
        return None
    paths = {hidden.parent / name: digest for name, digest in release_digests(body).items()}
    return body if all(_exists(path) and sha256(path) == digest for path, digest in paths.items()) else None


def _tidied(hidden: Path, body: Mapping[str, Any]) -> dict[str, str]:
    tidy(hidden)
    release, out = next(iter(release_digests(body))), hidden.parent
    return {"release": str(out / release), "certificate": str(out / CERTIFICATE)}


def _ledger_of(hidden: Path) -> Ledger | None:
    """The ledger that a release was made with; None if the release does not say."""
    if not _exists(hidden / RESERVATION_FILE):
        return None
    try:
        ledger = Ledger(json.loads((hidden / RESERVATION_FILE).read_bytes())["ledger"])
    except (ValueError, KeyError, TypeError):
        raise _stays(hidden, "it does not say which ledger it is of") from None
    if not ledger.entries():
        raise CheckFailed(f"the release in {str(hidden)!r} is of the ledger {str(ledger.path)!r}, which is not there")
    return ledger


def _ready(hidden: Path, handle: int) -> Staged:
    ledger = _ledger_of(hidden)
    if ledger is None:
        raise _stays(hidden, "it does not say which ledger it is of")
    body, is_signed = _certificate(hidden, ledger)
    entry = body["ledger"]
    try:
        record = ledger.account(entry["dataset"]).record(entry["nonce"])
    except (KeyError, WrongUse):
        raise _stays(hidden, "the ledger does not know it") from None
    reservation = Reservation(
        ledger=ledger.path,
        identity=entry["id"],
        dataset=entry["dataset"],
        number=record.entry.number,
        release=record.release.number,
        nonce=entry["nonce"],
        hash=entry["hash"],
    )
    staged = Staged(
        hidden.parent, reservation, handle, json.loads((hidden / RESERVATION_FILE).read_bytes())["replaces"]
    )
    staged.body = body
    if staged.hidden != hidden or record.entry.hash != entry["hash"]:
        raise _stays(hidden, "it was made for another place")
    if any(sha256(staged.path(name)) != digest for name, digest in release_digests(body).items()) or _parts_are_others(
        staged
    ):
        raise _stays(hidden, "its files are not those that its certificate is about")
    if not is_signed:
        staged.sign(ledger)
    return staged


def _parts_are_others(staged: Staged) -> bool:
    """Whether what a list of parts names is not what lies there."""
    if manifest.NAME not in release_digests(staged.body):
        return False
    parts = manifest.parts_of(staged.path(manifest.NAME).read_bytes())
    return manifest.problem(staged.path(manifest.FOLDER), parts) is not None


def _certificate(hidden: Path, ledger: Ledger) -> tuple[dict[str, Any], bool]:
    """What the certificate says, without its signature, and whether it has one."""
    for file in (hidden / CERTIFICATE, hidden.parent / CERTIFICATE):  # there if a crash came between moving and tidying
        if _exists(file):
            body: dict[str, Any] = read(file.read_bytes(), "the certificate")
            signature = body.pop(SIGNATURE)
            if file.parent != hidden and f"{PREFIX}{body['ledger']['nonce']}" != hidden.name:
                continue  # of an older release
            public = signature["public_key"]
            if public not in ledger.public_keys() or not is_signature(public, signature["value"], signed_bytes(body)):
                raise _stays(hidden, "another key signed it")
            return body, True
    if not _is_exclusively_ours(hidden):
        raise _stays(hidden, "it is not signed, and others could have written it")
    draft: dict[str, Any] = read((hidden / DRAFT).read_bytes(), "the draft of the certificate")
    return draft, False


def _is_exclusively_ours(hidden: Path) -> bool:
    """Whether nobody else could have put anything there."""
    if os.name == "nt":
        return True
    return all(
        known.st_uid == os.geteuid() and not stat.S_IMODE(known.st_mode) & 0o022
        for known in (path.lstat() for path in (hidden, *hidden.rglob("*")))
    )
