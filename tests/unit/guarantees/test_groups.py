"""Group forms at known numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub.errors import Refused
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import (
    BernoulliSample,
    DifferentialPrivacy,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation, state_promise
from hubbub.guarantees.implications import (
    differential_group,
    outlier_group,
    to_outlier,
    zero_knowledge_group,
    zero_knowledge_group_by_sampling,
    zero_knowledge_group_total_variation,
)
from hubbub.numeric.exact import INFINITY, Loss, to_float

HALF, MILLIONTH = Fraction(1, 2), Fraction(1, 10**6)
SAMPLE = RandomSample(k=100, n=10_000)


def zk(epsilon: Loss = HALF, delta: Fraction = MILLIONTH, group: int = 1) -> Derivation:
    return state_promise(ZeroKnowledge(epsilon=epsilon, delta=delta, aggregate=SAMPLE, group=group))


def promised(derivation: Derivation) -> ZeroKnowledge:
    assert isinstance(derivation.conclusion, ZeroKnowledge)
    return derivation.conclusion


def near(value: Loss, expected: float) -> bool:
    return math.isclose(to_float(value, round_up=True), expected, rel_tol=1e-12)


def test_group_privacy_of_differential_privacy() -> None:
    premise = state_promise(DifferentialPrivacy(epsilon=HALF, delta=MILLIONTH, neighbours=Neighbours.REPLACE))
    result = differential_group(premise, group=3).conclusion
    assert isinstance(result, DifferentialPrivacy)
    assert (result.epsilon, result.group, result.neighbours) == (Fraction(3, 2), 3, Neighbours.REPLACE)
    assert near(result.delta, 1e-6 * math.expm1(1.5) / math.expm1(0.5))


def test_groups_are_taken_in_blocks_of_what_is_known() -> None:
    pairs = state_promise(DifferentialPrivacy(epsilon=HALF, group=2))
    assert [differential_group(pairs, group=c).conclusion for c in (1, 2, 3, 4)] == [
        DifferentialPrivacy(epsilon=epsilon, group=c)
        for c, epsilon in ((1, HALF), (2, HALF), (3, 2 * HALF), (4, 2 * HALF))
    ]
    assert promised(zero_knowledge_group(zk(group=2), group=4)).epsilon == 3 * HALF


def test_proposition_3_takes_2c_minus_1_links() -> None:
    result = promised(zero_knowledge_group(zk(), group=3))
    assert (result.epsilon, result.group, result.aggregate) == (Fraction(5, 2), 3, SAMPLE)
    assert near(result.delta, 1e-6 * math.expm1(2.5) / math.expm1(0.5))
    assert promised(zero_knowledge_group(zk(), group=1)) == promised(zk())


def test_proposition_4_sharpened_is_less_than_half_of_the_printed_bound() -> None:
    for delta in (Fraction(0), MILLIONTH):
        result = promised(zero_knowledge_group_total_variation(zk(Fraction(1, 10), delta), group=2))
        printed = 3 * (math.expm1(0.1) + float(delta))
        assert result.epsilon == 0
        assert near(result.delta, 3 * (math.expm1(0.1) + 2 * float(delta)) / (math.exp(0.1) + 1))
        assert float(result.delta) < printed / 2
    assert promised(zero_knowledge_group_total_variation(zk(INFINITY), group=1)).delta == 1


def test_proposition_5_counts_the_samples_that_meet_the_group() -> None:
    result = promised(zero_knowledge_group_by_sampling(zk(), group=3))
    met = 1 - Fraction(math.comb(9998, 100), math.comb(10_000, 100))
    assert (result.epsilon, result.group) == (HALF, 3)
    assert near(result.delta, 1e-6 + math.exp(0.5) * float(met))
    assert float(result.delta) < 1e-6 + math.exp(0.5) * 2 * 100 / 10_000
    assert promised(zero_knowledge_group_by_sampling(zk(), group=1)) == promised(zk())


def test_proposition_5_needs_a_sample_of_known_size() -> None:
    for aggregate in (RandomSample(k=10), BernoulliSample(p=HALF)):
        premise = state_promise(ZeroKnowledge(epsilon=HALF, aggregate=aggregate))
        with pytest.raises(Refused, match="with n known"):
            zero_knowledge_group_by_sampling(premise, group=2)
    with pytest.raises(Refused, match="does not fit"):
        zero_knowledge_group_by_sampling(zk(), group=10_001)


def test_proposition_7_groups_of_outliers() -> None:
    pure = to_outlier(state_promise(SimpleOutlier(k=100, epsilon=Fraction(1))))
    assert outlier_group(pure, k=100, size=100).conclusion == OutlierGroup(k=100, size=100, epsilon=Fraction(1))
    noisy = to_outlier(state_promise(SimpleOutlier(k=100, epsilon=Fraction(1), delta=MILLIONTH)))
    result = outlier_group(noisy, k=100, size=100).conclusion
    assert isinstance(result, OutlierGroup)
    assert result.epsilon == 1
    assert near(result.delta, 1e-6 * math.expm1(1) / math.expm1(0.01))


def test_proposition_7_promises_nothing_where_the_curve_does_not() -> None:
    premise = state_promise(OutlierPrivacy(curve=read("1:0.1,5:inf").curve))
    assert outlier_group(premise, k=4, size=2).conclusion == OutlierGroup(k=4, size=2, epsilon=Fraction(1, 5))
    assert outlier_group(premise, k=5, size=2).conclusion == OutlierGroup(k=5, size=2, epsilon=INFINITY)
