"""The published counts of a histogram: a value, a tag and an interval for each bin. Holds no count of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.arrow import labelled, whole
from hubbub.channels.catalogue import parameters
from hubbub.channels.channel import Published
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.shown import hides
from hubbub.drawing import Drawing
from hubbub.exact import to_text
from hubbub.kind import Grid, Result, Sheet
from hubbub.tables import picture, wording
from hubbub.tables.bins import Axis, Discovered, all_labels, declared_size, size
from hubbub.tables.discovery import FOUND
from hubbub.tables.estimands import Estimand, estimates, has_estimates, of_interval, of_number
from hubbub.tables.intervals import of_published
from hubbub.tables.labels import labels, labels_at
from hubbub.tables.written import STATUS, key_columns, number_columns

if TYPE_CHECKING:
    from hubbub.tables.histogram import Histogram

_BATCH: Final = 1 << 20  # bins at a time
_LABELS: Final = pa.dictionary(pa.int32(), pa.string())
_HEADS: Final = {Estimand.TABLE: "people", Estimand.SAMPLE: "in the sample", Estimand.KEPT_ROWS: "kept rows"}
_FOR: Final = {
    Estimand.EVERYBODY: "everybody",
    Estimand.KEPT_ROWS: "kept rows",
    Estimand.EXPECTED_ROWS: "expected rows",
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
    def shown(self) -> NDArray[np.bool_]:
        """Which of them show a number."""
        return self.published.shown

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
                places = codes // prod(steps[i + 1 :]) % steps[i]
                if places.size >= steps[i]:
                    yield places, all_labels(axis)
                else:  # of a long axis only those that are met
                    met, which = np.unique(places, return_inverse=True)
                    yield which, labels_at(axis, met.tolist())

    def estimate(self, i: int) -> int | None:
        """What the number says about what its interval is for; it lies in the interval. None where nothing is shown."""
        value, _ = self.published.outcome(i)
        return None if value is None else int(estimates(self.spec, np.array([value]))[0])

    def hidden_span(self) -> tuple[int, int | None]:
        """The interval of a bin that is hidden."""
        nothing = Published(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.intp), (SUPPRESSED,))
        low, high = of_published(self.spec, nothing)
        return int(low[0]), None if high[0] < 0 else int(high[0])

    def ends(self, i: int) -> tuple[int, int | None]:
        """The interval of a bin; None where it has no upper end."""
        high = int(self.high[i])
        return int(self.low[i]), None if high < 0 else high

    @property
    def exact(self) -> bool:
        """Whether no published number can leave a doubt, whatever was published."""
        return self.spec.channel.certain and not self.spec.scale_up

    def sheets(self) -> tuple[Sheet, ...]:
        """Labels are not made here: there may be millions."""
        keys = ((name, _LABELS) for name in key_columns(self.axes))
        numbers = ((name, pa.int64()) for name in number_columns(has_estimates(self.spec)))
        return (Sheet("release", pa.schema([*keys, *numbers, (STATUS, _LABELS)]), self._batches, self.bins),)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """A million bins at a time: keys, published value (null if hidden), perhaps an estimate, interval, status."""
        beside = has_estimates(self.spec)
        names = [*key_columns(self.axes), *number_columns(beside), STATUS]
        shown, bins = self.shown, self.bins
        statuses = [wording.status(name) for name in self.published.names]
        for start in range(0, bins, _BATCH) or [0]:
            stop = min(start + _BATCH, bins)
            arrays = [labelled(which, texts) for which, texts in self.keys(start, stop)]
            arrays.append(whole(self.published.values[start:stop], shown[start:stop]))
            if beside:
                arrays.append(whole(estimates(self.spec, self.published.values[start:stop]), shown[start:stop]))
            arrays.append(whole(self.low[start:stop]))
            arrays.append(whole(self.high[start:stop], self.high[start:stop] >= 0))
            arrays.append(labelled(self.published.tags[start:stop], statuses))
            yield pa.record_batch(arrays, names=names)

    def told(self) -> Mapping[str, Any]:
        declared, shown = declared_size(self.axes), int(self.shown.sum())
        return {
            "rows_published": shown,
            "rows_suppressed": None if declared is None else declared - shown,
            "bins": declared,
            "counts": self._counted(),
            **({} if self.spec.unit.distinct is None else {"rate_per_bin": to_text(wording.bin_rate(self.spec))}),
            "channel": {"name": self.spec.channel.name, **parameters(self.spec.channel)},
        }

    def _counted(self) -> dict[str, str]:
        """What each number counts, by its identifier."""
        about = of_interval(self.spec).value
        beside = {"estimate": about} if has_estimates(self.spec) else {}
        return {"number": of_number(self.spec).value, **beside, "interval": about}

    def sentences(self) -> tuple[str, ...]:
        declared = declared_size(self.axes)
        if declared is None:
            return (FOUND,)
        shown = int(self.shown.sum())
        if shown == declared:
            empty = "; an empty one would be hidden" if hides(self.spec.channel) else ", empty ones too"
            return (f"All {declared:,} bins show a number{empty}.",)
        told = f"{declared - shown:,} of {declared:,} bins are hidden; {shown:,} show a number."
        if self.some is None:
            rest = "A hidden bin may well be empty: its interval says how many people there can be."
        else:
            rest = f"Not listed means hidden, and may well be empty: {_span(*self.hidden_span())} people."
        return (f"{told} {rest}",)

    def grid(self, first: int) -> Grid:
        first = min(self.bins, first)
        beside = has_estimates(self.spec)
        tagged = any(text and not text.startswith(SUPPRESSED) for text in self.published.names)
        rows = []
        for i, texts in enumerate(labels(self, np.arange(first))):
            value, tag = self.published.outcome(i)
            about = self.estimate(i)
            cells = ["hidden" if value is None else f"{value:,}"]
            cells += ["" if about is None else f"{about:,}"] if beside else []
            cells += [_span(*self.ends(i))]
            cells += [wording.status(tag)] if tagged else []
            rows.append((texts, tuple(cells), value is None))
        other = of_interval(self.spec) is not of_number(self.spec)
        whose = f" for {_FOR[of_interval(self.spec)]}" if other else ""
        titles = [_HEADS[of_number(self.spec)], *([f"estimate{whose}"] if beside else []), f"interval{whose}"]
        titles += ["note"] if tagged else []
        return Grid(tuple(key_columns(self.axes)), tuple(titles), tuple(rows), wording.notes(self))

    def drawing(self) -> Drawing | None:
        return picture.bars(self)


def _span(low: int, high: int | None) -> str:
    return f"{low:,} or more" if high is None else f"{low:,}" if low == high else f"{low:,} to {high:,}"
