"""The picture of a release with its caption, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict

from hubbub import charts
from hubbub.drawing import Bar, Bars, Drawing
from hubbub.report.text import escaped, sentence, visible


def picture(drawing: Drawing | None) -> str:
    """The chart with its caption as HTML."""
    if drawing is None:
        return "<p>There is nothing to draw.</p>"
    if not charts.available():
        return "<p>There is no chart, because altair and vl-convert were not there when this page was made.</p>"
    rows = [asdict(bar) | {"label": visible(bar.label), "panel": visible(bar.panel)} for bar in drawing.bars]
    by = visible(drawing.by)
    chart = charts.svg(charts.counts_chart(rows, by=by, numbers=drawing.numbers, upright=drawing.upright))
    start, rest = re.sub(r' xmlns(:\w+)?="[^"]*"', "", chart, count=2).split(">", 1)  # in a page it needs no namespace
    told = f"<title>Bars of the published numbers</title><desc>{escaped(_told(drawing.bars), 1000)}</desc>"
    return f'<figure>\n{start} role="img">{told}{rest}\n<figcaption>{_caption(drawing)}</figcaption>\n</figure>'


def _told(bars: Sequence[Bar]) -> str:
    """The chart for somebody who cannot see it."""
    shown = [bar for bar in bars if bar.value is not None]
    most = max(shown, key=lambda bar: bar.value or 0)
    where = " in ".join(filter(None, (most.label, most.panel)))
    return f"{len(shown):,} bars; the longest is {most.value:,}, at {where}. The table below has the numbers."


def _caption(drawing: Bars) -> str:
    shown = [bar for bar in drawing.bars if bar.value is not None]
    keys = [f'<i class="bar"></i> {sentence(drawing.bar)}']
    if any(bar.low != bar.high for bar in shown):
        keys.append(f'<i class="line"></i> {sentence(drawing.line)}')
    if len(shown) < len(drawing.bars):
        keys.append('<i class="gap"></i> Hidden: the pale bar is where the number may lie.')
    if drawing.note:
        keys.append(sentence(drawing.note))
    return "<br>".join(keys)
