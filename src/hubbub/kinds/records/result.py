"""Published records: a row for each person of a crowd, in an order that the labels alone decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.histogram import chart as histogram_chart
from hubbub.kinds.histogram.result import Counts
from hubbub.protocol.drawing import Drawing, Heat
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import labelled
from hubbub.tables.key_columns import key_columns
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.kinds.records.spec import Records

_BATCH: Final = 1 << 20  # rows at a time
_LABELS: Final = pa.dictionary(pa.int32(), pa.string())
_NUMBER: Final = re.compile(r"\[?(-?\d{1,40}(?:\.\d{1,40})?)(?:,.*\))?", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Rows(Result):
    """The records of a release. It holds how often each is published, and nothing that is not."""

    spec: Records
    counts: Counts

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.counts.published.values.sum())

    @property
    def distinct(self) -> int:
        """How many different records there are, without untouched columns."""
        keys = len(self.spec.cells.axes)
        return len(set(zip(*self.counts.found[:keys], strict=True))) if self.spec.keep else self.counts.bins

    def order(self) -> NDArray[np.intp]:
        """The distinct records, numbers by size and texts by their signs, what is missing last."""
        known = self.counts.labels(np.arange(self.counts.bins))
        return np.array(sorted(range(len(known)), key=lambda i: [_sort_key(text) for text in known[i]]), dtype=np.intp)

    def sheets(self) -> tuple[Sheet, ...]:
        return (Sheet("release", schema(self.spec), self._batches, self.rows),)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        names = key_columns(self.counts.axes)
        columns = list(self.counts.keys(0, self.counts.bins))
        order = self.order()
        ends = np.cumsum(self.counts.published.values[order])
        for start in range(0, self.rows, _BATCH) or [0]:
            positions = np.arange(start, min(start + _BATCH, self.rows))
            which = order[np.searchsorted(ends, positions, side="right")] if positions.size else order[:0]
            yield pa.record_batch([labelled(at[which], texts) for at, texts in columns], names=names)

    def facts(self) -> Mapping[str, Any]:
        return {
            "rows_published": self.rows,
            "distinct_records": self.distinct,
            "crowd": self.spec.k,
            "columns": [axis.column for axis in self.spec.cells.axes],
            **({"untouched": list(self.spec.keep)} if self.spec.keep else {}),
        }

    def sentences(self) -> tuple[str, ...]:
        keep, known = ", ".join(self.spec.keep), " of key columns" if self.spec.keep else ""
        untouched = (f"{keep}: published as it is in the table. No promise covers it.",) if keep else ()
        return (
            *untouched,
            f"{self.distinct:,} different records{known} are published, {self.rows:,} rows in all; each record at least "
            f"{self.spec.k} times.",
            "A record that fewer people share is left out, just like one that nobody has, and how many were left out "
            "is not told. The order of the rows follows from what they say.",
        )

    def display(self, first: int) -> DisplayTable:
        """Each record once, and how many rows of the file are like it."""
        order = self.order()[:first]
        values = self.counts.published.values
        found = zip(order.tolist(), self.counts.labels(order), strict=True)
        rows = tuple((texts, (f"{int(values[i]):,}",), False) for i, texts in found)
        notes: tuple[str, ...] = ("The file has a row for each person; here each record stands once",)
        notes += ("[a,b) is from a up to, and not including, b.",) if any(map(is_ranges, self.counts.axes)) else ()
        names = tuple(key_columns(self.counts.axes))
        return DisplayTable(
            names, ("rows in the file",), rows, notes, tuple(map(is_ranges, self.counts.axes)), self.counts.bins
        )

    def exactness(self) -> tuple[str, ...]:
        whom = self.spec.cells.describe().counts
        return (
            f"A record that is listed has a row for each of {whom} who are like it; one that fewer than {self.spec.k} "
            "share is left out",
        )

    def drawing(self) -> Drawing | None:
        if self.spec.keep:
            return None
        found, what = histogram_chart.drawing(self.counts), "How many rows the release has of a record"
        return (
            None
            if found is None
            else replace(found, cell=what)
            if isinstance(found, Heat)
            else replace(found, bar=what)
        )


def schema(spec: Records) -> pa.Schema:
    """The columns of the file."""
    return pa.schema([(name, _LABELS) for name in key_columns(spec.joint.axes)])


def _sort_key(text: str | None) -> tuple[bool, float, str]:
    """Where a label stands among others."""
    number = None if text is None else _NUMBER.fullmatch(text)
    return text is None, float("-inf") if number is None else float(number[1]), text or ""
