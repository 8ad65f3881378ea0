"""The published numbers of a summary: for each bin each number, its estimate and interval. Holds nothing of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hubbub.channels.estimate import interval
from hubbub.errors import CheckFailed
from hubbub.kinds.summary import text
from hubbub.kinds.summary.numbers import (
    Average,
    Number,
    PeopleCount,
    RowCount,
    Total,
    drawn_columns,
    interval_columns,
    status_column,
)
from hubbub.kinds.sums.chart import drawn, marks, titles
from hubbub.kinds.sums.columns import (
    NO_NUMBERS,
    SHOWN,
    UNTOLD,
    Interval,
    down,
    integer_type,
    integers,
    interval_arrays,
    one_batch,
    status_array,
    up,
)
from hubbub.kinds.sums.intervals import of_sums, reach
from hubbub.kinds.sums.result import BinAnswers
from hubbub.kinds.sums.sums import ENDS
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import readable
from hubbub.numeric.gaussian_sums import reach_of_equals
from hubbub.protocol.drawing import Drawing, Mark
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.tables import unlisted
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.unlisted import FOUND

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary


def integer_columns(spec: Summary) -> list[str]:
    """The integers that are drawn for each bin."""
    return [name for number in spec.numbers for name in drawn_columns(number)]


def columns(spec: Summary) -> list[str]:
    """The names of the number columns of the published file."""
    return [*integer_columns(spec), *(field.name for number in spec.numbers for field in _fields(number))]


def schema(spec: Summary) -> pa.Schema:
    """The schema of the published file: the labels of the bin, what was drawn, and each number with its interval."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, columns(spec))]
    told = [field for number in spec.numbers for field in _fields(number)]
    return pa.schema([*keys, *((name, integer_type(spec)) for name in integer_columns(spec)), *told])


def _fields(number: Number) -> list[pa.Field]:
    """The estimate, its interval and its status."""
    kind = pa.int64() if isinstance(number, PeopleCount | RowCount) else pa.float64()
    return [*(pa.field(name, kind) for name in interval_columns(number)), pa.field(status_column(number), LABELS)]


