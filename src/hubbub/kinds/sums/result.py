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
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, UNTOLD, BinAnswers, integer_type, status_array
from hubbub.kinds.sums import text
from hubbub.kinds.sums.sums import Estimate
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.tables.key_columns import STATUS, key_columns
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
    told = (name for number in spec.sums.numbers for name in (*number.columns, number.status))
    return [*drawn_columns(spec), *told]


def schema(spec: Declared) -> pa.Schema:
    """The schema of the published file."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, columns(spec))]
    told = [
        field
        for number in spec.sums.numbers
        for field in (*((name, pa.float64()) for name in number.columns), (number.status, LABELS))
    ]
    return pa.schema([*keys, *((name, integer_type(spec)) for name in drawn_columns(spec)), *told])


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: the integers that were published, and what they say of each number."""

    published: tuple[int | None, ...]
    estimates: tuple[Estimate, ...]
    is_hidden: bool = False

    @property
    def statuses(self) -> tuple[str, ...]:
        """Whether each number is shown."""
        shown = (UNTOLD if each.estimate is None else SHOWN for each in self.estimates)
        return (HIDDEN,) * len(self.estimates) if self.is_hidden else tuple(shown)

    @property
    def status(self) -> str:
        return self.statuses[0]

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
        told = list[pa.Array]()
        for i in range(len(self.spec.sums.numbers)):
            told += interval_arrays([answer.estimates[i].interval for answer in self.answers])
            told.append(status_array([answer.statuses[i] for answer in self.answers]))
        published = [answer.published for answer in self.answers]
        return (one_batch("release", self.file_batch(schema(self.spec), published, told)),)

    def facts(self) -> Mapping[str, Any]:
        spec, phrases = self.spec, self.spec.sums.phrases()
        rows = []
        for key, answer in zip(self.key_facts(), self.answers, strict=True):
            published = dict(zip(drawn_columns(spec), answer.published, strict=True))
            for number, each, status in zip(spec.sums.numbers, answer.estimates, answer.statuses, strict=True):
                fact = interval_facts(each.value, each.interval)
                key |= {number.name: {STATUS: status, **fact}} if number.name else fact
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
        statuses = [status for answer in self.answers for status in answer.statuses]
        shown = f"{statuses.count(SHOWN):,} of {len(statuses):,} numbers are shown."
        return "Nothing is hidden." if statuses.count(SHOWN) == len(statuses) else shown, route

    def display(self, first: int) -> DisplayTable:
        cells = [
            (
                tuple(cell for each in answer.estimates for cell in _cells(each, answer)),
                all(each.estimate is None for each in answer.estimates),
            )
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
