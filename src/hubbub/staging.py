"""From bytes that are ready to files that are visible, so that no crash leaves one that is not paid for.

::

    folder/.hubbub-NONCE/    release.csv, report.html, and last of all certificate.json: whole once that is there
    ledger                   commits the digests
    folder/                  the files get their names, the certificate last; the hidden folder goes

A process that is working on a hidden folder holds a lock on it. What one that died left behind is finished by
:func:`finish`: the same bytes, paid for once. A hidden folder without a certificate holds nothing that can be finished.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from hubbub.certificate import SIGNATURE, signed_bytes
from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.kind import Reservation
from hubbub.ledger import durable
from hubbub.ledger.book import Ledger, released
from hubbub.ledger.durable import sha256
from hubbub.ledger.key import signed
from hubbub.wire.canonical import read

if sys.platform != "win32":  # there nothing tells a dead process's folder from a living one's, so none is finished
    import fcntl

PREFIX: Final = ".hubbub-"
CERTIFICATE: Final = "certificate.json"
REPORT: Final = "report.html"
PLACE: Final = "place.json"  # which ledger, for whoever finishes this


class Staged:
    """A release in its hidden folder."""

    def __init__(self, folder: Path, place: Reservation, lock: int | None) -> None:
        self.folder, self.place, self._lock = folder, place, lock
        self.hidden = folder / f"{PREFIX}{place.nonce}"
        self.names: list[str] = []
        self.release_name = ""

    def path(self, name: str) -> Path:
        """Where a file is now: in the hidden folder, or already in its place."""
        hidden = self.hidden / name
        return hidden if hidden.exists() else self.folder / name

    def add(self, name: str, write: Callable[[IO[bytes]], object]) -> None:
        """One more file, on the disk when this returns."""
        with _new_file(self.hidden / name) as out:
            write(out)
            out.flush()
            durable.settle(out.fileno())
        self.names.append(name)

    def certify(self, certificate: bytes, release_name: str) -> None:
        """The last file, which makes the others whole."""
        self.release_name = release_name
        durable.write(self.hidden / CERTIFICATE, certificate)

    def close(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def discard(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.hidden, ignore_errors=True)
        self.close()


def _new_file(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def prepare(folder: Path, room_needed: int) -> None:
    """See that a release of about so many bytes can be written to a folder, before anything is spent on one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        room = shutil.disk_usage(folder).free
    except OSError:
        raise WrongUse(f"--out must be a folder that can be written, not {str(folder)!r}; choose another") from None
    if room < room_needed:
        raise WrongUse(f"the disk of {str(folder)!r} has too little room for the release; make room, or choose another")
    if unfinished(folder):
        raise WrongUse(
            f"a release that was cut short lies in {str(folder)!r}; bring it out with hubbub ledger finish {folder}, "
            "or choose another folder"
        )


