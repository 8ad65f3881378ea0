"""Any statistic by bins measured and presented: count exactly, draw the people who are sampled, add noise; then work out
what the drawn integers say.

Each protection is a function of what was counted, in this order: who counts at all (:func:`draw_people`), what they add
up to (:class:`Cells`), the noise (:func:`draw_sums`), and which bins stay hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.sums.calibration import calibrated
from hubbub.kinds.sums.columns import (
    NO_NUMBERS,
    Place,
    Row,
    drawn_range,
    drawn_schema,
    found_keys,
    rows_of,
    visible_columns,
)
from hubbub.kinds.sums.result import Answers, answers_of
from hubbub.kinds.sums.weights import weighted_counts
from hubbub.noise.binomial import binomial
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.sampler import wide_noise
from hubbub.noise.source import Source
from hubbub.numeric.exact_sums import sums_by
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.ranks import choose
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.engine import OTHER_NUMBER, CountQuery, ExactCounts, Joint, MultiRowPolicy
from hubbub.tables.kept_rows import KeptRows, in_profile_crowds, within_bounds
from hubbub.tables.protection import Crowd, Knowledge, Route

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared, Statistic
    from hubbub.tables.engine import Engine


def measure(spec: Statistic, engine: Engine, source: Source) -> Measurement:
    """Count exactly in the engine, all values of a row in one reading; then add noise.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    return Measurement(answers=release(NoisyBins(spec), count_exactly(spec, engine, source), source))


def count_exactly(spec: Statistic, engine: Engine, source: Source) -> ExactCounts | Joint | KeptRows:
    """What the bins hold: people by bin, perhaps by value, or every kept row where people are chosen among afterwards."""
    several, by_value = spec.unit.counts_rows, spec.measured is not None
    if spec.weighted_by is not None:
        return weighted_counts(question(spec, by_value=by_value), spec.steps, spec.weighted_by, engine, source)
    if several and isinstance(spec.protection, Knowledge):
        return engine.kept_rows((question(spec, by_value=by_value),), source, spec.protection.people)
    if spec.profiled:
        return every_row(spec, engine, source)
    query = question(spec, by_value=spec.by_value)
    if len(spec.measures) > 1:
        others = (replace(query, axes=(), where=None, measure=each) for each in spec.measures[1:])
        return (engine.kept_rows if several else engine.joint_count)((query, *others), source)
    exact = engine.count(query, source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    return exact


def question(spec: Statistic, *, by_value: bool) -> CountQuery:
    """The counting query for the engine."""
    return CountQuery(
        axes=spec.axes,
        person=spec.unit.person,
        repeats=_repeats(spec),
        most_bins=spec.unit.distinct or 1,
        bounds=spec.unit.bounds,
        where=spec.counted_where,
        measure=spec.measured,
        by_value=by_value,
        everybody=isinstance(spec.protection, Knowledge) and not spec.unit.counts_rows,
        people=spec.enforced_number if not spec.unit.counts_rows else None,
    )


def _repeats(spec: Statistic) -> MultiRowPolicy:
    if spec.unit.counts_rows:
        return MultiRowPolicy.BOUNDED
    if spec.any_row:
        return MultiRowPolicy.DISTINCT if spec.axes else MultiRowPolicy.ANY_ROW
    return spec.unit.one_row


def present(spec: Statistic, measurement: Measurement) -> Answers:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    return replace(present_rows(spec, rows_of(spec, spec.columns, drawn)), found=found_keys(spec, drawn))


def present_rows(spec: Statistic, rows: list[Row]) -> Answers:
    """The answers of every bin, in order; a CheckFailed if such a release cannot draw these integers."""
    if not spec.discovered and len(rows) != spec.bins:
        raise CheckFailed("its rows are not as many as its bins")
    least, most = drawn_range(spec)
    if any(number is not None and not least <= number <= most for row in rows for number in row):
        raise CheckFailed(NO_NUMBERS)
    try:
        return Answers(spec, answers_of(spec, rows), calibrated=calibrated(spec, rows))
    except (ValueError, ArithmeticError):
        raise CheckFailed(NO_NUMBERS) from None


# --- the mechanism ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoisyBins:
    """The mechanism: of every bin what its people contribute to each column, with noise; of a crowd also how many they
    are, exactly, and nothing of a small one; all of it after the secret sample, if there is one.

    Sensitivity: one row more or less is in one bin and moves its columns by v(x). Where several rows of a person count,
    a person has as many as `Statistic.moved` says; where one person replaces another the sensitivity doubles. The points
    of a quantile change as :mod:`hubbub.kinds.quantile.ranks` says.

    Guarantee: the promises of :func:`hubbub.kinds.sums.promises.promises`, if the words of the source are uniform and
    independent: what comes out depends on the table through columns that one person moves so, with exact noise of the
    declared rates. Where bins are found in the data, those come out that show a number.
    """

    spec: Statistic

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, self.spec.columns)

    def draw(self, exact: ExactCounts | Joint | KeptRows, source: Source) -> pa.RecordBatch:
        cells = draw_people(self.spec, exact, source)
        rows = self.spec.draw_rows(cells, source)
        return visible_columns(self.spec, self.spec.columns, rows, cells.found)


