"""A summary measured and presented: what each person has in each bin, noise on all numbers; then what these say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.summary import cap as caps
from hubbub.kinds.summary.numbers import Average, Number, RowCount, Total, as_read
from hubbub.kinds.summary.result import Summaries, answers_of, integer_columns
from hubbub.kinds.sums.columns import Place, drawn_schema, found_keys, in_columns, rows_of
from hubbub.kinds.sums.mechanism import missing_last, question
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.sampler import wide_noise
from hubbub.noise.source import Source
from hubbub.numeric.exact_sums import sums_by
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Declared, Discovered, Values, all_labels, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.engine import CountQuery, Joint
from hubbub.tables.kept_rows import KeptRows, within_bounds

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary
    from hubbub.tables.engine import Engine

Integers = NDArray[np.int64]
Sums = NDArray[Any]
"""Whole numbers, of 64 bits or of any size."""


def measure(spec: Summary, engine: Engine, source: Source) -> Measurement:
    """The bin and all values of every row that counts, in one reading; then draw. Where bins are found in the data, the
    labels that occur are read before."""
    axes = _with_labels(spec, engine, source) if spec.discovered else ()
    bins = replace(question(spec, by_value=False), axes=axes or spec.axes)
    declared = dict.fromkeys(number.of for number in spec.numbers if isinstance(number, Total | Average))
    by_value = [replace(bins, axes=(), where=None, measure=each, by_value=True) for each in (*spec.measures, *declared)]
    asked = (bins, *by_value)  # the declared ranges are asked so that the engine refuses where most lie outside of them
    found = engine.kept_rows(asked, source) if spec.unit.counts_rows else engine.joint_count(asked, source)
    exact = replace(found, codes=found.codes[: 1 + len(spec.measures)])
    return Measurement(answers=release(Noisy(spec), LabelledRows(axes, exact) if spec.discovered else exact, source))


def _with_labels(spec: Summary, engine: Engine, source: Source) -> tuple[Declared, ...]:
    """The axes, with the labels that occur in the place of those that are not declared. Private."""
    found = iter(engine.count(CountQuery(axes=spec.axes, where=spec.where), source).found)
    axes = list[Declared]()
    for axis in spec.axes:
        if isinstance(axis, Discovered):
            labels = set(next(found))
            values = tuple(sorted(label for label in labels if label is not None))
            axes.append(Values(axis.column, values, null=None in labels, reads=axis.reads))
        else:
            axes.append(axis)
    return tuple(axes)


def present(spec: Summary, measurement: Measurement) -> Summaries:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows = [tuple(each or 0 for each in row) for row in rows_of(spec, integer_columns(spec), drawn)]
    return Summaries(spec, answers_of(spec, rows), found_keys(spec, drawn))


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Every row that counts, and the labels that its bin is numbered by, where these were found. Private."""

    axes: tuple[Declared, ...]
    exact: Joint | KeptRows


@dataclass(frozen=True, slots=True)
class Noisy:
    """The mechanism: of every bin each number, from what each person has there, with noise.

    Sensitivity: one person more or less is in at most B bins and moves number i of each by at most w_i
    (:meth:`hubbub.kinds.summary.spec.Summary.width`); a cap on rows is drawn from numbers of pairs that move by B.

    Guarantee: the promise of :func:`hubbub.kinds.summary.promises.promises`, if the words of the source are uniform and
    independent: what comes out depends on the table through numbers that one person moves so, and exact noise. Of bins
    that are found those come out whose number of people is drawn above the threshold.
    """

    spec: Summary

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, integer_columns(self.spec))

    def draw(self, exact: Joint | KeptRows | LabelledRows, source: Source) -> pa.RecordBatch:
        spec, columns = self.spec, list[list[int]]()
        pairs = pairs_of(spec, exact.exact if isinstance(exact, LabelledRows) else exact)
        above = pairs.above(spec.cap_points)
        found = _found(spec, exact.axes, pairs, source) if isinstance(exact, LabelledRows) else None
        pairs, bins = (pairs, spec.bins) if found is None else (found.pairs, len(found.bins))
        for number in spec.numbers:
            cap = caps.drawn(spec, number, above, source) if spec.for_cap(number) else None
            if found is not None and number == spec.counted_people:
                drawn = [found.people]
            else:
                sums = exact_columns(spec, number, pairs, bins, cap)
                drawn = [_noisy(spec, number, cap, each, source) for each in sums]
            if isinstance(number, Average):
                drawn[1] = list(map(sum, zip(*drawn, strict=True)))
            columns += [*drawn, *([[cap] * bins] if cap is not None else [])]
        rows = list(zip(*columns, strict=True))
        return in_columns(spec, integer_columns(spec), rows, None if found is None else found.bins)


