"""What tables over the same people have in common: sums over their common columns, as equations between cells.

Two tables agree on every margin that both have. Each such margin is an equation: the cells of one table there add up to
the same number as those of the other. For two tables these equations say everything that the tables say together; for
three and more that go round in a ring, a table over all columns, of which nothing is published, stands in for the
people themselves, if it is small enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.published_file import Cell, Key, Published
from hubbub.errors import WrongUse

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

    def entries(self, row: int) -> tuple[Ints, Floats]:
        """The cells of an equation, and their signs."""
        start = int(self.ends[row - 1]) if row else 0
        return self.cells[start : self.ends[row]], self.signs[start : self.ends[row]]

    def place(self, cell: int) -> tuple[int, Key]:
        """The table of a cell, and its key there."""
        table = int(np.searchsorted(self.starts, cell, side="right")) - 1
        return table, self.keys[table][cell - int(self.starts[table])]


def link(published: Sequence[Published]) -> Links:
    """Every equation that is not implied by others.

    Guarantee: every set of people that the tables could have been made of satisfies every equation.
    """
    _check_values(published)
    tables = [*published]
    if (everybody := _everybody(tables)) is not None:
        tables.append(everybody)
    keys = tuple(tuple(table.cells) for table in tables)
    sizes = [len(each) for each in keys]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    every = [cell for table in tables for cell in table.cells.values()]
    low = np.array([cell.low for cell in every], dtype=np.float64)
    high = np.array([np.inf if cell.high is None else cell.high for cell in every])
    hidden = np.array([cell.hidden for cell in every], dtype=bool)
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
        both = dict.fromkeys(margins[a]).keys() & set(margins[b])  # a value that one file never names says nothing
        numbers: dict[Key, int] = {}
        for table, sign in ((a, 1.0), (b, -1.0)):
            for i, group in enumerate(margins[table]):
                if group not in both:
                    continue
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


def _everybody(tables: Sequence[Published]) -> Published | None:
    """A table over all columns, where three or more tables, none within another, could go round in a ring."""
    columns = list(dict.fromkeys(name for table in tables for name in table.columns))
    sets = [set(table.columns) for table in tables]
    largest = [one for i, one in enumerate(sets) if not any(one < other for other in sets) and one not in sets[:i]]
    if len(largest) < 3 or len(columns) == max(map(len, sets)):
        return None
    values = [sorted(set().union(*(t.values(name) for t in tables if name in t.columns))) for name in columns]
    size = 1
    for one in values:
        size *= len(one)
    if size > _MOST_JOINT:
        return None
    unknown = Cell(0, None, False)
    return Published(EVERYBODY, tuple(columns), dict.fromkeys(product(*values), unknown))


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
