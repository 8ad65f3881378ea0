"""The published numbers of a statistic: for each bin a value, an estimate, an interval. Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from hubbub.kinds.histogram.text import ONE_ROW
from hubbub.kinds.statistic import chart, subtotals
from hubbub.kinds.statistic import text as statistic_text
from hubbub.kinds.statistic.arrays import (
    down,
    integers,
    interval_arrays,
    interval_facts,
    label_arrays,
    one_batch,
    up,
)
from hubbub.numeric.exact import to_text
from hubbub.numeric.exact_sums import fits
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import WIDE, floats, integer_column, labelled
from hubbub.tables import unlisted
from hubbub.tables.bins import Axis, Discovered, all_labels, size
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.labels import is_ranges
from hubbub.tables.protection import Crowd, Knowledge, Route
from hubbub.tables.unlisted import FOUND

if TYPE_CHECKING:
    from hubbub.kinds.statistic.spec import Statistic

SHOWN: Final = "shown"
HIDDEN: Final = "suppressed"
UNTOLD: Final = chart.UNTOLD
STATUSES: Final = (SHOWN, HIDDEN, UNTOLD)
ENDS: Final = subtotals.ENDS
VALUE_STEPS: Final = "value_steps"
_SMALLEST_SHARE: Final = 10**6
SIGNIFICANT: Final = 6


Key: TypeAlias = tuple[str | None, ...]


def key_of(axes: Sequence[Axis], code: int, found: Sequence[str | None] = ()) -> Key:
    """The labels of a bin: of declared axes by its code, the last one fastest, and what was found of the others."""
    labels, remaining, rest = [], list(found), code
    for axis in reversed(axes):
        if isinstance(axis, Discovered):
            labels.append(remaining.pop())
        else:
            rest, at = divmod(rest, size(axis))
            labels.append(all_labels(axis)[at])
    return tuple(reversed(labels))


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: the integers that were published, what they say exactly, what can be true, and its interval."""

    published: tuple[int | None, ...]
    value: Fraction | None
    estimate: Fraction | None
    low: Fraction
    high: Fraction | None  # None: no upper end
    status: str


def published_columns(spec: Statistic) -> tuple[str, ...]:
    """The integers that stand beside each answer: whatever is said follows from them.

    A number of people in a secret sample is called `sampled`, so that nobody takes it for one of everybody; one of rows
    that were kept of people with several is called `kept_rows`, or what rows are called.
    """
    people = "sampled" if spec.sampled else spec.unit.rows_column if spec.unit.one_row_per_person else "people"
    people = spec.unit.rows_column if spec.profiled else people
    if spec.kind.name == "quantile":
        return (people, VALUE_STEPS) if isinstance(spec.protection, Crowd) else (VALUE_STEPS,)
    if spec.measured is None and spec.unit.counts_rows and not spec.sampled:
        return (spec.unit.rows_column,)
    if spec.measured is None and spec.weighted_by is not None:
        return ("weight_steps",)
    if spec.measured is None:
        return ("sampled" if spec.sampled else spec.unit.rows_column if spec.unit.one_row_per_person else "count",)
    if spec.has_single_unknown and isinstance(spec.protection, Knowledge):
        return ("sampled" if spec.sampled else "having",)
    return (people, "sum") if isinstance(spec.protection, Crowd) else ("part", "whole")


def counts_people(spec: Statistic) -> bool:
    """Whether its numbers are whole numbers: of people or rows, and not of what people stand for."""
    return spec.kind.name == "count" and spec.weighted_by is None


def drawn_columns(spec: Statistic) -> tuple[str, ...]:
    """The integers that are drawn for each bin: those that are published, and of a quantile both ends of its interval, in
    steps of the declared range as its value."""
    return (*published_columns(spec), *ENDS[1:]) if spec.ranked is not None else published_columns(spec)


def columns(spec: Statistic) -> list[str]:
    """The names of the number columns of the published file."""
    return [*published_columns(spec), *ENDS, STATUS]


def schema(spec: Statistic) -> pa.Schema:
    """The columns of its file: the labels of the bin, the published integers, and what follows from them."""
    number = pa.int64() if counts_people(spec) else pa.float64()
    return file_schema(spec, published_columns(spec), ENDS, number)


