"""A channel's profile: what it claims and what is exactly so, by count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hubbub.charts.style import BLUE, PALE_ORANGE, SKY, VERMILLION, Rows, load_altair, titled

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

BARELY: Final = 1e-30  # a delta below this is not drawn
DECADES: Final = 9  # of a logarithmic axis; what lies deeper is marked at the bottom


def profile_chart(rows: Rows, what: str) -> Chart:
    """Claimed and exact delta by count; where every exact delta is 0 or as good as 0, the loss by count.

    `rows` are those of ``hubbub channel profile --json``; `what` names the channel.
    """
    if any(row["exact_delta"] > BARELY for row in rows):
        return _delta_chart(rows, what)
    return _loss_chart(rows, what)


def _delta_chart(rows: Rows, what: str) -> Chart:
    worst = max(rows, key=lambda row: float(row["exact_delta"]))
    bottom, top = _decades(rows, float(worst["exact_delta"]))
    names = ["claimed", "exact", f"exact, below 1e{bottom} or exactly 0"]
    claimed, published, buried = names
    points: list[dict[str, Any]] = []
    for position, row in enumerate(rows):
        count, promised, delta = row["count"], float(row["claimed_delta"]), float(row["exact_delta"])
        if promised >= 10.0**bottom:
            points.append({"count": count, "delta": promised, "which": claimed})
        deep = delta < 10.0**bottom
        seen = {"count": count, "delta": max(delta, 10.0**bottom), "which": buried if deep else published}
        points.append({**seen, "run": count - position})
    used = [name for name in names if any(point["which"] == name for point in points)]
    colours = dict(zip(names, (VERMILLION, BLUE, SKY), strict=True))
    alt = load_altair()
    every = max((top - bottom) // 5, 1)
    y = alt.Y(
        "delta:Q",
        title="delta at the claimed epsilon",
        scale=alt.Scale(type="log", domain=[10.0**bottom, 10.0**top]),
        axis=alt.Axis(format=".0e", values=[10.0**n for n in range(top, bottom - 1, -every)]),
    )
    colour = alt.Color("which:N", scale=alt.Scale(domain=used, range=[colours[name] for name in used]))
    base = alt.Chart(alt.Data(values=points)).encode(x=_people(rows), y=y, color=colour, tooltip=["count:Q", "delta:Q"])
    dash = base.transform_filter(alt.datum.which == claimed).mark_line(strokeWidth=2.5, strokeDash=[8, 4])
    line = base.transform_filter(alt.datum.which == published).mark_line(strokeWidth=1.5).encode(detail="run:N")
    dots = base.transform_filter(alt.datum.which != claimed).mark_point(filled=True, size=_dot(rows), opacity=1)
    layers = [dash, line, dots] if len(rows) > 1 else [base.mark_point(filled=True, size=90, opacity=1)]
    chart: Chart = titled(alt.layer(*layers).properties(width=640, height=340), _delta_message(worst), [what])
    return chart


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


def _loss_chart(rows: Rows, what: str) -> Chart:
    promised, exact = "promised", "exact"
    points = [
        {"count": row["count"], "loss": row[key], "which": which, "run": row["count"] - position}
        for which, key in ((promised, "epsilon"), (exact, "exact_epsilon"))
        for position, row in enumerate(rows)
        if row[key] not in (None, "inf")
    ]
    alt = load_altair()
    both = alt.Scale(domain=[promised, exact], range=[PALE_ORANGE, BLUE])
    y = alt.Y("loss:Q", title="privacy loss of one person", **_losses([float(point["loss"]) for point in points]))
    colour = alt.Color("which:N", scale=both)
    base = alt.Chart(alt.Data(values=points)).encode(x=_people(rows), y=y, color=colour, tooltip=["count:Q", "loss:Q"])
    ours, theirs = (base.transform_filter(alt.datum.which == name) for name in (promised, exact))
    line = ours.mark_line(interpolate="step", strokeWidth=9, strokeCap="round").encode(detail="run:N")
    wide = ours.mark_point(filled=True, size=110, opacity=1)  # a count without neighbours has no line
    dots = theirs.mark_point(filled=True, size=_dot(rows), opacity=1)
    layers = alt.layer(line, wide, dots).properties(width=640, height=340)
    chart: Chart = titled(layers, _loss_message(rows), [what, *_unpromised(rows)])
    return chart


def _losses(values: Sequence[float]) -> dict[str, Any]:
    """The axis of losses: logarithmic where they differ much."""
    alt = load_altair()
    if not values or min(values) == 0 or max(values) < 20 * min(values):
        return {"scale": alt.Scale(domain=[0, 1.1 * max([*values, 1e-6])], nice=True), "axis": alt.Axis(tickCount=6)}
    least, most = min(values) / 1.6, max(values) * 1.6
    marks = [m * 10.0**n for n in range(math.floor(math.log10(least)), math.ceil(math.log10(most))) for m in (1, 2, 5)]
    few = marks if len(marks) <= 12 else marks[::3]
    ticks = [round(mark, 12) for mark in few if least <= mark <= most]
    return {
        "scale": alt.Scale(type="log", domain=[least, most], nice=False),
        "axis": alt.Axis(values=ticks, format="~g"),
    }


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


def _people(rows: Rows) -> Any:
    """The axis of counts, with a little room at its ends."""
    alt = load_altair()
    counts = [int(row["count"]) for row in rows]
    room = max((max(counts) - min(counts)) * 0.02, 0.5)
    scale = alt.Scale(domain=[min(counts) - room, max(counts) + room], nice=False, zero=False)
    ticks = {"values": counts} if len(counts) <= 3 else {"tickMinStep": 1}
    axis = alt.Axis(format=",d", grid=False, **ticks)
    return alt.X("count:Q", title="people in the bin", axis=axis, scale=scale)


def _dot(rows: Rows) -> int:
    return 60 if len(rows) <= 40 else 26
