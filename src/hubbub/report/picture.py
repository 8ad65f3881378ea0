"""Which bins are drawn, and how: every one where that stays readable, else the largest published numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from hubbub import charts
from hubbub.certificate import counted_people
from hubbub.exact import to_text
from hubbub.release import Release
from hubbub.report.numbers import ends, estimate, interval_words, is_ranges, labels
from hubbub.report.text import escaped, visible
from hubbub.tables.bins import Discovered, Values, size

RANKED: Final = 60  # bars with a label each
ALONG_AN_ORDER: Final = 400  # thin bars along ranges or dates, in all panels together
PANELS: Final = 12
NOT_DRAWN: Final = "<p>There is no chart, because it could not be drawn when this page was made.</p>"

Rows: TypeAlias = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The bins to draw, the axis along the bars (None: the labels of all axes together), the axis of the panels."""

    bins: np.ndarray[Any, Any]
    along: int | None = None
    panels: int | None = None
    upright: bool = False


def drawing(release: Release) -> Drawing:
    """One axis, or two with the second in panels, as they are declared; else the largest numbers, one below the other.

    An axis of ranges or dates has an order that the eye follows, so its bars stand upright and there may be many.
    """
    axes = release.axes
    sizes = [None if isinstance(axis, Discovered) else size(axis) for axis in axes]
    if len(axes) <= 2 and None not in sizes:
        ordered = [not isinstance(axis, Values) for axis in axes]
        along = max(range(len(axes)), key=lambda i: (ordered[i], sizes[i]))
        panels = None if len(axes) == 1 else 1 - along
        fits = release.bins <= (ALONG_AN_ORDER if ordered[along] else RANKED)
        if fits and (panels is None or (sizes[panels] or 0) <= PANELS):
            return Drawing(np.arange(release.bins), along, panels, ordered[along])
    shown = np.flatnonzero(release.shown)
    largest = np.argsort(-release.published.values[shown], kind="stable")[:RANKED]
    return Drawing(shown[largest], 0 if len(axes) == 1 else None)


def picture(release: Release) -> str:
    """The chart with its caption as HTML, or the reason why there is none."""
    if not release.shown.any():
        return "<p>No bin shows a number, so there is nothing to draw.</p>"
    if not charts.available():
        return "<p>There is no chart, because altair and vl-convert were not there when this page was made.</p>"
    drawn = drawing(release)
    rows = _rows(release, drawn)
    axis = None if drawn.along is None else release.axes[drawn.along]
    by = "" if axis is None else visible(axis.column) + (", from" if is_ranges(axis) else "")
    chart = charts.svg(charts.counts_chart(rows, by=by, numbers=_numbers(release), upright=drawn.upright))
    start, rest = re.sub(r' xmlns(:\w+)?="[^"]*"', "", chart, count=2).split(">", 1)  # in a page it needs no namespace
    told = f"<title>Bars of the published numbers</title><desc>{escaped(_told(rows), 1000)}</desc>"
    return f'<figure>\n{start} role="img">{told}{rest}\n<figcaption>{_caption(release, rows)}</figcaption>\n</figure>'


def _rows(release: Release, drawn: Drawing) -> list[dict[str, Any]]:
    starts = drawn.upright and drawn.along is not None and is_ranges(release.axes[drawn.along])
    met: dict[tuple[str, str], int] = {}
    rows = []
    for i, texts in zip(drawn.bins.tolist(), labels(release, drawn.bins), strict=True):
        label = " · ".join(texts) if drawn.along is None else texts[drawn.along]
        label = _start(label) if starts else label
        panel = "" if drawn.panels is None else texts[drawn.panels]
        met[label, panel] = again = met.get((label, panel), 0) + 1
        low, high = ends(release, i)
        unique = label if again == 1 else f"{label} ({again})"  # long texts that were cut may look the same
        rows.append({"label": unique, "panel": panel, "value": estimate(release, i), "low": low, "high": high})
    return rows


def _start(label: str) -> str:
    """Where a range begins; the next one says where it ends."""
    start = label[1:].partition(",")[0] if label.startswith("[") else label
    return f"{int(start):,}" if re.fullmatch(r"-?\d+", start) else start


def _numbers(release: Release) -> str:
    if release.spec.sample is None:
        return "people"
    return "people, estimated" if release.spec.scale_up else "people in the sample"


def _told(rows: Rows) -> str:
    """The chart for somebody who cannot see it."""
    shown = [row for row in rows if row["value"] is not None]
    most = max(shown, key=lambda row: int(row["value"]))
    where = " in ".join(filter(None, (most["label"], most["panel"])))
    return f"{len(shown):,} bars; the longest is {most['value']:,}, at {where}. The table below has the numbers."


def _caption(release: Release, rows: Rows) -> str:
    shown = [row for row in rows if row["value"] is not None]
    total = int(release.shown.sum())
    keys = [f'<i class="bar"></i> {_bar(release)}.']
    if any(row["low"] != row["high"] for row in shown):
        keys.append(f'<i class="line"></i> {interval_words(release)}.')
    if len(shown) < len(rows):
        keys.append('<i class="gap"></i> Hidden: the pale bar is where the number may lie.')
    if total > len(shown):
        keys.append(f"Drawn are the {len(shown):,} largest of {total:,} published numbers.")
    return "<br>".join(keys)


def _bar(release: Release) -> str:
    spec = release.spec
    if spec.sample is not None and spec.scale_up:
        return f"Number of people, estimated: the published count of the sample, divided by {to_text(spec.sample)}"
    return f"Published number of {counted_people(release.spec).removeprefix('the ')}"
