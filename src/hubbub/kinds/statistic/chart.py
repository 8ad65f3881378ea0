"""The chart of a statistic: counts as bars, shares and means as points, quantiles as the range where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Final

from hubbub.kinds.histogram.chart import PANELS, is_apart, is_dates
from hubbub.kinds.statistic import text as statistic_text
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Bar, Bars, Mark
from hubbub.protocol.result import NOT_USABLE
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Axis, Discovered, Values, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.labels import label_in_words
from hubbub.tables.protection import Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.statistic.arrays import Interval
    from hubbub.kinds.statistic.result import Answers, Key
    from hubbub.kinds.statistic.spec import Statistic

MOST: Final = 60  # marks with a label each
ALONG_AN_ORDER: Final = 400
UNTOLD: Final = NOT_USABLE
_MARKS: Final = {"count": Mark.BAR, "quantile": Mark.RANGE}


@dataclass(frozen=True, slots=True)
class Row:
    """A number of a bin, as it is drawn: None if it is hidden, or not known because noise says too little of it."""

    key: Key
    value: float | None
    low: float
    high: float | None
    unknown: bool = False


def bars(found: Answers) -> Bars | None:
    """The picture, or None where no number is shown."""
    spec = found.spec
    rows = []
    for key, answer in zip(found.keys(), found.answers, strict=True):
        value, high = (None if end is None else _number(end, spec) for end in (answer.estimate, answer.high))
        rows.append(Row(key, value, _number(answer.low, spec), high, answer.status == UNTOLD))
    line, upright = statistic_text.interval_headline(spec), spec.kind.name == "count"
    labels = titles(statistic_text.heading(spec), line, _MARKS.get(spec.kind.name, Mark.POINT), upright=upright)
    return drawn(spec.axes, rows, replace(labels, percent=spec.kind.name == "fraction", span=_span(spec)))


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


def _span(spec: Statistic) -> tuple[float, float] | None:
    """The range in which an answer can lie, as far as it is drawn."""
    ends = None if spec.kind.name == "count" else possible_range(spec)
    return None if ends is None else (float(ends[0]), float(ends[1]))


def possible_range(spec: Statistic) -> tuple[Fraction, Fraction] | None:
    """The declared range in which an answer lies: of shares 0 to 1, of means and quantiles that of the values, of counts
    of N people 0 to N; None where there is none."""
    match spec.kind.name:
        case "fraction":
            return Fraction(0), Fraction(1)
        case "count" if isinstance(spec.protection, Knowledge) and spec.weighted_by is None:
            return Fraction(0), Fraction(spec.protection.people * spec.most_in_a_bin)
        case "mean" | "quantile" if isinstance(spec.measured, Measure):
            return spec.measured.low, spec.measured.high
        case _:
            return None


def _number(value: Fraction, spec: Statistic) -> float:
    """The number that the label of a mark shows."""
    if spec.kind.name == "count" and spec.weighted_by is None:
        return floor(value + Fraction(1, 2))
    return mark_value(value)


def mark_value(value: Fraction) -> float:
    """A number rounded as in tables."""
    return float(readable(value).replace(",", ""))
