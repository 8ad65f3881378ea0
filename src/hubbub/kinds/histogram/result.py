"""The published counts of a histogram: a value, a tag and an interval for each bin. Holds no count of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.catalogue import parameters
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Published
from hubbub.channels.visibility import hides
from hubbub.kinds.histogram import chart
from hubbub.kinds.histogram import text as histogram_text
from hubbub.kinds.histogram.estimands import (
    Estimand,
    estimates,
    has_estimates,
    of_interval,
    of_number,
    published_intervals,
)
from hubbub.kinds.histogram.sparse import is_sparse
from hubbub.numeric.exact import to_text
from hubbub.numeric.exact_sums import distinct_and_inverse
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables import unlisted
from hubbub.tables.bins import Axis, Discovered, all_labels, declared_size, size
from hubbub.tables.key_columns import STATUS, key_columns, number_columns
from hubbub.tables.labels import is_ranges, labels_at
from hubbub.tables.unlisted import FOUND

if TYPE_CHECKING:
    from hubbub.kinds.histogram.spec import Histogram
    from hubbub.protocol.drawing import Drawing

_BATCH: Final = 1 << 20  # bins at a time
_LABELS: Final = pa.dictionary(pa.int32(), pa.string())
_HEADS: Final = {Estimand.TABLE: "people", Estimand.SAMPLE: "in the sample", Estimand.KEPT_ROWS: "count of kept rows"}
_FOR: Final = {
    Estimand.EVERYBODY: "everybody",
    Estimand.KEPT_ROWS: "kept rows",
    Estimand.TABLE: "people",
    Estimand.EXPECTED_ROWS: "rows on average",
}


@dataclass(frozen=True, slots=True, eq=False)
class Counts(Result):
    """What a histogram published."""

    spec: Histogram
    published: Published
    low: NDArray[np.int64]  # bin -> lower end of its interval
    high: NDArray[np.int64]  # bin -> upper end, -1 where there is none
    found: tuple[list[str | None], ...] = field(default=())  # labels of discovered axes, shown bins only
    some: NDArray[np.int64] | None = None  # codes of the bins that are listed; None: every declared bin, in order

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.spec.axes

    @property
    def bins(self) -> int:
        """How many bins the release lists."""
        return int(self.published.values.size)

    @property
    def codes(self) -> NDArray[np.int64]:
        """The numbers of the bins that the release lists: mixed radix over the declared axes, the last one fastest."""
        return np.arange(self.bins) if self.some is None else self.some

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Which of them show a number."""
        return self.published.visible

    def keys(self, start: int, stop: int) -> Iterator[tuple[NDArray[np.int64], Sequence[str | None]]]:
        """Bins start..stop-1, one axis after the other: which label each has, and the labels."""
        codes = np.arange(start, stop) if self.some is None else self.some[start:stop]
        steps = [1 if isinstance(axis, Discovered) else size(axis) for axis in self.axes]
        found = iter(self.found)
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Discovered):
                texts = next(found)[start:stop]
                known = {text: at for at, text in enumerate(dict.fromkeys(texts))}
                yield np.array([known[text] for text in texts], dtype=np.int64), list(known)
            else:
                positions = codes // prod(steps[i + 1 :]) % steps[i]
                if positions.size >= steps[i]:
                    yield positions, all_labels(axis)
                else:  # of a long axis only those that are met
                    met, which = distinct_and_inverse(positions)
                    yield which, labels_at(axis, met.tolist())

    def labels(self, wanted: NDArray[Any]) -> list[tuple[str | None, ...]]:
        """The labels of some bins, one for each axis; None is the bin of missing values."""
        codes = wanted if self.some is None else self.some[wanted]
        found = list(self.found)
        columns: list[list[str | None]] = []
        for axis in reversed(self.axes):
            if isinstance(axis, Discovered):
                texts = found.pop()
                columns.append([texts[i] for i in wanted.tolist()])
            else:
                columns.append(labels_at(axis, (codes % size(axis)).tolist()))
                codes = codes // size(axis)
        return list(zip(*reversed(columns), strict=True))

    def estimate(self, i: int) -> int | None:
        """What the number says about what its interval is for; it lies in the interval. None where nothing is shown."""
        value, _ = self.published.outcome(i)
        return None if value is None else int(estimates(self.spec, np.array([value]))[0])

    def ends(self, i: int) -> tuple[int, int | None]:
        """The interval of a bin; None where it has no upper end."""
        high = int(self.high[i])
        return int(self.low[i]), None if high < 0 else high

    @property
    def exact(self) -> bool:
        """Whether no published number can leave a doubt, whatever was published."""
        return is_exact(self.spec)

    def sheets(self) -> tuple[Sheet, ...]:
        """Labels are not made here: there may be millions."""
        return (Sheet("release", schema(self.spec), self.batches, self.bins),)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """A million bins at a time: keys, published value (null if hidden), perhaps an estimate, interval, status."""
        beside = has_estimates(self.spec)
        names = schema(self.spec).names
        visible, bins = self.visible, self.bins
        statuses = [histogram_text.status(name) for name in self.published.names]
        for start in range(0, bins, _BATCH) or [0]:
            stop = min(start + _BATCH, bins)
            arrays = [labelled(which, texts) for which, texts in self.keys(start, stop)]
            arrays.append(integer_array(self.published.values[start:stop], visible[start:stop]))
            if beside:
                arrays.append(
                    integer_array(estimates(self.spec, self.published.values[start:stop]), visible[start:stop])
                )
            arrays.append(integer_array(self.low[start:stop]))
            arrays.append(integer_array(self.high[start:stop], self.high[start:stop] >= 0))
            arrays.append(labelled(self.published.tags[start:stop], statuses))
            yield pa.record_batch(arrays, names=names)

    def facts(self) -> Mapping[str, Any]:
        return facts(self.spec, int(self.visible.sum()))

    def sentences(self) -> tuple[str, ...]:
        return first_sentences(self.spec, int(self.visible.sum()))

    def display(self, first: int) -> DisplayTable:
        rows = []
        for i, texts in enumerate(self.labels(np.arange(min(self.bins, first)))):
            value, tag = self.published.outcome(i)
            rows.append(Line(texts, value, self.estimate(i), *self.ends(i), histogram_text.status(tag)))
        return tabulate(self.spec, rows, map(histogram_text.status, self.published.names))

    def disjoint_counts(self) -> str | None:
        return disjoint_counts(self.spec)

    def drawing(self) -> Drawing | None:
        return chart.drawing(self)


