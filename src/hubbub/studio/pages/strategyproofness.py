"""How honest a rule is: what the best lie gains, over a triangle of beliefs, a triangle for each rule."""

from __future__ import annotations

import html
import math
from fractions import Fraction
from typing import Final

from hubbub.charts.svg import px, text_lines
from hubbub.numeric.exact import integer
from hubbub.voting.figures import approximately, float_up
from hubbub.voting.manipulation.gain_map import GainMap, gain_map
from hubbub.voting.manipulation.gain_winners import Contest
from hubbub.voting.rules.margins import KINDS
from hubbub.voting.rules.threshold import ForGain, threshold

RULES: Final = ("plurality", "instant-runoff", "repeated-plurality", "borda")
_STEPS: Final = 6
_ETA: Final = Fraction(1, 10**12)
_MOST: Final = 501  # voters that a page waits for
_SIDE, _ROOM = 150.0, 24.0  # pixels of a triangle, and around it
_LEVELS: Final = (1e-9, 1e-6, 1e-4, 1e-3, 1e-2)  # gains at which the shade changes


def strategyproofness_map(voters: str) -> GainMap:
    """The map for three candidates and so many voters."""
    n = min(integer(voters, "the number of voters", least=2), _MOST)
    contests = [
        Contest(kind=rule, margin=threshold(ForGain(_ETA), rule, n, 3)) if rule in KINDS else Contest(kind=rule)
        for rule in RULES
    ]
    return gain_map(contests, n, steps=_STEPS, elects=False)


def picture(found: GainMap) -> str:
    """The triangles, one small drawing each: a page sets them side by side, or below one another."""
    return "\n".join(_triangle(found, i) for i in range(len(found.rules)))


def _triangle(found: GainMap, at: int) -> str:
    each = found.rules[at]
    high = _SIDE * math.sqrt(3) / 2
    wide, tall = _SIDE + 2 * _ROOM, high + 2 * _ROOM + 34
    radius = _SIDE / found.steps / math.sqrt(3)
    top = _ROOM + 30
    gained = approximately(each.worst.gain.high)
    parts = [
        text_lines(wide / 2, 13, [each.contest.kind.replace("-", " ")], "panel", anchor="middle"),
        text_lines(wide / 2, 29, [f"{gained} at most"], "quiet", anchor="middle"),
    ]
    for cell in each.cells:
        a, b, c = (part / found.steps for part in cell.weights)
        x, y = _ROOM + _SIDE * (c + a / 2), top + high * (1 - a)
        shade = sum(float_up(cell.gain.high) >= level for level in _LEVELS)
        explained = html.escape(
            f"{found.labels[0]} {a:.0%}, {found.labels[1]} {b:.0%}, {found.labels[2]} {c:.0%}: "
            f"{approximately(cell.gain.high)}"
        )
        corners = " ".join(
            f"{px(x + radius * math.sin(math.pi / 3 * i))},{px(y - radius * math.cos(math.pi / 3 * i))}"
            for i in range(6)
        )
        parts.append(f'<g><title>{explained}</title><polygon class="heat h{shade}" points="{corners}"/></g>')
    ends = (
        (wide / 2 + radius + 6, top + 4, "start"),
        (8, top + high + 12, "start"),
        (wide - 8, top + high + 12, "end"),
    )
    for label, (x, y, anchor) in zip(found.labels, ends, strict=True):
        parts.append(text_lines(x, y, [label], "quiet", anchor=anchor))
    explained = (
        f"<title>{html.escape(each.contest.kind)}</title><desc>The best lie gains {html.escape(gained)} at most.</desc>"
    )
    size = f'viewBox="0 0 {px(wide)} {px(tall)}"'
    return f'<svg class="chart triangle" {size} role="img">{explained}{"".join(parts)}</svg>'
