"""Promises so weak that somebody has to confirm them, before anything is spent.

One definition for the command line (``--yes``), Python (``accept_weak=True``) and the page (a box to tick). It looks at
the public description of a release and at what follows from it, never at data.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import (
    ConcentratedPrivacy,
    CrowdBlending,
    Guarantee,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.people import ROW, People, Whose
from hubbub.guarantees.promise_order import requested_first
from hubbub.numeric.exact import Infinite, Loss
from hubbub.numeric.format import short

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.bound import Bound

LARGEST_EPSILON: Final = 5
LARGEST_DELTA: Final = Fraction(1, 10**5)  # and one over the number of people, where more of them are declared
SMALLEST_CROWD: Final = 5
_ODDS: Final = 148  # e^5, rounded down
_DIGITS: Final = 3
_EACH_ROW: Final = "each row counts as another person, though the column"
_HIDDEN: Final = "hardly anything will be shown, because"
_LONGEST_CURVE: Final = 60  # signs


def weaknesses(bound: Bound, unnamed_person: str | None = None) -> tuple[str, ...]:
    """What is weak about the promises of a release, a clause each; nothing where nothing is. `unnamed_person` is a column
    of the table that may say who a row is about.

    Epsilon and delta are those of the promise that was asked for (:func:`requested_first`), and of the one to a population
    of which the table was declared to be a sample. A loss that grows with the
    crowd is judged where fewer than five people are alike: larger crowds are meant to be seen.

    Guarantee: it depends on the spec and a column's name alone, so that it can be said before data is read, and tells
    nothing about them.
    """
    spec, promises = bound.spec, bound.promises
    if not promises:
        return ()
    own, first = promises[0].conclusion, requested_first(promises)[0].conclusion
    found = [*_of_loss(first), *_of_delta(first, spec.enforced_number)]
    for drawn in (step.conclusion for step in promises if _is_to_population(step)):
        found += [
            f"for those the table was drawn from, {sentence}"
            for sentence in (*_of_loss(drawn), *_of_delta(drawn, None))
        ]
    if isinstance(own, CrowdBlending):
        found += _of_crowd(own.k, spec.enforced_number)
    if spec.people.whose is Whose.KEYS:
        found.append("columns are published untouched, and no promise covers them")
    found += weak_unit(spec.people, unnamed_person)
    if spec.lowered_to is not None:
        curve = str(spec.lowered_to)
        to = f" to {curve}" if len(curve) <= _LONGEST_CURVE else ""
        found.append(
            f"the curve falls somewhere and is flattened{to}, since a small crowd is owed the smallest loss of any "
            "larger one"
        )
    if spec.shows_nothing is not None:
        found.append(f"{_HIDDEN} {spec.shows_nothing}")
    return tuple(found)


def weak_unit(people: People, unnamed_person: str | None) -> tuple[str, ...]:
    """The clause that rows may not be people, where the name of a column says so."""
    if unnamed_person is None or people.unit != ROW:
        return ()
    return (f"{_EACH_ROW} {unnamed_person!r} may say who a row is about, and whoever has several rows gets less",)


def check_accepted(bound: Bound, accept_weak: bool, unnamed_person: str | None = None) -> None:
    """Refuse a weak promise that nobody confirmed."""
    check_confirmed(() if accept_weak else weaknesses(bound, unnamed_person))


def check_confirmed(found: tuple[str, ...], how: str = "`accept_weak=True`") -> None:
    """Refuse where something is weak."""
    if found:
        raise WrongUse(f"{sentence(found)}; {remedy(found)}, or confirm this one with {how}")


def sentence(found: tuple[str, ...]) -> str:
    """All of it as the beginning of a sentence."""
    little = "is of little use" if all(clause.startswith(_HIDDEN) for clause in found) else "promises little"
    return f"this {little}: {'; '.join(found)}"


def remedy(found: tuple[str, ...]) -> str:
    """What to do about it."""
    begin = {
        _EACH_ROW: "name that column with `person`",
        _HIDDEN: "choose a smaller `k`, or publish the official record alone",
    }
    steps = [next((step for start, step in begin.items() if clause.startswith(start)), "") for clause in found]
    known = [step for step in begin.values() if step in steps]
    return " and ".join([*known, *(["choose a stronger promise"] if "" in steps else [])])


def _is_to_population(step: Derivation) -> bool:
    """Whether a promise is what the declared sample buys; what follows from it is as weak or weaker."""
    of_population = step.people is not None and step.people.whose is Whose.POPULATION
    return of_population and isinstance(step.conclusion, ZeroKnowledge)


def _of_loss(guarantee: Guarantee) -> Iterator[str]:
    if isinstance(guarantee, SimpleOutlier | StaircaseOutlier):
        guarantee = guarantee.as_outlier()
    if isinstance(guarantee, OutlierPrivacy | TailoredPrivacy):
        rare = SMALLEST_CROWD - 1
        loss = guarantee.curve.at(rare)
        if loss > LARGEST_EPSILON:
            sentence = "may be shown exactly"
            lost = sentence if isinstance(loss, Infinite) else f"lose epsilon = {_text(loss)}, above {LARGEST_EPSILON}"
            yield f"people in a crowd of {rare} {lost}"
        return
    if isinstance(guarantee, ConcentratedPrivacy):  # never asked for by itself
        return
    loss = guarantee.epsilon
    if loss > LARGEST_EPSILON:
        yield (
            f"epsilon = {_text(loss)} is above {LARGEST_EPSILON}, so one person may make an output more than {_ODDS} "
            "times as likely"
        )


def _of_delta(guarantee: Guarantee, people: int | None) -> Iterator[str]:
    delta = Fraction(0) if isinstance(guarantee, ConcentratedPrivacy) else guarantee.delta
    if delta > LARGEST_DELTA:
        yield f"delta = {_text(delta)} is above 1 in {LARGEST_DELTA.denominator:,}, and with that chance nothing holds"
    elif people is not None and delta > Fraction(1, people):
        yield f"delta = {_text(delta)} is above 1 in the {people:,} people declared, and with that chance nothing holds"


def _of_crowd(k: int, people: int | None) -> Iterator[str]:
    if k < SMALLEST_CROWD:
        yield f"a crowd of {k} is below {SMALLEST_CROWD}, so few that they may know each other"
    if people is not None and k > people:
        yield f"a crowd of {k:,} is above the {people:,} people declared, so nothing could be shown"


def _text(loss: Loss) -> str:
    """A few digits, rounded up."""
    return short(loss, _DIGITS)
