"""A page with one drawing: it opens without a network and runs no code."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from hubbub.charts.skeleton import standalone_page
from hubbub.charts.style import STYLE, TOKENS

_STYLE: Final = """
:root { color: var(--ink); background: var(--paper); }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 17px/1.5 sans-serif; }
"""


def page(title: str, chart: str, *, above: Sequence[str], below: Sequence[str]) -> str:
    """A drawing (as HTML) under its title, with sentences above and below."""
    escaped = html.escape(title)
    body = f"<h1>{escaped}</h1>\n{_list(above)}\n{chart}\n{_list(below)}"
    return standalone_page(title=escaped, body=body, style=TOKENS + _STYLE + STYLE)


def _list(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
