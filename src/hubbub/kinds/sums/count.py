"""How many people meet a condition: v(x) = 1.

A count needs no noise of its own kind: it goes through a channel (:mod:`hubbub.channels`), geometric, Gaussian, exact or
suppressed, noisy below a crowd, which has laws, intervals and promises that are exact for a count and sharper than those
of a sum. On a secret sample of K people, or beside all that K could tell, it is a sum of ones like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import Final, Unpack

import numpy as np

from hubbub.channels.catalogue import make
from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.mechanisms.gaussian import Gaussian
from hubbub.channels.protocol import LARGEST_COUNT, Channel
from hubbub.channels.published import Published
from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import texts
from hubbub.kinds.histogram.request import EXPECTED, KEPT, ROWS, UNIQUE
from hubbub.kinds.sums import text
from hubbub.kinds.sums.intervals import drawn_from, noise_reach, noise_reach_of_many, reach
from hubbub.kinds.sums.request import (
    ANY_ROW,
    BY,
    COUNT_ROWS,
    DISTINCT,
    ONE_ROW,
    TOTALS,
    WHERE,
    Weighable,
    kind_of,
    weighable,
)
from hubbub.kinds.sums.spec import Statistic, Weighted
from hubbub.kinds.sums.sums import SHIFT, Estimate, Number, Phrases, Row, Sums, each_bin, known
from hubbub.kinds.sums.weights import CALIBRATED_OPTION, SURVEY, WEIGHT
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Mark
from hubbub.protocol.spec import Kind
from hubbub.runtime.frozen import dataclass
from hubbub.sampling import sampled_share
from hubbub.tables.estimation import (
    expected_intervals,
    expected_of_known,
    population_estimate,
    population_intervals,
)
from hubbub.tables.protection import Crowd, Knowledge, Noise, Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Weighted):
    """How many people there are who meet a condition, by bins or in all; with weights, how many they stand for."""

    def __post_init__(self) -> None:
        Weighted.__post_init__(self)
        if isinstance(self.protection, Knowledge) and self.has_single_unknown and self.where is None:
            raise WrongUse(
                "how many people there are is public here; count those `where` something holds, or `by` bins"
            )

    @property
    def has_single_unknown(self) -> bool:
        return not self.axes and not self.unit.counts_rows

    @property
    def channel(self) -> Channel | None:
        match self.protection:
            case Noise(epsilon=epsilon, variance=Fraction() as variance):
                return Gaussian(epsilon, variance)
            case Noise(epsilon=epsilon):
                return make("geometric", epsilon=epsilon / self.moved).channel
            case Crowd(k=k, epsilon=None):
                return make("exact-or-suppressed", k=k).channel
            case Crowd(k=k, epsilon=epsilon):
                return make("noisy-below", k=k, epsilon=epsilon).channel
            case _:
                return None

    @property
    def possible(self) -> tuple[Fraction, Fraction] | None:
        if not isinstance(self.protection, Knowledge) or self.weight is not None:
            return None
        return Fraction(0), Fraction(self.protection.people * self.most_in_a_bin)

    def declare(self) -> Sums:
        rate, channel = self.sum_rate, self.channel
        through = each_bin(partial(estimate_people, self)) if channel is None else partial(estimate_channel, self)
        return Sums(
            columns=(column(self),),
            measures=(),
            contribution=lambda one: (one,),
            peaks=((),),
            linear=True,
            rates=() if rate is None or channel is not None else (rate,),
            numbers=(Number(heading(self), whole=self.weight is None, mark=Mark.BAR),),
            estimate=through,
            total=partial(estimate_total, self),
            phrases=partial(phrases, self),
            theorem=SHIFT if channel is None else channel.card.statement,
            stated=texts(rate=rate) if channel is None and rate is not None else (),
        )


def column(spec: Count) -> str:
    """What the integers of a count are called."""
    if spec.unit.counts_rows and not spec.sampled:
        return spec.unit.rows_column
    if spec.weight is not None:
        return "weight_steps"
    return "sampled" if spec.sampled else spec.unit.rows_column if spec.unit.one_row_per_person else "count"


# --- estimates ----------------------------------------------------------------------------------------------------


def estimate_channel(spec: Count, rows: Sequence[Row]) -> list[tuple[Estimate, ...]]:
    """The counts of all bins from what a channel published of them.

    Guarantee: each interval is right with the coverage of the release, given that a number is shown.
    """
    assert spec.channel is not None
    values = [value for (value,) in rows]
    crowd = spec.protection if isinstance(spec.protection, Crowd) else None
    least = crowd.k if crowd is not None and crowd.epsilon is None else None  # what is below is hidden
    for value in values:
        if (value is None and least is None) or (value is not None and least is not None and value < least):
            raise ValueError("its channel publishes no such number")
        if value is not None and not -LARGEST_COUNT <= value <= 2 * LARGEST_COUNT - 1:
            raise ValueError("so many people are not counted")
    found = Published(
        np.array([value or 0 for value in values], dtype=np.int64),
        np.array([value is None for value in values], dtype=np.intp),
        ("", SUPPRESSED) if least is not None else ("",),
    )
    rate, unit = None if crowd is None else crowd.sample, spec.number_unit
    if spec.unit.expected_rows:
        low, high = expected_intervals(spec.channel, found, rate or Fraction(1), spec.coverage)
    elif rate is None:
        low, high = intervals(spec.channel, found, spec.coverage)
    else:
        low, high = population_intervals(spec.channel, found, rate, spec.coverage)
    estimates = list[tuple[Estimate, ...]]()
    for i, value in enumerate(values):
        about = None if value is None else max(value, 0) if rate is None else population_estimate(value, rate)
        exact, estimate = (None if number is None else number * unit for number in (value, about))
        ends = int(low[i]) * unit, None if high[i] < 0 else int(high[i]) * unit
        estimates.append((Estimate(exact, estimate, *ends),))
    return estimates


def estimate_people(spec: Statistic, count: int) -> tuple[Estimate, ...]:
    """A count of all people or of those of a bin, or the share of one, from a noisy count of the K sampled people or of
    everybody.

    Guarantee: the interval is right with the coverage of the release, by the exact law of the sample and of the noise.
    """
    knowledge, rate = spec.protection, spec.unit_loss
    assert isinstance(knowledge, Knowledge)
    if spec.unit.counts_rows:
        return (_estimate_rows(spec, knowledge, count),)
    expected = spec.unit.expected_rows
    # Where what is kept on average is told, half of the chance is for what might have been kept.
    n, miss = knowledge.people, (1 - spec.coverage) / (2 if expected else 1)
    if knowledge.route is Route.EXACT:
        assert rate is not None
        low, high = clamped_interval(count, reach(rate, miss), 0, n)
        scale = Fraction(1)
    else:
        scale = 1 / knowledge.share
        possible = clamp(count, 0, knowledge.rows)  # whose ends are no nearer than those of a count that cannot be
        low, high = sampled_share.interval(n, knowledge.rows, rate, possible, miss, knowledge.variance)
    if expected:
        low, high = expected_of_known(low, high, n, miss)
    unit = Fraction(1) if spec.measured is None else Fraction(1, n)
    about = min(max(count * scale, Fraction(low)), Fraction(high)) * unit
    return (Estimate(count * scale * unit, about, low * unit, high * unit),)


def _estimate_rows(spec: Statistic, knowledge: Knowledge, count: int) -> Estimate:
    """A count of everybody's rows, from a noisy count of the bounded rows of the K sampled people."""
    miss = 1 - spec.coverage
    k, n, top = knowledge.rows, knowledge.people, spec.most_in_a_bin
    off, away = noise_reach(spec, miss / 2), n * top * drawn_from(k, n, miss / 4)
    about, scale = count / knowledge.share, 1 / knowledge.share
    low, high = clamped_interval(about, scale * off + away, Fraction(0), Fraction(n * top))
    ends = Fraction(floor(low)), Fraction(ceil(high))
    return Estimate(about, min(max(about, ends[0]), ends[1]), *ends)


