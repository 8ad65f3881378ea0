"""The published numbers of a ratio: for each bin both sums, an estimate, an interval. Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from hubbub.kinds.ratio import text as ratio_text
from hubbub.kinds.ratio.estimates import Answer
from hubbub.kinds.statistic.arrays import down, integers, label_arrays, one_batch, up
from hubbub.kinds.statistic.result import ENDS, STATUSES, UNTOLD, Key, key_of
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bar, Bars, Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.serialization.arrow import floats, labelled
from hubbub.tables.key_columns import STATUS, key_columns

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio

DRAWN: Final = ("of_steps", "per_steps")
"""Both sums, in steps."""
_BARS: Final = 60
_SIGNIFICANT: Final = 6
_COLUMNS: Final = [*DRAWN, *ENDS, STATUS]


def schema(spec: Ratio) -> pa.Schema:
    """The columns of its file."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, _COLUMNS)]
    numbers = [(name, pa.int64()) for name in DRAWN]
    return pa.schema([*keys, *numbers, *((name, pa.float64()) for name in ENDS), (STATUS, LABELS)])


@dataclass(frozen=True, slots=True, eq=False)
class Ratios(Result):
    """What a ratio published."""

    spec: Ratio
    answers: list[Answer]

    def keys(self) -> Iterator[Key]:
        """The labels of every bin, in order."""
        for code in range(self.spec.bins):
            yield key_of(self.spec.axes, code)

    def sheets(self) -> tuple[Sheet, ...]:
        return (one_batch("release", self._batch()),)

    def _batch(self) -> pa.RecordBatch:
        found = self.answers
        arrays = label_arrays(len(self.spec.axes), list(self.keys()))
        arrays += [integers([answer.published[i] for answer in found]) for i in range(len(DRAWN))]
        arrays.append(floats([None if answer.estimate is None else float(answer.estimate) for answer in found]))
        arrays.append(floats([down(answer.low) for answer in found]))
        arrays.append(floats([up(answer.high) for answer in found]))
        status = np.array([STATUSES.index(answer.status) for answer in found], dtype=np.int64)
        return pa.record_batch([*arrays, labelled(status, STATUSES)], schema=schema(self.spec))

    def facts(self) -> Mapping[str, Any]:
        spec, names = self.spec, [axis.column for axis in self.spec.axes]
        rows = [
            {
                "key": dict(zip(names, key, strict=True)),
                "value": None if answer.estimate is None else to_text(answer.estimate),
                "estimate": None if answer.estimate is None else float(answer.estimate),
                "low": down(answer.low),
                "high": up(answer.high),
                **dict(zip(DRAWN, answer.published, strict=True)),
            }
            for key, answer in zip(self.keys(), self.answers, strict=True)
        ]
        return {
            "answers": rows,
            "counts": ratio_text.counted(spec),
            "route": ratio_text.ROUTE,
            "split": ratio_text.split(spec),
            "unit": f"{spec.of.column} per {spec.per.column}",
            "values": ratio_text.cut(spec),
            "coverage": to_text(spec.coverage),
            **({} if spec.unit.bounds is None else {"bounds": spec.unit.bounds.to_json()}),
        }

    def sentences(self) -> tuple[str, ...]:
        untold = sum(answer.status == UNTOLD for answer in self.answers)
        return f"{len(self.answers) - untold:,} of {len(self.answers):,} numbers are shown.", f"{ratio_text.ROUTE}."

    def display(self, first: int) -> DisplayTable:
        rows = []
        for key, answer in zip(self.keys(), self.answers[:first], strict=False):
            value = "-" if answer.estimate is None else number_text(answer.estimate)
            high = "or more" if answer.high is None else f"to {number_text(answer.high)}"
            rows.append((key, (value, f"{number_text(answer.low)} {high}"), answer.estimate is None))
        names = tuple(key_columns(self.spec.axes, _COLUMNS))
        return DisplayTable(
            names, (ratio_text.heading(self.spec), "interval"), tuple(rows), ratio_text.notes(self.spec)
        )

    def drawing(self) -> Drawing | None:
        shown = list(zip(self.keys(), self.answers, strict=True))[:_BARS]
        if not any(answer.estimate is not None for _, answer in shown):
            return None
        bars: dict[str, Bar] = {}
        for key, answer in shown:
            label = " · ".join("(missing)" if part is None else part or "(empty text)" for part in key) or "everybody"
            while label in bars:  # a text may read like the words for a missing one
                label += " (2)"
            value = None if answer.estimate is None else float(answer.estimate)
            bars[label] = Bar(label, value, float(answer.low), None if answer.high is None else float(answer.high))
        some = f"Drawn are the first {len(shown):,} of {len(self.answers):,}." if len(shown) < len(self.answers) else ""
        return Bars(
            bars=tuple(bars.values()),
            by=", ".join(axis.column for axis in self.spec.axes),
            numbers=ratio_text.heading(self.spec),
            upright=False,
            bar=f"Estimated {ratio_text.heading(self.spec)} of {ratio_text.whom(self.spec)}",
            line=ratio_text.interval_sentence(self.spec),
            note=some,
        )


def number_text(value: Fraction) -> str:
    """A number as it is read."""
    text = f"{float(value):,.{_SIGNIFICANT}g}"
    return text if "e" not in text else f"{float(value):,.2f}"
