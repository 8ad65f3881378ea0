"""A variance or standard deviation in plain words: what it is of, whose, what its interval is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.kinds.histogram.text import range_note
from hubbub.kinds.statistic import text as statistic_text
from hubbub.kinds.statistic.promises import who
from hubbub.kinds.statistic.text import (
    LONGEST_CONDITION,
    by_columns,
    capital,
    hidden_below,
    many,
    method,
    people_with_value,
    protected,
    public_rules,
    range_sentence,
    sampling,
)
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import short
from hubbub.protocol.spec import Description
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments


def describe(spec: Moments) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    by = by_columns(spec)
    return Description(
        title=f"{_both(spec)}{by}",
        published=f"{capital(heading(spec))} and mean, of values {spec.of.cut}, of {whom(spec)}{by}: {method(spec)}",
        entry=f"{spec.kind.name} of {spec.of.column}{by}{protected(spec)}",
        person=str(who(spec)),
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        headline=_headline(spec, by),
        interval_headline=interval_headline(spec),
        public=public_rules(spec, spec.of),
        each=f"the {heading(spec)}, or the mean beside it, of {whom(spec)}",
    )


def _both(spec: Moments) -> str:
    """The spread and the mean, with the condition that people meet."""
    named = "Variance" if spec.squared else "Standard deviation"
    where = "" if spec.where is None or len(str(spec.where)) > LONGEST_CONDITION else f" where {spec.where}"
    return f"{named} and mean of {spec.of.column}{where}"


def _headline(spec: Moments, by: str) -> str:
    """What is published, in everyday words."""
    sentences = [f"{_both(spec)}{by}, with noise{hidden_below(spec)}"]
    if spec.unit.one_row_per_person:
        sentences.append(f"This is about {whom(spec).removesuffix(', of each bin')}")
    return ". ".join([*sentences, range_sentence(spec.of)])


def interval_headline(spec: Moments) -> str:
    """What an interval means, in everyday words."""
    both = "Intervals hold the spread and mean of these values, both at once"
    phrase = f"{both}, with a chance of at least {to_text(100 * spec.coverage)} %"
    if isinstance(spec.protection, Crowd):
        return f"{phrase}, where a number is shown"
    return f"{phrase}, if there is anybody" if spec.axes else phrase


def heading(spec: Moments) -> str:
    """What each number is, in a few words."""
    return f"{'variance' if spec.squared else 'standard deviation'} of {spec.of.column}"


def unit(spec: Moments) -> str:
    """What a number is measured in."""
    return f"{spec.of.column}, squared" if spec.squared else spec.of.column


def whom(spec: Moments) -> str:
    """Whom a number and its interval are about."""
    return people_with_value(spec, spec.of.column)


def counted(spec: Moments) -> dict[str, str]:
    """What was counted and whom the estimates are about, for JSON."""
    return statistic_text.counted(spec) | {"whom": whom(spec)}


def route(spec: Moments) -> str:
    """Which mechanism keeps the promise and why, from public numbers only."""
    if isinstance(spec.protection, Knowledge):
        rows, people = spec.protection.rows, spec.protection.people
        return f"{rows:,} of {people:,} people were drawn in secret and what they tell got noise"
    return statistic_text.route(spec)


def split(spec: Moments) -> str:
    """How epsilon is split between the published numbers."""
    loss = spec.noise_loss
    if isinstance(spec.protection, Crowd):
        return f"epsilon = {short(loss, 6)} is spent on the sum and the squares together; how many they are is exact"
    return (
        f"epsilon = {short(loss, 6)} is spent once on three sums, which tell the spread, the mean and how many "
        f"{many(spec)} there are"
    )


def interval_sentence(spec: Moments) -> str:
    """What an interval means, and what it is for."""
    percent = to_text(100 * spec.coverage)
    sentence = (
        f"An interval holds the {heading(spec)}, of values {spec.of.cut}, of {whom(spec)}, and that of the mean holds the "
        f"mean, both at once with a chance of at least {percent} %, and as well those of values that are cut and not "
        "rounded"
    )
    if isinstance(spec.protection, Crowd):
        return f"{sentence}, where a number is shown"
    return f"{sentence}, if there is anybody" if spec.axes else sentence


def notes(spec: Moments) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    low, high = to_text(spec.of.low), to_text(spec.of.high)
    lines = [
        f"The numbers are about {whom(spec)}.",
        f"{interval_sentence(spec)}.",
        f"Values beyond {low}..{high} count as the nearer end: where there are such, this is not the spread of the values "
        "as they are. It is that of these people (divided by how many they are, and not by one fewer).",
        f"{capital(split(spec))}.",
    ]
    return (*lines, *range_note(spec.axes))
