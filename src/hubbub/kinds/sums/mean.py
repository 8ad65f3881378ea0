"""The mean of a column: v(x) = (x, W - x).

Of x in 0..W, A is the sum of the x of the people of a bin and B that of W - x, so that A + B = W c and A/(A + B) is the
mean, between 0 and 1. Whoever comes or goes moves A and B together by W: noise of rate loss/W on both costs the loss, and
no part of it is spent on how many people there are. Published are A and A + B. Of a crowd, whose number is exact,
v(x) = x. A share is the mean of ones and zeros, and goes the same way (:mod:`hubbub.kinds.sums.fraction`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Final, Unpack

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import texts
from hubbub.kinds.histogram.request import EXPECTED, KEPT, ROWS, UNIQUE
from hubbub.kinds.sums import text
from hubbub.kinds.sums.calibration import CALIBRATE, totals_of
from hubbub.kinds.sums.intervals import (
    Ends,
    Part,
    drawn,
    drawn_from,
    noise_reach,
    noise_reach_of_many,
    of_sums,
    parts_of_sums,
    widened,
)
from hubbub.kinds.sums.request import BY, DISTINCT, OF, ONE_ROW, TOTALS, WHERE, Weighable, kind_of, weighable
from hubbub.kinds.sums.spec import Calibrated
from hubbub.kinds.sums.sums import Estimate, Number, Phrases, Row, Sums, each_bin, known
from hubbub.kinds.sums.weights import CALIBRATED_OPTION, SURVEY, WEIGHT
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Kind
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.condition import Condition
from hubbub.tables.estimation import expected_mean
from hubbub.tables.protection import Crowd, Knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Calibrated):
    """The mean of a column, over the people of each bin, or over all, who have a value there."""

    of: Measure

    @property
    def steps(self) -> int:
        return self.of.steps

    @property
    def measured(self) -> Measure | Condition | None:
        return self.of

    @property
    def possible(self) -> tuple[Fraction, Fraction] | None:
        return self.of.low, self.of.high

    def value(self, over: int, under: int) -> Fraction:
        (a, b), (s, t) = self.of.low.as_integer_ratio(), self.of.step.as_integer_ratio()
        # there may be thousands of bins: one fraction, of integers
        return Fraction(a * t * under + b * s * self.of.steps * over, b * t * under)

    def declare(self) -> Sums:
        return sums_of_mean(self, Number(heading(self)), partial(phrases, self))


def sums_of_mean(spec: Calibrated, number: Number, phrases: partial[Phrases]) -> Sums:
    """A mean of steps 0..W, in any unit: of values, or of ones and zeros."""
    rate, width, crowds = spec.sum_rate, spec.steps, isinstance(spec.protection, Crowd)
    columns = 1 if crowds else 2
    hidden = (Estimate(None, None, spec.value(0, 1), spec.value(1, 1)),)
    return Sums(
        columns=("sum",) if crowds else ("part", "whole"),
        measures=spec.measures,
        contribution=(lambda one, x: (x,)) if crowds else (lambda one, x: (x, one * width - x)),
        publish=None if crowds else lambda a, b: (a, a + b),
        peaks=((0,), (width,)),
        linear=True,
        at_once=True,
        rates=() if rate is None else (rate,) * columns,
        numbers=(number,),
        estimate=each_bin(partial(estimate_in_crowd, spec), hidden) if crowds else partial(estimate_of_sums, spec),
        total=partial(estimate_total, spec),
        phrases=phrases,
        stated=() if rate is None else texts(steps=width, rate=rate),
    )


# --- estimates ----------------------------------------------------------------------------------------------------


def estimate_of_sums(spec: Calibrated, rows: Sequence[Row]) -> list[tuple[Estimate, ...]]:
    """The mean of every bin from A and A + B, with noise.

    Guarantee: each interval holds the mean with the coverage of the release, of values cut to the declared range, rounded
    to the step or not.
    """
    miss, sums = 1 - spec.coverage, [(known(part), known(whole)) for part, whole in rows]
    off = noise_reach(spec, miss / (4 if spec.sampled or spec.unit.expected_rows else 2))
    if not spec.sampled and not spec.unit.expected_rows and not spec.unit.counts_rows:  # most, and there may be many
        return [(_mean(spec, *row, parts_of_sums(*row, off)),) for row in sums]
    return [(_mean(spec, *row, _ends(spec, off, miss, *row)),) for row in sums]


def _ends(spec: Calibrated, off: int, miss: Fraction, part: int, total: int) -> tuple[Part, Part]:
    """Between what the mean lies but for a chance of `miss`, both noises being at most `off`."""
    expected = spec.unit.expected_rows
    if spec.unit.counts_rows and isinstance(spec.protection, Knowledge):
        k, longest = spec.protection.rows, spec.steps * spec.most_in_a_bin
        away = ceil(k * longest * drawn_from(k, spec.protection.people, miss / 4))
        return parts_of_sums(part, total, off + away)
    ends = expected_mean(part, total, off, spec.steps, miss / 2) if expected else of_sums(part, total, off)
    if spec.sampled and not expected:  # else the sample is in it
        ends = widened(ends, drawn((total - 2 * off) // spec.steps, miss / 2))
    return _parts(ends)


def estimate_in_crowd(spec: Calibrated, count: int, part: int) -> tuple[Estimate, ...]:
    """The mean from how many they are, exactly, and their sum with noise.

    Guarantee: as :func:`estimate_of_sums`.
    """
    crowd, miss = spec.protection, 1 - spec.coverage
    assert isinstance(crowd, Crowd)
    off = noise_reach(spec, miss / 2 if crowd.sample is not None else miss)
    total = spec.steps * count
    ends = parts_of_sums(part, total, off)
    if crowd.sample is not None:
        ends = _parts(widened(of_sums(part, total, off), drawn(count, miss / 2)))
    return (_mean(spec, part, total, ends),)


def estimate_total(spec: Calibrated, rows: Sequence[Row]) -> Estimate:
    """The mean of several bins together.

    Guarantee: its interval is right with the coverage of the release, by the law of the sum of their noises.
    """
    part, total = (sum(map(known, column)) for column in zip(*rows, strict=True))
    off = noise_reach_of_many(spec, len(rows), (1 - spec.coverage) / 4)  # both noises, either way
    return _mean(spec, part, total, parts_of_sums(part, total, off))


def _parts(ends: Ends) -> tuple[Part, Part]:
    return ends[0].as_integer_ratio(), ends[1].as_integer_ratio()


def _mean(spec: Calibrated, part: int, total: int, ends: tuple[Part, Part]) -> Estimate:
    """The mean part/total, between two parts of the range, in the unit of the numbers.

    Parts are compared as integers, all of whose unders are above 0, and become fractions once: values are in the same
    order as the parts that they stand for.
    """
    least, most = ends
    if isinstance(spec.measured, Measure):
        low, high = spec.measured.unrounded_parts(least, most)
    else:
        low, high = spec.value(*least), spec.value(*most)
    if total <= 0:
        return Estimate(None, None, low, high)
    estimate = kept = spec.value(part, total)
    if part * least[1] < least[0] * total:
        kept = min(spec.value(*least), spec.value(*most))
    elif part * most[1] > most[0] * total:
        kept = spec.value(*most)
    return Estimate(estimate, kept, low, high)


# --- words and options --------------------------------------------------------------------------------------------


def heading(spec: Mean) -> str:
    """What each number is."""
    return f"mean of {spec.of.column}{weighted(spec)}"


def weighted(spec: Calibrated) -> str:
    """Whether people count with weights."""
    return "" if spec.weight is None else f", weighted by {spec.weight.column}"


def split(spec: Calibrated) -> str:
    """How epsilon is split."""
    if isinstance(spec.protection, Crowd):
        return text.split(spec, "all of epsilon = {loss} is spent on the sum; how many they are is exact")
    return text.split(
        spec,
        f"epsilon = {{loss}} is spent once on two sums, those of x and of {spec.steps:,} - x, which one person moves "
        f"together by that; they tell the mean and how many {text.many(spec)} there are",
    )


def phrases(spec: Mean) -> Phrases:
    """Its nouns."""
    of, values = spec.of, f"values {spec.of.cut}"
    low, high, step = to_text(of.low), to_text(of.high), to_text(of.step)
    columns = () if isinstance(spec.protection, Crowd | Knowledge) else (
        (
            "part",
            f"how far values lie above {low}, in steps of {step}, added up{times(spec)}, with noise; the "
            f"mean is {low} plus {to_text(of.high - of.low)} times part divided by whole, kept in the range",
        ),
        ("whole", f"what part would be if every value were {high}, with noise"),
    )  # fmt: skip
    return Phrases(
        heading=heading(spec),
        each=f"the {heading(spec)}{' of' if spec.weight is None else ', of'} {text.whom(spec)}",
        values=values,
        unit=f"{of.column}, from {low} to {high} in steps of {step}",
        method=text.method(spec),
        route=text.route(spec),
        split=split(spec),
        interval=text.interval_sentence(spec, f"the {heading(spec)}, of {values}, of {text.people_in(spec)}"),
        interval_headline=text.interval_headline(spec, "the mean of these values"),
        caution=f"{text.beyond_range(of, 'mean')}. Half a step on either side of an interval is for rounding; a finer step "
        "makes it less, and costs a mean nothing",
        columns=columns,
    )


def times(spec: Calibrated) -> str:
    """What each value counts with."""
    return "" if spec.weight is None else f", each times the steps of {spec.weight.column}"


def mean(*, of: str | None = None, calibrate: object = None, **words: Unpack[Weighable]) -> Mean:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None:
        raise WrongUse("say what the mean is of, with its range and step: `of=salary:0..300000:100`")
    return weighable(
        lambda **fields: Mean(of=measured(of), calibrate=totals_of(calibrate, fields["axes"]), **fields),
        one=False,
        **words,
    )


MEAN: Final[Kind] = kind_of(
    Mean,
    mean,
    """Publish the mean of a column, over all people or over those of each bin.

RANGE is declared, because nothing about it may be found in the data: values below LOW count as LOW, those above HIGH
as HIGH, all to the nearest STEP; people without a value are left out.
""",
    (
        *(OF, BY, TOTALS, WHERE, ONE_ROW, UNIQUE, EXPECTED, KEPT, DISTINCT, *ROWS),
        *(WEIGHT, SURVEY, CALIBRATED_OPTION, CALIBRATE),
    ),
    "--of salary:0..300000:1000 --epsilon 1 --out mean/",
    "--of salary:0..300000:1000 --by department=Police,Fire,null,other --one-row-per-person --epsilon 1 --out kept/",
    name="mean",
)
