"""The picture of a release with its caption, or the reason why there is none. It draws published values alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from hubbub.charts.chart import Chart, charted
from hubbub.charts.language import kept_english, localized, translate, word
from hubbub.charts.svg import Bar, ChartLabels, Look, Panel, drawn, goes_beyond, number
from hubbub.errors import WrongUse
from hubbub.protocol.drawing import Bars, Drawing, Flow, FlowColumn, FlowLink, Heat, Map, Mark
from hubbub.report.numbers import NO_LABELS, padded
from hubbub.report.text import in_signs, sentence, visible

if TYPE_CHECKING:
    from hubbub.protocol.release import Release

NOT_DRAWN: Final = "There is no chart, because it could not be drawn when this page was made."
_TOO_NARROW: Final = "Where none is seen, it is narrower than the mark of its number."
_COLOURS: Final = "; the stronger the colour, the larger"
_OURS: Final = ("(missing)", "(empty text)")  # where a bin has no label
_BARS: Final = {Mark.BAR: "bar", Mark.LINE: "series", Mark.POINT: "point", Mark.RANGE: "tick"}
_LINES: Final = {Mark.BAR: "line", Mark.LINE: "band", Mark.POINT: "line", Mark.RANGE: "bar"}
_SEEN: Final = {
    Mark.BAR: 80,
    Mark.LINE: 40,
    Mark.POINT: 25,
    Mark.RANGE: 80,
}  # parts of an axis: one is seen on a telephone


def picture(drawing: Drawing | None, labels: Mapping[str, str] = NO_LABELS) -> str:
    """The chart with its caption as HTML; `labels` are given to columns."""
    if drawing is None:
        return f"<p>{translate('There is nothing to draw.')}</p>"
    drawing = _labelled(drawing, labels)
    chart = _chart(drawing)
    return (
        f"<figure>\n{chart.wide}\n{chart.narrow}\n<figcaption>{'<br>'.join(_caption(drawing))}</figcaption>\n</figure>"
    )


def _labelled(drawing: Drawing, labels: Mapping[str, str]) -> Drawing:
    """With the names that columns were given."""
    match drawing:
        case Bars():
            return replace(drawing, by=labels.get(drawing.by, drawing.by))
        case Heat():
            rows, columns = (labels.get(each, each) for each in drawing.by)
            return replace(drawing, by=(rows, columns))
        case Map():
            across, up = (labels.get(each, each) for each in drawing.columns)
            return replace(drawing, columns=(across, up))
    return drawing


def chart_of(release: Release) -> Chart:
    """The picture of a release as a chart that stands alone."""
    drawing = release.result.drawing()
    if drawing is None:
        raise WrongUse("this release has no picture: no number of it is shown, or it is no table of numbers")
    below = [re.sub("<[^>]*>", "", line).strip() for line in _caption(drawing)]
    return replace(_chart(drawing), title=visible(release.bound.description.title, 400), below=tuple(below))


def _chart(drawing: Drawing) -> Chart:
    match drawing:
        case Flow():
            from hubbub.charts.flow_svg import drawn as drawn_flow

            return charted(partial(drawn_flow, printable_flow(drawing)), "", [])
        case Map():
            from hubbub.charts.map_svg import drawn as drawn_map

            return charted(partial(drawn_map, printable_map(drawing)), "", [])
        case Heat():
            from hubbub.charts.heat import drawn_heat

            return charted(partial(drawn_heat, printable_heat(drawing)), "", [])
        case Bars():
            words = ChartLabels(
                title="The published numbers",
                description=_description(drawing),
                by=visible(drawing.by),
                numbers=visible(word(in_signs(drawing.numbers))),
            )
            return charted(partial(drawn, _panels(drawing), words, look=look_of(drawing)), "", [])


def look_of(drawing: Bars) -> Look:
    """How its numbers are drawn."""
    return Look(
        mark=drawing.mark,
        upright=drawing.upright,
        percent=drawing.percent,
        span=drawing.span,
        own_scale=drawing.own_scale,
    )


def _label(text: str) -> str:
    """A label as it is, but for words of ours."""
    return word(text) if text in _OURS else text


def printable_heat(heat: Heat) -> Heat:
    """With names that can be shown."""
    rows, columns = visible(heat.by[0]), visible(heat.by[1])
    return replace(
        heat,
        by=(rows, columns),
        rows=tuple(visible(_label(each)) for each in heat.rows),
        columns=tuple(visible(_label(each)) for each in heat.columns),
        numbers=word(in_signs(heat.numbers)),
    )


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
    texts = padded(["" if bar.value is None else number(bar.value, percent=drawing.percent) for bar in drawing.bars])
    for bar, words in zip(drawing.bars, texts, strict=True):
        note = translate("not usable") if bar.unknown else localized(words)
        mark = Bar(visible(_label(bar.label)), bar.value, bar.low, bar.high, note, bar.apart)
        panels.setdefault(visible(bar.panel), []).append(mark)
    return [Panel(title, tuple(bars)) for title, bars in panels.items()]


def _description(drawing: Bars) -> str:
    """The chart for somebody who cannot see it."""
    with_numbers = [bar for bar in drawing.bars if bar.value is not None]
    most = max(with_numbers, key=lambda bar: bar.value or 0)
    where = visible(" in ".join(filter(None, (most.label, most.panel))), 1000)
    largest = number(most.value or 0, percent=drawing.percent)
    if drawing.own_scale or len(with_numbers) == 1:
        return f"{len(with_numbers):,} published numbers with their intervals. The table below has them."
    return f"{len(with_numbers):,} numbers; the largest is {largest}, at {where}. The table below has them all."


def _words(text: str) -> str:
    """What a kind says, which is English."""
    return kept_english(sentence(text))


def _too_narrow(drawing: Bars) -> bool:
    """Whether some interval is not wide enough to be seen beside its mark."""
    shown = [bar for bar in drawing.bars if bar.value is not None]
    if drawing.own_scale or any(bar.high is None for bar in shown):
        return False
    ends = [end for bar in shown for end in (bar.low, bar.high or bar.low)]
    public = drawing.span if drawing.percent or drawing.mark is Mark.RANGE else None
    first, last = public or (min(ends) if drawing.mark is Mark.POINT else min(0, *ends), max(ends))
    return any(0 < (bar.high or bar.low) - bar.low < (last - first) / _SEEN[drawing.mark] for bar in shown)


def _caption(drawing: Drawing) -> list[str]:
    """What the marks mean, a line of HTML for each."""
    if isinstance(drawing, Flow | Map):
        return [_words(drawing.note)] if drawing.note else []
    if isinstance(drawing, Heat):
        cells = [cell for row in drawing.cells for cell in row if cell is not None]
        keys = [_words(f"{drawing.cell}{_COLOURS}").replace(_COLOURS, f'<bdi class="of-colours">{_COLOURS}</bdi>')]
        if any(cell.low != cell.high for cell in cells):
            keys.append(_words(drawing.line))
        return [*keys, *([_words(drawing.note)] if drawing.note else [])]
    shown = [bar for bar in drawing.bars if bar.value is not None]
    keys = [f'<i class="{_BARS[drawing.mark]}"></i> {_words(drawing.bar)}']
    if any(bar.low != bar.high for bar in shown):
        small = f" {translate(_TOO_NARROW)}" if _too_narrow(drawing) else ""
        keys.append(f'<i class="{_LINES[drawing.mark]}"></i> {_words(drawing.line)}{small}')
    if any(bar.value is None and not bar.unknown for bar in drawing.bars):
        keys.append(f'<i class="gap"></i> {translate("Hidden: the pale bar is where the number may lie.")}')
    if any(bar.unknown for bar in drawing.bars):
        keys.append(
            '<i class="gap"></i> '
            + translate(
                "Not usable: too few people, or nobody, for the noise; the pale bar is where the number may lie."
            )
        )
    if goes_beyond(_panels(drawing), look_of(drawing)):
        keys.append(f'<i class="arrow"></i> {translate("An arrow: it goes on beyond the axis.")}')
    return [*keys, *([_words(drawing.note)] if drawing.note else [])]
