"""Which function makes records coarse enough: of some lists of columns, how many rows of a public table would be kept.

The function of a release of records may not be chosen by looking at its people. A public table is not them: last year's
census, another town, invented rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from hubbub.errors import WrongUse
from hubbub.kinds.records.request import records
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, integer, rational, to_text
from hubbub.protocol.option import option_help
from hubbub.tables.bins import Discovered
from hubbub.tables.engine import CountQuery


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
) -> Coarsenings:
    """Which public functions keep most records: a public table, counted with each.

    The function of a release may not be chosen by looking at its people, so `public` names another table.
    """
    if isinstance(columns, str) or not columns:
        raise WrongUse("name lists of columns to compare, each like `columns=age:10,zip/3`")
    if public is None:
        raise WrongUse("records are planned on a table that is public and not theirs; name one with `public`")
    k, enough = integer(crowd, "crowd", least=2), rational(keep, "`keep`")
    rate = Fraction(1) if sample is None else rational(sample, "`sample`")
    if not (0 < enough <= 1 and 0 < rate <= 1):
        raise WrongUse("`keep` and `sample` must lie between 0 and 1; choose them like 0.9 and 0.1")
    from hubbub.engines.opening import open_source

    engine = open_source(public)
    rows = []
    for each in columns:
        axes = records(each, crowd=k).bind(engine.columns()).cells.axes
        assert all(isinstance(axis, Discovered) for axis in axes)
        counts = engine.count(CountQuery(axes=axes), SystemSource()).counts.astype(float)
        total = max(float(counts.sum()), 1.0)
        scaled = counts * float(rate) * (1.0 if people is None else integer(people, "`people`", least=1) / total)
        kept = scaled >= k
        share = float(counts[kept].sum()) / total
        rows.append(Coarsening(columns=each, records=int(kept.sum()), share=share, enough=share >= enough))
    remark = "Counted in the public table; your people may be spread in another way."
    return Coarsenings(rows=tuple(rows), crowd=k, keep=enough, about=remark)
