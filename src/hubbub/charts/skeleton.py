"""The bones of every page: reports, results, drawings and the studio have one head and one beginning.

A page that stands alone (:func:`alone`) carries its style inside, opens without a network and runs no code; the studio
brings its style and its scripts by address and says the same rules in its headers.
"""

from __future__ import annotations

from string import Template
from typing import Final

_PAGE: Final = Template(
    """<!DOCTYPE html>
<html lang="$language">
<head>
<meta charset="utf-8">
$first<meta name="viewport" content="width=device-width, initial-scale=1">
$head
<title>$title</title>
$last</head>
<body>
$body
</body>
</html>
"""
)

CONTENT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a page that stands alone may do: look as it says, and nothing else."""


def skeleton(*, title: str, body: str, first: str = "", head: str = "", last: str = "", language: str = "en") -> str:
    """A page. All of it is HTML already: whoever fills it in has escaped it."""
    return _PAGE.substitute(title=title, body=body, first=first, head=head, last=last, language=language)


def standalone_page(*, title: str, body: str, style: str, generator: str = "", language: str = "en") -> str:
    """A page in one file."""
    return skeleton(
        title=title,
        body=body,
        first=f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n',
        head=f'<meta name="generator" content="{generator}">' if generator else "",
        last=f"<style>{style}</style>\n",
        language=language,
    )