def disjoint_counts(spec: Histogram) -> str | None:
    """Its counts, unless a person may be in several bins."""
    return counted_column(spec) if spec.unit.distinct is None and not spec.unit.counts_rows else None


class Line(NamedTuple):
    """A bin as it is published: its labels, number, estimate (None: nothing is shown), interval and status."""

    labels: tuple[str | None, ...]
    value: int | None
    estimate: int | None
    low: int
    high: int | None
    status: str


def schema(spec: Histogram) -> pa.Schema:
    """The columns of the file."""
    keys = ((name, _LABELS) for name in keys_of(spec))
    numbers = ((name, pa.int64()) for name in number_columns(has_estimates(spec), counted_column(spec)))
    return pa.schema([*keys, *numbers, (STATUS, _LABELS)])


def counted_column(spec: Histogram) -> str:
    """The column of the published numbers: it names what they count where that is rows, and not people."""
    return spec.unit.rows_column if spec.unit.counts_rows or spec.unit.one_row_per_person else "count"


def keys_of(spec: Histogram) -> list[str]:
    """The columns of the labels."""
    return key_columns(spec.axes, (*number_columns(True, counted_column(spec)), STATUS))


def is_exact(spec: Histogram) -> bool:
    """Whether no published number can leave a doubt, whatever was published."""
    return spec.channel.certain and not spec.scale_up


