"""Whether a published file of points is as it was described: its columns, points on the lattice, in their order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.spreadsheet import cautious, safe
from hubbub.tables.written import key_columns

if TYPE_CHECKING:
    from hubbub.tables.points import NoisyPoints

_COMPARED: Final = 200_000  # points


def difference(file: Path, form: str, spec: NoisyPoints) -> str | None:
    """What in the file is not as described, in words; None if nothing is. The first points are compared."""
    try:
        names, columns = _read(file, form)
    except (pa.ArrowException, OSError, ValueError):
        return f"it cannot be read as {form}"
    wanted = key_columns(spec.space.axes)
    written = [safe(wanted), cautious(wanted)] if form == "csv" else [wanted]
    if names not in written:
        return "its columns are others"
    positions = [spec.space.nearest(i, values) for i, values in enumerate(columns)]
    for i, (values, at) in enumerate(zip(columns, positions, strict=True)):
        if not np.array_equal(spec.space.coordinates(i, at), values):
            return "its points are not on the lattice"
        if spec.clamp and at.size and not (at.min() >= 0 and at.max() < spec.space.axes[i].steps):
            return "its points are not in the box"
    if not np.array_equal(np.lexsort(positions[::-1]), np.arange(positions[0].size)):
        return "its points are not in order"
    return None


def _read(file: Path, form: str) -> tuple[list[str | None], list[NDArray[np.float64]]]:
    if form == "parquet":
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(file) as table:
            names = list(table.schema_arrow.names)
            batch = next(table.iter_batches(_COMPARED), None)
            columns = [] if batch is None else batch.columns
    else:
        import pyarrow.csv as arrow_csv

        found = arrow_csv.read_csv(file)
        names, columns = list(found.column_names), [each.combine_chunks() for each in found.columns]
    if not columns:
        return names, [np.empty(0) for _ in names]
    first = (column.slice(0, _COMPARED).cast(pa.float64()) for column in columns)
    return names, [column.to_numpy(zero_copy_only=False) for column in first]  # nothing is no number, and on no lattice
