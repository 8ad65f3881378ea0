"""Lines, bands and marks over two axes as SVG text: no code, colours by name.

Plain values in, text out, one drawing for wide pages and one for narrow ones as in :mod:`hubbub.charts.svg`.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Final

from hubbub.charts.style import WIDTHS
from hubbub.charts.svg import LINE, TEXT, px, text_length, text_lines, wrapped
from hubbub.runtime.frozen import dataclass

KINDS: Final = 6  # series that look different
_HIGH: Final = 230


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points with one name, in the order of a line; `labels` has the text shown for each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    labels: tuple[str, ...] = ()
    marks: bool = True
    line: bool = True
    broad: bool = False  # a broad pale line, under the others
    dashed: bool = False
    band: tuple[tuple[float, float], ...] = ()  # for each point, from where to where


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What the two axes are, and what the drawing says to somebody who cannot see it."""

    title: str
    description: str
    x: str
    y: str
    percent: bool = False  # whether x is a share
    percent_up: bool = False  # whether y is one
    ring: tuple[float, float] | None = None  # a point to look at
    across: tuple[float, float] | None = None  # the ends of the axis, where they are not those of the points
    up: tuple[float, float] | None = None
    log_across: bool = False
    log: bool | None = None  # whether y has a scale of ratios; None: where the values ask for it
    rules: tuple[tuple[float, str], ...] = ()  # levels to compare with, and what they are
    high: int = _HIGH
    whole: bool = False  # whether x counts something


def responsive_lines(series: Sequence[Series], axes: Axes) -> str:
    """A drawing for wide pages and one for narrow ones, of which the style shows one."""
    return "\n".join(drawn_lines(series, axes, width, kind=kind) for kind, width in WIDTHS.items())


def drawn_lines(series: Sequence[Series], axes: Axes, width: int, *, kind: str = "wide") -> str:
    """One SVG element of this width."""
    across, up = axes_of(series, axes)
    labels = [_percent(tick) if axes.percent_up else up.label(tick) for tick in up.ticks]
    left = max((text_length(label) for label in labels), default=0.0) + 14
    legend, top = _legend(series, width)
    heading = wrapped(axes.y, width)
    top += LINE * len(heading) + 8
    right, bottom = width - 14.0, top + axes.high
    parts = [legend, text_lines(0, top - LINE * len(heading) + 2, heading, "quiet")]
    for tick, label in zip(up.ticks, labels, strict=True):
        y = bottom - up.at(tick) * axes.high
        parts.append(f'<line class="grid" x1="{px(left)}" y1="{px(y)}" x2="{px(right)}" y2="{px(y)}"/>')
        parts.append(text_lines(left - 10, y + 4, [label], "quiet", anchor="end"))
    free = -math.inf
    for tick in (each for each in across.ticks if not axes.whole or each == round(each)):
        x = left + across.at(tick) * (right - left)
        label = _percent(tick) if axes.percent else across.label(tick)
        half = text_length(label) / 2
        if x - half > free:
            parts.append(text_lines(x, bottom + 17, [label], "quiet", anchor="middle"))
            free = x + half + 6
    parts.append(f'<line class="axis" x1="{px(left)}" y1="{px(bottom)}" x2="{px(right)}" y2="{px(bottom)}"/>')

    def to_pixels(point: tuple[float, float]) -> tuple[float, float]:
        return left + across.at(point[0]) * (right - left), bottom - up.at(point[1]) * axes.high

    for level, label in axes.rules:
        y = bottom - up.at(level) * axes.high
        parts.append(f'<line class="rule" x1="{px(left)}" y1="{px(y)}" x2="{px(right)}" y2="{px(y)}"/>')
        parts.append(text_lines(left + 4, y - 5, [label], "quiet"))
    for i, each in enumerate(series):
        if each.band:
            ends = [(x, *ends) for (x, _), ends in zip(each.points, each.band, strict=True)]
            around = [to_pixels((x, low)) for x, low, _ in ends] + [
                to_pixels((x, high)) for x, _, high in reversed(ends)
            ]
            corners = " ".join(f"{px(x)},{px(y)}" for x, y in around)
            parts.append(f'<polygon class="band f{i % KINDS}" points="{corners}"/>')
        parts.append(_line(each, i % KINDS, [to_pixels(point) for point in each.points]))
    if axes.ring is not None:
        x, y = to_pixels(axes.ring)
        parts.append(f'<circle class="ring" cx="{px(x)}" cy="{px(y)}" r="11"/>')
    below = wrapped(axes.x, right - left)
    parts.append(text_lines(left + (right - left) / 2, bottom + 38, below, "quiet", anchor="middle"))
    high = math.ceil(bottom + 44 + LINE * (len(below) - 1))
    described = f"<title>{html.escape(axes.title)}</title><desc>{html.escape(axes.description)}</desc>"
    return f'<svg class="chart {kind}" viewBox="0 0 {width} {high}" role="img">{described}{"".join(parts)}</svg>'


