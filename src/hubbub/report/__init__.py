"""The report of a release: one page for people, which opens without a network and runs no code.

It is made from the release alone, so it tells nothing that the release does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping

import hubbub
from hubbub.release import Release
from hubbub.report import words
from hubbub.report.numbers import by_columns, hidden_words, table
from hubbub.report.page import PAGE, STYLE
from hubbub.report.picture import NOT_DRAWN, picture
from hubbub.report.text import escaped, listed, visible


def report(
    release: Release, *, files: Mapping[str, str] | None = None, digest: str | None = None, drawn: bool = True
) -> str:
    """The page as text. It depends on nothing but the release and the names and digest of its files.

    Without `drawn` it has no picture, and nothing that draws is loaded.
    """
    plain = listed([visible(axis.column) for axis in release.axes])
    return PAGE.substitute(
        software=f"hubbub {hubbub.__version__}",
        style=STYLE,
        plain_title=escaped(f"People by {plain}", 400),
        title=f"People by {by_columns(release)}",
        summary=words.summary(release),
        picture=picture(release) if drawn else NOT_DRAWN,
        hidden=hidden_words(release),
        table=table(release),
        promises="".join(map(words.promise, release.promises)),
        assumptions=words.assumptions(release),
        not_promised=words.not_promised(release),
        check=words.check(files, digest),
    )
