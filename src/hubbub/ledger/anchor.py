"""A memory outside the ledger of how far it had come, so that an old copy put in its place is noticed.

For each ledger that has been used on this machine a small file, in another folder than the ledger, holds where the
ledger is, who it is, and the number and hash of its last entry. A ledger that is gone, that stands elsewhere, or
that no longer holds that entry is not used. Whoever rolls back both folders together is not noticed here; the
certificates that are already out, which name entry and hash, tell (`hubbub ledger check CERTIFICATE`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from hubbub.errors import CheckFailed, Refused
from hubbub.ledger import durable, lock
from hubbub.wire.canonical import canonical, read

ENDING: Final = ".anchor"


@dataclass(frozen=True, slots=True)
class Anchor:
    """What is remembered about a ledger."""

    path: str
    ledger: str  # its id
    number: int  # of the last entry known to have been written
    hash: str  # of that entry


def folder() -> Path:
    """Where anchors are kept: the user's folder for state."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "hubbub" / "anchors"


def place(ledger: Path) -> Path:
    """The anchor of the ledger at that (resolved) path."""
    name = hashlib.sha256(os.fsencode(ledger)).hexdigest()[:32]
    return folder() / f"{name}{ENDING}"


def find(ledger: Path) -> Anchor | None:
    """What is remembered about the ledger at that path."""
    return _load(place(ledger))


def elsewhere(identity: str, ledger: Path) -> Anchor | None:
    """What is remembered about the same ledger at another path."""
    for file in sorted(folder().glob(f"*{ENDING}")):
        found = _load(file)
        if found is not None and found.ledger == identity and found.path != str(ledger):
            return found
    return None


def keep(anchor: Anchor) -> None:
    """Remember, durably; an anchor never goes back."""
    file = place(Path(anchor.path))
    known = _load(file)
    if known is not None and known.ledger == anchor.ledger and known.number >= anchor.number:
        return
    durable.write(file, canonical(asdict(anchor)))


def forget(ledger: Path) -> None:
    """Forget a ledger that is gone for good."""
    with suppress(FileNotFoundError):
        place(ledger).unlink()


def _load(file: Path) -> Anchor | None:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    value = read(data, f"the anchor {file.name}")
    try:
        return Anchor(**value)
    except TypeError:
        raise CheckFailed(f"the anchor {file.name} is not one; delete it only if you know why it changed") from None


@contextmanager
def alone(ledger: Path, *, writing: bool) -> Iterator[None]:
    """Hold the lock that keeps a ledger and its anchor in step; the kernel lets go of it when a process dies."""
    try:
        durable.make_folder(folder())
        handle = os.open(place(ledger).with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        raise Refused(
            f"the folder {str(folder())!r}, where Hubbub remembers its ledgers, cannot be written, so nothing is "
            "published; make it writable, or set XDG_STATE_HOME to one that is"
        ) from None
    try:
        try:
            lock.hold(handle, shared=not writing)
        except OSError:
            raise Refused(
                f"the folder {str(folder())!r}, where Hubbub remembers its ledgers, is on a drive without locks, so "
                "nothing is published; set XDG_STATE_HOME to one on a local disk"
            ) from None
        yield
    finally:
        os.close(handle)
