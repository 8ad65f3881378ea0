"""Sampling k people without replacement from counts alone: no row is read.

Number the people cell by cell: those of the first cell 0..c_1 - 1, those of the second from c_1 on, and so forth up to
N - 1. A uniform set of K ranks is a uniform set of K people, and how many ranks lie in a cell's stretch is how many of
its people were drawn. So drawing commutes with counting, as binomial thinning does, for any N and for any partition
that is fine enough for the question: the table is counted once, exactly, and no hypergeometric law is ever worked out.

It is not the same thing when a person is in several cells.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.sampler import distinct as ranks
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass

__all__ = ["LARGEST", "Chosen", "choose", "ranks", "sample_counts"]

LARGEST: Final = 10**8
"""Most ranks that are drawn: those of the sample, or of the people left out if these are fewer. They take 3 GB."""

Integers = NDArray[np.int64]


def sample_counts(counts: NDArray[np.integer], k: int, source: Source) -> Integers:
    """How many of each cell's people are among k people drawn without replacement from all cells together.

    Guarantee: if the words of the source are uniform and independent, the numbers are exactly multivariate
    hypergeometric: every set of k of the N people is equally likely, N the sum of the counts up to 2^63. If all are
    drawn, or nobody, no word is drawn.
    """
    cells = _check_counts(counts)
    return choose(k, int(cells.sum()), source).count_drawn(cells)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A secret set of ranks: of those who were drawn, or of those who were not, if these are fewer."""

    few: Integers
    left_out: bool

    def count_drawn(self, counts: NDArray[np.integer]) -> Integers:
        """How many of each cell's people were drawn, the people being numbered cell by cell."""
        cells = _check_counts(counts)
        ends = np.cumsum(cells.ravel())
        below = np.searchsorted(self.few, ends, side="left")
        found = np.diff(below, prepend=0).astype(np.int64).reshape(cells.shape)
        return cells - found if self.left_out else found


def choose(k: int, n: int, source: Source) -> Chosen:
    """k of n people, whoever they are: nothing about them goes into the draw.

    Guarantee: every set of k ranks is equally likely, if the words of the source are uniform and independent.
    """
    if not 0 <= k <= n:
        raise WrongUse(f"a sample without replacement has from 0 people to all there are, not {k}; choose another size")
    left_out = 2 * k > n  # draw who is left out: fewer, and by symmetry the same
    few = n - k if left_out else k
    if few > LARGEST:
        raise WrongUse(f"at most {LARGEST} people are drawn, or left out, without replacement, not {few}; draw fewer")
    return Chosen(ranks(few, n, source), left_out)


def _check_counts(counts: NDArray[np.integer]) -> Integers:
    array = np.asarray(counts)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise WrongUse(f"counts must be whole numbers in an integer array, not {array.dtype}")
    if int(array.min()) < 0 or float(array.sum(dtype=np.float64)) >= 2.0**63:
        raise WrongUse("counts must be at least 0 and add up to less than 2^63; check what was counted")
    return array.astype(np.int64)
