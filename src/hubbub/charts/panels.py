"""Several drawings in one: beside one another as long as there is room, each under its title."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

from hubbub.charts.chart import Chart, charted
from hubbub.charts.flow_svg import drawn as drawn_flow
from hubbub.charts.lines import Axes, Series, axes_of, drawn_lines
from hubbub.charts.svg import TEXT, Bar, ChartLabels, Panel, drawn, px, text_lines
from hubbub.protocol.drawing import Flow

_BETWEEN: Final = 24
_ROOM: Final = 300  # pixels that a panel needs
_SIZE: Final = re.compile(r'viewBox="0 0 [\d.]+ ([\d.]+)"')

Lines: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]
"""Points by the name of their line."""


def lines_chart(panels: Mapping[str, Lines], *, x: str, y: str, title: str = "", **more: Any) -> Chart:
    """Lines in panels with one pair of axes; `more` is what :class:`hubbub.charts.lines.Axes` knows.

    ::

        lines_chart({"epsilon = 1": {"with you": [(0, 0.1), (1, 0.4)]}}, x="published number", y="chance")
    """
    marks = bool(more.pop("marks", False))
    series = {
        panel: [
            Series(name=name, points=tuple(points), marks=marks, dashed=bool(i % 2))
            for i, (name, points) in enumerate(lines.items())
        ]
        for panel, lines in panels.items()
    }
    axes = Axes(title=title or y, description=f"{y}, by {x}", x=x, y=y, **more)
    across, up = axes_of([each for lines in series.values() for each in lines], axes)
    shared = replace(axes, across=axes.across or (across.least, across.most), up=axes.up or (up.least, up.most))
    if len(series) == 1:
        return charted(partial(drawn_lines, next(iter(series.values())), axes), title, [])
    drawings = [(panel, partial(drawn_lines, lines, replace(shared, high=170))) for panel, lines in series.items()]
    return charted(partial(drawn_panels, drawings, title or y), title, [])


def drawn_panels(
    panels: Sequence[tuple[str, Callable[[int], str]]], title: str, width: int, *, kind: str = "wide"
) -> str:
    """Each panel is a title and a function that draws at a width."""
    abreast = max(1, min(len(panels), width // _ROOM))
    room = (width - _BETWEEN * (abreast - 1)) // abreast
    parts, y = [], 0.0
    for start in range(0, len(panels), abreast):
        tallest = 0.0
        for i, (name, draw) in enumerate(panels[start : start + abreast]):
            inner = draw(room)
            found = _SIZE.search(inner)
            assert found is not None, "every drawing has a size"
            x, high = i * (room + _BETWEEN), float(found[1])
            parts.append(text_lines(x, y + TEXT, [name], "panel"))
            place = f'<svg x="{px(x)}" y="{px(y + 24)}" width="{room}" height="{px(high)}" '
            parts.append(inner.replace("<svg ", place, 1).replace(f'class="chart {kind}"', 'class="panel"', 1))
            tallest = max(tallest, high + 24)
        y += tallest + 14
    heading = f"<title>{html.escape(title)}</title>"
    return f'<svg class="chart {kind}" viewBox="0 0 {width} {math.ceil(y)}" role="img">{heading}{"".join(parts)}</svg>'


# The flow of ballots from round to round as a chart that stands alone.
def transfers_chart(flow: Flow, *, title: str, subtitle: Sequence[str]) -> Chart:
    """Piles round by round. With one column there is no flow, and bars with numbers are drawn."""
    if len(flow.columns) > 1:
        return charted(partial(drawn_flow, flow), title, subtitle)
    bars = tuple(Bar(name, ballots, ballots, ballots, f"{ballots:,}") for name, ballots in flow.columns[0].piles)
    labels = ChartLabels(title="Ballots", description=flow.description or title, by="", numbers="ballots")
    return charted(partial(drawn, [Panel("", bars)], labels, upright=False), title, subtitle)
