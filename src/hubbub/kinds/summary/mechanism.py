"""A summary measured and presented: what each person has in each bin, noise on all numbers; then what these say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.protocol import BEYOND_COUNTS, LARGEST_COUNT
from hubbub.errors import CheckFailed, WrongUse
from hubbub.kinds.statistic.drawn_columns import NO_NUMBERS, drawn_schema, in_columns, rows_of
from hubbub.kinds.statistic.mechanism import question
from hubbub.kinds.summary import cap as caps
from hubbub.kinds.summary.numbers import Average, Number, RowCount, Total, as_read
from hubbub.kinds.summary.result import Summaries, answers_of, integer_columns
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.source import Source
from hubbub.noise.wide import wide_noise
from hubbub.protocol.measurement import Measurement, release
from hubbub.tables.bounded_column import Measure
from hubbub.tables.engine import Joint
from hubbub.tables.kept_rows import KeptRows, within_bounds

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary
    from hubbub.tables.engine import Engine

Integers = NDArray[np.int64]


def measure(spec: Summary, engine: Engine, source: Source) -> Measurement:
    """The bin and all values of every row that counts, in one reading; then draw."""
    bins = question(spec, by_value=False)
    values = (replace(bins, axes=(), where=None, measure=each, by_value=True) for each in spec.measures)
    asked = (bins, *values)
    exact = engine.kept_rows(asked, source) if spec.unit.counts_rows else engine.joint_count(asked, source)
    return Measurement(answers=release(Noisy(spec), exact, source))


def present(spec: Summary, measurement: Measurement) -> Summaries:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows = [tuple(each or 0 for each in row) for row in rows_of(spec, integer_columns(spec), drawn)]
    if any(not -LARGEST_COUNT <= number < 2 * LARGEST_COUNT for row in rows for number in row):
        raise CheckFailed(NO_NUMBERS)
    return Summaries(spec, answers_of(spec, rows))


@dataclass(frozen=True, slots=True)
class Noisy:
    """The mechanism: of every bin each number, from what each person has there, with noise.

    Sensitivity: one person more or less is in at most B bins and moves number i of each by at most w_i
    (:meth:`hubbub.kinds.summary.spec.Summary.width`); a cap on rows is drawn from numbers of pairs that move by B.

    Guarantee: the promise of :func:`hubbub.kinds.summary.promises.promises`, if the words of the source are uniform and
    independent: what comes out depends on the table through numbers that one person moves so, and exact noise.
    """

    spec: Summary

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, integer_columns(self.spec))

    def draw(self, exact: Joint | KeptRows, source: Source) -> pa.RecordBatch:
        spec, pairs, columns = self.spec, pairs_of(self.spec, exact), list[list[int]]()
        for number in spec.numbers:
            cap = caps.drawn(spec, number, pairs.with_rows(spec.cap_points), source) if spec.for_cap(number) else None
            drawn = [_noisy(spec, number, cap, each, source) for each in exact_columns(spec, number, pairs, cap)]
            if isinstance(number, Average):
                drawn[1] = list(map(sum, zip(*drawn, strict=True)))
            columns += [*drawn, *([[cap] * spec.bins] if cap is not None else [])]
        return in_columns(spec, integer_columns(spec), list(zip(*columns, strict=True)))


def _noisy(spec: Summary, number: Number, cap: int | None, sums: Integers, source: Source) -> list[int]:
    """The numbers of all bins, with the noise of that number."""
    if spec.gaussian is not None:
        noise = discrete_gaussian(spec.variance(number), spec.bins, source)
    else:
        noise = wide_noise(spec.rate(number, cap), spec.bins, source)
    return [total + each for total, each in zip(sums.tolist(), noise.tolist(), strict=True)]


# --- what people have ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Each pair of a person and a bin; or, where people have one row, each cell of people who are alike. Private.

    `bins` is where it is, `times` how many people it stands for, `rows` how many rows each has there. Of a column
    `totals` is what each has there in steps of its range, from 0, and `known` in how many rows.
    """

    bins: Integers
    times: Integers
    rows: Integers
    totals: Mapping[Measure, Integers]
    known: Mapping[Measure, Integers]

    def with_rows(self, points: tuple[int, ...]) -> list[int]:
        """How many pairs have so many rows or more."""
        return [int(self.times[self.rows >= point].sum()) for point in points]


def pairs_of(spec: Summary, exact: Joint | KeptRows) -> Pairs:
    """What each person has in each bin, within the bounds on rows and bins.

    Guarantee: it looks at the rows of one person alone; a person is in at most B bins.
    """
    places, *codes = exact.codes
    if isinstance(exact, KeptRows):
        assert spec.unit.bounds is not None
        rows = np.flatnonzero(within_bounds(exact.person, places, spec.unit.bounds))
        keys, index = np.unique(exact.person[rows] * spec.bins + places[rows], return_inverse=True)
        bins, times = keys % spec.bins, np.ones(keys.size, dtype=np.int64)
    else:
        rows = np.flatnonzero((places >= 0) & (exact.counts > 0))
        bins, times, index = places[rows], exact.counts[rows], np.arange(rows.size)
    totals, known = dict[Measure, Integers](), dict[Measure, Integers]()
    for measure, code in zip(spec.measures, codes, strict=True):
        steps = code[rows]
        has = steps >= 0
        values = np.where(has, steps + _first(measure), 0)
        totals[measure], known[measure] = (_summed(index, each, bins.size) for each in (values, has.astype(np.int64)))
    return Pairs(bins, times, _summed(index, np.ones(rows.size, dtype=np.int64), bins.size), totals, known)


def _first(measure: Measure) -> int:
    """What the step 0 stands for, in whole steps: of a range that begins between two steps, the lower one."""
    return int(measure.low // measure.step)


def _summed(index: Integers, values: Integers, size: int) -> Integers:
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, index.reshape(-1), values)
    return found


def exact_columns(spec: Summary, number: Number, pairs: Pairs, cap: int | None = None) -> list[Integers]:
    """The exact numbers of every bin: of an average the sums of x and of W - x, else one.

    Guarantee: what a pair adds is cut last, so that it is within the width of the number whatever its rows are.
    """
    found = _added(spec, number, pairs, cap)
    if int(pairs.times.sum()) * spec.width(number, cap) > LARGEST_COUNT:
        raise WrongUse(BEYOND_COUNTS)
    return [_summed(pairs.bins, pairs.times * each, spec.bins) for each in found]


def _added(spec: Summary, number: Number, pairs: Pairs, cap: int | None) -> list[Integers]:
    """What each pair adds."""
    match number:
        case RowCount():
            return [np.minimum(pairs.rows, spec.width(number, cap))]
        case Total(of=of):
            read = as_read(of)
            return [np.where(pairs.known[read] > 0, np.clip(pairs.totals[read], *number.ends), 0)]
        case Average(of=of):
            read = as_read(of)
            rows = np.maximum(pairs.known[read], 1)
            nearest = (2 * pairs.totals[read] + rows) // (2 * rows)
            x = np.clip(nearest - _first(of), 0, of.steps)
            has = pairs.known[read] > 0
            return [np.where(has, x, 0), np.where(has, of.steps - x, 0)]
        case _:
            return [np.ones(pairs.bins.size, dtype=np.int64)]
