"""The chart of a statistic: counts as bars, shares and means as points, quantiles as the range where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Final

from hubbub.kinds.histogram.chart import PANELS, is_apart, is_dates
from hubbub.kinds.sums.columns import UNTOLD, Interval, Key
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Bar, Bars, Mark
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Discovered, Values, size
from hubbub.tables.labels import label_in_words

if TYPE_CHECKING:
    from hubbub.kinds.sums.result import Answers

MOST: Final = 60  # marks with a label each
ALONG_AN_ORDER: Final = 400


@dataclass(frozen=True, slots=True)
class Row:
    """A number of a bin, as it is drawn: None if it is hidden, or not known because noise says too little of it."""

    key: Key
    value: float | None
    low: float
    high: float | None
    unknown: bool = False


def bars(found: Answers) -> Bars | None:
    """The picture of the first number, or None where none is shown."""
    spec, number = found.spec, found.spec.outputs[0]
    rows = marks(
        found.keys(),
        [answer.estimates[0].interval for answer in found.answers],
        [each.status for each in found.answers],
    )
    if number.whole:
        rows = [
            replace(row, value=nearest(answer.estimate), low=nearest(answer.low) or 0, high=nearest(answer.high))
            for row, answer in zip(rows, found.answers, strict=True)
        ]
    words = spec.phrases
    labels = titles(words.heading, words.interval_headline, number.mark, upright=number.mark is Mark.BAR)
    ends = None if number.mark is Mark.BAR else spec.possible
    span = None if ends is None else (float(ends[0]), float(ends[1]))
    return drawn(spec.axes, rows, replace(labels, percent=number.percent, span=span))


def nearest(value: Fraction | None) -> float | None:
    """A whole number."""
    return None if value is None else floor(value + Fraction(1, 2))


def titles(heading: str, line: str, mark: Mark = Mark.POINT, *, upright: bool = False) -> Bars:
    """A chart with its titles and captions, and no marks yet."""
    return Bars(bars=(), by="", numbers=heading, upright=upright, bar=f"Estimated {heading}", line=line, mark=mark)


def marks(keys: Iterable[Key], numbers: Iterable[Interval], statuses: Iterable[str]) -> list[Row]:
    """A row for each bin, its numbers rounded as in tables."""
    rows = []
    for key, (estimate, low, high), status in zip(keys, numbers, statuses, strict=True):
        value, end = (None if each is None else mark_value(each) for each in (estimate, high))
        rows.append(Row(key, value, mark_value(low), end, status == UNTOLD))
    return rows


def drawn(axes: Sequence[Axis], rows: Sequence[Row], words: Bars) -> Bars | None:
    """A mark for each row, along the axis that has an order and in panels by the other; None where no number is shown.

    `words` says what the numbers are and which mark they get, and with `upright` that bars stand along an order; dates
    are a line.
    """
    along, panels = _axes(axes)
    dates = along is not None and is_dates(axes[along])
    upright = dates or (words.upright and along is not None and not isinstance(axes[along], Values | Discovered))
    shown = rows[: ALONG_AN_ORDER if upright else MOST]
    if not any(row.value is not None for row in shown):
        return None
    met: set[tuple[str, str]] = set()
    marks = []
    for row in shown:
        texts = list(map(label_in_words, axes, row.key))
        label = (" · ".join(texts) or "everybody") if along is None else texts[along]
        panel = "" if panels is None else texts[panels]
        while (label, panel) in met:  # a text may read like the words for a missing one
            label += " (2)"
        met.add((label, panel))
        apart = along is not None and is_apart(axes[along], row.key[along])
        marks.append(Bar(label, row.value, row.low, row.high, panel, apart, row.unknown))
    some = f"Drawn are the first {len(shown):,} of {len(rows):,}." if len(shown) < len(rows) else ""
    return replace(
        words,
        bars=tuple(marks),
        by=", ".join(axis.column for axis in axes) if along is None else axes[along].column,
        upright=upright,
        note=some,
        mark=Mark.LINE if dates else words.mark,
    )


def _axes(axes: Sequence[Axis]) -> tuple[int | None, int | None]:
    """The axis along the marks and that of the panels; (None, None): the labels of all axes together."""
    if len(axes) == 1:
        return 0, None
    if len(axes) != 2 or any(isinstance(axis, Discovered) for axis in axes):
        return None, None
    sizes = [size(axis) for axis in axes if not isinstance(axis, Discovered)]
    along = max((0, 1), key=lambda i: (is_dates(axes[i]), not isinstance(axes[i], Values), sizes[i]))
    return (along, 1 - along) if sizes[1 - along] <= PANELS else (None, None)


def mark_value(value: Fraction) -> float:
    """A number rounded as in tables."""
    return float(readable(value).replace(",", ""))
