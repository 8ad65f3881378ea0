"""Which bins of a histogram are drawn, and how: by the shape of its axes.

One axis is drawn in its own order, dates as a line; two as a table of tints, or in small panels along the one that has
an order; of more, or of very many bins, the largest numbers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.kinds.histogram import text as histogram_text
from hubbub.kinds.histogram.estimands import describe_estimand, has_estimates, of_interval
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bar, Bars, Cell, Heat, Mark
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import OTHER, Axis, Dates, Discovered, Values, all_labels, size
from hubbub.tables.labels import MISSING, is_ranges, label_in_words

if TYPE_CHECKING:
    from hubbub.kinds.histogram.result import Counts
    from hubbub.kinds.histogram.spec import Histogram

RANKED: Final = 60  # bars with a label each
LARGEST: Final = 24  # of bins by several columns, whose labels are long
ALONG_AN_ORDER: Final = 400  # thin bars along ranges or dates, in all panels together
PANELS: Final = 12
_NUMBER: Final = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
CELLS: Final = 400  # of a table of tints
ACROSS: Final = 12
DOWN: Final = 40
FEWEST_LEFT_OUT: Final = 3  # rows in which everything is hidden, for them not to be drawn


@dataclass(frozen=True, slots=True)
class Chosen:
    """The bins to draw, the axis along the bars (None: the labels of all axes together), the axis of the panels."""

    bins: NDArray[Any]
    along: int | None = None
    panels: int | None = None
    upright: bool = False
    mark: Mark = Mark.BAR


def choose_bins(counts: Counts) -> Chosen:
    """One axis, or two with the second in panels, as they are declared; else the largest numbers, one below the other.

    An axis of ranges or dates has an order that the eye follows, so its bars stand upright and there may be many.
    """
    axes = counts.axes
    sizes = [None if isinstance(axis, Discovered) else size(axis) for axis in axes]
    if len(axes) <= 2 and None not in sizes:
        ordered = [not isinstance(axis, Values) for axis in axes]
        along = max(range(len(axes)), key=lambda i: (is_dates(axes[i]), ordered[i], sizes[i]))
        panels = None if len(axes) == 1 else 1 - along
        fits = counts.bins <= (ALONG_AN_ORDER if ordered[along] else RANKED)
        if fits and (panels is None or (sizes[panels] or 0) <= PANELS):
            return Chosen(np.arange(counts.bins), along, panels, ordered[along], mark_of(axes[along]))
    shown = np.flatnonzero(counts.visible)
    natural = _in_order(counts, shown)
    if natural is not None:
        return Chosen(natural, 0, None, upright=True, mark=mark_of(axes[0]))
    first = largest(counts.published.values[shown], RANKED if len(axes) == 1 else LARGEST)
    return Chosen(shown[first], 0 if len(axes) == 1 else None)


def largest(values: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Where the largest values are, in their order, of equal ones the first; all others are not put in order.

    >>> largest(np.array([3, 9, 1, 9, 3]), 3).tolist()
    [1, 3, 0]
    """
    found = np.arange(values.size)
    if values.size > most:
        found = np.flatnonzero(values >= np.partition(values, -most)[-most])
    return found[np.argsort(-values[found], kind="stable")][:most]


def is_dates(axis: Axis) -> bool:
    """Whether its bins are periods of the calendar."""
    return isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit is not None)


def mark_of(axis: Axis) -> Mark:
    """Dates are a line: what comes between two of them is on the way."""
    return Mark.LINE if is_dates(axis) else Mark.BAR


def _in_order(counts: Counts, visible: NDArray[Any]) -> NDArray[Any] | None:
    """The bins of one axis that was found in the data, if they are dates or numbers, in that order."""
    axis = counts.axes[0]
    if len(counts.axes) > 1 or not isinstance(axis, Discovered) or not 0 < len(visible) <= ALONG_AN_ORDER:
        return None
    texts = [names[0] for names in counts.labels(visible)]
    if is_ranges(axis):
        return visible[sorted(range(len(texts)), key=lambda i: (texts[i] is None, _begin(texts[i] or "[0,")))]
    if axis.unit is None and not all(text is None or _NUMBER.fullmatch(text) for text in texts):
        return None
    if axis.unit is not None:
        return visible[sorted(range(len(texts)), key=lambda i: (texts[i] is None, texts[i] or ""))]
    return visible[sorted(range(len(texts)), key=lambda i: (texts[i] is None, Fraction(texts[i] or 0)))]


def _begin(label: str) -> int:
    return int(label[1:].partition(",")[0])


def drawing(counts: Counts) -> Bars | Heat | None:
    """The picture, or None where no bin shows a number."""
    return (_heat(counts) or bars(counts)) if counts.visible.any() else None