@dataclass(frozen=True, slots=True, eq=False)
class Summaries(BinAnswers):
    """What a summary published."""

    spec: Summary
    answers: list[Answer]

    def sheets(self) -> tuple[Sheet, ...]:
        return (one_batch("release", self._batch()),)

    def _batch(self) -> pa.RecordBatch:
        told = [array for i, number in enumerate(self.spec.numbers) for array in self._arrays(i, number)]
        return self.file_batch(schema(self.spec), [answer.published for answer in self.answers], told)

    def _arrays(self, i: int, number: Number) -> list[pa.Array]:
        """An estimate, its ends and its status: people and rows are whole numbers."""
        found = [answer.intervals[i] for answer in self.answers]
        if isinstance(number, PeopleCount | RowCount):
            ends = [integers([None if end is None else int(end) for end in each]) for each in zip(*found, strict=True)]
        else:
            ends = interval_arrays(found)
        return [*ends, status_array(list(map(_status, found)))]

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        answers = [
            {
                "key": key,
                "numbers": dict(self._facts(answer)),
                **dict(zip(integer_columns(spec), answer.published, strict=True)),
            }
            for key, answer in zip(self.labelled_keys(), self.answers, strict=True)
        ]
        return {
            "answers": answers,
            "counts": text.counted(spec),
            "numbers": {number.name: text.meaning(spec, number) for number in spec.numbers},
            "route": text.route(spec),
            "split": text.split(spec),
            **({} if spec.gaussian is None else {"noise": "gaussian"}),
            "coverage": to_text(spec.coverage),
            **({} if spec.unit.bounds is None else {"bounds": spec.unit.bounds.to_json()}),
        }

    def _facts(self, answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, told in zip(self.spec.numbers, answer.intervals, strict=True):
            about, low, high = told
            whole = isinstance(number, PeopleCount | RowCount)
            ends = (about, low, high) if whole else (about, down(low), up(high))
            numbers = [None if end is None else int(end) if whole else float(end) for end in ends]
            yield number.name, {**dict(zip(ENDS, numbers, strict=True)), STATUS: _status(told)}

    def sentences(self) -> tuple[str, ...]:
        untold = sum(estimate is None for answer in self.answers for estimate, _, _ in answer.intervals)
        every = len(self.answers) * len(self.spec.numbers)
        shown = f"{every - untold:,} of {every:,} numbers are shown." if untold else "Nothing is hidden."
        caps = [
            f"Of each person at most {answer.caps[number.name]:,} rows count in a bin for {number.name}: that was drawn."
            for answer in self.answers[:1]
            for number in self.spec.numbers
            if number.name in answer.caps
        ]
        shown = FOUND if self.found is not None else shown
        return (shown, f"{text.route(self.spec)}.", *caps, *unlisted.sentences(self.spec.axes))

    def display(self, first: int) -> DisplayTable:
        cells = []
        for answer in self.answers[:first]:
            texts = [part for ends in answer.intervals for part in _read(ends)]
            cells.append((tuple(texts), all(estimate is None for estimate, _, _ in answer.intervals)))
        heads = [head for number in self.spec.numbers for head in (number.name, f"interval of {number.name}")]
        return self.display_table(heads, cells, columns(self.spec), text.notes(self.spec))

    def drawing(self) -> Drawing | None:
        first = self.spec.numbers[0]
        mark = Mark.POINT if isinstance(first, Average) else Mark.BAR
        labels = titles(text.heading(first), text.interval_headline(self.spec), mark, upright=mark is Mark.BAR)
        intervals = [answer.intervals[0] for answer in self.answers]
        rows = marks(self.keys(), intervals, map(_status, intervals))
        return drawn(self.spec.axes, rows, labels)


def _status(ends: Interval) -> str:
    return UNTOLD if ends[0] is None else SHOWN


def _read(ends: Interval) -> tuple[str, str]:
    """A number and its interval, as they are read."""
    estimate, low, high = ends
    up_to = "or more" if high is None else f"to {readable(high, up=True)}"
    return UNTOLD if estimate is None else readable(estimate), f"{readable(low, up=False)} {up_to}"


# --- from what was drawn to what it says --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: what was drawn, and of each number the estimate and its interval."""

    published: tuple[int, ...]
    intervals: tuple[Interval, ...]
    caps: Mapping[str, int]


def answers_of(spec: Summary, rows: Sequence[tuple[int, ...]]) -> list[Answer]:
    """Every number of every bin.

    Guarantee: each interval holds its number with the coverage of the release, by the law of the noise; of an average,
    both noises with half of the chance to be wrong each. A CheckFailed if a cap is none that is drawn, or is not one for
    all bins.
    """
    found = []
    for row in rows:
        rest, intervals, caps = list(row), list[Interval](), dict[str, int]()
        for number in spec.numbers:
            values = [rest.pop(0) for _ in drawn_columns(number)]
            cap = values.pop() if spec.for_cap(number) else None
            if cap is not None:
                caps[number.name] = cap
            intervals.append(_interval(spec, number, cap, values))
        found.append(Answer(row, tuple(intervals), caps))
    if any(each.caps != found[0].caps for each in found) or not all(
        cap in spec.cap_points for cap in (found[0].caps.values() if found else ())
    ):
        raise CheckFailed(NO_NUMBERS)
    return found


def _interval(spec: Summary, number: Number, cap: int | None, values: Sequence[int]) -> Interval:
    miss = 1 - spec.coverage
    match number:
        case Average(of=of):
            part, whole = values
            ends = of_sums(part, whole, _reach(spec, number, cap, miss / 2))
            least, most = (of.low + end * of.steps * of.step for end in ends)
            about = None if whole <= 0 else of.low + Fraction(part, whole) * of.steps * of.step
            low, high = of.unrounded(least, most)
            if about is None or (low <= of.low and high >= of.high):  # nothing is known of it
                return None, low, high
            return clamp(about, least, most), low, high
        case PeopleCount() if spec.discovered:
            return _of_found(spec, *values)
        case Total(of=of):
            (total,), off = values, _reach(spec, number, cap, miss)
            bottom, top = number.ends
            return _kept(total, off, 0 if bottom >= 0 else None, 0 if top <= 0 else None, of.step)
        case _:
            (total,), off = values, _reach(spec, number, cap, miss)
            return _kept(total, off, 0, None, Fraction(1))


def _of_found(spec: Summary, people: int) -> Interval:
    """The number of people of a bin that is listed because it came out high: the interval is right given that."""
    channel = spec.people_channel
    assert channel.show_above is not None
    if people <= channel.show_above:
        raise CheckFailed(NO_NUMBERS)
    found = interval(channel, people, "", spec.coverage)
    return Fraction(people), Fraction(found.low), None if found.high is None else Fraction(found.high)


def _kept(total: int, off: int, least: int | None, most: int | None, step: Fraction) -> Interval:
    """Between what it lies, no lower and no higher than can be, in the unit of the column."""
    low, high = clamped_interval(total, off, least, most)
    return clamp(total, least, most) * step, low * step, high * step


@lru_cache(maxsize=1024)
def _reach(spec: Summary, number: Number, cap: int | None, miss: Fraction) -> int:
    """An r such that the noise of a number is beyond r, either way, with a chance of at most `miss`."""
    if spec.gaussian is not None:
        return reach_of_equals(spec.variance(number), 1, miss / 2)
    return reach(spec.rate(number, cap), miss)
