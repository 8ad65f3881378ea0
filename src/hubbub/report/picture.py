"""Which bins are drawn, and how: every one where that stays readable, else the largest published numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hubbub.certificate import counted_people
from hubbub.charts.svg import Bar, Panel, Words, responsive
from hubbub.exact import to_text
from hubbub.release import Release
from hubbub.report.numbers import ends, estimate, interval_words, is_ranges, labels
from hubbub.report.text import visible
from hubbub.tables.bins import Discovered, Values, size

RANKED: Final = 60  # bars with a label each
ALONG_AN_ORDER: Final = 400  # thin bars along ranges or dates, in all panels together
PANELS: Final = 12


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
    """The chart with its caption as HTML, or the reason why there is none. It draws published values alone."""
    if not release.shown.any():
        return "<p>No bin shows a number, so there is nothing to draw.</p>"
    drawn = drawing(release)
    panels = _panels(release, drawn)
    axis = None if drawn.along is None else release.axes[drawn.along]
    by = "" if axis is None else visible(axis.column) + (", from" if is_ranges(axis) else "")
    words = Words(title="Bars of the published numbers", told=_told(panels), by=by, numbers=_numbers(release))
    chart = responsive(panels, words, upright=drawn.upright)
    return f"<figure>\n{chart}\n<figcaption>{_caption(release, panels)}</figcaption>\n</figure>"


def _panels(release: Release, drawn: Drawing) -> list[Panel]:
    starts = drawn.upright and drawn.along is not None and is_ranges(release.axes[drawn.along])
    panels: dict[str, list[Bar]] = {}
    for i, texts in zip(drawn.bins.tolist(), labels(release, drawn.bins), strict=True):
        label = " · ".join(texts) if drawn.along is None else texts[drawn.along]
        label = _start(label) if starts else label
        title = "" if drawn.panels is None else texts[drawn.panels]
        value, (low, high) = estimate(release, i), ends(release, i)
        words = "" if value is None else f"{value:,}"
        panels.setdefault(title, []).append(Bar(label, value, low, high, words))
    return [Panel(title, tuple(bars)) for title, bars in panels.items()]


def _start(label: str) -> str:
    """Where a range begins; the next one says where it ends."""
    start = label[1:].partition(",")[0] if label.startswith("[") else label
    return f"{int(start):,}" if re.fullmatch(r"-?\d+", start) else start


def _numbers(release: Release) -> str:
    if release.spec.sample is None:
        return "people"
    return "people, estimated" if release.spec.scale_up else "people in the sample"


def _shown(panels: list[Panel]) -> list[tuple[float, str]]:
    """Each number that is shown, and where."""
    bars = [(bar, panel.title) for panel in panels for bar in panel.bars]
    return [(bar.value, " in ".join(filter(None, (bar.label, title)))) for bar, title in bars if bar.value is not None]


def _told(panels: list[Panel]) -> str:
    """The chart for somebody who cannot see it."""
    shown = _shown(panels)
    most, where = max(shown, key=lambda pair: pair[0])
    return f"{len(shown):,} bars; the longest is {most:,}, at {where}. The table below has the numbers."


def _caption(release: Release, panels: list[Panel]) -> str:
    bars = [bar for panel in panels for bar in panel.bars]
    shown = [bar for bar in bars if bar.value is not None]
    total = int(release.shown.sum())
    keys = [f'<i class="bar"></i> {_bar(release)}.']
    if any(bar.low != bar.high for bar in shown):
        keys.append(f'<i class="line"></i> {interval_words(release)}.')
    if len(shown) < len(bars):
        keys.append('<i class="gap"></i> Hidden: the pale bar is where the number may lie.')
    if total > len(shown):
        keys.append(f"Drawn are the {len(shown):,} largest of {total:,} published numbers.")
    return "<br>".join(keys)


def _bar(release: Release) -> str:
    spec = release.spec
    if spec.sample is not None and spec.scale_up:
        return f"Number of people, estimated: the published count of the sample, divided by {to_text(spec.sample)}"
    return f"Published number of {counted_people(release.spec).removeprefix('the ')}"
