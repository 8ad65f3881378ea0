"""Files that end: a pipe or a device where a file was expected would be waited for, perhaps for ever."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a file to read its bytes; OSError if it is no regular one, without waiting for anybody to write to it."""
    return open(path, "rb", opener=_handle)


def _handle(path: str, flags: int) -> int:
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "no regular file")
    return handle
