"""A private folder for what a query spills, which goes with it; what a killed process left is removed by the next one.

A process holds a lock on its folder, so that one whose owner died can be told from one in use.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from hubbub.errors import WrongUse

if sys.platform != "win32":
    import fcntl

_PREFIX: Final = "hubbub-spill-"
_OPEN_FILES: Final = "/proc/self/fd"
_OURS: Final = {"spill", "copies"}


class Scratch:
    """A folder of our own, until :meth:`clear`."""

    def __init__(self) -> None:
        try:
            _tidy(Path(tempfile.gettempdir()))
            self.folder, self._held = _make_folder()
            self.copies = self.folder / "copies"
            self.copies.mkdir(mode=0o700)
            self._nameless: list[int] = []
        except OSError:
            raise WrongUse(
                "no temporary folder can be made; make room in the one that TMPDIR names, or set TMPDIR to another"
            ) from None

    def new_file(self, name: str) -> tuple[IO[bytes], str]:
        """A private file to write to, and the path by which this process can read it.

        Where the system knows open files by number (Linux), it has no name in any folder from its first byte on: a
        process that is killed leaves nothing of it. Elsewhere it lies in the folder.
        """
        path = self.copies / name
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        if not os.path.isdir(_OPEN_FILES):
            return os.fdopen(handle, "wb"), str(path)
        os.unlink(path)
        self._nameless.append(handle)
        return os.fdopen(handle, "wb", closefd=False), f"{_OPEN_FILES}/{handle}"

    def clear(self) -> None:
        """Delete the folder and the files in it, and release its lock."""
        while self._nameless:
            with suppress(OSError):
                os.close(self._nameless.pop())
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._held is not None:
            with suppress(OSError):
                os.close(self._held)
            self._held = None


def _make_folder() -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError):
            handle = _hold(folder, wait=True)
            if folder.exists():  # nobody tidied it away before it was held
                return folder, handle


def _hold(folder: Path, *, wait: bool = False) -> int | None:
    """Hold a folder; None where it cannot be held: then nobody takes it for a dead one's either."""
    if sys.platform == "win32":
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def _tidy(where: Path) -> None:
    """Remove the folders of processes that died. Only what we made: such a name, ours, closed to others, unheld, and
    with nothing in it but what was spilled or copied."""
    if sys.platform == "win32":
        return
    for folder in where.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            known = folder.lstat()
            ours = stat.S_ISDIR(known.st_mode) and known.st_uid == os.geteuid() and not known.st_mode & 0o077
            if not ours or not re.fullmatch(rf"{_PREFIX}\w{{8}}", folder.name) or {*os.listdir(folder)} - _OURS:
                continue
            handle = _hold(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)