def draw_sums(spec: Declared, cells: Cells, source: Source) -> list[Row]:
    """What the declared contributions come to in every bin, with noise.

    Guarantee: with the declared rates, or with the Gaussian noise of the release, or through the channel of a count.
    """
    exact, sums = cells.contributions(spec), spec.sums
    if spec.channel is not None:
        counts = np.array([min(count, LARGEST_COUNT) for count in exact[0]], dtype=np.int64)
        published = spec.channel.release(counts, source)
        return [(published.outcome(i)[0],) for i in range(cells.bins)]
    groups = [range(len(exact))] if sums.at_once else [[j] for j in range(len(exact))]
    noisy = []
    for group in groups:
        noise = _noise(spec, group[0], cells.bins * len(group), source)
        for i, j in enumerate(group):
            own = noise[i * cells.bins : (i + 1) * cells.bins]
            noisy.append([total + each for total, each in zip(exact[j], own, strict=True)])
    rows: list[Row] = list(zip(*noisy, strict=True))
    rows = rows if sums.publish is None else [sums.publish(*row) for row in rows]
    if not isinstance(spec.protection, Crowd):
        return rows
    least, hidden = spec.protection.k, (None,) * len(spec.columns)
    return [hidden if n < least else (n, *row) for n, row in zip(cells.people(), rows, strict=True)]


def _noise(spec: Declared, column: int, size: int, source: Source) -> list[int]:
    """Gaussian, or two-sided geometric of the rate of a column."""
    if spec.gaussian is not None:
        return discrete_gaussian(spec.gaussian.s2, size, source).tolist()  # type: ignore[no-any-return]
    return wide_noise(spec.sums.rates[column], size, source).tolist()  # type: ignore[no-any-return]


# --- who counts ---------------------------------------------------------------------------------------------------


def draw_people(spec: Statistic, exact: ExactCounts | Joint | KeptRows, source: Source) -> Cells:
    """What those hold who count, after the secret sample if there is one."""
    if isinstance(exact, KeptRows) and isinstance(spec.protection, Knowledge):
        drawn = draw_kept_people(spec.protection.rows, exact, source)
        return cells_of(spec, rows_in_bins(spec, drawn, 0), spec.measured is not None)
    if isinstance(exact, KeptRows) and spec.profiled:
        return cells_of(spec, rows_of_crowds(spec, exact), spec.measured is not None)
    if not isinstance(exact, ExactCounts):
        return joint_cells_of(spec, exact)
    if isinstance(spec.measured, Condition) and spec.sampled:
        return cells_of(spec, draw_sample(spec, _by_answer(exact), source), by_value=True)
    return cells_of(spec, draw_sample(spec, exact, source), spec.by_value)


def draw_sample(spec: Statistic, counted: ExactCounts, source: Source) -> ExactCounts:
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
                order = sorted(order, key=lambda i: (codes[i], *(missing_last(each[i]) for each in labels)))
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


def draw_kept_people(rows: int, exact: KeptRows, source: Source) -> KeptRows:
    """The rows of so many people, drawn without replacement.

    Guarantee: every set of so many people is as likely as any other.
    """
    chosen = choose(rows, exact.people, source).count_drawn(np.ones(exact.people, dtype=np.int64))
    return exact.of_people(chosen.astype(bool))


