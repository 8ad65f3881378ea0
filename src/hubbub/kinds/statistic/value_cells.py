"""People counted by bin and step, as arrays: what sums of functions of a value are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.kinds.statistic.mechanism import Place, last
from hubbub.tables.engine import ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.statistic.spec import Statistic


@dataclass(frozen=True, slots=True, eq=False)
class ValueCells:
    """So many people with so many steps in the bin of a number; `found` says which bins those found in the data are."""

    bins: int
    places: NDArray[np.int64]
    x: NDArray[np.int64]
    counts: NDArray[np.int64]
    found: list[Place] | None

    def added(self, values: NDArray[np.int64]) -> list[int]:
        """The sum of a value over the people of every bin, given that of each cell."""
        total = np.zeros(self.bins, dtype=np.int64)
        np.add.at(total, self.places, self.counts * values)
        return [int(each) for each in total]

    def people(self) -> list[int]:
        """Of every bin."""
        return self.added(np.ones(len(self.counts), dtype=np.int64))


def value_cells(spec: Statistic, steps: int, counted: ExactCounts) -> ValueCells:
    """What was counted by value, of steps 0..`steps`. Who is in no bin is left out; bins that are found come in the
    order of their labels, the missing last."""
    inside = np.flatnonzero((counted.codes >= 0) & (counted.counts > 0))
    codes, counts = counted.codes[inside], counted.counts[inside]
    places, x = codes // (steps + 1), codes % (steps + 1)
    if not spec.discovered:
        return ValueCells(spec.bins, places, x, counts, None)
    places, ordered = in_order(places, inside, counted)
    return ValueCells(len(ordered), places, x, counts, ordered)


def in_order(
    indices: NDArray[np.int64], inside: NDArray[np.intp], counted: ExactCounts
) -> tuple[NDArray[np.int64], list[Place]]:
    """The numbers of found bins in the order of their labels, and which they are."""
    declared = indices.tolist()
    keys = [(declared[j], tuple(labels[i] for labels in counted.found)) for j, i in enumerate(inside.tolist())]
    ordered = sorted(set(keys), key=lambda key: (key[0], *map(last, key[1])))
    at = {key: i for i, key in enumerate(ordered)}
    return np.array([at[key] for key in keys], dtype=np.int64), ordered
