"""From the words that ask for a ratio of two sums to its spec, or one sentence; and the kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import ROWS
from hubbub.kinds.ratio.spec import Ratio
from hubbub.kinds.statistic.request import BY, DISTINCT, OF, ONE_ROW, PROTECTED, WHERE
from hubbub.kinds.statistic.spec import read
from hubbub.numeric.exact import Exact, positive, rational
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.privacy_unit import Unit, of_numbers, within_bins
from hubbub.tables.protection import Noise
from hubbub.tables.unlisted import declared as of_bins


def ratio(
    *,
    of: str | None = None,
    per: str | None = None,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    epsilon: Exact | None = None,
    coverage: Exact = "0.95",
    unlisted: Exact | None = None,
    unit: Unit | None = None,
) -> Ratio:
    """The release that these words ask for, or one sentence that says what is wrong with them."""
    if isinstance(by, str):
        raise WrongUse("by is a list of columns, even for one column; put it in brackets, like by=['department']")
    if of is None or per is None:
        raise WrongUse("say of which two columns, with range and step: `of=cost:0..50000:1` and `per=days:0..30:1`")
    if epsilon is None:
        raise WrongUse("say how much may be lost, with `epsilon=E`")
    axes = tuple(map(parse, by))
    level = rational(coverage, "coverage")
    if not 0 < level < 1:
        raise WrongUse(f"coverage must lie between 0 and 1, not {level}; choose one like 0.95")
    return Ratio(
        axes=axes,
        where=where if where is None or isinstance(where, Condition) else parse_condition(where),
        protection=Noise(epsilon=positive(epsilon, "epsilon")),
        unit=within_bins(unit or Unit(), axes),
        coverage=level,
        unlisted=of_bins(unlisted, axes),
        of=measured(of),
        per=measured(per),
    )


def from_options(
    *,
    person: str | None = None,
    one_row_per_person: bool = False,
    distinct: Exact | None = None,
    rows_per_person: Exact | None = None,
    rows_per_bin: Exact | None = None,
    rows_called: str | None = None,
    **options: Any,
) -> Ratio:
    """The release that the words of a command ask for."""
    unit = of_numbers(
        person,
        one_row_per_person=one_row_per_person,
        distinct=distinct,
        rows_per_person=rows_per_person,
        rows_per_bin=rows_per_bin,
        rows_called=rows_called,
    )
    return ratio(unit=unit, **options)


KIND: Final = Kind(
    name="ratio",
    wire="ratio/1",
    help="""Publish the sum of one column divided by that of another: cost for each day, sales for each hour.

Both RANGEs are declared, from 0 or a multiple of the step: values below LOW count as LOW, those above HIGH as HIGH, all
to the nearest STEP. Rows that lack one of the two values are left out. Half of `epsilon` is for either sum. The interval
is what both intervals of the sums allow; where the second sum may be 0 it has no upper end. Of one column for each row,
ask for a mean; of rows that meet a condition, for a fraction.

A person with several rows counts by at most M of them (`rows_per_person=M`, perhaps with `distinct=B` bins and
`rows_per_bin=C` rows in each), or by one (`one_row_per_person=True`). SPEC declares bins, as for a histogram.""",
    examples=(
        "hubbub release ratio hubbub-demo/millbrook.parquet --person resident --of salary:0..300000:1000 "
        "--per age:0..100:1 --epsilon 1 --out ratio/",
    ),
    options=(
        OF,
        Option("per", "RANGE", "What it is divided by, as column:LOW..HIGH:STEP.", takes="str"),
        BY,
        WHERE,
        ONE_ROW,
        DISTINCT,
        *ROWS,
        *(each for each in PROTECTED if each.name in ("epsilon", "coverage", "unlisted")),
    ),
    from_options=from_options,
    from_json=partial(read, Ratio),
)
Ratio.kind = KIND
