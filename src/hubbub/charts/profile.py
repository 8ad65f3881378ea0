"""A channel's profile: what it claims and what is exactly so, by count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from hubbub.charts.chart import Chart, charted
from hubbub.charts.lines import Axes, Series, drawn_lines
from hubbub.charts.style import Rows

BARELY: Final = 1e-30  # a delta below this is not drawn
DECADES: Final = 9  # of a logarithmic axis; what lies deeper is marked at the bottom
CLAIMED, EXACT, PROMISED = "claimed", "exact", "promised"
_HIGH: Final = 300


def profile_chart(rows: Rows, what: str) -> Chart:
    """Claimed and exact delta by count; where every exact delta is 0 or as good as 0, the loss by count.

    `rows` are those of ``hubbub channel profile --json``; `what` names the channel.
    """
    if any(row["exact_delta"] > BARELY for row in rows):
        series, axes = delta_lines(rows)
        return charted(partial(drawn_lines, series, axes), axes.description, [what])
    series, axes = loss_lines(rows)
    return charted(partial(drawn_lines, series, axes), axes.description, [what, *_unpromised(rows)])


def delta_lines(rows: Rows) -> tuple[list[Series], Axes]:
    """What is claimed, what is exactly so, and at the bottom what is too small to be drawn."""
    worst = max(rows, key=lambda row: float(row["exact_delta"]))
    bottom, top = _decades(rows, float(worst["exact_delta"]))
    least = 10.0**bottom
    claimed = [(row["count"], float(row["claimed_delta"])) for row in rows if float(row["claimed_delta"]) >= least]
    exact = [(row["count"], float(row["exact_delta"])) for row in rows]
    shown = tuple(point for point in exact if point[1] >= least)
    buried = tuple((count, least) for count, delta in exact if delta < least)
    series = [
        Series(name=CLAIMED, points=tuple(claimed), marks=len(rows) == 1, dashed=True),
        Series(
            name=EXACT, points=shown, line=_unbroken(shown), labels=tuple(f"{n:,}: {delta:.3g}" for n, delta in shown)
        ),
        Series(name=f"exact, below 1e{bottom} or exactly 0", points=buried, line=False),
    ]
    axes = Axes(
        title="Delta by count",
        description=_delta_message(worst),
        x="people in the bin",
        y="delta at the claimed epsilon",
        up=(least, 10.0**top),
        log=True,
        high=_HIGH,
    )
    return [each for each in series if each.points], axes


def _unbroken(points: tuple[tuple[int, float], ...]) -> bool:
    """Whether every count between the first and the last is there, so that a line says nothing that is not so."""
    return bool(points) and points[-1][0] - points[0][0] + 1 == len(points)


def _delta_message(worst: Mapping[str, Any]) -> str:
    ratio = float(worst["claimed_delta"]) / float(worst["exact_delta"])
    if ratio < 1:
        return f"The claim fails at {worst['count']:,} people: the exact delta is {worst['exact_delta']:.3g}"
    if ratio < 1.05:
        return f"At worst, at {worst['count']:,} people, the exact delta all but meets the claim"
    return f"At worst, at {worst['count']:,} people, the exact delta is {ratio:.3g} times below the claim"


def _decades(rows: Rows, worst: float) -> tuple[int, int]:
    """The powers of ten at the ends of a logarithmic axis: (bottom, top)."""
    positive = [float(row[key]) for row in rows for key in ("claimed_delta", "exact_delta") if row[key]]
    top = math.ceil(math.log10(max(positive)) + 0.1)
    least = min(delta for delta in positive if delta >= worst * 10.0**-DECADES)
    return max(math.floor(math.log10(least) - 0.1), top - DECADES - 1), top


def loss_lines(rows: Rows) -> tuple[list[Series], Axes]:
    """What one person may lose and what they do, by count."""
    series = []
    for which, key in ((PROMISED, "epsilon"), (EXACT, "exact_epsilon")):
        points = tuple((row["count"], float(row[key])) for row in rows if row[key] not in (None, "inf"))
        labels = tuple(f"{count:,}: {loss:.4g}" for count, loss in points)
        line = which == PROMISED and _unbroken(points)
        series.append(
            Series(name=which, points=points, labels=labels, broad=which == PROMISED, line=line, marks=not line)
        )
    axes = Axes(
        title="Loss by count",
        description=_loss_message(rows),
        x="people in the bin",
        y="privacy loss of one person",
        high=_HIGH,
    )
    return [each for each in series if each.points], axes


def _loss_message(rows: Rows) -> str:
    delta = f"below {BARELY:g}" if any(row["exact_delta"] for row in rows) else "exactly 0"
    compared = [row for row in rows if row["epsilon"] != "inf" and row["exact_epsilon"] is not None]
    if compared and all(row["epsilon"] == row["exact_epsilon"] for row in compared):
        return f"Delta is {delta}, and the loss is exactly what is promised"
    return f"Delta is {delta} at every count"


def _unpromised(rows: Rows) -> list[str]:
    silent = [int(row["count"]) for row in rows if row["epsilon"] == "inf"]
    if not silent:
        return []
    upto = f" to {max(silent):,}" if len(silent) > 1 else ""
    return [f"nothing is promised to people in crowds of {min(silent):,}{upto}"]
