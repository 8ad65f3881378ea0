"""Noise on the answer to each query. One person is in at most `depth` of them, which share what may be lost.

For marginals that is one cell of each table, and not every query: the noise grows with the number of tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.query_classes.classes import ColumnCells, Halfspace, Halfspaces, Query
from hubbub.query_classes.marginals.geometric import geometric_variance
from hubbub.query_classes.setting import Cells, Drawn, Setting, too_many_cells, too_wide, unlisted
from hubbub.query_classes.tails import farthest
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank


@dataclass(frozen=True)
class PerQuery:
    """Two-sided geometric noise of rate loss/depth on every answer."""

    name: ClassVar[str] = "per-query"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def rate(self, setting: Setting) -> Fraction:
        """Of the noise of each answer."""
        assert not isinstance(setting.queries, Halfspaces)
        return setting.half_way / setting.queries.depth

    def why_not(self, setting: Setting) -> str:
        listing = unlisted(setting)
        if not listing and not isinstance(setting.queries, ColumnCells):
            listing = too_many_cells(setting)
        return listing or too_wide(self.rate(setting))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: a person is in at most `depth` queries and moves each by one, so the losses of their noises add up
        to this (Dwork, McSherry, Nissim, Smith 2006). One replaced by another leaves some and enters as many others,
        which costs at most twice this."""
        assert not isinstance(setting.queries, Halfspaces)
        return self.rate(setting) * setting.queries.depth

    def bound(self, setting: Setting) -> Fraction:
        """Guarantee: the exact tail of one noise for each query (:func:`hubbub.query_classes.tails.farthest`)."""
        return Fraction(farthest(1, self.rate(setting), setting.queries.log_number, setting.doubt))

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self.bound(setting)

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
        assert not isinstance(setting.queries, Halfspaces)
        return 0.1 + 3e-8 * setting.queries.number

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise, so what :meth:`spends` says is lost and no more."""
        truth = self.exact(setting, cells)
        return Drawn(truth + two_sided_geometric(self.rate(setting), truth.size, source))

    def exact(self, setting: Setting, cells: Cells) -> NDArray[np.int64]:
        """The numbers that get noise."""
        return cells.answers(setting.queries)

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        assert not isinstance(setting.queries, Halfspaces) and not isinstance(query, Halfspace)
        return Fraction(int(drawn.numbers[setting.queries.index_of(query)]))
