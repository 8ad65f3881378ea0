"""The published numbers of a spread: for each bin a variance or standard deviation and a mean, with their intervals.
Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from hubbub.kinds.histogram.discovery import FOUND
from hubbub.kinds.moments import text as moments_text
from hubbub.kinds.moments.estimates import Answer, Estimate
from hubbub.kinds.statistic.arrays import down, integers, label_arrays, one_batch, up
from hubbub.kinds.statistic.chart import Row, drawn
from hubbub.kinds.statistic.result import ENDS, HIDDEN, STATUSES, UNTOLD, Key, key_of
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Bars, Drawing, Mark
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.serialization.arrow import floats, labelled
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.labels import is_ranges
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments

MEAN: Final = ("mean", "mean_low", "mean_high")
_SIGNIFICANT: Final = 6


def drawn_columns(spec: Moments) -> tuple[str, ...]:
    """The integers that are drawn for each bin, and stand beside its answer."""
    if isinstance(spec.protection, Crowd):
        people = "sampled" if spec.sampled else "kept" if spec.unit.one_row_per_person else "people"
        return (people, "sum", "squares")
    return ("low_squares", "products", "high_squares")


def columns(spec: Moments) -> list[str]:
    """The columns of numbers of its file."""
    return [*drawn_columns(spec), *ENDS, *MEAN, STATUS]


def schema(spec: Moments) -> pa.Schema:
    """The columns of its file."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, columns(spec))]
    numbers = [(name, pa.int64()) for name in drawn_columns(spec)]
    return pa.schema([*keys, *numbers, *((name, pa.float64()) for name in (*ENDS, *MEAN)), (STATUS, LABELS)])


@dataclass(frozen=True, slots=True, eq=False)
class Spreads(Result):
    """What a variance or a standard deviation published."""

    spec: Moments
    answers: list[Answer]
    found: list[Key] | None = None  # the labels of the bins that are shown, where bins are found in the data

    def keys(self) -> Iterator[Key]:
        """The labels of every bin, in order."""
        if self.found is not None:
            yield from self.found
            return
        for code in range(self.spec.bins):
            yield key_of(self.spec.axes, code)

    def sheets(self) -> tuple[Sheet, ...]:
        return (one_batch("release", self._batch()),)

    def _batch(self) -> pa.RecordBatch:
        spec, found = self.spec, self.answers
        arrays = label_arrays(len(spec.axes), list(self.keys()))
        arrays += [integers([answer.published[i] for answer in found]) for i in range(len(drawn_columns(spec)))]
        for estimates in ([answer.spread for answer in found], [answer.mean for answer in found]):
            arrays.append(floats([None if each.value is None else float(each.value) for each in estimates]))
            arrays.append(floats([down(each.low) for each in estimates]))
            arrays.append(floats([up(each.high) for each in estimates]))
        status = np.array([STATUSES.index(answer.status) for answer in found], dtype=np.int64)
        return pa.record_batch([*arrays, labelled(status, STATUSES)], schema=schema(spec))

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        names = [axis.column for axis in spec.axes]
        rows = [
            {
                "key": dict(zip(names, key, strict=True)),
                **_fact(answer.spread),
                "mean": _fact(answer.mean),
                **dict(zip(drawn_columns(spec), answer.published, strict=True)),
            }
            for key, answer in zip(self.keys(), self.answers, strict=True)
        ]
        more: dict[str, Any] = {}
        if isinstance(spec.protection, Knowledge):
            known = spec.protection
            more = {"rows": known.rows, "people": known.people, "epsilon": to_text(known.epsilon)}
        return {
            "answers": rows,
            "counts": moments_text.counted(spec),
            "route": moments_text.route(spec),
            "split": moments_text.split(spec),
            "unit": moments_text.unit(spec),
            "values": f"values {spec.of.cut}",
            "coverage": to_text(spec.coverage),
            **more,
        }

    def sentences(self) -> tuple[str, ...]:
        route = f"{moments_text.route(self.spec)}."
        if self.found is not None:
            return FOUND, route
        hidden = sum(answer.status in (HIDDEN, UNTOLD) for answer in self.answers)
        if not hidden:
            return "Nothing is hidden.", route
        return f"{len(self.answers) - hidden:,} of {len(self.answers):,} numbers are shown.", route

    def display(self, first: int) -> DisplayTable:
        rows = []
        for key, answer in zip(self.keys(), self.answers[:first], strict=False):
            cells = [text for each in (answer.spread, answer.mean) for text in self._cells(each, answer.status)]
            rows.append((key, tuple(cells), answer.spread.value is None))
        heads = (moments_text.heading(self.spec), "interval", f"mean of {self.spec.of.column}", "interval")
        names = tuple(key_columns(self.spec.axes, columns(self.spec)))
        ranges = tuple(map(is_ranges, self.spec.axes))
        return DisplayTable(names, heads, tuple(rows), moments_text.notes(self.spec), ranges)

    def _cells(self, each: Estimate, status: str) -> tuple[str, str]:
        value = "hidden" if status == HIDDEN else "-" if each.value is None else number_text(each.value)
        return value, f"{number_text(each.low)} to {number_text(each.high)}"

    def drawing(self) -> Drawing | None:
        rows = [
            Row(
                key,
                None if answer.spread.value is None else _rounded(answer.spread.value),
                _rounded(answer.spread.low),
                _rounded(answer.spread.high),
                answer.status == UNTOLD,
            )
            for key, answer in zip(self.keys(), self.answers, strict=True)
        ]
        words = Bars(
            bars=(),
            by="",
            numbers=moments_text.heading(self.spec),
            upright=False,
            bar=f"Estimated {moments_text.heading(self.spec)} of {moments_text.whom(self.spec)}",
            line=moments_text.interval_sentence(self.spec),
            mark=Mark.POINT,
        )
        return drawn(self.spec.axes, rows, words)


def _rounded(value: Fraction) -> float:
    return float(f"{float(value):.{_SIGNIFICANT}g}")


def number_text(value: Fraction) -> str:
    """A number as it is read."""
    text = f"{float(value):,.{_SIGNIFICANT}g}"
    return text if "e" not in text else f"{float(value):,.2f}"


def _fact(each: Estimate) -> dict[str, Any]:
    return {
        "value": None if each.value is None else to_text(each.value),
        "estimate": None if each.value is None else float(each.value),
        "low": down(each.low),
        "high": up(each.high),
    }
