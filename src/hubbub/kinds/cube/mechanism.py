"""A cube measured, read back and presented: the cells once through the channel and summed, or all tables with noise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Published
from hubbub.kinds.count_tables import CountTables, count_cells, every_bin, read_numbers
from hubbub.kinds.cube import noise as table_noise
from hubbub.kinds.cube.consistency import Consistent, round_fit
from hubbub.kinds.cube.margin_bounds import Sums, sum_crowds, sum_noisy_cells
from hubbub.kinds.cube.margins import Margin, cells_inside, file_names
from hubbub.kinds.cube.result import DIFFERENCE, RESIDUALS, Tables, residuals_schema, with_fits
from hubbub.kinds.histogram import load as histogram_load
from hubbub.kinds.histogram import mechanism as histogram_mechanism
from hubbub.kinds.histogram.result import Counts, counted_column, schema
from hubbub.noise.source import Source
from hubbub.numeric.clamped_interval import clamped_intervals
from hubbub.protocol.measurement import Drawn, Measurement, release
from hubbub.query_classes.setting import Cells
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import Files
from hubbub.tables.bins import Discovered, declared_size, size
from hubbub.tables.engine import ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube
    from hubbub.tables.engine import Engine

Numbers = NDArray[np.int64]
TABLE = "table"
PART, MAYBE = "some cells hidden", "cells may be hidden"


@dataclass(frozen=True, slots=True)
class NoisyTables:
    """The strategy of a cube with noise at every level: geometric noise on every table for its share of epsilon, or Gaussian
    noise on the residual of every table of the closure; after the secret sample, which all tables share.

    Guarantee: one person more or less moves one bin of every table by one, so that each table with geometric noise loses at
    most its share, and all of them together epsilon; where several rows of a person count, that is so of one row. Of
    Gaussian noise that of :meth:`hubbub.query_classes.marginals.residual.Residuals.draw`.
    """

    spec: Cube

    @property
    def columns(self) -> tuple[str, ...]:
        """The tables one after the other, the cells first, each with all of its bins in order; or differences."""
        return (DIFFERENCE,) if self.spec.gaussian else (TABLE, histogram_mechanism.VALUE)

    def draw(self, exact: ExactCounts, source: Source) -> tuple[Numbers, ...]:
        spec, inside = self.spec, exact.codes >= 0
        listed = replace(exact, codes=exact.codes[inside], counts=exact.counts[inside])
        counts = histogram_mechanism.sample_people(spec.cells, every_bin(listed, spec.sizes[0]), source)
        cells = Cells(spec.shape, np.arange(counts.size), counts)
        return self.number_tables(table_noise.noise_of(spec).draw(cells.by, source))

    def number_tables(self, numbers: Numbers) -> tuple[Numbers, ...]:
        """What was drawn, with the number of its table where it is of one alone."""
        if self.spec.gaussian:
            return (numbers,)
        return np.repeat(np.arange(len(self.spec.sizes), dtype=np.int64), self.spec.sizes), numbers


def measure(spec: Cube, data: Engine, source: Source) -> Measurement:
    """Draw the cells once; or all tables."""
    if not spec.has_noisy_margins:
        return histogram_mechanism.measure(spec.cells, data, source)
    exact = count_cells(spec.axes, spec.cells.unit, data, source, spec.public_number)
    return Measurement(**{_drawn_name(spec): release(CountTables(NoisyTables(spec)), exact, source)})


def _drawn_name(spec: Cube) -> str:
    return RESIDUALS if spec.gaussian else "levels"


def load(spec: Cube, files: Files) -> Measurement:
    """What was drawn: for the cells alone, whose sums the margins are, or for every table.

    Guarantee: that of :func:`hubbub.kinds.histogram.load.load` for cells that are published once. With noise at every
    level there are as many numbers as bins, or differences; every whole number can be drawn.
    """
    if not spec.has_noisy_margins:
        return histogram_load.load(spec.cells, files)
    strategy = NoisyTables(spec)
    if spec.gaussian:
        rows = table_noise.residuals_of(spec).tables.starts[-1]
        numbers = read_numbers(files, RESIDUALS, residuals_schema(spec), DIFFERENCE, rows)
    else:
        named = zip(("release", *file_names(spec.margins)), spec.tables, spec.sizes, strict=True)
        numbers = np.concatenate(
            [
                read_numbers(files, name, with_fits(schema(table)), counted_column(table), size)
                for name, table, size in named
            ]
        )
    return Measurement(**{_drawn_name(spec): CountTables(strategy).load(*strategy.number_tables(numbers))})


def present(spec: Cube, measurement: Measurement) -> Tables:
    """Add the published cells up; or make what was drawn at every level consistent."""
    if spec.has_noisy_margins:
        return _fitted_tables(spec, measurement[_drawn_name(spec)])
    cells = histogram_mechanism.present(spec.cells, measurement)
    margins = tuple(_margin(spec, cells, margin) for margin in spec.margins)
    return Tables(spec, cells, margins, consistent=_cells_of_crowds(spec, cells))


def _fitted_tables(spec: Cube, drawn: Drawn) -> Tables:
    """Every table with estimates that add up, and the intervals of its own noise, or of the estimates."""
    noise, public = table_noise.noise_of(spec), spec.public_number
    numbers = drawn.integers(DIFFERENCE if spec.gaussian else histogram_mechanism.VALUE)
    exact, unit = noise.fit(numbers, public).scaled_table(noise.tables.workload[0])
    total = public if noise.tables.total_is_public else None
    fit = round_fit(exact.astype(object).ravel().tolist(), unit, spec.shape, total)
    tables = []
    for i, (margin, table, reach) in enumerate(zip(spec.every_margin, spec.tables, spec.reaches, strict=True)):
        if spec.gaussian:
            sums = fit.sums(spec, margin)
            values, ends = fit.nearest_integers(sums), fit.ends(sums, table_noise.joint_reaches(spec)[i], public)
        else:
            values = np.split(numbers, np.cumsum(spec.sizes)[:-1])[i]
            ends = clamped_intervals(values, reach)
        tables.append(Counts(table, Published(values, np.zeros(values.size, dtype=np.intp), ("",)), *ends))
    projected = (
        Consistent(spec, tables[0], np.array([cell / fit.scale for cell in fit.cells])) if spec.consistent else None
    )
    return Tables(spec, tables[0], tuple(tables[1:]), fit, projected, numbers if spec.gaussian else None)


def _margin(spec: Cube, cells: Counts, margin: Margin) -> Counts:
    """A sum of published cells, as the histogram that it looks like."""
    channel, many, found = spec.cells.channel, cells_inside(spec.axes, margin), spec.margin_histogram(margin)
    which, bins, codes, labels = _cells_of_margins(spec, cells, margin)
    if channel.noisy_below is not None:
        assert many is not None  # its bins are declared
        sums = sum_noisy_cells(*channel.noisy_below, cells.published.values, which, bins, many, spec.cells.coverage)
        return Counts(found, Published(sums.values, np.zeros(bins, dtype=np.intp), ("",)), sums.low, sums.high)
    assert channel.exact_from is not None
    visible = cells.visible
    values = np.zeros(bins, dtype=np.int64)
    np.add.at(values, which[visible], cells.published.values[visible])
    sums = sum_crowds(channel.exact_from, values, np.bincount(which[visible], minlength=bins), many)
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


def _cells_of_crowds(spec: Cube, cells: Counts) -> Consistent | None:
    """Cells of at least 0, if they are wanted; what is exact stays, and what is hidden is 0."""
    if not spec.consistent:
        return None
    noisy = spec.cells.channel.noisy_below
    if noisy is None:
        return Consistent(spec, cells, None)
    values = cells.published.values
    return Consistent(spec, cells, values.astype(np.float64), values >= noisy[0])
