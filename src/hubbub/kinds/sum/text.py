"""A sum in plain words: what it is of, whose, what an interval is of, and by which way it came."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.kinds.histogram.text import range_note
from hubbub.kinds.sums.promises import who
from hubbub.kinds.sums.text import (
    LONGEST_CONDITION,
    about,
    by_columns,
    capital,
    hidden_below,
    many,
    protected,
    public_rules,
    range_sentence,
    remarks,
    sampling,
    whom,
    why_gaussian,
)
from hubbub.kinds.sums.weights import weight_sentence
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import chance, readable, short
from hubbub.protocol.spec import Description
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum

BEYOND = (
    "The upper end may be far away, and has to be: whether one person more has the declared maximum is what the "
    "noise hides. A lower maximum that is known from elsewhere, or a cap, brings it down"
)


def describe(spec: Sum) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    by = by_columns(spec)
    return Description(
        title=f"{capital(heading(spec))}{_of_whom(spec)}{by}",
        published=f"{capital(heading(spec))}, of {cut(spec)}, of {whom(spec)}{by}: {method(spec)}",
        entry=f"sum of {spec.of.column}{by}{protected(spec)}",
        person=str(who(spec)),
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=interval_sentence(spec),
        headline=_headline(spec, by),
        interval_headline=interval_headline(spec),
        public=public_rules(spec, spec.measured),
        remarks=remarks(spec),
        each=f"the {heading(spec)}, of {whom(spec)}",
    )


def _of_whom(spec: Sum) -> str:
    return "" if spec.where is None or len(str(spec.where)) > LONGEST_CONDITION else f" where {spec.where}"


def _headline(spec: Sum, by: str) -> str:
    """What is published, in everyday words."""
    sentences = [f"{capital(heading(spec))}{_of_whom(spec)}{by}, with noise{hidden_below(spec)}"]
    if spec.unit.counts_rows or spec.unit.one_row_per_person:
        sentences.append(f"This is about {whom(spec).removesuffix(', of each bin')}")
    sentences.append(range_sentence(spec.of))
    if spec.weight is not None:
        sentences.append(weight_sentence(spec.weight))
    if spec.drawn_cap:
        sentences.append(
            "Very large amounts are cut off at a limit that was chosen in private, so that no one person stands out"
        )
    elif spec.cap is not None or spec.cap_per_bin is not None:
        sentences.append(f"Nobody counts with more than {readable(spec.amount(spec.most_in_all))}")
    elif spec.layered:
        sentences.append(
            "Where the noise drowns large values, a number is the sum of values capped below these; its interval is for the "
            "whole sum"
        )
    return ". ".join(sentences)


def interval_headline(spec: Sum) -> str:
    """What an interval means, in everyday words."""
    what = "the capped sum, and not what lies above the cap," if _capped(spec) else "the sum of these values"
    phrase = f"An interval holds {what} with a chance of at least {to_text(100 * spec.coverage)} %"
    return f"{phrase}, where a number is shown" if isinstance(spec.protection, Crowd) else phrase


def heading(spec: Sum) -> str:
    """What each number is, in a few words."""
    weighted = "" if spec.weight is None else f", weighted by {spec.weight.column}"
    return f"sum of {spec.of.column}{weighted}{_capped(spec)}"


def _capped(spec: Sum) -> str:
    """The caps on what a person has, for headings; empty where nobody can have more."""
    if spec.drawn_cap:
        return ", capped"
    most = spec.of.step * (1 if spec.weight is None else spec.weight.high)
    most *= max(spec.most_without_cap, -int(spec.of.low / spec.of.step))
    caps = [] if spec.cap is None or spec.cap >= most else [readable(spec.cap)]
    caps += [] if spec.cap_per_bin is None or spec.cap_per_bin >= most else [f"{readable(spec.cap_per_bin)} in a bin"]
    return f", capped at {' and '.join(caps)}" if caps else ""


def cut(spec: Sum) -> str:
    """What is done to values before they are added up."""
    if spec.weight is not None and spec.cap is not None:
        return f"values {spec.of.cut} and, with their weights, to {to_text(spec.cap)}"
    if spec.drawn_cap:
        first = "of what a person has in all bins together, " if spec.unit.counts_rows else "then "
        return f"values {spec.of.cut} and {first}to the cap"
    if spec.bounds is not None and (spec.cap is not None or spec.cap_per_bin is not None):
        ends = [] if spec.cap_per_bin is None else [f"{to_text(spec.cap_per_bin)} in a bin"]
        ends += [] if spec.cap is None else [f"{to_text(spec.cap)} in all"]
        return f"values {spec.of.cut} and, of what a person has together, to {' and '.join(ends)}"
    return f"values {spec.measured.cut}"


def bounds(spec: Sum) -> dict[str, object]:
    """What bounds a person, for JSON: null where nothing does; caps in the unit of the column."""
    rows = {"rows_per_person": 1, "distinct": None, "rows_per_bin": None}
    if spec.unit.bounds is not None:
        rows = {name: each for name, each in spec.unit.bounds.to_json().items() if name in rows}
    caps = {"cap_per_bin": spec.cap_per_bin, "cap": spec.cap}
    return {**rows, **{name: None if cap is None else to_text(cap) for name, cap in caps.items()}}


def method(spec: Sum) -> str:
    """What was done to the numbers."""
    if spec.tailored is not None:
        return f"in {len(spec.octaves.bands)} bands up to {to_text(spec.amount(spec.top))}, each with noise that is less the more people it has"
    if spec.layered:
        noise = "whole-number noise" if spec.gaussian is None else "Gaussian whole-number noise"
        return f"in {len(spec.layers)} layers up to {to_text(spec.amount(spec.top))}, with {noise} on each"
    if spec.drawn_cap:
        return "with a cap that was drawn in private, and whole-number noise"
    if spec.gaussian is not None:
        return f"with Gaussian whole-number noise of a standard deviation of {about(_deviation(spec))}"
    return "with whole-number noise"


def route(spec: Sum) -> str:
    """Which mechanism keeps the promise and why, from public numbers only."""
    if spec.tailored is not None:
        phrase = (
            "People are counted in bands of about as much, twice the one before; the more there are in a band, the less "
            f"noise it gets, and its sum is told where more than {spec.octaves.threshold:,} seem to be in it"
        )
    elif spec.layered:
        phrase = "Small values get little noise and large ones much, layer by layer, so that no cap has to be guessed"
        phrase += "" if spec.gaussian is None else f"; in widths of the layers, {why_gaussian(spec)}"
    elif spec.drawn_cap:
        phrase = "A part of the privacy loss was spent on a cap, and the noise of the sum is as wide as the cap"
    elif spec.gaussian is not None:
        phrase = f"Nobody counts with more than {readable(spec.amount(spec.most_in_all))}; {why_gaussian(spec)}"
    else:
        phrase = (
            f"Nobody counts with more than {readable(spec.amount(spec.most_in_all))}, and the noise is as wide as that"
        )
    match spec.protection:
        case Crowd(k=k):
            return f"{phrase}; bins of fewer than {k} {many(spec)} are hidden"
        case Knowledge(rows=rows, people=people):
            return f"{phrase}; {rows:,} of {people:,} people were drawn in secret before"
        case _:
            return phrase


def _deviation(spec: Sum) -> float:
    """The standard deviation of the Gaussian noise, in the unit of the column."""
    assert spec.gaussian is not None
    return math.sqrt(spec.gaussian.s2) * float(spec.unit_step)


def split(spec: Sum) -> str:
    """How epsilon is split between the published numbers."""
    if spec.tailored is not None:
        return "half of the loss is spent on the number of people of a band, half on their sum"
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


def rhos(spec: Sum) -> list[tuple[Fraction, Fraction]]:
    """(value, rho) at the ends of layers with Gaussian noise: what somebody who has so much in one bin loses."""
    assert spec.gaussian is not None
    return [(spec.amount(top), (k + 1) / (2 * spec.gaussian.s2)) for k, top in enumerate(spec.layers.tops)]


def loss_sentence(spec: Sum) -> str:
    """Some of these losses, as a sentence."""
    if spec.gaussian is not None:
        few = [each for i, each in enumerate(rhos(spec)) if i % 4 == 0 or i + 1 == len(spec.layers)]
        parts = ", ".join(f"{to_text(value)}: {short(rho, 3)}" for value, rho in few)
        return f"Whoever has less loses less. Of rho = {short(spec.gaussian.rho, 6)}, somebody loses at most, by what they have: {parts}"
    some = [each for i, each in enumerate(losses(spec)) if i % 4 == 0 or i + 1 == len(spec.layers)]
    phrase = ", ".join(f"{to_text(value)}: {short(loss, 3)}" for value, loss in some)
    if spec.profiled:
        each = f"Rows with less lose less. Of epsilon = {short(spec.shares[0], 6)} for each of {spec.unit.rows}"
        return f"{each}, one loses at most, by what it has: {phrase}"
    return f"Whoever has less loses less. Of epsilon = {short(spec.shares[0], 6)}, somebody loses at most, by what they have: {phrase}"


def tailored_sentence(spec: Sum) -> str:
    """What somebody loses, by how many have about as much."""
    assert spec.tailored is not None
    beside = f", but for a chance of {chance(spec.octaves.delta)}"
    if spec.tailored.curve.is_flat:
        return f"Everybody loses epsilon = {short(spec.tailored.limit, 3)} at most, however many have about as much{beside}"
    parts = [f"1: {short(spec.tailored.curve.at(1), 3)}"]
    for piece, end in spec.tailored.curve.ends():
        at = piece.start if end is None else end
        parts += [f"{at:,}: {short(piece.at(at), 3)}"] if at > 1 else []
    whose = "Whoever has an amount that few others have loses less. By how many are in their band, they lose at most"
    return f"{whose}: {', '.join(parts)}{beside}"


def tailored_facts(spec: Sum) -> dict[str, object]:
    """The same for JSON, with where a sum is told."""
    assert spec.tailored is not None
    return {
        "curve": str(spec.tailored.curve),
        "delta": to_text(spec.octaves.delta),
        "threshold": spec.octaves.threshold,
        "name": "tailored privacy (Lui and Pass) by the number of people in a band",
    }


def interval_sentence(spec: Sum) -> str:
    """What an interval means, and what it is for."""
    percent = to_text(100 * spec.coverage)
    phrase = (
        f"An interval holds the {heading(spec)}, of {cut(spec)}, of {whom(spec)}, with a chance of at least {percent} %"
    )
    if spec.layered:
        phrase += (
            "; the interval of the capped sum holds, at the same time, the sum of values cut to where the estimate ends"
        )
    return f"{phrase}, where a number is shown" if isinstance(spec.protection, Crowd) else phrase


def notes(spec: Sum) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    sentences = [f"The numbers are about {whom(spec)}.", f"{interval_sentence(spec)}."]
    if spec.tailored is not None:
        sentences += [f"{BEYOND}.", f"{tailored_sentence(spec)}."]
    elif spec.layered:
        sentences += [f"{BEYOND}.", f"{loss_sentence(spec)}."]
    elif spec.cap is not None:
        sentences.append(
            "What lies above the cap is not in the sum; nothing here says how much that is."
            if spec.lost is None
            else "What lies above the cap is not in the sum; how much that is stands in the file `lost`."
        )
    sentences.append(f"{capital(split(spec))}.")
    return (*sentences, *range_note(spec.axes))
