"""A page with one drawing: it opens without a network and runs no code."""

from __future__ import annotations

import html
from collections.abc import Sequence
from string import Template
from typing import Final

from hubbub.charts.svg import STYLE

_PAGE: Final = Template(
    """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 17px/1.5 sans-serif; }$style</style>
</head>
<body>
<h1>$title</h1>
$above
$chart
$below
</body>
</html>
"""
)


def page(title: str, chart: str, *, above: Sequence[str], below: Sequence[str]) -> str:
    """A drawing (as HTML) under its title, with sentences above and below."""
    return _PAGE.substitute(title=html.escape(title), style=STYLE, above=_said(above), chart=chart, below=_said(below))


def _said(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
