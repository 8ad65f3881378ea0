"""A period of a series measured, read back and presented: what was counted is frozen, noise is drawn; then totals and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import CheckFailed, WrongUse
from hubbub.kinds.count_tables import BEYOND, CountTables, ask_counts, read_numbers
from hubbub.kinds.series.result import DRAWN, SHEET, Numbers, Totals, drawn_rows, drawn_schema, rows_of
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Drawn, Measurement, release
from hubbub.query_classes.series import HIDDEN, Blocks, Crowds
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import digest
from hubbub.serialization.published_files import Files
from hubbub.tables.engine import Engine, ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.series.spec import Period, Series

MOST: Final = 1 << 44
"""Beyond it an increment is put back to it, by a rule that moves no two numbers further apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Increments:
    """What a period is drawn from: the frozen increments of all periods up to it, and what was drawn before. Private."""

    increments: NDArray[np.int64]  # (periods, cells)
    drawn: tuple[NDArray[np.int64], ...]  # of every earlier period: (rows, cells)


def count_period(series: Series, engine: Engine, source: Source, *, keep_one_row: bool = False) -> NDArray[np.int64]:
    """The increments of one period, of the people in a table who may still count. Private.

    Guarantee: one person more or less moves them by at most `Series.sensitivity`; a number beyond 2^44 is put back to
    that, which moves no two further apart. With `keep_one_row` of several rows of a person one counts, chosen secretly,
    where the series expects one: that moves one number, too.
    """
    unit = replace(series.unit, one_row_per_person=True) if keep_one_row else series.unit
    exact = engine.count(ask_counts(series.axes, unit, where=series.where, measure=series.of), source)
    found = np.zeros(series.cells, dtype=object)
    if exact.codes.size and not 0 <= exact.codes.min() <= exact.codes.max() < series.cells:
        raise WrongUse(BEYOND)
    for code, number in zip(exact.codes.tolist(), _numbers(series, exact), strict=True):
        found[code] = min(max(number, -MOST), MOST)
    return found.astype(np.int64)


def _numbers(series: Series, exact: ExactCounts) -> list[int]:
    if series.of is None:
        return [int(count) for count in exact.counts.tolist()]
    assert exact.sums is not None
    low = int(series.of.low / series.of.step)
    return [int(total) + low * int(count) for total, count in zip(exact.sums, exact.counts.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class NextPeriods:
    """The strategy: periods `start` to `stop` of a series, drawn from the increments of all periods up to `stop`.

    One person moves the increments of at most `recur` periods, in each of them the numbers by at most `Series.sensitivity`.
    Noise is fresh for every number of every period; none is kept.

    Guarantee: that of :class:`Blocks`, :class:`Factor` or :class:`Crowds` for all periods together, however many of them
    are drawn at once, and whatever was decided from the periods before.
    """

    series: Series
    start: int
    stop: int

    columns: tuple[str, ...] = (DRAWN,)

    def draw(self, exact: NDArray[np.int64], source: Source) -> tuple[Numbers]:
        found = [self._draw_period(t, exact, source).ravel() for t in range(self.start, self.stop + 1)]
        return (np.concatenate(found),)

    def _draw_period(self, t: int, exact: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        way = self.series.way
        if isinstance(way, Crowds):
            return way.publish(exact[t])[None, :].astype(np.int64)
        weights = np.array(way.rows(t), dtype=np.int64)  # rows x periods
        if isinstance(way, Blocks) and way.sample is not None:  # of which each period draws its own increment alone
            exact = np.concatenate([exact[:t], way.draw_sample(exact[t], source)[None, :]])
        return np.asarray(weights @ exact[: t + 1] + way.noise(t, exact.shape[1], source), dtype=np.int64)


def measure(spec: Period, data: Increments, source: Source) -> Measurement:
    """Draw the period, and those that were missed since the last one, in which nobody was counted."""
    start = len(data.drawn)
    now = release(CountTables(NextPeriods(spec.series, start, spec.index)), data.increments, source)
    return Measurement(past=load_periods(spec, data.drawn)[0], now=now)


def drawn_before(series: Series, numbers: NDArray[np.int64], many: int) -> tuple[NDArray[np.int64], ...]:
    """Numbers one after the other, as what each of so many periods drew; a CheckFailed if they are not as many."""
    sizes = [rows_of(series, t) for t in range(many)]
    if numbers.size != sum(sizes) * series.cells:
        raise CheckFailed("its numbers are not as many as its periods and bins")
    parts = np.split(numbers, np.cumsum([n * series.cells for n in sizes])[:-1]) if many else []
    return tuple(part.reshape(n, series.cells) for part, n in zip(parts, sizes, strict=True))


def present(spec: Period, measurement: Measurement) -> Totals:
    """Increments, running totals and their intervals."""
    drawn = _by_period(spec, measurement)
    way = spec.series.way
    if isinstance(way, Crowds) and not all(((one == HIDDEN) | (one >= way.k)).all() for one in drawn):
        raise CheckFailed("it has a number below the crowd")
    return Totals(spec, drawn)


# --- what was published, read back --------------------------------------------------------------------------------------


def load(spec: Period, files: Files) -> Measurement:
    """What was drawn in all periods up to this one.

    Guarantee: as many numbers as periods, rows and bins; every whole number can be drawn, but none below a crowd.
    """
    series, rows = spec.series, drawn_rows(spec.series, spec.index + 1)
    hidden = HIDDEN if isinstance(series.way, Crowds) else None
    numbers = read_numbers(files, SHEET, drawn_schema(series), DRAWN, rows, hidden)
    past, now = np.split(numbers, [drawn_rows(series, spec.index)])
    before, after = load_periods(spec, [past], [now])
    return Measurement(past=before, now=after)


def load_periods(spec: Period, *periods: Sequence[ArrayLike]) -> tuple[Drawn, ...]:
    """What some periods drew, one after the other, as numbers that were published."""
    tables = CountTables(NextPeriods(spec.series, 0, spec.index))
    empty = np.empty(0, dtype=np.int64)
    return tuple(tables.load(np.concatenate([empty, *(np.ravel(each) for each in some)])) for some in periods)


def drawn_digests(spec: Period, files: Files) -> tuple[str, ...]:
    """A digest of what each period so far drew."""
    measured = load(spec, files)
    return tuple(digest(each.tolist()) for each in _by_period(spec, measured))


def _by_period(spec: Period, measurement: Measurement) -> tuple[Numbers, ...]:
    every = np.concatenate([measurement[name].integers(DRAWN) for name in ("past", "now")])
    return drawn_before(spec.series, every, spec.index + 1)
