"""The published tables of a cube: a file for the cells and one for each margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.cube import noise, text
from hubbub.kinds.cube.consistency import Consistent, Fit
from hubbub.kinds.cube.margins import Margin, file_names
from hubbub.kinds.histogram import chart as histogram_chart
from hubbub.kinds.histogram.result import Counts, counted_column
from hubbub.numeric.clamped_interval import clamped_intervals
from hubbub.numeric.exact import to_float, to_text
from hubbub.protocol.drawing import Bar, Drawing, Heat, Mark
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.query_classes.marginals.residual import positions
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.bins import all_labels
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube

_ESTIMATE: Final = "estimate"
FITTED: Final = "fitted"
OWN: Final = ("own_low", "own_high")
DIFFERENCE: Final = "difference"
RESIDUALS: Final = "residuals"
ANY: Final = "(any)"
_DIGITS: Final = 38


@dataclass(frozen=True, slots=True, eq=False)
class Tables(Result):
    """What a cube published."""

    spec: Cube
    cells: Counts
    margins: tuple[Counts, ...]
    fit: Fit | None = None  # with noise at every level: cells that add up
    consistent: Consistent | None = None  # whole cells of at least 0, where they are wanted
    residuals: NDArray[np.int64] | None = None  # what was drawn, where the noise is Gaussian

    @property
    def _all(self) -> list[tuple[str, Counts, Margin]]:
        names = ("release", *file_names(self.spec.margins))
        return list(zip(names, (self.cells, *self.margins), self.spec.every_margin, strict=True))

    def sheets(self) -> tuple[Sheet, ...]:
        tables = [self._sheet(i, *each) for i, each in enumerate(self._all)]
        more = [] if self.residuals is None else [self._residual_sheet(self.residuals)]
        return (*tables, *more, *(() if self.consistent is None else (self.consistent.sheet(),)))

    def _sheet(self, number: int, name: str, counts: Counts, margin: Margin) -> Sheet:
        (base,) = counts.sheets()
        schema = base.schema
        if self.fit is not None:
            schema = with_fits(schema, pa.decimal128(_DIGITS, self.fit.degrees))
        return Sheet(name, schema, partial(self._batches, base, schema, number, margin), base.rows)

    def _batches(self, base: Sheet, schema: pa.Schema, number: int, margin: Margin) -> Iterator[pa.RecordBatch]:
        fitted = None if self.fit is None else self._fits(margin)
        own = None if self.fit is None else self._own(number, margin)
        start = 0
        for batch in base.batches():
            stop = start + batch.num_rows
            columns = list(batch.columns)
            if fitted is not None and own is not None:
                columns[schema.get_field_index(_ESTIMATE)] = integer_array(self._estimates(number, margin)[start:stop])
                columns += [integer_array(end[start:stop]) for end in own]
                columns.append(pa.array(fitted[start:stop], schema.field(FITTED).type))
            yield pa.record_batch(columns, schema=schema)
            start = stop

    def _fits(self, margin: Margin) -> list[Decimal]:
        """Exact sums of the fitted cells."""
        assert self.fit is not None
        return [Decimal(int(value)).scaleb(-self.fit.degrees) for value in self.fit.sums(self.spec, margin)]

    def _estimates(self, number: int, margin: Margin) -> NDArray[np.int64]:
        """The possible whole numbers nearest to them: in the intervals."""
        assert self.fit is not None
        counts = self._all[number][1]
        whole = np.array([round(each) for each in self._fits(margin)], dtype=np.int64)
        return np.clip(whole, counts.low, counts.high)

    def _own(self, number: int, margin: Margin) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The interval of each number by itself."""
        assert self.fit is not None
        estimated, reach = noise.own_reaches(self.spec)[number]
        if estimated:
            return self.fit.ends(self.fit.sums(self.spec, margin), reach, self.spec.public_number)
        values = self._all[number][1].published.values
        return clamped_intervals(values, int(reach))

    def _residual_sheet(self, drawn: NDArray[np.int64]) -> Sheet:
        """What was drawn: for each table of the closure, differences to the first bin of every column."""
        schema = residuals_schema(self.spec)

        def batch() -> pa.RecordBatch:
            bins = zip(self.spec.declared_axes, positions(noise.noise_of(self.spec).tables), strict=True)
            keys = [labelled(each, (*all_labels(axis), ANY)) for axis, each in bins]
            return pa.record_batch([*keys, integer_array(drawn)], schema=schema)

        return Sheet(RESIDUALS, schema, lambda: iter((batch(),)), int(drawn.size))

    def facts(self) -> Mapping[str, Any]:
        more: dict[str, Any] = {}
        if self.fit is not None:
            own = [to_float(reach, round_up=True) for _, reach in noise.own_reaches(self.spec)]
            more["noise"] = self.spec.noise
            if self.residuals is None:
                tables = zip(self.spec.shares, self.spec.reaches, own, strict=True)
                more["shares"] = [{"epsilon": to_text(e), "reach": reach, "own_reach": r} for e, reach, r in tables]
            else:
                pairs = zip(self.spec.reaches, own, strict=True)
                more["tables"] = [{"reach": reach, "own_reach": r} for reach, r in pairs]
                more["rho"] = to_float(noise.residuals_of(self.spec).rho, round_up=True)
        return {
            **self.cells.facts(),
            "intervals": "simultaneous" if self.spec.has_noisy_margins else "each",
            "margins": [
                {"file": name, "by": list(margin), "rows": counts.bins, "rows_shown": int(counts.visible.sum())}
                for name, counts, margin in self._all[1:]
            ],
            **more,
        }

    def sentences(self) -> tuple[str, ...]:
        margins = [f"{name} ({counts.bins:,} rows, by {text.by(margin)})" for name, counts, margin in self._all[1:]]
        whom = text.left_out_sentence(self.spec)
        return (
            *self.cells.sentences(),
            f"The totals are in files of their own: {', '.join(margins)}.",
            *((f"{whom[0].upper()}{whom[1:]}.",) if whom else ()),
        )

    def exactness(self) -> tuple[str, ...]:
        """Counts may be exact where totals are not, since these leave out who is hidden."""
        if self.fit is not None or not self.cells.exact:
            return ()
        return (
            f"Every count of {self.spec.cells.describe().counts} that is shown is exact",
            "A total adds up the counts that are shown: its interval says how many more there can be",
        )

    def display(self, first: int) -> DisplayTable:
        grid = self.cells.display(first)
        notes = tuple(note for note in grid.notes if not note.startswith(("The interval", "Of a bin")))
        notes += (f"{text.intervals(self.spec)}.",)
        if self.fit is None:
            return replace(grid, notes=notes)
        notes = tuple(note for note in notes if not note.startswith("Noise can"))
        notes += (
            f"These are estimates from all tables together, whole numbers in their intervals; the file also has what "
            f"was drawn ({counted_column(self.spec.cells)}), and {FITTED}, which adds up from table to table.",
        )
        if self.spec.cells.unit.counts_rows:  # what was said there is of the share of one table
            notes = tuple(text.epsilon_sentence(self.spec) if note.startswith("Epsilon ") else note for note in notes)
        kept = [i for i, title in enumerate(grid.numbers) if title != _ESTIMATE]  # which is there if noise needs it
        estimates = self._estimates(0, self.spec.every_margin[0])
        rows = tuple(
            (keys, (f"{estimates[i]:,}", *(numbers[j] for j in kept[1:])), pale)
            for i, (keys, numbers, pale) in enumerate(grid.rows)
        )
        heads = (_ESTIMATE, *(grid.numbers[j] for j in kept[1:]))
        return replace(grid, numbers=heads, rows=rows, notes=notes)

    def disjoint_counts(self) -> str | None:
        """None where estimates are shown: they are rounded, and put up to 0."""
        return None if self.fit is not None else self.cells.disjoint_counts()

    def drawing(self) -> Drawing | None:
        """Of two columns the table itself; else the margins with few bins, a panel for each, as long as they fit."""
        every = self.spec.every_margin[0]
        heat = histogram_chart.drawing(self._with_estimates(self.cells, every)) if len(every) == 2 else None
        if isinstance(heat, Heat):
            return replace(
                heat, line=text.interval_headline(self.spec), note=" ".join(filter(None, (heat.note, self._more(0))))
            )
        smallest = sorted(self._all[1:], key=lambda each: each[1].bins)
        visible = [(counts, margin) for _, counts, margin in smallest if counts.visible.any()]
        if not visible:
            return None
        few, room = [], histogram_chart.RANKED
        for counts, margin in visible:
            if counts.bins <= min(histogram_chart.PANELS, room):
                few.append(margin)
                room -= counts.bins
        drawn: list[Bar] = []
        for _, counts, margin in self._all[1:]:
            if margin in few:  # in the order in which they were asked for
                drawn += histogram_chart.labelled_bars(
                    self._with_estimates(counts, margin), f"by {text.by(margin)}" if margin else "in all"
                )
        panels = len({bar.panel for bar in drawn})
        bars = histogram_chart.bars(self._with_estimates(*visible[0]))
        assert bars is not None
        if panels > 1:
            bars = replace(bars, bars=tuple(drawn), by="", upright=False, mark=Mark.BAR)
        note = " ".join(filter(None, (bars.note if panels < 2 else "", self._more(max(panels, 1)))))
        return replace(bars, line=text.interval_headline(self.spec), note=note)

    def _with_estimates(self, counts: Counts, margin: Margin) -> Counts:
        """With the estimates that the table of numbers has, in place of what was drawn."""
        if self.fit is None or self.spec.cells.sample is not None:
            return counts
        number = next(i for i, (_, _, each) in enumerate(self._all) if each == margin)
        return replace(counts, published=replace(counts.published, values=self._estimates(number, margin)))

    def _more(self, drawn: int) -> str:
        """How many margins are not in the picture."""
        left = len(self.margins) - drawn
        if not left:
            return ""
        return (
            f"{left:,} more {'table of totals is in its file' if left == 1 else 'tables of totals are in their files'}."
        )


def with_fits(schema: pa.Schema, fitted: pa.DataType | None = None) -> pa.Schema:
    """The columns of a table that was fitted with others: each number has an interval of its own, and what adds up."""
    numbers = [pa.field(name, pa.int64()) for name in OWN]
    return pa.schema([*schema, *numbers, pa.field(FITTED, fitted or pa.int64())])


def residuals_schema(spec: Cube) -> pa.Schema:
    """The columns of what was drawn, where the noise is Gaussian."""
    return pa.schema([*((name, LABELS) for name in key_columns(spec.axes, (DIFFERENCE,))), (DIFFERENCE, pa.int64())])
