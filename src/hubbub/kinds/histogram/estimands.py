"""What a number, an estimate and an interval of a histogram count.

Several rows of one person make three things of a count: the rows that were kept in this release; the rows kept on
average over the secret choice; and the people with at least one row in the bin, which such a release does not tell
(:mod:`hubbub.tables.estimation`). A secret sample makes two: those in the sample, and everybody. Each
number says which of them it is, by an identifier in JSON and in words everywhere else.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.published import Published
from hubbub.numeric.exact_sums import distinct_and_inverse
from hubbub.tables.bins import declared_size

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel
    from hubbub.kinds.histogram.spec import Histogram


class Estimand(Enum):
    """What is counted; the value is what JSON says, and never changes its meaning."""

    TABLE = "table"  # the people in the table
    SAMPLE = "sample"  # those of them (or of their kept rows) who are in the secret sample
    KEPT_ROWS = "kept-rows"  # the rows that this release kept of people with several
    EXPECTED_ROWS = "expected-rows"  # the same on average over the secret choice
    EVERYBODY = "everybody"  # the people in the table, told from a sample


def of_number(spec: Histogram) -> Estimand:
    """What a published number counts, before its noise."""
    if spec.sample is not None:
        return Estimand.SAMPLE
    return Estimand.KEPT_ROWS if spec.unit.chooses and not spec.every_bin_kept else Estimand.TABLE


def of_interval(spec: Histogram) -> Estimand:
    """What an interval, and an estimate, is for."""
    if spec.unit.expected_rows:
        return Estimand.EXPECTED_ROWS
    if not spec.scale_up:
        return of_number(spec)
    return Estimand.KEPT_ROWS if spec.unit.chooses else Estimand.EVERYBODY


def describe_estimand(spec: Histogram, what: Estimand) -> str:
    """The same for people to read."""
    unit = spec.unit
    match what:
        case Estimand.TABLE if unit.distinct is not None:
            return "the people in the table, each in every bin in which they have a row"
        case Estimand.TABLE:
            return "the people in the table"
        case Estimand.EVERYBODY:
            return "everybody in the table"
        case Estimand.SAMPLE if unit.one_row_per_person:
            return "the people in the secret sample, each by the one row that this release kept"
        case Estimand.SAMPLE:
            return "the people in the secret sample"
        case Estimand.KEPT_ROWS if unit.counts_rows:
            return f"the {unit.describe_kept_rows(declared_size(spec.axes), which=' that this release kept')}"
        case Estimand.KEPT_ROWS if unit.distinct is not None:
            return f"the people in the table, each in the bins that this release kept, at most {unit.distinct}"
        case Estimand.KEPT_ROWS:
            return "the rows that this release kept, one of each person"
        case Estimand.EXPECTED_ROWS if unit.distinct is not None:
            return "what is kept on average: for each person, the chance that the bin is among those kept, added up"
        case Estimand.EXPECTED_ROWS:
            return "the rows kept on average: for each person, the share of their rows that lies in the bin, added up"


def has_estimates(spec: Histogram) -> bool:
    """Whether an estimate stands beside each number: where a number counts a sample, or can be below 0."""
    return spec.scale_up or may_be_negative(spec.channel)


def may_be_negative(channel: Channel) -> bool:
    """Whether noise can push a number that is shown below 0."""
    visible_parts = (part for part in channel.law(0).parts if not part.tag.startswith(SUPPRESSED))
    return any(part.lo is None or part.lo < 0 for part in visible_parts)


def estimates(spec: Histogram, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """What published values say about what their intervals are for: a number that can be true."""
    if not spec.scale_up or spec.sample is None:
        return np.maximum(values, 0)
    from hubbub.tables.estimation import population_estimate

    rate = spec.sample
    distinct, where = distinct_and_inverse(values)
    return np.array([population_estimate(value, rate) for value in distinct.tolist()], dtype=np.int64)[where]


def published_intervals(spec: Histogram, published: Published) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For the counts that the channel saw, or for everybody if the release is scaled up from its sample.

    Guarantee: that of :func:`hubbub.channels.estimate.interval`, of
    :func:`hubbub.tables.estimation.population_intervals` or of
    :func:`hubbub.tables.estimation.expected_intervals`. A bin that was found has somebody in it.
    """
    if spec.unit.expected_rows:
        from hubbub.tables.estimation import expected_intervals

        low, high = expected_intervals(spec.channel, published, spec.sample or Fraction(1), spec.coverage)
        return low, high
    if not spec.scale_up or spec.sample is None:
        low, high = intervals(spec.channel, published, spec.coverage)
    else:
        from hubbub.tables.estimation import population_intervals

        low, high = population_intervals(spec.channel, published, spec.sample, spec.coverage, found=spec.has_found_bins)
    return (np.maximum(low, 1) if spec.has_found_bins else low), high
