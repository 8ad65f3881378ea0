"""The published tables of a series: increments and running totals of every period so far, and what was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.mechanisms.noise_reach import reach_of_mixed_sum, reach_of_sum
from hubbub.errors import WrongUse
from hubbub.kinds.count_tables import label_cells
from hubbub.kinds.cube.margins import Margin, file_names, sum_cells
from hubbub.kinds.series.text import counted_noun, rows_rule
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.numeric.exact import to_float, to_text
from hubbub.protocol.drawing import Bar, Bars, Drawing, Mark
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.query_classes.series import HIDDEN, Blocks, Crowds, Factor
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.bins import Declared, Values, all_labels, declared_size
from hubbub.tables.key_columns import key_columns
from hubbub.tables.labels import is_ranges, label_in_words

if TYPE_CHECKING:
    from hubbub.kinds.series.spec import Period, Series

PERIOD, ROW, SHEET, DRAWN = "period", "drawn_of", "drawn", "drawn"
Numbers = NDArray[Any]
NUMBERS: Final = ("increment", "increment_low", "increment_high", "total", "total_low", "total_high")
_PLACES: Final = 3
_PANELS: Final = 12  # bins that are drawn
_KIND: Final = pa.decimal128(38, _PLACES)
_ONE: Final = "the period"
_BLOCK: Final = "the block that it ends"


@dataclass(frozen=True)
class Number:
    """A published number with its interval; None where it is hidden."""

    value: Fraction | None
    low: Fraction
    high: Fraction

    @property
    def decimals(self) -> tuple[Decimal | None, ...]:
        """It and its ends in thousandths, the ends rounded outwards."""
        value = None if self.value is None else round(self.value * 10**_PLACES)
        ends = floor(self.low * 10**_PLACES), ceil(self.high * 10**_PLACES)
        return tuple(None if each is None else Decimal(each).scaleb(-_PLACES) for each in (value, *ends))

    @property
    def texts(self) -> tuple[str, str]:
        """It and its interval, to read."""
        value = "hidden" if self.value is None else f"{round(self.value):,}"
        return value, f"{floor(self.low):,} to {ceil(self.high):,}"


@dataclass(frozen=True, eq=False)
class Totals(Result):
    """What a series has published so far."""

    spec: Period
    drawn: tuple[NDArray[np.int64], ...]  # of each period: rows x cells

    # --- numbers ---------------------------------------------------------------------------------------------------

    @cached_property
    def _estimates(self) -> tuple[Numbers, Numbers]:
        """Increments and totals of every period and cell, as fractions in steps."""
        way = self.spec.series.way
        assert not isinstance(way, Crowds)
        scales = [way.denominator(t) for t in range(len(self.drawn))]
        both = []
        for numbers in (way.increments(self.drawn), way.totals(self.drawn)):
            lines = [[Fraction(n, scale) for n in line] for line, scale in zip(numbers, scales, strict=True)]
            both.append(np.array(lines, dtype=object).reshape(len(self.drawn), -1))
        return both[0], both[1]

    def total(self, t: int, since: int = -1, margin: Margin | None = None) -> list[Number]:
        """Of every bin the running total after period t, or what came after period `since`; of a margin, its sums.

        Guarantee: each interval holds the truth as often as the spec says, by itself, and the number; numbers that cannot be
        below 0 are not, and have no end that is. Of crowds it always does: between what is shown and k - 1 more for each hidden period.
        """
        series = self.spec.series
        if isinstance(series.way, Crowds):
            low, high = (self._sums(ends, t, since, margin) for ends in series.way.ends(self.drawn))
            return [
                Number(Fraction(int(a)), Fraction(int(a)), Fraction(int(b))) for a, b in zip(low, high, strict=True)
            ]
        far = reach(series, t, since, self._cells_inside(margin))
        return self._with_intervals(self._sums(self._estimates[1], t, since, margin), far)

    def increment(self, t: int, margin: Margin | None = None) -> list[Number]:
        """Of every bin the number of period t."""
        series = self.spec.series
        if isinstance(series.way, Crowds):
            found = self.total(t, t - 1, margin)
            if margin is not None:
                return found
            shown = zip(found, self.drawn[t][0].tolist(), strict=True)
            return [each if n != HIDDEN else replace(each, value=None) for each, n in shown]
        far = reach_of_increment(series, t, self._cells_inside(margin))
        return self._with_intervals(self._sums(self._estimates[0], t, -1, margin), far)

    def _sums(self, lines: Numbers, t: int, since: int, margin: Margin | None) -> list[Any]:
        """Of the numbers of period t, less those of period `since`, the sums of a margin."""
        line = np.asarray(lines[t] - (lines[since] if since >= 0 else 0), dtype=object)
        return list(line if margin is None else sum_cells(line, self.spec.series.axes, margin))

    def _with_intervals(self, line: Sequence[Fraction], off: Fraction) -> list[Number]:
        series = self.spec.series
        step, least = series.step, None if series.may_fall else Fraction(0)
        return [Number(clamp(n, least) * step, *(end * step for end in clamped_interval(n, off, least))) for n in line]

    def _cells_inside(self, margin: Margin | None) -> int:
        return 1 if margin is None else self.spec.series.inside(margin)

    @property
    def labels(self) -> list[tuple[str | None, ...]]:
        """The labels of every bin, in the order of codes: the last column fastest."""
        return list(product(*map(all_labels, self.spec.series.declared_axes())))

    def bins(self) -> list[dict[str, str | None]]:
        """The labels of every bin, by column."""
        names = key_columns(self.spec.series.axes, (PERIOD, *NUMBERS))
        return [dict(zip(names, labels, strict=True)) for labels in self.labels]

    # --- sheets ----------------------------------------------------------------------------------------------------

    def sheets(self) -> tuple[Sheet, ...]:
        series = self.spec.series
        names = zip(file_names(series.margins), series.margins, strict=True)
        return (
            self._sheet("release", None),
            *(self._sheet(name, margin) for name, margin in names),
            Sheet(SHEET, drawn_schema(series), self._drawn_batches, drawn_rows(series, len(self.drawn))),
        )

    def _sheet(self, name: str, margin: Margin | None) -> Sheet:
        axes = self.spec.series.declared_axes(margin)
        keys, bins = key_columns(axes, (PERIOD, *NUMBERS)), declared_size(axes) or 1
        schema = pa.schema([(PERIOD, LABELS), *((key, LABELS) for key in keys), *((each, _KIND) for each in NUMBERS)])

        def batches() -> Iterator[pa.RecordBatch]:
            for t in range(len(self.drawn)):
                pairs = zip(self.increment(t, margin), self.total(t, margin=margin), strict=True)
                columns = zip(*((*now.decimals, *total.decimals) for now, total in pairs), strict=True)
                numbers = [pa.array(column, _KIND) for column in columns]
                yield pa.record_batch([self._period(t, bins), *_every_cell(axes), *numbers], schema=schema)

        return Sheet(name, schema, batches, len(self.drawn) * bins)

    def _period(self, t: int, rows: int) -> pa.DictionaryArray:
        return labelled(np.full(rows, t, dtype=np.int64), self.spec.series.calendar.labels)

    def _drawn_batches(self) -> Iterator[pa.RecordBatch]:
        series = self.spec.series
        keys = _every_cell(series.declared_axes())
        for t, numbers in enumerate(self.drawn):
            for i, line in enumerate(numbers):
                which = labelled(np.full(series.cells, i, dtype=np.int64), (_ONE, _BLOCK))
                known = None if not isinstance(series.way, Crowds) else line != HIDDEN
                array = integer_array(np.asarray(line, dtype=np.int64), known)
                columns = [self._period(t, series.cells), which, *keys, array]
                yield pa.record_batch(columns, schema=drawn_schema(series))

    # --- words -----------------------------------------------------------------------------------------------------

    def facts(self) -> Mapping[str, Any]:
        series = self.spec.series
        found: dict[str, Any] = {
            "series": series.name,
            "period": self.spec.period,
            "periods": series.calendar.periods,
            "published": self.spec.index + 1 - len(self.spec.missed),
            "missed": list(self.spec.missed),
        }
        if not isinstance(series.way, Crowds):
            t = self.spec.index
            step = to_float(series.step, round_up=True)
            found["sd_total"] = to_float(series.way.total_variance(t), round_up=True) ** 0.5 * step
            found["sd_increment"] = to_float(series.way.increment_variance(t), round_up=True) ** 0.5 * step
        return found

    def sentences(self) -> tuple[str, ...]:
        series, last = self.spec.series, self.spec.period
        found = [
            f"{last} is period {self.spec.index + 1:,} of {series.calendar.periods:,}; the promise is for all of them "
            "together."
        ]
        if series.limits_people:
            many = series.recur
            often = "period" if many == 1 else f"{many:,} periods"
            again = f"; a running total counts them up to {many:,} times" if many > 1 else ""
            found.append(f"Each person counts in their first {often}, and in no other{again}.")
        found += [rule] if (rule := rows_rule(series)) else []
        if self.spec.one_row_kept:
            kept = ", ".join(self.spec.one_row_kept)
            found.append(f"Of people with several rows one was kept, chosen secretly, in {kept}.")
        if self.spec.missed:
            found.append(f"Not published, and counted as nobody: {', '.join(self.spec.missed)}.")
        if series.sample is not None:
            rate = to_text(series.sample)
            found.append(
                f"All numbers, and their intervals, are of those in {'the panel' if series.panel else 'the samples'}; divided "
                f"by {rate} they guess at everybody, with an error of sampling that the intervals do not have."
            )
        if isinstance(series.way, Crowds):
            found.append(
                f"Numbers of a period below {series.way.k:,} are hidden for good. A total lies between what is shown and "
                f"{series.way.k - 1:,} more for each hidden period."
            )
        return tuple(found)

    def display(self, first: int) -> DisplayTable:
        """The last period."""
        series, t = self.spec.series, self.spec.index
        keys = key_columns(series.axes, (PERIOD, *NUMBERS))
        listed = zip(self.labels, self.increment(t), self.total(t), strict=True)
        rows: list[tuple[tuple[str | None, ...], tuple[str, ...], bool]] = [
            (labels, (*now.texts, *total.texts), now.value is None) for labels, now, total in listed
        ]
        heads: tuple[str, ...] = (f"in {self.spec.period}", "interval", "so far", "interval")
        if not t:  # then all so far is the first period
            heads, rows = heads[:2], [(labels, numbers[:2], pale) for labels, numbers, pale in rows]
        ranges = tuple(map(is_ranges, series.axes))
        return DisplayTable(tuple(keys), heads, tuple(rows[:first]), ranges=ranges, total=len(rows))

    def exactness(self) -> tuple[str, ...]:
        if isinstance(self.spec.series.way, Crowds):
            return ("What is shown is exact; a total lacks those whose period is hidden.",)
        often = to_text(100 * self.spec.series.coverage)
        return (f"Each interval, by itself, holds the true number {often} % of the time.",)

    def drawing(self) -> Drawing | None:
        """The running totals by period, a panel for each bin, where they are few; of the first period, a bar for each."""
        series = self.spec.series
        if series.cells > _PANELS:
            return None
        names = [
            ", ".join(label_in_words(axis, label) for axis, label in zip(series.axes, labels, strict=True))
            for labels in self.labels
        ]
        labels, lines = series.calendar.labels, [self.total(t) for t in range(len(self.drawn))]
        bars = tuple(_bar(labels[t], line[i], name) for i, name in enumerate(names) for t, line in enumerate(lines))
        counted = counted_noun(series) if series.of is None else f"sum of {series.of.column}"
        crowds = isinstance(series.way, Crowds)
        often = f"an interval holds the true number {to_text(100 * series.coverage)} times in 100"
        interval = "from what is shown to what may be hidden" if crowds else often
        if len(lines) == 1:
            return Bars(
                bars=tuple(replace(bar, label=bar.panel or "everybody", panel="") for bar in bars),
                by=", ".join(axis.column for axis in series.axes),
                numbers=f"{counted} in {labels[0]}",
                upright=len(series.axes) == 1 and not isinstance(series.axes[0], Values),
                bar=f"published number of {labels[0]}",
                line=interval,
            )
        return Bars(
            bars=bars,
            by=series.calendar.every,
            numbers=f"{counted} so far",
            upright=True,
            bar=f"the running total after each {series.calendar.every}",
            line=interval,
            mark=Mark.LINE,
        )


def rows_of(series: Series, t: int) -> int:
    """How many numbers of every bin period t draws."""
    return 1 if isinstance(series.way, Crowds) else len(series.way.rows(t))


def reach(series: Series, t: int, since: int, cells: int = 1) -> Fraction:
    """How far the total of so many cells after period t, or its difference to that after period `since`, is from the
    truth but for the chance that an interval may be wrong; in steps.

    Guarantee: for geometric noise the law of the sum, or Chernoff's bound; for Gaussian noise Lemma I.
    """
    way, miss = series.way, 1 - series.coverage
    if isinstance(way, Blocks):
        noises = way.total_noise(t, since)
        return Fraction(reach_of_mixed_sum(tuple(sorted((rate, many * cells) for rate, many in noises.items())), miss))
    assert isinstance(way, Factor)
    return way.reach(t, since, miss, cells)


def reach_of_increment(series: Series, t: int, cells: int) -> Fraction:
    """How far the number of a period is from the truth: as it was drawn, or the difference of two totals."""
    if isinstance(series.way, Blocks):
        return Fraction(reach_of_sum(series.way.single_rate, cells, 1 - series.coverage))
    return reach(series, t, t - 1, cells)


def numbers_between(totals: Totals, since: str, until: str) -> list[Number]:
    """What came after period `since` up to period `until`, of every bin."""
    calendar, last = totals.spec.series.calendar, totals.spec.index
    one, other = calendar.index(since), calendar.index(until)
    if not one < other <= last:
        raise WrongUse(f"a difference goes from a period to a later one, up to {totals.spec.period}; name two such")
    return totals.total(other, one)


def drawn_schema(series: Series) -> pa.Schema:
    keys = key_columns(series.axes, (PERIOD, ROW, DRAWN))
    return pa.schema([(PERIOD, LABELS), (ROW, LABELS), *((key, LABELS) for key in keys), (DRAWN, pa.int64())])


def drawn_rows(series: Series, many: int) -> int:
    """How many rows the file of what was drawn has after so many periods."""
    return series.cells * sum(rows_of(series, t) for t in range(many))


def _every_cell(axes: Sequence[Declared]) -> list[pa.DictionaryArray]:
    """The key columns of every cell."""
    return label_cells(axes, np.arange(declared_size(axes) or 1))


def _bar(label: str, number: Number, panel: str) -> Bar:
    value = None if number.value is None else float(number.value)
    return Bar(label, value, float(number.low), float(number.high), panel=panel)
