"""What all methods share that answer the cells of tables: their noise is a :class:`TableNoise`, and all else follows from it.

Which rows of which matrix are drawn, how all tables are fitted to them and how far a cell is off is the noise's own
(:mod:`hubbub.query_classes.marginals.geometric`, :mod:`hubbub.query_classes.marginals.residual`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.source import Source
from hubbub.query_classes.classes import Box, ColumnCells, Halfspace, Query
from hubbub.query_classes.marginals.tables import Columns, FittedTables, TableNoise
from hubbub.query_classes.setting import Cells, Drawn, Setting
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank


@dataclass(frozen=True, slots=True, eq=False)
class TableAnswers:
    """The answers to all cells of one table: whole numbers over `scale`, and how far each is off at most: with all of
    the class at once, and by itself."""

    columns: Columns
    scaled: NDArray[Any]
    scale: int
    bound: Fraction
    own_bound: Fraction


class TableMethod:
    """A method whose published numbers tell the cells of all tables of a class.

    Guarantee: answers are those that :meth:`TableNoise.fit` makes of what :meth:`TableNoise.draw` drew, and each is within
    what :meth:`TableNoise.reach` says.
    """

    name: ClassVar[str]
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def noise(self, setting: Setting) -> TableNoise:
        """The rows that are drawn, and their noise."""
        raise NotImplementedError

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: for every cell of the class at once: each may miss its share of `doubt`."""
        return max(_joint_reaches(self, setting).values())

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return _joint_reaches(self, setting)[table_of(tables_in(setting), _box(query))]

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: the reach of this cell alone."""
        return self.noise(setting).reach(table_of(tables_in(setting), _box(query)), setting.doubt)

    def table_variances(self, setting: Setting) -> Mapping[Columns, float]:
        """Of a cell of each table."""
        return {each: float(self.noise(setting).variance(each)) for each in tables_in(setting).sets}

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with the noise of :meth:`noise`, which :meth:`spends` is about."""
        return Drawn(self.noise(setting).draw(cells.by, source))

    def fit(self, setting: Setting, drawn: Drawn) -> FittedTables:
        """All tables, from what was published."""
        return _fit(self, setting, drawn)

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        """The sum of the cells of a box, in the table of the columns of which it leaves bins out."""
        columns = tuple(sorted(narrowed_columns(setting, _box(query))))
        scaled, scale = self.fit(setting, drawn).scaled_table(columns)
        return Fraction(int(scaled[tuple(slice(*_box(query)[i]) for i in columns)].sum()), scale)

    def every_answer(self, setting: Setting, drawn: Drawn) -> Iterator[TableAnswers]:
        """What the published numbers say about every query, table by table, and how far each may be off."""
        for columns, at_once in _joint_reaches(self, setting).items():
            own = self.noise(setting).reach(columns, setting.doubt)
            yield TableAnswers(columns, *self.fit(setting, drawn).scaled_table(columns), at_once, own)


def tables_in(setting: Setting) -> ColumnCells:
    """The class of a setting, where it is one of tables."""
    assert isinstance(setting.queries, ColumnCells)
    return setting.queries


def table_of(queries: ColumnCells, query: Box) -> Columns:
    """The columns of the table that a query is a cell of."""
    return queries.sets[int(np.searchsorted(queries.starts, queries.index_of(query), side="right")) - 1]


def narrowed_columns(setting: Setting, query: Box) -> dict[int, int]:
    """How many bins a box has of each column of which it leaves some out."""
    pairs = zip(query, setting.shape, strict=True)
    return {i: stop - start for i, ((start, stop), size) in enumerate(pairs) if stop - start < size}


def _box(query: Query) -> Box:
    assert not isinstance(query, Halfspace)
    return query


@lru_cache(maxsize=4)
def _fit(method: TableMethod, setting: Setting, drawn: Drawn) -> FittedTables:
    return method.noise(setting).fit(drawn.numbers, setting.rows)


@lru_cache(maxsize=64)
def _joint_reaches(method: TableMethod, setting: Setting) -> dict[Columns, Fraction]:
    """How far a cell of each table is off, with all cells of the class at once."""
    queries, noise = tables_in(setting), method.noise(setting)
    return {each: noise.reach(each, setting.doubt / queries.number) for each in queries.sets}
