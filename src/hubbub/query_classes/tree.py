"""Intervals from a tree of runs: every run of b, b^2, ... bins has a noise of its own, and an interval needs few runs.

With L levels a person is in L runs, which share what may be lost. An interval takes at most 2 (b - 1) runs of each
level but the top one. A tree of two branches is the classical one; wider ones have fewer levels and less noise, and a
tree of one level is the plain histogram. Which branching is best follows from public numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.query_classes.classes import Boxes, Halfspace, Query
from hubbub.query_classes.setting import Cells, Drawn, Setting, too_many_cells, too_wide
from hubbub.query_classes.tails import farthest
from hubbub.sampling.sanitize import Blank

BRANCHINGS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)


@lru_cache(maxsize=256)
def levels(bins: int, branching: int) -> tuple[int, ...]:
    """How many runs each level has: single bins first, at most `branching` last."""
    found = [bins]
    while found[-1] > branching:
        found.append(-(-found[-1] // branching))
    return tuple(found)


def runs(start: int, stop: int, bins: int, branching: int) -> Iterator[tuple[int, int, int]]:
    """The runs that make up an interval: a level, and from which run to which."""
    sizes = levels(bins, branching)
    for level, size in enumerate(sizes):
        if start >= stop:
            return
        last = level == len(sizes) - 1
        up, down = -(-start // branching), sizes[-1] if last else stop // branching
        if not last and stop == size:  # the last run of a level may be short, and ends where all ends
            down = sizes[level + 1]
        if last or up >= down:
            yield level, start, stop
            return
        if start < up * branching:
            yield level, start, up * branching
        if stop > down * branching:
            yield level, down * branching, stop
        start, stop = up, down


def most_runs(bins: int, branching: int) -> int:
    """How many runs an interval takes at most."""
    b, deep = branching, len(levels(bins, branching))
    return bins if deep == 1 else max(b, deep * (b - 1), b - 2 + 2 * (deep - 1) * (b - 1))


@dataclass(frozen=True)
class Tree:
    """Two-sided geometric noise of rate loss/levels on every run; level by level, single bins first."""

    branching: int
    name: ClassVar[str] = "tree"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def rate(self, setting: Setting) -> Fraction:
        """Of the noise of each run."""
        return setting.half_way / len(levels(setting.shape[0], self.branching))

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, Boxes) or len(setting.shape) != 1:
            return "it is for intervals of one column"
        return too_many_cells(setting) or too_wide(self.rate(setting))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: a person is in one run of each level, so the losses of these noises add up to this (DMNS 2006).
        One replaced by another leaves a run of each level and enters another, which costs at most twice this."""
        return self.rate(setting) * len(levels(setting.shape[0], self.branching))

    def bound(self, setting: Setting) -> Fraction:
        """Guarantee: Chernoff for as many noises as an interval takes (:func:`hubbub.query_classes.tails.farthest`)."""
        return self._bound(setting, most_runs(setting.shape[0], self.branching))

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self._bound(setting, sum(stop - start for _, start, stop in self._runs(setting, query)))

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: the same tail for this interval alone."""
        terms = sum(stop - start for _, start, stop in self._runs(setting, query))
        return Fraction(farthest(terms, self.rate(setting), Fraction(0), setting.doubt))

    def _bound(self, setting: Setting, terms: int) -> Fraction:
        return Fraction(farthest(terms, self.rate(setting), setting.queries.log_number, setting.doubt))

    def _runs(self, setting: Setting, query: Query) -> list[tuple[int, int, int]]:
        assert not isinstance(query, Halfspace)
        return list(runs(*query[0], setting.shape[0], self.branching))

    def seconds(self, setting: Setting) -> float:
        return 0.1 + 2e-7 * setting.cells

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise, so what :meth:`spends` says is lost and no more."""
        truth = self.exact(setting, cells)
        return Drawn(truth + two_sided_geometric(self.rate(setting), truth.size, source))

    def exact(self, setting: Setting, cells: Cells) -> NDArray[np.int64]:
        """The numbers that get noise."""
        found = [cells.table().ravel()]
        for _ in levels(setting.shape[0], self.branching)[1:]:
            below = found[-1]
            found.append(np.add.reduceat(below, np.arange(0, below.size, self.branching)))
        return np.concatenate(found)

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        sizes = levels(setting.shape[0], self.branching)
        total = 0
        for level, start, stop in self._runs(setting, query):
            first = sum(sizes[:level])
            total += int(drawn.numbers[first + start : first + stop].sum())
        return Fraction(total)


def best(setting: Setting) -> Tree:
    """The branching with the smallest bound, the smaller one of equals."""
    binary = Tree(2)
    if binary.why_not(setting) and not isinstance(setting.queries, Boxes):
        return binary
    found = [tree for tree in map(Tree, BRANCHINGS) if not tree.why_not(setting)]
    return min(found, key=lambda tree: tree.bound(setting), default=binary)
