"""Estimates and intervals of a statistic, computed from its published integers alone.

A release works its answers out here, and so does whoever checks one: from the same integers come the same answers.
Of a quantile the value is drawn, and how far its interval reaches on both sides, as points of the declared range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.channels.published import Published
from hubbub.kinds.statistic.chart import possible_range
from hubbub.kinds.statistic.drawn_columns import Row
from hubbub.kinds.statistic.intervals import (
    Ends,
    Part,
    drawn,
    drawn_from,
    noise_reach,
    noise_reach_of_many,
    of_sums,
    parts_of_sums,
    reach,
    widened,
)
from hubbub.kinds.statistic.quantile import around, offsets
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, UNTOLD, Answer
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.sampling import sampled_share
from hubbub.tables.bounded_column import Measure
from hubbub.tables.estimation import (
    expected_intervals,
    expected_mean,
    expected_of_known,
    population_estimate,
    population_intervals,
)
from hubbub.tables.protection import Crowd, Knowledge, Route

if TYPE_CHECKING:
    from hubbub.kinds.statistic.spec import Statistic


def estimated_answers(spec: Statistic, published: Sequence[Row]) -> list[Answer]:
    """Estimate and interval of every bin, from its published integers.

    Guarantee: whatever is true, each interval holds it with the coverage of the release, by the law of the noise and of
    the sample (:mod:`hubbub.kinds.statistic.intervals`), and the estimate too. Of a mean that is the one of values cut to
    the declared range, rounded to the step or not. Where all that was declared is in the interval there is no estimate.
    Integers that such a release cannot publish are refused with a ValueError.
    """
    return [usable(spec, answer) for answer in _answers(spec, published)]


def usable(spec: Statistic, answer: Answer) -> Answer:
    """Without its estimate, if its interval says nothing: noise alone could have drawn it, and there may be nobody."""
    possible = possible_range(spec)
    if answer.status != SHOWN or possible is None or (spec.ranked is not None and not spec.interval_share):
        return answer
    if answer.low > possible[0] or answer.high is None or answer.high < possible[1]:
        return answer
    return replace(answer, estimate=None, status=UNTOLD)


def _answers(spec: Statistic, published: Sequence[Row]) -> list[Answer]:
    if spec.ranked is not None:
        return [_of_points(spec, spec.ranked[0], row) for row in published]
    if spec.channel is not None:
        return _through_channel(spec, [_one(row) for row in published])
    if spec.measured is None or (spec.has_single_unknown and isinstance(spec.protection, Knowledge)):
        return [_of_people(spec, _known(_one(row))) for row in published]
    miss = 1 - spec.coverage
    if isinstance(spec.protection, Crowd):
        off = noise_reach(spec, miss / 2 if spec.protection.sample is not None else miss)
        return [_of_crowd(spec, spec.protection, off, *row) for row in published]
    off = noise_reach(spec, miss / (4 if spec.sampled or spec.unit.expected_rows else 2))
    if not spec.sampled and not spec.unit.expected_rows and not spec.unit.counts_rows:  # most, and there may be many
        sums = [(_known(part), _known(total)) for part, total in published]
        return [_mean(spec, row, *row, parts_of_sums(*row, off)) for row in sums]
    return [_of_sums(spec, off, miss, *map(_known, row)) for row in published]


def estimated_total(spec: Statistic, published: Sequence[Row]) -> Answer:
    """Estimate and interval of several bins together, from the published integers of each.

    Guarantee: its interval holds what these bins come to with the coverage of the release, by the law of the sum of
    their noises: of counts how many there are, of means and shares that of all bins.
    """
    miss, many = 1 - spec.coverage, len(published)
    if spec.channel is not None:
        count, off = sum(_known(_one(row)) for row in published), noise_reach_of_many(spec, many, miss / 2)
        unit = spec.number_unit
        low, high = (end * unit for end in clamped_interval(count, off, 0))
        return Answer((count,), count * unit, max(count, 0) * unit, low, high, SHOWN)
    part, total = (sum(map(_known, column)) for column in zip(*published, strict=True))
    off = noise_reach_of_many(spec, many, miss / 4)  # both noises, either way
    return usable(spec, _mean(spec, (part, total), part, total, parts_of_sums(part, total, off)))


def _one(row: Row) -> int | None:
    (value,) = row
    return value


def _known(value: int | None) -> int:
    if value is None:
        raise ValueError("a number is missing")
    return value


# --- counts -------------------------------------------------------------------------------------------------------


def _through_channel(spec: Statistic, values: Sequence[int | None]) -> list[Answer]:
    assert spec.channel is not None
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
    rate = None if crowd is None else crowd.sample
    if spec.unit.expected_rows:
        low, high = expected_intervals(spec.channel, found, rate or Fraction(1), spec.coverage)
    elif rate is None:
        low, high = intervals(spec.channel, found, spec.coverage)
    else:
        low, high = population_intervals(spec.channel, found, rate, spec.coverage)
    answers = []
    for i, value in enumerate(values):
        about = None if value is None else max(value, 0) if rate is None else population_estimate(value, rate)
        exact, estimate = (None if number is None else number * spec.number_unit for number in (value, about))
        ends = int(low[i]) * spec.number_unit, None if high[i] < 0 else int(high[i]) * spec.number_unit
        answers.append(Answer((value,), exact, estimate, *ends, HIDDEN if value is None else SHOWN))
    return answers


def _of_people(spec: Statistic, count: int) -> Answer:
    """A count of all people, or of those of a bin, from a noisy count of the K sampled people or of everybody."""
    knowledge, rate = spec.protection, spec.unit_loss
    assert isinstance(knowledge, Knowledge)
    if spec.unit.counts_rows:
        return _of_rows(spec, knowledge, count)
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
    return Answer((count,), count * scale * unit, about, low * unit, high * unit, SHOWN)


def _of_rows(spec: Statistic, knowledge: Knowledge, count: int) -> Answer:
    """A count of everybody's rows, from a noisy count of the bounded rows of the K sampled people."""
    miss = 1 - spec.coverage
    k, n, top = knowledge.rows, knowledge.people, spec.most_in_a_bin
    off, away = noise_reach(spec, miss / 2), n * top * drawn_from(k, n, miss / 4)
    about, scale = count / knowledge.share, 1 / knowledge.share
    low, high = clamped_interval(about, scale * off + away, Fraction(0), Fraction(n * top))
    ends = Fraction(floor(low)), Fraction(ceil(high))
    return Answer((count,), about, min(max(about, ends[0]), ends[1]), *ends, SHOWN)


