"""One table, one name: the same people under a second name would be promised everything twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hubbub.errors import Refused
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.identity import Identity

NONE = Identity()
"""Of what is known by nothing but the name that somebody gave it."""


def source_json(source: Identity) -> Any:
    """The identity of a table as JSON, for an entry of the ledger."""
    return plain(source) if source.parts else ""


def marks(source: Any) -> Iterator[tuple[str, str]]:
    """The marks of the tables in an entry, each with its path; none for a table that has no identity but its name."""
    for part in restored(Identity, source).parts if source else ():
        for mark in Identity(parts=(part,)).marks():
            yield mark, part.path


def content(source: Any) -> tuple[str, ...]:
    """A fingerprint of the files in an entry: equal for two entries only if no file changed in between."""
    return tuple(restored(Identity, source).content())


def one_name(
    name: str,
    source: Identity,
    known: Callable[[str], Iterable[tuple[str, str]]],
    counts: Callable[[str], bool] = lambda dataset: True,
) -> None:
    """Refuse a table that shares something with one of another name.

    Guarantee: returns only if no file of the table (by its place, by itself under another place, or by its bytes) was
    part of a table released under another name. `known` gives, for a mark, each dataset that has it and the path;
    `counts` says whether anything was promised under a name: of one that was given up undrawn, nothing was.
    """
    others = {
        dataset
        for mark in source.overlap_marks()
        for dataset, path in known(mark)
        if dataset != name and (not mark.startswith("file:") or _still_exists(mark, path))
    }
    others = {dataset for dataset in others if counts(dataset)}
    if not others:
        return
    listed = " and ".join(map(repr, sorted(others)))
    what = "the same table, or a part of it," if len(source.parts) > 1 else "the same table"
    use = f"use `dataset={min(others)}`" if len(others) == 1 else "release the tables one by one, each under its name"
    raise Refused(
        f"{what} was released before as {listed}, and under a second name its people would be promised twice; {use}, "
        "or leave out the files they share"
    )


def _still_exists(mark: str, path: str) -> bool:
    """Whether the file is known to be the one it was: numbers of files that are gone are given to others."""
    try:
        now = os.stat(path)
    except OSError:
        return False
    return mark.partition("#")[0] == f"file:{now.st_dev}:{now.st_ino}"
