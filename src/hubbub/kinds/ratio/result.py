"""The published numbers of a ratio: for each bin both sums, an estimate, an interval. Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.kinds.ratio import text as ratio_text
from hubbub.kinds.statistic.arrays import Interval, interval_arrays, interval_facts, one_batch
from hubbub.kinds.statistic.chart import drawn, marks, titles
from hubbub.kinds.statistic.intervals import reach
from hubbub.kinds.statistic.result import ENDS, SHOWN, UNTOLD, BinAnswers, file_schema
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.tables.key_columns import STATUS

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio


DRAWN: Final = ("of_steps", "per_steps")
"""Both sums, in steps."""
_COLUMNS: Final = [*DRAWN, *ENDS, STATUS]


def schema(spec: Ratio) -> pa.Schema:
    """The schema of the published file."""
    return file_schema(spec.axes, DRAWN, ENDS)


@dataclass(frozen=True, slots=True, eq=False)
class Ratios(BinAnswers):
    """What a ratio published."""

    spec: Ratio
    answers: list[Answer]

    def sheets(self) -> tuple[Sheet, ...]:
        return (one_batch("release", self._batch()),)

    def _batch(self) -> pa.RecordBatch:
        published = [answer.published for answer in self.answers]
        return self.file_batch(schema(self.spec), published, interval_arrays(self._intervals()))

    def _intervals(self) -> list[Interval]:
        return [(answer.estimate, answer.low, answer.high) for answer in self.answers]

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        rows = [
            {
                **key,
                **interval_facts(answer.estimate, (answer.estimate, answer.low, answer.high)),
                **dict(zip(DRAWN, answer.published, strict=True)),
            }
            for key, answer in zip(self.key_facts(), self.answers, strict=True)
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
        untold = self.number_of(UNTOLD)
        numbers = f"{len(self.answers) - untold:,} of {len(self.answers):,} numbers are shown."
        return numbers if untold else "Nothing is hidden.", f"{ratio_text.ROUTE}."

    def display(self, first: int) -> DisplayTable:
        cells = []
        for answer in self.answers[:first]:
            value = UNTOLD if answer.estimate is None else readable(answer.estimate)
            high = "or more" if answer.high is None else f"to {readable(answer.high, up=True)}"
            cells.append(((value, f"{readable(answer.low, up=False)} {high}"), answer.estimate is None))
        heads = (ratio_text.heading(self.spec), "interval")
        return self.display_table(heads, cells, _COLUMNS, ratio_text.notes(self.spec))

    def drawing(self) -> Drawing | None:
        labels = titles(ratio_text.heading(self.spec), ratio_text.interval_headline(self.spec))
        rows = marks(self.keys(), self._intervals(), [answer.status for answer in self.answers])
        return drawn(self.spec.axes, rows, labels)


# --- from two sums to a ratio -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: both published sums, in steps, what they say, and where the ratio lies."""

    published: tuple[int, int]
    estimate: Fraction | None
    low: Fraction
    high: Fraction | None  # None: no upper end
    status: str


def answer_of(spec: Ratio, dividend: int, divisor: int) -> Answer:
    """The answer that follows from two published sums.

    Guarantee: each sum is within the reach of its noise but for half of 1 - coverage, so that both are with the coverage
    of the release, and then the ratio of the sums lies in the interval, wherever the sums are in their box. Where the
    lower sum may be 0 there is no upper end.
    """
    miss = (1 - spec.coverage) / 2
    off, away = (reach(rate, miss) for rate in spec.rates)
    step = spec.of.step / spec.per.step
    low, high = clamped_interval(dividend, off, 0)
    least, most = clamped_interval(divisor, away, 0)
    down = step * Fraction(low, most) if most else Fraction(0)
    up = step * Fraction(high, least) if least > 0 else None
    if divisor <= 0 or least <= 0:
        return Answer((dividend, divisor), None, down, up, UNTOLD)
    about = step * Fraction(dividend, divisor)
    return Answer((dividend, divisor), max(about, down), down, up, SHOWN)
