"""A summary in plain words: what its numbers are, whose, what their intervals are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.channels.visibility import describe_hidden_groups
from hubbub.kinds.histogram.text import range_note
from hubbub.kinds.summary.numbers import (
    Average,
    Number,
    PeopleCount,
    RowCount,
    Total,
    drawn_columns,
    interval_columns,
    spelled,
    status_column,
)
from hubbub.kinds.sums import text as statistic_text
from hubbub.kinds.sums.promises import who
from hubbub.kinds.sums.text import LONGEST_CONDITION, by_columns, capital, public_rules, remarks, sampling
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words, readable, short
from hubbub.protocol.spec import Description
from hubbub.tables.contribution import MOST_ROWS
from hubbub.tables.protection import Noise

if TYPE_CHECKING:
    from hubbub.kinds.summary.spec import Summary


def describe(spec: Summary) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    by, names = by_columns(spec), join_words([spelled(each) for each in spec.numbers])
    return Description(
        title=f"{capital(names)}{by}",
        published=f"{capital(names)} of {whom(spec)}{by}: with whole-number noise on each",
        entry=f"summary of {names}{by}",
        person=str(who(spec)),
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        headline=_headline(spec, names, by),
        interval_headline=interval_headline(spec),
        public=public_rules(spec, *spec.measures),
        hidden=describe_hidden_groups(spec.people_channel, "people") if spec.discovered else "",
        remarks=remarks(spec),
        columns=tuple(file_columns(spec)),
    )


def _headline(spec: Summary, names: str, by: str) -> str:
    """What is published, in everyday words."""
    where = "" if spec.where is None or len(str(spec.where)) > LONGEST_CONDITION else f" where {spec.where}"
    sentences = [f"{capital(names)}{where}{by}, each with noise"]
    if spec.unit.counts_rows or spec.unit.one_row_per_person:
        sentences.append(f"This is about {whom(spec)}")
    return ". ".join([*sentences, *(capital(meaning(spec, each)) for each in spec.numbers)])


def heading(number: Number) -> str:
    """What a number is, in a few words."""
    return spelled(number)


def meaning(spec: Summary, number: Number) -> str:
    """What a number is, in a clause."""
    inside = " in the bin" if spec.axes else ""
    match number:
        case PeopleCount(name=name):
            return f"{name} is how many people have a row{inside}"
        case RowCount(name=name, cap=None):
            return f"{name} is how many rows there are{inside}, of each person at most as many as a drawn cap says"
        case RowCount(name=name):
            return f"{name} is how many rows there are{inside}, of each person at most {spec.width(number):,}"
        case Total(name=name, of=of):
            cut = f"each person's total{inside} cut to {readable(of.low)}..{readable(of.high)}"
            return f"{name} is the total of {of.column}, {cut}"
        case Average(name=name, of=of):
            cut = f"cut to {readable(of.low)}..{readable(of.high)} and rounded to {readable(of.step)}"
            return f"{name} is the mean over people of what each has of {of.column} on average{inside}, {cut}"


def whom(spec: Summary) -> str:
    """Whom the numbers are about."""
    about = "the people in the table"
    if spec.unit.counts_rows:
        about = f"{spec.unit.person} with {_rows(spec)}"
    elif spec.unit.one_row_per_person:
        about = "the rows that this release kept, one of each person"
    return about if spec.where is None else f"{about}, where {spec.where}"


def _rows(spec: Summary) -> str:
    """How many rows of a person count, in how many bins."""
    bounds = spec.unit.bounds
    assert bounds is not None
    most = bounds.rows_per_person
    found = ["all rows"] if most in (None, MOST_ROWS) else [f"at most {most:,} rows"]
    if spec.discovered or spec.most_bins < spec.bins:
        found.append(f"in at most {spec.most_bins:,} bin{'s' if spec.most_bins > 1 else ''} that this release kept")
    if bounds.rows_per_bin is not None:
        found.append(f"at most {bounds.rows_per_bin:,} in each")
    return ", ".join(found)


def counted(spec: Summary) -> dict[str, str]:
    """What was counted and whom the estimates are about, for JSON."""
    return statistic_text.counted(spec) | {"whom": whom(spec)}


def file_columns(spec: Summary) -> list[tuple[str, str]]:
    """What each column of the file is."""
    found = []
    for number in spec.numbers:
        about, low, high = interval_columns(number)
        found += [(about, meaning(spec, number)), (low, f"where the interval of {about} begins")]
        found += [
            (high, f"where the interval of {about} ends"),
            (status_column(number), f"whether {about} is shown or not usable"),
            *zip(drawn_columns(number), _drawn(number), strict=False),
        ]
    return found


def _drawn(number: Number) -> tuple[str, ...]:
    """What the integers are that a number is worked out from."""
    match number:
        case Average(of=of):
            return (
                f"how far these averages lie above {to_text(of.low)}, in steps of {to_text(of.step)}, added up, with noise; the "
                f"mean is {to_text(of.low)} plus {to_text(of.high - of.low)} times part divided by whole, kept in the range",
                f"what {number.name}_part would be if every average were {to_text(of.high)}, with noise",
            )
        case Total(of=of):
            return (f"the total in steps of {to_text(of.step)}, with noise",)
        case _:
            return (
                f"{number.name} with noise, as it was drawn",
                "how many rows of a person count in a bin, as it was drawn",
            )


def route(spec: Summary) -> str:
    """By which way the promise is kept."""
    if spec.gaussian is not None:
        return "Gaussian noise on every number, as wide as one person moves it"
    return f"Noise on every number, an equal part of epsilon for each of {len(spec.numbers)}"


def split(spec: Summary) -> str:
    """How epsilon is split between the published numbers."""
    assert isinstance(spec.protection, Noise)
    names = join_words([each.name for each in spec.numbers])
    phrase = f"epsilon = {short(spec.protection.epsilon, 6)} is for {names} together, an equal part each"
    if any(spec.for_cap(each) for each in spec.numbers):
        phrase += ", a fifth of that of rows for the choice of their cap"
    return phrase + (f", and for all of up to {spec.most_bins:,} bins of a person" if spec.most_bins > 1 else "")


def interval_headline(spec: Summary) -> str:
    """What an interval means, in everyday words."""
    return f"An interval holds its number with a chance of at least {to_text(100 * spec.coverage)} %"


def interval_sentence(spec: Summary) -> str:
    """What an interval means, and what it is for."""
    return f"{interval_headline(spec)}, each of them by itself, of {whom(spec)}"


def notes(spec: Summary) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    lines = [f"{capital(meaning(spec, each))}." for each in spec.numbers]
    lines += [f"The numbers are about {whom(spec)}.", f"{interval_headline(spec)}, each of them by itself."]
    if spec.unit.counts_rows and (spec.discovered or spec.most_bins < spec.bins):
        lines.append(
            "Whoever is in more bins counts in some of them, chosen secretly: how far this is from all is not told."
        )
    return (*lines, f"{capital(split(spec))}.", *range_note(spec.axes))
