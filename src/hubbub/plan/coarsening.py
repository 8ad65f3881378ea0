"""Which function makes records coarse enough: of some lists of columns, how many rows of a public table would be kept.

The function of a release of records may not be chosen by looking at its people. A public table is not them: last year's
census, another town, invented rows.

A search for public functions that make wide records coarse enough, on a public table.

Every column has a ladder, from what was given up to leaving it out: wider ranges, fewer first signs, longer periods,
higher levels of a hierarchy. The search begins with everything left out and climbs down where that tells most for the
rows that it costs, as long as enough rows are kept. A finer record is never shared by more people, so the search ends
where no single column can be finer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import log2
from typing import Annotated, Any, Final

import numpy as np

from hubbub import registry
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, integer, rational, to_text
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import UNITS, Axis, Discovered, axis
from hubbub.tables.engine import CountQuery, Engine
from hubbub.tables.generalization import Grouped, Prefix, Ranges, split_list
from hubbub.tables.schema import ColumnType, column


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarsening:
    """A list of columns with their functions, the different records that a crowd shares, and the share of rows kept."""

    columns: str
    records: int
    share: float
    enough: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarsenings:
    """The lists in the order in which they were given."""

    rows: tuple[Coarsening, ...]
    crowd: int
    keep: Fraction
    about: str

    @property
    def best(self) -> Coarsening | None:
        """Of those that keep enough, the one with most different records."""
        return max((row for row in self.rows if row.enough), key=lambda row: row.records, default=None)

    def as_json(self) -> dict[str, Any]:
        return {
            "crowd": self.crowd,
            "keep": to_text(self.keep),
            "best": None if self.best is None else self.best.columns,
            "lists": [
                {"columns": row.columns, "records": row.records, "kept": round(row.share, 6), "enough": row.enough}
                for row in self.rows
            ],
            "words": " ".join(self.sentences()),
        }

    def sentences(self) -> tuple[str, ...]:
        percent = f"{float(100 * self.keep):g} %"
        if self.best is None:
            return (f"None keeps {percent} of the rows; make some column coarser, or drop one.", self.about)
        return (
            f"Of those that keep {percent} of the rows, {self.best.columns} tells most: {self.best.records:,} "
            f"different records, {100 * self.best.share:.1f} % of the rows.",
            self.about,
        )


def _records(columns: str, crowd: int) -> Any:
    return registry.kind("records").from_options(columns=columns, crowd=crowd)


def coarsenings(
    columns: Annotated[Sequence[str], option_help("LIST", "Columns with their functions; repeat it to compare.")] = (),
    *,
    public: Annotated[
        object, option_help("FILE", "A public table, such as last year's; never the one to be released.")
    ] = None,
    crowd: Annotated[Exact, option_help("K", "Records that at least K people share are kept.")],
    people: Annotated[
        Exact | None, option_help("N", "How many people your table has, about; else as the public one.")
    ] = None,
    sample: Annotated[Exact | None, option_help("P", "A secret sample: each person with probability P.")] = None,
    keep: Annotated[Exact, option_help("SHARE", "The share of rows to be kept.")] = "0.9",
    search: Annotated[
        bool, option_help(None, "Search for coarser functions of one list of columns that keep enough rows.")
    ] = False,
) -> Coarsenings:
    """Which public functions keep most records: a public table, counted with each.

    The function of a release may not be chosen by looking at its people, so `public` names another table. With `search`,
    coarser functions of the columns are tried on it: wider ranges, fewer first signs, longer periods, higher levels,
    and leaving a column out. The answer shows what the list keeps as given, the finest that keeps enough, and those
    with one column finer.
    """
    if isinstance(columns, str) or not columns:
        raise WrongUse("name lists of columns to compare, each like `columns=age:10,zip/3`")
    if public is None:
        raise WrongUse("records are planned on a table that is public and not theirs; name one with `public`")
    k, enough = integer(crowd, "crowd", least=2), rational(keep, "`keep`")
    rate = Fraction(1) if sample is None else rational(sample, "`sample`")
    if not (0 < enough <= 1 and 0 < rate <= 1):
        raise WrongUse("`keep` and `sample` must lie between 0 and 1; choose them like 0.9 and 0.1")
    if search and len(columns) > 1:
        raise WrongUse("a search begins with one list of columns; name one with `columns`")
    from hubbub.engines.opening import open_source

    engine = open_source(public)

    def count_kept(given: str) -> Coarsening:
        axes = _records(given, k).with_schema(engine.columns()).cells.axes
        assert all(isinstance(axis, Discovered) for axis in axes)
        counts = engine.count(CountQuery(axes=axes), SystemSource()).counts.astype(float)
        total = max(float(counts.sum()), 1.0)
        scaled = counts * float(rate) * (1.0 if people is None else integer(people, "`people`", least=1) / total)
        kept = scaled >= k
        share = float(counts[kept].sum()) / total
        return Coarsening(columns=given, records=int(kept.sum()), share=share, enough=share >= enough)

    if search:
        engine = _in_memory(engine, columns[0], k)
        rows = [count_kept(each) for each in _search_lists(engine, columns[0], count_kept, float(enough))]
    else:
        rows = [count_kept(each) for each in columns]
    remark = "Counted in the public table; your people may be spread in another way."
    return Coarsenings(rows=tuple(rows), crowd=k, keep=enough, about=remark)


def _in_memory(engine: Engine, columns: str, k: int) -> Engine:
    """The columns of a public table, read once: a search counts them many times."""
    from hubbub.engines.opening import open_source

    axes = _records(columns, k).with_schema(engine.columns()).cells.axes
    names = [axis.column for axis in axes]
    return open_source(engine.rows(names, None, lambda rows: np.arange(rows, dtype=np.int64)))


def _search_lists(engine: Engine, columns: str, count_kept: Callable[[str], Coarsening], enough: float) -> list[str]:
    """The list as it was given, the finest that keeps enough, and those with one column finer."""
    from hubbub.engines.opening import inspect

    ways = {cells.column: cells.reads for cells in inspect(engine, [], None).columns}

    @cache
    def labels(spec: str) -> dict[str | None, int]:
        found = engine.count(
            CountQuery(axes=_records(spec, 2).with_schema(engine.columns()).cells.axes), SystemSource()
        )
        return dict(zip(found.found[0], found.counts.tolist(), strict=True))

    @cache
    def share(parts: tuple[str, ...]) -> float:
        return count_kept(",".join(parts)).share

    given = split_list(columns)
    named = [axis(spec).column for spec in given]
    ladders = [
        ladder(spec, column(engine.columns(), name), ways[name], labels)
        for spec, name in zip(given, named, strict=True)
    ]
    best, beyond = search_ladders(ladders, share, enough)
    lists = [tuple(given), *([best] if best else []), *(each for each in beyond if each)]
    return list(dict.fromkeys(",".join(each) for each in lists))


_MOST_RANGES: Final = 100  # of a column of numbers, on the first step of its ladder
_SERIES: Final = (2, 5, 10)
_CODE: Final = re.compile(r"[0-9A-Za-z.-]{3,12}", re.ASCII)
_FEW: Final = 20  # values of a code: so many are left as they are

Labels = Callable[[str], dict[str | None, int]]
"""The values of a column of the public table, made coarser by a function, with how many rows have each."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The functions of one column, the finest first; None, the last, leaves the column out. `bits` is what each tells."""

    steps: tuple[str | None, ...]
    bits: tuple[float, ...]


