"""A published file of points, read back: where each point is on the lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hubbub.errors import CheckFailed
from hubbub.kinds.points.mechanism import Moves, in_columns
from hubbub.kinds.points.result import schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints


def load(spec: NoisyPoints, files: Files) -> Measurement:
    """The positions that were published.

    Guarantee: every point is on the lattice, or the file is refused. Where points were put back on the edge of the
    box, they are loaded as lying there.
    """
    described = schema(spec)
    table = files.table("release", described)
    positions = []
    for i, name in enumerate(described.names):
        values = np.array([np.nan if each is None else each for each in table.column(name).to_pylist()], dtype=float)
        at = spec.space.nearest(i, values)
        if not np.array_equal(spec.space.coordinates(i, at), values):
            raise CheckFailed("its points are not on the lattice")
        positions.append(at)
    mechanism = Moves(spec)
    return Measurement(points=loaded(mechanism.schema, in_columns(mechanism, positions)))
