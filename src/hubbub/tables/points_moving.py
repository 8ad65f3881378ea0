"""Noisy points, carried out: count the positions, delete small cells, move the rest, sort by what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric, two_sided_geometric_each
from hubbub.noise.source import Source
from hubbub.tables.engine import Engine, Question, Repeats
from hubbub.tables.points_published import PublishedPoints
from hubbub.tables.space import Positions

if TYPE_CHECKING:
    from hubbub.tables.points import NoisyPoints


def run(spec: NoisyPoints, engine: Engine, source: Source) -> PublishedPoints:
    """The engine hands over how many people are at each position, so that nothing tells in which order rows were.

    Guarantee: the promise of :func:`hubbub.tables.points_promises.promises`, if the words of the source are uniform and
    independent: what comes out depends on the table through the numbers of people at positions alone.
    """
    repeats = Repeats.ONE_ROW if spec.unit.one_row_per_person else Repeats.REFUSE
    counted = engine.count(Question(axes=spec.space.axes, person=spec.unit.person, repeats=repeats), source)
    order = np.argsort(counted.codes)
    return PublishedPoints(spec, moved(spec, counted.codes[order], counted.counts[order], source))


def moved(
    spec: NoisyPoints, codes: NDArray[np.int64], counts: NDArray[np.int64], source: Source
) -> tuple[Positions, ...]:
    """The published positions along each column, in their order, from how many people are at each position."""
    space = spec.space
    positions = space.positions(codes)
    cells = space.cell(positions)
    kept = _in_crowds(cells, counts, spec.crowd)
    people = counts[kept]
    which = None if space.areas is None else np.repeat(cells[kept], people)
    found = []
    for axis, moves, at in zip(space.axes, space.moving, positions, strict=True):
        here = np.repeat(at[kept], people)
        if moves:
            here += (
                two_sided_geometric(spec.rate, here.size, source)
                if which is None
                else two_sided_geometric_each(spec.rates, which, source)
            )
        found.append(np.clip(here, 0, axis.steps - 1) if spec.clamp else here)
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