def integer_type(spec: Statistic) -> pa.DataType:
    """That of the integers that are drawn: of 64 bits, unless what one row adds is so much that they need not fit."""
    return pa.int64() if fits(spec.most_added) else WIDE


def file_schema(
    spec: Statistic, integers: Sequence[str], ends: Sequence[str], number: pa.DataType | None = None
) -> pa.Schema:
    """The columns of a file: the labels of the bin, integers, what follows from them, and the status."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, [*integers, *ends, STATUS])]
    numbers = [(name, integer_type(spec)) for name in integers] + [(name, number or pa.float64()) for name in ends]
    return pa.schema([*keys, *numbers, (STATUS, LABELS)])


def status_array(statuses: Sequence[str]) -> pa.Array:
    """A column of statuses."""
    return labelled(np.array([STATUSES.index(status) for status in statuses], dtype=np.int64), STATUSES)


def slack(spec: Statistic) -> Fraction:
    """How far an end may be from one that is worked out elsewhere: the laws of samples are sums of floats, which
    machines round differently. One person in a million."""
    knowledge = spec.protection
    by_law = (spec.measured is None or spec.has_single_unknown) and not spec.unit.counts_rows
    if not by_law or not isinstance(knowledge, Knowledge) or knowledge.route is Route.EXACT:
        return Fraction(0)
    people = Fraction(knowledge.people // _SMALLEST_SHARE)
    return people if spec.measured is None else people / knowledge.people


@dataclass(frozen=True, slots=True, eq=False)
class BinAnswers(Result):
    """What a statistic by bins published: an answer for each bin, in order."""

    spec: Statistic
    answers: list[Any]
    found: list[Key] | None = None  # the labels of the bins that are shown, where bins are found in the data

    def keys(self) -> Iterator[Key]:
        """The labels of every bin, in order."""
        if self.found is not None:
            yield from self.found
            return
        for code in range(self.spec.bins):
            yield key_of(self.spec.axes, code)

    def file_batch(
        self, schema: pa.Schema, published: Sequence[Sequence[int | None]], ends: Sequence[pa.Array]
    ) -> pa.RecordBatch:
        """The rows of the file: labels, the published integers of every bin, then estimates, intervals and statuses."""
        labels = label_arrays(len(self.spec.axes), list(self.keys()))
        many = len(schema) - len(labels) - len(ends)
        numbers = [integer_column([row[i] for row in published], integer_type(self.spec)) for i in range(many)]
        return pa.record_batch([*labels, *numbers, *ends], schema=schema)

    def status_array(self) -> pa.Array:
        """The status of every bin."""
        return status_array([answer.status for answer in self.answers])

    def labelled_keys(self) -> Iterator[dict[str, str | None]]:
        """The labels of every bin by the name of their column, for JSON."""
        names = [axis.column for axis in self.spec.axes]
        return (dict(zip(names, key, strict=True)) for key in self.keys())

    def key_facts(self) -> Iterator[dict[str, Any]]:
        """The labels of every bin by the name of their column, and its status, for JSON."""
        for key, answer in zip(self.labelled_keys(), self.answers, strict=True):
            yield {"key": key, STATUS: answer.status}

    def knowledge_facts(self) -> dict[str, Any]:
        """Of how many people a secret sample told, for JSON."""
        protection = self.spec.protection
        if not isinstance(protection, Knowledge):
            return {}
        return {"rows": protection.rows, "people": protection.people, "epsilon": to_text(protection.epsilon)}

    def number_of(self, status: str) -> int:
        """How many bins have this status."""
        return sum(answer.status == status for answer in self.answers)

    def display_table(
        self,
        heads: Sequence[str],
        cells: Iterable[tuple[tuple[str, ...], bool]],
        columns: Sequence[str],
        notes: tuple[str, ...],
    ) -> DisplayTable:
        """A table of the first bins, given their cells and whether they are greyed out."""
        rows = tuple((key, texts, unknown) for key, (texts, unknown) in zip(self.keys(), cells, strict=False))
        names, ranges = tuple(key_columns(self.spec.axes, columns)), tuple(map(is_ranges, self.spec.axes))
        return DisplayTable(names, tuple(heads), rows, notes, ranges)


@dataclass(frozen=True, slots=True, eq=False)
class Answers(BinAnswers):
    """What a statistic published."""

    answers: list[Answer]
    calibrated: Answer | None = None  # of all bins together, by their public totals

    def sheets(self) -> tuple[Sheet, ...]:
        batch, off = self._batch(), slack(self.spec)
        tolerance = dict.fromkeys(ENDS, off) if off else {}
        sheets = [Sheet("release", batch.schema, lambda: iter((batch,)), len(self.answers), tolerance)]
        if self.calibrated is not None:
            sheets.append(one_batch("calibrated", self._calibrated_row(self.calibrated)))
        if self.spec.subtotals:
            sheets.append(one_batch(subtotals.SHEET, self._totals_batch()))
        return tuple(sheets)

    def totals(self) -> Iterator[tuple[subtotals.Group, Answer]]:
        """What bins come to together, where that is asked for: everything first."""
        from hubbub.kinds.statistic.estimates import estimated_total

        for group in subtotals.groups(self.spec.axes) if self.spec.subtotals else ():
            yield group, estimated_total(self.spec, [self.answers[code].published for code in group.codes])

    def _totals_batch(self) -> pa.RecordBatch:
        found, spec = list(self.totals()), self.spec
        arrays = subtotals.key_arrays([group for group, _ in found], len(spec.axes))
        arrays += self._ends([answer for _, answer in found])
        return pa.record_batch(arrays, names=[*subtotals.names(spec.axes), *ENDS])

    def _calibrated_row(self, answer: Answer) -> pa.RecordBatch:
        """The number of all bins by their public totals, and what it comes to in all."""
        people = sum(self.spec.totals or (), Fraction(0))
        high = answer.high
        assert high is not None, "means and shares have ends"
        numbers: dict[str, float | None] = {
            "people": float(people),
            "estimate": None if answer.estimate is None else float(answer.estimate),
            "low": down(answer.low),
            "high": up(high),
            "total_estimate": None if answer.estimate is None else float(people * answer.estimate),
            "total_low": down(people * answer.low),
            "total_high": up(people * high),
        }
        arrays = [floats([number]) for number in numbers.values()]
        return pa.record_batch(arrays, schema=pa.schema([(name, pa.float64()) for name in numbers]))

    def _batch(self) -> pa.RecordBatch:
        published = [answer.published for answer in self.answers]
        ends = [*self._ends(self.answers), self.status_array()]
        return self.file_batch(schema(self.spec), published, ends)

    def _ends(self, found: Sequence[Answer]) -> list[pa.Array]:
        """Estimates and intervals."""
        if counts_people(self.spec):
            return [
                integers([_nearest(answer.estimate) for answer in found]),
                integers([floor(answer.low) for answer in found]),
                integers([None if answer.high is None else ceil(answer.high) for answer in found]),
            ]
        return interval_arrays([(answer.estimate, answer.low, answer.high) for answer in found])

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        rows = []
        for key, answer in zip(self.key_facts(), self.answers, strict=True):
            numbers = interval_facts(answer.value, (answer.estimate, answer.low, answer.high))
            if counts_people(spec):
                high = None if answer.high is None else ceil(answer.high)
                numbers |= {"estimate": _nearest(answer.estimate), "low": floor(answer.low), "high": high}
            rows.append({**key, **numbers, **dict(zip(published_columns(spec), answer.published, strict=True))})
        return {
            "answers": rows,
            "counts": statistic_text.counted(spec),
            "route": statistic_text.route(spec),
            "split": statistic_text.split(spec),
            "unit": statistic_text.unit(spec),
            **({} if spec.gaussian is None else {"noise": "gaussian"}),
            **({"values": statistic_text.cut(spec)} if statistic_text.cut(spec) else {}),
            "coverage": to_text(spec.coverage),
            **({} if spec.unit.bounds is None else {"bounds": spec.unit.bounds.to_json()}),
            **({"totals": subtotals.as_json(self._totals_batch(), spec.axes)} if spec.subtotals else {}),
            **({} if self.calibrated is None else {"calibrated": self._calibrated_row(self.calibrated).to_pylist()[0]}),
            **self.knowledge_facts(),
        }

    def sentences(self) -> tuple[str, ...]:
        one_row = self.spec.kind.name == "count" and self.spec.axes and self.spec.unit.one_row_per_person
        return (
            *((ONE_ROW,) if one_row else ()),
            *self._own_sentences(),
            *self._totals_sentence(),
            *unlisted.sentences(self.spec.axes),
        )

    def _totals_sentence(self) -> tuple[str, ...]:
        for _, answer in self.totals():
            return (f"All bins together: {self.estimate_text(answer)} ({self.interval(answer)}). {subtotals.MORE}",)
        return ()

    def _own_sentences(self) -> tuple[str, ...]:
        if self.found is not None:
            return FOUND, f"{statistic_text.route(self.spec)}."
        hidden, untold = self.number_of(HIDDEN), self.number_of(UNTOLD)
        route = f"{statistic_text.route(self.spec)}."
        more = () if self.calibrated is None else (self._calibrated_sentence(self.calibrated),)
        if not hidden + untold:
            return "Nothing is hidden.", route, *more
        sentence = f"{len(self.answers) - hidden - untold:,} of {len(self.answers):,} numbers are shown"
        bins = "1 bin is" if hidden == 1 else f"{hidden:,} bins are"
        sentence += f"; {bins} hidden" if isinstance(self.spec.protection, Crowd) else ""
        sentence += f"; {untold:,} not usable, since noise alone may have drawn them" if untold else ""
        return (f"{sentence}.", route, *more)

    def _calibrated_sentence(self, answer: Answer) -> str:
        """What all bins say together."""
        people = sum(self.spec.totals or (), Fraction(0))
        about = "nothing can be told" if answer.estimate is None else self.number_text(answer.estimate)
        return (
            f"By the public totals of {_nearest(people):,} people the {statistic_text.heading(self.spec)} of all "
            f"bins together is {about} ({self.interval(answer)}): that is about the people of the table in each bin, and "
            "how far they are from everybody is not told."
        )

    def display(self, first: int) -> DisplayTable:
        cells = [
            (
                (self.estimate_text(answer), self.interval(answer)),
                answer.estimate is None,
            )
            for answer in self.answers[:first]
        ]
        heads = (statistic_text.heading(self.spec), "interval")
        return self.display_table(heads, cells, columns(self.spec), statistic_text.notes(self.spec))

    def estimate_text(self, answer: Answer) -> str:
        """Its estimate as it is read."""
        if answer.status == HIDDEN:
            return "hidden"
        return UNTOLD if answer.estimate is None else self.number_text(answer.estimate)

    def interval(self, answer: Answer) -> str:
        """Its interval as it is read; shares are rounded outwards, so that what is nearly certain does not look so."""
        low, high = answer.low, answer.high
        if self.spec.kind.name == "fraction":
            low, high = Fraction(floor(1000 * low), 1000), None if high is None else Fraction(ceil(1000 * high), 1000)
        return f"{self.number_text(low)} {'or more' if high is None else f'to {self.number_text(high)}'}"

    def number_text(self, value: Fraction) -> str:
        """A number as it is read."""
        if counts_people(self.spec):
            return f"{_nearest(value):,}"
        if self.spec.kind.name == "fraction":
            return f"{100 * float(value):.1f} %"
        text = f"{float(value):,.{SIGNIFICANT}g}"
        return text if "e" not in text else f"{float(value):,.2f}"

    def disjoint_counts(self) -> str | None:
        """The numbers of a count by bins."""
        if self.spec.moved > 1:  # the same person may be in several
            return None
        if not self.spec.axes or not counts_people(self.spec) or self.spec.sampled:
            return None
        return published_columns(self.spec)[0]

    def drawing(self) -> Drawing | None:
        return chart.bars(self)


def _nearest(value: Fraction | None) -> int | None:
    return None if value is None else floor(value + Fraction(1, 2))
