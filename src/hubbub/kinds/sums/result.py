"""The published numbers of any statistic by bins: for each bin its integers, and each number with its interval. Holds
nothing of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.kinds.histogram.text import ONE_ROW
from hubbub.kinds.sums import chart, subtotals, text
from hubbub.kinds.sums.columns import (
    HIDDEN,
    SHOWN,
    UNTOLD,
    Key,
    Row,
    down,
    integer_type,
    integers,
    interval_arrays,
    interval_facts,
    key_of,
    label_arrays,
    one_batch,
    status_array,
    up,
)
from hubbub.kinds.sums.sums import ENDS, Estimate, Number
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import readable
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import floats, integer_column
from hubbub.tables import unlisted
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.labels import is_ranges
from hubbub.tables.protection import Crowd, Knowledge, Route
from hubbub.tables.unlisted import FOUND

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Statistic

_SMALLEST_SHARE: Final = 10**6


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: the integers that were published, and what they say of each number."""

    published: Row
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
    def value(self) -> Fraction | None:
        return self.estimates[0].value

    @property
    def estimate(self) -> Fraction | None:
        return self.estimates[0].estimate

    @property
    def low(self) -> Fraction:
        return self.estimates[0].low

    @property
    def high(self) -> Fraction | None:
        return self.estimates[0].high


def answers_of(spec: Statistic, rows: Sequence[Row]) -> list[Answer]:
    """The answer of every bin, from its published integers.

    Guarantee: whatever is true, each interval holds it with the coverage of the release, by the law of the noise and of
    the sample (:mod:`hubbub.kinds.sums.intervals`), and the estimate too. Where all that was declared is in the interval
    there is no estimate. Integers that such a release cannot publish are refused with a ValueError.
    """
    rows = list(rows)
    if isinstance(spec.protection, Crowd) and spec.channel is None:
        check_crowds(spec.protection.k, rows)
    many = len(spec.published)
    return [
        Answer(row[:many], (usable(spec, first), *more), row[-1] is None)
        for row, (first, *more) in zip(rows, spec.estimate(rows), strict=True)
    ]


def check_crowds(k: int, rows: Sequence[Row]) -> None:
    """Refuse a row of a crowd that is hidden in part, or too small to be shown."""
    for row in rows:
        hidden = [each is None for each in row]
        if any(hidden) != all(hidden) or (row[0] is not None and row[0] < k):
            raise ValueError("so small a crowd is hidden")


def usable(spec: Statistic, each: Estimate) -> Estimate:
    """Without its estimate, if its interval says nothing: noise alone could have drawn it, and there may be nobody."""
    possible = spec.possible
    if possible is None or each.low > possible[0] or each.high is None or each.high < possible[1]:
        return each
    return replace(each, estimate=None)


def columns(spec: Statistic) -> list[str]:
    """The names of the number columns of the published file."""
    return [*spec.published, *(name for number in spec.outputs for name in (*number.columns, number.status))]


