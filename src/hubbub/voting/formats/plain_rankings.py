"""Rows of marks that no rule for marks would change: they are rankings as they stand, and are taken all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.voting.ballots import Ballots, check_ranks
from hubbub.voting.formats.reading import Rank
from hubbub.voting.row_keys import equal_rows

_OTHER = -2  # an overvote, or several candidates in one cell


def plain_rankings(
    rows: NDArray[np.integer], weights: NDArray[np.int64], ranks: Sequence[Rank], names: Sequence[str]
) -> tuple[Ballots, NDArray[np.int64]]:
    """The ballots of rows that mark one candidate at each rank from the first on, nobody twice and nobody after an
    empty rank; and which rows are not like that. `ranks` says what each number of a cell means."""
    index = {name: i for i, name in enumerate(names)}
    small = np.int8 if len(names) < 128 else np.int16
    meaning = np.full(len(ranks), _OTHER, dtype=small)
    for code, rank in enumerate(ranks):
        if rank is not None and len(rank) < 2:
            meaning[code] = index[next(iter(rank))] if rank else -1
    table = meaning[rows]
    plain = ~((table == _OTHER).any(axis=1) | _gaps(table) | _twice(table, len(names)))
    table = table[:, : len(names)][plain]  # nobody is ranked beyond the number of candidates
    first, sums = equal_rows(table, weights[plain])
    check_ranks(len(first), len(names))
    kept = sums > 0
    ballots = Ballots.from_rows(names, table[first[kept]], sums[kept], trusted=True)
    return ballots, np.flatnonzero(~plain)


def _gaps(table: NDArray[np.integer]) -> NDArray[np.bool_]:
    gaps = np.zeros(len(table), dtype=np.bool_)
    for j in range(table.shape[1] - 1):
        gaps |= (table[:, j] < 0) & (table[:, j + 1] >= 0)
    return gaps


def _twice(table: NDArray[np.integer], candidates: int) -> NDArray[np.bool_]:
    """Whether a row has a candidate twice."""
    twice = np.zeros(len(table), dtype=np.bool_)
    if candidates > 64:
        ordered = np.sort(table, axis=1)
        for j in range(table.shape[1] - 1):
            twice |= (ordered[:, j] == ordered[:, j + 1]) & (ordered[:, j] >= 0)
        return twice
    seen = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        bit = np.where(column >= 0, np.uint64(1) << (column & 63).astype(np.uint64), np.uint64(0))
        twice |= (seen & bit) != 0
        seen |= bit
    return twice
