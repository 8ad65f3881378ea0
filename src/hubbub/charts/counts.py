"""Published counts with their intervals, bin by bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hubbub.charts.style import GREY, INK, SKY, Rows, configured, load_altair

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

_HIDDEN: Final = "#e4e8ec"
_ABREAST: Final = 3  # panels in a row
_PAGE: Final = 700  # pixels that a chart may be wide
_HIGH: Final = {"one": 260, "several": 105}
_LABEL: Final = 300  # pixels that a label beside a bar may be wide
_BETWEEN_LABELS: Final = 17  # pixels of an axis that one slanted label needs


def counts_chart(rows: Rows, *, by: str, numbers: str, upright: bool) -> Chart:
    """A bar for each published number, a line for its interval, and a pale bar where a hidden number may lie.

    Each row has `label`, `panel` (the same text everywhere: one panel), `value` (None: hidden), `low` and `high` (None:
    no upper end). `by` and `numbers` are the titles of the axes. Upright bars are for labels with an order of their
    own; of their labels only as many are written as fit.
    """
    alt = load_altair()
    panels = list(dict.fromkeys(str(row["panel"]) for row in rows))
    labels = list(dict.fromkeys(str(row["label"]) for row in rows))
    least, most = _ends(rows)
    wide = _width(labels, len(panels), upright=upright)
    across, along = ("x", "y") if upright else ("y", "x")
    bins = alt.X if upright else alt.Y
    size = alt.Y if upright else alt.X
    axis = _slanted(labels, wide) if upright else {"labelLimit": _LABEL, "labelPadding": 8}
    place = bins(
        "label:N",
        sort=labels,
        title=by if upright else None,
        axis=alt.Axis(ticks=upright, domain=upright, grid=False, **axis),
    )
    room = 1.0 if upright else 1.15  # for the number at the end of the bar
    scale = alt.Scale(domain=[least * room, most * room], nice=upright, zero=True)
    number = size("low:Q", title=numbers, scale=scale, axis=alt.Axis(format=",d", tickCount=4, tickMinStep=1))
    until = {f"{along}2": "high:Q"}

    def marks(which: str) -> Any:
        return alt.Chart().transform_filter(which)

    room_for_dashes = not upright or wide >= 12 * len(labels)
    empty = {"fill": _HIDDEN, "stroke": GREY if room_for_dashes else None, "strokeDash": [2, 2], "strokeWidth": 0.8}
    hidden = marks("datum.hidden").mark_bar(**empty).encode(**{across: place, along: number}, **until)
    shown = marks("!datum.hidden").mark_bar(color=SKY).encode(**{across: place, along: _swapped(number, "value:Q")})
    lines = marks("!datum.hidden && datum.low < datum.high").mark_rule(color=INK, strokeWidth=1.6)
    layers = [hidden, shown, lines.encode(**{across: place, along: number}, **until)]
    if not upright:
        words = {across: place, along: _swapped(number, "end:Q"), "text": "words:N"}
        text = alt.Chart().mark_text(align="left", dx=5, fontSize=11)
        colour = alt.condition("datum.hidden", alt.value(GREY), alt.value(INK))
        layers.append(text.encode(**words, color=colour))
    data = alt.Data(values=[_drawn(row, most) for row in rows])
    tall = _HIGH["one" if len(panels) == 1 else "several"] if upright else alt.Step(19)
    drawn = alt.layer(*layers, data=data).properties(width=wide, height=tall)
    if len(panels) > 1:
        header = alt.Header(title=None, labelAnchor="start", labelFontSize=12, labelFontWeight=600, labelColor=INK)
        drawn = drawn.facet(facet=alt.Facet("panel:N", sort=panels, header=header), columns=_ABREAST, spacing=18)
    chart: Chart = configured(drawn.properties(padding=6), aria=False)  # the page describes it once, as a whole
    return chart


def _width(labels: Sequence[str], panels: int, *, upright: bool) -> int:
    """Pixels for the bars of one panel, so that labels and panels together fill the page."""
    beside = 60 if upright else min(20 + 6 * max(map(len, labels)), _LABEL)
    abreast = min(panels, _ABREAST)
    return int((_PAGE - beside) / abreast) - 18


def _ends(rows: Rows) -> tuple[float, float]:
    """The least and the most that the axis of numbers must hold: what is hidden may lie beyond."""
    shown = [row for row in rows if row["value"] is not None]
    most = [end for row in shown for end in (row["value"], row["high"]) if end is not None]
    return min([0, *(row["value"] for row in shown)]), max([1, *most])


def _drawn(row: Mapping[str, Any], most: float) -> dict[str, Any]:
    hidden = row["value"] is None
    high = most if row["high"] is None else min(row["high"], most)
    words = "hidden" if hidden else f"{row['value']:,}"
    end = high if hidden else max(row["value"], high)
    return {**row, "high": high, "low": min(row["low"], high), "hidden": hidden, "words": words, "end": max(end, 0)}


def _swapped(channel: Any, field: str) -> Any:
    """The same axis for another field."""
    other = channel.copy()
    other.shorthand = field
    return other


def _slanted(labels: Sequence[str], wide: int) -> dict[str, Any]:
    """The labels that fit beside each other: every so many, and always the last, which may be no number."""
    every = -(-len(labels) * _BETWEEN_LABELS // wide)
    chosen = [label for i, label in enumerate(labels[:-1]) if i % every == 0 and i + every < len(labels)]
    angle = {"labelAngle": -40, "labelAlign": "right", "labelBaseline": "middle", "labelPadding": 4}
    return {"values": [*chosen, labels[-1]], "labelLimit": 120, "labelOverlap": False, **angle}
