"""Lines and marks over two axes as SVG text, for pages that cannot load a chart library: no code, colours by name.

Plain values in, text out, one drawing for wide pages and one for narrow ones as in :mod:`hubbub.charts.svg`.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hubbub.charts.svg import LINE, TEXT, WIDTHS, px, text_length, text_lines, wrapped

STYLE: Final = """
.chart .series { fill: none; stroke-width: 1.8; }
.chart .mark { fill: var(--paper, white); stroke-width: 2; }
.chart .s0 { stroke: var(--series-0, #0072b2); } .chart .s1 { stroke: var(--series-1, #b34f00); }
.chart .s2 { stroke: var(--series-2, #007a59); } .chart .s3 { stroke: var(--series-3, #a2507c); }
.chart .s4 { stroke: var(--series-4, #8a6100); } .chart .s5 { stroke: var(--quiet, #52606d); }
.chart .wide-line { stroke-width: 8; opacity: .35; stroke-linecap: round; }
.chart .ring { fill: none; stroke: currentColor; stroke-dasharray: 3 3; }
"""
"""What a page needs in its style for these drawings, beside that of the bars."""

KINDS: Final = 6  # series that look different
_HIGH: Final = 230


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points with one name, in the order of a line; `labels` has the text shown for each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    labels: tuple[str, ...] = ()
    marks: bool = True
    broad: bool = False  # a broad pale line, under the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What the two axes are, and what the drawing says to somebody who cannot see it."""

    title: str
    description: str
    x: str
    y: str
    percent: bool = False  # whether x is a share
    ring: tuple[float, float] | None = None  # a point to look at


def responsive_lines(series: Sequence[Series], axes: Axes) -> str:
    """A drawing for wide pages and one for narrow ones, of which the style shows one."""
    return "\n".join(drawn_lines(series, axes, width, kind=kind) for kind, width in WIDTHS.items())


def drawn_lines(series: Sequence[Series], axes: Axes, width: int, *, kind: str = "wide") -> str:
    """One SVG element of this width."""
    ends = [axes.ring] if axes.ring is not None else []
    points = [point for each in series for point in each.points] + ends
    across = _Axis.of([x for x, _ in points], log=False, tight=True)
    up = _Axis.of([y for _, y in points], log=_is_steep([y for _, y in points]))
    labels = [up.label(tick) for tick in up.ticks]
    left = max(text_length(label) for label in labels) + 10
    legend, top = _legend(series, width)
    heading = wrapped(axes.y, width)
    top += LINE * len(heading) + 8
    right, bottom = width - 14.0, top + _HIGH
    parts = [legend, text_lines(0, top - LINE * len(heading) + 2, heading, "quiet")]
    for tick, label in zip(up.ticks, labels, strict=True):
        y = bottom - up.at(tick) * _HIGH
        parts.append(f'<line class="grid" x1="{px(left)}" y1="{px(y)}" x2="{px(right)}" y2="{px(y)}"/>')
        parts.append(text_lines(left - 6, y + 4, [label], "quiet", anchor="end"))
    for tick in across.ticks:
        x = left + across.at(tick) * (right - left)
        label = f"{100 * tick:.4g} %" if axes.percent else across.label(tick)
        parts.append(text_lines(x, bottom + 17, [label], "quiet", anchor="middle"))
    parts.append(f'<line class="axis" x1="{px(left)}" y1="{px(bottom)}" x2="{px(right)}" y2="{px(bottom)}"/>')

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return left + across.at(point[0]) * (right - left), bottom - up.at(point[1]) * _HIGH

    for i, each in enumerate(series):
        parts.append(_line(each, i % KINDS, [place(point) for point in each.points]))
    if axes.ring is not None:
        x, y = place(axes.ring)
        parts.append(f'<circle class="ring" cx="{px(x)}" cy="{px(y)}" r="11"/>')
    below = wrapped(axes.x, right - left)
    parts.append(text_lines(left + (right - left) / 2, bottom + 38, below, "quiet", anchor="middle"))
    high = math.ceil(bottom + 44 + LINE * (len(below) - 1))
    described = f"<title>{html.escape(axes.title)}</title><desc>{html.escape(axes.description)}</desc>"
    return f'<svg class="chart {kind}" viewBox="0 0 {width} {high}" role="img">{described}{"".join(parts)}</svg>'


def _line(series: Series, kind: int, places: Sequence[tuple[float, float]]) -> str:
    path = " ".join(f"{px(x)},{px(y)}" for x, y in places)
    style = f"series s{kind}{' wide-line' if series.broad else ''}"
    parts = [f'<polyline class="{style}" points="{path}"/>'] if len(places) > 1 else []
    if series.marks or len(places) == 1:
        size = 5.5 - 0.6 * kind  # marks that coincide show one in the other
        for i, (x, y) in enumerate(places):
            label = f"<title>{html.escape(series.labels[i])}</title>" if series.labels else ""
            parts.append(f'<g>{label}<circle class="mark s{kind}" cx="{px(x)}" cy="{px(y)}" r="{px(size)}"/></g>')
    return "".join(parts)


def _legend(series: Sequence[Series], width: int) -> tuple[str, float]:
    """Names with their colours, in as many lines as they need; and how high that is."""
    parts, x, y = [], 0.0, 0.0
    for i, each in enumerate(series):
        long = text_length(each.name) + 34
        if x and x + long > width:
            x, y = 0.0, y + LINE + 3
        stroke = f"series s{i % KINDS}{' wide-line' if each.broad else ''}"
        parts.append(f'<line class="{stroke}" x1="{px(x + 4)}" y1="{px(y + 8)}" x2="{px(x + 18)}" y2="{px(y + 8)}"/>')
        parts.append(text_lines(x + 26, y + TEXT, [each.name]))
        x += long
    return "".join(parts), y + LINE + 6


@dataclass(frozen=True, slots=True)
class _Axis:
    least: float
    most: float
    ticks: tuple[float, ...]
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], *, log: bool, tight: bool = False) -> _Axis:
        low, high = min(values, default=0.0), max(values, default=1.0)
        if log:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            every = max((last - first) // 5, 1)
            return cls(
                low / 1.3,
                high * 1.3,
                tuple(t for n in range(first, last + 1, every) for t in (10.0**n,) if low / 1.3 <= t <= high * 1.3)
                or (low, high),
                True,
            )
        if not tight:
            low, high = min(low, 0.0), high * 1.06 if high > 0 else 1.0
        elif high == low:
            low, high = low - 0.5, high + 0.5
        room = (high - low) * 0.03 if tight else 0.0
        step = _step((high - low) / 5)
        first = math.ceil((low - 1e-12) / step)
        ticks = tuple(i * step for i in range(first, math.floor((high + 1e-12) / step) + 1))
        return cls(low - room, high + room, ticks or (low, high))

    def at(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        if self.log:
            return (math.log(value) - math.log(self.least)) / (math.log(self.most) - math.log(self.least))
        return (value - self.least) / (self.most - self.least)

    def label(self, value: float) -> str:
        return f"{value:,.0f}" if abs(value) >= 1000 or value == 0 else f"{value:.4g}"


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)


def _is_steep(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > 12 * min(values)
