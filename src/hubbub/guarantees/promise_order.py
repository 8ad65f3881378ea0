"""The order in which the promises of a release are shown: the requested one comes first.

A promise by its name and its main numbers, short enough for a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.guarantees.definitions import (
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    Guarantee,
    OutlierGroup,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.people import People, Whose
from hubbub.numeric.format import chance, short

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation


def requested_first(promises: Sequence[Derivation]) -> tuple[Derivation, ...]:
    """The promises with the one that was asked for first, the others as they were derived.

    A secret sample is drawn so that nothing is told beyond such a sample. One loss for every crowd is differential
    privacy, whatever mechanism gives it. In all other cases the mechanism's own promise is what was asked for.
    """
    first = _promise_of_sample(promises) or _flat(promises)
    return tuple(promises) if first is None else (first, *(step for step in promises if step is not first))


def requested_promises(promises: Sequence[Derivation]) -> tuple[Derivation, ...]:
    """The promise that was asked for, and the first to any other people than its own."""
    first: dict[People | None, Derivation] = {}
    for step in requested_first(promises):
        first.setdefault(step.people, step)
    return tuple(first.values())


def _promise_of_sample(promises: Sequence[Derivation]) -> Derivation | None:
    """What a secret sample promises to the people of the data; not to a population that was only declared."""
    for step in promises:
        declared = step.people is not None and step.people.whose is Whose.POPULATION
        if isinstance(step.conclusion, ZeroKnowledge) and not declared:
            return step
    return None


def _flat(promises: Sequence[Derivation]) -> Derivation | None:
    own = promises[0].conclusion if promises else None
    if not isinstance(own, OutlierPrivacy | TailoredPrivacy) or not own.curve.is_flat:
        return None
    return next((step for step in promises if isinstance(step.conclusion, DifferentialPrivacy)), None)


_DIGITS: Final = 3


def in_brief(guarantee: Guarantee) -> str:
    """The name of a promise with its numbers, three digits each and rounded up.

    >>> in_brief(DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 10**6)))
    'differential privacy, epsilon 1, delta 1 in 1 million'
    """
    match guarantee:
        case ConcentratedPrivacy(rho=rho):
            numbers = [f"rho {short(rho, _DIGITS)}"]
        case CrowdBlending(k=k, epsilon=epsilon, delta=delta):
            lost = [f"epsilon {short(epsilon, _DIGITS)}"] if epsilon else []
            numbers = [f"crowds of at least {k}", *lost, *_delta_text(delta)]
        case OutlierPrivacy(curve=curve, delta=delta):
            loss = f"epsilon {short(curve.at(1), _DIGITS)}" if curve.is_flat else "epsilon by the size of the crowd"
            numbers = [loss, *_delta_text(delta)]
        case TailoredPrivacy(curve=curve, delta=delta):
            return in_brief(OutlierPrivacy(curve=curve, delta=delta)).replace(
                OutlierPrivacy.notion, guarantee.notion, 1
            )
        case SimpleOutlier() | StaircaseOutlier():
            return in_brief(guarantee.as_outlier())
        case DifferentialPrivacy() | ZeroKnowledge() | DistributionalPrivacy() | OutlierGroup():
            numbers = [f"epsilon {short(guarantee.epsilon, _DIGITS)}", *_delta_text(guarantee.delta)]
    return f"{guarantee.notion} privacy, {', '.join(numbers)}"


def _delta_text(delta: Fraction) -> list[str]:
    return [f"delta {chance(delta)}"] if delta else []
