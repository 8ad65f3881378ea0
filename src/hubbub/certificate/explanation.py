"""A promise in plain words, and the theorems behind it, for somebody who has never heard of epsilon.

Numbers in sentences are rounded against us and short; :func:`formula` has them exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from hubbub.certificate.plain_meaning import guess
from hubbub.guarantees.curve import Curve, Piece
from hubbub.guarantees.definitions import (
    Aggregate,
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    ExplorationSample,
    Guarantee,
    NeighbourhoodSample,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    RobustSample,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    TwoSamples,
    ZeroKnowledge,
)
from hubbub.guarantees.indistinguishability import odds_below
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.promise_order import in_brief, requested_first
from hubbub.numeric.bisection import first as first_where
from hubbub.numeric.exact import Infinite, Loss, ball, precision, to_text, upper
from hubbub.numeric.format import chance, join_words
from hubbub.protocol.release import JOIN, MISSING, UNNAMED_PERSON
from hubbub.runtime.frozen import dataclass
from hubbub.tables.cell_format import Missing

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.bound import Bound

DIGITS: Final = 3
_FOR_INSTANCE: Final = Fraction(1, 10**9)  # the delta at which zCDP is put into words
_MOST_LEVELS: Final = 6  # of a curve that are said one by one
LARGEST_SPELT_OUT: Final = 14  # e^14 is a bit more than a million; above, only the power of ten is readable

NO_READING: Final[Mapping[str, Any]] = MappingProxyType({})
"""Of a release whose table was read as usual."""

_RARER: Final = "The rarer you are, the less you show"
_TITLES: Final = {
    "crowd-blending": "Lost in the crowd",
    "outlier": _RARER,
    "simple-outlier": _RARER,
    "staircase": _RARER,
    "tailored": _RARER,
    "differential": "With you or without you",
    "zero-concentrated differential": "What adds up",
    "zero-knowledge": "No more than a sample would tell",
    "distributional": "Hidden by who was picked",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """A promise in plain words: what it means, what its k is ("" where it has none), and what it does not promise."""

    promised: str
    crowd: str
    not_promised: str


def explain(derivation: Derivation) -> str:
    """The promise, how it follows step by step, and what is taken for granted."""
    explanation = meaning(derivation.conclusion, derivation.people)
    lines = [
        "What is promised",
        *_indented(
            filter(None, (explanation.promised, explanation.crowd, f"Not promised: {explanation.not_promised}"))
        ),
        "",
        "How it follows",
        *_indented(steps(derivation)),
    ]
    assumptions = derivation.all_assumptions()
    if assumptions:
        lines += ["", "Taken for granted", *(f"  - {text}" for text in assumptions)]
    return "\n".join(lines)


def steps(derivation: Derivation) -> list[str]:
    """How a promise follows, theorem by theorem, numbered."""
    found = list(derivation.steps())
    number = {id(step): position for position, step in enumerate(found, start=1)}
    lines = []
    for position, step in enumerate(found, start=1):
        used = [str(number[id(premise)]) for premise in step.premises]
        origin = f"from {join_words(used)}, by" if used else "by"
        whom = f" for {step.people}" if step.people is not None else ""
        lines.append(f"{position}. {step.conclusion}{whom}: {origin} {step.theorem} ({step.theorem.source}).")
        lines.append(f"   {_meaning(step.conclusion, step.people)}")
    return lines


def reading_rules(reading: Mapping[str, Any]) -> list[str]:
    """How the table was read, as declared, where that decides in which bin somebody is, or who is a person."""
    declared, on, unnamed = reading.get(MISSING), reading.get(JOIN), reading.get(UNNAMED_PERSON)
    rules = [f"cells that read so count as missing: {Missing.parse(declared)}"] if declared else []
    if unnamed is not None:
        rules.append(
            f"each row is another person, as the publisher declared although the table has a column {unnamed}; to somebody "
            "with several rows less is promised"
        )
    if on is None:
        return rules
    return [
        *rules,
        f"two tables were joined by {on}: the rows counted are those of the second, each with the columns of its "
        "person's row in the first, which are missing where there is none; a person with all their data is one value "
        f"of {on} in both tables, and has at most one row in the first",
    ]


def explain_release(bound: Bound, reading: Mapping[str, Any] = NO_READING) -> str:
    """A release in plain words: what was published, what is promised, what is taken for granted, what is not promised.

    It says what a certificate says, to somebody who has never heard of epsilon.
    """
    description = bound.description
    lines = [
        "What was published",
        f"  {description.published}.",
        f"  {description.what_numbers_are}.",
        *([f"  {description.intervals}."] if description.intervals else []),
        f"  Who was sampled: {description.sampling}.",
        f"  Who is a person: {description.person}.",
        "",
        "What is promised",
    ]
    refused: dict[str, None] = {}
    for place, step in enumerate(requested_first(bound.promises)):
        explanation = meaning(step.conclusion, step.people)
        plainly = guess(step) if place == 0 else ""
        refused[explanation.not_promised] = None
        lines.append(f"  {title(step.conclusion)} ({step.conclusion.notion} privacy)")
        lines += [f"    {plainly}."] if plainly else []
        lines += _indented(filter(None, (explanation.promised, explanation.crowd, crowd_sentence(step))), by=4)
        lines.append(f"    In numbers: {rounded(step)}.")
    assumptions = dict.fromkeys(text for step in bound.promises for text in step.all_assumptions())
    assumptions |= dict.fromkeys(reading_rules(reading))
    lines += ["", "What is taken for granted", *(f"  - {text}" for text in assumptions)]
    lines += ["", "What is not promised", *(f"  - {text}" for text in refused)]
    lines.append(
        "  - as much for several releases about the same people, which add up: the publisher's ledger has them"
    )
    lines.append("  - anything at all, if something that is taken for granted is not so")
    return "\n".join(lines)


def in_numbers(step: Derivation) -> str:
    """A promise in symbols, with whom it is about."""
    return f"{step.conclusion}" if step.people is None else f"{step.conclusion}, for {step.people}"


def rounded(step: Derivation) -> str:
    """A promise by its numbers in few digits, with whom it is about; :func:`in_numbers` has them exact."""
    brief = in_brief(step.conclusion)
    return brief if step.people is None else f"{brief}, for {step.people}"


def title(guarantee: Guarantee) -> str:
    """A promise in a few words."""
    if _is_flat(guarantee):
        return "The same limit in every crowd"
    if isinstance(guarantee, DifferentialPrivacy) and guarantee.neighbours.number_is_public:
        return "Whatever your data are"  # that you are one of them may be known
    return _TITLES.get(guarantee.notion, "A promise")


def _is_flat(guarantee: Guarantee) -> bool:
    """Whether a promise to people by the size of their crowd is the same for all of them."""
    if isinstance(guarantee, SimpleOutlier | StaircaseOutlier):
        guarantee = guarantee.as_outlier()
    return isinstance(guarantee, OutlierPrivacy | TailoredPrivacy) and guarantee.curve.is_flat


def crowd_sentence(step: Derivation) -> str:
    """The k behind a zero-knowledge promise about people who were picked one by one; nothing for other promises."""
    if not isinstance(step.conclusion, ZeroKnowledge):
        return ""
    crowds = {part.conclusion.k for part in step.steps() if isinstance(part.conclusion, CrowdBlending | SimpleOutlier)}
    if crowds:
        return f"k = {join_words([str(k) for k in sorted(crowds)])} is the crowd in the sample that this rests on."
    if isinstance(step.conclusion.aggregate, BernoulliSample | RobustSample):
        return "k, the number of people whose data it is fair to know, is the size of such a sample, and is not told."
    return ""


def meaning(guarantee: Guarantee, people: People | None = None) -> Meaning:
    """What a promise means for these people, what its k is, and what it does not promise."""
    return Meaning(_meaning(guarantee, people), _crowd(guarantee), _not_promised(guarantee, people))


def formula(derivation: Derivation) -> str:
    """The derivation as an indented tree, conclusions above their premises, with theorems and exact numbers."""
    lines: list[str] = []
    seen: set[int] = set()
    waiting = [(derivation, 0)]
    while waiting:
        step, depth = waiting.pop()
        numbers = "; " + ", ".join(f"{name} = {text}" for name, text in step.numbers) if step.numbers else ""
        again = id(step) in seen and bool(step.premises)
        lines.append(
            f"{'  ' * depth}{step.conclusion}  [{step.theorem.name}{numbers}{'; premises above' if again else ''}]"
        )
        if not again:
            seen.add(id(step))
            waiting.extend((premise, depth + 1) for premise in reversed(step.premises))
    return "\n".join(lines)


def _meaning(guarantee: Guarantee, people: People | None) -> str:
    data, one = _data(people)
    in_graph = people is not None and people.in_graph
    match guarantee:
        case DifferentialPrivacy(neighbours=Neighbours.REPLACE, group=group):
            changed = "edges" if in_graph else "data"
            within = _within(guarantee.epsilon, guarantee.delta)
            return f"Replace the {changed} of {_people(group, one)} {_in(data)} with anything else: {within}."
        case DifferentialPrivacy(group=group):
            return f"Add or remove {_people(group, one)} {_in(data)}: {_within(guarantee.epsilon, guarantee.delta)}."
        case ConcentratedPrivacy(rho=rho, neighbours=neighbours, group=group):
            from hubbub.guarantees.accountant.concentrated import zcdp_epsilon

            like = DifferentialPrivacy(
                epsilon=zcdp_epsilon(rho, _FOR_INSTANCE), delta=_FOR_INSTANCE, neighbours=neighbours, group=group
            )
            return f"What releases lose in this measure simply adds up. {_meaning(like, people)}"
        case ZeroKnowledge(group=group):
            whose, lost = "their" if group > 1 else "that person's", "removed" if in_graph else "blanked"
            return (
                f"Whatever the release teaches about {_people(group)} could also be learnt from "
                f"{sampled_people(guarantee.aggregate)}, with {whose} {'edges' if in_graph else 'data'} {lost}: "
                f"{_within(guarantee.epsilon, guarantee.delta)}."
            )
        case CrowdBlending(k=1):
            return "Nothing: with k = 1 everybody counts as a crowd of one."
        case CrowdBlending(k=k):
            return (
                f"Everybody {_in(data)} either blends with at least {k} people, themselves included, or can be left "
                "out. Replace somebody by another of their crowd, or leave out somebody who has none: "
                f"{_within(guarantee.epsilon, guarantee.delta)}."
            )
        case OutlierPrivacy():
            if _is_flat(guarantee):
                return f"Leave out one {one} {_in(data)}: {_levels(guarantee)}."
            return f"The fewer people {_in(data)} are like you, the less you show. Leave out one: {_levels(guarantee)}."
        case TailoredPrivacy(curve=curve, delta=delta):
            return _meaning(OutlierPrivacy(curve=curve, delta=delta), people).replace(
                "are like you", "are in your cell", 1
            )
        case SimpleOutlier() | StaircaseOutlier():
            return _meaning(guarantee.as_outlier(), people)
        case OutlierGroup():
            return (
                f"Leave out up to {guarantee.size} people at once, each with at most {guarantee.k} of their kind in "
                f"the data: {_within(guarantee.epsilon, guarantee.delta)}."
            )
        case DistributionalPrivacy():
            return (
                f"If the people in the data were picked at random, {_rates(guarantee.sample)}, then leave out any one "
                f"who was picked: {_within(guarantee.epsilon, guarantee.delta)}."
            )


def _crowd(guarantee: Guarantee) -> str:
    match guarantee:
        case ZeroKnowledge(aggregate=RandomSample() | ExplorationSample() | NeighbourhoodSample() as sample):
            return f"k = {sample.k:,} is how many people's data it is fair to know; fewer is a stronger promise."
        case ZeroKnowledge(aggregate=TwoSamples(some=some)):
            return (
                f"k = {some.k:,} and the sampling rate say how much of the data it is fair to know; less is a stronger "
                "promise."
            )
        case ZeroKnowledge():
            return "The sampling rate says how much of the data it is fair to know; a lower one is a stronger promise."
        case CrowdBlending(k=k) if k > 1:
            return f"k = {k} is the size of a crowd, yourself included."
        case OutlierPrivacy() | SimpleOutlier() | StaircaseOutlier():
            return "Your crowd is everybody in the data whom the release treats exactly like you, yourself included."
        case TailoredPrivacy():
            return (
                "Your crowd is everybody in your cell, yourself included: those in the same bin with about as much. A cell "
                "is public; where in it you are is hidden by the noise of its sum."
            )
        case OutlierGroup(k=k):
            return f"k = {k} is how many people of a kind still count as rare."
        case _:
            return ""


def _data(people: People | None) -> tuple[str, str]:
    """What people are in, and what one of them is called."""
    if people is None:
        return "the data", "person"
    one = "row" if people.person is None else "person"
    match people.whose:
        case Whose.TABLE:
            return "the table", one
        case Whose.KEPT_ROWS:
            return "the kept rows", "row"
        case Whose.KEYS:
            return "the file without its untouched columns", one
        case Whose.POPULATION:
            return "the population that the table was collected from", one
        case Whose.VERTEX:
            return "the graph", "person"
        case Whose.EDGE:
            return "the graph", "edge"
        case Whose.BALLOTS:
            return "the ballots", "ballot"


def _in(data: str) -> str:
    return f"among {data}" if data in ("the kept rows", "the ballots") else f"in {data}"


def _not_promised(guarantee: Guarantee, people: People | None) -> str:
    if people is not None and people.whose is Whose.POPULATION:
        return (
            "anything to somebody known to be in the table: two tables that differ in one person may be told apart "
            "with certainty."
        )
    if people is not None and people.whose is Whose.KEYS:
        return (
            "anything about the untouched columns: whoever finds your crowd reads what its people have there, and where "
            "all have the same, what you have."
        )
    if people is not None and people.whose is Whose.EDGE:
        return "anything to a person with all their edges: what is protected is one edge, and nothing larger."
    match guarantee:
        case DifferentialPrivacy(neighbours=Neighbours.REPLACE):
            return "that the number of people is secret, or that the data of others teaches nothing about you."
        case ConcentratedPrivacy(neighbours=neighbours):
            return _not_promised(DifferentialPrivacy(epsilon=Fraction(0), neighbours=neighbours), people)
        case DifferentialPrivacy():
            return "that the data of others, such as your friends, teaches nothing about you."
        case ZeroKnowledge():
            return (
                "that so many people picked at random teach nothing about you, or that the number of people is secret."
            )
        case CrowdBlending():
            return (
                "that what your crowd has in common stays secret, that somebody who knows all others of your crowd "
                "learns nothing, or that the promise survives a second release of this kind about the same people."
            )
        case OutlierPrivacy() | TailoredPrivacy() | SimpleOutlier() | StaircaseOutlier():
            return (
                "that what a large crowd has in common stays secret, or that your crowd is as large in a release with "
                "other bins."
            )
        case OutlierGroup():
            return "anything to people with more of their kind, or to a larger group."
        case DistributionalPrivacy():
            return "anything, if people were picked in another way or if it is known who was picked."


def _within(epsilon: Loss, delta: Fraction, *, rising_to: Loss | None = None) -> str:
    """How far the chance of what comes out may move."""
    top = epsilon if rising_to is None else rising_to
    if isinstance(epsilon, Infinite) or isinstance(top, Infinite) or delta == 1:
        return "nothing is promised about the output"
    extra = f", except with probability {chance(delta)}" if delta else ""
    if top == 0:
        return f"every possible output stays exactly as likely{extra}"
    factor = _factor(top) if rising_to is None else f"{_factor(epsilon)} to {_factor(top)}"
    return f"no possible output becomes more than {factor} times likelier or less likely{extra}"


def _factor(epsilon: Fraction) -> str:
    if epsilon <= LARGEST_SPELT_OUT:
        return to_text(odds_below(epsilon, DIGITS))
    with precision():
        return f"10^{math.ceil(upper(ball(epsilon) / ball(10).log()))}"


def _levels(guarantee: OutlierPrivacy) -> str:
    curve = guarantee.curve
    ends = list((curve if len(curve.pieces) <= _MOST_LEVELS else _few_levels(curve)).ends())
    parts = []
    for piece, end in ends:
        last = piece.at(end) if piece.rate and end is not None else None
        within = _within(piece.value, guarantee.delta, rising_to=last)
        if piece.rate and end is None:
            parts.append(
                f"in a crowd of {piece.start}, {within}, and {_factor(piece.rate)} times that for each further one"
            )
        else:
            parts.append(
                f"{'in any crowd' if len(ends) == 1 else f'in a crowd of {_span(piece.start, end)}'}, {within}"
            )
    return "; ".join(parts)


def _few_levels(curve: Curve) -> Curve:
    """A curve of many pieces in few steps above it, for a sentence: up to where the loss is so small a part of the most."""
    last = curve.pieces[-1]
    if isinstance(last.value, Infinite) or last.rate or not curve.is_monotone:
        return curve
    steps, start = [], 1
    for part in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)):
        following = first_where(partial(_exceeds, curve, part * last.value), 1, last.start)
        if following > start:
            steps.append(Piece(start, curve.at(following - 1)))
            start = following
    return Curve((*steps, Piece(start, last.value)))


def _exceeds(curve: Curve, most: Fraction, count: int) -> bool:
    return curve.at(count) > most


def _span(start: int, end: int | None) -> str:
    if end is None:
        return f"{start} or more"
    return f"{start}" if start == end else f"{start} to {end}"


def sampled_people(aggregate: Aggregate) -> str:
    """What it is fair to know, in words."""
    match aggregate:
        case RandomSample(k=k, n=n):
            return f"the raw data of {k:,} people picked at random" + (f" out of {n:,}" if n is not None else "")
        case BernoulliSample() | RobustSample():
            return f"the raw data of people picked at random, {_rates(aggregate)}"
        case TwoSamples(each=each, some=some):
            return f"{sampled_people(some)} and {sampled_people(each)}"
        case ExplorationSample(k=k, s=1):
            return f"the raw data and links of {k:,} people picked at random"
        case ExplorationSample(k=k, s=s):
            return f"the raw data and links of {k:,} people picked at random and of those around them, {s} for each"
        case NeighbourhoodSample(k=k, radius=radius):
            near = "their friends" if radius == 1 else f"all within {radius} links of them"
            return f"the raw data and links of {k:,} people picked at random and of {near}"


def _rates(sample: BernoulliSample | RobustSample) -> str:
    if isinstance(sample, BernoulliSample):
        return f"each with probability {to_text(sample.p)}"
    common = f"each with probability 0 or {to_text(sample.low)} to {to_text(sample.high)}"
    if not sample.exempt:
        return common
    return f"{common}, but for {_people(sample.exempt)} with up to {to_text(sample.highest)}"


def _people(number: int, one: str = "person") -> str:
    several = "people" if one == "person" else f"{one}s"
    return f"one {one}" if number == 1 else f"up to {number} {several}"


def _indented(lines: Iterable[str], by: int = 2) -> list[str]:
    return [f"{' ' * by}{line}" for line in lines]
