"""What tables over the same people have in common: sums over their common columns, as equations between cells.

Two tables agree on every margin that both have. Each such margin is an equation: the cells of one table there add up to
the same number as those of the other. For two tables these equations say everything that the tables say together; for
three and more that go round in a ring, a table over all columns, of which nothing is published, stands in for the
people themselves, if it is small enough. (Tables that form no ring and agree in pairs are margins of one table, in
whole numbers too: Vorob'ev 1962.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.published.file import Cell, Key, Published
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_JOINT: Final = 200_000  # cells of a table over all columns
EVERYBODY: Final = "(everybody)"


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Cells of all tables with their ranges, and the equations: sum of sign * cell = 0 over the entries of a row."""

    tables: tuple[Published, ...]
    starts: Ints  # table -> its first cell
    keys: tuple[tuple[Key, ...], ...]  # table -> its keys, in order
    low: Floats
    high: Floats
    hidden: NDArray[np.bool_]
    rows: Ints  # of each entry: its equation
    cells: Ints  # its cell
    signs: Floats  # 1 or -1
    groups: tuple[tuple[int, int, tuple[tuple[str, str], ...]], ...]  # equation -> both tables and the common margin
    ends: Ints  # equation -> where its entries end; entries are sorted by equation
    left_out: int = 0  # cells of a table over all columns that would be needed, and is too large

    def entries(self, row: int) -> tuple[Ints, Floats]:
        """The cells of an equation, and their signs."""
        start = int(self.ends[row - 1]) if row else 0
        return self.cells[start : self.ends[row]], self.signs[start : self.ends[row]]

    def table_and_key(self, cell: int) -> tuple[int, Key]:
        """The table of a cell, and its key there."""
        table = int(np.searchsorted(self.starts, cell, side="right")) - 1
        return table, self.keys[table][cell - int(self.starts[table])]


def link(published: Sequence[Published]) -> Links:
    """Every equation that is not implied by others.

    Guarantee: every set of people that the tables could have been made of satisfies every equation.
    """
    _check_values(published)
    columns = dict.fromkeys(name for table in published for name in table.columns)
    values = {name: set().union(*(t.values(name) for t in published if name in t.columns)) for name in columns}
    tables = [table.over(values) for table in published]  # a value that one file does not name is hidden there
    joint = prod(map(len, values.values())) if _goes_round([set(table.columns) for table in tables]) else 0
    if 0 < joint <= _MOST_JOINT:
        every = product(*(sorted(values[name]) for name in columns))
        tables.append(Published(EVERYBODY, tuple(columns), dict.fromkeys(every, Cell(0, None, False))))
    keys = tuple(tuple(table.cells) for table in tables)
    sizes = [len(each) for each in keys]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    cells_of = [cell for table in tables for cell in table.cells.values()]
    low = np.array([cell.low for cell in cells_of], dtype=np.float64)
    high = np.array([np.inf if cell.high is None else cell.high for cell in cells_of])
    hidden = np.array([cell.hidden for cell in cells_of], dtype=bool)
    rows: list[int] = []
    cells: list[int] = []
    signs: list[float] = []
    groups: list[tuple[int, int, tuple[tuple[str, str], ...]]] = []
    for a, b in _spanning(tables):
        common = tuple(name for name in tables[a].columns if name in tables[b].columns)
        margins = {
            table: [tuple(key[j] for j in map(tables[table].columns.index, common)) for key in keys[table]]
            for table in (a, b)
        }
        numbers: dict[Key, int] = {}
        for table, sign in ((a, 1.0), (b, -1.0)):
            for i, group in enumerate(margins[table]):
                if group not in numbers:
                    numbers[group] = len(groups)
                    groups.append((a, b, tuple(zip(common, group, strict=True))))
                rows.append(numbers[group])
                cells.append(int(starts[table]) + i)
                signs.append(sign)
    own = np.array(rows, dtype=np.int64)
    order = np.argsort(own, kind="stable")
    return Links(
        tables=tuple(tables),
        starts=starts,
        keys=keys,
        low=low,
        high=high,
        hidden=hidden,
        rows=own[order],
        cells=np.array(cells, dtype=np.int64)[order],
        signs=np.array(signs)[order],
        groups=tuple(groups),
        ends=np.cumsum(np.bincount(own, minlength=len(groups))),
        left_out=joint if joint > _MOST_JOINT else 0,
    )


def _spanning(tables: Sequence[Published]) -> list[tuple[int, int]]:
    """Pairs whose equations imply all others: those with most common columns first, unless a chain says the same."""
    columns = [set(table.columns) for table in tables]
    pairs = sorted(
        combinations(
            range(len(tables)), 2
        ),  # of as many common columns the smaller tables first: they make fewer rings
        key=lambda pair: (-len(columns[pair[0]] & columns[pair[1]]), sum(len(tables[i].cells) for i in pair)),
    )
    kept: list[tuple[int, int]] = []
    for a, b in pairs:
        common = columns[a] & columns[b]
        reached, waiting = {a}, [a]
        while waiting:
            here = waiting.pop()
            for one, two in kept:
                if here in (one, two) and common <= columns[one] & columns[two]:
                    other = two if here == one else one
                    if other not in reached:
                        reached.add(other)
                        waiting.append(other)
        if b not in reached:
            kept.append((a, b))
    return kept


def _goes_round(sets: Sequence[set[str]]) -> bool:
    """Whether tables over these columns form a ring: what is left when columns of one table alone, and tables within
    another, are taken away again and again (Graham; Yu and Ozsoyoglu)."""
    left = [set(one) for one in sets]
    while True:
        single = {name for name in set().union(*left) if sum(name in one for one in left) == 1}
        kept = [one - single for one in left]
        kept = [one for i, one in enumerate(kept) if not any(one < other for other in kept) and one not in kept[:i]]
        if kept == left:
            return len(left) > 1
        left = kept


def _check_values(tables: Sequence[Published]) -> None:
    """Refuse a column that is cut differently in two tables: their margins would not be the same people."""
    for a, b in combinations(tables, 2):
        for name in set(a.columns) & set(b.columns):
            one, two = a.values(name), b.values(name)
            if one == two:
                continue
            unlisted = any(not cell.listed for table in (a, b) for cell in table.cells.values())
            if not unlisted or not one & two or "other" in {text.lower() for text in one | two}:
                raise WrongUse(
                    f"the column {name} has other values in {a.name} than in {b.name}; audit tables that are cut alike"
                )
