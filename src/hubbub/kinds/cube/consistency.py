"""Whole cells of at least 0 whose sums are near every table, for use as counts, in a file of their own.

The numbers of record are unbiased and have intervals; these are their projection onto tables that some people could have
(:mod:`hubbub.query_classes.marginals.projection`), rounded. Nobody is told more by it. Before rounding it is never further from
the truth than the numbers that it is made from, in Euclidean distance over all tables. Margins are sums of its cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.histogram.result import Counts
from hubbub.protocol.result import Read, Sheet
from hubbub.query_classes.marginals.projection import FinestTable, largest_remainders
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube

CONSISTENT, PROJECTED = "consistent", "projected"


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
            projected = None if self.cells is None else self.table.projected()
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
