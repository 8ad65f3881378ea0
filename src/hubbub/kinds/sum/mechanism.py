"""A sum measured and presented: count people by bin and value, draw the secret sample over them if there is one, add
noise to every layer; then work out what the drawn integers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.protocol import BEYOND_COUNTS, LARGEST_COUNT
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.kinds.histogram.mechanism import CODE
from hubbub.kinds.statistic.mechanism import (
    NO_NUMBERS,
    Place,
    drawn_people,
    every_row,
    found_names,
    label_column,
    last,
    question,
    rows_of_crowds,
    sampled,
)
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, key_of
from hubbub.kinds.statistic.weighted import weight_cells
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum.estimates import Row, cap_rate, estimated_answers
from hubbub.kinds.sum.lost import OctaveCounts, above_cap
from hubbub.kinds.sum.result import Totals, crowd_column, drawn_columns, layer_columns
from hubbub.noise.source import Source
from hubbub.noise.wide import wide_noise
from hubbub.protocol.measurement import LABELS, Drawn, Measurement, release
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import OTHER_NUMBER, CountQuery, ExactCounts
from hubbub.tables.kept_rows import KeptRows, within_bounds
from hubbub.tables.key_columns import STATUS
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum
    from hubbub.tables.engine import Engine

LARGEST: Final = 3 * LARGEST_COUNT // 2


def measure(spec: Sum, engine: Engine, source: Source) -> Measurement:
    """Count exactly, then draw.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    if spec.profiled:
        return Measurement(answers=release(SumsOfCrowds(spec), every_row(spec, engine, source), source))
    if spec.unit.counts_rows and isinstance(spec.protection, Knowledge):
        asked = replace(question(spec, by_value=True), bounds=spec.unit.bounds)
        kept = engine.kept_rows((asked,), source, spec.protection.people)
        return Measurement(answers=release(SumsOfDrawn(spec), kept, source))
    if spec.unit.counts_rows and spec.drawn_cap:
        asked = replace(question(spec, by_value=True), bounds=spec.unit.bounds)
        return Measurement(answers=release(CappedSums(spec), engine.kept_rows((asked,), source), source))
    exact = _weighted(spec, engine, source) if spec.weight is not None else engine.count(_question(spec), source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    answers = release(Sums(spec), exact, source)
    if spec.lost is None:
        return Measurement(answers=answers)
    return Measurement(answers=answers, lost=release(OctaveCounts(spec), exact, source))


def present(spec: Sum, measurement: Measurement) -> Totals:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows, found = rows_of(spec, drawn), None
    if not spec.discovered and len(rows) != spec.bins:
        raise CheckFailed("its rows are not as many as its bins")
    if len({row.cap for row in rows}) > 1 or any(row.cap not in _caps(spec) for row in rows):
        raise CheckFailed(NO_NUMBERS)
    every = [number for row in rows for number in (*(row.sums or ()), row.people or 0)]
    if every and not -LARGEST <= min(every) <= max(every) <= LARGEST:
        raise CheckFailed(NO_NUMBERS)
    if spec.discovered:
        if any(row.sums is None for row in rows):
            raise CheckFailed("a bin is listed that is hidden")
        places = zip(drawn.integers(CODE).tolist(), *(drawn.texts(name) for name in found_names(spec)), strict=True)
        found = [key_of(spec.axes, code, labels) for code, *labels in places]
    try:
        lost = above_cap(spec, measurement["lost"]) if spec.lost is not None else None
        return Totals(spec, estimated_answers(spec, rows), found, lost)
    except (ValueError, ArithmeticError):
        raise CheckFailed(NO_NUMBERS) from None


def _caps(spec: Sum) -> tuple[int | None, ...]:
    return spec.cap_points if spec.drawn_cap else (None,)


def _question(spec: Sum) -> CountQuery:
    """By value, where more is wanted than the sum of a bin; beyond the cap, where it is told what that cut off."""
    if spec.bounds is not None:
        asked = question(spec, by_value=False)
        return replace(asked, bounds=spec.bounds, bands=spec.layers.tops[:-1] if spec.layered else ())
    asked = question(spec, by_value=_by_value(spec))
    return replace(asked, measure=spec.of) if spec.lost is not None else asked


def _weighted(spec: Sum, engine: Engine, source: Source) -> ExactCounts:
    """People counted by bin and by the weight times the value, cut to the most there is."""
    assert spec.weight is not None
    joint = weight_cells(question(spec, by_value=True), spec.weight, engine, source)
    found: dict[int, int] = {}
    first, width = int(spec.of.low / spec.of.step), spec.of.steps + 1
    for code, weight, count in joint:
        place, x = divmod(code, width)
        cell = place * (spec.top + 1) + min((first + x) * weight, spec.top)
        found[cell] = found.get(cell, 0) + count
    return ExactCounts(np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=np.int64))


