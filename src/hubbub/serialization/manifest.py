"""A release in several files: which they are, in order, with the digest and the rows of each.

::

    release.json        this list, in canonical form; the certificate names its digest
    release/            the parts, part-00000.parquet and so on, and nothing else

So one digest in the ledger stands for all of them, and a part that is missing, added, changed or in the place of
another is found.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hubbub.errors import CheckFailed
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import canonical, read

FORMAT: Final = "hubbub parts 1"
NAME: Final = "release.json"
FOLDER: Final = "release"
MOST_PARTS: Final = 100_000
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NAME: Final = re.compile(r"part-[0-9]{5}\.parquet", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """One file."""

    name: str
    sha256: str
    rows: int


def part_name(number: int) -> str:
    """What the file of a part is called.

    >>> part_name(7)
    'part-00007.parquet'
    """
    return f"part-{number:05d}.parquet"


def is_part_name(name: str) -> bool:
    """Whether a file with this name may be a part: one of Spark's own has more in its name."""
    return _NAME.fullmatch(name) is not None


def manifest_bytes(parts: Sequence[Part]) -> bytes:
    """The list, as it is published."""
    return canonical({"format": FORMAT, "parts": [asdict(part) for part in parts]})


def parts_of(data: bytes) -> tuple[Part, ...]:
    """What a list says, or one sentence if it is none."""
    body: Any = read(data, "the list of parts")
    try:
        parts = tuple(Part(**part) for part in body["parts"])
        right = set(body) == {"format", "parts"} and body["format"] == FORMAT and 0 < len(parts) <= MOST_PARTS
        right = right and all(_is_part(part, number) for number, part in enumerate(parts))
    except (KeyError, TypeError):
        right = False
    if not right:
        raise CheckFailed("the list of parts is not written as Hubbub writes it; get the original")
    return parts


def _is_part(part: Part, number: int) -> bool:
    return (
        part.name == part_name(number)
        and isinstance(part.sha256, str)
        and _DIGEST.fullmatch(part.sha256) is not None
        and type(part.rows) is int
        and part.rows >= 0
    )


def problem(folder: Path, parts: Sequence[Part]) -> str | None:
    """What is wrong with the files in a folder, in words; None if they are these parts and nothing else."""
    found = {name for name in os.listdir(folder) if not name.startswith(".")}
    named = {part.name for part in parts}
    for names, what in ((named - found, "missing"), (found - named, "not among those that are listed")):
        if names:
            return f"{sorted(names)[0][:60]!r} is {what}"
    for part in parts:
        if not (folder / part.name).is_file():  # a pipe would never end
            return f"{part.name!r} is no file"
        with open(folder / part.name, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != part.sha256:
                return f"{part.name!r} is another file than the one that is listed"
    return None
