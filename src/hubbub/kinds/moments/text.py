"""A variance or standard deviation in plain words: what it is of, whose, what its interval is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.kinds.histogram.estimands import Estimand
from hubbub.kinds.histogram.text import listed
from hubbub.kinds.statistic.text import capital, many, sampling
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import short
from hubbub.protocol.spec import Description
from hubbub.tables.bins import rule
from hubbub.tables.labels import is_ranges
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments


def describe(spec: Moments) -> Description:
    """Everything that has to be said about it."""
    by = "" if not spec.axes else f", by {listed([axis.column for axis in spec.axes])}"
    public = [(axis.column, str(rule(axis)).removeprefix(f"{axis.column}: ")) for axis in spec.axes]
    public.append((spec.of.column, str(spec.of.rule).removeprefix(f"{spec.of.column}: ")))
    if spec.where is not None:
        public.append(("the condition", f"{spec.where}; a comparison with a missing cell is false"))
    return Description(
        title=f"{capital(heading(spec))} and mean{by}",
        published=f"{capital(heading(spec))} and mean, of values {spec.of.cut}, of {whom(spec)}{by}: {method(spec)}",
        entry=f"{spec.kind.name} of {spec.of.column}{by}{_protected(spec)}",
        person=spec.unit.describe,
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        public=tuple(public),
    )


def heading(spec: Moments) -> str:
    """What each number is, in a few words."""
    return f"{'variance' if spec.squared else 'standard deviation'} of {spec.of.column}"


def unit(spec: Moments) -> str:
    """What a number is measured in."""
    return f"{spec.of.column}, squared" if spec.squared else spec.of.column


def whom(spec: Moments) -> str:
    """Whom a number and its interval are about."""
    about = "the people in the table"
    if spec.unit.one_row_per_person:
        about = "the rows that this release kept, one of each person"
    if spec.where is not None:
        about += f" with {spec.where}"
    about += f" {'and' if spec.where is not None else 'with'} a value of {spec.of.column}"
    about = f"{about}, of each bin" if spec.axes else about
    return f"{about}, told from a secret sample of them" if spec.sampled else about


def counted(spec: Moments) -> dict[str, str]:
    """The same for JSON."""
    kept = Estimand.KEPT_ROWS if spec.unit.one_row_per_person else Estimand.TABLE
    about = (Estimand.EVERYBODY if spec.sampled and kept is Estimand.TABLE else kept).value
    number = (Estimand.SAMPLE if spec.sampled else kept).value
    return {"number": number, "estimate": about, "interval": about, "whom": whom(spec)}


def method(spec: Moments) -> str:
    """What was done to the numbers."""
    match spec.protection:
        case Crowd(k=k):
            return f"of bins of at least {k} {many(spec)}, with noise on what they have together; the others hidden"
        case Knowledge(rows=rows, people=people):
            return f"as private as {rows:,} random people out of {people:,} would leave it, with whole-number noise"
        case _:
            return "with whole-number noise"


def route(spec: Moments) -> str:
    """By which way the promise is kept: from public numbers alone."""
    match spec.protection:
        case Crowd(k=k):
            return f"Crowds of at least {k} {many(spec)} show what they have together, smaller ones nothing"
        case Knowledge(rows=rows, people=people):
            return f"{rows:,} of {people:,} people were drawn in secret and what they tell got noise"
        case _:
            return "Noise on three sums of squares, which one person moves together by the same whatever the value"


def _protected(spec: Moments) -> str:
    match spec.protection:
        case Knowledge(rows=rows, people=people):
            return f", what {rows:,} of {people:,} random people tell"
        case Crowd(sample=sample) if sample is not None:
            return f", on a fresh secret sample at rate {to_text(sample)}"
        case _:
            return ""


def split(spec: Moments) -> str:
    """Where epsilon goes."""
    loss = spec.unit_loss
    assert loss is not None
    if isinstance(spec.protection, Crowd):
        return f"epsilon = {short(loss, 6)} is spent on the sum and the squares together; how many they are is exact"
    return (
        f"epsilon = {short(loss, 6)} is spent once on three sums, which tell the spread, the mean and how many "
        f"{many(spec)} there are"
    )


def interval_sentence(spec: Moments) -> str:
    """What an interval means, and what it is for."""
    percent = to_text(100 * spec.coverage)
    words = (
        f"An interval holds the {heading(spec)}, of values {spec.of.cut}, of {whom(spec)}, and that of the mean holds the "
        f"mean, both at once with a chance of at least {percent} %, and as well those of values that are cut and not "
        "rounded"
    )
    if isinstance(spec.protection, Crowd):
        return f"{words}, where a number is shown"
    return f"{words}, if there is anybody" if spec.axes else words


def notes(spec: Moments) -> tuple[str, ...]:
    """What has to be said beside the numbers."""
    low, high = to_text(spec.of.low), to_text(spec.of.high)
    lines = [
        f"The numbers are about {whom(spec)}.",
        f"{interval_sentence(spec)}.",
        f"Values beyond {low}..{high} count as the nearer end: where there are such, this is not the spread of the values "
        "as they are. It is that of these people (divided by how many they are, and not by one fewer).",
        f"{capital(split(spec))}.",
    ]
    if any(map(is_ranges, spec.axes)):
        lines.append("[a,b) is from a up to, and not including, b.")
    return tuple(lines)
