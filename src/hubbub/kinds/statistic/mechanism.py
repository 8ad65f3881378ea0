"""A statistic measured and presented: count exactly, draw the secret sample over the counts, add noise; then work out
what the drawn integers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.statistic.calibration import calibrated
from hubbub.kinds.statistic.drawn_columns import (
    NO_NUMBERS,
    Place,
    Row,
    drawn_range,
    drawn_schema,
    found_keys,
    in_columns,
    rows_of,
    visible_columns,
)
from hubbub.kinds.statistic.estimates import estimated_answers
from hubbub.kinds.statistic.intervals import Aims, aims
from hubbub.kinds.statistic.quantile import Table, around, draw, weights, window_weights
from hubbub.kinds.statistic.result import Answers, drawn_columns
from hubbub.kinds.statistic.spec import Quantile, Share, Statistic
from hubbub.kinds.statistic.weighted import weighted_counts
from hubbub.noise.binomial import binomial
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.ranks import choose
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.engine import OTHER_NUMBER, CountQuery, ExactCounts, MultiRowPolicy
from hubbub.tables.kept_rows import KeptRows, in_profile_crowds, within_bounds
from hubbub.tables.protection import Crowd, Knowledge, Route

if TYPE_CHECKING:
    from hubbub.tables.engine import Engine


def measure(spec: Statistic, engine: Engine, source: Source) -> Measurement:
    """Count exactly in the engine, then add noise.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    if spec.weighted_by is not None:
        query = question(spec, by_value=spec.measured is not None)
        exact = weighted_counts(query, spec.steps, spec.weighted_by, engine, source)
        return Measurement(answers=release(Sums(spec), exact, source))
    if spec.unit.counts_rows and isinstance(spec.protection, Knowledge):
        query = question(spec, by_value=spec.measured is not None)
        kept = engine.kept_rows((query,), source, spec.protection.people)
        return Measurement(answers=release(SumsOfRows(spec), kept, source))
    if spec.profiled:
        return Measurement(answers=release(SumsOfProfiles(spec), every_row(spec, engine, source), source))
    exact = engine.count(question(spec, by_value=_by_value(spec)), source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    return Measurement(answers=release(Sums(spec), exact, source))


def present(spec: Statistic, measurement: Measurement) -> Answers:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    answers = answers_of(spec, rows_of(spec, drawn_columns(spec), drawn))
    return replace(answers, found=found_keys(spec, drawn))


def answers_of(spec: Statistic, rows: Sequence[Row]) -> Answers:
    """The answers of every bin, in order; a CheckFailed if such a release cannot draw these integers."""
    if not spec.discovered and len(rows) != spec.bins:
        raise CheckFailed("its rows are not as many as its bins")
    least, most = drawn_range(spec)
    if any(number is not None and not least <= number <= most for row in rows for number in row):
        raise CheckFailed(NO_NUMBERS)
    try:
        return Answers(spec, estimated_answers(spec, rows), calibrated=calibrated(spec, rows))
    except (ValueError, ArithmeticError):
        raise CheckFailed(NO_NUMBERS) from None


def question(spec: Statistic, *, by_value: bool) -> CountQuery:
    """The counting query for the engine."""
    return CountQuery(
        axes=spec.axes,
        person=spec.unit.person,
        repeats=_repeats(spec),
        most_bins=spec.unit.distinct or 1,
        bounds=spec.unit.bounds,
        where=None if isinstance(spec, Share) else spec.where,
        measure=spec.measured,
        by_value=by_value,
        everybody=isinstance(spec.protection, Knowledge) and not spec.unit.counts_rows,
        people=spec.enforced_number if not spec.unit.counts_rows else None,
    )


def _by_value(spec: Statistic) -> bool:
    """Whether people are counted by their steps: a sample is drawn over them, and a quantile is found among them."""
    return isinstance(spec.measured, Measure) and (spec.sampled or spec.ranked is not None)


def _repeats(spec: Statistic) -> MultiRowPolicy:
    if spec.unit.counts_rows:
        return MultiRowPolicy.BOUNDED
    if spec.any_row:
        return MultiRowPolicy.DISTINCT if spec.axes else MultiRowPolicy.ANY_ROW
    return spec.unit.one_row


# --- the mechanism ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """The mechanism of a statistic: of every bin its count, its sums or three points of it, drawn from exact counts
    after the secret sample if there is one.

    Sensitivity: one person more or less changes the count of one bin by 1, and the sums of x and of W - x of that bin
    by W, both together. Where one person replaces another (REPLACE) the sensitivity doubles. Where several rows of a
    person count, this is the sensitivity to one row, and a person has as many as `Statistic.moved` says. The distances
    of the points of a quantile change as :mod:`hubbub.kinds.statistic.quantile` says.

    Guarantee: the promises of :func:`hubbub.kinds.statistic.promises.promises`, if the words of the source are uniform
    and independent: what comes out depends on the table through counts and sums that one person moves so, plus exact
    noise of the rate that they say. Where bins are found in the data, those come out that show a number.
    """

    spec: Statistic

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, drawn_columns(self.spec))

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        counted, by_value = exact, _by_value(self.spec)
        if isinstance(self.spec.measured, Condition) and self.spec.sampled:
            counted, by_value = _by_answer(exact), True
        cells = _cells(self.spec, sampled(self.spec, counted, source), by_value)
        return visible_columns(self.spec, drawn_columns(self.spec), _integers(self.spec, cells, source), cells.found)


@dataclass(frozen=True, slots=True)
class SumsOfRows:
    """The mechanism of a statistic of several rows of people who are drawn: K people, all kept rows of each, and noise
    on what these rows add up to.

    Guarantee: that of :class:`Sums` inside the sample, of which one person more or less moves as many rows as
    `Statistic.moved` says, if the words of the source are uniform and independent.
    """

    spec: Statistic

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        spec = self.spec
        assert isinstance(spec.protection, Knowledge)
        drawn = drawn_people(spec.protection.rows, exact, source)
        return in_columns(spec, drawn_columns(spec), drawn_rows(spec, rows_in_bins(spec, drawn, 0), source))


def every_row(spec: Statistic, engine: Engine, source: Source) -> KeptRows:
    """All rows of everybody, with the person of each; none is left out."""
    bounds = spec.unit.bounds
    assert bounds is not None
    query = question(spec, by_value=spec.measured is not None)
    return engine.kept_rows((replace(query, bounds=replace(bounds, rows_per_person=None)),), source)


@dataclass(frozen=True, slots=True)
class SumsOfProfiles:
    """The mechanism of a statistic of crowds of people with several rows: whoever has rows in bins as fewer than k people
    have them is left out with all of them, and of the rest each row is one of a crowd.

    Guarantee: with two people of one profile every count is the same whoever of them is there, and their rows differ
    inside of bins alone: one after the other is replaced, each of which costs what :class:`Sums` says of crowds.
    """

    spec: Statistic

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        counted = rows_of_crowds(self.spec, exact)
        return in_columns(self.spec, drawn_columns(self.spec), drawn_rows(self.spec, counted, source))


def rows_of_crowds(spec: Statistic, exact: KeptRows) -> ExactCounts:
    """How many rows of people in crowds there are in every cell."""
    bounds, crowd, (codes,) = spec.unit.bounds, spec.protection, exact.codes
    assert bounds is not None
    assert isinstance(crowd, Crowd)
    counts = in_profile_crowds(exact.person, np.where(codes < 0, -1, codes // _width(spec)), bounds, crowd.k)
    cells, rows = np.unique(codes[counts], return_counts=True)
    return ExactCounts(cells.astype(np.int64), rows.astype(np.int64))


def _width(spec: Statistic) -> int:
    """How many cells a bin has, by value."""
    return 1 if spec.measured is None else spec.measured.steps + 1 if isinstance(spec.measured, Measure) else 2


def drawn_people(rows: int, exact: KeptRows, source: Source) -> KeptRows:
    """The rows of so many people, drawn without replacement.

    Guarantee: every set of so many people is as likely as any other.
    """
    chosen = choose(rows, exact.people, source).count_drawn(np.ones(exact.people, dtype=np.int64))
    return exact.of_people(chosen.astype(bool))


def rows_in_bins(spec: Statistic, kept: KeptRows, which: int) -> ExactCounts:
    """How many rows there are in every cell of one question, within the bounds on bins and rows in them."""
    bounds, codes = spec.unit.bounds, kept.codes[which]
    assert bounds is not None
    counts = within_bounds(kept.person, np.where(codes < 0, -1, codes // _width(spec)), bounds)
    cells, rows = np.unique(codes[counts], return_counts=True)
    return ExactCounts(cells.astype(np.int64), rows.astype(np.int64))


def drawn_rows(spec: Statistic, counted: ExactCounts, source: Source) -> list[Row]:
    """What is drawn for every declared bin from the exact counts of those who were sampled, by value.

    Guarantee: that of :class:`Sums`, inside the sample.
    """
    return _integers(spec, _cells(spec, counted, spec.measured is not None), source)


def _integers(spec: Statistic, cells: _Cells, source: Source) -> list[Row]:
    """The noisy integers of every bin, from which everything published is computed."""
    if isinstance(spec, Quantile):
        return _points(spec, _tables(cells), source)
    people, sums = _added(spec, cells)
    if spec.channel is not None:
        return _through_channel(spec, people, source)
    if sums is None or (spec.has_single_unknown and isinstance(spec.protection, Knowledge)):
        return _counts(spec, people if sums is None else sums, source)
    if isinstance(spec.protection, Crowd):
        return _of_crowds(spec, spec.protection, people, sums, source)
    return _of_sums(spec, people, sums, source)


# --- what was counted ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cells:
    """What was counted, each with the number of its bin: (bin, people, sum of steps or, by value, the step)."""

    bins: int
    rows: list[tuple[int, int, int]]
    by_value: bool
    found: list[Place] | None = None  # which bins they are, where they are found in the data


def _cells(spec: Statistic, counted: ExactCounts, by_value: bool) -> _Cells:
    """The counted cells, without people in no bin; found bins are ordered by their labels, the missing last."""
    steps = 1 if isinstance(spec.measured, Condition) else spec.measured.steps if spec.measured is not None else 0
    width = steps + 1 if by_value else 1
    codes, counts = counted.codes.tolist(), counted.counts.tolist()
    values = [code % width for code in codes] if by_value else counted.sums or (0,) * len(codes)
    inside = [i for i, code in enumerate(codes) if code >= 0]
    if not spec.discovered:
        return _Cells(spec.bins, [(codes[i] // width, counts[i], values[i]) for i in inside], by_value)
    inside = [i for i in inside if counts[i]]
    places, ordered = in_label_order([codes[i] // width for i in inside], inside, counted)
    rows = [(place, counts[i], values[i]) for place, i in zip(places, inside, strict=True)]
    return _Cells(len(ordered), rows, by_value, ordered)


def in_label_order(
    indices: Sequence[int], inside: Sequence[int], counted: ExactCounts
) -> tuple[list[int], list[Place]]:
    """The numbers of found bins in the order of their labels, the missing last; and which bins they are.

    Of the cells `inside` of what was counted, `indices` are the codes of their declared bins.
    """
    keys = [(code, tuple(labels[i] for labels in counted.found)) for code, i in zip(indices, inside, strict=True)]
    ordered = sorted(set(keys), key=lambda key: (key[0], *map(last, key[1])))
    order = {key: i for i, key in enumerate(ordered)}
    return [order[key] for key in keys], ordered


def last(label: str | None) -> tuple[bool, str]:
    """The sort key of a label: by its characters, the missing last."""
    return label is None, label or ""


def sampled(spec: Statistic, counted: ExactCounts, source: Source) -> ExactCounts:
    """The counts of the secret sample, if there is one; people in no bin can be sampled too."""
    match spec.protection:
        case Knowledge(route=Route.SAMPLE) as knowledge:
            return ExactCounts(
                counted.codes, choose(knowledge.rows, knowledge.people, source).count_drawn(counted.counts)
            )
        case Crowd(sample=rate) if rate is not None:
            # The draw does not follow the order in which an engine found the cells.
            order = np.argsort(counted.codes, kind="stable").tolist()
            if counted.found:
                codes, labels = counted.codes.tolist(), counted.found
                order = sorted(order, key=lambda i: (codes[i], *(last(each[i]) for each in labels)))
            found = tuple([each[i] for i in order] for each in counted.found)
            return ExactCounts(counted.codes[order], binomial(counted.counts[order], rate, source), found)
        case _:
            return counted


def _by_answer(counted: ExactCounts) -> ExactCounts:
    """Those of each bin who do not meet a condition, and those who do, as two cells."""
    codes, met = counted.codes, np.array(counted.sums, dtype=np.int64)
    inside = np.flatnonzero(codes >= 0)
    apart = np.flatnonzero(codes < 0)
    every = (*apart.tolist(), *inside.tolist(), *inside.tolist())
    return ExactCounts(
        np.concatenate([codes[apart], 2 * codes[inside], 2 * codes[inside] + 1]),
        np.concatenate([counted.counts[apart], (counted.counts - met)[inside], met[inside]]),
        tuple([labels[i] for i in every] for labels in counted.found),
    )


def _added(spec: Statistic, cells: _Cells) -> tuple[list[int], list[int] | None]:
    """People, and the sum of their steps, of every bin; empty bins are bins."""
    people = [0] * cells.bins
    sums = None if spec.measured is None else [0] * cells.bins
    for position, count, steps in cells.rows:
        people[position] += count
        if sums is not None:
            sums[position] += count * steps if cells.by_value else steps
    return people, sums


def _tables(cells: _Cells) -> list[list[tuple[int, int]]]:
    """(step, people) of every bin, in rising order."""
    tables: list[list[tuple[int, int]]] = [[] for _ in range(cells.bins)]
    for position, count, step in sorted(cells.rows, key=lambda row: (row[0], row[2])):
        if count:
            tables[position].append((step, count))
    return tables


def _noise(rate: Fraction, size: int, source: Source) -> list[int]:
    noise: list[int] = two_sided_geometric(rate, size, source).tolist()
    return noise


def _noise_of_sums(spec: Statistic, size: int, source: Source) -> list[int]:
    """Gaussian, or two-sided geometric of the rate of the sums."""
    if spec.gaussian is not None:
        noise: list[int] = discrete_gaussian(spec.gaussian.s2, size, source).tolist()
        return noise
    assert spec.sum_rate is not None
    return _noise(spec.sum_rate, size, source)


# --- counts -------------------------------------------------------------------------------------------------------


def _through_channel(spec: Statistic, people: list[int], source: Source) -> list[Row]:
    assert spec.channel is not None
    counts = np.array([min(count, LARGEST_COUNT) for count in people], dtype=np.int64)
    published = spec.channel.release(counts, source)
    return [(published.outcome(i)[0],) for i in range(len(people))]


def _counts(spec: Statistic, people: list[int], source: Source) -> list[Row]:
    """Noisy counts of the K sampled people, by bins or in all, or of everybody."""
    return [(count + noise,) for count, noise in zip(people, _noise_of_sums(spec, len(people), source), strict=True)]


# --- sums ---------------------------------------------------------------------------------------------------------


def _of_sums(spec: Statistic, people: list[int], sums: list[int], source: Source) -> list[Row]:
    """The sums A and B with noise each, published as A and A + B."""
    size = len(people)
    noise = _noise_of_sums(spec, 2 * size, source)
    return [(sums[i] + noise[i], spec.steps * people[i] + noise[i] + noise[size + i]) for i in range(size)]


def _of_crowds(spec: Statistic, crowd: Crowd, people: list[int], sums: list[int], source: Source) -> list[Row]:
    """The exact size of each crowd and its sum with noise; small crowds are hidden."""
    rate = spec.sum_rate
    assert rate is not None
    both = zip(people, sums, _noise(rate, len(people), source), strict=True)
    return [(None, None) if count < crowd.k else (count, total + noise) for count, total, noise in both]


# --- quantiles ----------------------------------------------------------------------------------------------------


def _points(spec: Quantile, tables: list[list[tuple[int, int]]], source: Source) -> list[Row]:
    """The exact size of a crowd; then the quantile and both ends of its interval, as points."""
    crowd = spec.protection if isinstance(spec.protection, Crowd) else None
    rows: list[Row] = []
    for table in tables:
        people = sum(count for _, count in table)
        if crowd is not None and people < crowd.k:
            rows.append((None,) * len(drawn_columns(spec)))
            continue
        known = None if crowd is None else people
        rows.append((*(() if crowd is None else (people,)), *_value(table, spec.of.steps, aims(spec, known), source)))
    return rows


def _value(table: Table, steps: int, wanted: Aims, source: Source) -> tuple[int, int, int]:
    """The value and both ends of its interval; without one, of the whole range."""
    value = draw(weights(table, steps, wanted.value, wanted.value_loss), source)
    if wanted.window is None:
        return value, 0, steps
    at = draw(window_weights(table, steps, wanted.window, value, wanted.window_loss), source)
    return value, *around(value, wanted.window.offsets[at], steps)
