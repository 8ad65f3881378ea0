"""Bars with intervals as SVG text, in small panels: what a page shows where loading a chart library would cost more.

Plain values in, text out. A drawing has a width in pixels and is made for it: labels stand beside their bars where
there is room, else above them, and are wrapped, never cut. A page that is read on a telephone and on a desk
takes one drawing for each and lets its style choose (:func:`responsive`). Colours come from the page: variables with a
fallback, and the colour of its text.
"""

from __future__ import annotations

import html
import math
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from hubbub.charts.style import WIDTHS

LINE, _BAR, _BETWEEN = 15, 13, 7  # pixels: of a line of text, a bar, the room between two bars
_HIGH: Final = {"one": 240, "several": 110}  # of upright bars
_PANEL: Final = 225  # pixels that a panel needs to stand beside another
_SLANT: Final = math.radians(40)
_APART: Final = 17  # pixels between slanted labels
_ARROW: Final = 7  # pixels that an arrow is long, beyond the axis
TEXT: Final = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval; `value` None is hidden, `high` None has no upper end. `words` say the value."""

    label: str
    value: float | None
    low: float
    high: float | None
    value_text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars under one title; the title of a panel that stands alone may be empty."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class ChartLabels:
    """What a drawing says beside its labels: for somebody who cannot see it, and at its axes."""

    title: str
    description: str
    by: str
    numbers: str


def responsive(panels: Sequence[Panel], labels: ChartLabels, *, upright: bool) -> str:
    """A drawing for wide pages and one for narrow ones, of which the style shows one."""
    return "\n".join(drawn(panels, labels, width, upright=upright, kind=kind) for kind, width in WIDTHS.items())


def drawn(panels: Sequence[Panel], labels: ChartLabels, width: int, *, upright: bool, kind: str = "wide") -> str:
    """The panels as one SVG element of this width. Upright bars are for labels with an order of their own."""
    scale = _scale([bar for panel in panels for bar in panel.bars])
    abreast = max(1, min(len(panels), width // _PANEL)) if len(panels) > 1 else 1
    room = (width - 24 * (abreast - 1)) / abreast
    high = _HIGH["one" if len(panels) == 1 else "several"]
    draw = partial(_upright, scale, labels, high) if upright else partial(_lying, scale, labels)
    parts, top = [], 2.0
    for start in range(0, len(panels), abreast):
        tallest = 0.0
        for i, panel in enumerate(panels[start : start + abreast]):
            heading = wrapped(panel.title, room, bold=True) if panel.title else []
            above = LINE * len(heading) + (6 if heading else 0)
            body, tall = draw(panel.bars, room)
            title = text_lines(0, TEXT, heading, "panel") if heading else ""
            x = i * (room + 24)
            parts.append(f'<g transform="translate({px(x)} {px(top)})">{title}{_moved(body, 0, above)}</g>')
            tallest = max(tallest, above + tall)
        top += tallest + 18
    described = f"<title>{html.escape(labels.title)}</title><desc>{html.escape(labels.description)}</desc>"
    size = f'viewBox="0 0 {width} {math.ceil(top - 16)}"'
    return f'<svg class="chart {kind}" {size} role="img">{described}{"".join(parts)}</svg>'


# --- the axis of numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scale:
    least: float
    most: float
    parts: bool = False  # whether there are numbers between whole ones

    def at(self, value: float, length: float) -> float:
        """Where a value lies on an axis of that length; what lies beyond an end is put there."""
        inside = min(max(value, self.least), self.most)
        return (inside - self.least) / (self.most - self.least) * length

    def ticks(self, most: int) -> list[float]:
        """At most so many round values: steps of 1, 2 or 5 times a power of ten."""
        rough = (self.most - self.least) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(step for step in (unit, 2 * unit, 5 * unit, 10 * unit) if step >= rough * (1 - 1e-9))
        first, last = math.ceil(self.least / step), math.floor(self.most / step)
        return [i * step for i in range(first, last + 1) if self.parts or step >= 1 or not (i * step) % 1]


def _scale(bars: Iterable[Bar]) -> _Scale:
    """It holds 0 and all that is shown, with intervals as far as they end; what is hidden may lie beyond."""
    visible = [bar for bar in bars if bar.value is not None]
    ends = [end for bar in visible for end in (bar.value, bar.low, bar.high) if end is not None]
    parts = any(end % 1 for end in ends)
    return _Scale(min([0.0, *ends]), max([1.0, *ends]), parts)


def goes_beyond(panels: Sequence[Panel]) -> bool:
    """Whether some interval, or what is hidden, goes on beyond the axis, which an arrow shows."""
    bars = [bar for panel in panels for bar in panel.bars]
    scale = _scale(bars)
    return any(any(_beyond(bar, scale)) for bar in bars)


def _beyond(bar: Bar, scale: _Scale) -> tuple[bool, bool]:
    """Whether it goes on below the axis, and above."""
    return bar.low < scale.least, bar.high is None or bar.high > scale.most


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"


# --- bars -------------------------------------------------------------------------------------------------------


def _lying(scale: _Scale, labels: ChartLabels, bars: Sequence[Bar], width: float) -> tuple[str, float]:
    """One bar below the other, each with its label beside or above it and its number at its end."""
    longest = max(text_length(bar.label) for bar in bars)
    beside = longest <= 0.4 * width
    below, above = (any(ends) for ends in zip(*(_beyond(bar, scale) for bar in bars), strict=True))
    left = (longest + 10 if beside else 0.0) + below * _ARROW
    right = max(text_length(_bar_text(bar, scale)) for bar in bars) + 8 + above * _ARROW
    length = width - left - right
    parts, y = [], 0.0
    for bar in bars:
        lines = [bar.label] if beside else wrapped(bar.label, width)
        if not beside:
            parts.append(text_lines(0, y + TEXT, lines))
            y += LINE * len(lines) + 1
        else:
            parts.append(text_lines(left - 8 - below * _ARROW, y + _BAR / 2 + 4, lines, anchor="end"))
        start, end = _span(bar, scale, length)
        low, high = _interval(bar, scale, length)
        kind = "gap" if bar.value is None else "bar"
        inside = f'<rect class="{kind}" x="{px(left + start)}" y="{px(y)}" width="{px(end - start)}" height="{_BAR}"/>'
        if bar.value is not None and low < high:
            inside += _line("line", left + low, y + _BAR / 2, left + high, y + _BAR / 2)
        under, over = _beyond(bar, scale)
        inside += _arrow(bar, (left, y + _BAR / 2), (-1, 0)) if under else ""
        inside += _arrow(bar, (left + length, y + _BAR / 2), (1, 0)) if over else ""
        at = left + max(end, high, scale.at(0, length)) + 5 + over * _ARROW
        inside += text_lines(at, y + _BAR / 2 + 4, [_bar_text(bar, scale)], "hidden" if bar.value is None else "")
        parts.append(f"<g><title>{html.escape(_label(bar))}</title>{inside}</g>")
        y += _BAR + _BETWEEN
    grid, ticks = [], scale.ticks(max(3, int(length / 90)))
    for tick in ticks:
        x = left + scale.at(tick, length)
        grid.append(_line("grid", x, -3, x, y))
        grid.append(text_lines(x, y + TEXT, [_tick(tick)], "quiet", anchor="middle" if x > 20 else ""))
    parts.append(text_lines(left + length / 2, y + TEXT + LINE, [labels.numbers], "quiet", anchor="middle"))
    zero = left + scale.at(0, length)
    return "".join([*grid, *parts, _line("axis", zero, -3, zero, y)]), y + TEXT + LINE + 4


def _upright(scale: _Scale, labels: ChartLabels, high: float, bars: Sequence[Bar], width: float) -> tuple[str, float]:
    """Bars side by side; of their labels as many as fit, slanted, and always the last, which may be no number."""
    ticks = scale.ticks(4)
    every = max(1, math.ceil(len(bars) * _APART / (width - 50)))
    chosen = {i for i in range(len(bars) - 1) if i % every == 0 and i + every < len(bars)} | {len(bars) - 1}
    reach = {i: text_length(bars[i].label) for i in chosen}
    left = max(text_length(_tick(tick)) for tick in ticks) + 8
    lean = max(reach[i] * math.cos(_SLANT) - (i + 0.5) * (width - left) / len(bars) for i in chosen)
    left = max(left, min(lean, width / 3))
    step = (width - left) / len(bars)
    thick, top = max(step * 0.82, min(step, 1.0)), LINE + 4.0 + _ARROW
    narrow = " thin" if step < 12 else ""
    parts = [text_lines(0, TEXT, [labels.numbers], "quiet")]
    for tick in ticks:
        y = top + high - scale.at(tick, high)
        parts.append(_line("grid", left, y, width, y))
        parts.append(text_lines(left - 6, y + 4, [_tick(tick)], "quiet", anchor="end"))
    for i, bar in enumerate(bars):
        x = left + i * step + (step - thick) / 2
        start, end = _span(bar, scale, high)
        low, upper = _interval(bar, scale, high)
        kind = f"gap{narrow}" if bar.value is None else "bar"
        box = f'x="{px(x)}" y="{px(top + high - end)}" width="{px(thick)}" height="{px(end - start)}"'
        inside = f'<rect class="{kind}" {box}/>'
        if bar.value is not None and low < upper:
            inside += _line(f"line{narrow}", x + thick / 2, top + high - low, x + thick / 2, top + high - upper)
        under, over = _beyond(bar, scale)
        inside += _arrow(bar, (x + thick / 2, top + high), (0, 1), thick) if under else ""
        inside += _arrow(bar, (x + thick / 2, top), (0, -1), thick) if over else ""
        parts.append(f"<g><title>{html.escape(_label(bar))}</title>{inside}</g>")
    zero = top + high - scale.at(0, high)
    parts.append(_line("axis", left, zero, width, zero))
    level = max(reach.values()) + 6 <= every * step  # then they need no slant
    for i in sorted(chosen):
        x, y = left + (i + 0.5) * step, top + high + (16 if level else 12)
        turned = f'transform="translate({px(x if level else x + 3)} {px(y)}){"" if level else " rotate(-40)"}"'
        parts.append(f'<text {turned} text-anchor="{"middle" if level else "end"}">{html.escape(bars[i].label)}</text>')
    deep = top + high + (22 if level else 18 + max(reach.values()) * math.sin(_SLANT))
    if labels.by:
        lines = wrapped(labels.by, width)
        parts.append(text_lines(left + (width - left) / 2, deep + 8, lines, "quiet", anchor="middle"))
        deep += LINE * len(lines)
    return "".join(parts), deep


def _span(bar: Bar, scale: _Scale, length: float) -> tuple[float, float]:
    """The two ends of a bar: from 0 to its value, or where a hidden number may lie."""
    if bar.value is None:
        return _interval(bar, scale, length)
    ends = scale.at(0, length), scale.at(bar.value, length)
    return min(ends), max(ends)


def _interval(bar: Bar, scale: _Scale, length: float) -> tuple[float, float]:
    high = scale.most if bar.high is None else bar.high
    return scale.at(min(bar.low, high), length), scale.at(high, length)


def plain(value: float) -> str:
    """A number in full, and a whole one without its point."""
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def _arrow(bar: Bar, at: tuple[float, float], to: tuple[int, int], room: float = _BAR) -> str:
    """A tip beyond the end of the axis: what is drawn up to there goes on."""
    (x, y), (right, down), half = at, to, min(_ARROW, room) / 2
    long = min(_ARROW, 2 * half)
    corners = (
        (x - half * down, y - half * right),
        (x + half * down, y + half * right),
        (x + long * right, y + long * down),
    )
    path = " ".join(f"{'L' if i else 'M'}{px(a)} {px(b)}" for i, (a, b) in enumerate(corners))
    return f'<path class="arrow{" pale" if bar.value is None else ""}" d="{path}Z"/>'


def _bar_text(bar: Bar, scale: _Scale) -> str:
    if bar.value is not None:
        return bar.value_text
    return f"hidden, up to {plain(bar.high)}" if bar.high is not None and bar.high > scale.most else "hidden"


def _label(bar: Bar) -> str:
    """What stands beside the pointer."""
    ends = f"{plain(bar.low)} " + ("or more" if bar.high is None else f"to {plain(bar.high)}")
    exact = bar.value is not None and bar.low == bar.high == bar.value
    return f"{bar.label}: {'hidden' if bar.value is None else bar.value_text}" + ("" if exact else f", {ends}")


# --- text and lines ---------------------------------------------------------------------------------------------


def text_length(text: str, *, bold: bool = False) -> float:
    """About how many pixels a text takes, rather too many: the fonts of readers differ."""
    return sum(map(_advance, text)) * TEXT * (1.08 if bold else 1.0)


def _advance(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if unicodedata.combining(sign):
        return 0.0
    if sign in "iljtfrI.,:;'|!()[]- ·":
        return 0.4
    return 0.9 if sign in "mwMW@%…—" else 0.74 if sign.isupper() or ord(sign) > 0x24F else 0.6


def wrapped(text: str, width: float, *, bold: bool = False) -> list[str]:
    """The text in lines that fit, between words where it can be."""
    signs = max(4, int(width / (text_length(text, bold=bold) / max(len(text), 1) or 1)))
    while True:
        lines = textwrap.wrap(text, signs, break_on_hyphens=False) or [text]
        if signs <= 4 or all(text_length(line, bold=bold) <= width for line in lines):
            return lines
        signs -= 1


def text_lines(x: float, y: float, lines: Sequence[str], kind: str = "", anchor: str = "") -> str:
    named = (f' {name}="{value}"' for name, value in (("class", kind), ("text-anchor", anchor)) if value)
    spans = [(f'x="{px(x)}" y="{px(y + i * LINE)}"', html.escape(line)) for i, line in enumerate(lines)]
    inside = "".join(f"<tspan {attributes}>{line}</tspan>" for attributes, line in spans)
    return f"<text{''.join(named)}>{inside}</text>"


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{px(x1)}" y1="{px(y1)}" x2="{px(x2)}" y2="{px(y2)}"/>'


def _moved(body: str, x: float, y: float) -> str:
    return f'<g transform="translate({px(x)} {px(y)})">{body}</g>' if x or y else body


def px(x: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{x:.1f}".removesuffix(".0")
