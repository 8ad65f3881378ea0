"""A period of a series in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Description
from hubbub.query_classes.series import Blocks, Crowds
from hubbub.tables.bins import rule

if TYPE_CHECKING:
    from hubbub.kinds.series.spec import Period, Series


def what(series: Series) -> str:
    """What is published, like "people by age"."""
    by = f" by {' and '.join(axis.column for axis in series.axes)}" if series.axes else ""
    of = f"sum of {series.of.column}" if series.of is not None else counted_noun(series)
    where = f" where {series.where}" if series.where is not None else ""
    sample = "" if series.sample is None else f" in {_samples(series)}"
    return f"{of}{sample}{by}{where}"


def counted_noun(series: Series) -> str:
    """What a number counts: people, or rows where several of a person do."""
    return series.unit.rows if series.unit.counts_rows else "people"


def rows_rule(series: Series) -> str:
    """What counts of several rows that a person has in one period; empty where there is one."""
    unit, bins = series.unit, series.cells
    if unit.counts_rows:
        return f"In a period these count: {unit.describe_kept_rows(bins)}, chosen secretly."
    if unit.distinct is not None:
        many = "one bin" if unit.distinct == 1 else f"at most {unit.distinct:,} bins"
        return f"In a period each person counts once in {many}, chosen secretly."
    if unit.one_row_per_person:
        return "In a period each person counts by one row, chosen secretly."
    return ""


def _samples(series: Series) -> str:
    return "a secret panel" if series.panel is not None else "secret samples"


def noise(series: Series) -> str:
    """How it is drawn, in words."""
    way = series.way
    if isinstance(way, Crowds):
        return f"exact numbers of at least {way.k:,} people in a period, the others hidden for good"
    if isinstance(way, Blocks) and way.sample is not None:
        which = "one secret sample of people for all periods" if way.panel else "a fresh secret sample of every period"
        return f"{which}, at rate {to_text(way.sample)}, and geometric noise on every period"
    if isinstance(way, Blocks):
        return "geometric noise on every period" + (f" and on blocks of {way.block}" if way.block > 1 else "")
    return f"Gaussian noise on a factor of the running sums, theta {to_text(way.theta)}"


def describe(spec: Period) -> Description:
    """Guarantee: it says nothing that depends on the data."""
    series, calendar = spec.series, spec.series.calendar
    title = what(series)
    often = to_text(100 * series.coverage)
    whose = "people in their first period" if series.recur == 1 else f"people in at most {series.recur:,} periods each"
    if series.unit.counts_rows:
        whose = f"{series.unit.describe_kept_rows(series.cells)} in a period, of {whose}"
    elif series.unit.distinct is not None:
        whose = f"{whose}, in at most {series.unit.distinct:,} bins of a period"
    elif series.unit.one_row_per_person:
        whose = f"{whose}, by one row that was kept in a period"
    counts = _of_whom(series, whose if series.unit.person is not None else "rows, each of them a person")
    return Description(
        title=f"{title[:1].upper()}{title[1:]}, {spec.period}",
        published=(
            f"Numbers of every {calendar.every} from {calendar.first} to {spec.period}, and running totals: {title}; "
            f"{noise(series)}"
            if spec.period != calendar.first
            else f"The numbers of {spec.period}, the first {calendar.every} of a series: {title}; {noise(series)}"
        ),
        entry=f"series {series.name}: {series.kind} of {title}, {calendar.periods:,} periods from {calendar.first} on",
        person=str(series.unit.people),
        sampling=_sampling(series),
        counts=counts,
        each="" if series.of is None else f"a sum of {series.of.column}, of {counts}",
        intervals=f"Each interval, by itself, holds the true number {often} % of the time",
        headline=_headline(spec),
        public=tuple((axis.column, str(rule(axis))) for axis in series.axes),
    )


def _headline(spec: Period) -> str:
    """What is published, for somebody who never heard of mechanisms; empty where there is no shorter way to say it."""
    series, calendar = spec.series, spec.series.calendar
    if isinstance(series.way, Crowds) or series.sample is not None:
        return ""
    if spec.period == calendar.first:
        return f"{spec.period}, the first {calendar.every} of a series: {what(series)}, each number with noise"
    return (
        f"Every {calendar.every} from {calendar.first} to {spec.period}, and running totals: {what(series)}, each number "
        "with noise"
    )


def _sampling(series: Series) -> str:
    everybody = "everybody in the table of a period is counted, as far as they may still count"
    if series.sample is None:
        return everybody
    rate = to_text(series.sample)
    if series.panel is not None:
        return f"one secret sample of people is counted in all periods, each of them in it with probability {rate}"
    return f"a fresh secret sample of each period is counted, each person in it with probability {rate}"


def _of_whom(series: Series, counts: str) -> str:
    if series.sample is None:
        return counts
    return f"{counts}, those in {_samples(series)} alone: divide by {to_text(series.sample)} to guess at everybody"
