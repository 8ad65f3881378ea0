"""A graphical model whose cliques are tables that were measured: the people of most entropy that have these tables.

The cliques are W columns each. The first one is any table; each later one has one new column and W - 1 columns of an earlier
clique. That is a junction tree, and for it tables of at least 0 that agree are tables of some people: so the projection of the
measured tables of the cliques, and of all tables below them, onto those that agree (:mod:`hubbub.query_classes.marginals.projection`) is the nearest that any people
have, and among all people with these clique tables the ones of most entropy draw the new column of each clique from its table,
given the columns that the clique shares with an earlier one (Chow, Liu 1968 for W = 2).

Which cliques is chosen greedily from the measured tables, by how far a table is from independence of the new column beyond what
its noise explains. That is a choice about published numbers, and tells nothing more about anybody.

**Rows.** Weights are the projected numbers in whole multiples of a power of two, and words come from a public seed. So many rows
are dealt out among the cells of the first clique by systematic sampling: rows 0, 1, .. stand at u + i W/n along the weights,
u drawn once, so that a cell of share p gets n p rows, rounded up or down. Rows that agree in the shared columns are then dealt out among
the values of the new column in the same way, in a random order. All of it is in whole numbers: the same rows on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.source import PublicDice
from hubbub.query_classes.classes import Shape
from hubbub.query_classes.marginals.tables import Columns, Tables, subsets
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_ROWS: Final = 10**7
_BITS: Final = 36  # of all weights of a table together
_FINE: Final = 26  # bits of a position along the weights


def junction_tree(columns: int, ways: int, strength: Callable[[Columns, int], float]) -> tuple[Columns, ...]:
    """Cliques of so many columns; `strength` says how much a set of columns tells about one more.

    Prim's algorithm: of all (shared columns of a clique, new column) the strongest is next.
    """
    every = range(columns)
    first = max(combinations(every, ways), key=lambda each: (strength(each[:-1], each[-1]), [-i for i in each]))
    cliques, known = [first], set(first)
    offers: dict[tuple[Columns, int], float] = {}
    fresh = [first]
    while len(known) < columns:
        for clique in fresh:
            for shared in combinations(clique, ways - 1):
                for column in every:
                    if column not in known and (shared, column) not in offers:
                        offers[shared, column] = strength(shared, column)
        best = max((key for key in offers if key[1] not in known), key=lambda key: (offers[key], -key[1], key[0]))
        fresh = [tuple(sorted((*best[0], best[1])))]
        cliques += fresh
        known.add(best[1])
    return tuple(cliques)


def new_columns(cliques: Sequence[Columns], columns: int) -> tuple[int, ...] | None:
    """The new column of each clique but the first; None if these are no cliques of a junction tree of all columns."""
    if (
        not cliques
        or len({len(each) for each in cliques}) != 1
        or any(list(each) != sorted(set(each)) for each in cliques)
    ):
        return None
    known, found = set(cliques[0]), []
    for i, clique in enumerate(cliques[1:], 1):
        fresh = [column for column in clique if column not in known]
        shared = {column for column in clique if column in known}
        if len(fresh) != 1 or not any(shared <= set(earlier) for earlier in cliques[:i]):
            return None
        found.append(fresh[0])
        known.add(fresh[0])
    return tuple(found) if known == set(range(columns)) else None


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """Cliques and the number of people in each cell of their tables, at least 0."""

    shape: Shape
    cliques: tuple[Columns, ...]
    tables: tuple[Floats, ...]

    @property
    def every_table(self) -> list[Floats]:
        """The tables of :func:`workload`."""
        found = list(self.tables)
        for below in workload(self.shape, self.cliques).workload[len(self.cliques) :]:
            clique = next(i for i, each in enumerate(self.cliques) if set(below) <= set(each))
            gone = tuple(at for at, i in enumerate(self.cliques[clique]) if i not in below)
            found.append(np.asarray(self.tables[clique].sum(axis=gone)))
        return found

    def rows(self, number: int, seed: str) -> Rows:
        """So many people of the model: columns x people, sorted by their bins.

        Guarantee: a function of the numbers of the tables, of `number` and of the seed in whole-number arithmetic.
        """
        dice = PublicDice(f"hubbub synthetic rows {seed}")
        found = np.zeros((len(self.shape), number), dtype=np.int64)
        first = self.cliques[0]
        weights = _weights(self.tables[0])
        counts = _dealt(weights.reshape(1, -1), np.array([number], dtype=np.int64), dice)
        bins = np.unravel_index(np.repeat(np.arange(weights.size), counts[0]), [self.shape[i] for i in first])
        for column, each in zip(first, bins, strict=True):
            found[column] = each
        for clique, column in zip(self.cliques[1:], new_columns(self.cliques, len(self.shape)) or (), strict=True):
            table = self.tables[self.cliques.index(clique)]
            shared = [i for i in clique if i != column]
            weights = _weights(np.moveaxis(table, clique.index(column), -1)).reshape(-1, self.shape[column])
            sizes = [self.shape[i] for i in shared]
            group = (
                np.ravel_multi_index([found[i] for i in shared], sizes) if shared else np.zeros(number, dtype=np.int64)
            )
            counts = _dealt(weights, np.bincount(group, minlength=weights.shape[0]), dice)
            order = np.lexsort((dice.words(number), group))
            values = np.tile(np.arange(self.shape[column]), weights.shape[0])
            found[column, order] = np.repeat(values, counts.ravel())
        return found[:, np.lexsort(found[::-1])] if number else found


def workload(shape: Shape, cliques: Sequence[Columns]) -> Tables:
    """The cliques, and all tables below them: the small ones count too, or sums of many cells would drift away."""
    below = sorted({small for each in cliques for small in subsets(each)} - set(cliques))
    every = (*cliques, *below)
    return Tables(shape, every, (1,) * len(every))


def _weights(table: Floats) -> NDArray[np.int64]:
    """Whole multiples of a power of two: scaling and rounding are exact operations."""
    total = math.fsum(table.ravel().tolist())
    scale = 2.0 ** (_BITS - 1 - max(math.frexp(total)[1], 0)) if total > 0 else 1.0
    return np.rint(table * scale).astype(np.int64)


def _dealt(weights: NDArray[np.int64], rows: NDArray[np.int64], dice: PublicDice) -> NDArray[np.int64]:
    """For each line of weights, how many of its rows each cell gets; cells of weights that are all 0 are alike."""
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1)
    total = weights.sum(axis=1)
    draws = (dice.words(total.size) >> np.uint64(64 - _FINE)).astype(np.int64)
    start = (draws * total) >> _FINE  # u, below the total
    ends = np.cumsum(weights, axis=1) * rows[:, None]
    before = -((start[:, None] - ends) // total[:, None])  # rows that stand before the end of each cell
    before = np.clip(before, 0, rows[:, None])
    before[:, -1] = rows
    found: NDArray[np.int64] = np.diff(before, axis=1, prepend=0)
    return found


def count_table(rows: Rows, columns: Columns, shape: Shape) -> NDArray[np.int64]:
    """The table of some columns of these people."""
    sizes = [shape[i] for i in columns]
    if not columns:
        return np.array(rows.shape[1], dtype=np.int64)
    codes = np.ravel_multi_index([rows[i] for i in columns], sizes)
    return np.bincount(codes, minlength=math.prod(sizes)).reshape(sizes)


def dependence(
    tables: Mapping[Columns, Floats], deviations: Mapping[Columns, float]
) -> Callable[[Columns, int], float]:
    """How far a measured table is from independence of one column, beyond what its noise explains: in people."""
    total = max(float(tables[()]), 1.0)

    def strength(shared: Columns, column: int) -> float:
        every = tuple(sorted((*shared, column)))
        table = np.moveaxis(tables[every], every.index(column), -1)
        even = tables[shared][..., None] * tables[(column,)] / total
        noise = math.sqrt(2 / math.pi) * deviations[every] * table.size
        return float(np.abs(table - even).sum()) - noise

    return strength
