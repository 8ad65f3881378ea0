"""What tables over the same people have in common: sums over their common columns, as equations between cells.

Two tables agree on every margin that both have. Each such margin is an equation: the cells of one table there add up to
the same number as those of the other. For two tables these equations say everything that the tables say together; for
three and more that go round in a ring, a table over all columns, of which nothing is published, stands in for the
people themselves, if it is small enough. (Tables that form no ring and agree in pairs are margins of one table, in
whole numbers too: Vorob'ev 1962.)

A published table of counts as anybody writes it: key columns, a column of counts, a mark or a blank where hidden.

Our own files are read like everybody's. A count is taken for exact unless an interval beside it says that it is not; a
text like ``<10``, ``1-4`` or ``100+`` is a range; a number below 0 has noise; every other text that is no number, and a
blank, is a hidden count.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import TextIOWrapper
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular

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


Key: TypeAlias = tuple[str, ...]

_NAMES: Final = ("count", "kept_rows", "n", "people", "number", "freq", "frequency", "obs_value", "value", "total")
_BESIDE: Final = ("low", "high", "estimate", "status")  # ours, beside a count
_INTEGER: Final = re.compile(r"[+]?(\d{1,3}([, \u00a0\u202f']\d{3})+|\d+)(\.0+)?")
_BELOW: Final = re.compile(r"(<|<=|≤|under|fewer than|less than|up to)\s*(\d+)", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(\d+)\s*(-|–|\.\.|to)\s*(\d+)")
_ABOVE: Final = re.compile(r"(>|>=|≥|over|more than|at least)\s*(\d+)|(\d+)\s*(\+|or more)", re.IGNORECASE)
_BELOW_0: Final = re.compile(r"[-−]\d+(\.0+)?")
_SOME_NUMBER: Final = re.compile(r"[-+−]?[.,]?\d.*")
_MOST_CELLS: Final = 2_000_000
_MOST_PEOPLE: Final = 10**12  # sums of that many are exact


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table says of one bin: the count lies between `low` and `high` (None: no end)."""

    low: int
    high: int | None
    hidden: bool
    listed: bool = True

    @property
    def exact(self) -> bool:
        return self.low == self.high and not self.hidden


@dataclass(frozen=True, slots=True)
class Published:
    """One table of counts: columns, and a cell for every combination of their values that it can have."""

    name: str
    columns: tuple[str, ...]
    cells: Mapping[Key, Cell]
    noisy: int = 0  # rows whose count is not exact, and which therefore say nothing here
    absent: Cell = Cell(0, None, True, False)  # what is known of a combination that the file does not list

    def values(self, column: str) -> set[str]:
        """The values that occur."""
        at = self.columns.index(column)
        return {key[at] for key in self.cells}

    def over(self, values: Mapping[str, set[str]]) -> Published:
        """With a cell for every combination of these values too: what the file does not list, it hides."""
        if all(values[name] <= self.values(name) for name in self.columns):
            return self
        every = [sorted(values[name] | self.values(name)) for name in self.columns]
        return replace(self, cells=_without_total(self.name, every, self.cells, self.absent))