def axes_of(series: Sequence[Series], axes: Axes) -> tuple[Axis, Axis]:
    """The two axes: they hold every point and every end of a band."""
    ends = [axes.ring] if axes.ring is not None else []
    points = [point for each in series for point in each.points] + ends
    ys = [y for _, y in points] + [end for each in series for pair in each.band for end in pair]
    ys += [level for level, _ in axes.rules]
    across = Axis.of(list(axes.across or [x for x, _ in points]), log=axes.log_across, tight=True, room=not axes.across)
    steep = _is_steep(ys) if axes.log is None else axes.log
    up = Axis.of(list(axes.up or ys), log=steep, tight=axes.up is not None, room=False)
    return across, up


def _line(series: Series, kind: int, points: Sequence[tuple[float, float]]) -> str:
    path = " ".join(f"{px(x)},{px(y)}" for x, y in points)
    style = f"series s{kind}{' wide-line' if series.broad else ''}{' dashed' if series.dashed else ''}"
    parts = [f'<polyline class="{style}" points="{path}"/>'] if len(points) > 1 and series.line else []
    if series.marks or len(points) == 1:
        size = 5.5 - 0.6 * kind  # marks that coincide show one in the other
        for i, (x, y) in enumerate(points):
            label = f"<title>{html.escape(series.labels[i])}</title>" if series.labels else ""
            parts.append(f'<g>{label}<circle class="mark s{kind}" cx="{px(x)}" cy="{px(y)}" r="{px(size)}"/></g>')
    return "".join(parts)


def _legend(series: Sequence[Series], width: int) -> tuple[str, float]:
    """Names with their colours, in as many lines as they need; and how high that is."""
    parts, x, y = [], 0.0, 0.0
    for i, each in enumerate(series):
        if not each.name:
            continue
        long = text_length(each.name) + 34
        if x and x + long > width:
            x, y = 0.0, y + LINE + 3
        look = f"series s{i % KINDS}{' wide-line' if each.broad else ''}{' dashed' if each.dashed else ''}"
        at = px(y + 8)
        if each.line:
            parts.append(f'<line class="{look}" x1="{px(x + 4)}" y1="{at}" x2="{px(x + 22)}" y2="{at}"/>')
        else:
            parts.append(f'<circle class="mark s{i % KINDS}" cx="{px(x + 13)}" cy="{at}" r="4.5"/>')
        parts.append(text_lines(x + 28, y + TEXT, [each.name]))
        x += long
    return "".join(parts), y + LINE + 6 if parts else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


@dataclass(frozen=True, slots=True)
class Axis:
    """From where to where, and the values that are named."""

    least: float
    most: float
    ticks: tuple[float, ...]
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], *, log: bool, tight: bool = False, room: bool = True) -> Axis:
        """It holds these values; a tight one begins with them and not at 0."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        if log:
            return cls._of_ratios(low, high, 1.3 if room or not tight else 1.0)
        if not tight:
            low, high = min(low, 0.0), high * 1.06 if high > 0 else 1.0
        elif high == low:
            low, high = low - 0.5, high + 0.5
        beside = (high - low) * 0.03 if tight and room else 0.0
        step = _step((high - low) / 5)
        first = math.ceil((low - 1e-12) / step)
        ticks = tuple(i * step for i in range(first, math.floor((high + 1e-12) / step) + 1))
        return cls(low - beside, high + beside, ticks or (low, high))

    @classmethod
    def _of_ratios(cls, low: float, high: float, beside: float) -> Axis:
        low, high = low / beside, high * beside if high > low else high * 10
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        every = max((last - first) // 5, 1)
        steps: tuple[int, ...] = (1,) if last - first > 3 else (1, 2, 5)
        powers = range(last, first - 1, -every)
        ticks = sorted(m * 10.0**n for n in powers for m in steps)
        inside = tuple(t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9))
        return cls(low, high, inside or (low, high), True)

    def at(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        if self.log:
            return (math.log(value) - math.log(self.least)) / (math.log(self.most) - math.log(self.least))
        return (value - self.least) / (self.most - self.least)

    def label(self, value: float) -> str:
        """The name of a value."""
        return f"{value:,.0f}" if abs(value) >= 1000 or value == 0 else f"{value:.4g}"


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)


def _is_steep(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > 12 * min(values)