def bars(counts: Counts) -> Bars | None:
    """The picture in bars or lines, or None where no bin shows a number."""
    total = int(counts.visible.sum())
    if not total:
        return None
    drawn = choose_bins(counts)
    found = _bars(counts, drawn)
    shown = sum(bar.value is not None for bar in found)
    axis = None if drawn.along is None else counts.axes[drawn.along]
    return Bars(
        bars=found,
        by=" · ".join(each.column for each in counts.axes) if axis is None else axis.column,
        numbers=_numbers(counts.spec),
        upright=drawn.upright,
        bar=_bar(counts.spec),
        line=histogram_text.interval_sentence(counts.spec),
        note=f"Drawn are the {shown:,} largest of {total:,} published numbers." if total > shown else "",
        mark=drawn.mark,
    )


def _heat(counts: Counts) -> Heat | None:
    """Two axes as a table, the shorter one across; None where dates or a long order ask for panels, or it is large."""
    axes = counts.axes
    if len(axes) != 2 or any(map(is_dates, axes)) or counts.bins > CELLS:
        return None
    places = np.arange(counts.bins)
    keys = [tuple(map(label_in_words, axes, names)) for names in counts.labels(places)]
    met = [_labels_along(axis, [key[i] for key in keys]) for i, axis in enumerate(axes)]
    across = min((1, 0), key=lambda i: len(met[i]))
    rows, columns = met[1 - across], met[across]
    if not 1 < len(columns) <= ACROSS or not 1 < len(rows) <= DOWN:
        return None
    cells: dict[tuple[str, str], Cell] = {
        (key[1 - across], key[across]): Cell(counts.estimate(i), *counts.ends(i)) for i, key in enumerate(keys)
    }
    if len(cells) < len(keys):  # labels that read alike
        return None
    unlisted = any((row, column) not in cells for row in rows for column in columns)
    notes = ["A dash: not listed, so hidden or empty."] if unlisted else []
    empty = [row for row in rows if all(_is_hidden(cells.get((row, column))) for column in columns)]
    if FEWEST_LEFT_OUT <= len(empty) < len(rows):
        rows = [row for row in rows if row not in empty]
        notes.append(f"{len(empty):,} rows in which everything is hidden are not drawn.")
    return Heat(
        by=(axes[1 - across].column, axes[across].column),
        rows=tuple(rows),
        columns=tuple(columns),
        cells=tuple(tuple(cells.get((row, column)) for column in columns) for row in rows),
        numbers=_numbers(counts.spec),
        cell=_bar(counts.spec),
        line=histogram_text.interval_sentence(counts.spec),
        note=" ".join(notes),
    )


def _is_hidden(cell: Cell | None) -> bool:
    return cell is None or cell.value is None


def _labels_along(axis: Axis, found: list[str]) -> list[str]:
    """The labels of a side: all that are declared, in their order; else those that were found."""
    if not isinstance(axis, Discovered):
        return [label_in_words(axis, label) for label in all_labels(axis)] if size(axis) <= DOWN else found
    return sorted(dict.fromkeys(found), key=lambda text: (text == MISSING, not _NUMBER.fullmatch(text), _size(text)))


def _size(text: str) -> tuple[Fraction, str]:
    return Fraction(text) if _NUMBER.fullmatch(text) else Fraction(0), text


def labelled_bars(counts: Counts, panel: str) -> list[Bar]:
    """A bar for every bin of a few, under its whole label, in one panel."""
    every = Chosen(np.arange(counts.bins))
    return [replace(bar, panel=panel) for bar in _bars(counts, every)]


def _bars(counts: Counts, drawn: Chosen) -> tuple[Bar, ...]:
    met: dict[tuple[str, str], int] = {}
    found = []
    for i, names in zip(drawn.bins.tolist(), counts.labels(drawn.bins), strict=True):
        texts = list(map(label_in_words, counts.axes, names))
        label = " · ".join(texts) if drawn.along is None else texts[drawn.along]
        panel = "" if drawn.panels is None else texts[drawn.panels]
        met[label, panel] = again = met.get((label, panel), 0) + 1
        unique = label if again == 1 else f"{label} ({again})"  # a text may read like the words for a missing one
        apart = drawn.along is not None and is_apart(counts.axes[drawn.along], names[drawn.along])
        found.append(Bar(unique, counts.estimate(i), *counts.ends(i), panel, apart))
    return tuple(found)


def is_apart(axis: Axis, label: str | None) -> bool:
    """Whether a bin has no place in the order of its axis: what is missing, and all other values."""
    return label is None or (not isinstance(axis, Discovered | Values) and axis.other and label == OTHER)


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
    below = ", never below 0" if has_estimates(spec) else ""
    return f"Published number of {histogram_text.counted_noun(spec).removeprefix('the ')}{below}"
