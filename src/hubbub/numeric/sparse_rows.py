"""A matrix by its rows, of which few entries are not zero: compressed sparse rows, as far as programs and graphs need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Row i has `values[starts[i]:starts[i + 1]]` in the columns of the same places."""

    starts: Ints
    columns: Ints
    values: Floats
    width: int

    @property
    def height(self) -> int:
        return int(self.starts.size) - 1

    def times(self, point: Floats) -> Floats:
        """The matrix times a vector."""
        rows = np.repeat(np.arange(self.height), np.diff(self.starts))
        return np.bincount(rows, self.values * point[self.columns], self.height).astype(np.float64)


def sparse_rows(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]) -> SparseRows:
    """The matrix with these entries; each place is named once."""
    height, width = shape
    order = np.lexsort((columns, rows))
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=height)))).astype(np.int64)
    return SparseRows(starts, columns[order].astype(np.int64), values[order].astype(np.float64), width)
