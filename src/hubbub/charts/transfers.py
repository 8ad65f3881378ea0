"""The flow of ballots from round to round: piles as bars, what moves between them as bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hubbub.charts.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PALE_ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Rows,
    load_altair,
    titled,
)

if TYPE_CHECKING:
    from hubbub.charts.style import Chart

_COLOURS: Final = (BLUE, VERMILLION, ORANGE, GREEN, PURPLE, SKY, PALE_ORANGE)
_NOBODY: Final = "#dde2e7"
_BAR: Final = 15  # pixels that a pile is wide
_HIGH: Final = 430
_WIDE: Final = (640, 1080)  # the least and the most pixels from the first pile to the last
_STEP: Final = 165  # pixels from one column to the next, where there is room
_GAP: Final = 9  # pixels between piles
_LINE: Final = 15  # pixels that a label is high
_POINTS: Final = 24  # of the edge of a band
_HEAD: Final = 40  # pixels above the piles, for the headings
_LETTER: Final = 6.6  # pixels of a letter of a label


def transfers_chart(
    columns: Rows,
    links: Rows,
    *,
    order: Sequence[str],
    winner: str,
    plain: Sequence[str],
    title: str,
    subtitle: Sequence[str],
) -> Chart:
    """Piles round by round.

    Each column has `heading`, `note` and `piles`, a list of (name, ballots); each link has `column`, `origin`,
    `target` and `ballots`. `order` names all piles from the top; those in `plain` are no single candidates and are
    grey. With one column there is no flow, and bars with numbers are drawn.
    """
    alt = load_altair()
    if len(columns) == 1:
        return _one_count(columns[0]["piles"], winner, title, subtitle)
    shades = _shades(order, plain)
    step = min(max(_STEP, _WIDE[0] / (len(columns) - 1)), _WIDE[1] / (len(columns) - 1))
    room = _HIGH - _GAP * (max(len(column["piles"]) for column in columns) - 1)  # pixels for all ballots
    stacks = [_stack(column["piles"], i * step, room) for i, column in enumerate(columns)]
    bars = [
        {"x": x, "x2": x + _BAR, "y": top, "y2": end, "name": name, "ballots": ballots, "colour": shades[name]}
        for stack in stacks
        for name, (x, top, end, ballots) in stack.items()
    ]
    bands = [point for i, link in enumerate(_banded(links, stacks, order)) for point in _edge(link, i, shades)]
    wide = (len(columns) - 1) * step + _BAR
    left, right = _room(stacks[0]), _room(stacks[-1])
    x = {"scale": alt.Scale(domain=[-left, wide + right], nice=False, zero=False), "axis": None}
    y = {"scale": alt.Scale(domain=[_HIGH, -_HEAD], nice=False, zero=False), "axis": None}
    tip = ["name:N", alt.Tooltip("ballots:Q", format=",d")]

    def drawn(values: Sequence[Mapping[str, Any]]) -> Any:
        return alt.Chart(alt.Data(values=list(values)))

    colour = alt.Color("colour:N", scale=None, legend=None)
    layers = [
        drawn(bands)
        .mark_area(opacity=0.4, orient="vertical")
        .encode(
            x=alt.X("x:Q", **x),
            y=alt.Y("y:Q", stack=None, **y),
            y2="y2:Q",
            color=colour,
            detail="band:N",
            tooltip=tip,
        ),
        drawn(bars)
        .mark_rect(stroke="white", strokeWidth=0.6)
        .encode(x=alt.X("x:Q", **x), x2="x2:Q", y=alt.Y("y:Q", **y), y2="y2:Q", color=colour, tooltip=tip),
        *_labels(alt, drawn, stacks, columns, winner, x, y, step),
    ]
    chart: Chart = titled(
        alt.layer(*layers).properties(width=wide + left + right, height=_HIGH + _HEAD), title, subtitle
    )
    return chart


def _shades(order: Sequence[str], plain: Sequence[str]) -> dict[str, str]:
    single = [name for name in order if name not in plain]
    shades = {name: _COLOURS[i] if i < len(_COLOURS) else GREY for i, name in enumerate(single)}
    return shades | {name: PALE if i == 0 and len(plain) > 1 else _NOBODY for i, name in enumerate(plain)}


Stack = dict[str, tuple[float, float, float, int]]  # name -> x, top, end, ballots


def _stack(piles: Sequence[tuple[str, int]], x: float, room: float) -> Stack:
    """Piles from the top, their heights in proportion; all columns hold the same ballots, and so the same scale."""
    total = sum(ballots for _, ballots in piles) or 1
    out: Stack = {}
    top = 0.0
    for name, ballots in piles:
        end = top + room * ballots / total
        out[name] = (x, top, end, ballots)
        top = end + _GAP
    return out


def _banded(links: Rows, stacks: Sequence[Stack], order: Sequence[str]) -> list[dict[str, Any]]:
    """Links with their two ends, stacked on either side in the order of the piles."""
    rank = {name: i for i, name in enumerate(order)}
    out: list[dict[str, Any]] = []
    for column in range(len(stacks) - 1):
        here = sorted(
            (link for link in links if link["column"] == column),
            key=lambda link: (rank[link["origin"]], rank[link["target"]]),
        )
        starts = {name: pile[1] for name, pile in stacks[column].items()}
        ends = {name: pile[1] for name, pile in stacks[column + 1].items()}
        for link in here:
            origin, target, ballots = link["origin"], link["target"], link["ballots"]
            x, top, end, pile = stacks[column][origin]
            thick = (end - top) * ballots / pile
            target_pile = stacks[column + 1][target]
            out.append(
                {
                    "from": (x + _BAR, starts[origin]),
                    "to": (target_pile[0], ends[target]),
                    "thick": thick,
                    "origin": origin,
                    "name": f"{origin} to {target}" if origin != target else origin,
                    "ballots": ballots,
                }
            )
            starts[origin] += thick
            ends[target] += thick
    return out


def _edge(link: Mapping[str, Any], band: int, shades: Mapping[str, str]) -> list[dict[str, Any]]:
    """The band as points along an S."""
    (x0, y0), (x1, y1), thick = link["from"], link["to"], link["thick"]
    points = []
    for i in range(_POINTS + 1):
        t = i / _POINTS
        y = y0 + (y1 - y0) * t * t * (3 - 2 * t)
        points.append(
            {
                "x": round(x0 + (x1 - x0) * t, 1),
                "y": round(y, 2),
                "y2": round(y + thick, 2),
                "band": band,
                "colour": shades[link["origin"]],
                "name": link["name"],
                "ballots": link["ballots"],
            }
        )
    return points


def _room(stack: Stack) -> float:
    return 16 + _LETTER * max(len(f"{name}  {pile[3]:,}") for name, pile in stack.items())


def _labels(
    alt: Any, drawn: Any, stacks: Sequence[Stack], columns: Rows, winner: str, x: Any, y: Any, step: float
) -> list[Any]:
    """Names and numbers at both ends, numbers where they fit in between, a heading above each column."""
    layers = []
    for stack, shift, align in ((stacks[0], -7, "right"), (stacks[-1], _BAR + 7, "left")):
        rows = [
            {"x": pile[0] + shift, "y": at, "text": f"{name}  {pile[3]:,}", "bold": name == winner}
            for (name, pile), at in zip(stack.items(), _apart(stack), strict=True)
        ]
        for bold in (True, False):
            text = drawn([row for row in rows if row["bold"] is bold])
            weight = 700 if bold else 400
            layers.append(
                text.mark_text(align=align, baseline="middle", fontSize=12, fontWeight=weight, color=INK).encode(
                    x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), text="text:N"
                )
            )
    inner = [
        {"x": pile[0] + _BAR + 4, "y": (pile[1] + pile[2]) / 2, "text": f"{pile[3]:,}"}
        for stack in stacks[1:-1]
        for pile in stack.values()
        if pile[2] - pile[1] >= _LINE and step > 70
    ]
    layers.append(
        drawn(inner)
        .mark_text(align="left", baseline="middle", fontSize=10, color=INK, opacity=0.8)
        .encode(x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), text="text:N")
    )
    letters = int((step - 6) / _LETTER)
    for field, size, colour, down in (("heading", 12, INK, 8), ("note", 10.5, GREY, 22)):
        heads = [
            {"x": i * step + _BAR / 2, "y": down - _HEAD, "text": _cut(str(column[field]), letters)}
            for i, column in enumerate(columns)
        ]
        layers.append(
            drawn(heads)
            .mark_text(align="center", baseline="middle", fontSize=size, color=colour)
            .encode(x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), text="text:N")
        )
    return layers


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: max(1, letters - 1)].rstrip(" ,") + "…"


def _apart(stack: Stack) -> list[float]:
    """Where labels go: beside their piles, but never closer than a line."""
    heights: list[float] = []
    for _, top, end, _ in stack.values():
        want = (top + end) / 2
        heights.append(max(want, heights[-1] + _LINE) if heights else want)
    return heights


def _one_count(piles: Sequence[tuple[str, int]], winner: str, title: str, subtitle: Sequence[str]) -> Chart:
    """Bars with numbers, for a rule that counts once."""
    alt = load_altair()
    rows = [
        {"name": name, "ballots": ballots, "words": f"{ballots:,}", "colour": BLUE if name == winner else PALE}
        for name, ballots in piles
    ]
    data = alt.Chart(alt.Data(values=rows))
    most = max(ballots for _, ballots in piles) or 1
    x = alt.X("ballots:Q", axis=None, scale=alt.Scale(domain=[0, 1.15 * most], nice=False))
    axis = alt.Axis(ticks=False, domain=False, grid=False, labelPadding=8, labelLimit=320)
    y = alt.Y("name:N", sort=[name for name, _ in piles], title=None, axis=axis)
    bars = data.mark_bar(height=18).encode(x=x, y=y, color=alt.Color("colour:N", scale=None, legend=None))
    labels = data.mark_text(align="left", dx=6, fontSize=12, color=INK).encode(x=x, y=y, text="words:N")
    chart: Chart = titled(alt.layer(bars, labels).properties(width=520, height=alt.Step(26)), title, subtitle)
    return chart
