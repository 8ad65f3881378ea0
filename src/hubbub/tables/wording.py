"""A histogram release in plain words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hubbub.channels.catalogue import CATALOGUE, parameters
from hubbub.channels.channel import Channel
from hubbub.channels.law import SUPPRESSED
from hubbub.exact import to_text
from hubbub.guarantees.curve import Reading
from hubbub.kind import Words
from hubbub.tables.bins import rule
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.tables.counts import Counts
    from hubbub.tables.histogram import Histogram

_HOW: Final = {"warped": "noise that is the larger the fewer people a bin has"}


def words(spec: Histogram) -> Words:
    """Everything that has to be said about it."""
    columns = listed([axis.column for axis in spec.axes])
    sampled = "" if spec.sample is None else f", on a fresh secret sample at rate {to_text(spec.sample)}"
    scaled = "; the intervals are for everybody in the table" if spec.scale_up else ""
    return Words(
        title=f"People by {columns}",
        published=f"Counts of {_whose(spec)}, by {columns}: {method(spec)}{scaled}",
        entry=f"histogram by {', '.join(axis.column for axis in spec.axes)}{sampled}",
        person=spec.unit.words,
        sampling=sampling(spec),
        counts=counted(spec),
        intervals=interval_words(spec),
        public=tuple((axis.column, str(rule(axis)).removeprefix(f"{axis.column}: ")) for axis in spec.axes),
        remarks=_remarks(spec),
    )


def _whose(spec: Histogram) -> str:
    return "people in the table" if spec.sample is None else "people in a secret sample of the table"


def method(spec: Histogram) -> str:
    """What was done to the counts."""
    given = parameters(spec.channel)
    how = _HOW.get(spec.channel.name) or re.sub(r" \([^)]*\)$", "", CATALOGUE[spec.channel.name].summary)
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
        return "nobody: everybody in the table is counted"
    low, high = to_text(spec.collected.low), to_text(spec.collected.high)
    rate = low if low == high else f"between {low} and {high}"
    spared = f", but for at most {spec.collected.exempt} of them" if spec.collected.exempt else ""
    return (
        f"those who collected the table declare that each person came into it with probability {rate}, "
        f"independently{spared}, and that who did is secret"
    )


def counted(spec: Histogram) -> str:
    """Whom the published numbers and intervals count."""
    if spec.sample is None:
        return "the people in the table"
    return "everybody in the table, scaled up from a sample" if spec.scale_up else "the people in the secret sample"


def interval_words(spec: Histogram) -> str:
    """What an interval means."""
    percent = to_text(100 * spec.coverage)
    return f"The interval of a bin holds the true number with a chance of at least {percent} %"


def notes(counts: Counts) -> tuple[str, ...]:
    """What has to be said beside the numbers."""
    spec = counts.spec
    if counts.exact:
        told = [f"Where a number is shown, it is exact for {counted(spec)}."]
    else:
        told = [f"{interval_words(spec)}; it counts {counted(spec)}."]
    if _below_nothing(spec.channel):
        told.append("Noise can push a number below 0.")
    if any(map(is_ranges, counts.axes)):
        told.append("[a,b) is from a up to, and not including, b.")
    return tuple(told)


def _below_nothing(channel: Channel) -> bool:
    """Whether a number below 0 can come out."""
    law = channel.law(0)
    return any(bool(law.mass(-1, tag) > 0) for tag in law.tags if not tag.startswith(SUPPRESSED))


def _remarks(spec: Histogram) -> tuple[str, ...]:
    curve = getattr(spec.channel, "curve", None)
    return (Reading(curve, lowered=True).remark,) if spec.lowered and curve is not None else ()


def listed(texts: list[str]) -> str:
    """a, b and c."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
