"""A table by two columns as SVG text: a tint for each cell, its number, and its interval where there is room.

Where a page is too narrow for the numbers, the same table is drawn as bars, a panel for each row.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Final

from hubbub.charts.language import localized, translate
from hubbub.charts.style import TINTS
from hubbub.charts.svg import LINE, TEXT, Bar, ChartLabels, Panel, drawn, plain, px, text_length, text_lines, wrapped
from hubbub.protocol.drawing import Cell, Heat

_SMALL: Final = 10.5 / 12
_LIGHT_FROM: Final = 3  # the first tint that carries light words
_LABELS: Final = 0.3  # of the width, at most, for the names of rows
_PAD: Final = 6


def drawn_heat(heat: Heat, width: int, *, kind: str = "wide") -> str:
    """The table as one SVG element of this width."""
    left = min(max(text_length(row) for row in heat.rows) + 10, _LABELS * width)
    room = (width - left) / len(heat.columns)
    longest = max(text_length(_label(cell)) for row in heat.cells for cell in row)
    if longest + _PAD > room:
        return _as_bars(heat, width, kind)
    intervals = [_interval(cell) for row in heat.cells for cell in row]
    both = any(intervals) and max(text_length(text) for text in intervals) * _SMALL + _PAD <= room
    high = 2 * LINE + 8 if both else LINE + 12
    tight = any(text_length(word) + _PAD > room for column in heat.columns for word in column.split())
    longest = max(text_length(word) for column in heat.columns for word in column.split() or [""])
    across = (
        min(max(longest * _SMALL, room - 2), room + 8) / _SMALL if tight else room - _PAD
    )  # lengths are guessed long
    heads = [wrapped(column, across) for column in heat.columns]
    top = LINE * max(map(len, heads)) + 26.0
    parts = [text_lines(left + (width - left) / 2, TEXT, [heat.by[1]], "quiet", anchor="middle")]
    parts.append(text_lines(0, top - 8, [heat.by[0]], "quiet"))
    for j, lines in enumerate(heads):
        x, y = left + (j + 0.5) * room, top - 8 - LINE * (len(lines) - 1)
        parts.append(text_lines(x, y, lines, "small" if tight else "", anchor="middle"))
    limits = limits_of(heat)
    for name, row in zip(heat.rows, heat.cells, strict=True):
        lines = wrapped(name, left - 10)
        tall = max(high, LINE * len(lines) + 6)
        parts.append(text_lines(left - 8, top + tall / 2 + 4 - LINE * (len(lines) - 1) / 2, lines, anchor="end"))
        for j, cell in enumerate(row):
            parts.append(_cell(cell, limits, (left + j * room, top, room, tall), both, f"{name}, {heat.columns[j]}"))
        top += tall
    legend, bottom = _legend(limits, heat, left, top + 14, width)
    heading = f"<title>A table of the published numbers</title><desc>{html.escape(_description(heat))}</desc>"
    size = f'viewBox="0 0 {width} {math.ceil(bottom)}"'
    return f'<svg class="chart heat {kind}" {size} role="img">{heading}{"".join([*parts, legend])}</svg>'


def limits_of(heat: Heat) -> list[float]:
    """The smallest number of each tint but the first, even steps from 0 to a round number above the largest."""
    most = max((cell.value for row in heat.cells for cell in row if cell is not None and cell.value), default=1.0)
    rough = most / len(TINTS)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(m * unit for m in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10) if m * unit >= rough * (1 - 1e-9))
    step = max(step, 1.0)
    return [i * step for i in range(1, len(TINTS)) if i * step <= most]


def tint(value: float, limits: Sequence[float]) -> int:
    """Which tint a number has."""
    return sum(value >= limit for limit in limits)


def _cell(
    cell: Cell | None, limits: Sequence[float], point: tuple[float, float, float, float], both: bool, label: str
) -> str:
    x, y, wide, high = point
    shown = cell is not None and cell.value is not None
    which = tint(cell.value, limits) if cell is not None and cell.value is not None else 0
    look = f"cell t{which}" if shown else "gap"
    box = f'<rect class="{look}" x="{px(x)}" y="{px(y)}" width="{px(wide)}" height="{px(high)}"/>'
    light = " light" if shown and which >= _LIGHT_FROM else "" if shown else " hidden"
    middle, interval = y + high / 2, _interval(cell) if both else ""
    labels = text_lines(x + wide / 2, middle + (-2 if interval else 4), [_label(cell)], light.strip(), anchor="middle")
    if interval:
        labels += text_lines(x + wide / 2, middle + 12, [interval], f"small{light}", anchor="middle")
    description = f"{label}: {_label(cell)}{f', {_interval(cell)}' if _interval(cell) else ''}"
    return f"<g><title>{html.escape(description)}</title>{box}{labels}</g>"


def _label(cell: Cell | None) -> str:
    return "–" if cell is None else translate("hidden") if cell.value is None else localized(plain(cell.value))


def _interval(cell: Cell | None) -> str:
    if cell is None or (cell.value is not None and cell.low == cell.high == cell.value):
        return ""
    if cell.high is None:
        return translate("{low} or more", low=plain(cell.low))
    return translate("{low} to {high}", low=plain(cell.low), high=plain(cell.high))


def _legend(limits: Sequence[float], heat: Heat, left: float, y: float, width: int) -> tuple[str, float]:
    first = translate("below {number}", number=plain(limits[0])) if limits else translate("all")
    texts = [first, *(translate("{low} or more", low=plain(limit)) for limit in limits)]
    texts[1:-1] = [translate("from {number}", number=plain(limit)) for limit in limits[:-1]]
    parts, x = [text_lines(left, y + TEXT, [heat.numbers], "quiet")], left
    y += LINE + 4
    for i, text in enumerate(texts):
        wide = text_length(text) + 34
        if x > left and x + wide > width:
            x, y = left, y + LINE + 4
        parts.append(f'<rect class="t{i}" x="{px(x)}" y="{px(y + 1)}" width="14" height="13"/>')
        parts.append(text_lines(x + 19, y + TEXT, [text], "quiet"))
        x += wide
    return "".join(parts), y + LINE + 8


def _as_bars(heat: Heat, width: int, kind: str) -> str:
    """A panel for each row; what is not listed is left out."""
    panels = []
    for name, row in zip(heat.rows, heat.cells, strict=True):
        bars = tuple(
            Bar(column, cell.value, cell.low, cell.high, "" if cell.value is None else localized(plain(cell.value)))
            for column, cell in zip(heat.columns, row, strict=True)
            if cell is not None
        )
        if bars:
            panels.append(Panel(name, bars))
    labels = ChartLabels(
        title="Bars of the published numbers", description=_description(heat), by="", numbers=heat.numbers
    )
    return drawn(panels, labels, width, kind=kind)


def _description(heat: Heat) -> str:
    cells = [cell for row in heat.cells for cell in row if cell is not None and cell.value is not None]
    return (
        f"{len(cells):,} numbers by {heat.by[0]} and {heat.by[1]}; the largest is "
        f"{plain(max((cell.value or 0 for cell in cells), default=0))}. The table below has them all."
    )
