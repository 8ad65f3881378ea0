"""The report of a release: one page for people, which opens without a network and runs no code.

It is made from the release alone, so it tells nothing that the release does not tell.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import hubbub
from hubbub.release import Release
from hubbub.report import words
from hubbub.report.numbers import by_columns, hidden_words, table
from hubbub.report.page import PAGE, STYLE
from hubbub.report.picture import picture
from hubbub.report.text import escaped, listed, visible


def write_report(release: Release, path: str | os.PathLike[str], *, files: Mapping[str, str] | None = None) -> None:
    """Write the page, all of it or nothing, readable by its owner only.

    `files` says where the ``release`` and its ``certificate`` were saved: the page names both and repeats the digest
    that the certificate has of the release.
    """
    digest = None
    if files is not None:
        digest = str(json.loads(Path(files["certificate"]).read_text(encoding="utf-8"))["release_sha256"])
    text = report(release, files=files, digest=digest)
    place = Path(path)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(name, place)
    except BaseException:
        os.unlink(name)
        raise


def report(release: Release, *, files: Mapping[str, str] | None = None, digest: str | None = None) -> str:
    """The page as text. It depends on nothing but the release and the names and digest of its files."""
    plain = listed([visible(axis.column) for axis in release.axes])
    return PAGE.substitute(
        software=f"hubbub {hubbub.__version__}",
        style=STYLE,
        plain_title=escaped(f"People by {plain}", 400),
        title=f"People by {by_columns(release)}",
        summary=words.summary(release),
        picture=picture(release),
        hidden=hidden_words(release),
        table=table(release),
        promises="".join(map(words.promise, release.promises)),
        assumptions=words.assumptions(release),
        not_promised=words.not_promised(release),
        check=words.check(files, digest),
    )
