"""A promise by its name and its main numbers, short enough for a heading."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

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
from hubbub.numeric.format import chance, short

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
            numbers = [f"crowds of at least {k}", *lost, *_delta(delta)]
        case OutlierPrivacy(curve=curve, delta=delta):
            loss = f"epsilon {short(curve.at(1), _DIGITS)}" if curve.is_flat else "epsilon by the size of the crowd"
            numbers = [loss, *_delta(delta)]
        case TailoredPrivacy(curve=curve, delta=delta):
            return in_brief(OutlierPrivacy(curve=curve, delta=delta)).replace(
                OutlierPrivacy.notion, guarantee.notion, 1
            )
        case SimpleOutlier() | StaircaseOutlier():
            return in_brief(guarantee.as_outlier())
        case DifferentialPrivacy() | ZeroKnowledge() | DistributionalPrivacy() | OutlierGroup():
            numbers = [f"epsilon {short(guarantee.epsilon, _DIGITS)}", *_delta(guarantee.delta)]
    return f"{guarantee.notion} privacy, {', '.join(numbers)}"


def _delta(delta: Fraction) -> list[str]:
    return [f"delta {chance(delta)}"] if delta else []
