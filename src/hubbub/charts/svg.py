"""Numbers with their intervals as SVG text, in small panels: bars, lines with bands, points, ranges.

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
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from hubbub.charts.language import localized, translate
from hubbub.charts.style import WIDTHS
from hubbub.protocol.drawing import Mark
from hubbub.runtime.frozen import dataclass

LINE, _BAR, _BETWEEN = 15, 13, 7  # pixels: of a line of text, a bar, the room between two bars
_HIGH: Final = {"one": 240, "several": 110}  # of upright bars
_PANEL: Final = 225  # pixels that a panel needs to stand beside another
_SLANT: Final = math.radians(40)
_APART: Final = 17  # pixels between slanted labels
_ARROW: Final = 7  # pixels that an arrow is long, beyond the axis
TEXT: Final = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval; `value` None is hidden, `high` None has no upper end. `value_text` says the value, or
    what it is called if there is none."""

    label: str
    value: float | None
    low: float
    high: float | None
    value_text: str
    apart: bool = False  # what is missing, and all the rest, have no place in the order of the others


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How numbers are drawn: as what, standing or lying, in percent, on an axis with these ends, one for each panel."""

    mark: Mark = Mark.BAR
    upright: bool = False
    percent: bool = False
    span: tuple[float, float] | None = None
    own_scale: bool = False


def responsive(panels: Sequence[Panel], labels: ChartLabels, *, upright: bool = False, look: Look | None = None) -> str:
    """A drawing for wide pages and one for narrow ones, of which the style shows one."""
    drawings = (drawn(panels, labels, width, upright=upright, kind=kind, look=look) for kind, width in WIDTHS.items())
    return "\n".join(drawings)


def drawn(
    panels: Sequence[Panel],
    labels: ChartLabels,
    width: int,
    *,
    upright: bool = False,
    kind: str = "wide",
    look: Look | None = None,
) -> str:
    """The panels as one SVG element of this width. Upright bars are for labels with an order of their own."""
    look = look or Look(upright=upright)
    scales = scales_of(panels, look)
    abreast = max(1, min(len(panels), width // _PANEL)) if len(panels) > 1 and not look.own_scale else 1
    room = (width - 24 * (abreast - 1)) / abreast
    high = _HIGH["one" if len(panels) == 1 else "several"]
    parts, top = [], 2.0
    for start in range(0, len(panels), abreast):
        tallest = 0.0
        for i, panel in enumerate(panels[start : start + abreast]):
            heading = wrapped(panel.title, room, bold=True) if panel.title else []
            above = LINE * len(heading) + (6 if heading else 0)
            scale = scales[start + i]
            if look.upright:
                body, tall = _upright(scale, labels, look, high, panel.bars, room)
            else:
                body, tall = _lying(scale, labels, look, panel.bars, room)
            title = text_lines(0, TEXT, heading, "panel") if heading else ""
            x = i * (room + 24)
            parts.append(f'<g transform="translate({px(x)} {px(top)})">{title}{_moved(body, 0, above)}</g>')
            tallest = max(tallest, above + tall)
        top += tallest + 18
    described = f"<title>{html.escape(labels.title)}</title><desc>{html.escape(labels.description)}</desc>"
    size = f'viewBox="0 0 {width} {math.ceil(top - 16)}"'
    standing = " upright" if look.upright else ""
    return f'<svg class="chart {kind}{standing}" {size} role="img">{described}{"".join(parts)}</svg>'


# --- the axis of numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scale:
    least: float
    most: float
    parts: bool = False  # whether there are numbers between whole ones
    percent: bool = False

    def at(self, value: float, length: float) -> float:
        """Where a value lies on an axis of that length; what lies beyond an end is put there."""
        inside = min(max(value, self.least), self.most)
        return (inside - self.least) / (self.most - self.least) * length

    def ticks(self, most: int) -> list[float]:
        """Round values between its ends, whole ones where there is nothing between them."""
        return [tick for tick in round_ticks(self.least, self.most, most) if self.parts or tick == round(tick)]


def round_ticks(least: float, most: float, many: int) -> list[float]:
    """At most about so many round values in an interval, and two at least: multiples of 1, 2 or 5 times a power of ten.

    >>> round_ticks(0, 1000, 4), round_ticks(270, 1750, 3)
    ([0.0, 500.0, 1000.0], [500.0, 1000.0, 1500.0])
    """
    rough = (most - least) / many
    unit = 10.0 ** math.floor(math.log10(rough))
    steps = [unit * factor for factor in (0.2, 0.5, 1, 2, 5, 10)]
    chosen = next(i for i, step in enumerate(steps) if step >= rough * (1 - 1e-9))
    for step in reversed(steps[: chosen + 1]):
        first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
        if last > first:
            break
    return [i * step for i in range(first, last + 1)]


def scales_of(panels: Sequence[Panel], look: Look) -> list[_Scale]:
    """The axis of each panel: one for all, unless they count different things."""
    if look.own_scale:
        return [_scale(panel.bars, look) for panel in panels]
    return [_scale([bar for panel in panels for bar in panel.bars], look)] * len(panels)


def _scale(bars: Iterable[Bar], look: Look = Look()) -> _Scale:  # noqa: B008 - a frozen value
    """It holds all that is shown, with intervals as far as they end; what is hidden may lie beyond.

    Bars begin at 0, and so does it with them. A public span is its two ends where numbers are shares or ranges.
    """
    shown = [bar for bar in bars if bar.value is not None]
    ends = [end for bar in shown for end in (bar.value, bar.low, bar.high) if end is not None]
    parts = look.percent or any(end % 1 for end in ends)
    if look.span is not None and (look.percent or look.mark is Mark.RANGE):
        return _Scale(min([look.span[0], *ends]), max([look.span[1], *ends]), parts, look.percent)
    if look.mark in (Mark.POINT, Mark.RANGE) and ends:
        least, most = min(ends), max(ends)
        room = (most - least) * 0.06 or max(abs(most) * 0.05, 0.5)
        low, high = look.span or (-math.inf, math.inf)
        return _Scale(max(least - room, min(low, least)), min(most + room, max(high, most)), True, look.percent)
    return _Scale(min([0.0, *ends]), max([1.0, *ends]), parts, look.percent)


def goes_beyond(panels: Sequence[Panel], look: Look | None = None) -> bool:
    """Whether some interval, or what is hidden, goes on beyond the axis, which an arrow shows."""
    scales = scales_of(panels, look or Look())
    return any(any(_beyond(bar, scale)) for panel, scale in zip(panels, scales, strict=True) for bar in panel.bars)


def _beyond(bar: Bar, scale: _Scale) -> tuple[bool, bool]:
    """Whether it goes on below the axis, and above."""
    return bar.low < scale.least, bar.high is None or bar.high > scale.most


def _tick(value: float, scale: _Scale) -> str:
    if scale.percent:
        return localized(f"{100 * value:.3g} %")
    return localized(f"{value:,.0f}" if value == round(value) else f"{value:.4g}")


# --- bars -------------------------------------------------------------------------------------------------------


def _lying(scale: _Scale, labels: ChartLabels, look: Look, bars: Sequence[Bar], width: float) -> tuple[str, float]:
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
        inside = _mark(bar, look, left, y, (start, end), (low, high), scale, length)
        under, over = _beyond(bar, scale)
        inside += _arrow(bar, (left, y + _BAR / 2), (-1, 0)) if under else ""
        inside += _arrow(bar, (left + length, y + _BAR / 2), (1, 0)) if over else ""
        at = left + max(end, high, scale.at(0, length) if scale.least <= 0 else 0.0) + 7 + over * _ARROW
        inside += text_lines(at, y + _BAR / 2 + 4, [_bar_text(bar, scale)], "hidden" if bar.value is None else "")
        parts.append(f"<g><title>{html.escape(_label(bar, scale))}</title>{inside}</g>")
        y += _BAR + _BETWEEN
    grid = []
    for tick in _spaced_ticks(scale, length):
        x = left + scale.at(tick, length)
        grid.append(_line("grid", x, -3, x, y))
        grid.append(text_lines(x, y + TEXT, [_tick(tick, scale)], "quiet", anchor="middle" if x > 20 else ""))
    below_axis = wrapped(labels.numbers, 0.8 * width) if labels.numbers else [""]
    half = 0.6 * max(map(text_length, below_axis))  # a little more than the half: the fonts of readers differ
    centre = max(min(left + length / 2, width - half), half)
    parts.append(text_lines(centre, y + TEXT + LINE, below_axis, "quiet", anchor="middle"))
    zero = left + scale.at(0, length)
    axis = _line("axis", zero, -3, zero, y) if scale.least <= 0 <= scale.most else ""
    return "".join([*grid, *parts, axis]), y + TEXT + LINE * len(below_axis) + 4


def _spaced_ticks(scale: _Scale, length: float) -> list[float]:
    """As many round values as have room for their labels side by side."""
    for many in range(max(3, int(length / 90)), 0, -1):
        ticks = scale.ticks(many)
        if all(
            scale.at(b, length) - scale.at(a, length)
            >= (text_length(_tick(a, scale)) + text_length(_tick(b, scale))) / 2 + 8
            for a, b in pairwise(ticks)
        ):
            return ticks
    return [ticks[0], ticks[-1]]


def _mark(
    bar: Bar,
    look: Look,
    left: float,
    y: float,
    span: tuple[float, float],
    interval: tuple[float, float],
    scale: _Scale,
    length: float,
) -> str:
    """A lying bar, point or range, with its interval."""
    (start, end), (low, high), middle = span, interval, y + _BAR / 2
    if bar.value is None:
        return _rect("gap", left + start, y, end - start, _BAR)
    at = left + scale.at(bar.value, length)
    if look.mark is Mark.RANGE:
        tick = _line("line", at, y - 2, at, y + _BAR + 2)
        return _rect("range", left + low, y + 2, max(high - low, 1.0), _BAR - 4) + tick
    if look.mark is Mark.POINT:
        line = _whisker(left + low, left + high, middle) if low < high else ""
        return f'{line}<circle class="point" cx="{px(at)}" cy="{px(middle)}" r="4.5"/>'
    line = _whisker(left + low, left + high, middle) if low < high else ""
    return _rect("bar", left + start, y, end - start, _BAR) + line


def _whisker(low: float, high: float, y: float) -> str:
    """An interval with its two ends."""
    ends = "".join(_line("cap", x, y - 3, x, y + 3) for x in (low, high))
    return _line("line", low, y, high, y) + ends


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{px(x)}" y="{px(y)}" width="{px(width)}" height="{px(height)}"/>'


def _upright(
    scale: _Scale, labels: ChartLabels, look: Look, high: float, bars: Sequence[Bar], width: float
) -> tuple[str, float]:
    """Bars side by side; of their labels as many as fit, slanted, and always the last, which may be no number."""
    ticks = scale.ticks(4)
    every = max(1, math.ceil(len(bars) * _APART / (width - 50)))
    chosen = {i for i in range(len(bars) - 1) if i % every == 0 and i + every < len(bars)} | {len(bars) - 1}
    reach = {i: text_length(bars[i].label) for i in chosen}
    left = max(text_length(_tick(tick, scale)) for tick in ticks) + 8
    lean = max(reach[i] * math.cos(_SLANT) - (i + 0.5) * (width - left) / len(bars) for i in chosen)
    left = max(left, min(lean, width / 3))
    step = (width - left) / len(bars)
    spelled = look.mark is Mark.BAR and all(text_length(_bar_text(bar, scale)) + 4 <= step for bar in bars)
    thick, top = max(step * 0.82, min(step, 1.0)), LINE + 4.0 + (LINE if spelled else _ARROW)
    narrow = " thin" if step < 12 else ""
    parts = [text_lines(0, TEXT, [labels.numbers], "quiet")]
    for tick in ticks:
        y = top + high - scale.at(tick, high)
        parts.append(_line("grid", left, y, width, y))
        parts.append(text_lines(left - 6, y + 4, [_tick(tick, scale)], "quiet", anchor="end"))
    if look.mark is Mark.LINE:
        parts += _runs(bars, scale, lambda i: left + (i + 0.5) * step, top, high)
    for i, bar in enumerate(bars):
        x = left + i * step + (step - thick) / 2
        start, end = _span(bar, scale, high)
        low, upper = _interval(bar, scale, high)
        middle, inside = x + thick / 2, ""
        if bar.value is None:
            inside = _rect(f"gap{narrow}", x, top + high - end, thick, end - start)
        elif look.mark is not Mark.LINE:
            inside = _rect("bar", x, top + high - end, thick, end - start)
        if bar.value is not None and low < upper and (look.mark is not Mark.LINE or bar.apart):
            inside += _line(f"line{narrow}", middle, top + high - low, middle, top + high - upper)
        if bar.value is not None and look.mark is Mark.LINE:
            at = px(top + high - scale.at(bar.value, high))
            inside += f'<circle class="point" cx="{px(middle)}" cy="{at}" r="{px(min(3.5, max(step / 3, 1.2)))}"/>'
        under, over = _beyond(bar, scale)
        inside += _arrow(bar, (x + thick / 2, top + high), (0, 1), thick) if under else ""
        inside += _arrow(bar, (x + thick / 2, top), (0, -1), thick) if over else ""
        if spelled:
            above = top + high - max(end, upper if bar.value is not None else 0.0) - 4 - over * _ARROW
            kind = "hidden" if bar.value is None else ""
            inside += text_lines(middle, above, [_bar_text(bar, scale)], kind, anchor="middle")
        parts.append(f"<g><title>{html.escape(_label(bar, scale))}</title>{inside}</g>")
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
        parts.append(text_lines(left + (width - left) / 2, deep + 12, lines, "quiet", anchor="middle"))
        deep += LINE * len(lines) + 4
    return "".join(parts), deep


def _runs(bars: Sequence[Bar], scale: _Scale, x_of: Callable[[int], float], top: float, high: float) -> list[str]:
    """Lines with their bands, through numbers that follow one another; what is hidden or apart ends a line."""
    runs: list[list[int]] = [[]]
    for i, bar in enumerate(bars):
        if bar.value is None or bar.apart:
            runs.append([])
        else:
            runs[-1].append(i)
    parts = []
    for run in filter(None, runs):
        lows, highs = zip(*(_interval(bars[i], scale, high) for i in run), strict=True)
        if any(low < end for low, end in zip(lows, highs, strict=True)):
            there = [f"{px(x_of(i))},{px(top + high - end)}" for i, end in zip(run, highs, strict=True)]
            back = [f"{px(x_of(i))},{px(top + high - low)}" for i, low in zip(run, lows, strict=True)]
            parts.append(f'<polygon class="band" points="{" ".join([*there, *reversed(back)])}"/>')
        line = " ".join(f"{px(x_of(i))},{px(top + high - scale.at(bars[i].value or 0.0, high))}" for i in run)
        parts.append(f'<polyline class="series s0" points="{line}"/>')
    return parts


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


def number(value: float, *, percent: bool) -> str:
    """A number to read: shares in percent, to a tenth."""
    return f"{100 * value:.1f} %" if percent else plain(value)


def _bar_text(bar: Bar, scale: _Scale) -> str:
    if bar.value is not None:
        return bar.value_text
    far = bar.high is not None and bar.high > scale.most
    high = number(bar.high or 0, percent=scale.percent)
    return translate("{what}, up to {high}", what=_absent(bar), high=high) if far else _absent(bar)


def _absent(bar: Bar) -> str:
    """What a number that is not shown is called."""
    return bar.value_text or translate("hidden")


def _label(bar: Bar, scale: _Scale) -> str:
    """What stands beside the pointer."""
    lower, upper = bar.low, bar.high
    if scale.percent:  # outwards, so that what is nearly certain does not look so
        lower, upper = math.floor(1000 * lower) / 1000, None if upper is None else math.ceil(1000 * upper) / 1000
    low = number(lower, percent=scale.percent)
    ends = (
        translate("{low} or more", low=low)
        if upper is None
        else translate("{low} to {high}", low=low, high=number(upper, percent=scale.percent))
    )
    exact = bar.value is not None and bar.low == bar.high == bar.value
    return f"{bar.label}: {_absent(bar) if bar.value is None else bar.value_text}" + ("" if exact else f", {ends}")


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
