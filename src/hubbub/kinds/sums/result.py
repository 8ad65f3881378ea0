"""The published numbers of any declared statistic: for each bin its integers, and each number with its interval. Holds
nothing of the data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hubbub.kinds.statistic import text as statistic_text
from hubbub.kinds.statistic.arrays import interval_arrays, interval_facts, one_batch
from hubbub.kinds.statistic.chart import drawn, marks, titles
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, UNTOLD, BinAnswers, file_schema
from hubbub.kinds.sums import text
from hubbub.kinds.sums.sums import Estimate
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.tables.key_columns import STATUS
from hubbub.tables.protection import Crowd
from hubbub.tables.unlisted import FOUND

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared


def drawn_columns(spec: Declared) -> tuple[str, ...]:
    """The integers that are drawn for each bin, and stand beside its answer.

    A number of people in a secret sample is called `sampled`, so that nobody takes it for one of everybody; one of rows
    that were kept of people with several is called `kept_rows`, or what rows are called.
    """
    if not isinstance(spec.protection, Crowd):
        return spec.sums.columns
    people = "sampled" if spec.sampled else spec.unit.rows_column if spec.unit.one_row_per_person else "people"
    return (people, *spec.sums.columns)


def columns(spec: Declared) -> list[str]:
    """The names of the number columns of the published file."""
    return [*drawn_columns(spec), *(name for number in spec.sums.numbers for name in number.columns), STATUS]


def schema(spec: Declared) -> pa.Schema:
    """The schema of the published file."""
    return file_schema(spec, drawn_columns(spec), [name for number in spec.sums.numbers for name in number.columns])


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: the integers that were published, and what they say of each number."""

    published: tuple[int | None, ...]
    estimates: tuple[Estimate, ...]
    is_hidden: bool = False

    @property
    def status(self) -> str:
        return HIDDEN if self.is_hidden else UNTOLD if self.estimate is None else SHOWN

    @property
    def estimate(self) -> Fraction | None:
        return self.estimates[0].estimate

    @property
    def low(self) -> Fraction:
        return self.estimates[0].low

    @property
    def high(self) -> Fraction | None:
        return self.estimates[0].high


@dataclass(frozen=True, slots=True, eq=False)
class Answers(BinAnswers):
    """What a declared statistic published."""

    spec: Declared
    answers: list[Answer]

    def sheets(self) -> tuple[Sheet, ...]:
        each = (interval_arrays([each.interval for each in of]) for of in zip(*self._estimates(), strict=True))
        ends = [array for arrays in each for array in arrays]
        published = [answer.published for answer in self.answers]
        return (one_batch("release", self.file_batch(schema(self.spec), published, ends)),)

    def _estimates(self) -> list[tuple[Estimate, ...]]:
        return [answer.estimates for answer in self.answers]

    def facts(self) -> Mapping[str, Any]:
        spec, phrases = self.spec, self.spec.sums.phrases()
        rows = []
        for key, answer in zip(self.key_facts(), self.answers, strict=True):
            published = dict(zip(drawn_columns(spec), answer.published, strict=True))
            for number, each in zip(spec.sums.numbers, answer.estimates, strict=True):
                fact = interval_facts(each.value, each.interval)
                key |= {number.name: fact} if number.name else fact
            rows.append({**key, **published})
        return {
            "answers": rows,
            "counts": statistic_text.counted(spec),
            "route": phrases.route,
            "split": phrases.split,
            "unit": phrases.unit,
            "values": phrases.values,
            "coverage": to_text(spec.coverage),
            **({} if spec.unit.bounds is None else {"bounds": spec.unit.bounds.to_json()}),
            **self.knowledge_facts(),
        }

    def sentences(self) -> tuple[str, ...]:
        route = f"{self.spec.sums.phrases().route}."
        if self.found is not None:
            return FOUND, route
        hidden = self.number_of(HIDDEN) + self.number_of(UNTOLD)
        shown = f"{len(self.answers) - hidden:,} of {len(self.answers):,} numbers are shown."
        return shown if hidden else "Nothing is hidden.", route

    def display(self, first: int) -> DisplayTable:
        cells = [
            (tuple(cell for each in answer.estimates for cell in _cells(each, answer)), answer.estimate is None)
            for answer in self.answers[:first]
        ]
        heads = [head for number in self.spec.sums.numbers for head in (number.heading, "interval")]
        return self.display_table(heads, cells, columns(self.spec), text.notes(self.spec))

    def drawing(self) -> Drawing | None:
        phrases, firsts = self.spec.sums.phrases(), [answer.estimates[0].interval for answer in self.answers]
        rows = marks(self.keys(), firsts, [answer.status for answer in self.answers])
        return drawn(self.spec.axes, rows, titles(phrases.heading, phrases.interval_headline))


def _cells(each: Estimate, answer: Answer) -> tuple[str, str]:
    """An estimate and its interval as they are read."""
    value = "hidden" if answer.is_hidden else UNTOLD if each.estimate is None else readable(each.estimate)
    high = "or more" if each.high is None else f"to {readable(each.high, up=True)}"
    return value, f"{readable(each.low, up=False)} {high}"