def read(
    path: str | Path, k: int, *, count: str | None = None, hidden: str = "below", total: str | None = None
) -> tuple[Published, ...]:
    """The tables of one file: one, or one for each set of columns where rows of totals stand among the others.

    A hidden count is below `k`, or any number with ``hidden="any"`` (for publishers who hide more than small counts).
    Combinations of values that a file does not list are hidden too.
    """
    source_file = Path(path)
    try:
        with TextIOWrapper(open_regular(source_file), newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise WrongUse(
            f"{source_file.name} cannot be read as a CSV file in UTF-8; check the path and how it is written"
        ) from error
    if not rows or len(rows) < 2:
        raise WrongUse(f"{source_file.name} has no rows; a published table has a heading and a row for each cell")
    heading, body = rows[0], [row for row in rows[1:] if row]
    if any(len(row) != len(heading) for row in body):
        raise WrongUse(f"{source_file.name} has rows with more or fewer cells than its heading; mend it and try again")
    at = _count_column(source_file.name, heading, body, count)
    beside = {heading[i]: i for i in range(len(heading)) if heading[i] in _BESIDE} if heading[at] in _NAMES[:2] else {}
    keys = [i for i in range(len(heading)) if i != at and i not in beside.values()]
    columns = tuple(heading[i] for i in keys)
    if not columns or len(set(columns)) < len(columns):
        raise WrongUse(
            f"{source_file.name} needs key columns with different names beside its counts; check its heading"
        )
    most = None if hidden == "any" else k - 1
    tables: dict[tuple[str, ...], dict[Key, Cell]] = {}
    noisy: dict[tuple[str, ...], int] = {}
    for row in body:
        own = tuple(name for name, i in zip(columns, keys, strict=True) if total is None or row[i] != total)
        key = tuple(row[i] for i in keys if total is None or row[i] != total)
        cell = _cell(source_file.name, row[at], most)
        if cell is None or (cell.exact and not _is_sure(row, beside, cell.low)):
            cell = Cell(0, None, False)
            noisy[own] = noisy.get(own, 0) + 1
        cells = tables.setdefault(own, {})
        if key in cells:
            raise WrongUse(f"{source_file.name} has two rows with the same key; each cell is published once")
        cells[key] = cell
    many, absent = len(tables) > 1, Cell(0, most, True, False)
    found = []
    for own, cells in tables.items():
        name = f"{source_file.name} ({', '.join(own) or 'total'})" if many else source_file.name
        values = [sorted({key[i] for key in cells}) for i in range(len(own))]
        found.append(
            Published(name, own, _without_total(source_file.name, values, cells, absent), noisy.get(own, 0), absent)
        )
    return tuple(found)


def _count_column(name: str, heading: Sequence[str], body: Sequence[Sequence[str]], requested: str | None) -> int:
    if requested is not None:
        if requested not in heading:
            raise WrongUse(f"{name} has no column {requested[:40]!r} to read counts from; give `count` one that it has")
        return heading.index(requested)
    lower = [text.strip().lower() for text in heading]
    for usual in _NAMES:
        if usual in lower:
            return lower.index(usual)
    numbers = [
        i for i in range(len(heading)) if sum(bool(_INTEGER.fullmatch(row[i].strip())) for row in body) * 2 >= len(body)
    ]
    if not numbers:
        raise WrongUse(f"no column of {name} looks like counts; say which one with `count`")
    return numbers[-1]


def _cell(name: str, text: str, most: int | None) -> Cell | None:
    """What a count as it is written says; None if it is noise."""
    stripped = text.strip()
    if max((len(digits) for digits in re.findall(r"\d+", stripped)), default=0) > len(str(_MOST_PEOPLE)):
        raise WrongUse(
            f"{name} has a count of more than {_MOST_PEOPLE:,} people; say which column has counts with `count`"
        )
    if _INTEGER.fullmatch(stripped):
        value = int(re.sub(r"\D", "", stripped.partition(".")[0]))
        return Cell(value, value, False)
    if _BELOW_0.fullmatch(stripped):
        return None
    if below := _BELOW.fullmatch(stripped):
        top = int(below[2]) - (below[1].lower() in ("<", "under", "fewer than", "less than"))
        return Cell(0, max(top, 0), True)
    if between := _BETWEEN.fullmatch(stripped):
        return Cell(int(between[1]), int(between[3]), True)
    if above := _ABOVE.fullmatch(stripped):
        return Cell(int(above[2] or above[3]) + ((above[1] or "").lower() in (">", "over", "more than")), None, True)
    if _SOME_NUMBER.fullmatch(stripped):
        raise WrongUse(
            f"{name} has the count {stripped[:20]!r}, and counts are whole numbers like 1234 or 1,234; write it so, or a "
            "mark that is no number if it is hidden"
        )
    return Cell(0, most, True)


def _is_sure(row: Sequence[str], beside: Mapping[str, int], value: int) -> bool:
    """Whether no interval beside the count says that it is not exact."""
    ends = [row[beside[name]].strip() for name in ("low", "high") if name in beside]
    return all(not end or end == str(value) for end in ends)


def _without_total(
    name: str, values: Sequence[Sequence[str]], cells: Mapping[Key, Cell], absent: Cell
) -> Mapping[Key, Cell]:
    """With the combinations of these values that the file does not list, which are hidden."""
    size = 1
    for one in values:
        size *= len(one)
    if size > _MOST_CELLS:
        raise WrongUse(f"the values of {name} have {size:,} combinations, and at most {_MOST_CELLS:,} are looked at")
    if size == len(cells):
        return cells
    return {key: cells.get(key, absent) for key in product(*values)}