def _by_value(spec: Sum) -> bool:
    return spec.weight is not None or spec.cap is None or spec.lost is not None or spec.sampled


# --- the mechanism ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """The mechanism of a sum: of every bin the sum of each layer with noise, after the secret sample if there is one; of
    a crowd how many they are, exactly, and nothing of a small one.

    One person more or less, with x steps in one bin, moves the layers of that bin by the pieces of x, and so the
    mechanism by at most what :meth:`hubbub.kinds.sum.layers.Layers.loss` says; with a cap the one sum by at most that.

    Guarantee: the promises of :func:`hubbub.kinds.sum.promises.promises`, if the words of the source are uniform and
    independent: what comes out depends on the table through numbers that one person moves so, plus exact noise.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        """Every declared bin in order; found bins with the code of their declared part and their labels. Where some are
        hidden it says which, and their numbers are 0."""
        found = [(CODE, pa.int64())] if self.spec.discovered else []
        found += [(name, LABELS) for name in found_names(self.spec)]
        numbers = [(name, pa.int64()) for name in drawn_columns(self.spec)]
        return pa.schema([*found, *numbers, *([(STATUS, LABELS)] if _may_hide(self.spec) else [])])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec = self.spec
        if spec.bounds is not None:
            sums = with_noise(bounded_layers(spec, exact), spec.rates, source)
            return in_columns(spec, [Row(row) for row in zip(*sums, strict=True)])
        cells = _cells(spec, sampled(spec, exact, source))
        people = cells.people()
        shown = np.ones(cells.bins, dtype=bool)
        if isinstance(spec.protection, Crowd):
            shown = people >= spec.protection.k
        at = None
        if spec.drawn_cap:
            at = caps.drawn(spec, cells.above(caps.grid(spec.bottom, spec.top), shown), source)
        sums = _noisy(spec, cells, at, source)
        rows = [
            Row(tuple(layer[i] for layer in sums), int(people[i]) if _may_hide(spec) else None, at)
            if shown[i]
            else Row(None, None, at)
            for i in range(cells.bins)
        ]
        if cells.found is None:
            return in_columns(spec, rows)
        # An absent bin looks like a hidden one, so hidden ones are absent too.
        seen = [i for i, row in enumerate(rows) if row.sums is not None]
        return in_columns(spec, [rows[i] for i in seen], [cells.found[i] for i in seen])


@dataclass(frozen=True, slots=True)
class SumsOfDrawn:
    """The mechanism of a sum over several rows of people who are drawn: K people, what the kept rows of each come to in
    every bin, within the caps, and noise on every layer of that.

    Guarantee: that of :class:`Sums` inside the sample, if the words of the source are uniform and independent.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        spec = self.spec
        assert isinstance(spec.protection, Knowledge)
        if exact.people * max(spec.top, 1) > LARGEST_COUNT:
            raise WrongUse(BEYOND_COUNTS)
        drawn = drawn_people(spec.protection.rows, exact, source)
        places, totals = person_totals(spec, drawn, 0)
        cells = Cells(spec.bins, places, totals, np.ones(places.size, dtype=np.int64), None, None)
        sums = with_noise(cells.layers(spec, None), spec.rates, source)
        return in_columns(spec, [Row(row) for row in zip(*sums, strict=True)])


@dataclass(frozen=True, slots=True)
class SumsOfCrowds:
    """The mechanism of a sum over crowds of people with several rows: the rows of people in crowds, each as one of a
    crowd.

    Guarantee: that of :class:`hubbub.kinds.statistic.mechanism.SumsOfProfiles`, with what :class:`Sums` says of crowds.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        return Sums(self.spec).draw(rows_of_crowds(self.spec, exact), source)


