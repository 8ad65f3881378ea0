"""From options to the spec of a ratio of two sums; and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import ROWS, UNIQUE
from hubbub.kinds.ratio.spec import Ratio
from hubbub.kinds.statistic.request import BY, DISTINCT, OF, ONE_ROW, PROTECTED, WHERE, common_fields
from hubbub.kinds.statistic.spec import read
from hubbub.numeric.exact import Exact, positive
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.privacy_unit import Unit, of_options
from hubbub.tables.protection import Noise


def ratio(
    *,
    of: str | None = None,
    per: str | None = None,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    epsilon: Exact | None = None,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
) -> Ratio:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None or per is None:
        raise WrongUse("say of which two columns, with range and step: `of=cost:0..50000:1` and `per=days:0..30:1`")
    if epsilon is None:
        raise WrongUse("say how much may be lost, with `epsilon=E`")
    common = common_fields(by, where, coverage, unit)
    return Ratio(
        **common,
        protection=Noise(epsilon=positive(epsilon, "epsilon")),
        of=measured(of),
        per=measured(per),
    )


def from_options(**options: Any) -> Ratio:
    """Build the spec from the options of a command."""
    unit, rest = of_options(options)
    return ratio(unit=unit, **rest)


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
        Option("per", "RANGE", "What it is divided by, as column:LOW..HIGH.", takes="str"),
        BY,
        WHERE,
        ONE_ROW,
        UNIQUE,
        DISTINCT,
        *ROWS,
        *(each for each in PROTECTED if each.name in ("epsilon", "coverage")),
    ),
    from_options=from_options,
    from_json=partial(read, Ratio),
)
Ratio.kind = KIND