def ladder(spec: str, column_type: ColumnType, reads: str | None, labels: Labels) -> Ladder:
    """The ladder of a column as it was given."""
    given = axis(spec)
    steps = [spec, *_coarser(spec, given, column_type, reads, labels)]
    return Ladder((*steps, None), (*(_entropy(labels(step)) for step in steps), 0.0))


def _coarser(spec: str, given: Axis, column_type: ColumnType, reads: str | None, labels: Labels) -> list[str]:
    name = _quote_column(given.column)
    match given:
        case Discovered(coarser=Ranges(width)):
            return [f"{name}:{width * times}" for times in (2, 5, 10)]
        case Discovered(coarser=Prefix(length)):
            return [f"{name}/{shorter}" for shorter in range(length - 1, 0, -1)]
        case Discovered(coarser=Grouped()):
            path, _, level = spec.rpartition("/")
            return _levels(path, int(level))
        case Discovered(unit=str(unit)):
            return [f"{name}:{longer}" for longer in UNITS[UNITS.index(unit) + 1 :]]
    if column_type is ColumnType.DATE or reads == "dates":
        return [f"{name}:{unit}" for unit in UNITS[1:]]
    values = [value for value in labels(spec) if value is not None]
    if column_type in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT) or reads == "numbers":
        return [f"{name}:{width}" for width in _widths(values)]
    lengths = {len(value) for value in values}
    if len(values) > _FEW and len(lengths) == 1 and all(map(_CODE.fullmatch, values)):
        return [f"{name}/{shorter}" for shorter in range(lengths.pop() - 1, 0, -1)]
    return []


