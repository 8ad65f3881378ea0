"""What a lie gains over a triangle of beliefs, a triangle for each rule, and what the rule elects below it."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from hubbub.charts.chart import Chart, charted
from hubbub.charts.style import TINTS, Rows
from hubbub.charts.svg import LINE, TEXT, px, text_length, text_lines, wrapped

_LEAST: Final = 1e-6  # gains below it have one colour
_ROOM: Final = 26  # pixels around a triangle, for the corners' names
_WIDEST: Final = 230  # pixels of a side
_CORNERS: Final = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def gain_triangles(
    cells: Rows,
    polls: Rows,
    *,
    rules: Sequence[str],
    headings: Sequence[Sequence[str]],
    labels: Sequence[str],
    steps: int,
    title: str,
    subtitle: Sequence[str],
) -> Chart:
    """Each cell has `rule`, `weights` (three shares), `gain`, `told` (in words) and `efficiency` (None: not known).

    `polls` have `weights` and `label`; `headings` stand above the triangles, lines for each of `rules`.
    """
    draw = partial(drawn_triangles, cells, polls, rules, headings, labels, steps)
    return charted(draw, title, subtitle)


def drawn_triangles(
    cells: Rows,
    polls: Rows,
    rules: Sequence[str],
    headings: Sequence[Sequence[str]],
    labels: Sequence[str],
    steps: int,
    width: int,
    *,
    kind: str = "wide",
) -> str:
    """As many triangles beside one another as there is room for, first those of gains, then of efficiencies."""
    abreast = max(1, min(len(rules), width // 210))
    room = width / abreast
    side = min(room - 2 * _ROOM, _WIDEST)
    gains = _steps_of_ratio(max([float(cell["gain"]) for cell in cells] + [10 * _LEAST]))
    known = [float(cell["efficiency"]) for cell in cells if cell["efficiency"] is not None]
    shares = _even_steps(min([0.9, *known]))
    layers: list[tuple[str, str, Sequence[float]]] = [("what the best lie gains", "gain", gains)]
    if known:
        layers.append(("how often the Condorcet winner is elected", "efficiency", shares))
    parts, y = [], 0.0
    for name, key, limits in layers:
        legend, y = _legend(name, key, limits, y, width)
        parts.append(legend)
        for start in range(0, len(rules), abreast):
            tallest = 0.0
            for i in range(start, min(start + abreast, len(rules))):
                mine = [cell for cell in cells if cell["rule"] == rules[i]]
                lines = [line for head in headings[i] for line in wrapped(head, room)]
                x = (i - start) * room + room / 2
                parts.append(text_lines(x, y + TEXT, lines, anchor="middle"))
                top = y + LINE * len(lines) + _ROOM
                parts.append(_triangle(mine, polls, key, limits, labels, steps, (x - side / 2, top, side)))
                tallest = max(tallest, LINE * len(lines) + 2 * _ROOM + side * math.sqrt(3) / 2)
            y += tallest + 10
    heading = "<title>What lies gain, over a triangle of beliefs</title>"
    return f'<svg class="chart {kind}" viewBox="0 0 {width} {math.ceil(y)}" role="img">{heading}{"".join(parts)}</svg>'


def _triangle(
    cells: Rows,
    polls: Rows,
    key: str,
    limits: Sequence[float],
    labels: Sequence[str],
    steps: int,
    where: tuple[float, float, float],
) -> str:
    left, top, side = where
    radius = side / steps / math.sqrt(3)

    def position(weights: Sequence[float]) -> tuple[float, float]:
        """Where a belief stands: the first corner left, the second right, the third on top."""
        a, b, c = (float(weight) for weight in weights)
        total = a + b + c
        return left + side * (b + c / 2) / total, top + side * math.sqrt(3) / 2 * (1 - c / total)

    parts = [_hexagon(cell, position(cell["weights"]), radius, key, limits) for cell in cells]
    for label, weights in zip(labels, _CORNERS, strict=True):
        x, y = position(weights)
        away = -radius - 6 if weights[2] else radius + 16
        parts.append(text_lines(x, y + away, [label], anchor="middle"))
    for poll in polls:
        x, y = position(poll["weights"])
        way = f"M{px(x)} {px(y - 6)}L{px(x + 6)} {px(y)}L{px(x)} {px(y + 6)}L{px(x - 6)} {px(y)}Z"
        parts.append(f'<path class="line" d="{way}"><title>{html.escape(str(poll["label"]))}</title></path>')
    return "".join(parts)


def _hexagon(cell: Mapping[str, Any], at: tuple[float, float], radius: float, key: str, limits: Sequence[float]) -> str:
    x, y = at
    corners = [(radius * math.sin(math.pi * i / 3), -radius * math.cos(math.pi * i / 3)) for i in range(6)]
    path = " ".join(f"{px(x + a)},{px(y + b)}" for a, b in corners)
    value = cell[key]
    look = "gap" if value is None else f"t{shade(float(value), limits)}"
    return f'<polygon class="{look}" points="{path}"><title>{html.escape(str(cell["told"]))}</title></polygon>'


def shade(value: float, limits: Sequence[float]) -> int:
    """Which tint a value has: the number of limits that it reaches."""
    return sum(value >= limit for limit in limits)


def _steps_of_ratio(most: float) -> list[float]:
    """Limits between tints, in equal ratios."""
    wide = math.log10(most / _LEAST)
    return [_LEAST * 10 ** (wide * i / (len(TINTS) - 1)) for i in range(len(TINTS) - 1)]


def _even_steps(least: float) -> list[float]:
    return [least + (1 - least) * i / (len(TINTS) - 1) for i in range(1, len(TINTS))]


def _legend(name: str, key: str, limits: Sequence[float], y: float, width: int) -> tuple[str, float]:
    def limit_text(value: float) -> str:
        return f"{100 * value:.1f} %" if key == "efficiency" else f"{value:.0e}"

    texts = [f"below {limit_text(limits[0])}", *(f"from {limit_text(limit)}" for limit in limits)]
    parts, x = [text_lines(0, y + TEXT, [name], "quiet")], 0.0
    y += LINE + 6
    for i, text in enumerate(texts):
        wide = text_length(text) + 32
        if x and x + wide > width:
            x, y = 0.0, y + LINE + 4
        parts.append(f'<rect class="t{i}" x="{px(x)}" y="{px(y)}" width="13" height="13"/>')
        parts.append(text_lines(x + 18, y + 11, [text], "quiet"))
        x += wide
    return "".join(parts), y + LINE + 14
