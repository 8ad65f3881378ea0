"""Noisy points measured and presented: count the positions, delete small cells, move the rest, sort what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.points.result import PublishedPoints
from hubbub.kinds.points.space import Positions
from hubbub.noise.sampler import two_sided_geometric, two_sided_geometric_each
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array
from hubbub.tables.engine import CountQuery, Engine, ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints


@dataclass(frozen=True, slots=True)
class Moves:
    """The mechanism of noisy points: points in small cells are deleted, each of the others moves by itself.

    Guarantee: the promise of :func:`hubbub.kinds.points.promises.promises`, if the words of the source are uniform and
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
        return in_columns(self, moved(self.spec, exact.codes[order], exact.counts[order], source))


def in_columns(mechanism: Moves, positions: Sequence[Positions]) -> pa.RecordBatch:
    """Positions along each column, under the schema of the mechanism."""
    return pa.record_batch([integer_array(at.astype(np.int64)) for at in positions], schema=mechanism.schema)


def measure(spec: NoisyPoints, engine: Engine, source: Source) -> Measurement:
    """The engine hands over how many people are at each position, so that nothing tells in which order rows were."""
    counted = engine.count(CountQuery(axes=spec.space.axes, person=spec.unit.person, repeats=spec.unit.one_row), source)
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


def moved(
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
