"""Noise on every cell of the domain; a query is the sum of its cells, or all people without the sum of the others.

Noise on the answer to each query. One person is in at most `depth` of them, which share what may be lost.

For marginals that is one cell of each table, and not every query: the noise grows with the number of tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.query_classes.classes import ColumnCells, Query, box_of, cells_of, sum_cells, width
from hubbub.query_classes.marginals.geometric import geometric_variance
from hubbub.query_classes.setting import Cells, Drawn, Setting, too_many_cells, too_wide, why_unlisted
from hubbub.query_classes.tails import farthest
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank


@dataclass(frozen=True)
class Flat:
    """Two-sided geometric noise on every cell, those in no cell last where the number of people is public."""

    name: ClassVar[str] = "histogram"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def rate(self, setting: Setting) -> Fraction:
        """Of the noise of each cell."""
        return setting.half_way

    def why_not(self, setting: Setting) -> str:
        return too_many_cells(setting) or too_wide(setting.half_way)

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: a person is in one cell, and nobody in none: one noise of this rate hides that (DMNS 2006). One
        replaced by another leaves one cell and enters another, which costs twice this."""
        return setting.half_way

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: Chernoff for the widest sum that is ever taken (:func:`hubbub.query_classes.tails.farthest`)."""
        widest = setting.queries.widest
        if setting.rows is not None:
            widest = min(widest, setting.cells // 2)
        return self._error_bound(setting, widest)

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        terms = width(query, setting.shape)
        return self._error_bound(setting, terms if setting.rows is None else min(terms, setting.cells - terms))

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: the same tail for this sum alone."""
        terms = width(query, setting.shape)
        return self._error_bound(
            setting, terms if setting.rows is None else min(terms, setting.cells - terms), Fraction(0)
        )

    def _error_bound(self, setting: Setting, terms: int, log_sums: Fraction | None = None) -> Fraction:
        if not terms:  # everybody, and their number is public
            return Fraction(0)
        several = setting.queries.log_number if log_sums is None else log_sums
        return Fraction(farthest(terms, setting.half_way, several, setting.doubt))

    def table_variances(self, setting: Setting) -> Mapping[tuple[int, ...], float]:
        """Of a cell of each table: of the noises that are added up for it."""
        if not isinstance(setting.queries, ColumnCells):
            return {}
        one, found = geometric_variance(setting.half_way), {}
        for each in setting.queries.sets:
            terms = prod(size for i, size in enumerate(setting.shape) if i not in each)
            found[each] = one * (terms if setting.rows is None else min(terms, setting.cells - terms))
        return found

    def interval_mean_square(self, setting: Setting) -> float | None:
        """An interval of n bins has (n + 2)/3 of them on average."""
        return geometric_variance(setting.half_way) * (setting.shape[0] + 2) / 3

    def seconds(self, setting: Setting) -> float:
        return 0.1 + 1e-7 * setting.cells

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise, so what :meth:`spends` says is lost and no more."""
        truth = self.exact(setting, cells)
        return Drawn(truth + two_sided_geometric(self.rate(setting), truth.size, source))

    def exact(self, setting: Setting, cells: Cells) -> NDArray[np.int64]:
        """The numbers that get noise."""
        truth = cells.table().ravel()
        if setting.rows is not None and setting.outside:
            truth = np.append(truth, np.int64(cells.outside))
        return truth

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        inside = drawn.numbers[: cells_of(setting.shape)].reshape(setting.shape)
        found = int(sum_cells(query, inside))
        terms = width(query, setting.shape)
        if setting.rows is None or terms <= setting.cells - terms:
            return Fraction(found)
        return Fraction(setting.rows - (int(drawn.numbers.sum()) - found))


@dataclass(frozen=True)
class PerQuery:
    """Two-sided geometric noise of rate loss/depth on every answer."""

    name: ClassVar[str] = "per-query"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def rate(self, setting: Setting) -> Fraction:
        """Of the noise of each answer."""
        return setting.half_way / setting.listed_queries.depth

    def why_not(self, setting: Setting) -> str:
        listing = why_unlisted(setting)
        if not listing and not isinstance(setting.queries, ColumnCells):
            listing = too_many_cells(setting)
        return listing or too_wide(self.rate(setting))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: a person is in at most `depth` queries and moves each by one, so the losses of their noises add up
        to this (Dwork, McSherry, Nissim, Smith 2006). One replaced by another leaves some and enters as many others,
        which costs at most twice this."""
        return self.rate(setting) * setting.listed_queries.depth

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: the exact tail of one noise for each query (:func:`hubbub.query_classes.tails.farthest`)."""
        return Fraction(farthest(1, self.rate(setting), setting.queries.log_number, setting.doubt))

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self.error_bound(setting)

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: the exact tail of one noise."""
        return Fraction(farthest(1, self.rate(setting), Fraction(0), setting.doubt))

    def table_variances(self, setting: Setting) -> Mapping[tuple[int, ...], float]:
        """Of a cell of each table: that of its one noise."""
        if not isinstance(setting.queries, ColumnCells):
            return {}
        return dict.fromkeys(setting.queries.sets, geometric_variance(self.rate(setting)))

    def interval_mean_square(self, setting: Setting) -> float | None:
        """That of one noise."""
        return geometric_variance(self.rate(setting))

    def seconds(self, setting: Setting) -> float:
        return 0.1 + 3e-8 * setting.listed_queries.number

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise, so what :meth:`spends` says is lost and no more."""
        truth = self.exact(setting, cells)
        return Drawn(truth + two_sided_geometric(self.rate(setting), truth.size, source))

    def exact(self, setting: Setting, cells: Cells) -> NDArray[np.int64]:
        """The numbers that get noise."""
        return cells.answers(setting.queries)

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        return Fraction(int(drawn.numbers[setting.listed_queries.index_of(box_of(query))]))