def estimate_total(spec: Count, rows: Sequence[Row]) -> Estimate:
    """How many there are in several bins together.

    Guarantee: its interval is right with the coverage of the release, by the law of the sum of their noises.
    """
    count, off = sum(known(*row) for row in rows), noise_reach_of_many(spec, len(rows), (1 - spec.coverage) / 2)
    low, high = (end * spec.number_unit for end in clamped_interval(count, off, 0))
    return Estimate(count * spec.number_unit, max(count, 0) * spec.number_unit, low, high)


# --- words and options --------------------------------------------------------------------------------------------


def heading(spec: Count) -> str:
    """What each number is."""
    if spec.weight is not None:
        return f"number of people, weighted by {spec.weight.column}"
    return f"number of {spec.unit.describe_kept_rows(spec.bins) if spec.unit.counts_rows else text.many(spec)}"


def phrases(spec: Count) -> Phrases:
    """Its nouns."""
    people = text.people_in(spec)
    about, plain, unit = f"number of {people.removeprefix('the ')}", "the true number", text.many(spec)
    if spec.weight is not None:
        about = f"sum of the weights of {people}, each cut to its range and rounded to its step"
        plain = "the sum of these weights"
        unit = f"people, each counted with {spec.weight.column}, in steps of {to_text(spec.weight.step)}"
    told = ", where a number is shown" if isinstance(spec.protection, Crowd) else ""
    method, headline = text.method(spec), ", with noise"
    match spec.protection:
        case Crowd(k=k, epsilon=None):
            method = f"exact for bins of at least {k} {text.many(spec)}, the others hidden"
            headline = f", exact for at least {k:,} {text.many(spec)}, the others hidden"
        case Crowd(k=k):
            method, headline = f"exact counts of at least {k}, noise below", f", exact from {k:,} on, with noise below"
    return Phrases(
        heading=heading(spec),
        each="",
        unit=unit,
        method=method,
        headline=headline,
        route=text.route(spec),
        split=text.split(spec, "all of epsilon = {loss} is spent on the count of the one bin that a person is in"),
        interval=text.interval_sentence(spec, f"the true {about}", told),
        interval_headline=text.interval_headline(spec, plain, told),
    )


def count(**words: Unpack[Weighable]) -> Count:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    return weighable(Count, one=True, **words)


COUNT: Final[Kind] = kind_of(
    Count,
    count,
    "Count people who meet a condition, in all or by bins.",
    (
        *(BY, TOTALS, WHERE, ONE_ROW, UNIQUE, EXPECTED, KEPT, ANY_ROW, COUNT_ROWS, DISTINCT, *ROWS),
        *(WEIGHT, SURVEY, CALIBRATED_OPTION),
    ),
    '--where "age >= 65" --zero-knowledge 0.5 --rows 1000 --people 40000 --out count/',
    '--where "salary >= 200000" --any-row --epsilon 1 --out ever/',
    name="count",
    of_condition=True,
)