def schema(spec: Statistic) -> pa.Schema:
    """The columns of its file: the labels of the bin, the published integers, and what follows from them."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, columns(spec))]
    told = list[tuple[str, pa.DataType]]()
    for number in spec.outputs:
        kind = pa.int64() if number.whole else pa.float64()
        told += [*((name, kind) for name in number.columns), (number.status, LABELS)]
    return pa.schema([*keys, *((name, integer_type(spec)) for name in spec.published), *told])


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
    calibrated: Estimate | None = None  # of all bins together, by their public totals

    def sheets(self) -> tuple[Sheet, ...]:
        batch, off = self._batch(), slack(self.spec)
        tolerance = dict.fromkeys(ENDS, off) if off else {}
        sheets = [Sheet("release", batch.schema, lambda: iter((batch,)), len(self.answers), tolerance)]
        if self.calibrated is not None:
            sheets.append(one_batch("calibrated", self._calibrated_row(self.calibrated)))
        if self.spec.subtotals:
            sheets.append(one_batch(subtotals.SHEET, self._totals_batch()))
        return tuple(sheets)

    def _batch(self) -> pa.RecordBatch:
        told = list[pa.Array]()
        for i, number in enumerate(self.spec.outputs):
            told += end_arrays(number, [answer.estimates[i] for answer in self.answers])
            told.append(status_array([answer.statuses[i] for answer in self.answers]))
        return self.file_batch(schema(self.spec), [answer.published for answer in self.answers], told)

    def totals(self) -> Iterator[tuple[subtotals.Group, Estimate]]:
        """What bins come to together, where that is asked for: everything first."""
        for group in subtotals.groups(self.spec.axes) if self.spec.subtotals else ():
            several = self.spec.estimate_total([self.answers[code].published for code in group.codes])
            yield group, usable(self.spec, several)

    def _totals_batch(self) -> pa.RecordBatch:
        found, spec = list(self.totals()), self.spec
        arrays = subtotals.key_arrays([group for group, _ in found], len(spec.axes))
        arrays += end_arrays(spec.outputs[0], [each for _, each in found])
        return pa.record_batch(arrays, names=[*subtotals.names(spec.axes), *ENDS])

    def _calibrated_row(self, each: Estimate) -> pa.RecordBatch:
        """The number of all bins by their public totals, and what it comes to in all."""
        people = sum(self.spec.totals or (), Fraction(0))
        assert each.high is not None, "means and shares have ends"
        numbers: dict[str, float | None] = {
            "people": float(people),
            "estimate": None if each.estimate is None else float(each.estimate),
            "low": down(each.low),
            "high": up(each.high),
            "total_estimate": None if each.estimate is None else float(people * each.estimate),
            "total_low": down(people * each.low),
            "total_high": up(people * each.high),
        }
        arrays = [floats([number]) for number in numbers.values()]
        return pa.record_batch(arrays, schema=pa.schema([(name, pa.float64()) for name in numbers]))

    def facts(self) -> Mapping[str, Any]:
        spec, phrases = self.spec, self.spec.phrases
        rows = []
        for key, answer in zip(self.key_facts(), self.answers, strict=True):
            published = dict(zip(spec.published, answer.published, strict=True))
            for number, each, status in zip(spec.outputs, answer.estimates, answer.statuses, strict=True):
                fact = interval_facts(each.value, each.interval)
                if number.whole:
                    high = None if each.high is None else ceil(each.high)
                    fact |= {"estimate": _nearest(each.estimate), "low": floor(each.low), "high": high}
                key |= {number.name: {STATUS: status, **fact}} if number.name else fact
            rows.append({**key, **published})
        return {
            "answers": rows,
            "counts": text.counted(spec),
            "route": phrases.route,
            "split": phrases.split,
            "unit": phrases.unit,
            **({} if spec.gaussian is None else {"noise": "gaussian"}),
            **({"values": phrases.values} if phrases.values else {}),
            "coverage": to_text(spec.coverage),
            **({} if spec.unit.bounds is None else {"bounds": spec.unit.bounds.to_json()}),
            **({"totals": subtotals.as_json(self._totals_batch(), spec.axes)} if spec.subtotals else {}),
            **({} if self.calibrated is None else {"calibrated": self._calibrated_row(self.calibrated).to_pylist()[0]}),
            **self.knowledge_facts(),
        }

    def sentences(self) -> tuple[str, ...]:
        counts_people = self.spec.measured is None and self.spec.axes and self.spec.unit.one_row_per_person
        return (
            *((ONE_ROW,) if counts_people else ()),
            *self._own_sentences(),
            *self._totals_sentence(),
            *unlisted.sentences(self.spec.axes),
        )

    def _totals_sentence(self) -> tuple[str, ...]:
        for _, each in self.totals():
            return (f"All bins together: {' ('.join(cells(self.spec.outputs[0], each))}). {subtotals.MORE}",)
        return ()

    def _own_sentences(self) -> tuple[str, ...]:
        route = f"{self.spec.phrases.route}."
        if self.found is not None:
            return FOUND, route
        statuses = [status for answer in self.answers for status in answer.statuses]
        hidden, untold = self.number_of(HIDDEN), statuses.count(UNTOLD)
        more = () if self.calibrated is None else (self._calibrated_sentence(self.calibrated),)
        if not hidden + untold:
            return "Nothing is hidden.", route, *more
        sentence = f"{statuses.count(SHOWN):,} of {len(statuses):,} numbers are shown"
        bins = "1 bin is" if hidden == 1 else f"{hidden:,} bins are"
        sentence += f"; {bins} hidden" if isinstance(self.spec.protection, Crowd) else ""
        sentence += f"; {untold:,} not usable, since noise alone may have drawn them" if untold else ""
        return (f"{sentence}.", route, *more)

    def _calibrated_sentence(self, each: Estimate) -> str:
        """What all bins say together."""
        people, number = sum(self.spec.totals or (), Fraction(0)), self.spec.outputs[0]
        about = "nothing can be told" if each.estimate is None else number_text(number, each.estimate)
        return (
            f"By the public totals of {_nearest(people):,} people the {number.heading} of all bins together is {about} "
            f"({cells(number, each)[1]}): that is about the people of the table in each bin, and how far they are from "
            "everybody is not told."
        )

    def display(self, first: int) -> DisplayTable:
        first_rows = self.answers[:first]
        rows = [(self.cells(row), all(each.estimate is None for each in row.estimates)) for row in first_rows]
        heads = [head for number in self.spec.outputs for head in (number.heading, "interval")]
        return self.display_table(heads, rows, columns(self.spec), text.notes(self.spec))

    def cells(self, answer: Answer) -> tuple[str, ...]:
        """Every number of a bin and its interval, as they are read."""
        both = zip(self.spec.outputs, answer.estimates, strict=True)
        return tuple(cell for number, each in both for cell in cells(number, each, is_hidden=answer.is_hidden))

    def disjoint_counts(self) -> str | None:
        """The numbers of a count by bins."""
        if self.spec.moved > 1:  # the same person may be in several
            return None
        if not self.spec.axes or not self.spec.outputs[0].whole or self.spec.sampled:
            return None
        return self.spec.published[0]

    def drawing(self) -> Drawing | None:
        return chart.bars(self)


def end_arrays(number: Number, found: Sequence[Estimate]) -> list[pa.Array]:
    """Estimates and intervals; of people and rows as whole numbers."""
    if not number.whole:
        return interval_arrays([each.interval for each in found])
    return [
        integers([_nearest(each.estimate) for each in found]),
        integers([floor(each.low) for each in found]),
        integers([None if each.high is None else ceil(each.high) for each in found]),
    ]


def cells(number: Number, each: Estimate, *, is_hidden: bool = False) -> tuple[str, str]:
    """An estimate and its interval as they are read, the ends rounded outwards: what is nearly certain does not look
    certain."""
    value = UNTOLD if each.estimate is None else number_text(number, each.estimate)
    high = "or more" if each.high is None else f"to {number_text(number, each.high, up=True)}"
    return "hidden" if is_hidden else value, f"{number_text(number, each.low, up=False)} {high}"


def number_text(number: Number, value: Fraction, *, up: bool | None = None) -> str:
    """A number as it is read, rounded to the nearest or to the one side that is named."""
    if number.whole:
        return f"{_nearest(value):,}"
    if number.percent:
        thousandths = (
            floor(1000 * value + Fraction(1, 2)) if up is None else ceil(1000 * value) if up else floor(1000 * value)
        )
        return f"{thousandths / 10:.1f} %"
    return readable(value, up=up)


def _nearest(value: Fraction | None) -> int | None:
    return None if value is None else floor(value + Fraction(1, 2))
