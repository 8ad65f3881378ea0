"""What sampling buys: delta against epsilon, ours and the paper's."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from hubbub.charts.chart import Chart, charted
from hubbub.charts.lines import Axes, Series, drawn_lines
from hubbub.charts.style import Rows

OURS, PAPER = "ours", "the paper's, with exact tails"
DEEPEST: Final = -16  # the power of ten below which nothing is drawn


def amplification_chart(rows: Rows, what: str, *, floor: float) -> Chart:
    """Two falling lines, and the delta that no epsilon goes below, if it is in sight.

    Each row has `epsilon`, `delta` and `paper_delta` (None where the paper says nothing).
    """
    series = amplification_series(rows)
    bottom, top = _decades([delta for each in series for _, delta in each.points])
    in_sight = 10.0**bottom <= floor <= 10.0**top
    axes = Axes(
        title="Delta against epsilon",
        description=message(rows),
        x="epsilon of everybody in the population",
        y="delta",
        up=(10.0**bottom, 10.0**top),
        log=True,
        rules=((floor, "no epsilon goes below"),) if in_sight else (),
        high=300,
    )
    return charted(partial(drawn_lines, series, axes), message(rows), [what])


def amplification_series(rows: Rows) -> list[Series]:
    """The lines, as far down as they are drawn."""
    found = []
    for which, key in ((OURS, "delta"), (PAPER, "paper_delta")):
        points = [(float(row["epsilon"]), float(row[key])) for row in rows if row[key] is not None]
        seen = tuple(point for point in points if point[1] >= 10.0**DEEPEST)
        if seen:
            found.append(Series(name=which, points=seen, marks=False, dashed=which == PAPER))
    return found


def message(rows: Rows) -> str:
    """How much the sharp theorem gains, said at a delta of a millionth or at the lowest that both lines reach."""
    both = [row for row in rows if row["paper_delta"] is not None]
    if not both:
        return "delta falls as epsilon grows"
    last = next((row for row in both if float(row["paper_delta"]) <= 1e-6), both[-1])
    theirs = float(last["paper_delta"])
    ours = next((row for row in rows if float(row["delta"]) <= theirs), None)
    if ours is None or not float(last["epsilon"]):
        return "delta falls as epsilon grows"
    if not float(ours["epsilon"]):
        return f"Delta {theirs:.1g} takes no epsilon, where the paper promises {float(last['epsilon']):.2g}"
    share = 1 - float(ours["epsilon"]) / float(last["epsilon"])
    return f"At delta {theirs:.1g}, epsilon is {100 * share:.0f} % below what the paper promises"


def _decades(deltas: list[float]) -> tuple[int, int]:
    positive = [delta for delta in deltas if delta > 0] or [1.0]
    top = min(math.ceil(math.log10(max(positive)) + 1e-9), 0)
    return min(math.floor(math.log10(min(positive))), top - 1), top
