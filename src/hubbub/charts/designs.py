"""Designs that reach one promise: how far off a published number is, by sampling rate and by channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hubbub.charts.style import BLUE, GREY, INK, ORANGE, PALE, VERMILLION, Rows, load_altair, titled

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

COLOURS = (BLUE, VERMILLION, ORANGE, GREY, "#009E73", "#CC79A7")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def designs_chart(rows: Rows, *, title: str, subtitle: Sequence[str]) -> Chart:
    """Each row has `channel` (words), `rate` (None: everybody), `error` and `label` (what the mark stands for)."""
    alt = load_altair()
    names = list(dict.fromkeys(str(row["channel"]) for row in rows))
    points = [{**row, "rate": 1.0 if row["rate"] is None else row["rate"]} for row in rows]
    rates = sorted({float(point["rate"]) for point in points})
    if len(rates) == 1:
        return _bars(points, title, subtitle)
    room = 0.06 * (rates[-1] - rates[0])
    x = alt.X(
        "rate:Q",
        title="share of people in the secret sample",
        scale=alt.Scale(domain=[max(rates[0] - room, 0), min(rates[-1] + room, 1.03)], nice=False, zero=False),
        axis=alt.Axis(format=".0%", grid=False, tickCount=6),
    )
    y = alt.Y(
        "error:Q", title="mean error of a published number, in people", scale=_scale([p["error"] for p in points])
    )
    colour = alt.Color(
        "channel:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])), legend=_strokes()
    )
    base = alt.Chart(alt.Data(values=points)).encode(x=x, y=y, color=colour, tooltip=["label:N", "error:Q"])
    lines = base.mark_line(strokeWidth=1.2, opacity=0.5)
    # Designs that reach one promise often come out alike: open marks of several sizes show all that coincide.
    dots = [
        base.transform_filter(alt.datum.channel == name).mark_point(
            filled=False, strokeWidth=2, opacity=1, shape=SHAPES[i % len(SHAPES)], size=260 - 190 * i / len(names)
        )
        for i, name in enumerate(names)
    ]
    best = min(points, key=lambda point: float(point["error"]))
    ring = (
        alt.Chart(alt.Data(values=[best]))
        .mark_point(size=620, color=INK, strokeWidth=1.2, strokeDash=[3, 3])
        .encode(x=x, y=y)
    )
    chart: Chart = titled(alt.layer(lines, *dots, ring).properties(width=600, height=360), title, subtitle)
    return chart


def _bars(points: list[dict[str, Any]], title: str, subtitle: Sequence[str]) -> Chart:
    """With one rate there is no axis of rates: a bar for each design, the best one dark."""
    alt = load_altair()
    least = min(float(point["error"]) for point in points)
    data = [
        {**point, "words": f"{float(point['error']):.3g}", "best": float(point["error"]) == least} for point in points
    ]
    axis = alt.Axis(labelLimit=420, ticks=False, domain=False, grid=False, labelPadding=8)
    y = alt.Y("label:N", sort=[str(point["label"]) for point in points], title=None, axis=axis)
    x = alt.X("error:Q", title="mean error of a published number, in people", axis=alt.Axis(tickCount=5))
    base = alt.Chart(alt.Data(values=data))
    bars = base.mark_bar(height=16).encode(
        x=x, y=y, color=alt.condition("datum.best", alt.value(BLUE), alt.value(PALE))
    )
    labels = base.mark_text(align="left", dx=5, color=INK).encode(x=x, y=y, text="words:N")
    chart: Chart = titled(alt.layer(bars, labels).properties(width=420, height=28 * len(data)), title, subtitle)
    return chart


def _strokes() -> Any:
    """Marks are drawn open, so the legend shows strokes."""
    return load_altair().Legend(symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1)


def _scale(errors: Sequence[Any]) -> Any:
    alt = load_altair()
    values = [float(error) for error in errors]
    if min(values) > 0 and max(values) > 12 * min(values):
        return alt.Scale(type="log", domain=[min(values) / 1.3, max(values) * 1.3], nice=False)
    return alt.Scale(domain=[0, 1.08 * max([*values, 1e-9])], nice=True)