@dataclass(frozen=True, slots=True)
class CappedSums:
    """The mechanism of a sum over several rows with a cap that is drawn: how many people reach each point of the grid
    with all that they have, a cap from that, and noise as wide as the cap on the sums of what it leaves.

    Guarantee: whoever comes or goes moves how many reach a point by at most 1, which costs the share of the choice
    (:func:`hubbub.kinds.sum.cap.runs`). Given the cap they move all sums together by at most as much as it is, which
    costs the share of the sums. Both are of the rows that a map of the person's own kept.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        spec, bounds = self.spec, self.spec.bounds
        assert bounds is not None
        if exact.people * max(spec.most_in_all, 1) > LARGEST_COUNT:
            raise WrongUse(BEYOND_COUNTS)
        totals = totals_of_people(spec, exact)
        above = [int((totals >= point).sum()) for point in spec.cap_points]
        at = caps.drawn(spec, above, source)
        places, capped = person_totals(spec, exact, 0, replace(bounds, cap=at))
        sums = np.zeros(spec.bins, dtype=np.int64)
        np.add.at(sums, places, capped)
        (noisy,) = with_noise([sums.tolist()], (cap_rate(spec, at),), source)
        return in_columns(spec, [Row((each,), None, at) for each in noisy])


def totals_of_people(spec: Sum, kept: KeptRows) -> NDArray[np.int64]:
    """What everybody has in all bins together, in steps, before a cap on that."""
    whose, _, totals, _ = _pairs(spec, kept, 0)
    found = np.zeros(kept.people, dtype=np.int64)
    np.add.at(found, whose, totals)
    return found


def person_totals(
    spec: Sum, kept: KeptRows, which: int, bounds: ContributionBounds | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What everybody has in each bin that they are in, in steps, within the caps: (bin, total) of each such pair.

    Guarantee: a person is in at most B bins, with at most a' in absolute value in each and A in all of them; it looks at
    the rows of one person alone. With A bins are cut one after the other, in the secret order of their first rows.
    """
    bounds = bounds or spec.bounds
    assert bounds is not None
    whose, places, totals, first = _pairs(spec, kept, which)
    if bounds.cap is not None and totals.size:
        order = np.lexsort((first, whose))
        size, mine = np.abs(totals[order]), whose[order]
        before = np.cumsum(size) - size
        starts = np.concatenate([[True], mine[1:] != mine[:-1]])
        before -= np.maximum.accumulate(np.where(starts, before, 0))  # those of other people come first
        room = np.maximum(bounds.cap - before, 0)
        totals[order] = np.clip(totals[order], -room, room)
    return places, totals


