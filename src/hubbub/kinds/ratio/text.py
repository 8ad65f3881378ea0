"""A ratio of two sums in plain words: what it is of, whose, what its interval is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.kinds.histogram.text import range_note
from hubbub.kinds.statistic import text as statistic_text
from hubbub.kinds.statistic.promises import who
from hubbub.kinds.statistic.text import (
    LONGEST_CONDITION,
    by_columns,
    capital,
    chosen,
    public_rules,
    range_sentence,
    sampling,
)
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import short
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio

ROUTE = "Both sums have noise, each for half of the privacy loss"


def describe(spec: Ratio) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    by = by_columns(spec)
    return Description(
        title=f"{capital(heading(spec))}{by}",
        published=f"{capital(heading(spec))}, {cut(spec)}, of {whom(spec)}{by}: with whole-number noise on both sums",
        entry=f"ratio of {spec.of.column} to {spec.per.column}{by}",
        person=str(who(spec)),
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        headline=_headline(spec, by),
        interval_headline=interval_headline(spec),
        public=public_rules(spec, spec.of, spec.per),
        each=f"the sum of {spec.of.column} divided by the sum of {spec.per.column}, of {whom(spec)}",
    )


def _headline(spec: Ratio, by: str) -> str:
    """What is published, in everyday words."""
    where = "" if spec.where is None or len(str(spec.where)) > LONGEST_CONDITION else f" where {spec.where}"
    both = f"the sum of {spec.of.column} divided by that of {spec.per.column}"
    sentences = [f"{capital(heading(spec))}{where}{by}: {both}, each with noise"]
    if spec.unit.counts_rows or spec.unit.one_row_per_person:
        sentences.append(f"This is about {whom(spec).removesuffix(', of each bin')}")
    sentences += [f"Of {each.column}, {_small(range_sentence(each))}" for each in (spec.of, spec.per)]
    return ". ".join(sentences)


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def interval_headline(spec: Ratio) -> str:
    """What an interval means, in everyday words."""
    percent = to_text(100 * spec.coverage)
    return f"An interval holds the ratio of these sums with a chance of at least {percent} %, if the second is above 0"


def heading(spec: Ratio) -> str:
    """What each number is, in a few words."""
    return f"{spec.of.column} per {spec.per.column}"


def cut(spec: Ratio) -> str:
    """What is done to values before they are added up."""
    return f"of values of {spec.of.column} {spec.of.cut} and of {spec.per.column} {spec.per.cut}"


def whom(spec: Ratio) -> str:
    """Whom a number and its interval are about."""
    about = "the people in the table"
    if spec.unit.counts_rows:
        about = f"the {spec.unit.describe_kept_rows(spec.bins, which=' that this release kept')},"
    elif spec.unit.one_row_per_person:
        about = "the rows that this release kept, one of each person,"
    about += "" if spec.where is None else f" with {spec.where} and"
    about += f"{' with' if spec.where is None else ''} a value of {spec.of.column} and of {spec.per.column}"
    return f"{about}, of each bin" if spec.axes else about


def counted(spec: Ratio) -> dict[str, str]:
    """What was counted and whom the estimates are about, for JSON."""
    return statistic_text.counted(spec) | {"whom": whom(spec)}


def split(spec: Ratio) -> str:
    """How epsilon is split between the published numbers."""
    loss = spec.noise_loss
    phrase = (
        f"epsilon = {short(spec.moved * loss, 6)}, half of it for the sum of {spec.of.column} and half for that of "
    )
    phrase += spec.per.column
    return phrase + (f", is for all {spec.unit.rows} of a person, at most {spec.moved:,}" if spec.moved > 1 else "")


def interval_sentence(spec: Ratio) -> str:
    """What an interval means, and what it is for."""
    return (
        f"An interval holds the sum of {spec.of.column} divided by the sum of {spec.per.column}, {cut(spec)}, of "
        f"{whom(spec)}, with a chance of at least {to_text(100 * spec.coverage)} %, if the second is above 0"
    )


def notes(spec: Ratio) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    lines = [
        f"The numbers are about {whom(spec)}.",
        f"{interval_sentence(spec)}.",
        "Values beyond their range count as its nearer end, and rounding is not allowed for in the interval: choose steps "
        "that values have.",
        *chosen(spec)[-1:],
        f"{capital(split(spec))}.",
    ]
    return (*lines, *range_note(spec.axes))
