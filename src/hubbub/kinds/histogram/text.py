"""A histogram release in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.channels.catalogue import parameters
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.visibility import describe_hidden_groups, hides
from hubbub.guarantees.curve import Reading
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.histogram.estimands import describe_estimand, of_interval, of_number
from hubbub.numeric.exact import Infinite, to_text
from hubbub.numeric.format import join_words
from hubbub.protocol.result import BELOW_ZERO
from hubbub.protocol.spec import Description
from hubbub.tables import unlisted
from hubbub.tables.bins import Axis, declared_size, rule
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel
    from hubbub.kinds.histogram.spec import Histogram
    from hubbub.tables.privacy_unit import Unit

ONE_ROW_TITLE: Final = "One row of each person, drawn at random,"
ONE_ROW: Final = (
    "Each person counts once, in one of their rows drawn at random. This is neither how many people were ever in a bin "
    "(for that, publish a histogram with --distinct B) nor how many rows are there (--rows-per-person M)."
)


def describe(spec: Histogram) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    columns = join_words([axis.column for axis in spec.axes])
    sampled = "" if spec.sample is None else f", on a fresh secret sample at rate {to_text(spec.sample)}"
    about = of_interval(spec)
    scaled = "" if about is of_number(spec) else f"; estimates and intervals are for {describe_estimand(spec, about)}"
    return Description(
        title=f"{_title(spec)} by {columns}",
        published=f"Counts of {_whose(spec)}, by {columns}: {method(spec)}{scaled}",
        entry=f"histogram by {', '.join(axis.column for axis in spec.axes)}{sampled}",
        person=spec.unit.describe,
        sampling=sampling(spec),
        counts=counted_noun(spec),
        intervals=interval_sentence(spec),
        headline=_headline(spec, columns, scaled),
        interval_headline=interval_headline(spec),
        public=public_bins(spec.axes),
        hidden=_hidden(spec),
        remarks=_remarks(spec),
    )


def _hidden(spec: Histogram) -> str:
    """Which groups are not shown, where nobody said a size: of bins that are found by noise above a threshold."""
    if not spec.has_found_bins or "k" in parameters(spec.channel):
        return ""
    return describe_hidden_groups(spec.channel, "rows" if spec.unit.counts_rows else "people")


def public_bins(axes: Sequence[Axis]) -> tuple[tuple[str, str], ...]:
    """The columns of bins, each with the rule that makes them."""
    return tuple((axis.column, str(rule(axis)).removeprefix(f"{axis.column}: ")) for axis in axes)


def range_note(axes: Sequence[Axis]) -> tuple[str, ...]:
    """How the labels of ranges are read, where there are any."""
    return ("[a,b) is from a up to, and not including, b.",) if any(map(is_ranges, axes)) else ()


def _headline(spec: Histogram, columns: str, scaled: str) -> str:
    """What is published, in everyday words."""
    if spec.channel.plain_noise is None or hides(spec.channel):
        return ""
    return f"Counts of {_whose(spec)}, by {columns}, each with noise{scaled}"


def interval_headline(spec: Histogram) -> str:
    """What an interval means, in everyday words; what that of a hidden bin says is told below the table."""
    if not hides(spec.channel):
        return interval_sentence(spec)
    what = f"the true number of {describe_estimand(spec, of_interval(spec)).removeprefix('the ')}"
    return f"Where a number is shown, its interval holds {what}, with a chance of at least {to_text(100 * spec.coverage)} %{shorter(spec.unit)}"


def shorter(unit: Unit) -> str:
    """How to get an interval for the rows that were drawn, where it is for all draws."""
    return "; --kept-rows gives a shorter one, for the rows drawn this time" if unit.expected_rows else ""


def _title(spec: Histogram) -> str:
    if spec.unit.one_row_per_person:
        return ONE_ROW_TITLE
    if not spec.unit.counts_rows:
        return "People"
    title = spec.unit.describe_kept_rows(declared_size(spec.axes))
    return f"{title[:1].upper()}{title[1:]},"


def _whose(spec: Histogram) -> str:
    sampled = "people in a secret sample of the table"
    if spec.sample is not None:
        sampled = f"people in a secret sample of about {to_text(100 * spec.sample)} % of the table"
    if spec.unit.one_row_per_person:
        return (
            f"{'people' if spec.sample is None else sampled}, each once in one of their rows drawn at random (neither how "
            "many were ever in a bin, nor how many rows are there)"
        )
    if spec.sample is not None:
        return sampled
    return describe_estimand(spec, of_number(spec))


def method(spec: Histogram) -> str:
    """What was done to the counts."""
    given, how = parameters(spec.channel), spec.channel.how
    if "k" in given:
        how = re.sub(r"\bk\b", str(given["k"]), how)
    return how if given.get("show_above") is None else f"{how}, and values up to {given['show_above']} hidden"


def sampling(spec: Histogram) -> str:
    """Who sampled whom, and how."""
    if spec.sample is not None:
        return (
            f"a fresh secret sample was drawn for this release: each person in the table with probability "
            f"{to_text(spec.sample)}, independently, and who was drawn is not kept"
        )
    if spec.collected is None:
        return f"nobody: {everybody(spec.axes)} is counted"
    low, high = to_text(spec.collected.low), to_text(spec.collected.high)
    rate = low if low == high else f"between {low} and {high}"
    spared = f", but for at most {spec.collected.exempt} of them" if spec.collected.exempt else ""
    return (
        f"those who collected the table declare that each person came into it with probability {rate}, "
        f"independently{spared}, and that who did is secret"
    )


def everybody(axes: Sequence[Axis]) -> str:
    """Who is counted where nobody is sampled."""
    return f"everybody in the table{' who is in a bin' if unlisted.leaves_out(axes) else ''}"


def counted_noun(spec: Histogram) -> str:
    """Whom the published numbers count."""
    return describe_estimand(spec, of_number(spec))


def interval_sentence(spec: Histogram) -> str:
    """What an interval means, and what it is for."""
    percent, rest = to_text(100 * spec.coverage), to_text(100 * (1 - spec.coverage))
    what = f"the true number of {describe_estimand(spec, of_interval(spec)).removeprefix('the ')}"
    if not hides(spec.channel):
        return f"The interval of a bin holds {what}, with a chance of at least {percent} %{shorter(spec.unit)}"
    sentence = f"Of a bin that shows a number, the interval holds {what}, with a chance of at least {percent} %{shorter(spec.unit)}"
    if spec.has_found_bins:
        return sentence
    return (
        f"{sentence}; of a hidden bin it says something else: a bin with more than that would be hidden with a chance of "
        f"at most {rest} %"
    )


def notes(spec: Histogram, *, exact: bool) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    sentences = [f"The numbers count {counted_noun(spec)}."]
    if exact:
        sentences.append("Where one is shown, it is exact.")
    if not exact or spec.unit.expected_rows:
        sentences.append(f"{interval_sentence(spec)}.")
    if spec.unit.counts_rows:
        sentences += _of_rows(spec)
    elif spec.unit.distinct is not None:
        sentences.append(_epsilon_sentence(spec, spec.unit.distinct))
        if not spec.every_bin_kept:
            sentences.append(_left_out(spec, spec.unit.distinct))
    if spec.unit.chooses and not spec.every_bin_kept:
        sentences.append("How many people have at least one row in a bin is not told, and no number here estimates it.")
    if _below_nothing(spec.channel):
        sentences.append(f"{BELOW_ZERO}: it is read as 0, and the file has it as it was drawn.")
    if any(map(is_ranges, spec.axes)):
        sentences.append("[a,b) is from a up to, and not including, b.")
    return tuple(sentences)


def _epsilon_sentence(spec: Histogram, most: int) -> str:
    """What all bins of a person lose together, and what noise each has for that."""
    joint = spec.channel.several_bins(most)
    if joint is not None:
        return (
            f"Epsilon {to_text(joint.epsilon)} and delta {to_text(joint.delta)} are for all bins of a person "
            f"together: each number has {spec.channel.how}."
        )
    rate = bin_rate(spec)
    return (
        f"Epsilon {to_text(rate * most)} is for all bins of a person together: each has noise of rate {to_text(rate)}."
    )


def _of_rows(spec: Histogram) -> list[str]:
    """What has to be said where several rows of a person count."""
    rate, unit, bins = bin_rate(spec), spec.unit, declared_size(spec.axes)
    return [
        f"Epsilon {to_text(rate * unit.moved(bins))} is for all {unit.rows} of a person together, at most "
        f"{unit.moved(bins):,}: each bin has noise of rate {to_text(rate)}.",
        f"Whoever has more {unit.rows} than that is counted by some of them, chosen secretly, so that counts may be too "
        "low; by how much is not told.",
    ]


def _left_out(spec: Histogram, most: int) -> str:
    """What a bound on the bins of a person loses; how much of that there is, is data."""
    bins = declared_size(spec.axes)
    sentence = (
        f"Whoever has rows in more than {most:,} bin{'s' if most > 1 else ''} is counted in {most:,} of them and "
        "missing in the others, so that counts may be too low; by how much is not told"
    )
    if bins is None:
        return f"{sentence}."
    return f"{sentence}. With a bound of {bins:,}, as many as there are bins, nobody would be missing, for more noise."


def status(tag: str) -> str:
    """What was done to a bin, in words; a channel with levels of noise says by bits which of them it added.

    >>> [status(tag) for tag in ("", "000", "110", "suppressed", "suppressed 101", "epsilon=0.5")]
    ['shown', 'shown', 'more noise at levels 1 and 2', 'suppressed', 'suppressed at levels 1 and 3', 'epsilon=0.5']
    """
    start, _, bits = tag.rpartition(" ")
    if not re.fullmatch("[01]+", bits):
        return tag or "shown"
    levels = [str(i) for i, bit in enumerate(bits, 1) if bit == "1"]
    if not levels:
        return start or "shown"
    return f"{start or 'more noise'} at level{'s' if len(levels) > 1 else ''} {join_words(levels)}"


def bin_rate(spec: Histogram) -> Fraction:
    """The rate of the noise of each bin, where a person may be in several."""
    promise = spec.promises()[0].premises[0].conclusion
    assert isinstance(promise, DifferentialPrivacy) and not isinstance(promise.epsilon, Infinite)
    return promise.epsilon


def _below_nothing(channel: Channel) -> bool:
    """Whether a number below 0 can come out."""
    law = channel.law(0)
    return any(bool(law.mass(-1, tag) > 0) for tag in law.tags if not tag.startswith(SUPPRESSED))


def _remarks(spec: Histogram) -> tuple[str, ...]:
    lowered = () if spec.lowered_to is None else (Reading(spec.lowered_to, lowered=True).remark,)
    why = spec.channel.why_this_noise(spec.unit.distinct or 1)
    return lowered if why is None else (*lowered, why)
