"""Promises so weak that somebody has to confirm them, before anything is spent.

One definition for the command line (``--yes``), Python (``accept_weak=True``) and the page (a box to tick). It looks at
the public description of a release and at what follows from it, never at data.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import (
    ConcentratedPrivacy,
    CrowdBlending,
    Guarantee,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import Whose
from hubbub.guarantees.promise_order import requested_first
from hubbub.numeric.exact import Infinite, Loss
from hubbub.numeric.format import short
from hubbub.protocol.spec import Spec

LARGEST_EPSILON: Final = 5
LARGEST_DELTA: Final = Fraction(1, 10**5)  # and one over the number of people, where more of them are declared
SMALLEST_CROWD: Final = 5
_ODDS: Final = 148  # e^5, rounded down
_DIGITS: Final = 3
_LONGEST_CURVE: Final = 60  # signs


def weaknesses(spec: Spec) -> tuple[str, ...]:
    """What is weak about the promises of a release, a clause each; nothing where nothing is.

    Epsilon and delta are those of the promise that was asked for (:func:`requested_first`), and of the one to a population
    of which the table was declared to be a sample. A loss that grows with the
    crowd is judged where fewer than five people are alike: larger crowds are meant to be seen.

    Guarantee: it depends on the spec alone, so that it can be said before data is read, and tells nothing about them.
    """
    promises = spec.promises()
    if not promises:
        return ()
    own, first = promises[0].conclusion, requested_first(promises)[0].conclusion
    found = [*_of_loss(first), *_of_delta(first, spec.enforced_number)]
    for drawn in (step.conclusion for step in promises if _is_to_population(step)):
        found += [f"for those the table was drawn from, {said}" for said in (*_of_loss(drawn), *_of_delta(drawn, None))]
    if isinstance(own, CrowdBlending):
        found += _of_crowd(own.k, spec.enforced_number)
    if spec.people.whose is Whose.KEYS:
        found.append("columns are published untouched, and no promise covers them")
    if spec.lowered_to is not None:
        curve = str(spec.lowered_to)
        to = f" to {curve}" if len(curve) <= _LONGEST_CURVE else ""
        found.append(
            f"the curve falls somewhere and is flattened{to}, since a small crowd is owed the smallest loss of any "
            "larger one"
        )
    return tuple(found)


def check_accepted(spec: Spec, accept_weak: bool) -> None:
    """Refuse a weak promise that nobody confirmed."""
    found = () if accept_weak else weaknesses(spec)
    if found:
        raise WrongUse(f"{sentence(found)}; choose a stronger promise, or confirm this one with `accept_weak=True`")


def sentence(found: tuple[str, ...]) -> str:
    """All of it as the beginning of a sentence."""
    return f"this promises little: {'; '.join(found)}"


def _is_to_population(step: Derivation) -> bool:
    """Whether a promise is what the declared sample buys; what follows from it is as weak or weaker."""
    of_population = step.people is not None and step.people.whose is Whose.POPULATION
    return of_population and isinstance(step.conclusion, ZeroKnowledge)


def _of_loss(guarantee: Guarantee) -> Iterator[str]:
    if isinstance(guarantee, SimpleOutlier | StaircaseOutlier):
        guarantee = guarantee.as_outlier()
    if isinstance(guarantee, OutlierPrivacy):
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
