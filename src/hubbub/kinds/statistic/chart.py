"""What is drawn of a statistic: counts as bars, shares and means as points, quantiles as the range where they lie."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Final

from hubbub.kinds.histogram.chart import PANELS, is_apart, is_dates
from hubbub.kinds.statistic import text as statistic_text
from hubbub.protocol.drawing import Bar, Bars, Mark
from hubbub.tables.bins import Discovered, Values, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.labels import label_in_words

if TYPE_CHECKING:
    from hubbub.kinds.statistic.result import Answers, Key
    from hubbub.kinds.statistic.spec import Statistic

MOST: Final = 60  # marks with a label each
ALONG_AN_ORDER: Final = 400
SIGNIFICANT: Final = 6
_MARKS: Final = {"count": Mark.BAR, "quantile": Mark.RANGE}


def bars(found: Answers) -> Bars | None:
    """The picture, or None where no number is shown."""
    spec = found.spec
    along, panels = _axes(spec)
    dates = along is not None and is_dates(spec.axes[along])
    upright = dates or (
        along is not None and spec.kind.name == "count" and not isinstance(spec.axes[along], Values | Discovered)
    )
    shown = list(zip(found.keys(), found.answers, strict=True))[: ALONG_AN_ORDER if upright else MOST]
    if not any(answer.estimate is not None for _, answer in shown):
        return None
    met: set[tuple[str, str]] = set()
    drawn = []
    for key, answer in shown:
        texts = list(map(label_in_words, spec.axes, key))
        label = (" · ".join(texts) or "everybody") if along is None else texts[along]
        panel = "" if panels is None else texts[panels]
        while (label, panel) in met:  # a text may read like the words for a missing one
            label += " (2)"
        met.add((label, panel))
        value, high = (None if end is None else _number(end, spec) for end in (answer.estimate, answer.high))
        drawn.append(Bar(label, value, _number(answer.low, spec), high, panel, _is_apart(spec, key, along)))
    some = f"Drawn are the first {len(shown):,} of {len(found.answers):,}." if len(shown) < len(found.answers) else ""
    return Bars(
        bars=tuple(drawn),
        by=", ".join(axis.column for axis in spec.axes) if along is None else spec.axes[along].column,
        numbers=statistic_text.heading(spec),
        upright=upright,
        bar=f"Estimated {statistic_text.estimand(spec)} of {statistic_text.whom(spec)}",
        line=statistic_text.interval_sentence(spec),
        note=some,
        mark=Mark.LINE if dates else _MARKS.get(spec.kind.name, Mark.POINT),
        percent=spec.kind.name == "fraction",
        span=_span(spec),
    )


def _axes(spec: Statistic) -> tuple[int | None, int | None]:
    """The axis along the marks and that of the panels; (None, None): the labels of all axes together."""
    if len(spec.axes) == 1:
        return 0, None
    if len(spec.axes) != 2 or any(isinstance(axis, Discovered) for axis in spec.axes):
        return None, None
    sizes = [size(axis) for axis in spec.axes if not isinstance(axis, Discovered)]
    along = max((0, 1), key=lambda i: (is_dates(spec.axes[i]), not isinstance(spec.axes[i], Values), sizes[i]))
    return (along, 1 - along) if sizes[1 - along] <= PANELS else (None, None)


def _is_apart(spec: Statistic, key: Key, along: int | None) -> bool:
    return along is not None and is_apart(spec.axes[along], key[along])


def _span(spec: Statistic) -> tuple[float, float] | None:
    """From where to where an answer can lie: of shares 0 to 1, of means and quantiles the declared range."""
    if spec.kind.name == "fraction":
        return 0.0, 1.0
    measured = spec.measured if spec.kind.name in ("mean", "quantile") else None
    return (float(measured.low), float(measured.high)) if isinstance(measured, Measure) else None


def _number(value: Fraction, spec: Statistic) -> float:
    """As it stands beside a mark."""
    if spec.kind.name == "count" and spec.weighted_by is None:
        return floor(value + Fraction(1, 2))
    return float(f"{float(value):.{SIGNIFICANT}g}")
