"""The published numbers of a spread: for each bin a variance or standard deviation and a mean, with their intervals.
Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.kinds.histogram.discovery import FOUND
from hubbub.kinds.moments import text as moments_text
from hubbub.kinds.moments.estimates import Answer, Estimate
from hubbub.kinds.statistic.arrays import Interval, interval_arrays, interval_facts, one_batch
from hubbub.kinds.statistic.chart import drawn, marks, titles
from hubbub.kinds.statistic.result import ENDS, HIDDEN, UNTOLD, BinAnswers, file_schema
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.tables.key_columns import STATUS
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments

MEAN: Final = ("mean", "mean_low", "mean_high")


def drawn_columns(spec: Moments) -> tuple[str, ...]:
    """The integers that are drawn for each bin, and stand beside its answer."""
    if isinstance(spec.protection, Crowd):
        people = "sampled" if spec.sampled else spec.unit.rows_column if spec.unit.one_row_per_person else "people"
        return (people, "sum", "squares")
    return ("low_squares", "products", "high_squares")


def columns(spec: Moments) -> list[str]:
    """The names of the number columns of the published file."""
    return [*drawn_columns(spec), *ENDS, *MEAN, STATUS]


def schema(spec: Moments) -> pa.Schema:
    """The schema of the published file."""
    return file_schema(spec.axes, drawn_columns(spec), (*ENDS, *MEAN))


@dataclass(frozen=True, slots=True, eq=False)
class Spreads(BinAnswers):
    """What a variance or a standard deviation published."""

    spec: Moments
    answers: list[Answer]

    def sheets(self) -> tuple[Sheet, ...]:
        return (one_batch("release", self._batch()),)

    def _batch(self) -> pa.RecordBatch:
        ends = (
            [_interval(answer.spread) for answer in self.answers],
            [_interval(answer.mean) for answer in self.answers],
        )
        published = [answer.published for answer in self.answers]
        return self.file_batch(schema(self.spec), published, [*interval_arrays(ends[0]), *interval_arrays(ends[1])])

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        rows = [
            {
                **key,
                **interval_facts(answer.spread.value, _interval(answer.spread)),
                "mean": interval_facts(answer.mean.value, _interval(answer.mean)),
                **dict(zip(drawn_columns(spec), answer.published, strict=True)),
            }
            for key, answer in zip(self.key_facts(), self.answers, strict=True)
        ]
        return {
            "answers": rows,
            "counts": moments_text.counted(spec),
            "route": moments_text.route(spec),
            "split": moments_text.split(spec),
            "unit": moments_text.unit(spec),
            "values": f"values {spec.of.cut}",
            "coverage": to_text(spec.coverage),
            **self.knowledge_facts(),
        }

    def sentences(self) -> tuple[str, ...]:
        route = f"{moments_text.route(self.spec)}."
        if self.found is not None:
            return FOUND, route
        hidden = self.number_of(HIDDEN) + self.number_of(UNTOLD)
        if not hidden:
            return "Nothing is hidden.", route
        return f"{len(self.answers) - hidden:,} of {len(self.answers):,} numbers are shown.", route

    def display(self, first: int) -> DisplayTable:
        cells = [
            (
                (*self._cells(answer.spread, answer.status), *self._cells(answer.mean, answer.status)),
                answer.spread.value is None,
            )
            for answer in self.answers[:first]
        ]
        heads = (moments_text.heading(self.spec), "interval", f"mean of {self.spec.of.column}", "interval")
        return self.display_table(heads, cells, columns(self.spec), moments_text.notes(self.spec))

    def _cells(self, each: Estimate, status: str) -> tuple[str, str]:
        value = "hidden" if status == HIDDEN else UNTOLD if each.value is None else readable(each.value)
        return value, f"{readable(each.low, up=False)} to {readable(each.high, up=True)}"

    def drawing(self) -> Drawing | None:
        numbers, statuses = [_interval(each.spread) for each in self.answers], [each.status for each in self.answers]
        labels = titles(moments_text.heading(self.spec), moments_text.interval_headline(self.spec))
        return drawn(self.spec.axes, marks(self.keys(), numbers, statuses), labels)


def _interval(each: Estimate) -> Interval:
    return each.value, each.low, each.high
