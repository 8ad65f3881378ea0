"""A period of a series measured and presented: what was counted is frozen, noise is drawn; then totals and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.mechanisms.noise_reach import reach_of_mixed_sum
from hubbub.errors import CheckFailed, WrongUse
from hubbub.kinds.histogram.mechanism import BEYOND
from hubbub.kinds.series.crowds import HIDDEN, Crowds
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Drawn, Measurement, loaded, release
from hubbub.query_classes.series import Blocks, Factor
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array
from hubbub.tables.contribution import MultiRowPolicy
from hubbub.tables.engine import CountQuery, Engine, ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.series.result import Totals
    from hubbub.kinds.series.spec import Period, Series

Numbers = NDArray[Any]
DRAWN: Final = "drawn"
SCHEMA: Final = pa.schema([(DRAWN, pa.int64())])
MOST: Final = 1 << 44
"""Beyond it an increment is put back to it, by a rule that moves no two numbers further apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Increments:
    """What a period is drawn from: the frozen increments of all periods up to it, and what was drawn before. Private."""

    increments: NDArray[np.int64]  # (periods, cells)
    drawn: tuple[NDArray[np.int64], ...]  # of every earlier period: (rows, cells)


def count_period(series: Series, engine: Engine, source: Source, *, keep_one_row: bool = False) -> NDArray[np.int64]:
    """The increments of one period, of the people in a table who may still count. Private.

    Guarantee: one person more or less moves them by at most `Series.moved`; a number beyond 2^44 is put back to
    that, which moves no two further apart. With `keep_one_row` of several rows of a person one counts, chosen secretly,
    where the series expects one: that moves one number, too.
    """
    exact = engine.count(_question(series, keep_one_row=keep_one_row), source)
    found = np.zeros(series.cells, dtype=object)
    if exact.codes.size and not 0 <= exact.codes.min() <= exact.codes.max() < series.cells:
        raise WrongUse(BEYOND)
    for code, number in zip(exact.codes.tolist(), _numbers(series, exact), strict=True):
        found[code] = min(max(number, -MOST), MOST)
    return found.astype(np.int64)


def _question(series: Series, *, keep_one_row: bool) -> CountQuery:
    unit, repeats = series.unit, MultiRowPolicy.REFUSE
    if unit.bounds is not None:
        repeats = MultiRowPolicy.BOUNDED
    elif unit.distinct is not None:
        repeats = MultiRowPolicy.DISTINCT
    elif unit.one_row_per_person or keep_one_row:
        repeats = MultiRowPolicy.ONE_ROW
    return CountQuery(
        axes=series.axes,
        person=unit.person,
        repeats=repeats,
        most_bins=1 if unit.distinct is None or unit.counts_rows else unit.distinct,
        where=series.where,
        measure=series.of,
        bounds=unit.bounds,
    )


def _numbers(series: Series, exact: ExactCounts) -> list[int]:
    if series.of is None:
        return [int(count) for count in exact.counts.tolist()]
    assert exact.sums is not None
    low = int(series.of.low / series.of.step)
    return [int(total) + low * int(count) for total, count in zip(exact.sums, exact.counts.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class NextPeriods:
    """The mechanism: periods `start` to `stop` of a series, drawn from the increments of all periods up to `stop`.

    One person moves the increments of at most `recur` periods, in each of them the numbers by at most `Series.moved`.
    Noise is fresh for every number of every period; none is kept.

    Guarantee: that of :class:`Blocks`, :class:`Factor` or :class:`Crowds` for all periods together, however many of them
    are drawn at once, and whatever was decided from the periods before.
    """

    series: Series
    start: int
    stop: int

    @property
    def schema(self) -> pa.Schema:
        return SCHEMA

    def draw(self, exact: NDArray[np.int64], source: Source) -> pa.RecordBatch:
        found = [self._drawn(t, exact, source).ravel() for t in range(self.start, self.stop + 1)]
        return pa.record_batch([integer_array(np.concatenate(found))], schema=SCHEMA)

    def _drawn(self, t: int, exact: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        way = self.series.way
        if isinstance(way, Crowds):
            return way.publish(exact[t])[None, :].astype(np.int64)
        weights = np.array(way.rows(t), dtype=np.int64)  # rows x periods
        if isinstance(way, Blocks) and way.sample is not None:  # of which each period draws its own increment alone
            exact = np.concatenate([exact[:t], way.sampled(exact[t], source)[None, :]])
        return np.asarray(weights @ exact[: t + 1] + way.noise(t, exact.shape[1], source), dtype=np.int64)


def rows_of(series: Series, t: int) -> int:
    """How many numbers of every bin period t draws."""
    return 1 if isinstance(series.way, Crowds) else len(series.way.rows(t))


def measure(spec: Period, data: Increments, source: Source) -> Measurement:
    """Draw the period, and those that were missed since the last one, in which nobody was counted."""
    start = len(data.drawn)
    now = release(NextPeriods(spec.series, start, spec.index), data.increments, source)
    return Measurement(past=_past(data.drawn), now=now)


def _past(drawn: Sequence[NDArray[np.int64]]) -> Drawn:
    every = np.concatenate([np.empty(0, dtype=np.int64), *(numbers.ravel() for numbers in drawn)])
    return loaded(SCHEMA, pa.record_batch([integer_array(every)], schema=SCHEMA))


def drawn_before(series: Series, numbers: NDArray[np.int64], many: int) -> tuple[NDArray[np.int64], ...]:
    """Numbers one after the other, as what each of so many periods drew; a CheckFailed if they are not as many."""
    sizes = [rows_of(series, t) for t in range(many)]
    if numbers.size != sum(sizes) * series.cells:
        raise CheckFailed("its numbers are not as many as its periods and bins")
    parts = np.split(numbers, np.cumsum([n * series.cells for n in sizes])[:-1]) if many else []
    return tuple(part.reshape(n, series.cells) for part, n in zip(parts, sizes, strict=True))


def present(spec: Period, measurement: Measurement) -> Totals:
    """Increments, running totals and their intervals."""
    from hubbub.kinds.series.result import Totals

    every = np.concatenate([measurement[name].integers(DRAWN) for name in ("past", "now")])
    drawn = drawn_before(spec.series, every, spec.index + 1)
    way = spec.series.way
    if isinstance(way, Crowds) and not all(((one == HIDDEN) | (one >= way.k)).all() for one in drawn):
        raise CheckFailed("it has a number below the crowd")
    return Totals(spec, drawn)


def reach(series: Series, t: int, since: int, cells: int = 1) -> Fraction:
    """How far the total of so many cells after period t, or its difference to that after period `since`, is from the
    truth but for the chance that an interval may be wrong; in steps.

    Guarantee: for geometric noise the law of the sum, or Chernoff's bound; for Gaussian noise Lemma I.
    """
    way, miss = series.way, 1 - series.coverage
    if isinstance(way, Blocks):
        return Fraction(_geometric_reach(way.total_noise(t, since), cells, miss))
    assert isinstance(way, Factor)
    return way.reach(t, since, miss, cells)


def _geometric_reach(noises: Counter[Fraction], cells: int, miss: Fraction) -> int:
    return reach_of_mixed_sum(tuple(sorted((rate, many * cells) for rate, many in noises.items())), miss)