def hidden_span(spec: Histogram) -> tuple[int, int | None]:
    """The interval of a bin that is hidden."""
    nothing = Published(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.intp), (SUPPRESSED,))
    low, high = published_intervals(spec, nothing)
    return int(low[0]), None if high[0] < 0 else int(high[0])


def _per_bin(spec: Histogram) -> dict[str, str]:
    """The rate of the noise of each bin, where a person may be in several and losses add up."""
    if (spec.unit.distinct is None and not spec.unit.counts_rows) or spec.channel.several_bins(1) is not None:
        return {}
    return {"rate_per_bin": to_text(histogram_text.bin_rate(spec))}


def facts(spec: Histogram, visible: int) -> dict[str, Any]:
    """What is told about a release of which so many bins show a number."""
    declared, about = declared_size(spec.axes), of_interval(spec).value
    beside = {"estimate": about} if has_estimates(spec) else {}
    return {
        "rows_published": visible,
        "rows_suppressed": None if declared is None else declared - visible,
        "bins": declared,
        "counts": {"number": of_number(spec).value, **beside, "interval": about},
        **({} if spec.unit.bounds is None else {"bounds": spec.unit.bounds.to_json()}),
        **_per_bin(spec),
        "channel": {"name": spec.channel.name, **parameters(spec.channel)},
    }


def first_sentences(spec: Histogram, visible: int) -> tuple[str, ...]:
    """What is said first: what the numbers are not, which bins are hidden, and which rows are in none."""
    one_row = (histogram_text.ONE_ROW,) if spec.unit.one_row_per_person else ()
    return *one_row, hidden_sentence(spec, visible), *unlisted.sentences(spec.axes)


def hidden_sentence(spec: Histogram, visible: int) -> str:
    """What is said about the bins that are hidden."""
    declared = declared_size(spec.axes)
    if declared is None:
        return FOUND
    if visible == declared:
        empty = "; an empty one would be hidden" if hides(spec.channel) else ", empty ones too"
        return f"All {declared:,} bins show a number{empty}."
    sentence = f"{declared - visible:,} of {declared:,} bins are hidden; {visible:,} show a number."
    if is_sparse(spec):
        return f"{sentence} Not listed means hidden, and may well be empty: {_span(*hidden_span(spec))} people."
    return f"{sentence} A hidden bin may well be empty: its interval says how many people there can be."


def tabulate(spec: Histogram, rows: Sequence[Line], statuses: Iterable[str]) -> DisplayTable:
    """Rows to read; `statuses` are all that a bin can have. Nothing is read as below 0; the file has what was drawn."""
    beside = spec.scale_up
    tagged = any(text != "shown" and not text.startswith(SUPPRESSED) for text in statuses)
    lines = []
    for row in rows:
        cells = ["hidden" if row.value is None else f"{max(row.value, 0):,}"]
        cells += ["" if row.estimate is None else f"{row.estimate:,}"] if beside else []
        cells += [_span(row.low, row.high)]
        cells += [row.status] if tagged else []
        lines.append((row.labels, tuple(cells), row.value is None))
    other = of_interval(spec) is not of_number(spec)
    whose = f" for {_FOR[of_interval(spec)]}" if other else ""
    titles = [_head(spec), *([f"estimate{whose}"] if beside else []), f"interval{whose}"]
    titles += ["note"] if tagged else []
    return DisplayTable(
        tuple(key_columns(spec.axes)),
        tuple(titles),
        tuple(lines),
        histogram_text.notes(spec, exact=is_exact(spec)),
        tuple(map(is_ranges, spec.axes)),
    )


def _head(spec: Histogram) -> str:
    """What the column `count` of the file is called where it is read."""
    if spec.unit.counts_rows:
        return f"count of kept {spec.unit.rows}"
    if spec.unit.distinct is None:
        return _HEADS[of_number(spec)]
    return "count of people" if spec.every_bin_kept else "count in kept bins"


def _span(low: int, high: int | None) -> str:
    return f"{low:,} or more" if high is None else f"{low:,}" if low == high else f"{low:,} to {high:,}"
