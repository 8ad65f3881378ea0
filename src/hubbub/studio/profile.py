"""A channel's exact profile as a picture: what is promised to one person of a bin, and what is exactly so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from hubbub.channels.profile import checkable, exact_loss, loss_curve, profile
from hubbub.channels.protocol import Channel
from hubbub.charts.lines import Axes, Series, responsive_lines
from hubbub.numeric.exact import Infinite, to_float, upper
from hubbub.numeric.format import short

_COUNTS: Final = 48  # that are looked at
_FURTHEST: Final = 400


def profile_of(channel: Channel) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """The picture, and its rows: count, promised, exact, and the exact delta; "" where there is nothing to draw."""
    claim = checkable(channel.claim)
    rows = []
    for row in profile(channel, _counts(claim), claim):
        rows.append(
            {
                "count": row.count,
                "promised": _number(row.epsilon),
                "exact": _exact(channel, row.count),
                "delta": to_float(upper(row.exact_delta), round_up=True) or 0.0,
            }
        )
    return _picture(rows), tuple(rows)


def _counts(claim: Any) -> list[int]:
    """Counts around those where the promise changes."""
    last = max(piece.start for piece in loss_curve(claim).pieces)
    top = min(max(2 * last, 12), _FURTHEST)
    every = max(math.ceil(top / _COUNTS), 1)
    near = range(max(last - 2, 1), min(last + 3, top + 1))
    return sorted({*range(1, top + 1, every), *near})


def _exact(channel: Channel, count: int) -> float | None:
    try:
        return _number(exact_loss(channel, count))
    except ValueError:  # the law is a table, and the ratio in its tails is not known
        return None


def _number(loss: Any) -> float:
    return math.inf if isinstance(loss, Infinite) else to_float(loss, round_up=True) or 0.0


def _picture(rows: list[dict[str, Any]]) -> str:
    series = []
    for name, key, broad in (("promised", "promised", True), ("exact", "exact", False)):
        finite = [row for row in rows if row[key] is not None and math.isfinite(row[key])]
        if finite:
            points = tuple((float(row["count"]), row[key]) for row in finite)
            labels = tuple(f"{row['count']:,} people: {short(row[key])}" for row in finite)
            series.append(Series(name=name, points=points, labels=labels, marks=not broad, broad=broad))
    if not series:
        return ""
    axes = Axes(
        title="Privacy loss of one person, by the size of the bin",
        description="What is promised and what is exactly so; the table below has the numbers.",
        x="people in the bin",
        y="privacy loss of one person (epsilon)",
    )
    return responsive_lines(series, axes)