def _noisy(spec: Summary, number: Number, cap: int | None, sums: Sums, source: Source) -> list[int]:
    """The numbers of all bins, with the noise of that number."""
    if spec.gaussian is not None:
        noise = discrete_gaussian(spec.variance(number), sums.size, source)
    else:
        noise = wide_noise(spec.rate(number, cap), sums.size, source)
    return [total + each for total, each in zip(sums.tolist(), noise.tolist(), strict=True)]


# --- bins that are found ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The bins that are shown, in the order of their labels: which they are, how many people came out of each, and the
    pairs that are in them. The pairs are private."""

    bins: list[Place]
    people: list[int]
    pairs: Pairs


def _found(spec: Summary, axes: Sequence[Declared], pairs: Pairs, source: Source) -> Found:
    """Draw the number of people of every bin that has somebody; those above the threshold are shown."""
    occupied, index = np.unique(pairs.bins, return_inverse=True)
    published = spec.people_channel.release(_summed(index, pairs.times, occupied.size), source)
    visible = published.visible
    bins = [_found_bin(spec, axes, code) for code in occupied[visible].tolist()]
    drawn = dict(zip(bins, published.values[visible].tolist(), strict=True))
    order = {each: i for i, each in enumerate(sorted(bins, key=lambda each: (each[0], *map(missing_last, each[1]))))}
    number = np.full(occupied.size, -1, dtype=np.int64)
    number[visible] = [order[each] for each in bins]
    return Found(list(order), [drawn[each] for each in order], pairs.numbered(number[index.reshape(-1)]))


def _found_bin(spec: Summary, axes: Sequence[Declared], code: int) -> Place:
    """The code of the declared part of a bin, and its found labels."""
    labels, declared, scale, rest = list[str | None](), 0, 1, code
    for axis, asked in zip(reversed(axes), reversed(spec.axes), strict=True):
        rest, at = divmod(rest, size(axis))
        if isinstance(asked, Discovered):
            labels.append(all_labels(axis)[at])
        else:
            declared, scale = declared + at * scale, scale * size(axis)
    return declared, tuple(reversed(labels))


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
    totals: Mapping[Measure, Sums]
    known: Mapping[Measure, Integers]

    def numbered(self, bins: Integers) -> Pairs:
        """The same in other bins; below 0: left out."""
        inside = bins >= 0
        totals, known = ({of: each[inside] for of, each in column.items()} for column in (self.totals, self.known))
        return Pairs(bins[inside], self.times[inside], self.rows[inside], totals, known)

    def above(self, points: tuple[int, ...]) -> list[int]:
        """How many pairs have more rows than each point."""
        return [int(self.times[self.rows > point].sum()) for point in points]


def pairs_of(spec: Summary, exact: Joint | KeptRows) -> Pairs:
    """What each person has in each bin, within the bounds on rows and bins.

    Guarantee: it looks at the rows of one person alone; a person is in at most B bins.
    """
    places, *codes = exact.codes
    if isinstance(exact, KeptRows):
        assert spec.unit.bounds is not None
        rows = np.flatnonzero(within_bounds(exact.person, places, spec.unit.bounds))
        keys, index = np.unique(np.stack([exact.person[rows], places[rows]]), axis=1, return_inverse=True)
        where, times = keys[1], np.ones(keys.shape[1], dtype=np.int64)
    else:
        rows = np.flatnonzero((places >= 0) & (exact.counts > 0))
        where, times, index = places[rows], exact.counts[rows], np.arange(rows.size)
    totals, known = dict[Measure, Sums](), dict[Measure, Integers]()
    for measure, code in zip(spec.measures, codes, strict=True):
        steps = code[rows]
        has = steps >= 0
        values = np.where(has, steps + _first(measure), 0)
        # Twice a total and a number of rows must fit as well.
        far = 2 * max(abs(_first(measure)), abs(_first(measure) + measure.steps)) + 1
        totals[measure] = sums_by(index.reshape(-1), values, where.size, far)
        known[measure] = _summed(index, has.astype(np.int64), where.size)
    return Pairs(where, times, _summed(index, np.ones(rows.size, dtype=np.int64), where.size), totals, known)


def _first(measure: Measure) -> int:
    """What the step 0 stands for, in whole steps: of a range that begins between two steps, the lower one."""
    return int(measure.low // measure.step)


def _summed(index: Integers, values: Integers, size: int) -> Integers:
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, index.reshape(-1), values)
    return found


def exact_columns(spec: Summary, number: Number, pairs: Pairs, bins: int, cap: int | None = None) -> list[Sums]:
    """The exact numbers of every bin: of an average the sums of x and of W - x, else one.

    Guarantee: what a pair adds is cut last, so that it is within the width of the number whatever its rows are.
    """
    most = spec.width(number, cap)
    return [sums_by(pairs.bins, each, bins, most, pairs.times) for each in _added(spec, number, pairs, cap)]


def _added(spec: Summary, number: Number, pairs: Pairs, cap: int | None) -> list[Sums]:
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
