"""Mechanisms against an attack, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hubbub.charts.style import BLUE, GREY, INK, PALE, VERMILLION, Rows, load_altair, titled

if TYPE_CHECKING:
    from hubbub.charts.style import Chart


def attack_chart(rows: Rows, *, chance: float, target: int, title: str, subtitle: Sequence[str]) -> Chart:
    """Mechanisms side by side: how often an attack succeeds, what the attacker believed once, and what it cost.

    Each row has `name`, `attack` (a probability), `beliefs` (one probability for each candidate; `target` is the right
    one), `error_rare` and `error_large`.
    """
    alt = load_altair()
    names = [str(row["name"]) for row in rows]
    height = 36 * len(rows)

    def y(*, labels: bool) -> Any:
        axis = alt.Axis(labelLimit=320, ticks=False, domain=False, labelPadding=8, labels=labels, grid=False)
        return alt.Y("name:N", sort=names, title=None, axis=axis)

    chart: Chart = titled(
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
    alt = load_altair()
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
    alt = load_altair()
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
    alt = load_altair()
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
