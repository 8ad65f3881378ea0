"""Files that are there after the power went out, whole, or not there at all.

The order is everything: the bytes are written, then synced, then given their name, then the name is synced. A file that
is named before its bytes are on the disk is empty after a power cut. Unfinished files have one name for each place, so
what a killed process left is overwritten by the next one; whoever writes to a place holds a lock on it.

Locks that the kernel lets go of when a process dies: on a file, or on a folder itself.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from hubbub.runtime.regular_file import open_regular

UNFINISHED: Final = ".part"


def write(path: Path, data: bytes) -> None:
    """Write a file atomically and durably, readable by its owner only: a temporary file, fsync, rename.

    Guarantee: at every moment, a power cut included, the place holds what it held before or all of the bytes; when
    this returns, it holds them and keeps them.
    """
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}{UNFINISHED}")
    with suppress(FileNotFoundError):
        os.unlink(beside)
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            settle(handle)
        finally:
            os.close(handle)
        os.replace(beside, path)
        settle_folder(path.parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def make_folder(folder: Path, mode: int = 0o700) -> None:
    """Make a folder and its missing parents, each of them durable."""
    if folder.is_dir():
        return
    make_folder(folder.parent, mode)
    folder.mkdir(mode=mode, exist_ok=True)
    with suppress(PermissionError):  # a folder that one may write to and not list
        settle_folder(folder.parent)


def sha256(path: str | os.PathLike[str]) -> str:
    """The digest of a file, in hexadecimal."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(handle: int) -> None:
    """Sync the bytes of an open file to the disk."""
    os.fsync(handle)


def settle_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk. (Windows has no such call, and does not need it.)"""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


if sys.platform != "win32":  # there nothing tells a dead process's lock from a living one's
    import fcntl

_UNKNOWN: Final = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class NoLocks(OSError):
    """The drive knows no locks, as some network drives do."""


def hold(handle: int, *, shared: bool = False, wait: bool = True) -> bool:
    """Hold an open file or folder until it is closed; False if somebody else does and we do not wait."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNKNOWN:
            raise NoLocks(error.errno, "no locks") from None
        raise
    return True


def open_folder(folder: str | os.PathLike[str]) -> int | None:
    """A folder of our own, open, so that it can be held; None if it is anything else: a link, a pipe, another's."""
    if sys.platform == "win32":
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # not a folder, not there, or not ours to open
        return None
    known = os.fstat(handle)
    if stat.S_ISDIR(known.st_mode) and known.st_uid == os.geteuid():
        return handle
    os.close(handle)
    return None
