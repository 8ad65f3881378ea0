"""Which bins of a histogram are drawn, and how: every one where that stays readable, else the largest numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.kinds.histogram import text as histogram_text
from hubbub.kinds.histogram.estimands import describe_estimand, has_estimates, of_interval
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bar, Bars
from hubbub.tables.bins import Discovered, Values, size
from hubbub.tables.labels import is_ranges, labels

if TYPE_CHECKING:
    from hubbub.kinds.histogram.result import Counts
    from hubbub.kinds.histogram.spec import Histogram

RANKED: Final = 60  # bars with a label each
ALONG_AN_ORDER: Final = 400  # thin bars along ranges or dates, in all panels together
PANELS: Final = 12
_NUMBER: Final = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_MISSING: Final = "(missing)"
_EMPTY: Final = "(empty text)"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The bins to draw, the axis along the bars (None: the labels of all axes together), the axis of the panels."""

    bins: NDArray[Any]
    along: int | None = None
    panels: int | None = None
    upright: bool = False


def chosen(counts: Counts) -> Chosen:
    """One axis, or two with the second in panels, as they are declared; else the largest numbers, one below the other.

    An axis of ranges or dates has an order that the eye follows, so its bars stand upright and there may be many.
    """
    axes = counts.axes
    sizes = [None if isinstance(axis, Discovered) else size(axis) for axis in axes]
    if len(axes) <= 2 and None not in sizes:
        ordered = [not isinstance(axis, Values) for axis in axes]
        along = max(range(len(axes)), key=lambda i: (ordered[i], sizes[i]))
        panels = None if len(axes) == 1 else 1 - along
        fits = counts.bins <= (ALONG_AN_ORDER if ordered[along] else RANKED)
        if fits and (panels is None or (sizes[panels] or 0) <= PANELS):
            return Chosen(np.arange(counts.bins), along, panels, ordered[along])
    visible = np.flatnonzero(counts.visible)
    natural = _in_order(counts, visible)
    if natural is not None:
        return Chosen(natural, 0, None, upright=True)
    largest = np.argsort(-counts.published.values[visible], kind="stable")[:RANKED]
    return Chosen(visible[largest], 0 if len(axes) == 1 else None)


def _in_order(counts: Counts, visible: NDArray[Any]) -> NDArray[Any] | None:
    """The bins of one axis that was found in the data, if they are dates or numbers, in that order."""
    axis = counts.axes[0]
    if len(counts.axes) > 1 or not isinstance(axis, Discovered) or not 0 < len(visible) <= ALONG_AN_ORDER:
        return None
    texts = [names[0] for names in labels(counts, visible)]
    if is_ranges(axis):
        return visible[sorted(range(len(texts)), key=lambda i: (texts[i] is None, _begin(texts[i] or "[0,")))]
    if axis.unit is None and not all(text is None or _NUMBER.fullmatch(text) for text in texts):
        return None
    if axis.unit is not None:
        return visible[sorted(range(len(texts)), key=lambda i: (texts[i] is None, texts[i] or ""))]
    return visible[sorted(range(len(texts)), key=lambda i: (texts[i] is None, Fraction(texts[i] or 0)))]


def _begin(label: str) -> int:
    return int(label[1:].partition(",")[0])


def bars(counts: Counts) -> Bars | None:
    """The picture, or None where no bin shows a number."""
    total = int(counts.visible.sum())
    if not total:
        return None
    drawn = chosen(counts)
    found = _bars(counts, drawn)
    visible = sum(bar.value is not None for bar in found)
    axis = None if drawn.along is None else counts.axes[drawn.along]
    return Bars(
        bars=found,
        by="" if axis is None else axis.column + (", from" if is_ranges(axis) else ""),
        numbers=_numbers(counts.spec),
        upright=drawn.upright,
        bar=_bar(counts.spec),
        line=histogram_text.interval_sentence(counts.spec),
        note=f"Drawn are the {visible:,} largest of {total:,} published numbers." if total > visible else "",
    )


def labelled_bars(counts: Counts, panel: str) -> list[Bar]:
    """A bar for every bin of a few, under its whole label, in one panel."""
    every = Chosen(np.arange(counts.bins))
    return [replace(bar, panel=panel) for bar in _bars(counts, every)]


def _bars(counts: Counts, drawn: Chosen) -> tuple[Bar, ...]:
    starts = drawn.upright and drawn.along is not None and is_ranges(counts.axes[drawn.along])
    met: dict[tuple[str, str], int] = {}
    found = []
    for i, names in zip(drawn.bins.tolist(), labels(counts, drawn.bins), strict=True):
        texts = [_MISSING if name is None else name or _EMPTY for name in names]
        label = " · ".join(texts) if drawn.along is None else texts[drawn.along]
        label = _start(label) if starts else label
        panel = "" if drawn.panels is None else texts[drawn.panels]
        met[label, panel] = again = met.get((label, panel), 0) + 1
        unique = label if again == 1 else f"{label} ({again})"  # a text may read like the words for a missing one
        found.append(Bar(unique, counts.estimate(i), *counts.ends(i), panel))
    return tuple(found)


def _start(label: str) -> str:
    """Where a range begins; the next one says where it ends."""
    start = label[1:].partition(",")[0] if label.startswith("[") else label
    return f"{int(start):,}" if re.fullmatch(r"-?\d+", start) else start


def _numbers(spec: Histogram) -> str:
    what = "kept rows" if spec.unit.one_row_per_person else "people"
    if spec.unit.counts_rows:
        what = f"kept {spec.unit.rows}"
    elif spec.unit.distinct is not None and not spec.every_bin_kept:
        what = "people in kept bins"
    if has_estimates(spec):
        return f"{what}, estimated"
    return what if spec.sample is None else f"{what} in the sample"


def _bar(spec: Histogram) -> str:
    if spec.sample is not None and spec.scale_up:
        whom = describe_estimand(spec, of_interval(spec)).removeprefix("the ")
        return f"Estimated number of {whom}: the published count of the sample, divided by {to_text(spec.sample)}"
    below = ", at least 0" if has_estimates(spec) else ""
    return f"Published number of {histogram_text.counted(spec).removeprefix('the ')}{below}"
