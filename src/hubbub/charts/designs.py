"""Designs that reach one promise: how far off a published number is, by sampling rate and by channel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from hubbub.charts.chart import Chart, charted
from hubbub.charts.lines import Axes, Series, drawn_lines
from hubbub.charts.style import Rows
from hubbub.charts.svg import Bar, ChartLabels, Panel, drawn

ERROR: Final = "mean error of a published number, in people"


def designs_chart(rows: Rows, *, title: str, subtitle: Sequence[str]) -> Chart:
    """Each row has `channel` (words), `rate` (None: everybody), `error` and `label` (what the mark stands for)."""
    points = [{**row, "rate": 1.0 if row["rate"] is None else float(row["rate"])} for row in rows]
    if len({point["rate"] for point in points}) == 1:
        return _bars(points, title, subtitle)
    series = [
        Series(
            name=name,
            points=tuple((point["rate"], float(point["error"])) for point in mine),
            labels=tuple(f"{point['label']}: {float(point['error']):.3g}" for point in mine),
        )
        for name in dict.fromkeys(str(row["channel"]) for row in rows)
        for mine in [sorted((p for p in points if p["channel"] == name), key=lambda point: point["rate"])]
    ]
    best = min(points, key=lambda point: float(point["error"]))
    axes = Axes(
        title="Errors of designs",
        description=title,
        x="share of people in the secret sample",
        y=ERROR,
        percent=True,
        ring=(best["rate"], float(best["error"])),
        high=300,
    )
    return charted(partial(drawn_lines, series, axes), title, subtitle)


def _bars(points: Rows, title: str, subtitle: Sequence[str]) -> Chart:
    """With one rate there is no axis of rates: a bar for each design, the best one first."""
    best = sorted(points, key=lambda point: float(point["error"]))
    bars = tuple(
        Bar(str(point["label"]), error, error, error, f"{error:.3g}")
        for point in best
        for error in [float(point["error"])]
    )
    labels = ChartLabels(title="Errors of designs", description=title, by="", numbers=ERROR)
    return charted(partial(drawn, [Panel("", bars)], labels, upright=False), title, subtitle)
