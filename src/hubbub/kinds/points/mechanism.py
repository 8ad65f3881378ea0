"""Noisy points measured, read back and presented: count the positions, delete small cells, move the rest, sort what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed
from hubbub.kinds.points.result import MEANS, PublishedPoints, means_schema, schema
from hubbub.kinds.points.space import Positions
from hubbub.noise.sampler import two_sided_geometric, two_sided_geometric_each
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, loaded, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array
from hubbub.serialization.published_files import Files
from hubbub.tables.engine import CountQuery, Engine, ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints


@dataclass(frozen=True, slots=True)
class Moves:
    """The mechanism of noisy points: points in small cells are deleted, each of the others moves by itself.

    Guarantee: the promise of :meth:`hubbub.kinds.points.spec.NoisyPoints.promises`, if the words of the source are uniform and
    independent: what is drawn depends on the table through the numbers of people at positions alone, and comes out in
    the order of the positions that are published.
    """

    spec: NoisyPoints

    @property
    def schema(self) -> pa.Schema:
        """A position on the lattice along each column, for every point."""
        return pa.schema([(f"{i}", pa.int64()) for i in range(len(self.spec.space.axes))])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        order = np.argsort(exact.codes)
        return in_columns(self, move_points(self.spec, exact.codes[order], exact.counts[order], source))


def in_columns(mechanism: Moves, positions: Sequence[Positions]) -> pa.RecordBatch:
    """Positions along each column, under the schema of the mechanism."""
    return pa.record_batch([integer_array(at.astype(np.int64)) for at in positions], schema=mechanism.schema)


def measure(spec: NoisyPoints, data: Engine, source: Source) -> Measurement:
    """The engine hands over how many people are at each position, so that nothing tells in which order rows were."""
    counted = data.count(CountQuery(axes=spec.space.axes, person=spec.unit.person, repeats=spec.unit.one_row), source)
    return Measurement(points=release(Moves(spec), counted, source))


def present(spec: NoisyPoints, measurement: Measurement) -> PublishedPoints:
    """The points that were drawn; those that left the box on its edge, if that is wanted; in their order. By how many
    steps they had left it is kept for each column, all points together: their mean before they were put back is nearer
    to that of the data."""
    drawn = measurement["points"]
    drawn_at = [drawn.integers(name) for name in drawn.batch.schema.names]
    positions = drawn_at
    if spec.clamp:
        positions = [np.clip(at, 0, axis.steps - 1) for at, axis in zip(drawn_at, spec.space.axes, strict=True)]
    beyond = tuple(int((at - put).sum()) for at, put in zip(drawn_at, positions, strict=True))
    order = np.lexsort(positions[::-1])
    return PublishedPoints(spec, tuple(at[order] for at in positions), beyond)


def move_points(
    spec: NoisyPoints, codes: NDArray[np.int64], counts: NDArray[np.int64], source: Source
) -> tuple[Positions, ...]:
    """Where the points are after they moved, in the order of that, from how many people are at each position."""
    space = spec.space
    positions = space.positions(codes)
    cells = space.cell(positions)
    kept = _in_crowds(cells, counts, spec.crowd)
    people = counts[kept]
    which = None if space.areas is None else np.repeat(cells[kept], people)
    found = []
    for moves, at in zip(space.moving, positions, strict=True):
        here = np.repeat(at[kept], people)
        if moves:
            here += (
                two_sided_geometric(spec.rate, here.size, source)
                if which is None
                else two_sided_geometric_each(spec.rates, which, source)
            )
        found.append(here)
    order = np.lexsort(found[::-1])
    return tuple(column[order] for column in found)


def _in_crowds(cells: NDArray[np.int64], counts: NDArray[np.int64], crowd: int) -> NDArray[np.intp]:
    """Which positions are in cells with so many people; those in no cell are in none."""
    order = np.argsort(cells, kind="stable")
    order = order[np.searchsorted(cells[order], 0) :]
    if not order.size:
        return np.empty(0, dtype=np.intp)
    starts = np.flatnonzero(np.diff(cells[order], prepend=cells[order[0]] - 1))
    totals = np.add.reduceat(counts[order], starts)
    large = np.repeat(totals >= crowd, np.diff(starts, append=order.size))
    return np.sort(order[large])


# --- what was published, read back --------------------------------------------------------------------------------------


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
