"""What sampling buys: delta against epsilon, ours and the paper's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from hubbub.charts.style import BLUE, GREY, VERMILLION, Rows, load_altair, titled

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

OURS, PAPER = "ours", "the paper's, with exact tails"
DEEPEST: Final = -16  # the power of ten below which nothing is drawn


def amplification_chart(rows: Rows, what: str, *, floor: float) -> Chart:
    """Two falling lines, and the delta that no epsilon goes below, if it is in sight.

    Each row has `epsilon`, `delta` and `paper_delta` (None where the paper says nothing).
    """
    alt = load_altair()
    points = [
        {"epsilon": row["epsilon"], "delta": row[key], "which": which}
        for which, key in ((OURS, "delta"), (PAPER, "paper_delta"))
        for row in rows
        if row[key] is not None and float(row[key]) >= 10.0**DEEPEST
    ]
    names = [name for name in (OURS, PAPER) if any(point["which"] == name for point in points)]
    colours = {OURS: BLUE, PAPER: VERMILLION}
    bottom, top = _decades([float(point["delta"]) for point in points])
    x = alt.X(
        "epsilon:Q",
        title="epsilon of everybody in the population",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(grid=False, tickCount=8),
    )
    every = max(1, math.ceil((top - bottom) / 8))
    y = alt.Y(
        "delta:Q",
        title="delta",
        scale=alt.Scale(type="log", domain=[10.0**bottom, 10.0**top], nice=False),
        axis=alt.Axis(values=[10.0**n for n in range(bottom, top + 1, every)], format="~e"),
    )
    scale = alt.Scale(domain=names, range=[colours[name] for name in names])
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1)
    tips = ["which:N", alt.Tooltip("epsilon:Q", format=".4g"), alt.Tooltip("delta:Q", format=".3g")]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=x, y=y, color=alt.Color("which:N", scale=scale, legend=legend), tooltip=tips
    )
    layers: list[Any] = [
        base.transform_filter(alt.datum.which == name).mark_line(strokeWidth=2.6, strokeDash=dashes, clip=True)
        for name, dashes in ((OURS, [1, 0]), (PAPER, [6, 4]))
    ]
    if 10.0**bottom <= floor <= 10.0**top:
        mark = alt.Chart(alt.Data(values=[{"delta": floor, "says": "no epsilon goes below"}]))
        layers.append(mark.mark_rule(color=GREY, strokeDash=[2, 3]).encode(y="delta:Q"))
        layers.append(
            mark.mark_text(color=GREY, align="left", baseline="bottom", dx=4, dy=-3).encode(
                y="delta:Q", x=alt.value(0), text="says:N"
            )
        )
    chart: Chart = titled(alt.layer(*layers).properties(width=620, height=360), message(rows), [what])
    return chart


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