def rows_in_bins(spec: Statistic, kept: KeptRows, which: int) -> ExactCounts:
    """How many rows there are in every cell of one question, within the bounds on bins and rows in them."""
    bounds, codes = spec.unit.bounds, kept.codes[which]
    assert bounds is not None
    return _rows_by_cell(codes[within_bounds(kept.person, np.where(codes < 0, -1, codes // _width(spec)), bounds)])


def every_row(spec: Statistic, engine: Engine, source: Source) -> KeptRows:
    """All rows of everybody, with the person of each; none is left out."""
    bounds = spec.unit.bounds
    assert bounds is not None
    query = question(spec, by_value=spec.measured is not None)
    return engine.kept_rows((replace(query, bounds=replace(bounds, rows_per_person=None)),), source)


def rows_of_crowds(spec: Statistic, exact: KeptRows) -> ExactCounts:
    """How many rows of people in crowds there are in every cell: whoever has rows in bins as fewer than k people have them
    is left out with all of them, and of the rest each row is one of a crowd.

    Guarantee: with two people of one profile every count is the same whoever of them is there, and their rows differ
    inside of bins alone: one after the other is replaced, each of which costs what is promised to crowds of rows.
    """
    bounds, crowd, (codes,) = spec.unit.bounds, spec.protection, exact.codes
    assert bounds is not None
    assert isinstance(crowd, Crowd)
    bins = np.where(codes < 0, -1, codes // _width(spec))
    return _rows_by_cell(codes[in_profile_crowds(exact.person, bins, bounds, crowd.k)])


def _rows_by_cell(codes: NDArray[np.int64]) -> ExactCounts:
    cells, rows = np.unique(codes, return_counts=True)
    return ExactCounts(cells.astype(np.int64), rows.astype(np.int64))


def _width(spec: Statistic) -> int:
    """How many cells a bin has, by value."""
    return 1 if spec.measured is None else spec.measured.steps + 1 if isinstance(spec.measured, Measure) else 2


# --- what they add up to ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """So many people (or rows, or steps of weights) in the bin of a number: all with the steps x, or, where a cell is a
    whole bin, with steps that come to `totals`. `found` says which bins those found in the data are."""

    bins: int
    places: NDArray[np.int64]
    counts: NDArray[Any]
    x: tuple[NDArray[np.int64], ...] = ()
    totals: NDArray[Any] | None = None
    found: list[Place] | None = None

    def contributions(self, spec: Declared) -> list[list[int]]:
        """The exact sum of each column of every bin."""
        sums, most = spec.sums, spec.most_added
        if self.x:
            added = sums.contribution(1, *self.x)
            return [sums_by(self.places, each, self.bins, most, self.counts).tolist() for each in added]
        added = sums.contribution(self.counts, *(() if self.totals is None else (self.totals,)))
        return [sums_by(self.places, each, self.bins, most).tolist() for each in added]

    def people(self) -> list[int]:
        """Of every bin."""
        found: list[int] = sums_by(self.places, self.counts, self.bins, 1).tolist()
        return found

    def by_step(self) -> list[list[tuple[int, int]]]:
        """(step, people) of every bin, in rising order."""
        tables: list[list[tuple[int, int]]] = [[] for _ in range(self.bins)]
        for place, step, count in sorted(
            zip(self.places.tolist(), self.x[0].tolist(), self.counts.tolist(), strict=True)
        ):
            tables[place].append((step, count))
        return tables


def cells_of(spec: Statistic, exact: ExactCounts, by_value: bool) -> Cells:
    """What was counted, without whom is in no bin; bins that are found come in the order of their labels, the missing
    last."""
    inside = np.flatnonzero((exact.codes >= 0) & (exact.counts > 0))
    codes, counts, width = exact.codes[inside], exact.counts[inside], _width(spec) if by_value else 1
    places, x, totals = codes // width, (codes % width,) if by_value else (), None
    if not by_value and exact.sums is not None:
        totals = np.array([exact.sums[i] for i in inside.tolist()], dtype=object)
    if not spec.discovered:
        return Cells(spec.bins, places, counts, x, totals)
    found, ordered = in_label_order(places.tolist(), inside.tolist(), exact)
    return Cells(len(ordered), np.array(found, dtype=np.int64), counts, x, totals, ordered)


def joint_cells_of(spec: Statistic, exact: Joint | KeptRows) -> Cells:
    """The rows, or groups of people who are alike, that have a value of every column, in declared bins."""
    first, *others = exact.codes
    has_all = np.min(exact.codes, axis=0) >= 0
    bins = np.where(has_all, first // _width(spec), -1)
    if isinstance(exact, KeptRows):
        assert spec.unit.bounds is not None
        counts = within_bounds(exact.person, bins, spec.unit.bounds).astype(np.int64)
    else:
        counts = np.where(bins >= 0, exact.counts, 0)
    rows = np.flatnonzero(counts > 0)
    return Cells(spec.bins, bins[rows], counts[rows], tuple(each[rows] for each in (first % _width(spec), *others)))


def in_label_order(
    indices: Sequence[int], inside: Sequence[int], counted: ExactCounts
) -> tuple[list[int], list[Place]]:
    """The numbers of found bins in the order of their labels, the missing last; and which bins they are.

    Of the cells `inside` of what was counted, `indices` are the codes of their declared bins.
    """
    keys = [(code, tuple(labels[i] for labels in counted.found)) for code, i in zip(indices, inside, strict=True)]
    ordered = sorted(set(keys), key=lambda key: (key[0], *map(missing_last, key[1])))
    order = {key: i for i, key in enumerate(ordered)}
    return [order[key] for key in keys], ordered


def missing_last(label: str | None) -> tuple[bool, str]:
    """The sort key of a label: by its characters, the missing last."""
    return label is None, label or ""
