"""A long list of values in a file of its own, one on each line: ``diag_1=@codes.txt``. The list is public."""

from __future__ import annotations

from typing import Final

from hubbub.errors import WrongUse

_MOST_BYTES: Final = 1 << 28


def values_in(path: str, column: str) -> list[str]:
    """The values, as they stand on their lines; blank lines are none."""
    try:
        with open(path, "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        raise WrongUse(f"the values of {column} cannot be read from {path[:200]!r}; check the path") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    listed = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip()]
    if len(raw) > _MOST_BYTES or "\0" in text or not listed:
        raise WrongUse(f"a file with the values of {column} has one on each line, in UTF-8, up to 256 MiB; write it so")
    return listed
