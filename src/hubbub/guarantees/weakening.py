"""Weaker guarantees of the same notion: larger parameters that follow from the definition."""

from __future__ import annotations

from hubbub.errors import Refused
from hubbub.guarantees.aggregates import covers, includes
from hubbub.guarantees.definitions import (
    Aggregate,
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
from hubbub.guarantees.derivation import GLP, Derivation, Theorem


def is_weaker(weak: Guarantee, strong: Guarantee) -> bool:
    """Whether `weak` is the same notion as `strong` with numbers that promise no more.

    Guarantee: if True, every mechanism with the promise `strong` has the promise `weak`, by the definition. False also
    where that is not known.
    """
    match strong, weak:
        case DifferentialPrivacy(), DifferentialPrivacy():
            return strong.neighbours is weak.neighbours and weak.group <= strong.group and _looser(weak, strong)
        case ConcentratedPrivacy(), ConcentratedPrivacy():
            same = strong.neighbours is weak.neighbours
            return same and weak.group <= strong.group and strong.rho <= weak.rho
        case ZeroKnowledge(), ZeroKnowledge():
            same_or_larger = weak.aggregate == strong.aggregate or includes(weak.aggregate, strong.aggregate)
            return same_or_larger and weak.group <= strong.group and _looser(weak, strong)
        case CrowdBlending(), CrowdBlending():
            return weak.k <= strong.k and _looser(weak, strong)
        case (
            (OutlierPrivacy() | TailoredPrivacy() | SimpleOutlier() | StaircaseOutlier()),
            (OutlierPrivacy() | TailoredPrivacy() | SimpleOutlier() | StaircaseOutlier()),
        ):
            return type(weak) is type(strong) and _lower(strong, weak)
        case OutlierGroup(), OutlierGroup():
            return weak.k <= strong.k and weak.size <= strong.size and _looser(weak, strong)
        case DistributionalPrivacy(), DistributionalPrivacy():
            return covers(strong.sample, weak.sample) and _looser(weak, strong)
        case _:
            return False


_Pair = DifferentialPrivacy | CrowdBlending | ZeroKnowledge | OutlierGroup | DistributionalPrivacy
_Curved = OutlierPrivacy | TailoredPrivacy | SimpleOutlier | StaircaseOutlier


def _looser(weak: _Pair, strong: _Pair) -> bool:
    return strong.epsilon <= weak.epsilon and strong.delta <= weak.delta


def _lower(strong: _Curved, weak: _Curved) -> bool:
    low, high = _curve(strong), _curve(weak)
    return low.curve.at_most(high.curve) and low.delta <= high.delta


def _curve(given: _Curved) -> OutlierPrivacy | TailoredPrivacy:
    return given if isinstance(given, OutlierPrivacy | TailoredPrivacy) else given.as_outlier()


def weaken(premise: Derivation, *, to: Guarantee) -> Derivation:
    """The same promise with larger parameters.

    Guarantee: a larger epsilon, a larger delta, a smaller group, a smaller crowd k (crowd-blending), a curve nowhere
    lower (outlier), a larger class of aggregate information (zero-knowledge) or fewer distributions (distributional)
    ask for less: if the premise holds then so does `to`, by its definition. Anything else is refused.
    """
    if not is_weaker(to, premise.conclusion):
        raise Refused(f"{to} does not follow from {premise.conclusion} by rounding up; derive it another way")
    return premise.then(Theorem("weaker.weaken", "Weakening", "the definition of the conclusion"), to)


def weaken_aggregate(premise: Derivation, *, aggregate: Aggregate) -> Derivation:
    """The same promise with a larger class of aggregate information for the simulator.

    Guarantee: if M is (epsilon, delta)-ZK with respect to a class, then also with respect to every larger one, such as
    RS(k') for k' >= k: whoever receives a large sample can thin it. So a release on a smaller sample is ZK with
    respect to the larger one.
    """
    theorem = Theorem("weaker.weaken-aggregate", "Monotone aggregate information", GLP)
    given = premise.concluding(ZeroKnowledge, theorem)
    if not includes(aggregate, given.aggregate):
        raise Refused(
            f"{theorem}: {aggregate} is not known to include {given.aggregate}; name a larger class of its kind"
        )
    return premise.then(
        theorem, ZeroKnowledge(epsilon=given.epsilon, delta=given.delta, aggregate=aggregate, group=given.group)
    )
