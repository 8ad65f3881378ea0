"""Words that cannot act.

Labels and column names come from strangers: they are cut, signs that do not show are spelt out, and all is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final

LONGEST: Final = 80  # signs of a label or a name
_A_PARAGRAPH: Final = 2000


def visible(text: str, longest: int = LONGEST) -> str:
    """The text as it can be shown: cut, and with every sign spelt out that does not show or turns the writing.

    >>> visible("a" * 100, 5), visible(chr(0x202E) + "x")
    ('aaaaa…', '[U+202E]x')
    """
    printable = text[:longest]
    if not printable.isprintable():
        printable = "".join(sign if sign.isprintable() else f"[U+{ord(sign):04X}]" for sign in printable)
    return f"{printable}…" if len(text) > longest else printable


def escaped(text: str, longest: int = LONGEST) -> str:
    """For HTML, between tags or in an attribute."""
    return html.escape(visible(text, longest))


def name(text: str) -> str:
    """A label or a column name for HTML, kept from turning the writing around it."""
    return isolated(visible(text))


def isolated(text: str) -> str:
    """The same for what is visible already."""
    return f"<bdi>{html.escape(text)}</bdi>"


def label(text: str | None) -> str:
    """What a bin is called, visible."""
    return "(missing)" if text is None else "(empty text)" if not text else visible(text)


def in_signs(text: str) -> str:
    """Comparisons of a condition as people write them.

    >>> in_signs("people with age >= 65")
    'people with age ≥ 65'
    """
    for typed, sign in ((">=", "≥"), ("<=", "≤"), ("!=", "≠")):
        text = text.replace(typed, sign)
    return text


def sentence(text: str, *, begins_with_a_name: bool = False) -> str:
    """Words of ours, which may have a stranger's name in them, for HTML."""
    spaced = re.sub(r"(?<=\d)\u00a0(?=%)", " ", text.strip())
    begins_with_a_name = begins_with_a_name or spaced.startswith(("k ", "k,"))
    spaced = in_signs(spaced)
    first = spaced[:1] if begins_with_a_name else spaced[:1].upper()
    return escaped(f"{first}{spaced[1:]}{'' if spaced.endswith('.') else '.'}", _A_PARAGRAPH)


def lines(text: str) -> str:
    """Several lines for HTML, kept apart."""
    return "\n".join(escaped(line, _A_PARAGRAPH) for line in text.split("\n"))


def items(texts: Iterable[str]) -> str:
    """A list of what is HTML already."""
    return f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>"
