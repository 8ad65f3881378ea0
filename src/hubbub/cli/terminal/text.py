"""Texts by the cells that they fill on a terminal: one for most signs, two for wide ones, none for accents.

What comes from others is spelt out before (:func:`hubbub.cli.display`): a space is the only sign here that shows
nothing. Styles are put on last, since they fill no cells.
"""

from __future__ import annotations

import re
from typing import Final

import click

ELLIPSIS: Final = "…"
_ONE_WIDE: Final = 0x300  # before this sign, all that show fill one cell
_JOINED: Final = range(0x1160, 0x1200)  # Hangul vowels and finals: drawn into the cells of the sign before them
_WORD: Final = re.compile(" *[^ ]+ *")


def cells(text: str) -> int:
    """How many cells a text fills.

    >>> cells("Zürich"), cells("漢字"), cells("e" + chr(0x301))
    (6, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(sign: str) -> int:
    if ord(sign) < _ONE_WIDE:
        return 1
    from unicodedata import category, east_asian_width

    if category(sign) in ("Mn", "Me") or ord(sign) in _JOINED:
        return 0
    return 2 if east_asian_width(sign) in "WF" else 1


def fold(text: str, width: int) -> list[str]:
    """A text in pieces that fill at most so many cells, or hold one sign; accents stay with the sign that they are on.

    >>> fold("abcde", 2), fold("漢字", 3)
    (['ab', 'cd', 'e'], ['漢', '字'])
    """
    pieces, filled = [""], 0
    for sign in text:
        size = _cells(sign)
        if pieces[-1] and filled + size > width and size:
            pieces.append("")
            filled = 0
        pieces[-1] += sign
        filled += size
    return pieces


def cut(text: str, width: int) -> str:
    """A text in so many cells; an ellipsis says that some of it is not there.

    >>> cut("a long word", 6), cut("short", 6)
    ('a lon…', 'short')
    """
    if cells(text) <= width:
        return text
    return fold(text, width - 1)[0] + ELLIPSIS if width > 1 else ELLIPSIS


def wrap(text: str, width: int, *, folds: bool = True) -> list[str]:
    """A text in lines of so many cells, broken between words; the spaces that a line begins with are kept.

    A word that is longer than a line goes on in the next one, or is cut where it does not fold.

    >>> wrap("the hubbub of a crowd", 9), wrap("hubbubbub", 6), wrap("hubbubbub", 6, folds=False)
    (['the', 'hubbub of', 'a crowd'], ['hubbub', 'bub'], ['hubbu…'])
    """
    return [line for paragraph in text.split("\n") for line in _wrapped(paragraph, width, folds=folds)]


def _wrapped(paragraph: str, width: int, *, folds: bool) -> list[str]:
    if cells(paragraph) <= width:
        return [paragraph.rstrip(" ")]
    lines: list[str] = []
    filled = width
    for word in _WORD.findall(paragraph):
        bare = word.rstrip(" ")
        size = cells(bare)
        if lines and filled + size <= width:
            lines[-1] += word
            filled += cells(word)
            continue
        lines += [bare] if size <= width else fold(bare, width) if folds else [cut(bare, width)]
        lines[-1] += word[len(bare) :]
        filled = cells(lines[-1])
    return [line.rstrip(" ") for line in lines] or [""]


def styled(text: str, style: str | None) -> str:
    """A text in a style, which is some of `bold`, `dim`, `italic` and a colour.

    >>> styled("a", "bold green") == click.style("a", bold=True, fg="green"), styled("a", None)
    (True, 'a')
    """
    if not text or not style:
        return text
    words = style.split()
    colour = next((word for word in words if word not in ("bold", "dim", "italic")), None)
    bold, dim, italic = ("bold" in words or None, "dim" in words or None, "italic" in words or None)
    return click.style(text, fg=colour, bold=bold, dim=dim, italic=italic)
