"""A memory outside the ledger of how far it had come, so that an old copy put in its place is noticed.

For each path by which a ledger has been used on this machine a small file, in another folder than the ledger, holds
that path, who the ledger is, the number and hash of its last entry, and how its file looked then. A ledger that is
gone, that stands elsewhere, that a link has replaced, or that no longer holds that entry is not used. Whoever rolls
back both folders together is not noticed here; the certificates that are already out, which name entry and hash, tell
(`hubbub ledger check CERTIFICATE`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from hubbub.errors import CheckFailed, Refused
from hubbub.ledger import durable, lock, paths
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import canonical, read

ENDING: Final = ".anchor"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last known state of a ledger, stored outside of it."""

    path: str
    ledger: str  # its id
    number: int  # of the last entry known to have been written
    hash: str  # of that entry
    seen: str = ""  # how the file looked after that entry; while it looks so, nobody else has written to it


def folder() -> Path:
    """Where anchors are kept: the user's folder for state."""
    return paths.base("XDG_STATE_HOME", ".local", "state") / "hubbub" / "anchors"


def anchor_path(ledger: Path) -> Path:
    """The anchor of the ledger at that path."""
    name = hashlib.sha256(os.fsencode(ledger)).hexdigest()[:32]
    return folder() / f"{name}{ENDING}"


def find(ledger: Path) -> Anchor | None:
    """What is remembered about the ledger at that path."""
    return _load(anchor_path(ledger))


def furthest(identity: str) -> Anchor | None:
    """The anchor of this ledger with the highest entry number, whatever its path."""
    found = (_load(file) for file in folder().glob(f"*{ENDING}"))
    same = [known for known in found if known is not None and known.ledger == identity]
    return max(same, key=lambda known: known.number, default=None)


def other_ledgers(ledger: Path) -> list[Path]:
    """The ledgers that this user has elsewhere, the latest used first: by this home, and by that of the login."""
    folders, home = [folder()], paths.login_home()
    if home is not None:
        folders.append(home.joinpath(".local", "state", "hubbub", "anchors"))
    found = dict[Path, float]()
    for file in (file for each in folders for file in each.glob(f"*{ENDING}")):
        with suppress(OSError, CheckFailed):
            known = _load(file)
            path = ledger if known is None or known.number == 0 else Path(known.path)
            if path != ledger and path.exists():
                found[path] = file.stat().st_mtime
    return sorted(found, key=lambda path: -found[path])


def keep(anchor: Anchor) -> None:
    """Store the anchor durably; it never moves back to an earlier entry."""
    file = anchor_path(Path(anchor.path))
    known = _load(file)
    if known is not None and known.ledger == anchor.ledger and (known.number > anchor.number or known == anchor):
        return
    durable.write(file, canonical(asdict(anchor)))


def forget(ledger: Path) -> None:
    """Forget a ledger that is gone for good."""
    with suppress(FileNotFoundError):
        anchor_path(ledger).unlink()


def check_anchor(ledger: Path) -> str:
    """How a ledger's file looks from outside; whoever writes to it, and does not turn back the clock, changes that."""
    warnings = []
    for file in (ledger, ledger.with_name(f"{ledger.name}-wal")):
        try:
            now = file.stat()
        except OSError:
            warnings.append("none")
        else:
            warnings.append(f"{now.st_dev}:{now.st_ino}:{now.st_size}:{now.st_mtime_ns}:{now.st_ctime_ns}")
    return " ".join(warnings)


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
def locked_anchor(ways: tuple[Path, ...], *, writing: bool) -> Iterator[None]:
    """Hold the locks that keep a ledger and its anchors in step; the kernel lets go of them when a process dies."""
    handles: list[int] = []
    try:
        try:
            durable.make_folder(folder())
            for file in sorted(anchor_path(way).with_suffix(".lock") for way in ways):  # everybody in one order
                handles.append(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            raise Refused(
                f"the folder {str(folder())!r}, where Hubbub remembers its ledgers, cannot be written, so nothing is "
                "published; make it writable, or set XDG_STATE_HOME to one that is"
            ) from None
        try:
            for handle in handles:
                lock.hold(handle, shared=not writing)
        except OSError:
            raise Refused(
                f"the folder {str(folder())!r}, where Hubbub remembers its ledgers, is on a drive without locks, so "
                "nothing is published; set XDG_STATE_HOME to one on a local disk"
            ) from None
        yield
    finally:
        for handle in handles:
            os.close(handle)
