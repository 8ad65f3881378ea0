"""The picture of a release with its caption, or the reason why there is none. It draws published values alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hubbub.charts.flow_svg import responsive_flow
from hubbub.charts.map_svg import responsive_map
from hubbub.charts.svg import Bar, ChartLabels, Panel, goes_beyond, plain, responsive
from hubbub.protocol.drawing import Bars, Drawing, Flow, FlowColumn, FlowLink, Map
from hubbub.report.text import sentence, visible

NOT_DRAWN: Final = "<p>There is no chart, because it could not be drawn when this page was made.</p>"


def picture(drawing: Drawing | None) -> str:
    """The chart with its caption as HTML."""
    if drawing is None:
        return "<p>There is nothing to draw.</p>"
    if isinstance(drawing, Flow):
        chart, note = responsive_flow(printable_flow(drawing)), sentence(drawing.note)
        return f"<figure>\n{chart}\n<figcaption>{note}</figcaption>\n</figure>"
    if isinstance(drawing, Map):
        chart, note = responsive_map(printable_map(drawing)), sentence(drawing.note)
        return f"<figure>\n{chart}\n<figcaption>{note}</figcaption>\n</figure>"
    panels = _panels(drawing)
    labels = ChartLabels(
        title="Bars of the published numbers",
        description=_description(drawing),
        by=visible(drawing.by),
        numbers=drawing.numbers,
    )
    chart = responsive(panels, labels, upright=drawing.upright)
    caption = _caption(drawing, arrows=goes_beyond(panels))
    return f"<figure>\n{chart}\n<figcaption>{caption}</figcaption>\n</figure>"


def printable_flow(flow: Flow) -> Flow:
    """With names that can be shown."""
    return Flow(
        columns=tuple(
            FlowColumn(each.heading, visible(each.note), tuple((visible(name), number) for name, number in each.piles))
            for each in flow.columns
        ),
        links=tuple(
            FlowLink(each.column, visible(each.origin), visible(each.target), each.ballots) for each in flow.links
        ),
        order=tuple(map(visible, flow.order)),
        winner=visible(flow.winner),
        plain=tuple(map(visible, flow.plain)),
        description=visible(flow.description, 1000),
    )


def printable_map(drawn: Map) -> Map:
    """With names that can be shown."""
    across, up = map(visible, drawn.columns)
    return replace(drawn, columns=(across, up), description=visible(drawn.description, 1000))


def _panels(drawing: Bars) -> list[Panel]:
    panels: dict[str, list[Bar]] = {}
    for bar in drawing.bars:
        label = "" if bar.value is None else plain(bar.value)
        panels.setdefault(visible(bar.panel), []).append(Bar(visible(bar.label), bar.value, bar.low, bar.high, label))
    return [Panel(title, tuple(bars)) for title, bars in panels.items()]


def _description(drawing: Bars) -> str:
    """The chart for somebody who cannot see it."""
    with_numbers = [bar for bar in drawing.bars if bar.value is not None]
    most = max(with_numbers, key=lambda bar: bar.value or 0)
    where = visible(" in ".join(filter(None, (most.label, most.panel))), 1000)
    return f"{len(with_numbers):,} bars; the longest is {plain(most.value or 0)}, at {where}. The table below has the numbers."


def _caption(drawing: Bars, *, arrows: bool) -> str:
    visible = [bar for bar in drawing.bars if bar.value is not None]
    keys = [f'<i class="bar"></i> {sentence(drawing.bar)}']
    if any(bar.low != bar.high for bar in visible):
        keys.append(f'<i class="line"></i> {sentence(drawing.line)}')
    if len(visible) < len(drawing.bars):
        keys.append('<i class="gap"></i> Hidden: the pale bar is where the number may lie.')
    if arrows:
        keys.append('<i class="arrow"></i> An arrow: it goes on beyond the axis.')
    if drawing.note:
        keys.append(sentence(drawing.note))
    return "<br>".join(keys)
