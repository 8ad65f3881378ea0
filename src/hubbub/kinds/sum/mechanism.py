"""A sum measured and presented: count people by bin and value, draw the secret sample over them if there is one, add
noise to every layer; then work out what the drawn integers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum.estimates import Row, cap_rate, estimated_answers
from hubbub.kinds.sum.lost import OctaveCounts, above_cap
from hubbub.kinds.sum.result import Totals, layer_columns
from hubbub.kinds.sum.result import drawn_columns as integer_names
from hubbub.kinds.sums import columns as drawn_columns
from hubbub.kinds.sums.columns import NO_NUMBERS, Place, found_keys, may_hide
from hubbub.kinds.sums.mechanism import (
    draw_kept_people,
    draw_sample,
    every_row,
    in_label_order,
    question,
    rows_of_crowds,
)
from hubbub.kinds.sums.weights import weight_cells
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.sampler import wide_noise
from hubbub.noise.source import Source
from hubbub.numeric.exact_sums import sums_by
from hubbub.protocol.measurement import Drawn, Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.tables.engine import OTHER_NUMBER, CountQuery, ExactCounts
from hubbub.tables.kept_rows import KeptRows, within_bounds
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum
    from hubbub.tables.engine import Engine


def measure(spec: Sum, engine: Engine, source: Source) -> Measurement:
    """Count exactly in the engine, then add noise.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    if spec.profiled:
        return Measurement(answers=release(SumsOfCrowds(spec), every_row(spec, engine, source), source))
    if spec.unit.counts_rows and isinstance(spec.protection, Knowledge):
        kept = engine.kept_rows((_every_value(spec),), source, spec.protection.people)
        return Measurement(answers=release(SumsOfDrawn(spec), kept, source))
    if spec.unit.counts_rows and spec.drawn_cap:
        return Measurement(answers=release(CappedSums(spec), _kept(spec, engine, source), source))
    if spec.unit.counts_rows and spec.lost is not None:
        kept = _kept(spec, engine, source)
        totals = totals_of_people(spec, kept)
        by_total = _by_total(totals, np.ones_like(totals))
        answers = release(SumsOfRows(spec), kept, source)
        return Measurement(answers=answers, lost=release(OctaveCounts(spec), by_total, source))
    if spec.tailored is not None:
        return Measurement(answers=release(OctaveSums(spec), _of_everybody(spec, engine, source), source))
    exact = _weighted(spec, engine, source) if spec.weight is not None else engine.count(_question(spec), source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    answers = release(Sums(spec), exact, source)
    if spec.lost is None:
        return Measurement(answers=answers)
    return Measurement(answers=answers, lost=release(OctaveCounts(spec), _people_by_value(spec, exact), source))


def present(spec: Sum, measurement: Measurement) -> Totals:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows = rows_of(spec, drawn)
    if len({row.cap for row in rows}) > 1 or any(row.cap not in _caps(spec) for row in rows):
        raise CheckFailed(NO_NUMBERS)
    try:
        lost = above_cap(spec, measurement["lost"]) if spec.lost is not None else None
        return Totals(spec, estimated_answers(spec, rows), found_keys(spec, drawn), lost)
    except (ValueError, ArithmeticError):
        raise CheckFailed(NO_NUMBERS) from None


def _caps(spec: Sum) -> tuple[int | None, ...]:
    return spec.cap_points if spec.drawn_cap else (None,)


def _question(spec: Sum) -> CountQuery:
    """The counting query: by value where the sum of a bin is not enough, beyond the cap where `lost` is published."""
    if spec.bounds is not None:
        query = question(spec, by_value=False)
        return replace(query, bounds=spec.bounds, bands=spec.layers.tops[:-1] if spec.layered else ())
    query = question(spec, by_value=_by_value(spec))
    return replace(query, measure=spec.of) if spec.lost is not None else query


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
    kind: Any = np.int64 if spec.bins * (spec.top + 1) < 1 << 63 else object
    return ExactCounts(np.array(list(found), dtype=kind), np.array(list(found.values()), dtype=np.int64))


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
        return drawn_columns.drawn_schema(self.spec, integer_names(self.spec))

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec = self.spec
        if spec.bounds is not None:
            sums = _with_own_noise(spec, bounded_layers(spec, exact), None, source)
            return in_columns(spec, [Row(row) for row in zip(*sums, strict=True)])
        cells = _cells(spec, draw_sample(spec, exact, source))
        people = cells.people()
        shown = np.ones(cells.bins, dtype=bool)
        if isinstance(spec.protection, Crowd):
            shown = people >= spec.protection.k
        at = None
        if spec.drawn_cap:
            at = caps.drawn(spec, cells.above(caps.grid(spec.bottom, spec.top), shown), source)
        sums = _with_own_noise(spec, cells.layers(spec, at), at, source)
        rows = [
            Row(tuple(layer[i] for layer in sums), int(people[i]) if may_hide(spec) else None, at)
            if shown[i]
            else Row(None, None, at)
            for i in range(cells.bins)
        ]
        return drawn_columns.visible_columns(spec, integer_names(spec), _integers(spec, rows), cells.found)


@dataclass(frozen=True, slots=True)
class SumsOfRows:
    """The mechanism of a sum over several rows of people who are handed over with all that is kept of them: what the rows
    of each come to in every bin, within the caps, and noise on every layer of that.

    Guarantee: that of :class:`Sums`, if the words of the source are uniform and independent.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        spec = self.spec
        sums = with_noise(_cells_of_rows(spec, exact).layers(spec, None), spec.rates, source)
        return in_columns(spec, [Row(row) for row in zip(*sums, strict=True)])


@dataclass(frozen=True, slots=True)
class SumsOfDrawn:
    """The mechanism of a sum over several rows of people who are drawn: K people, and of these what :class:`SumsOfRows`
    draws.

    Guarantee: that of :class:`Sums` inside the sample, if the words of the source are uniform and independent.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        assert isinstance(self.spec.protection, Knowledge)
        return SumsOfRows(self.spec).draw(draw_kept_people(self.spec.protection.rows, exact, source), source)


@dataclass(frozen=True, slots=True)
class SumsOfCrowds:
    """The mechanism of a sum over crowds of people with several rows: the rows of people in crowds, each as one of a
    crowd.

    Guarantee: that of :func:`hubbub.kinds.sums.mechanism.rows_of_crowds`, with what :class:`Sums` says of crowds.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        return Sums(self.spec).draw(rows_of_crowds(self.spec, exact), source)


@dataclass(frozen=True, slots=True)
class CappedSums:
    """The mechanism of a sum over several rows with a cap that is drawn: how many people have more than each point of the
    grid in all that they have, a cap from that, and noise as wide as the cap on the sums of what it leaves.

    Guarantee: whoever comes moves how many have more by 0 or 1, and nowhere down, which costs the share of the choice
    (:func:`hubbub.kinds.sum.cap.runs`). Given the cap they move all sums together by at most as much as it is, which
    costs the share of the sums. Both are of the rows that a map of the person's own kept.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: KeptRows, source: Source) -> pa.RecordBatch:
        spec = self.spec
        totals = totals_of_people(spec, exact)
        above = [int((totals > point).sum()) for point in spec.cap_points]
        at = caps.drawn(spec, above, source)
        places, capped = person_totals(spec, exact, 0, at)
        sums = sums_by(places, capped, spec.bins, spec.most_added)
        (noisy,) = with_noise([sums.tolist()], (cap_rate(spec, at),), source)
        return in_columns(spec, [Row((each,), None, at) for each in noisy])


@dataclass(frozen=True, slots=True)
class OctaveSums:
    """The mechanism of a tailored sum: of every band of every bin how many are in it, by the warped channel, and where
    these are many what they have together, with noise that is less the more they are.

    Guarantee: Theorem O (:mod:`hubbub.kinds.sum.octaves`): somebody in bands of at most c people loses the curve at c,
    and delta, if the words of the source are uniform and independent. Every band of every declared bin is run.
    """

    spec: Sum

    @property
    def schema(self) -> pa.Schema:
        return Sums(self.spec).schema

    def draw(self, exact: ExactCounts | KeptRows, source: Source) -> pa.RecordBatch:
        spec, octaves = self.spec, self.spec.octaves
        cells = _cells(spec, exact) if isinstance(exact, ExactCounts) else _cells_of_rows(spec, exact)
        assert cells.x is not None
        people, sums = octaves.counted(spec.bins, cells.places, cells.x, cells.counts, spec.most_added)
        drawn, n = octaves.channel.release(people, source).values.tolist(), len(octaves.bands)
        noisy_sums = [
            int(sums[i]) + int(wide_noise(octaves.rate(i % n, each), 1, source)[0])
            if octaves.has_sum(i % n, each)
            else 0
            for i, each in enumerate(drawn)
        ]
        rows = range(0, len(drawn), n)
        return in_columns(spec, [Row((*drawn[i : i + n], *noisy_sums[i : i + n])) for i in rows])


def _of_everybody(spec: Sum, engine: Engine, source: Source) -> ExactCounts | KeptRows:
    """People by value, or the kept rows of people with several."""
    return _kept(spec, engine, source) if spec.unit.counts_rows else engine.count(_question(spec), source)


def _kept(spec: Sum, engine: Engine, source: Source) -> KeptRows:
    """The kept rows of people with several, by bin and value."""
    return engine.kept_rows((_every_value(spec),), source)


def _every_value(spec: Sum) -> CountQuery:
    return replace(question(spec, by_value=True), bounds=spec.unit.bounds)


def _people_by_value(spec: Sum, exact: ExactCounts) -> ExactCounts:
    """People with one row each counted by what they have, beyond the cap too, in steps."""
    inside = exact.codes >= 0
    x = exact.codes[inside] % (spec.of.steps + 1) + int(spec.of.low / spec.of.step)
    return _by_total(x, exact.counts[inside])


def _by_total(totals: NDArray[np.int64], counts: NDArray[np.int64]) -> ExactCounts:
    found, which = np.unique(totals, return_inverse=True)
    people = np.zeros(found.size, dtype=np.int64)
    np.add.at(people, which.reshape(-1), counts)
    return ExactCounts(found, people)


def _cells_of_rows(spec: Sum, kept: KeptRows) -> Cells:
    """People by bin and by what they have there with all rows that count."""
    places, totals = person_totals(spec, kept, 0)
    return Cells(spec.bins, places, totals, np.ones(places.size, dtype=np.int64), None, None)


def totals_of_people(spec: Sum, kept: KeptRows) -> NDArray[Any]:
    """The total of each person over all bins, in steps, before the cap on it."""
    whose, _, totals, _ = _pairs(spec, kept, 0)
    return sums_by(whose, totals, kept.people, _largest_value(spec))


def person_totals(
    spec: Sum, kept: KeptRows, which: int, cap: int | None = None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """What everybody has in each bin that they are in, in steps, within the caps: (bin, total) of each such pair.

    Guarantee: a person is in at most B bins, with at most a' in absolute value in each and A in all of them; it looks at
    the rows of one person alone. With A, which is `cap` where one was drawn, bins are cut one after the other, in the
    secret order of their first rows.
    """
    bounds = spec.bounds
    assert bounds is not None
    cap = cap or bounds.cap
    whose, places, totals, first = _pairs(spec, kept, which)
    if cap is not None and totals.size:
        order = np.lexsort((first, whose))
        size, mine = np.abs(totals[order]), whose[order]
        before = np.cumsum(size) - size
        starts = np.concatenate([[True], mine[1:] != mine[:-1]])
        before -= np.maximum.accumulate(np.where(starts, before, 0))  # those of other people come first
        room = np.maximum(cap - before, 0)
        totals[order] = np.clip(totals[order], -room, room)
    return places, totals


def _pairs(spec: Sum, kept: KeptRows, which: int) -> tuple[NDArray[Any], ...]:
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
    totals = sums_by(index.reshape(-1), values, keys.size, _largest_value(spec))
    if bounds.cap_per_bin is not None:
        totals = np.clip(totals, -bounds.cap_per_bin, bounds.cap_per_bin)
    return keys // spec.bins, keys % spec.bins, totals, first.astype(np.int64)


def _largest_value(spec: Sum) -> int:
    """Of a row, in absolute value, in steps."""
    return int(max(abs(spec.of.low), abs(spec.of.high)) / spec.of.step)


def _with_own_noise(spec: Sum, layers: list[list[int]], cap: int | None, source: Source) -> list[list[int]]:
    """Every sum with the noise of the release: Gaussian, or as wide as its layer or the cap that was drawn."""
    if spec.gaussian is None:
        return with_noise(layers, spec.rates if cap is None else (cap_rate(spec, cap),), source)
    both = zip(layers, spec.variances, strict=True)
    return [(np.array(sums, dtype=object) + discrete_gaussian(s2, len(sums), source)).tolist() for sums, s2 in both]


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
    query, layers = _question(spec), spec.layers
    bands = len(query.bands) + 1
    people, sums = ([[0] * bands for _ in range(spec.bins)] for _ in range(2))
    assert exact.sums is not None
    for code, count, total in zip(exact.codes.tolist(), exact.counts.tolist(), exact.sums, strict=True):
        place, band = divmod(code, bands)
        people[place][band] += count
        sums[place][band] += total if query.sums else total + query.first_step * count
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
    return drawn_columns.in_columns(spec, integer_names(spec), _integers(spec, rows), found)


def _integers(spec: Sum, rows: Sequence[Row]) -> list[drawn_columns.Row]:
    """The integers of every bin, in the order of the columns."""
    found = []
    for row in rows:
        before = (*((row.people,) if may_hide(spec) else ()), *((row.cap,) if spec.drawn_cap else ()))
        found.append((*before, *(row.sums or (None,) * len(layer_columns(spec)))))
    return found


def rows_of(spec: Sum, drawn: Drawn) -> list[Row]:
    """What was drawn for every bin."""
    numbers = drawn_columns.rows_of(spec, integer_names(spec), drawn)
    caps = drawn.integers("cap_steps").tolist() if spec.drawn_cap else [None] * len(numbers)
    rows, layers = [], len(layer_columns(spec))
    for row, cap in zip(numbers, caps, strict=True):
        sums = tuple(each for each in row[-layers:] if each is not None)
        rows.append(Row(sums or None, row[0] if may_hide(spec) else None, cap))
    return rows


# --- what was counted ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """People counted by the number of their bin and their steps from 0; or, not by value, with the sum of a cell."""

    bins: int
    places: NDArray[np.int64]
    x: NDArray[Any] | None
    counts: NDArray[np.int64]
    sums: NDArray[Any] | None
    found: list[Place] | None

    def people(self) -> NDArray[np.int64]:
        """Of every bin."""
        found = np.zeros(self.bins, dtype=np.int64)
        np.add.at(found, self.places, self.counts)
        return found

    def above(self, points: Sequence[int], visible: NDArray[np.bool_]) -> list[int]:
        """How many people of the bins that are shown lie above each point."""
        assert self.x is not None
        seen = visible[self.places]
        return [int(self.counts[seen & (self.x > point)].sum()) for point in points]

    def layers(self, spec: Sum, cap: int | None) -> list[list[int]]:
        """The exact sum of every layer."""
        if self.x is None:
            assert self.sums is not None
            return [sums_by(self.places, self.sums, self.bins, spec.most_added).tolist()]
        if spec.layered:
            return spec.layers.sums(self.bins, self.places, self.x, self.counts, spec.most_added)
        top = spec.top if cap is None else cap
        each = np.clip(self.x, min(spec.bottom, top), top)
        return [sums_by(self.places, each, self.bins, spec.most_added, self.counts).tolist()]


def _cells(spec: Sum, counted: ExactCounts) -> Cells:
    """The counted cells, without people in no bin; found bins are ordered by their labels, the missing last."""
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
    places, x, sums = (codes // steps).astype(np.int64), None, None
    if by_value:
        x = codes % steps + first
    else:
        assert counted.sums is not None
        sums = np.array([counted.sums[i] for i in inside.tolist()], dtype=object) + first * counts.astype(object)
    if not spec.discovered:
        return Cells(spec.bins, places, x, counts, sums, None)
    found, ordered = in_label_order(places.tolist(), inside.tolist(), counted)
    return Cells(len(ordered), np.array(found, dtype=np.int64), x, counts, sums, ordered)
