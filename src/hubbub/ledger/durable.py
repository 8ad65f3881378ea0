"""Files that are there after the power went out, whole, or not there at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write(place: Path, data: bytes) -> None:
    """Put the bytes at a place, for the owner's eyes only: written beside it, made durable, moved."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            settle(out.fileno())
        os.replace(name, place)
        settle_folder(place.parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def sha256(path: str | os.PathLike[str]) -> str:
    """The digest of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(handle: int) -> None:
    """Wait until what was written to an open file is on the disk."""
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