@contextmanager
def opened(folder: Path, place: Reservation) -> Iterator[Staged]:
    """A hidden folder to write a release into; if that fails, it goes, and nothing was visible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise WrongUse(f"there is no folder {str(folder)!r} and none can be made; choose another") from None
    staged: Staged | None = None
    try:
        hidden = folder / f"{PREFIX}{place.nonce}"
        hidden.mkdir(mode=0o700, exist_ok=True)
        staged = Staged(folder, place, _lock(hidden))
        staged.add(PLACE, lambda out: out.write(json.dumps({"ledger": str(place.ledger)}).encode()))
        yield staged
        durable.settle_folder(folder)
    except OSError:
        if staged is not None:
            staged.discard()
        raise WrongUse(f"the release could not be written to {str(folder)!r}; check that there is room") from None
    except BaseException:
        if staged is not None:
            staged.discard()
        raise


def _lock(folder: Path) -> int | None:
    """Hold a folder; None if somebody else does, or where there are no such locks."""
    if sys.platform == "win32":
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def publish(staged: Staged) -> dict[str, str]:
    """Commit, then give the files their names; returns where they are."""
    ledger = Ledger(staged.place.ledger)
    try:
        release, certificate = (sha256(staged.path(name)) for name in (staged.release_name, CERTIFICATE))
        ledger.commit(staged.place, release, certificate)
        return _move(staged)
    except OSError:
        raise WrongUse(
            f"the release could not be moved to {str(staged.folder)!r}; make room, then run "
            f"hubbub ledger finish {staged.folder}"
        ) from None
    finally:
        staged.close()


def _move(staged: Staged) -> dict[str, str]:
    written = {"release": "", "certificate": ""}  # in the order in which they are told
    for name in (*(name for name in staged.names if name != PLACE), CERTIFICATE):
        target = staged.folder / name
        if staged.path(name) != target:  # else it was moved before a crash
            os.replace(staged.path(name), target)
        written[_role(name)] = str(target)
    durable.settle_folder(staged.folder)
    shutil.rmtree(staged.hidden, ignore_errors=True)
    return written


def _role(name: str) -> str:
    return {CERTIFICATE: "certificate", REPORT: "report"}.get(name, "release")


def unfinished(folder: Path) -> list[Path]:
    """The hidden folders in it that nobody is working on."""
    found = []
    for hidden in sorted(folder.glob(f"{PREFIX}*")) if folder.is_dir() else []:
        lock = _lock(hidden)
        if lock is not None:
            os.close(lock)
            found.append(hidden)
    return found


def finish(hidden: Path) -> dict[str, str]:
    """Bring out the bytes that a process left ready when it died; nothing is drawn, and nothing paid twice.

    Guarantee: only bytes that the ledger's own key signed for a reservation that the ledger knows come out; what is not
    whole is removed, its reservation marked as spent. While the ledger cannot be asked, nothing is removed.
    """
    lock = _lock(hidden)
    if lock is None:
        raise Refused(f"{str(hidden)!r} is in use by a release that is still running; wait for it")
    try:
        ledger = _ledger_of(hidden)
    except HubbubError:
        os.close(lock)
        raise
    try:
        staged = _ready(hidden, lock, ledger)
    except (OSError, HubbubError, ValueError, KeyError, TypeError, AttributeError):
        os.close(lock)
        shutil.rmtree(hidden, ignore_errors=True)
        raise Refused(
            "the release was cut short before it was whole, and nothing of it can be finished; it counts as spent, "
            "and was removed"
        ) from None
    return publish(staged)


def _ledger_of(hidden: Path) -> Ledger | None:
    """The ledger that a release was made with; None if the release does not say."""
    try:
        ledger = Ledger(json.loads((hidden / PLACE).read_text(encoding="utf-8"))["ledger"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not ledger.entries():
        raise CheckFailed(f"the release in {str(hidden)!r} is of the ledger {str(ledger.path)!r}, which is not there")
    return ledger


def _ready(hidden: Path, lock: int, ledger: Ledger | None) -> Staged:
    if ledger is None:
        raise CheckFailed("it does not say which ledger it is of")
    file = hidden / CERTIFICATE
    body = read((file if file.exists() else hidden.parent / CERTIFICATE).read_bytes(), "the certificate")
    signature = body.pop(SIGNATURE)
    entry = body["ledger"]
    public = signature["public_key"]
    if public not in ledger.public_keys() or not signed(public, signature["value"], signed_bytes(body)):
        raise CheckFailed("another key signed it")
    record = ledger.account(entry["dataset"]).record(entry["nonce"])
    place = Reservation(
        ledger=ledger.path,
        identity=entry["id"],
        dataset=entry["dataset"],
        number=record.entry.number,
        release=record.release.number,
        nonce=entry["nonce"],
        hash=entry["hash"],
    )
    staged = Staged(hidden.parent, place, lock)
    if staged.hidden != hidden:
        raise CheckFailed("it was made for another place")
    named = released(body)
    staged.release_name = next(iter(named))
    for name, digest in named.items():
        if sha256(staged.path(name)) != digest:
            raise CheckFailed("it is about another file")
    loose = [REPORT] if REPORT not in named and (hidden / REPORT).exists() else []  # format 2 does not name it
    staged.names = [*named, *loose]
    return staged
