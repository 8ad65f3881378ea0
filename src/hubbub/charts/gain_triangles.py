"""What a lie gains over a triangle of beliefs, a triangle for each rule, and what the rule elects below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hubbub.charts.style import GREY, INK, ORANGE, VERMILLION, Rows, load_altair, titled

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

_WIDE: Final = 230  # pixels of a triangle's side
_ROOM: Final = 26  # pixels around it, for the corners' names
_HEXAGON: Final = "M0,-1L0.866,-0.5L0.866,0.5L0,1L-0.866,0.5L-0.866,-0.5Z"
_LEAST: Final = 1e-6  # gains below it have one colour
_HEAT: Final = ("#fdf3dd", ORANGE, VERMILLION, "#6e2300")


def gain_triangles(
    cells: Rows,
    polls: Rows,
    *,
    rules: Sequence[str],
    headings: Sequence[Sequence[str]],
    labels: Sequence[str],
    steps: int,
    title: str,
    subtitle: Sequence[str],
) -> Chart:
    """Each cell has `rule`, `weights` (three shares), `gain`, `told` (in words) and `efficiency` (None: not known).

    `polls` have `weights` and `label`; `headings` stand above the triangles, lines for each of `rules`.
    """
    alt = load_altair()
    most = max([float(cell["gain"]) for cell in cells] + [10 * _LEAST])
    gain = alt.Color(
        "shown:Q",
        scale=alt.Scale(type="log", domain=_decades(most), clamp=True, range=[*_HEAT]),
        legend=_legend("what the best lie gains", ".0e"),
    )
    known = [cell["efficiency"] for cell in cells if cell["efficiency"] is not None]
    least = min([0.9, *known])
    elects = alt.Color(
        "efficiency:Q",
        scale=alt.Scale(domain=[least, 1.0], scheme="blues", reverse=True),
        legend=_legend("how often the Condorcet winner is elected", ".0%"),
    )
    tall = []
    for colour, named in ((gain, True), (elects, False)):
        if not named and not known:
            continue
        wide = [
            _triangle(
                [cell for cell in cells if cell["rule"] == rule], polls, colour, labels, steps, heading if named else ()
            )
            for rule, heading in zip(rules, headings, strict=True)
        ]
        tall.append(alt.hconcat(*wide, spacing=18).resolve_scale(color="shared"))
    chart: Chart = titled(alt.vconcat(*tall, spacing=14).resolve_scale(color="independent"), title, subtitle)
    return chart


def _decades(most: float) -> list[float]:
    """Where the colours of a scale in powers of ten stand."""
    wide = math.log10(most / _LEAST)
    return [_LEAST * 10 ** (wide * part / (len(_HEAT) - 1)) for part in range(len(_HEAT))]


def _legend(title: str, form: str) -> Any:
    return load_altair().Legend(
        title=title, orient="right", format=form, gradientLength=150, titleFontSize=12, titleColor=INK, titleLimit=260
    )


def _triangle(cells: Rows, polls: Rows, colour: Any, labels: Sequence[str], steps: int, heading: Sequence[str]) -> Any:
    alt = load_altair()
    high = _WIDE * math.sqrt(3) / 2
    x = {"scale": alt.Scale(domain=[-_ROOM, _WIDE + _ROOM], nice=False, zero=False), "axis": None}
    y = {"scale": alt.Scale(domain=[high + _ROOM, -_ROOM], nice=False, zero=False), "axis": None}

    def drawn(values: Sequence[Any]) -> Any:
        return alt.Chart(alt.Data(values=list(values)))

    points = [
        {**cell, **_coordinates(cell["weights"], high), "shown": max(float(cell["gain"]), _LEAST)} for cell in cells
    ]
    radius = _WIDE / steps / math.sqrt(3)
    hexagons = (
        drawn(points)
        .mark_point(shape=_HEXAGON, filled=True, opacity=1, size=4 * radius * radius, strokeWidth=0)
        .encode(x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), color=colour, tooltip=["told:N"])
    )
    names = []
    for label, weights in zip(labels, ((1, 0, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        away = -radius - 12 if weights[2] else radius + 16
        end = drawn([{**_coordinates(weights, high), "text": label}])
        names.append(
            end.mark_text(dy=away, fontSize=13, color=INK).encode(
                x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), text="text:N"
            )
        )
    seen = drawn([{**poll, **_coordinates(poll["weights"], high)} for poll in polls])
    marks = [
        seen.mark_point(shape="diamond", size=90, filled=False, color=INK, strokeWidth=2, opacity=1).encode(
            x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), tooltip=["label:N"]
        )
    ]
    layers = alt.layer(hexagons, *names, *(marks if polls else []))
    head: dict[str, Any] = {
        "text": list(heading),
        "anchor": "middle",
        "fontSize": 14,
        "fontWeight": 500,
        "color": INK,
        "offset": 2,
    }
    if not heading:
        head = {"text": " ", "fontSize": 4, "color": GREY}
    return layers.properties(width=_WIDE + 2 * _ROOM, height=high + 2 * _ROOM, title=head)


def _coordinates(weights: Sequence[float], high: float) -> dict[str, float]:
    """Where a belief stands: the first corner left, the second right, the third on top."""
    a, b, c = (float(weight) for weight in weights)
    total = a + b + c
    return {"x": _WIDE * (b + c / 2) / total, "y": high * (1 - c / total)}
