"""A sum in plain words: what it is of, whose, what an interval is of, and by which way it came."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.kinds.histogram.estimands import Estimand
from hubbub.kinds.histogram.text import listed
from hubbub.kinds.statistic.text import capital, profiles, sampling
from hubbub.kinds.statistic.text import many as many
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import short
from hubbub.protocol.spec import Description
from hubbub.tables.bins import rule
from hubbub.tables.labels import is_ranges
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum

BEYOND = (
    "The upper end may be far away, and has to be: whether one person more has the declared maximum is what the "
    "noise hides. A lower maximum that is known from elsewhere, or a cap, brings it down"
)


def describe(spec: Sum) -> Description:
    """Everything that has to be said about it."""
    by = "" if not spec.axes else f", by {listed([axis.column for axis in spec.axes])}"
    public = [(axis.column, str(rule(axis)).removeprefix(f"{axis.column}: ")) for axis in spec.axes]
    public.append((spec.of.column, str(spec.measured.rule).removeprefix(f"{spec.of.column}: ")))
    if spec.where is not None:
        public.append(("the condition", f"{spec.where}; a comparison with a missing cell is false"))
    return Description(
        title=f"{capital(heading(spec))}{by}",
        published=f"{capital(heading(spec))}, of {cut(spec)}, of {whom(spec)}{by}: {method(spec)}",
        entry=f"sum of {spec.of.column}{by}{_protected(spec)}",
        person=spec.unit.describe,
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        public=tuple(public),
    )


def heading(spec: Sum) -> str:
    """What each number is, in a few words."""
    return f"sum of {spec.of.column}" + ("" if spec.weight is None else f", weighted by {spec.weight.column}")


def cut(spec: Sum) -> str:
    """What is done to values before they are added up."""
    if spec.weight is not None and spec.cap is not None:
        return f"values {spec.of.cut} and, with their weights, to {to_text(spec.cap)}"
    if spec.drawn_cap:
        whole = "of what a person has in all bins together, " if spec.unit.counts_rows else "then "
        return f"values {spec.of.cut} and {whole}to the cap"
    if spec.bounds is not None and (spec.cap is not None or spec.cap_per_bin is not None):
        ends = [] if spec.cap_per_bin is None else [f"{to_text(spec.cap_per_bin)} in a bin"]
        ends += [] if spec.cap is None else [f"{to_text(spec.cap)} in all"]
        return f"values {spec.of.cut} and, of what a person has together, to {' and '.join(ends)}"
    return f"values {spec.measured.cut}"


def whom(spec: Sum) -> str:
    """Whom a number and its interval are about."""
    phrase = "the people in the table"
    if spec.profiled:
        phrase = f"{profiles(spec)},"
    elif spec.unit.counts_rows:
        phrase = f"the {spec.unit.describe_kept_rows(spec.bins, which=' that this release kept')},"
    elif spec.unit.one_row_per_person:
        phrase = "the rows that this release kept, one of each person"
    if spec.where is not None:
        phrase += f" with {spec.where}"
    phrase = f"{phrase} {'and' if spec.where is not None else 'with'} a value of {spec.of.column}"
    phrase = f"{phrase}, of each bin" if spec.axes else phrase
    return f"{phrase}, told from a secret sample of them" if spec.sampled else phrase


def counted(spec: Sum) -> dict[str, str]:
    """The same for JSON."""
    chosen = spec.unit.one_row_per_person or spec.unit.counts_rows
    kept = Estimand.KEPT_ROWS if chosen else Estimand.TABLE
    about = (Estimand.EVERYBODY if spec.sampled and kept is Estimand.TABLE else kept).value
    number = (Estimand.SAMPLE if spec.sampled else kept).value
    return {"number": number, "estimate": about, "interval": about, "whom": whom(spec)}


def bounds(spec: Sum) -> dict[str, object]:
    """What bounds a person, for JSON: null where nothing does; caps in the unit of the column."""
    rows = {"rows_per_person": 1, "distinct": None, "rows_per_bin": None}
    if spec.unit.bounds is not None:
        rows = {name: each for name, each in spec.unit.bounds.to_json().items() if name in rows}
    caps = {"cap_per_bin": spec.cap_per_bin, "cap": spec.cap}
    return {**rows, **{name: None if cap is None else to_text(cap) for name, cap in caps.items()}}


def method(spec: Sum) -> str:
    """What was done to the numbers."""
    if spec.layered:
        return f"in {len(spec.layers)} layers up to {to_text(spec.amount(spec.top))}, with whole-number noise on each"
    if spec.drawn_cap:
        return "with a cap that was drawn in private, and whole-number noise"
    return "with whole-number noise"


def route(spec: Sum) -> str:
    """By which way the promise is kept: from public numbers alone."""
    if spec.layered:
        phrase = "Totals are cut into octaves, and each octave gets noise as wide as it is: no cap has to be guessed"
    elif spec.drawn_cap:
        phrase = "A part of epsilon was spent on a cap, and the noise of the sum is as wide as the cap"
    else:
        phrase = (
            f"Nobody counts with more than {to_text(spec.amount(spec.most_in_all))}, and the noise is as wide as that"
        )
    match spec.protection:
        case Crowd(k=k):
            return f"{phrase}; bins of fewer than {k} {many(spec)} are hidden"
        case Knowledge(rows=rows, people=people):
            return f"{phrase}; {rows:,} of {people:,} people were drawn in secret before"
        case _:
            return phrase


def _protected(spec: Sum) -> str:
    if isinstance(spec.protection, Knowledge):
        return f", what {spec.protection.rows:,} of {spec.protection.people:,} random people tell"
    return ""


def split(spec: Sum) -> str:
    """Where epsilon goes."""
    loss, for_cap, for_lost = spec.shares
    phrase = f"epsilon = {short(loss, 6)} is spent on the sums"
    if spec.profiled:
        phrase += f", for each of at most {spec.moved:,} {spec.unit.rows} of a person"
    if for_cap:
        phrase += f", {short(for_cap, 6)} on the choice of the cap"
    return phrase + (f", {short(for_lost, 6)} on what the cap cut off" if for_lost else "")


def losses(spec: Sum) -> list[tuple[Fraction, Fraction]]:
    """(value, loss) where the curve of what somebody loses bends; between them it is straight."""
    if not spec.layered:
        return []
    return [(spec.amount(top), spec.layer_loss * spec.layers.loss(top)) for top in spec.layers.tops]


def loss_sentence(spec: Sum) -> str:
    """The same to read: a few of them."""
    some = [each for i, each in enumerate(losses(spec)) if i % 4 == 0 or i + 1 == len(spec.layers)]
    phrase = ", ".join(f"{to_text(value)}: {short(loss, 3)}" for value, loss in some)
    if spec.profiled:
        each = f"Rows with less lose less. Of epsilon = {short(spec.shares[0], 6)} for each of {spec.unit.rows}"
        return f"{each}, one loses at most, by what it has: {phrase}"
    return f"Whoever has less loses less. Of epsilon = {short(spec.shares[0], 6)}, somebody loses at most, by what they have: {phrase}"


def interval_sentence(spec: Sum) -> str:
    """What an interval means, and what it is for."""
    percent = to_text(100 * spec.coverage)
    phrase = (
        f"An interval holds the {heading(spec)}, of {cut(spec)}, of {whom(spec)}, with a chance of at least {percent} %"
    )
    if spec.layered:
        phrase += "; the interval of the cut holds, at the same time, the sum of values cut to where the estimate ends"
    return f"{phrase}, where a number is shown" if isinstance(spec.protection, Crowd) else phrase


def notes(spec: Sum) -> tuple[str, ...]:
    """What has to be said beside the numbers."""
    sentences = [f"The numbers are about {whom(spec)}.", f"{interval_sentence(spec)}."]
    if spec.layered:
        sentences += [f"{BEYOND}.", f"{loss_sentence(spec)}."]
    elif spec.cap is not None:
        sentences.append(
            "What lies above the cap is not in the sum; nothing here says how much that is."
            if spec.lost is None
            else "What lies above the cap is not in the sum; how much that is stands in the file `lost`."
        )
    sentences.append(f"{capital(split(spec))}.")
    if any(map(is_ranges, spec.axes)):
        sentences.append("[a,b) is from a up to, and not including, b.")
    return tuple(sentences)
