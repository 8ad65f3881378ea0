"""From the words that ask for a sum to its spec, or one sentence; and the kind."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import ROWS
from hubbub.kinds.statistic.request import BY, DISTINCT, OF, ONE_ROW, PROTECTED, TOTALS, WHERE, protected
from hubbub.kinds.statistic.spec import read
from hubbub.kinds.statistic.weights import CALIBRATED_OPTION, WEIGHT, declared_weight
from hubbub.kinds.sum.spec import Sum
from hubbub.numeric.exact import Exact, positive, rational
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.privacy_unit import Unit, of_numbers, within_bins
from hubbub.tables.unlisted import declared as of_bins

AUTO: Final = "auto"
IN_LAYERS: Final = "layers"
_SHARE: Final = Fraction(1, 5)


def total(
    *,
    of: str | None = None,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    cap: Exact | None = None,
    cap_per_bin: Exact | None = None,
    cap_share: Exact | None = None,
    lost: Exact | None = None,
    weight: str | None = None,
    calibrated: bool = False,
    zero_knowledge: Exact | None = None,
    rows: Exact | None = None,
    people: Exact | None = None,
    crowd: Exact | None = None,
    epsilon: Exact | None = None,
    coverage: Exact = "0.95",
    unlisted: Exact | None = None,
    totals: bool = False,
    unit: Unit | None = None,
) -> Sum:
    """The release that these words ask for, or one sentence that says what is wrong with them."""
    if isinstance(by, str):
        raise WrongUse("by is a list of columns, even for one column; put it in brackets, like by=['department']")
    if of is None:
        raise WrongUse("say what is added up, with its range and step: `of=cost:0..50000:1`")
    axes = tuple(map(parse, by))
    level = rational(coverage, "coverage")
    if not 0 < level < 1:
        raise WrongUse(f"coverage must lie between 0 and 1, not {level}; choose one like 0.95")
    word = cap.strip().lower() if isinstance(cap, str) else None
    several = unit is not None and unit.counts_rows and bool(axes)
    # In several bins a person pays for the lowest layers of each, and a cap on the whole costs once.
    plain = crowd is None and zero_knowledge is None and cap_per_bin is None and lost is None and measured(of).low >= 0
    auto = word == AUTO or (cap is None and several and plain)
    share = None if cap_share is None else rational(cap_share, "cap-share")
    if share is not None and not auto:
        raise WrongUse("`cap_share` is for a cap that is drawn; say `cap='auto'`, or leave it out")
    return Sum(
        axes=axes,
        where=where if where is None or isinstance(where, Condition) else parse_condition(where),
        protection=protected(
            False, 1 - level, zero_knowledge, rows, people, crowd, epsilon, None, positive("1e-9", "at-delta")
        ),
        unit=within_bins(unit or Unit(), axes),
        coverage=level,
        unlisted=of_bins(unlisted, axes),
        subtotals=totals,
        of=measured(of),
        cap=None if cap is None or auto or word == IN_LAYERS else positive(cap, "cap"),
        cap_per_bin=None if cap_per_bin is None else positive(cap_per_bin, "cap-per-bin"),
        cap_share=(share or _SHARE) if auto else None,
        lost=None if lost is None else rational(lost, "lost"),
        weight=declared_weight(weight, calibrated),
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
) -> Sum:
    """The release that the words of a command ask for."""
    unit = of_numbers(
        person,
        one_row_per_person=one_row_per_person,
        distinct=distinct,
        rows_per_person=rows_per_person,
        rows_per_bin=rows_per_bin,
        rows_called=rows_called,
    )
    return total(unit=unit, **options)


_TOWN: Final = "hubbub-demo/millbrook.parquet --person resident"

KIND = Sum.kind = Kind(
    name="sum",
    wire="sum/1",
    help="""Publish the total of a column, over all people or over those of each bin.

RANGE is declared: column:LOW..HIGH:STEP. Values below LOW count as LOW, those above HIGH as HIGH, all to the nearest
STEP; people without a value add nothing. Nothing about it may be found in the data.

Without a cap nothing has to be guessed: totals are cut into octaves (1, 2, 4 ... steps, up to HIGH), each with noise as
wide as it is. The sum is told up to the first octave that the noise drowns, with an interval for values cut there and
one for values cut to HIGH, whose upper end is far away. Most people lose much less than epsilon: the certificate says
how much by value. `cap=A` lets nobody count with more than A, and the noise is as wide as A: best where a cap is known
from elsewhere. `cap='auto'` spends a part of epsilon (`cap_share`, a fifth) on choosing one. `lost=0.1` spends a tenth
of epsilon on how many people are above the cap, by octaves. Values below 0 need a cap.

Say how people are protected, in one way: `epsilon=E` (differential privacy for one person more or less), `crowd=K`
`epsilon=E` (people of a bin could stand in each other's place, up to E; smaller bins are hidden), or
`zero_knowledge=EPS` `rows=K` `people=N` (whatever is learnt about you, K random people out of N would have told as
well, up to EPS). SPEC declares bins, as for a histogram.

A person with several rows counts by at most M of them (`rows_per_person=M`, perhaps with `distinct=B` bins and
`rows_per_bin=C` rows in each), with `epsilon=E`: layers and caps are then of what a person has together, in a bin
(`cap_per_bin=A`) or in all (`cap=A`). By bins a cap in all is then chosen without being asked for, as layers cost once
for each bin; `cap='layers'` cuts into layers all the same. With M = 1000000 all rows count; a cap alone is then what bounds a person. Or by
one of them (`one_row_per_person=True`). Without such a word a table where somebody has several rows is refused, for you
alone.""",
    examples=(
        f"hubbub release sum {_TOWN} --of salary:0..300000:1000 --epsilon 1 --out total/",
        f"hubbub release sum {_TOWN} --of salary:0..300000:1000 --cap 150000 --lost 0.1 --epsilon 1 --out capped/",
    ),
    options=(
        OF,
        BY,
        TOTALS,
        WHERE,
        Option("cap", "A", "The most that a person counts with, or auto, or layers."),
        Option("cap_per_bin", "A", "Several rows: the most that a person counts with in one bin.", advanced=True),
        Option("cap_share", "S", "With `cap=auto`: the part of epsilon for choosing it (0.2).", advanced=True),
        Option("lost", "S", "With a cap: a part of epsilon for what it cut off, like 0.1.", advanced=True),
        WEIGHT,
        CALIBRATED_OPTION,
        ONE_ROW,
        DISTINCT,
        *ROWS,
        *(each for each in PROTECTED if each.name not in ("sample", "at_delta")),
    ),
    from_options=from_options,
    from_json=partial(read, Sum),
)
