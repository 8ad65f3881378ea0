"""The published files of points, read back: where each point is on the lattice, and by how much points left the box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hubbub.errors import CheckFailed
from hubbub.kinds.points.mechanism import Moves, in_columns
from hubbub.kinds.points.result import MEANS, means_schema, schema
from hubbub.kinds.points.space import Positions
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints


def load(spec: NoisyPoints, files: Files) -> Measurement:
    """Positions of which those that were published, and the sums beside them, are the presentation.

    Guarantee: every point is on the lattice, and what points left the box by is possible, or the files are refused.
    Where points were put back on the edge of the box, they are loaded as lying there, all but one: it has what they
    left the box by together, since only the sum of that is published.
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
    for at, axis, beyond in zip(positions, spec.space.axes, _beyond(spec, files), strict=True):
        _put_outside(at, beyond, (0, axis.steps - 1), clamp=spec.clamp)
    mechanism = Moves(spec)
    return Measurement(points=loaded(mechanism.schema, in_columns(mechanism, positions)))


def _beyond(spec: NoisyPoints, files: Files) -> list[int]:
    """By how many steps points left the box along each column, as the sheet of means says."""
    found: list[int | None] = files.table(MEANS, means_schema()).column("beyond").to_pylist()
    if len(found) != len(spec.space.axes):
        raise CheckFailed("its means are not those of its columns")
    if None in found:
        raise CheckFailed("a number of steps is missing")
    return [each for each in found if each is not None]


def _put_outside(at: Positions, beyond: int, edges: tuple[int, int], *, clamp: bool) -> None:
    """Move one point of the edge by so many steps out of the box."""
    if not beyond:
        return
    on_edge = np.flatnonzero(at == edges[beyond > 0])
    if not clamp or not on_edge.size:
        raise CheckFailed("points cannot have left the box by so many steps: none is on that edge")
    at[on_edge[0]] += beyond