def _pairs(spec: Sum, kept: KeptRows, which: int) -> tuple[NDArray[np.int64], ...]:
    """Each pair of a person and a bin: whose it is, the bin, what they have there, cut to the cap of a bin, and where in
    the order of rows their first one stands."""
    bounds, width = spec.bounds, spec.of.steps + 1
    assert bounds is not None
    codes = kept.codes[which]
    rows = within_bounds(kept.person, np.where(codes < 0, -1, codes // width), bounds)
    values = codes[rows] % width + int(spec.of.low / spec.of.step)
    keys, first, index = np.unique(
        kept.person[rows] * spec.bins + codes[rows] // width, return_index=True, return_inverse=True
    )
    totals = np.zeros(keys.size, dtype=np.int64)
    np.add.at(totals, index.reshape(-1), values)
    if bounds.cap_per_bin is not None:
        totals = np.clip(totals, -bounds.cap_per_bin, bounds.cap_per_bin)
    return keys // spec.bins, keys % spec.bins, totals, first.astype(np.int64)


def _noisy(spec: Sum, cells: Cells, cap: int | None, source: Source) -> list[list[int]]:
    """The sum of every layer of every bin, with noise."""
    rates = spec.rates if cap is None else (cap_rate(spec, cap),)
    return with_noise(cells.layers(spec, cap), rates, source)


def with_noise(layers: list[list[int]], rates: Sequence[Fraction], source: Source) -> list[list[int]]:
    """Every sum of every layer with noise of the rate of its layer."""
    found = []
    for sums, rate in zip(layers, rates, strict=True):
        noise = wide_noise(rate, len(sums), source).tolist()
        found.append([total + each for total, each in zip(sums, noise, strict=True)])
    return found


def bounded_layers(spec: Sum, exact: ExactCounts) -> list[list[int]]:
    """The exact sum of every layer of every bin, of people whose several rows were bounded.

    People are counted by the band of their total in a bin, with what those of a band have together: whoever is above a
    layer fills it, and those inside have what they have above its lower end.
    """
    asked, layers = _question(spec), spec.layers
    bands = len(asked.bands) + 1
    people, sums = ([[0] * bands for _ in range(spec.bins)] for _ in range(2))
    assert exact.sums is not None
    for code, count, total in zip(exact.codes.tolist(), exact.counts.tolist(), exact.sums, strict=True):
        place, band = divmod(code, bands)
        people[place][band] += count
        sums[place][band] += total if asked.sums else total + asked.first_step * count
    if sum(map(sum, people)) * max(spec.top, 1) > LARGEST_COUNT:
        raise WrongUse(BEYOND_COUNTS)
    lows = (0, *layers.tops[:-1])
    return [
        [
            width * sum(people[place][j + 1 :]) + sums[place][j] - low * people[place][j]
            for place in range(spec.bins)
        ]
        for j, (low, width) in enumerate(zip(lows, layers.widths, strict=True))
    ]  # fmt: skip


def in_columns(spec: Sum, rows: Sequence[Row], found: Sequence[Place] | None = None) -> pa.RecordBatch:
    """The rows under the schema of the mechanism."""
    arrays: list[pa.Array] = []
    if found is not None:
        arrays.append(integer_array(np.array([code for code, _ in found], dtype=np.int64)))
        arrays += [label_column([labels[i] for _, labels in found]) for i in range(len(found_names(spec)))]
    if _may_hide(spec):
        arrays.append(integer_array(np.array([row.people or 0 for row in rows], dtype=np.int64)))
    if spec.drawn_cap:
        arrays.append(integer_array(np.array([row.cap for row in rows], dtype=np.int64)))
    for i in range(len(layer_columns(spec))):
        arrays.append(integer_array(np.array([0 if row.sums is None else row.sums[i] for row in rows], dtype=np.int64)))
    if _may_hide(spec):
        arrays.append(labelled(np.array([row.sums is None for row in rows], dtype=np.int64), (SHOWN, HIDDEN)))
    return pa.record_batch(arrays, schema=Sums(spec).schema)


def rows_of(spec: Sum, drawn: Drawn) -> list[Row]:
    """What was drawn for every bin."""
    size = len(drawn)
    sums = list(zip(*(drawn.integers(name).tolist() for name in layer_columns(spec)), strict=True))
    hidden = [said == HIDDEN for said in drawn.texts(STATUS)] if _may_hide(spec) else [False] * size
    people = drawn.integers(crowd_column(spec)).tolist() if _may_hide(spec) else [None] * size
    cap = drawn.integers("cap_steps").tolist() if spec.drawn_cap else [None] * size
    return [
        Row(None, None, cap[i]) if hidden[i] else Row(sums[i], people[i], cap[i])
        for i in range(size)
    ]  # fmt: skip


def _may_hide(spec: Sum) -> bool:
    return isinstance(spec.protection, Crowd)


# --- what was counted ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """People counted by the number of their bin and their steps from 0; or, not by value, with the sum of a cell."""

    bins: int
    places: NDArray[np.int64]
    x: NDArray[np.int64] | None
    counts: NDArray[np.int64]
    sums: NDArray[np.int64] | None
    found: list[Place] | None

    def people(self) -> NDArray[np.int64]:
        """Of every bin."""
        found = np.zeros(self.bins, dtype=np.int64)
        np.add.at(found, self.places, self.counts)
        return found

    def above(self, points: Sequence[int], visible: NDArray[np.bool_]) -> list[int]:
        """How many people of the bins that are shown lie at each point or above it."""
        assert self.x is not None
        seen = visible[self.places]
        return [int(self.counts[seen & (self.x >= point)].sum()) for point in points]

    def layers(self, spec: Sum, cap: int | None) -> list[list[int]]:
        """The exact sum of every layer."""
        if self.x is None:
            assert self.sums is not None
            found = np.zeros(self.bins, dtype=np.int64)
            np.add.at(found, self.places, self.sums)
            return [found.tolist()]
        if spec.layered:
            return spec.layers.sums(self.bins, self.places, self.x, self.counts)
        top = spec.top if cap is None else cap
        found = np.zeros(self.bins, dtype=np.int64)
        np.add.at(found, self.places, self.counts * np.clip(self.x, min(spec.bottom, top), top))
        return [found.tolist()]


def _cells(spec: Sum, counted: ExactCounts) -> Cells:
    """Who is in no bin is left out; bins that are found come in the order of their labels, the missing last."""
    measure = _question(spec).measure
    assert measure is not None
    by_value = _by_value(spec)
    first, steps = int(spec.of.low / spec.of.step) if spec.lost is not None else spec.bottom, 1
    if spec.weight is not None:
        steps = spec.top + 1
    elif by_value:
        steps = (spec.of if spec.lost is not None else spec.measured).steps + 1
    inside = np.flatnonzero((counted.codes >= 0) & (counted.counts > 0))
    codes, counts = counted.codes[inside], counted.counts[inside]
    if int(counts.sum()) * max(abs(spec.top), abs(spec.bottom), 1) > LARGEST_COUNT:
        raise WrongUse(BEYOND_COUNTS)
    places, x, sums = codes // steps, None, None
    if by_value:
        x = codes % steps + first
    else:
        assert counted.sums is not None
        sums = np.array([counted.sums[i] for i in inside.tolist()], dtype=np.int64) + first * counts
    if not spec.discovered:
        return Cells(spec.bins, places, x, counts, sums, None)
    declared = places.tolist()
    keys = [(declared[j], tuple(labels[i] for labels in counted.found)) for j, i in enumerate(inside.tolist())]
    ordered = sorted(set(keys), key=lambda key: (key[0], *map(last, key[1])))
    at = {key: i for i, key in enumerate(ordered)}
    return Cells(len(ordered), np.array([at[key] for key in keys], dtype=np.int64), x, counts, sums, ordered)
