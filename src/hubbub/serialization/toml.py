"""TOML files that people write, read within a stated size, time and memory."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from typing import Any, Final

from hubbub.runtime.regular_file import open_regular

LARGEST: Final = 1 << 20  # bytes
_MOST_NESTED: Final = 10**7


def read_toml(path: str | os.PathLike[str], parse_float: Callable[[str], Any] = str) -> dict[str, Any]:
    """What a TOML file says, its numbers with a point as they are written; OSError or ValueError if it is none.

    The parser keeps every beginning of a dotted key and goes through every part of a table's name for each key in it. So
    the dots of one line, times those of all lines and the lines themselves, are bounded before it starts: what takes 8 GB
    otherwise is a file of 200 KB.
    """
    with open_regular(path) as opened:
        data = opened.read(LARGEST + 1)
    lines = data.split(b"\n")
    dots = [line.count(b".") for line in lines]
    if len(data) > LARGEST or max(dots) * (sum(dots) + len(lines)) > _MOST_NESTED:
        raise ValueError("a file of at most 1 MiB, whose lines have few dots")
    try:
        return tomllib.loads(data.decode("utf-8"), parse_float=parse_float)
    except RecursionError:
        raise ValueError("brackets within brackets, too many of them") from None
