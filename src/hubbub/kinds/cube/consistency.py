"""Cells that add up: fitted to all tables of a cube; and whole ones of at least 0, for use as counts, in a file of their own.

Fitted cells have as many digits as it takes for every margin to be their sum, exactly.

The numbers of record are unbiased and have intervals; whole cells of at least 0 are their projection onto tables that some people could have
(:mod:`hubbub.query_classes.marginals.projection`), rounded. Nobody is told more by it. Before rounding it is never further from
the truth than the numbers that it is made from, in Euclidean distance over all tables. Margins are sums of its cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.cube.margins import Margin, sum_cells
from hubbub.kinds.histogram.result import Counts
from hubbub.protocol.result import Read, Sheet
from hubbub.query_classes.marginals.projection import FinestTable, largest_remainders
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube

CONSISTENT, PROJECTED = "consistent", "projected"
Ends: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
_SMALL_SUM: Final = 3  # digits of a sum of cells that are as they are written


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Cells in units of 1/scale, a power of ten: their sums are the margins, exactly."""

    cells: list[int]
    scale: int

    @property
    def degrees(self) -> int:
        """Digits after the point."""
        return len(str(self.scale)) - 1

    def sums(self, spec: Cube, margin: Margin) -> NDArray[Any]:
        """The fitted numbers of a margin, in units of 1/scale, exactly."""
        return sum_cells(np.array(self.cells, dtype=object), spec.axes, margin)

    def nearest_integers(self, sums: NDArray[Any]) -> NDArray[np.int64]:
        """The nearest whole numbers."""
        return np.array((2 * sums + self.scale) // (2 * self.scale), dtype=np.int64)

    def ends(self, sums: NDArray[Any], reach: Fraction, most: int | None = None) -> Ends:
        """Whole numbers of at least 0 that are no further away than this, and what rounding of the sums may hide.

        Guarantee: if the exact sum is within `reach` of a whole number, this lies between them.
        """
        far = (reach + Fraction(1, 1000)) * self.scale
        near = np.clip(sums, 0, None if most is None else most * self.scale)
        low, high = -((-near + math.floor(far)) // self.scale), (near + math.floor(far)) // self.scale
        return np.array(np.clip(low, 0, most), dtype=np.int64), np.array(np.clip(high, 0, most), dtype=np.int64)


def round_fit(exact: Sequence[int], unit: int, sizes: Sequence[int], total: int | None = None) -> Fit:
    """Cells that are numerators of one denominator, rounded so that no sum of them is off by more than half of 1/1000; of
    1/1000 where they are to add up to a total, and the first ones make up for what rounding took."""
    scale = 10 ** (_SMALL_SUM + len(str(prod(sizes))))
    cells = [(2 * cell * scale + unit) // (2 * unit) for cell in exact]
    if total is not None:
        missing = total * scale - sum(cells)
        step = 1 if missing > 0 else -1
        for i in range(abs(missing)):
            cells[i] += step
    return Fit(cells, scale)


@dataclass(frozen=True, slots=True, eq=False)
class Consistent:
    """What is projected: `cells` in order, of which some are `fixed`; None where what is shown is exact, and stays."""

    spec: Cube
    counts: Counts
    cells: NDArray[np.float64] | None
    fixed: NDArray[np.bool_] | None = None

    @property
    def table(self) -> FinestTable:
        """The cells with the margins that count beside them."""
        assert self.cells is not None
        margins = tuple(tuple(sorted(level)) for level in self.spec.levels[1:])
        return FinestTable(self.spec.shape, margins, self.cells, self.fixed)

    @property
    def exact(self) -> NDArray[np.int64]:
        """What is shown, and 0 for what is hidden."""
        return np.where(self.counts.visible, self.counts.published.values, 0)

    def sheet(self) -> Sheet:
        """The file."""
        (base,) = self.counts.sheets()
        keys = [base.schema.field(i) for i in range(len(self.spec.axes))]
        numbers = [pa.field(CONSISTENT, pa.int64())]
        if self.cells is not None:
            numbers.append(pa.field(PROJECTED, pa.float64()))
        schema = pa.schema([*keys, *numbers])

        def batches() -> Iterator[pa.RecordBatch]:
            projected = None if self.cells is None else self.table.project()
            integers = self.exact if projected is None else largest_remainders(projected)
            start = 0
            for batch in base.batches():
                stop = start + batch.num_rows
                columns = [*batch.columns[: len(keys)], integer_array(integers[start:stop])]
                if projected is not None:
                    columns.append(pa.array(projected[start:stop], pa.float64()))
                yield pa.record_batch(columns, schema=schema)
                start = stop

        if self.cells is None:
            return Sheet(CONSISTENT, schema, batches, base.rows)
        return Sheet(CONSISTENT, schema, batches, base.rows, judge=lambda read: self._wrong(read, schema, base))

    def _wrong(self, read: Read, schema: pa.Schema, base: Sheet) -> str | None:
        """What is wrong with a published file.

        Guarantee: if None, its cells are at least 0 and with all their margins within the tolerance of the projection, and
        its whole numbers are these, rounded by largest remainders.
        """
        given, start = read(CONSISTENT, schema), 0
        if given.num_rows != base.rows or given.column(PROJECTED).null_count or given.column(CONSISTENT).null_count:
            return "it has other rows than the cells"
        for batch in base.batches():
            part = given.slice(start, batch.num_rows)
            for i in range(len(self.spec.axes)):
                if part.column(i).to_pylist() != batch.column(i).to_pylist():
                    return f"its column {schema.names[i][:40]} is not that of the cells"
            start += batch.num_rows
        cells = given.column(PROJECTED).to_numpy()
        if not np.isfinite(cells).all() or (cells < 0).any():
            return "its cells are not all at least 0"
        if not self.table.distance(cells) <= self.table.tolerance:
            return "its cells are not the nearest ones of at least 0: they are no projection of the published tables"
        if not np.array_equal(largest_remainders(cells), given.column(CONSISTENT).to_numpy()):
            return "its whole numbers are not its cells, rounded"
        return None
