"""Charts: plain values in, a Vega-Lite chart out. The only file that knows Altair, and it loads it late.

Charts are drawn from what a command prints, never from the data behind it. The colours are those of Okabe and Ito,
which people with any colour vision tell apart, and shape or dashes say the same again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hubbub.errors import WrongUse

if TYPE_CHECKING:
    import altair

    Chart: TypeAlias = altair.Chart | altair.LayerChart | altair.HConcatChart

BLUE, VERMILLION, ORANGE, GREY = "#0072B2", "#D55E00", "#E69F00", "#6b7280"
SKY, PALE_ORANGE, PALE = "#9fd0ee", "#f5c49f", "#b9c0c8"
INK: Final = "#1f2933"

ENDINGS: Final = (".html", ".png", ".svg", ".json")
BARELY: Final = 1e-30  # a delta below this is not drawn
DECADES: Final = 9  # of a logarithmic axis; what lies deeper is marked at the bottom

_MENU: Final = {"export": True, "source": False, "compiled": False, "editor": False}  # the editor is a web page
_SAVING: Final[Mapping[str, Mapping[str, Any]]] = {
    "html": {"inline": True, "embed_options": {"actions": _MENU}},
    "png": {"scale_factor": 2},
}

Rows: TypeAlias = Sequence[Mapping[str, Any]]


def available() -> bool:
    """Whether charts can be drawn here."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def ready(path: str | Path) -> None:
    """Raise, before any work is done, if a chart cannot be drawn or `path` has an ending we do not write."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise WrongUse(
            f"a chart file must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not {Path(path).name[:60]!r}"
        )
    if not available():
        raise WrongUse(
            "charts need altair and vl-convert, which are not installed; get them with: pip install 'hubbub[charts]'"
        )


def save(chart: Chart, path: str | Path) -> None:
    """Write the chart; an HTML file carries all its code inside and opens without a network."""
    ready(path)
    kind = Path(path).suffix.lower().removeprefix(".")
    options = _SAVING.get(kind, {})
    try:
        chart.save(str(path), format=kind, **options)  # type: ignore[arg-type]
    except OSError as error:
        raise WrongUse(
            f"the chart cannot be written to {path}: {error.strerror or error}; choose another file"
        ) from error


def _altair() -> ModuleType:
    import altair

    return altair


def _styled(chart: Any, title: str, subtitle: Sequence[str]) -> Any:
    """Title and fonts, the same for every chart."""
    return chart.properties(
        title={"text": title, "subtitle": list(subtitle), "anchor": "start", "frame": "group", "offset": 14},
        padding=16,
    ).configure(  # in one call, because each copies the chart with its data
        font="Helvetica, Arial, sans-serif",
        background="white",
        title={
            "fontSize": 17,
            "fontWeight": 600,
            "color": INK,
            "subtitleFontSize": 13,
            "subtitleColor": GREY,
            "subtitlePadding": 5,
        },
        axis={
            "labelFontSize": 12,
            "labelColor": INK,
            "titleFontSize": 13,
            "titleFontWeight": 500,
            "titleColor": INK,
            "titlePadding": 9,
            "gridColor": "#e8ebee",
            "domainColor": PALE,
            "tickColor": PALE,
        },
        legend={
            "orient": "top",
            "title": None,
            "offset": 8,
            "labelFontSize": 13,
            "labelColor": INK,
            "labelLimit": 400,
            "symbolSize": 110,
            "symbolType": "circle",
            "symbolStrokeWidth": 0,
        },
        view={"stroke": None},
    )


# --- a channel's profile ----------------------------------------------------------------------------------------


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
    claimed, shown, buried = names
    points: list[dict[str, Any]] = []
    for place, row in enumerate(rows):
        count, promised, delta = row["count"], float(row["claimed_delta"]), float(row["exact_delta"])
        if promised >= 10.0**bottom:
            points.append({"count": count, "delta": promised, "which": claimed})
        deep = delta < 10.0**bottom
        seen = {"count": count, "delta": max(delta, 10.0**bottom), "which": buried if deep else shown}
        points.append({**seen, "run": count - place})
    used = [name for name in names if any(point["which"] == name for point in points)]
    colours = dict(zip(names, (VERMILLION, BLUE, SKY), strict=True))
    alt = _altair()
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
    line = base.transform_filter(alt.datum.which == shown).mark_line(strokeWidth=1.5).encode(detail="run:N")
    dots = base.transform_filter(alt.datum.which != claimed).mark_point(filled=True, size=_dot(rows), opacity=1)
    layers = [dash, line, dots] if len(rows) > 1 else [base.mark_point(filled=True, size=90, opacity=1)]
    chart: Chart = _styled(alt.layer(*layers).properties(width=640, height=340), _delta_message(worst), [what])
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
    shown = [float(row[key]) for row in rows for key in ("claimed_delta", "exact_delta") if row[key]]
    top = math.ceil(math.log10(max(shown)) + 0.1)
    least = min(delta for delta in shown if delta >= worst * 10.0**-DECADES)
    return max(math.floor(math.log10(least) - 0.1), top - DECADES - 1), top


def _loss_chart(rows: Rows, what: str) -> Chart:
    promised, exact = "promised", "exact"
    points = [
        {"count": row["count"], "loss": row[key], "which": which, "run": row["count"] - place}
        for which, key in ((promised, "epsilon"), (exact, "exact_epsilon"))
        for place, row in enumerate(rows)
        if row[key] not in (None, "inf")
    ]
    alt = _altair()
    both = alt.Scale(domain=[promised, exact], range=[PALE_ORANGE, BLUE])
    y = alt.Y("loss:Q", title="privacy loss of one person", **_losses([float(point["loss"]) for point in points]))
    colour = alt.Color("which:N", scale=both)
    base = alt.Chart(alt.Data(values=points)).encode(x=_people(rows), y=y, color=colour, tooltip=["count:Q", "loss:Q"])
    ours, theirs = (base.transform_filter(alt.datum.which == name) for name in (promised, exact))
    line = ours.mark_line(interpolate="step", strokeWidth=9, strokeCap="round").encode(detail="run:N")
    wide = ours.mark_point(filled=True, size=110, opacity=1)  # a count without neighbours has no line
    dots = theirs.mark_point(filled=True, size=_dot(rows), opacity=1)
    layers = alt.layer(line, wide, dots).properties(width=640, height=340)
    chart: Chart = _styled(layers, _loss_message(rows), [what, *_unpromised(rows)])
    return chart


def _losses(values: Sequence[float]) -> dict[str, Any]:
    """The axis of losses: logarithmic where they differ much."""
    alt = _altair()
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
    alt = _altair()
    counts = [int(row["count"]) for row in rows]
    room = max((max(counts) - min(counts)) * 0.02, 0.5)
    scale = alt.Scale(domain=[min(counts) - room, max(counts) + room], nice=False, zero=False)
    ticks = {"values": counts} if len(counts) <= 3 else {"tickMinStep": 1}
    axis = alt.Axis(format=",d", grid=False, **ticks)
    return alt.X("count:Q", title="people in the bin", axis=axis, scale=scale)


def _dot(rows: Rows) -> int:
    return 60 if len(rows) <= 40 else 26


# --- mechanisms against an attack -------------------------------------------------------------------------------


def attack_chart(rows: Rows, *, chance: float, target: int, title: str, subtitle: Sequence[str]) -> Chart:
    """Mechanisms side by side: how often an attack succeeds, what the attacker believed once, and what it cost.

    Each row has `name`, `attack` (a probability), `beliefs` (one probability for each candidate; `target` is the right
    one), `error_rare` and `error_large`.
    """
    alt = _altair()
    names = [str(row["name"]) for row in rows]
    height = 36 * len(rows)

    def y(*, labels: bool) -> Any:
        axis = alt.Axis(labelLimit=320, ticks=False, domain=False, labelPadding=8, labels=labels, grid=False)
        return alt.Y("name:N", sort=names, title=None, axis=axis)

    chart: Chart = _styled(
        alt.hconcat(
            _attacks(rows, chance, y(labels=True)).properties(width=210, height=height),
            _beliefs(rows, target, y(labels=False)).properties(width=330, height=height),
            _errors(rows, y(labels=False)).properties(width=250, height=height),
            spacing=26,
        ).resolve_scale(color="independent"),
        title,
        subtitle,
    )
    return chart


def _attacks(rows: Rows, chance: float, y: Any) -> Any:
    alt = _altair()
    values = [{"name": row["name"], "attack": row["attack"], "label": f"{100 * row['attack']:.1f} %"} for row in rows]
    data = alt.Chart(alt.Data(values=values))
    x = alt.X(
        "attack:Q",
        title="the best attack finds the bin",
        axis=alt.Axis(format=".0%", values=[0, 0.5, 1]),
        scale=alt.Scale(domain=[0, 1.22], nice=False),
    )
    found = alt.condition(alt.datum.attack > 0.5, alt.value(VERMILLION), alt.value(BLUE))
    bars = data.mark_bar(height=16).encode(x=x, y=y, color=found, tooltip=["name:N", "label:N"])
    labels = data.mark_text(align="left", dx=6, fontSize=12, color=INK).encode(x=x, y=y, text="label:N")
    rule = alt.Chart(alt.Data(values=[{"attack": chance}])).mark_rule(color=INK, strokeDash=[3, 3]).encode(x="attack:Q")
    return alt.layer(bars, labels, rule)


def _beliefs(rows: Rows, target: int, y: Any) -> Any:
    alt = _altair()
    cells = [
        {"name": row["name"], "candidate": i + 1, "belief": belief}
        for row in rows
        for i, belief in enumerate(row["beliefs"])
    ]
    ring = [{"name": row["name"], "candidate": target + 1} for row in rows]
    x = alt.X(
        "candidate:O",
        title="what the attacker believed after one release (ring: the truth)",
        axis=alt.Axis(values=[1, 10, 20, 30, 40], labelAngle=0, ticks=False, domain=False),
        scale=alt.Scale(padding=0.08),
    )
    shade = alt.Color(
        "belief:Q",
        scale=alt.Scale(type="sqrt", domain=[0, 1], range=["#eef3f7", "#08306b"]),
        legend=alt.Legend(format=".0%", values=[0, 0.05, 0.25, 1], gradientLength=180, direction="horizontal"),
    )
    strip = (
        alt.Chart(alt.Data(values=cells))
        .mark_rect(height=18)
        .encode(x=x, y=y, color=shade, tooltip=["name:N", "candidate:O", "belief:Q"])
    )
    truth = alt.Chart(alt.Data(values=ring)).mark_point(size=120, shape="circle", color=VERMILLION, strokeWidth=2)
    return alt.layer(strip, truth.encode(x=x, y=y))


def _errors(rows: Rows, y: Any) -> Any:
    alt = _altair()
    kinds = {"error_rare": "crowds up to 100", "error_large": "crowds above 100"}
    values = [
        {"name": row["name"], "crowd": kind, "error": row[key], "label": f"{row[key]:.1f}"}
        for row in rows
        for key, kind in kinds.items()
    ]
    data = alt.Chart(alt.Data(values=values))
    most = max(float(value["error"]) for value in values)
    x = alt.X(
        "error:Q",
        title="mean error of an ordinary bin",
        scale=alt.Scale(domain=[0, 1.18 * most], nice=False),
        axis=alt.Axis(tickCount=4),
    )
    order = list(kinds.values())
    offset = alt.YOffset("crowd:N", sort=order)
    shade = alt.Color("crowd:N", scale=alt.Scale(domain=order, range=[PALE, GREY]), sort=order)
    bars = data.mark_bar(height=11).encode(x=x, y=y, yOffset=offset, color=shade)
    labels = data.mark_text(align="left", dx=5, fontSize=11, color=INK).encode(x=x, y=y, yOffset=offset, text="label:N")
    return alt.layer(bars, labels)
