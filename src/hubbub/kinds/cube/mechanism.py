"""A cube measured and presented: the cells once through the channel and summed, or every table with its own noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Published
from hubbub.kinds.cube import gaussian
from hubbub.kinds.cube.consistency import Consistent
from hubbub.kinds.cube.least_squares import Fit, fitted, rounded_fit
from hubbub.kinds.cube.margin_bounds import Sums, of_crowds, of_noise
from hubbub.kinds.cube.margins import Margin, inside, summed
from hubbub.kinds.cube.result import Tables
from hubbub.kinds.histogram import mechanism as histogram_mechanism
from hubbub.kinds.histogram.result import Counts
from hubbub.noise.source import Source
from hubbub.numeric.clamped_interval import clamped_intervals
from hubbub.protocol.measurement import Drawn, Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array
from hubbub.tables.bins import Discovered, declared_size, size
from hubbub.tables.engine import ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube
    from hubbub.tables.engine import Engine

Numbers = NDArray[np.int64]
TABLE = "table"
PART, MAYBE = "some cells hidden", "cells may be hidden"


@dataclass(frozen=True, slots=True)
class Levels:
    """The mechanism of a cube with noise at every level: geometric noise of its share of epsilon on every table, after
    the secret sample, which all tables share.

    Guarantee: one person more or less moves one bin of every table by one, so each table loses at most its share, and
    all of them together epsilon. Where several rows of a person count, that is so of one row.
    """

    spec: Cube

    @property
    def schema(self) -> pa.Schema:
        """The tables one after the other, the cells first, each with all of its bins in order."""
        return pa.schema([(TABLE, pa.int64()), (histogram_mechanism.VALUE, pa.int64())])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        total = declared_size(self.spec.axes)
        assert total is not None
        counts = histogram_mechanism.sampled(self.spec.cells, histogram_mechanism.every_bin(exact, total), source)
        every = (tuple(axis.column for axis in self.spec.axes), *self.spec.margins)
        return in_columns(
            self,
            [
                table.channel.release(summed(counts, self.spec.axes, names), source).values
                for names, table in zip(every, self.spec.tables, strict=True)
            ],
        )


def in_columns(mechanism: Levels, tables: Sequence[Numbers]) -> pa.RecordBatch:
    """The numbers of all tables, under the schema of the mechanism."""
    which = np.repeat(np.arange(len(tables), dtype=np.int64), [table.size for table in tables])
    return pa.record_batch([integer_array(which), integer_array(np.concatenate(tables))], schema=mechanism.schema)


def measure(spec: Cube, engine: Engine, source: Source) -> Measurement:
    """Draw the cells once; or draw every table."""
    if spec.gaussian:
        return gaussian.measure(spec, engine, source)
    if not spec.levelled:
        return histogram_mechanism.measure(spec.cells, engine, source)
    exact = histogram_mechanism.count_cells(spec.axes, spec.cells.unit, engine, source)
    return Measurement(levels=release(Levels(spec), exact, source))


def present(spec: Cube, measurement: Measurement) -> Tables:
    """Add the published cells up; or make what was drawn at every level consistent."""
    if spec.gaussian:
        return _gaussian(spec, measurement["residuals"])
    if spec.levelled:
        return _levels(spec, measurement["levels"])
    cells = histogram_mechanism.present(spec.cells, measurement["cells"])
    margins = tuple(_margin(spec, cells, margin) for margin in spec.margins)
    return Tables(spec, cells, margins, consistent=_below(spec, cells))


def _margin(spec: Cube, cells: Counts, margin: Margin) -> Counts:
    """A sum of published cells, as the histogram that it looks like."""
    channel, many, found = spec.cells.channel, inside(spec.axes, margin), spec.within(margin)
    which, bins, codes, labels = _cells_of_margins(spec, cells, margin)
    if channel.noisy_below is not None:
        assert many is not None  # its bins are declared
        sums = of_noise(*channel.noisy_below, cells.published.values, which, bins, many, spec.cells.coverage)
        return Counts(found, Published(sums.values, np.zeros(bins, dtype=np.intp), ("",)), sums.low, sums.high)
    assert channel.exact_from is not None
    visible = cells.visible
    values = np.zeros(bins, dtype=np.int64)
    np.add.at(values, which[visible], cells.published.values[visible])
    sums = of_crowds(channel.exact_from, values, np.bincount(which[visible], minlength=bins), many)
    published = Published(sums.values, _tags(sums, many), ("", PART if many is not None else MAYBE, SUPPRESSED))
    return Counts(found, published, sums.low, sums.high, labels, codes)


def _tags(sums: Sums, many: int | None) -> NDArray[np.intp]:
    """Whether all cells of a bin are shown, some, or none."""
    complete = sums.visible == many if many is not None else np.zeros(sums.visible.size, dtype=bool)
    return np.where(sums.visible == 0, 2, np.where(complete, 0, 1)).astype(np.intp)


def _cells_of_margins(
    spec: Cube, cells: Counts, margin: Margin
) -> tuple[Numbers, int, Numbers | None, tuple[list[str | None], ...]]:
    """(the bin of each cell, how many bins there are, the codes of found ones, the labels of found axes)."""
    columns = list(cells.keys(0, cells.bins))
    kept = [(axis, at, texts) for axis, (at, texts) in zip(spec.axes, columns, strict=True) if axis.column in margin]
    number = np.zeros(cells.bins, dtype=np.int64)
    total = declared_size(tuple(axis for axis, *_ in kept))
    if total is not None:
        for axis, at, _ in kept:
            number = number * size(axis) + at  # type: ignore[arg-type]  # all are declared
        return number, total, None, ()
    # Found bins: in the order of their labels, whatever was published first.
    declared = np.zeros(cells.bins, dtype=np.int64)
    texts: list[list[str | None]] = []
    for axis, at, labels in kept:
        if isinstance(axis, Discovered):
            texts.append([labels[i] for i in at.tolist()])
        else:
            declared = declared * size(axis) + at
    keys = list(zip(declared.tolist(), *texts, strict=True))
    order = sorted(set(keys), key=lambda key: (key[0], [(text is None, text or "") for text in key[1:]]))
    known = {key: i for i, key in enumerate(order)}
    which = np.array([known[key] for key in keys], dtype=np.int64)
    codes = np.array([key[0] for key in order], dtype=np.int64)
    return which, len(order), codes, tuple([key[i + 1] for key in order] for i in range(len(texts)))


def _below(spec: Cube, cells: Counts) -> Consistent | None:
    """Cells of at least 0, if they are wanted; what is exact stays, and what is hidden is 0."""
    if not spec.consistent:
        return None
    noisy = spec.cells.channel.noisy_below
    if noisy is None:
        return Consistent(spec, cells, None)
    values = cells.published.values
    return Consistent(spec, cells, values.astype(np.float64), values >= noisy[0])


def _levels(spec: Cube, drawn: Drawn) -> Tables:
    """Every table with the intervals of its own noise, and estimates that add up."""
    values, ends = drawn.integers(histogram_mechanism.VALUE), np.cumsum(spec.sizes)
    tables = []
    for numbers, table, reach in zip(np.split(values, ends[:-1]), spec.tables, spec.reaches, strict=True):
        published = Published(numbers, np.zeros(numbers.size, dtype=np.intp), ("",))
        tables.append(Counts(table, published, *clamped_intervals(numbers, reach)))
    fit = fitted(spec, [table.published.values for table in tables])
    return Tables(spec, tables[0], tuple(tables[1:]), fit, consistent=_projected(spec, tables[0], fit))


def _gaussian(spec: Cube, drawn: Drawn) -> Tables:
    """Every table from the residuals: numbers are estimates, rounded, and all of them add up."""
    numbers = drawn.integers(gaussian.DIFFERENCE)
    exact, unit = gaussian.cells_of(spec, numbers)
    total = spec.public_number if gaussian.tables_of(spec).total_is_public else None
    fit = rounded_fit(exact.tolist(), unit, spec.shape, total)
    every = (tuple(axis.column for axis in spec.axes), *spec.margins)
    tables = []
    for margin, reach in zip(every, gaussian.reaches(spec), strict=True):
        low, high = fit.ends(fit.sums(spec, margin), reach, spec.public_number)
        values = fit.nearest_integers(fit.sums(spec, margin))
        published = Published(values, np.zeros(values.size, dtype=np.intp), ("",))
        tables.append(Counts(spec.within(margin), published, low, high))
    consistent = _projected(spec, tables[0], fit)
    return Tables(spec, tables[0], tuple(tables[1:]), fit, consistent, numbers)


def _projected(spec: Cube, cells: Counts, fit: Fit) -> Consistent | None:
    if not spec.consistent:
        return None
    return Consistent(spec, cells, np.array([cell / fit.scale for cell in fit.cells]))
