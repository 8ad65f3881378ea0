"""Two laws of one number on one chart, as SVG text: steps for one, a line over them for the other."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from hubbub.charts.style import WIDTHS
from hubbub.charts.svg import TEXT

_HIGH: Final = 240
_LEFT, _BELOW, _ABOVE = 8, 34, 26  # pixels


def two_laws(
    first: Sequence[float], second: Sequence[float], start: int, names: tuple[str, str], title: str, axis: str
) -> str:
    """Both laws from the value `start` on, for wide pages and for narrow ones."""
    return "\n".join(_drawn(first, second, start, names, title, axis, width, kind) for kind, width in WIDTHS.items())


def _drawn(
    first: Sequence[float],
    second: Sequence[float],
    start: int,
    names: tuple[str, str],
    title: str,
    axis: str,
    width: int,
    kind: str,
) -> str:
    top, step = max(*first, *second), (width - 2 * _LEFT) / len(first)
    floor = _ABOVE + _HIGH

    def height(mass: float) -> float:
        return mass / top * _HIGH

    bars = "".join(
        f'<rect class="bar" x="{_LEFT + i * step:.1f}" y="{floor - height(mass):.1f}" '
        f'width="{max(step - 0.6, 0.4):.1f}" height="{height(mass):.1f}"/>'
        for i, mass in enumerate(first)
    )
    corners = []
    for i, mass in enumerate(second):
        y = floor - height(mass)
        corners += [f"{_LEFT + i * step:.1f},{y:.1f}", f"{_LEFT + (i + 1) * step:.1f},{y:.1f}"]
    line = f'<polyline class="line" fill="none" points="{" ".join(corners)}"/>'
    base = f'<line class="axis" x1="{_LEFT}" x2="{width - _LEFT}" y1="{floor}" y2="{floor}"/>'
    ticks = "".join(
        f'<text class="quiet" text-anchor="middle" x="{_LEFT + (i + 0.5) * step:.1f}" y="{floor + 14}">'
        f"{start + i}</text>"
        for i in range(0, len(first), max(1, len(first) // 6))
    )
    caption = f'<text class="quiet" x="{_LEFT}" y="{floor + 30}">{html.escape(axis)}</text>'
    key = (
        f'<rect class="bar" x="{_LEFT}" y="3" width="12" height="12"/><text x="{_LEFT + 17}" y="{TEXT + 1}">'
        f"{html.escape(names[0])}</text>"
        f'<line class="line" x1="{width / 2:.0f}" x2="{width / 2 + 14:.0f}" y1="9" y2="9"/>'
        f'<text x="{width / 2 + 19:.0f}" y="{TEXT + 1}">{html.escape(names[1])}</text>'
    )
    heading = f"<title>{html.escape(title)}</title><desc>{html.escape(f'{names[0]} and {names[1]}, by {axis}')}</desc>"
    size = f'viewBox="0 0 {width} {floor + _BELOW}"'
    return f'<svg class="chart {kind}" {size} role="img">{heading}{key}{bars}{line}{base}{ticks}{caption}</svg>'
