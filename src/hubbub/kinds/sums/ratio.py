"""The ratio of two sums over the same rows: cost for each day, sales for each hour.

Of values x and y, in whole steps from 0, v(x, y) = (x, y), and half of the loss is for either sum. Their intervals are a
box, and the ratio lies between the lowest of one by the highest of the other and the other way round. How the two values
of a row go together is told by neither.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final, Unpack

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import texts
from hubbub.kinds.histogram.request import ROWS, UNIQUE
from hubbub.kinds.sums.intervals import reach
from hubbub.kinds.sums.request import (
    BY,
    DISTINCT,
    OF,
    ONE_ROW,
    PROTECTED,
    WHERE,
    Common,
    common_words,
    from_options,
)
from hubbub.kinds.sums.spec import Declared, check_kept_rows, read
from hubbub.kinds.sums.sums import Estimate, Number, Phrases, Sums, each_bin
from hubbub.kinds.sums.text import percent, whom
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import short
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.condition import Condition
from hubbub.tables.protection import Noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio(Declared):
    """The sum of a column divided by that of another, over the rows of each bin, or over all, that have both."""

    of: Measure
    per: Measure

    def __post_init__(self) -> None:
        if not isinstance(self.protection, Noise):
            raise WrongUse("a ratio of two sums is covered by plain noise only; use `epsilon=E` alone")
        if self.discovered:
            raise WrongUse("the bins of a ratio are declared; list them, like ward=A,B,other")
        if self.of.column == self.per.column:
            raise WrongUse("a ratio is of two columns; choose another for `of` or `per`")
        for measure in (self.of, self.per):
            if measure.low < 0 or (measure.low / measure.step).denominator != 1:
                raise WrongUse(
                    f"a ratio is of sums that count in whole steps from 0, and {measure.column} begins at "
                    f"{to_text(measure.low)}; declare a range from 0, or from a multiple of its step"
                )
        check_kept_rows(self)
        Declared.__post_init__(self)

    @property
    def measured(self) -> Measure | Condition | None:
        return self.of

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.of, self.per

    def declare(self) -> Sums:
        of, per, loss = self.of, self.per, self.noise_loss
        low, other_low = (int(each.low / each.step) for each in (of, per))
        tops = low + of.steps, other_low + per.steps
        rates = loss / (2 * tops[0]), loss / (2 * tops[1])
        return Sums(
            columns=("of_steps", "per_steps"),
            measures=(of, per),
            contribution=lambda one, x, y: (x + one * low, y + one * other_low),
            peaks=((of.steps, per.steps),),
            rates=rates,
            numbers=(Number(f"{of.column} per {per.column}"),),
            estimate=each_bin(partial(estimate_ratio, self)),
            phrases=partial(phrases, self),
            stated=texts(of=tops[0], of_rate=rates[0], per=tops[1], per_rate=rates[1]),
        )


def estimate_ratio(spec: Ratio, dividend: int, divisor: int) -> tuple[Estimate, ...]:
    """The ratio that follows from two noisy sums.

    Guarantee: each sum is within the reach of its noise but for half of 1 - coverage, so that both are with the coverage
    of the release, and then the ratio of the sums lies in the interval, wherever the sums are in their box. Where the
    lower sum may be 0 there is no upper end.
    """
    off, away = (reach(rate, (1 - spec.coverage) / 2) for rate in spec.sums.rates)
    step = spec.of.step / spec.per.step
    low, high = clamped_interval(dividend, off, 0)
    least, most = clamped_interval(divisor, away, 0)
    down = step * Fraction(low, most) if most else Fraction(0)
    if divisor <= 0 or least <= 0:
        return (Estimate(None, None, down, step * Fraction(high, least) if least > 0 else None),)
    about = max(step * Fraction(dividend, divisor), down)
    return (Estimate(about, about, down, step * Fraction(high, least)),)


def phrases(spec: Ratio) -> Phrases:
    """Its nouns."""
    of, per = spec.of, spec.per
    values, heading = f"values of {of.column} {of.cut} and of {per.column} {per.cut}", f"{of.column} per {per.column}"
    holds = f"the sum of {of.column} divided by the sum of {per.column}"
    rows = f", is for all {spec.unit.rows} of a person, at most {spec.moved:,}" if spec.moved > 1 else ""
    return Phrases(
        heading=heading,
        each=f"{holds}, of {whom(spec)}",
        headline=f": {holds}, each with noise",
        entry=f"ratio of {of.column} to {per.column}",
        values=values,
        unit=heading,
        method="with whole-number noise on both sums",
        route="Both sums have noise, each for half of the privacy loss",
        split=f"epsilon = {short(spec.moved * spec.noise_loss, 6)}, half of it for the sum of {of.column} and half for "
        f"that of {per.column}{rows}",
        interval=f"An interval holds {holds}, of {values}, of {whom(spec)}, with a chance of at least {percent(spec)}, if "
        "the second is above 0",
        interval_headline=f"An interval holds the ratio of these sums with a chance of at least {percent(spec)}, if the "
        "second is above 0",
        caution="Values beyond their range count as its nearer end, and rounding is not allowed for in the interval: "
        "choose steps that values have",
    )


def ratio(*, of: str | None = None, per: str | None = None, **common: Unpack[Common]) -> Ratio:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None or per is None:
        raise WrongUse("say of which two columns, with range and step: `of=cost:0..50000:1` and `per=days:0..30:1`")
    if common.get("epsilon") is None:
        raise WrongUse("say how much may be lost, with `epsilon=E`")
    return Ratio(**common_words(**common), of=measured(of), per=measured(per))


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
    from_options=partial(from_options, ratio),
    from_json=partial(read, Ratio),
)
Ratio.kind = KIND
