"""What may be said less strongly, and that nothing may be said more strongly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    Guarantee,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    RobustSample,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.implications import weaken, weaken_aggregate
from hubbub.numeric.exact import INFINITY

ONE, TWO, TENTH = Fraction(1), Fraction(2), Fraction(1, 10)


def rs(k: int) -> RandomSample:
    return RandomSample(k=k, n=100)


STRICTLY_WEAKER: list[tuple[Guarantee, Guarantee]] = [
    (DifferentialPrivacy(epsilon=ONE), DifferentialPrivacy(epsilon=TWO)),
    (DifferentialPrivacy(epsilon=ONE), DifferentialPrivacy(epsilon=INFINITY)),
    (DifferentialPrivacy(epsilon=ONE), DifferentialPrivacy(epsilon=ONE, delta=TENTH)),
    (DifferentialPrivacy(epsilon=ONE, group=2), DifferentialPrivacy(epsilon=ONE)),
    (ZeroKnowledge(epsilon=ONE, aggregate=rs(5)), ZeroKnowledge(epsilon=TWO, aggregate=rs(5))),
    (ZeroKnowledge(epsilon=ONE, aggregate=rs(5)), ZeroKnowledge(epsilon=ONE, aggregate=rs(6))),
    (ZeroKnowledge(epsilon=ONE, aggregate=rs(5), group=2), ZeroKnowledge(epsilon=ONE, aggregate=rs(5))),
    (CrowdBlending(k=10, epsilon=ONE), CrowdBlending(k=9, epsilon=ONE)),
    (CrowdBlending(k=10, epsilon=ONE), CrowdBlending(k=10, epsilon=TWO)),
    (OutlierPrivacy(curve=read("1:0.1,9:1").curve), OutlierPrivacy(curve=read("1:0.1,8:1").curve)),
    (OutlierPrivacy(curve=read("1").curve), OutlierPrivacy(curve=read("1").curve, delta=TENTH)),
    (TailoredPrivacy(curve=read("1:0.1,9:1").curve), TailoredPrivacy(curve=read("1:0.1,8:1").curve, delta=TENTH)),
    (SimpleOutlier(k=5, epsilon=ONE, differential=True), SimpleOutlier(k=5, epsilon=ONE)),
    (SimpleOutlier(k=5, epsilon=ONE), SimpleOutlier(k=5, epsilon=TWO)),
    (SimpleOutlier(k=5, epsilon=ONE), SimpleOutlier(k=4, epsilon=ONE)),
    (
        StaircaseOutlier(thresholds=(9,), epsilons=(TWO, ONE)),
        StaircaseOutlier(thresholds=(9,), epsilons=(INFINITY, ONE)),
    ),
    (OutlierGroup(k=5, size=5, epsilon=ONE), OutlierGroup(k=5, size=4, epsilon=ONE)),
    (
        DistributionalPrivacy(epsilon=ONE, sample=RobustSample(low=TENTH, high=ONE, highest=ONE, exempt=0)),
        DistributionalPrivacy(epsilon=ONE, sample=BernoulliSample(p=TENTH)),
    ),
]


@pytest.mark.parametrize(("strong", "weak"), STRICTLY_WEAKER, ids=lambda g: str(g))
def test_weakening_goes_one_way(strong: Guarantee, weak: Guarantee) -> None:
    assert weaken(state_promise(strong), to=weak).conclusion == weak
    assert weaken(state_promise(strong), to=strong).conclusion == strong
    with pytest.raises(Refused, match="does not follow"):
        weaken(state_promise(weak), to=strong)


@pytest.mark.parametrize(
    ("premise", "to"),
    [
        (DifferentialPrivacy(epsilon=ONE), DifferentialPrivacy(epsilon=TWO, neighbours=Neighbours.REPLACE)),
        (DifferentialPrivacy(epsilon=ONE), CrowdBlending(k=2, epsilon=TWO)),
        (SimpleOutlier(k=5, epsilon=ONE), OutlierPrivacy(curve=read("inf").curve)),
        (
            DistributionalPrivacy(epsilon=ONE, sample=BernoulliSample(p=ONE / 2)),
            DistributionalPrivacy(epsilon=TWO, sample=BernoulliSample(p=TENTH)),
        ),
    ],
)
def test_another_notion_is_not_a_weakening(premise: Guarantee, to: Guarantee) -> None:
    with pytest.raises(Refused, match="does not follow"):
        weaken(state_promise(premise), to=to)


def test_a_smaller_sample_is_zero_knowledge_with_respect_to_a_larger() -> None:
    premise = state_promise(ZeroKnowledge(epsilon=ONE, delta=TENTH, aggregate=rs(5), group=3))
    result = weaken_aggregate(premise, aggregate=rs(50))
    assert result.conclusion == ZeroKnowledge(epsilon=ONE, delta=TENTH, aggregate=rs(50), group=3)
    with pytest.raises(Refused, match="not known to include"):
        weaken_aggregate(premise, aggregate=rs(4))
    with pytest.raises(Refused, match="not known to include"):
        weaken_aggregate(premise, aggregate=BernoulliSample(p=ONE))
    with pytest.raises(Refused, match="starts from zero-knowledge"):
        weaken_aggregate(state_promise(DifferentialPrivacy(epsilon=ONE)), aggregate=rs(4))