# --- sums ---------------------------------------------------------------------------------------------------------


def _of_sums(spec: Statistic, off: int, miss: Fraction, part: int, total: int) -> Answer:
    """A and A + B, both with noise of at most `off`; the mean is between them, but for a chance of `miss`."""
    expected = spec.unit.expected_rows
    if spec.unit.counts_rows and isinstance(spec.protection, Knowledge):
        k, longest = spec.protection.rows, spec.steps * spec.most_in_a_bin
        away = ceil(k * longest * drawn_from(k, spec.protection.people, miss / 4))
        return _mean(spec, (part, total), part, total, parts_of_sums(part, total, off + away))
    ends = expected_mean(part, total, off, spec.steps, miss / 2) if expected else of_sums(part, total, off)
    if spec.sampled and not expected:  # else the sample is in it
        ends = widened(ends, drawn((total - 2 * off) // spec.steps, miss / 2))
    return _mean(spec, (part, total), part, total, _parts(ends))


def _of_crowd(spec: Statistic, crowd: Crowd, off: int, count: int | None, part: int | None) -> Answer:
    """How many they are, exactly, and their sum with noise of at most `off`; small ones hidden."""
    if count is None and part is None:
        return Answer((None, None), None, None, spec.value(0, 1), spec.value(1, 1), HIDDEN)
    count, part, miss = _known(count), _known(part), 1 - spec.coverage
    if count < crowd.k:
        raise ValueError("so small a crowd is hidden")
    total = spec.steps * count
    ends = parts_of_sums(part, total, off)
    if crowd.sample is not None:
        ends = _parts(widened(of_sums(part, total, off), drawn(count, miss / 2)))
    return _mean(spec, (count, part), part, total, ends)


def _parts(ends: Ends) -> tuple[Part, Part]:
    return ends[0].as_integer_ratio(), ends[1].as_integer_ratio()


def _mean(spec: Statistic, published: tuple[int, ...], part: int, total: int, ends: tuple[Part, Part]) -> Answer:
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
        return Answer(published, None, None, low, high, UNTOLD)
    estimate = kept = spec.value(part, total)
    if part * least[1] < least[0] * total:
        kept = min(spec.value(*least), spec.value(*most))
    elif part * most[1] > most[0] * total:
        kept = spec.value(*most)
    return Answer(published, estimate, kept, low, high, SHOWN)


# --- quantiles ----------------------------------------------------------------------------------------------------


def _of_points(spec: Statistic, measure: Measure, row: Row) -> Answer:
    """A value and the two ends of its interval around it, as points 0..W."""
    crowd = spec.protection if isinstance(spec.protection, Crowd) else None
    published = row[:-2]
    if crowd is not None and not any(value is not None for value in row):
        return Answer(published, None, None, measure.low, measure.high, HIDDEN)
    if crowd is not None and _known(published[0]) < crowd.k:
        raise ValueError("so small a crowd is hidden")
    value, *ends = map(_known, row[-3:])
    reaches = offsets(measure.steps) if spec.interval_share else (measure.steps,)
    if not 0 <= value <= measure.steps or tuple(ends) not in [around(value, k, measure.steps) for k in reaches]:
        raise ValueError("a point is beyond the range, or its interval is none that is drawn")
    low, high = (measure.value(end) for end in ends)
    estimate = measure.value(value)
    return Answer(published, estimate, estimate, *measure.unrounded(low, high), SHOWN)
