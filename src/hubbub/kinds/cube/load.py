"""The files of a cube, read back: the cells, from which the margins follow, or every table with its own noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.cube import gaussian
from hubbub.kinds.cube.margins import file_names
from hubbub.kinds.cube.mechanism import Levels, in_columns
from hubbub.kinds.cube.result import FITTED, OWN
from hubbub.kinds.histogram import load as histogram_load
from hubbub.kinds.histogram.result import counted_column, schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube


def load(spec: Cube, files: Files) -> Measurement:
    """What was drawn: for the cells alone, whose sums the margins are, or for every table.

    Guarantee: that of :func:`hubbub.kinds.histogram.load.load` for cells that are published once. With noise at every
    level, each table has as many numbers as bins; every whole number can be drawn.
    """
    if spec.gaussian:
        return gaussian.load(spec, files)
    if not spec.levelled:
        return histogram_load.load(spec.cells, files)
    more = [(name, pa.int64()) for name in (*OWN, FITTED)]
    tables = []
    for name, table, size in zip(("release", *file_names(spec.margins)), spec.tables, spec.sizes, strict=True):
        described = pa.schema([*schema(table), *(pa.field(*each) for each in more)])
        counts = counted_column(table)
        column = files.table(name, described, [counts]).column(counts)
        if len(column) != size or column.null_count:
            raise CheckFailed("its bins are others")
        tables.append(np.array(column.to_pylist(), dtype=np.int64))
    mechanism = Levels(spec)
    return Measurement(levels=loaded(mechanism.schema, in_columns(mechanism, tables)))
