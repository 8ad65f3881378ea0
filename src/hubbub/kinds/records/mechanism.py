"""Records measured and presented: the mechanism is that of the histogram of which the rows are a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.kinds.histogram import mechanism as of_cells
from hubbub.kinds.records.result import Rows
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement

if TYPE_CHECKING:
    from hubbub.kinds.records.spec import Records
    from hubbub.tables.engine import Engine


def measure(spec: Records, engine: Engine, source: Source) -> Measurement:
    """How often each record is published."""
    return of_cells.measure(spec.cells, engine, source)


def present(spec: Records, measurement: Measurement) -> Rows:
    """A row for each person of a crowd."""
    return Rows(spec, of_cells.present(spec.cells, measurement["cells"]))
