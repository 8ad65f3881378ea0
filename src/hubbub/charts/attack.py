"""Mechanisms against an attack, side by side."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from hubbub.charts.chart import Chart, charted
from hubbub.charts.style import TINTS, Rows
from hubbub.charts.svg import LINE, TEXT, px, text_length, text_lines, wrapped

_ROW, _BAR = 44, 12  # pixels: of a mechanism, of a bar
_SHORT: Final = {"error_rare": "crowds up to 100", "error_large": "crowds above 100"}


def attack_chart(rows: Rows, *, chance: float, target: int, title: str, subtitle: Sequence[str]) -> Chart:
    """Mechanisms side by side: how often an attack succeeds, what the attacker believed once, and what it cost.

    Each row has `name`, `attack` (a probability), `beliefs` (one probability for each candidate; `target` is the right
    one), `error_rare` and `error_large`.
    """
    return charted(partial(drawn_attack, rows, chance, target), title, subtitle)


def drawn_attack(rows: Rows, chance: float, target: int, width: int, *, kind: str = "wide") -> str:
    """Three columns beside the names, or below them on a narrow page."""
    beside = kind == "wide"
    names = max(text_length(str(row["name"])) for row in rows) + 10 if beside else 0.0
    if beside:
        third = (width - names - 40) / 3
        places = [(names, third), (names + third + 20, third), (names + 2 * third + 40, third)]
    else:
        places = [(0.0, float(width))] * 3
    heads = (
        "the best attack finds the bin (line: a blind guess)",
        "what the attacker believed after one release (ring: the truth)",
        "mean error of an ordinary bin: crowds up to 100 people, and above",
    )
    most = max(float(row[key]) for row in rows for key in _SHORT)
    parts, y = [], 0.0
    for i, (x, wide) in enumerate(places):
        lines = wrapped(heads[i], wide)
        if beside:
            parts.append(text_lines(x, TEXT, lines, "quiet"))
        top = LINE * (max(len(wrapped(head, wide)) for head, (_, wide) in zip(heads, places, strict=True)) + 1)
        if not beside:
            parts.append(text_lines(0, y + TEXT, lines, "quiet"))
            top = math.ceil(y) + LINE * len(lines) + 9
        for j, row in enumerate(rows):
            at = top + j * _ROW
            if beside and i == 0:
                parts.append(text_lines(names - 10, at + _BAR + 4, [str(row["name"])], anchor="end"))
            elif not beside:
                parts.append(text_lines(0, at + 8, [str(row["name"])]))
                at += LINE - 2
            if i == 0:
                parts.append(_found(float(row["attack"]), chance, x, at, wide))
            elif i == 1:
                parts.append(_beliefs(row["beliefs"], target, x, at, wide))
            else:
                parts.append(_errors(row, most, x, at, wide))
        y = top + len(rows) * _ROW + (14 if not beside else 0)
    heading = "<title>Mechanisms against an attack</title>"
    description = "; ".join(f"{row['name']}: found {100 * float(row['attack']):.1f} % of the time" for row in rows)
    heading += f"<desc>{html.escape(description)}</desc>"
    return f'<svg class="chart {kind}" viewBox="0 0 {width} {math.ceil(y)}" role="img">{heading}{"".join(parts)}</svg>'


def _found(attack: float, chance: float, x: float, y: float, wide: float) -> str:
    """A bar on a scale from 0 to 1, and where a blind guess is."""
    long = wide - text_length("100.0 %") - 8
    line = px(x + chance * long)
    return (
        f'<rect class="bar" x="{px(x)}" y="{px(y)}" width="{px(attack * long)}" height="{_BAR + 4}"/>'
        f'<line class="rule" x1="{line}" y1="{px(y - 4)}" x2="{line}" y2="{px(y + _BAR + 8)}"/>'
        + text_lines(x + attack * long + 5, y + _BAR, [f"{100 * attack:.1f} %"])
    )


def _beliefs(beliefs: Sequence[float], target: int, x: float, y: float, wide: float) -> str:
    """A strip of candidates, the darker the more probable; a ring around the right one."""
    step = wide / len(beliefs)
    cells = "".join(
        f'<rect class="t{_shade(belief)}" x="{px(x + i * step)}" y="{px(y)}" width="{px(step)}" height="{_BAR + 4}">'
        f"<title>candidate {i + 1}: {100 * belief:.1f} %</title></rect>"
        for i, belief in enumerate(beliefs)
    )
    centre = px(x + (target + 0.5) * step)
    return f'{cells}<circle class="series s1" cx="{centre}" cy="{px(y + _BAR / 2 + 2)}" r="{px(max(step, 7))}"/>'


def _shade(belief: float) -> int:
    return min(len(TINTS) - 1, int(math.sqrt(max(belief, 0.0)) * len(TINTS)))


def _errors(row: Mapping[str, Any], most: float, x: float, y: float, wide: float) -> str:
    long = wide - text_length("000.0") - 8
    parts = []
    for i, key in enumerate(_SHORT):
        value = float(row[key])
        at = y + i * (_BAR + 2) - 4
        tip = f"<title>{_SHORT[key]}: {value:.1f}</title>"
        look = "bar" if i else "t2"
        place = f'x="{px(x)}" y="{px(at)}" width="{px(value / most * long)}" height="{_BAR}"'
        parts.append(f'<rect class="{look}" {place}>{tip}</rect>')
        parts.append(text_lines(x + value / most * long + 5, at + _BAR - 2, [f"{value:.1f}"], "small"))
    return "".join(parts)
