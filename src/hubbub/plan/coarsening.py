"""Which function makes records coarse enough: of some lists of columns, how many rows of a public table would be kept.

The function of a release of records may not be chosen by looking at its people. A public table is not them: last year's
census, another town, invented rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Annotated, Any

import numpy as np

from hubbub.errors import WrongUse
from hubbub.kinds.records.request import records
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, integer, rational, to_text
from hubbub.plan.recoding import ladder
from hubbub.plan.recoding import search as search_ladders
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Discovered, axis
from hubbub.tables.engine import CountQuery, Engine
from hubbub.tables.generalization import split
from hubbub.tables.schema import column


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

    def counted(given: str) -> Coarsening:
        axes = records(given, crowd=k).with_schema(engine.columns()).cells.axes
        assert all(isinstance(axis, Discovered) for axis in axes)
        counts = engine.count(CountQuery(axes=axes), SystemSource()).counts.astype(float)
        total = max(float(counts.sum()), 1.0)
        scaled = counts * float(rate) * (1.0 if people is None else integer(people, "`people`", least=1) / total)
        kept = scaled >= k
        share = float(counts[kept].sum()) / total
        return Coarsening(columns=given, records=int(kept.sum()), share=share, enough=share >= enough)

    if search:
        engine = _in_memory(engine, columns[0], k)
        rows = [counted(each) for each in _searched(engine, columns[0], counted, float(enough))]
    else:
        rows = [counted(each) for each in columns]
    remark = "Counted in the public table; your people may be spread in another way."
    return Coarsenings(rows=tuple(rows), crowd=k, keep=enough, about=remark)


def _in_memory(engine: Engine, columns: str, k: int) -> Engine:
    """The columns of a public table, read once: a search counts them many times."""
    from hubbub.engines.opening import open_source

    axes = records(columns, crowd=k).with_schema(engine.columns()).cells.axes
    names = [axis.column for axis in axes]
    return open_source(engine.rows(names, None, lambda rows: np.arange(rows, dtype=np.int64)))


def _searched(engine: Engine, columns: str, counted: Callable[[str], Coarsening], enough: float) -> list[str]:
    """The list as it was given, the finest that keeps enough, and those with one column finer."""
    from hubbub.engines.opening import inspect

    ways = {cells.column: cells.reads for cells in inspect(engine, [], None).columns}

    @cache
    def labels(spec: str) -> dict[str | None, int]:
        found = engine.count(
            CountQuery(axes=records(spec, crowd=2).with_schema(engine.columns()).cells.axes), SystemSource()
        )
        return dict(zip(found.found[0], found.counts.tolist(), strict=True))

    @cache
    def share(parts: tuple[str, ...]) -> float:
        return counted(",".join(parts)).share

    given = split(columns)
    named = [axis(spec).column for spec in given]
    ladders = [
        ladder(spec, column(engine.columns(), name), ways[name], labels)
        for spec, name in zip(given, named, strict=True)
    ]
    best, beyond = search_ladders(ladders, share, enough)
    lists = [tuple(given), *([best] if best else []), *(each for each in beyond if each)]
    return list(dict.fromkeys(",".join(each) for each in lists))
