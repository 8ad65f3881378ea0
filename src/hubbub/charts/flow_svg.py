"""How ballots moved, as SVG text: piles as bars, what moves between them as bands. It needs no chart library.

On a wide page names stand beside the first and the last piles, on a narrow one in a list below; in both they are
wrapped, never cut. The style of the page chooses one of the two.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Final

from hubbub.charts.svg import LINE, TEXT, px, text_length, text_lines, wrapped
from hubbub.protocol.drawing import Flow, FlowColumn, FlowLink
from hubbub.runtime.frozen import dataclass

_COLOURS: Final = 5  # that are told apart from one another and from grey

_BAR: Final = {"wide": 14, "narrow": 9}
_HIGH: Final = {"wide": 400, "narrow": 300}
_GAP: Final = 8  # pixels between piles
_LABELS: Final = 0.24  # of the width, at most, for names at one side
_SMALL: Final = 10.5 / 12
_MOST_LINES: Final = 4  # of a note above a column


@dataclass(frozen=True, slots=True)
class _Pile:
    x: float
    top: float
    tall: float
    ballots: float

    @property
    def middle(self) -> float:
        return self.top + self.tall / 2


def drawn(flow: Flow, width: int, kind: str = "wide") -> str:
    """The flow as one SVG element of this width."""
    bar, ends = _BAR[kind], (flow.columns[0], flow.columns[-1])
    left, right = (_room(column, width) for column in ends) if kind == "wide" else (2.0, 2.0)
    step = (width - left - right - bar) / max(1, len(flow.columns) - 1)
    heads, above, notes = _heads(flow, left + bar / 2, step, width)
    columns = _stacks(flow, left, above, step, _HIGH[kind])
    shades = _shades(flow)
    parts = [heads, *_bands(flow, columns, shades, bar)]
    for stack in columns:
        parts += [_rect(pile, bar, shades[name], f"{name}: {pile.ballots:,}") for name, pile in stack.items()]
    bottom = max(pile.top + pile.tall for stack in columns for pile in stack.values())
    if kind == "wide":
        labels, low = _beside(flow, columns, bar, left, right, step)
        deep = max(bottom, low) + 8
    else:
        labels, deep = _below(flow, shades, width, bottom + 18)
    for line in (line for note in notes for line in wrapped(note, width)):
        labels += text_lines(0, deep + TEXT, [line], "quiet")
        deep += LINE
    heading = f"<title>How ballots moved from round to round</title><desc>{html.escape(flow.description)}</desc>"
    size = f'viewBox="0 0 {width} {math.ceil(deep + 4)}"'
    return f'<svg class="chart flow {kind}" {size} role="img">{heading}{"".join([*parts, labels])}</svg>'


def _shades(flow: Flow) -> dict[str, str]:
    """What colours a pile: an attribute of its shapes."""
    named = [name for name in flow.order if name not in flow.plain]
    shades = {name: f'class="{{}} f{i % _COLOURS}"' for i, name in enumerate(named)}
    return shades | dict.fromkeys(flow.plain, 'class="{} plain"')


def _label(name: str, ballots: float) -> str:
    return f"{name} {ballots:,}"


def _room(column: FlowColumn, width: int) -> float:
    """Pixels for the names beside a column."""
    longest = max((text_length(_label(name, ballots), bold=True) for name, ballots in column.piles), default=0)
    return min(longest + 10, _LABELS * width)


def _heads(flow: Flow, start: float, step: float, width: int) -> tuple[str, float, list[str]]:
    """Headings above the columns, how much room they take, and notes that are too long to stand there."""
    room = step - 6 if len(flow.columns) > 1 else width
    room *= 2 / 3 if start < room / 2 else 1  # headings at the ends then move towards their neighbours
    fit = all(_fits(column.note, room / _SMALL) for column in flow.columns)
    parts, tall = [], 0.0
    short = any(text_length(column.heading) > room for column in flow.columns)
    for i, column in enumerate(flow.columns):
        heading = column.heading.rpartition(" ")[2] if short else column.heading
        lines = wrapped(heading, room)
        notes = wrapped(column.note, room / _SMALL) if column.note and fit else []
        half = max(text_length(line) for line in [*lines, *notes]) / 2
        at = min(max(start + i * step, half), width - half)
        parts.append(text_lines(at, TEXT, lines, anchor="middle"))
        if notes:
            parts.append(text_lines(at, TEXT + LINE * len(lines), notes, "quiet small", anchor="middle"))
        tall = max(tall, LINE * (len(lines) + len(notes)))
    rest = [] if fit else [f"{column.heading}, {column.note}" for column in flow.columns if column.note]
    return "".join(parts), tall + 10, rest


def _fits(text: str, room: float) -> bool:
    """Whether it fits into few lines of that width without a word being cut."""
    return all(text_length(word) <= room for word in text.split()) and len(wrapped(text, room)) <= _MOST_LINES


def _stacks(flow: Flow, left: float, above: float, step: float, high: float) -> list[dict[str, _Pile]]:
    """Column by column: pile -> where it is."""
    order = {name: i for i, name in enumerate(flow.order)}
    most = max(sum(ballots for _, ballots in column.piles) for column in flow.columns) or 1
    gaps = _GAP * (max(len(column.piles) for column in flow.columns) - 1)
    scale = max(high - gaps, high / 2) / most
    stacks = []
    for i, column in enumerate(flow.columns):
        stack, y = {}, above
        for name, ballots in sorted(column.piles, key=lambda pile: order[pile[0]]):
            stack[name] = _Pile(left + i * step, y, ballots * scale, ballots)
            y += ballots * scale + _GAP
        stacks.append(stack)
    return stacks


def _bands(flow: Flow, stacks: Sequence[Mapping[str, _Pile]], shades: Mapping[str, str], bar: float) -> list[str]:
    order = {name: i for i, name in enumerate(flow.order)}

    def key(link: FlowLink) -> tuple[int, int]:
        return order[link.origin], order[link.target]

    out = []
    for column in range(len(flow.columns) - 1):
        here = sorted((link for link in flow.links if link.column == column), key=key)
        starts = {name: pile.top for name, pile in stacks[column].items()}
        ends = {name: pile.top for name, pile in stacks[column + 1].items()}
        for link in here:
            source, target = stacks[column][link.origin], stacks[column + 1][link.target]
            thick = source.tall * link.ballots / source.ballots
            x0, x1 = source.x + bar, target.x
            out.append(_band(x0, starts[link.origin], x1, ends[link.target], thick, link, shades[link.origin]))
            starts[link.origin] += thick
            ends[link.target] += thick
    return out


def _band(x0: float, y0: float, x1: float, y1: float, thick: float, link: FlowLink, shade: str) -> str:
    a, b, c, middle = (px(value) for value in (x0, x1, y0, (x0 + x1) / 2))
    d, e, f = (px(value) for value in (y1, y1 + thick, y0 + thick))
    way = f"M{a} {c}C{middle} {c} {middle} {d} {b} {d}L{b} {e}C{middle} {e} {middle} {f} {a} {f}Z"
    named = link.origin if link.origin == link.target else f"{link.origin} to {link.target}"
    label = html.escape(f"{named}: {link.ballots:,}")
    return f'<path {shade.format("flowing")} d="{way}"><title>{label}</title></path>'


def _rect(pile: _Pile, bar: float, shade: str, label: str) -> str:
    box = f'x="{px(pile.x)}" y="{px(pile.top)}" width="{bar}" height="{px(max(pile.tall, 0.6))}"'
    return f"<rect {shade.format('pile')} {box}><title>{html.escape(label)}</title></rect>"


def _beside(
    flow: Flow, stacks: Sequence[Mapping[str, _Pile]], bar: float, left: float, right: float, step: float
) -> tuple[str, float]:
    """Names and numbers at both ends, numbers where they fit in between; and how far down they reach."""
    parts, low = [], 0.0
    sides = ((stacks[0], -6.0, left - 6, "end"), (stacks[-1], bar + 6, right - 6, "start"))
    for stack, shift, room, anchor in sides if len(stacks) > 1 else sides[1:]:
        free = -math.inf
        for name, pile in stack.items():
            bold = name == flow.winner
            lines = wrapped(_label(name, pile.ballots), room, bold=bold)
            top = max(pile.middle - LINE * len(lines) / 2, free)
            parts.append(text_lines(pile.x + shift, top + TEXT, lines, "bold" if bold else "", anchor=anchor))
            free = top + LINE * len(lines)
        low = max(low, free)
    for stack in stacks[1:-1]:
        for pile in stack.values():
            label = f"{pile.ballots:,}"
            if pile.tall >= LINE and text_length(label) * _SMALL < step - bar - 10:
                parts.append(text_lines(pile.x + bar + 4, pile.middle + 4, [label], "small"))
    return "".join(parts), low


def _below(flow: Flow, shades: Mapping[str, str], width: int, y: float) -> tuple[str, float]:
    """Every pile with its colour, its name, and its ballots in the first and in the last column."""
    first, last = dict(flow.columns[0].piles), dict(flow.columns[-1].piles)
    parts = []
    for name in flow.order:
        numbers = " to ".join(dict.fromkeys(f"{ends.get(name, 0):,}" for ends in (first, last)))
        bold = name == flow.winner
        lines = wrapped(f"{name}: {numbers}", width - 18, bold=bold)
        parts.append(f'<rect {shades[name].format("pile")} x="0" y="{px(y)}" width="11" height="11"/>')
        parts.append(text_lines(17, y + 10, lines, "bold" if bold else ""))
        y += LINE * len(lines) + 4
    return "".join(parts), y + 4