def _levels(path: str, level: int) -> list[str]:
    from hubbub.tables.generalization import Hierarchy

    column, _, file = path.partition("@")
    return [f"{path}/{higher}" for higher in range(level + 1, Hierarchy.read(file, column).levels + 1)]


def _widths(values: Sequence[str]) -> list[int]:
    """2, 5, 10, 20, 50, ...: from the first that makes few ranges up to one that holds all of them."""
    numbers = []
    for value in values:
        try:
            numbers.append(float(value))
        except ValueError:
            continue
    span = max(numbers, default=0.0) - min(numbers, default=0.0)
    found: list[int] = []
    scale = 1
    while span >= 2 and (not found or found[-1] <= span):
        found += [scale * each for each in _SERIES if span / (scale * each) <= _MOST_RANGES]
        scale *= 10
    return [width for width in found if width <= span]


def _quote_column(column: str) -> str:
    return '"' + column.replace('"', '""') + '"' if set(column) & set('=:@/,"') else column


def _entropy(labels: dict[str | None, int]) -> float:
    rows = sum(labels.values())
    return -sum(n / rows * log2(n / rows) for n in labels.values()) if rows else 0.0


def search_ladders(
    ladders: Sequence[Ladder], share: Callable[[tuple[str, ...]], float], enough: float
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The finest list of functions that the search found to keep enough rows, and those one step finer, which do not.

    `share` says how many of the rows a list keeps; nothing at all keeps every one.
    """
    at = [len(each.steps) - 1 for each in ladders]
    kept, done = 1.0, False
    while not done:
        best: tuple[float, int, float] | None = None
        for i, each in enumerate(ladders):
            if at[i] == 0:
                continue
            finer = share(_at(ladders, [*at[:i], at[i] - 1, *at[i + 1 :]]))
            worth = (each.bits[at[i] - 1] - each.bits[at[i]] + 1e-9) / (max(kept - finer, 0.0) + 1e-3)
            if finer >= enough and (best is None or worth > best[0]):
                best = worth, i, finer
        done = best is None
        if best is not None:
            _, which, kept = best
            at[which] -= 1
    beyond = [_at(ladders, [*at[:i], at[i] - 1, *at[i + 1 :]]) for i in range(len(at)) if at[i]]
    return _at(ladders, at), beyond


def _at(ladders: Sequence[Ladder], at: Sequence[int]) -> tuple[str, ...]:
    return tuple(step for each, i in zip(ladders, at, strict=True) if (step := each.steps[i]) is not None)
