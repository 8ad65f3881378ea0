"""Whether anything was drawn for a reservation whose process died: as long as nothing was, a file beside the ledger says so.

::

    ledger.db.undrawn-NONCE    made before the reservation is entered, held by its process, and gone, durably, before the
                               first word of randomness

So whoever finds the file and can hold it knows that its process is dead and that nothing was drawn. The file says which
one it is on its drive, so that a copy of it (in a backup that was made while the process ran) says nothing. A file that
is lost costs a refund and nothing else. Where nothing tells a dead process from a living one, there is no such file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hubbub.errors import Refused, WrongUse
from hubbub.ledger import durable, paths


class Undrawn:
    """The file of one reservation, while nothing is drawn for it."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._file: Path | None = None
        self._held: int | None = None
        self.is_known = True  # that nothing was drawn

    def begin(self, nonce: str) -> None:
        """Say it: before the reservation is entered, and while the ledger is held, so that nobody takes it for abandoned."""
        if sys.platform == "win32":
            return
        file = paths.undrawn_file(self._ledger, nonce)
        self._held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = file
        os.write(self._held, _identity(self._held))
        try:
            durable.hold(self._held)
        except OSError:  # a drive without locks
            self.end()

    def end(self) -> None:
        """Say it no more.

        Guarantee: when this returns, no crash brings the file back. It raises if somebody else took the file, now and
        whenever it is asked again: then the reservation may be refunded, and nothing is to be drawn for it.
        """
        self.is_known = False
        if self._file is not None:
            try:
                os.unlink(self._file)
            except FileNotFoundError:
                raise Refused("the reservation of this release was given back meanwhile; ask for it again") from None
            except OSError:
                raise _unwritable() from None
            try:
                durable.settle_folder(self._file.parent)
            except OSError:
                raise _unwritable() from None
            self._file = None
        self.close()

    def close(self) -> None:
        """Let go of the file, as a process does that ends."""
        if self._held is not None:
            os.close(self._held)
            self._held = None


def is_abandoned(file: Path) -> bool:
    """Whether nothing was drawn for a reservation, and nobody is left who could: its file is there, and can be held."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        is_own = os.read(handle, 100) == _identity(handle)
        return is_own and durable.hold(handle, wait=False) and os.fstat(handle).st_nlink > 0  # else it was drawn
    except OSError:
        return False
    finally:
        os.close(handle)


def _unwritable() -> WrongUse:
    return WrongUse(
        "the folder of the ledger could not be written to, and nothing was drawn; make room there, and try again"
    )


def _identity(handle: int) -> bytes:
    """Which file this is on its drive: no copy of it is the same."""
    found = os.fstat(handle)
    return f"{found.st_dev}:{found.st_ino}".encode()


def take(file: Path) -> bool:
    """Take the file away; False if somebody else did, who then draws or refunds.

    Guarantee: of all who take it and end it, one succeeds, whether locks reach the others or not.
    """
    try:
        os.unlink(file)
    except FileNotFoundError:
        return False
    return True
