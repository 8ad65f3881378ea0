"""Points in a box as SVG text: squares shaded by how many there are, some of the points as dots. Nothing from outside.

A square is one of six shades, each twice as many points as the one before or more. Squares of a shade are one path and
all dots are one, so that thousands of them stay small.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Final

from hubbub.charts.language import localized, translate
from hubbub.charts.svg import LINE, TEXT, px, round_ticks, text_length, text_lines
from hubbub.protocol.drawing import Map

_SHADES: Final = (0.08, 0.18, 0.3, 0.44, 0.6, 0.78)
_ABOVE: Final = 2 * LINE  # of the name of the second column
_TALLEST: Final = {"wide": 0.75, "narrow": 1.3}  # times the width
_LEGEND: Final = 26


def drawn(of: Map, width: int, kind: str = "wide") -> str:
    """The map as one SVG element of this width."""
    left_end, right_end, bottom, top = of.box
    ticks_up = round_ticks(bottom, top, 5)
    left = max(text_length(_tick_label(tick, ticks_up)) for tick in ticks_up) + 10
    long = width - left - 8
    high = min(max(long * (top - bottom) * of.tall / (right_end - left_end), long / 5), long * _TALLEST[kind])
    parts = _squares(of, left, _ABOVE, long, high)
    parts.append(_dots(of, left, _ABOVE, long, high))
    parts.append(_outlines(of, left, _ABOVE, long, high))
    box = f'x="{px(left)}" y="{_ABOVE}" width="{px(long)}" height="{px(high)}"'
    parts.append(f'<rect class="frame" {box}/>')
    ticks = round_ticks(left_end, right_end, max(4, int(long / 110)))
    for tick in ticks:
        x = left + long * (tick - left_end) / (right_end - left_end)
        label = _tick_label(tick, ticks)
        fits = x + text_length(label) / 2 <= width
        parts.append(
            text_lines(x if fits else width, _ABOVE + high + TEXT + 3, [label], "quiet", "middle" if fits else "end")
        )
    for tick in ticks_up:
        y = _ABOVE + high * (top - tick) / (top - bottom)
        parts.append(text_lines(left - 6, y + 4, [_tick_label(tick, ticks_up)], "quiet", anchor="end"))
    below = _ABOVE + high + TEXT + LINE + 4
    parts.append(text_lines(left + long / 2, below, [of.columns[0]], "quiet", anchor="middle"))
    parts.append(text_lines(0, TEXT - 2, [of.columns[1]], "quiet"))
    legend, deep = _legend(of, left, below + 8, long)
    heading = f"<title>A map of the published points</title><desc>{html.escape(of.description)}</desc>"
    size = f'viewBox="0 0 {width} {math.ceil(deep)}"'
    return f'<svg class="chart map {kind}" {size} role="img">{heading}{"".join([*parts, legend])}</svg>'


def _limits(of: Map) -> list[int]:
    """The smallest number of points of each shade: from the least that a square has on, in equal factors of at least 2."""
    found = [points for *_, points in of.squares] or [1]
    least, most = max(1, min(found)), max(found)
    factor = max(2.0, ((most + 1) / least) ** (1 / len(_SHADES)))
    return sorted({math.floor(least * factor**i) for i in range(len(_SHADES)) if least * factor**i <= most})


def _squares(of: Map, x: float, y: float, long: float, high: float) -> list[str]:
    limits = _limits(of)
    wide, tall = long / of.across, high / of.up
    shades: list[list[str]] = [[] for _ in limits]
    for column, row, points in of.squares:
        shade = sum(limit <= points for limit in limits) - 1
        corner = f"M{px(x + column * wide)} {px(y + high - (row + 1) * tall)}"
        shades[shade].append(f"{corner}h{_fine(wide)}v{_fine(tall)}h{_fine(-wide)}z")
    first = len(_SHADES) - len(limits)
    return [
        f'<path class="square" fill-opacity="{_SHADES[first + i]}" d="{"".join(shade)}"/>'
        for i, shade in enumerate(shades)
        if shade
    ]


def _dots(of: Map, x: float, y: float, long: float, high: float) -> str:
    left, right, bottom, top = of.box
    shapes = (
        f"M{px(x + long * (across - left) / (right - left))} {px(y + high * (top - up) / (top - bottom))}h0"
        for across, up in of.dots
    )
    return f'<path class="dots" d="{"".join(shapes)}"/>'


def _outlines(of: Map, x: float, y: float, long: float, high: float) -> str:
    """Rings as lines, cut at the frame by an inner drawing of its size."""
    if not of.outlines:
        return ""
    left, right, bottom, top = of.box
    paths = []
    for ring in of.outlines:
        shapes = (
            f"{px(long * (across - left) / (right - left))} {px(high * (top - up) / (top - bottom))}"
            for across, up in ring
        )
        paths.append(f"M{'L'.join(shapes)}z")
    box = f'x="{px(x)}" y="{px(y)}" width="{px(long)}" height="{px(high)}"'
    return f'<svg {box}><path class="outline" d="{"".join(paths)}"/></svg>'


def _legend(of: Map, x: float, y: float, long: float) -> tuple[str, float]:
    """What the shades mean; as many beside one another as there is room for."""
    limits = _limits(of)
    most = max((points for *_, points in of.squares), default=1)
    ends = [*(limit - 1 for limit in limits[1:]), most]
    texts = [
        localized(f"{low:,}") if low == end else translate("{low} to {high}", low=f"{low:,}", high=f"{end:,}")
        for low, end in zip(limits, ends, strict=True)
    ]
    first = len(_SHADES) - len(limits)
    parts, at, line = [text_lines(x, y + TEXT, ["points in a square"], "quiet")], x, y + LINE + 4
    for i, text in enumerate(texts):
        wide = 18 + text_length(text) + 14
        if at + wide > x + long and at > x:
            at, line = x, line + LINE + 4
        parts.append(
            f'<rect class="square" fill-opacity="{_SHADES[first + i]}" x="{px(at)}" y="{px(line)}" width="13" '
            'height="13"/>'
        )
        parts.append(text_lines(at + 18, line + 11, [text], "quiet"))
        at += wide
    return "".join(parts), line + _LEGEND


def _tick_label(tick: float, ticks: Sequence[float]) -> str:
    """A tick with as many decimals as the steps between them need."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(tick) or 1.0
    return localized(f"{tick:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}")


def _fine(x: float) -> str:
    """A length that is repeated, to a hundredth of a pixel, so that squares leave no gaps."""
    return f"{x:.2f}".rstrip("0").rstrip(".")
