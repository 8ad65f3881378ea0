"""A ratio of two sums in plain words: what it is of, whose, what its interval is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.kinds.histogram.estimands import Estimand
from hubbub.kinds.histogram.text import listed
from hubbub.kinds.statistic.text import capital, chosen, sampling
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import short
from hubbub.protocol.spec import Description
from hubbub.tables.bins import rule
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio

ROUTE = "Noise on both sums, half of epsilon for either"


def describe(spec: Ratio) -> Description:
    """Everything that has to be said about it."""
    by = "" if not spec.axes else f", by {listed([axis.column for axis in spec.axes])}"
    public = [(axis.column, str(rule(axis)).removeprefix(f"{axis.column}: ")) for axis in spec.axes]
    public += [(each.column, str(each.rule).removeprefix(f"{each.column}: ")) for each in (spec.of, spec.per)]
    if spec.where is not None:
        public.append(("the condition", f"{spec.where}; a comparison with a missing cell is false"))
    return Description(
        title=f"{capital(heading(spec))}{by}",
        published=f"{capital(heading(spec))}, {cut(spec)}, of {whom(spec)}{by}: with whole-number noise on both sums",
        entry=f"ratio of {spec.of.column} to {spec.per.column}{by}",
        person=spec.unit.describe,
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        public=tuple(public),
    )


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
    """The same for JSON."""
    kept = spec.unit.one_row_per_person or spec.unit.counts_rows
    about = (Estimand.KEPT_ROWS if kept else Estimand.TABLE).value
    return {"number": about, "estimate": about, "interval": about, "whom": whom(spec)}


def split(spec: Ratio) -> str:
    """Where epsilon goes."""
    loss = spec.unit_loss
    assert loss is not None
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
    """What has to be said beside the numbers."""
    lines = [
        f"The numbers are about {whom(spec)}.",
        f"{interval_sentence(spec)}.",
        "Values beyond their range count as its nearer end, and rounding is not allowed for in the interval: choose steps "
        "that values have.",
        *chosen(spec)[-1:],
        f"{capital(split(spec))}.",
    ]
    if any(map(is_ranges, spec.axes)):
        lines.append("[a,b) is from a up to, and not including, b.")
    return tuple(lines)
