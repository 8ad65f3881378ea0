"""Locks that the kernel lets go of when a process dies: on a file, or on a folder itself."""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import Final

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
