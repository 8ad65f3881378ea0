"""What two releases promise together, and what is refused, with what holds instead."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from hubbub.channels.catalogue import channel
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.composition import (
    EXACT_CROWDS,
    INDEPENDENT,
    ONE_PARTITION,
    both,
    compose,
    crowd_blending,
    crowd_blending_same_partition,
    crowd_blending_with_differential,
    differential,
    outlier_different_partitions,
    outlier_same_partition,
    zero_knowledge,
    zero_knowledge_same_sample,
)
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import (
    Aggregate,
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    ExplorationSample,
    NeighbourhoodSample,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    RobustSample,
    SimpleOutlier,
    TwoSamples,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation, state_promise
from hubbub.guarantees.implications import outlier_to_differential
from hubbub.numeric.exact import INFINITY, Loss, to_float

HALF, MILLIONTH, ONE = Fraction(1, 2), Fraction(1, 10**6), Fraction(1)


def dp(epsilon: Loss, delta: Fraction = Fraction(0), *, replace: bool = False, group: int = 1) -> Derivation:
    neighbours = Neighbours.REPLACE if replace else Neighbours.ADD_REMOVE
    return state_promise(DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=neighbours, group=group))


def zk(aggregate: Aggregate, epsilon: Loss = HALF, delta: Fraction = MILLIONTH, group: int = 1) -> Derivation:
    return state_promise(ZeroKnowledge(epsilon=epsilon, delta=delta, aggregate=aggregate, group=group))


def cb(k: int = 10, epsilon: Loss = HALF) -> Derivation:
    return state_promise(CrowdBlending(k=k, epsilon=epsilon))


def outlier(text: str, delta: Fraction = Fraction(0)) -> Derivation:
    return state_promise(OutlierPrivacy(curve=read(text).curve, delta=delta))


def robust(low: str, high: str, highest: str, exempt: int) -> RobustSample:
    return RobustSample(low=Fraction(low), high=Fraction(high), highest=Fraction(highest), exempt=exempt)


def test_differential_privacy_adds() -> None:
    result = differential(dp(HALF, MILLIONTH, group=3), dp(ONE), dp(HALF, MILLIONTH, group=2))
    assert result.conclusion == DifferentialPrivacy(epsilon=Fraction(2), delta=2 * MILLIONTH)
    assert len(result.premises) == 3
    assert differential(dp(HALF, group=3), dp(HALF, group=2)).conclusion == dp(ONE, group=2).conclusion
    assert differential(dp(HALF, Fraction(2, 3)), dp(HALF, Fraction(2, 3))).conclusion == dp(ONE, ONE).conclusion


def test_differential_privacy_needs_one_neighbouring_relation() -> None:
    with pytest.raises(Refused, match="one neighbouring relation"):
        differential(dp(HALF), dp(HALF, replace=True))


@pytest.mark.parametrize("theorem", [differential, zero_knowledge, outlier_same_partition])
def test_one_release_is_no_composition(theorem: Callable[..., Derivation]) -> None:
    with pytest.raises(WrongUse, match="at least two"):
        theorem(dp(HALF))


def test_proposition_2_zero_knowledge_adds_and_so_do_the_samples() -> None:
    result = zero_knowledge(zk(RandomSample(k=10, n=100), group=2), zk(RandomSample(k=20, n=100), ONE, group=3))
    assert result.conclusion == ZeroKnowledge(
        epsilon=Fraction(3, 2), delta=2 * MILLIONTH, aggregate=RandomSample(k=30, n=100), group=2
    )
    assert any("independently" in text for text in result.all_assumptions())


def two(p: Fraction, k: int) -> TwoSamples:
    return TwoSamples(each=BernoulliSample(p=p), some=RandomSample(k=k, n=10))


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (RandomSample(k=60, n=100), RandomSample(k=60, n=100), RandomSample(k=100, n=100)),
        (RandomSample(k=60), RandomSample(k=60), RandomSample(k=120)),
        (RandomSample(k=60), RandomSample(k=60, n=100), RandomSample(k=100, n=100)),
        (BernoulliSample(p=HALF), BernoulliSample(p=HALF), BernoulliSample(p=Fraction(3, 4))),
        (BernoulliSample(p=HALF), robust("1/10", "1/2", "1", 3), robust("0", "3/4", "1", 3)),
        (robust("0", "1/2", "1/2", 0), robust("1/4", "1/2", "3/4", 1), robust("0", "3/4", "7/8", 1)),
        (ExplorationSample(k=5, s=3), ExplorationSample(k=6, s=2), ExplorationSample(k=11, s=3)),
        (RandomSample(k=6, n=10), BernoulliSample(p=HALF), two(HALF, 6)),
        (two(HALF, 6), RandomSample(k=6, n=10), two(HALF, 10)),
        (two(HALF, 6), BernoulliSample(p=HALF), two(Fraction(3, 4), 6)),
        (two(HALF, 1), two(HALF, 2), two(Fraction(3, 4), 3)),
        (NeighbourhoodSample(k=5, radius=1), NeighbourhoodSample(k=6, radius=2), NeighbourhoodSample(k=11, radius=2)),
        (NeighbourhoodSample(k=5, radius=1), ExplorationSample(k=6, s=1), NeighbourhoodSample(k=11, radius=1)),
    ],
)
def test_the_class_that_draws_both_samples(first: Aggregate, second: Aggregate, result: Aggregate) -> None:
    assert both(first, second) == result
    assert both(second, first) == result


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (RandomSample(k=1, n=10), RandomSample(k=1, n=11), "different data sets"),
        (RandomSample(k=1, n=10), ExplorationSample(k=1, s=1), "no class is known"),
        (two(HALF, 1), RandomSample(k=1, n=8), "different data sets"),
        (ExplorationSample(k=1, s=2), NeighbourhoodSample(k=1, radius=1), "no class is known"),
    ],
)
def test_samples_that_do_not_go_together_are_refused(first: Aggregate, second: Aggregate, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        zero_knowledge(zk(first), zk(second))


def test_proposition_2_two_independent_samples_come_out_of_k1_plus_k2_rows() -> None:
    """The repair of its proof, by enumeration: draw the overlap from its law and the rest from distinct rows."""
    n, k1, k2 = 5, 2, 2
    law: dict[tuple[frozenset[int], frozenset[int]], Fraction] = {}
    pools = list(itertools.combinations(range(n), k1 + k2))
    for pool in pools:
        for first in itertools.combinations(pool, k1):
            rest = [row for row in pool if row not in first]
            for overlap in range(k1 + 1):
                chance = Fraction(math.comb(k1, overlap) * math.comb(n - k1, k2 - overlap), math.comb(n, k2))
                seconds = [
                    frozenset(shared) | frozenset(new)
                    for shared in itertools.combinations(first, overlap)
                    for new in itertools.combinations(rest, k2 - overlap)
                ]
                for second in seconds:
                    pair = frozenset(first), second
                    weight = chance / (len(pools) * math.comb(k1 + k2, k1) * len(seconds))
                    law[pair] = law.get(pair, Fraction(0)) + weight
    assert len(law) == math.comb(n, k1) * math.comb(n, k2)
    assert set(law.values()) == {Fraction(1, math.comb(n, k1) * math.comb(n, k2))}


def test_two_independent_choices_come_out_of_one_at_the_rate_of_the_union() -> None:
    """For each person chosen, toss which of the two chose them: the result is two independent choices."""
    p1, p2 = Fraction(1, 3), Fraction(1, 4)
    union = both(BernoulliSample(p=p1), BernoulliSample(p=p2))
    assert isinstance(union, BernoulliSample)
    tosses = {(True, False): p1 * (1 - p2), (False, True): (1 - p1) * p2, (True, True): p1 * p2}
    assert sum(tosses.values()) == union.p  # so that dividing by it makes a law
    for people in itertools.product([(False, False), *tosses], repeat=2):
        made = math.prod(union.p * (tosses[who] / union.p) if any(who) else 1 - union.p for who in people)
        independent = math.prod((p1 if a else 1 - p1) * (p2 if b else 1 - p2) for a, b in people)
        assert made == independent


def test_theorem_a4_one_sample_for_several_queries() -> None:
    result = zero_knowledge_same_sample(dp(HALF, MILLIONTH, replace=True), dp(HALF, replace=True), k=10, n=100)
    promise = result.conclusion
    assert isinstance(promise, ZeroKnowledge)
    assert promise.aggregate == RandomSample(k=10, n=100)
    assert promise.delta == MILLIONTH / 10
    assert math.isclose(to_float(promise.epsilon, round_up=True), math.log(1 + 0.1 * (math.e - 1)), rel_tol=1e-12)
    assert [step.theorem.id for step in result.steps()][-2:] == ["together.differential", "implied.sanitize-sample"]


def test_curves_add_on_one_partition() -> None:
    result = outlier_same_partition(
        outlier("1:0.1,5:1", MILLIONTH), state_promise(SimpleOutlier(k=4, epsilon=ONE)), dp(HALF)
    )
    assert result.conclusion == OutlierPrivacy(curve=read("1:0.85,5:inf").curve, delta=MILLIONTH)
    assert any("same public partition" in text for text in result.all_assumptions())
    with pytest.raises(Refused, match="only simple and staircase"):
        outlier_same_partition(outlier("1"), cb())


def test_outlier_privacy_on_different_partitions_is_refused_with_what_holds() -> None:
    with pytest.raises(Refused, match=r"loses up to epsilon1\(c1\) \+ epsilon2\(c2\)"):
        outlier_different_partitions(outlier("1:0.1,5:1"), outlier("1"))


def test_proposition_7_is_refused_with_its_witness_and_the_ways_out() -> None:
    with pytest.raises(Refused) as refusal:
        crowd_blending(cb(10), cb(12))
    message = str(refusal.value)
    assert "with 12 people of kind 1, one of kind 2 and 12 of kind 3" in message
    for way in ("a function of the first", "Proposition 8", "fresh secret sample", "one cube"):
        assert way in message


def test_proposition_8_adds_twice_epsilon() -> None:
    result = crowd_blending_with_differential(cb(10, HALF), dp(ONE))
    assert result.conclusion == CrowdBlending(k=10, epsilon=Fraction(5, 2))
    sharp = crowd_blending_with_differential(cb(10, HALF), dp(ONE), exact_crowds=True)
    assert sharp.conclusion == CrowdBlending(k=10, epsilon=Fraction(2))
    assert any("exactly interchangeable" in text for text in sharp.all_assumptions())
    shy = crowd_blending_with_differential(cb(10, ONE), dp(HALF), exact_crowds=True)
    assert shy.conclusion == CrowdBlending(k=10, epsilon=Fraction(3, 2))


@pytest.mark.parametrize("private", [dp(ONE, replace=True)])
def test_proposition_8_needs_add_remove(private: Derivation) -> None:
    with pytest.raises(Refused, match="needs differential privacy under add/remove"):
        crowd_blending_with_differential(cb(), private)


def test_compose_picks_the_theorem_in_either_order() -> None:
    table = zk(RandomSample(k=10, n=100))
    pairs = [
        (dp(HALF), dp(ONE), False),
        (table, zk(RandomSample(k=20, n=100)), False),
        (cb(), dp(ONE), False),
        (outlier("1"), outlier("slope:1"), True),
        (outlier("1"), dp(ONE), True),
        (state_promise(SimpleOutlier(k=3, epsilon=ONE)), outlier("1"), True),
    ]
    for first, second, same in pairs:
        one, two = (compose(*order, same_partition=same) for order in ((first, second), (second, first)))
        assert one.conclusion == two.conclusion
    assert compose(dp(HALF), dp(ONE), same_partition=True).conclusion == dp(Fraction(3, 2)).conclusion


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (cb(), cb(), "Proposition 7"),
        (outlier("1"), outlier("1"), "not known to be on one partition"),
        (outlier("1"), dp(HALF), "not known to be on one partition"),
        (cb(), outlier("1"), "no theorem composes"),
        (cb(), zk(RandomSample(k=1)), "no theorem composes"),
        (zk(RandomSample(k=1)), dp(HALF, replace=True), "no theorem composes"),
        (zk(RandomSample(k=1)), outlier("1"), "no theorem composes"),
        (
            state_promise(DistributionalPrivacy(epsilon=HALF, sample=BernoulliSample(p=HALF))),
            state_promise(DistributionalPrivacy(epsilon=HALF, sample=BernoulliSample(p=HALF))),
            "no theorem composes",
        ),
        (state_promise(OutlierGroup(k=1, size=1, epsilon=HALF)), dp(HALF), "no theorem composes"),
    ],
)
def test_compose_refuses_what_it_does_not_understand(first: Derivation, second: Derivation, reason: str) -> None:
    for one, two in ((first, second), (second, first)):
        with pytest.raises(Refused, match=reason):
            compose(one, two)


def test_composition_on_one_partition_crowd_blending() -> None:
    result = compose(cb(20, HALF), cb(5, ONE), same_partition=True)
    assert result.conclusion == cb(5, ONE + HALF).conclusion
    assert {ONE_PARTITION, EXACT_CROWDS, INDEPENDENT} == set(result.assumptions)
    three = crowd_blending_same_partition(cb(20, HALF), cb(5, ONE), cb(7, ONE)).conclusion
    assert three == cb(5, 2 * ONE + HALF).conclusion


@pytest.mark.parametrize(("first", "second"), [(4, 3), (2, 2), (2, 5)])
def test_the_joint_law_of_two_tables_of_one_partition_is_no_further_apart_than_the_sum(first: int, second: int) -> None:
    """Every count below both crowds, outcome by outcome: what one person less changes of both tables together."""
    tables = channel("noisy-below", k=first, epsilon="0.5"), channel("noisy-below", k=second, epsilon="1")
    promise = crowd_blending_same_partition(cb(first, HALF), cb(second, ONE)).conclusion
    assert isinstance(promise, CrowdBlending)
    worst = 0.0
    for count in range(1, promise.k):
        losses = [
            [float(abs((each.law(count).mass(x) / each.law(count - 1).mass(x)).log())) for x in range(-5, 10)]
            for each in tables
        ]
        worst = max(worst, *(a + b for a in losses[0] for b in losses[1]))
    assert worst == pytest.approx(to_float(promise.epsilon, round_up=True), abs=1e-9)


def test_the_way_through_differential_privacy_is_open_on_different_partitions() -> None:
    first, second = (outlier_to_differential(outlier(text)) for text in ("1:0.1,9:1", "0.5"))
    assert compose(first, second).conclusion == dp(Fraction(3, 2)).conclusion


def test_infinity_stays_infinity() -> None:
    assert differential(dp(INFINITY), dp(HALF)).conclusion == dp(INFINITY).conclusion
    assert crowd_blending_with_differential(cb(3, INFINITY), dp(HALF)).conclusion == cb(3, INFINITY).conclusion
