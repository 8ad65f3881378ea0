"""For all exact parameters: composition is an algebra, implications are monotone, rounding is against us.

Curves: for all pieces, their sum, order and envelope are what they are pointwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from hubbub.guarantees.aggregates import (
    Aggregate,
    BernoulliSample,
    ExplorationSample,
    NeighbourhoodSample,
    RandomSample,
    RobustSample,
    TwoSamples,
    includes,
)
from hubbub.guarantees.composition import (
    both,
    compose,
    crowd_blending_with_differential,
    differential,
    outlier_same_partition,
    zero_knowledge,
    zero_knowledge_same_sample,
)
from hubbub.guarantees.curve import Curve, Piece, read
from hubbub.guarantees.definitions import (
    CrowdBlending,
    DifferentialPrivacy,
    Neighbours,
    OutlierPrivacy,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation, state_promise
from hubbub.guarantees.implications import (
    add_remove_to_replace,
    differential_group,
    differential_to_crowd_blending,
    differential_to_outlier,
    differential_to_simple_outlier,
    differential_to_zero_knowledge,
    is_weaker,
    outlier_group,
    outlier_to_crowd_blending,
    outlier_to_differential,
    sanitize_sample,
    simple_outlier_to_crowd_blending,
    to_outlier,
    weaken,
    zero_knowledge_group,
    zero_knowledge_group_by_sampling,
    zero_knowledge_group_total_variation,
    zero_knowledge_to_differential,
)
from hubbub.guarantees.indistinguishability import (
    chain_losses,
    chance_sample_includes,
    exp_times,
    subsampled_loss,
    total_variation,
)
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, exp, lower, precision, upper

MANY_BITS = 2000
SLACK = 1 + Fraction(1, 10**17)  # 20 digits rounded up, and a digit to spare

finite = st.fractions(min_value=0, max_value=20, max_denominator=10**6)
losses: st.SearchStrategy[Loss] = st.one_of(finite, st.just(INFINITY))
tiny = st.builds(lambda m, e: Fraction(m, 10**e), st.integers(1, 999), st.integers(3, 60))
deltas = st.one_of(st.just(Fraction(0)), tiny, st.fractions(min_value=0, max_value=1, max_denominator=1000))
rates = st.fractions(min_value=0, max_value=1, max_denominator=1000)
sizes = st.integers(1, 30)
starts = st.lists(st.integers(2, 40), unique=True, max_size=4).map(lambda more: [1, *sorted(more)])
small = st.fractions(min_value=0, max_value=5, max_denominator=60)


@st.composite
def curves(draw: st.DrawFn, *, monotone: bool = True) -> Curve:
    """Any curve of at most five pieces; if `monotone`, each piece starts where the last one ended or above."""
    pieces: list[Piece] = []
    for start in draw(starts):
        value: Loss = draw(st.one_of(small, st.just(INFINITY)) if pieces or not monotone else small)
        if monotone and pieces:
            value = value + pieces[-1].at(start - 1)
        rate = Fraction(0) if isinstance(value, Infinite) else draw(st.one_of(st.just(Fraction(0)), small))
        pieces.append(Piece(start, value, rate))
    return Curve(tuple(pieces))


differentials = st.builds(DifferentialPrivacy, epsilon=losses, delta=deltas, group=sizes).map(state_promise)
replacing = st.builds(
    DifferentialPrivacy, epsilon=losses, delta=deltas, neighbours=st.just(Neighbours.REPLACE), group=sizes
).map(state_promise)
blending = st.builds(CrowdBlending, k=sizes, epsilon=losses).map(state_promise)
outliers = st.builds(OutlierPrivacy, curve=curves(), delta=deltas).map(state_promise)
robust = st.builds(
    lambda three, exempt: RobustSample(
        low=min(three), high=(top := sorted(three)[1]), highest=max(three) if exempt else top, exempt=exempt
    ),
    st.tuples(rates, rates, rates),
    st.integers(0, 5),
)
row_samples = st.builds(RandomSample, k=st.integers(0, 50), n=st.just(50))
independent = st.one_of(st.builds(BernoulliSample, p=rates), robust)
explorations = st.builds(ExplorationSample, k=sizes, s=sizes)
neighbourhoods = st.builds(NeighbourhoodSample, k=sizes, radius=sizes)
unlike = st.one_of(row_samples, independent, st.builds(TwoSamples, each=independent, some=row_samples))
KINDS: list[st.SearchStrategy[Aggregate]] = [row_samples, independent, explorations, neighbourhoods, unlike]
trios = st.one_of([st.tuples(kind, kind, kind) for kind in KINDS])


def knowing(aggregate: Aggregate, epsilon: Loss, delta: Fraction, group: int) -> Derivation:
    return state_promise(ZeroKnowledge(epsilon=epsilon, delta=delta, aggregate=aggregate, group=group))


knowledge = st.tuples(losses, deltas, sizes)
sampled = st.builds(lambda sample, rest: knowing(sample, *rest), row_samples, knowledge)


# --- composition ------------------------------------------------------------------------------------------------


@given(differentials, differentials, differentials)
def test_differential_composition_is_commutative_and_associative(a: Derivation, b: Derivation, c: Derivation) -> None:
    assert differential(a, b).conclusion == differential(b, a).conclusion
    left, right = differential(differential(a, b), c), differential(a, differential(b, c))
    assert left.conclusion == right.conclusion == differential(a, b, c).conclusion


@given(trios, knowledge, knowledge, knowledge)
def test_proposition_2_is_commutative_and_associative(
    samples: tuple[Aggregate, Aggregate, Aggregate],
    one: tuple[Loss, Fraction, int],
    two: tuple[Loss, Fraction, int],
    three: tuple[Loss, Fraction, int],
) -> None:
    a, b, c = (knowing(sample, *rest) for sample, rest in zip(samples, (one, two, three), strict=True))
    assert zero_knowledge(a, b).conclusion == zero_knowledge(b, a).conclusion
    left, right = zero_knowledge(zero_knowledge(a, b), c), zero_knowledge(a, zero_knowledge(b, c))
    assert left.conclusion == right.conclusion == zero_knowledge(a, b, c).conclusion


@given(trios)
def test_two_samples_know_no_less_than_each(samples: tuple[Aggregate, Aggregate, Aggregate]) -> None:
    first, second, _ = samples
    assert includes(both(first, second), first)
    assert includes(both(first, second), second)


@given(outliers, outliers, outliers)
def test_curves_compose_commutatively_and_associatively(a: Derivation, b: Derivation, c: Derivation) -> None:
    together = (
        outlier_same_partition(outlier_same_partition(a, b), c),
        outlier_same_partition(a, outlier_same_partition(b, c)),
        outlier_same_partition(c, b, a),
    )
    promises = [step.conclusion for step in together]
    for one, two in itertools.pairwise(promises):
        assert isinstance(one, OutlierPrivacy)
        assert isinstance(two, OutlierPrivacy)
        assert one.curve.at_most(two.curve)
        assert two.curve.at_most(one.curve)
        assert one.delta == two.delta


@given(blending, st.lists(losses, min_size=2, max_size=4))
def test_proposition_8_one_by_one_or_all_at_once(crowd: Derivation, epsilons: list[Loss]) -> None:
    private = [state_promise(DifferentialPrivacy(epsilon=epsilon)) for epsilon in epsilons]
    step = crowd
    for each in private:
        step = compose(step, each)
    assert step.conclusion == crowd_blending_with_differential(crowd, differential(*private)).conclusion


@given(st.lists(finite, min_size=2, max_size=4), st.integers(1, 50), st.integers(0, 50))
def test_theorem_a4_one_sample_costs_at_least_what_fresh_samples_cost(
    epsilons: list[Fraction], k: int, more: int
) -> None:
    """ln(1 + p(e^x - 1)) is convex and 0 at 0, so one sample loses at least the sum of the losses of fresh ones."""
    queries = [state_promise(DifferentialPrivacy(epsilon=e, neighbours=Neighbours.REPLACE)) for e in epsilons]
    one = zero_knowledge_same_sample(*queries, k=k, n=k + more).conclusion
    fresh = zero_knowledge(*(sanitize_sample(query, k=k, n=k + more) for query in queries)).conclusion
    assert isinstance(one, ZeroKnowledge)
    assert isinstance(fresh, ZeroKnowledge)
    assert fresh.epsilon <= one.epsilon * SLACK  # type: ignore[operator]
    assert includes(fresh.aggregate, one.aggregate)


# --- implications are monotone ----------------------------------------------------------------------------------

Implication = Callable[[Derivation], Derivation]


def keeps_order(implication: Implication, strong: Derivation, weak: Derivation) -> bool:
    return is_weaker(implication(weak).conclusion, implication(strong).conclusion)


@given(finite, finite, deltas, deltas, sizes, st.integers(1, 20), st.integers(0, 30))
def test_implications_from_differential_privacy_are_monotone(
    e1: Fraction, e2: Fraction, d1: Fraction, d2: Fraction, group: int, k: int, more: int
) -> None:
    for neighbours in Neighbours:
        strong, weak = (
            state_promise(DifferentialPrivacy(epsilon=pick(e1, e2), delta=pick(d1, d2), neighbours=neighbours))
            for pick in (min, max)
        )
        implications: list[Implication] = [lambda d: differential_group(d, group=group)]
        if neighbours is Neighbours.ADD_REMOVE:
            implications += [add_remove_to_replace, differential_to_outlier]
            implications += [lambda d: differential_to_simple_outlier(d, k=k)]
        else:
            implications += [lambda d: differential_to_zero_knowledge(d, n=k)]
            implications += [lambda d: sanitize_sample(d, k=k, n=k + more, group=group)]
        for implication in implications:
            assert keeps_order(implication, strong, weak)
    pure = [state_promise(DifferentialPrivacy(epsilon=pick(e1, e2))) for pick in (min, max)]
    assert keeps_order(lambda d: differential_to_crowd_blending(d, k=k), *pure)


@given(finite, finite, deltas, deltas, sizes, row_samples)
def test_implications_from_zero_knowledge_are_monotone(
    e1: Fraction, e2: Fraction, d1: Fraction, d2: Fraction, group: int, sample: RandomSample
) -> None:
    strong, weak = (knowing(sample, pick(e1, e2), pick(d1, d2), 1) for pick in (min, max))
    implications: list[Implication] = [
        zero_knowledge_to_differential,
        lambda d: zero_knowledge_group(d, group=group),
        lambda d: zero_knowledge_group_total_variation(d, group=group),
        lambda d: zero_knowledge_group_by_sampling(d, group=group),
    ]
    for implication in implications:
        assert keeps_order(implication, strong, weak)


@given(curves(), curves(), deltas, st.integers(2, 45), sizes)
def test_implications_from_outlier_privacy_are_monotone(
    one: Curve, two: Curve, delta: Fraction, k: int, size: int
) -> None:
    strong, weak = (
        state_promise(OutlierPrivacy(curve=one, delta=delta)),
        state_promise(OutlierPrivacy(curve=one + two, delta=delta)),
    )
    assert weaken(strong, to=weak.conclusion).conclusion == weak.conclusion
    assert keeps_order(lambda d: outlier_group(d, k=k, size=size), strong, weak)
    total = one + two
    if not isinstance(total.limit, Infinite):
        assert keeps_order(outlier_to_differential, strong, weak)
    if not isinstance(total.at(k - 1), Infinite):
        pure = (state_promise(OutlierPrivacy(curve=curve)) for curve in (one, total))
        assert keeps_order(lambda d: outlier_to_crowd_blending(d, k=k), *pure)


@given(sizes, losses)
def test_propositions_5_10_and_12_agree(k: int, epsilon: Loss) -> None:
    """Down to crowd-blending directly, through outliers or through curves: the same promise."""
    start = state_promise(DifferentialPrivacy(epsilon=epsilon))
    direct = differential_to_crowd_blending(start, k=k + 1).conclusion
    simple = differential_to_simple_outlier(start, k=k)
    assert isinstance(simple.conclusion, SimpleOutlier)
    assert simple_outlier_to_crowd_blending(simple).conclusion == direct
    if not isinstance(epsilon, Infinite):
        assert outlier_to_crowd_blending(to_outlier(simple), k=k + 1).conclusion == direct


# --- rounding ---------------------------------------------------------------------------------------------------


def truth(formula: Callable[[], arb]) -> tuple[Fraction, Fraction]:
    """A proved enclosure of a formula, far narrower than any rounding under test."""
    with precision(MANY_BITS):
        value = formula()
        return lower(value), upper(value)


def is_rounded_up(result: Loss, formula: Callable[[], arb], *, ceiling: Fraction | None = None) -> None:
    """Not below the truth, above it only by the rounding; or at the ceiling, if the truth is at or above that."""
    low, high = truth(formula)
    assert isinstance(result, Fraction)
    if ceiling is not None and result == ceiling:
        assert high * SLACK >= ceiling
    else:
        assert low <= result
        assert result <= high * SLACK


ONE = Fraction(1)
positive = finite.filter(bool)


@given(st.one_of(positive, tiny), tiny, st.integers(1, 40))
def test_a_chain_is_rounded_up(epsilon: Fraction, delta: Fraction, steps: int) -> None:
    far, result = chain_losses(epsilon, delta, steps)
    assert far == steps * epsilon
    is_rounded_up(result, lambda: sum((ball(delta) * exp(epsilon * j) for j in range(steps)), arb(0)), ceiling=ONE)


@given(st.one_of(positive, tiny), rates.filter(bool))
def test_theorem_a1_is_rounded_up(epsilon: Fraction, p: Fraction) -> None:
    result = subsampled_loss(epsilon, p)
    assert result <= epsilon
    is_rounded_up(result, lambda: (1 + ball(p) * (exp(epsilon) - 1)).log(), ceiling=epsilon)


@given(st.one_of(positive, tiny), deltas)
def test_proposition_4_is_rounded_up(epsilon: Fraction, delta: Fraction) -> None:
    result = total_variation(epsilon, delta)
    is_rounded_up(result, lambda: (exp(epsilon) - 1 + 2 * ball(delta)) / (exp(epsilon) + 1), ceiling=ONE)


@given(positive, tiny)
def test_e_to_the_epsilon_is_rounded_up(epsilon: Fraction, probability: Fraction) -> None:
    is_rounded_up(exp_times(epsilon, probability), lambda: exp(epsilon) * ball(probability), ceiling=ONE)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 300))
def test_proposition_5_is_rounded_up(rows: int, k: int, more: int) -> None:
    n = max(rows, k) + more
    factors = [Fraction(max(n - rows - j, 0), n - j) for j in range(k)]
    missed = Fraction(1)
    for factor in factors:
        missed *= factor
    assert 1 - missed <= chance_sample_includes(rows, k, n) <= min((1 - missed) * SLACK, ONE)


# --- the arithmetic holds for laws ------------------------------------------------------------------------------

weights = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)
laws = weights.map(lambda w: [Fraction(x, sum(w)) for x in w])


def excess(one: list[Fraction], other: list[Fraction], factor: Fraction) -> Fraction:
    """The largest Pr[Z in Y] - factor Pr[Z' in Y], in either direction."""
    up = sum((max(p - factor * q, Fraction(0)) for p, q in zip(one, other, strict=True)), Fraction(0))
    down = sum((max(q - factor * p, Fraction(0)) for p, q in zip(one, other, strict=True)), Fraction(0))
    return max(up, down)


@given(laws, laws, laws, positive)
def test_chained_and_total_variation_hold_for_all_laws(
    a: list[Fraction], b: list[Fraction], c: list[Fraction], epsilon: Fraction
) -> None:
    assume(epsilon < 3)
    below, above = lower(exp(epsilon)), upper(exp(2 * epsilon))
    delta = max(excess(a, b, below), excess(b, c, below))
    assert excess(a, c, above) <= chain_losses(epsilon, delta, 2)[1]
    assert excess(a, b, Fraction(1)) <= total_variation(epsilon, excess(a, b, below))


# --- curves -----------------------------------------------------------------------------------------------------

HORIZON = 60  # past every start above


@given(curves())
def test_the_text_of_a_curve_reads_back(curve: Curve) -> None:
    reading = read(str(curve))
    assert reading.curve == curve
    assert not reading.lowered


@given(curves(monotone=False))
def test_the_envelope_is_the_largest_monotone_curve_below(curve: Curve) -> None:
    envelope = curve.envelope()
    assert envelope.is_monotone
    assert envelope.at_most(curve)
    for count in range(1, HORIZON):
        # Pieces never fall, so the infimum over larger crowds is met before the horizon.
        assert envelope.at(count) == min(curve.at(later) for later in range(count, HORIZON + 1))
    assert curve.is_monotone is (envelope.at_most(curve) and curve.at_most(envelope))


@given(curves(monotone=False), curves(monotone=False))
def test_curves_add_pointwise(one: Curve, two: Curve) -> None:
    total = one + two
    assert all(total.at(count) == one.at(count) + two.at(count) for count in range(1, HORIZON))
    assert one.at_most(total)


@given(curves(monotone=False), curves(monotone=False))
def test_at_most_is_pointwise(one: Curve, two: Curve) -> None:
    far = one.piece(HORIZON), two.piece(HORIZON)
    checked = {*range(1, HORIZON)}
    gap, closing = (two.at(HORIZON), one.at(HORIZON)), far[0].rate - far[1].rate
    if closing > 0 and not isinstance(gap[0], Infinite) and not isinstance(gap[1], Infinite):
        checked.add(HORIZON + max(int((gap[0] - gap[1]) / closing), 0) + 1)  # past the crossing, if there is one
    assert one.at_most(two) is all(one.at(count) <= two.at(count) for count in checked)


@given(curves(monotone=False))
def test_the_limit_is_the_supremum(curve: Curve) -> None:
    values = [curve.at(count) for count in range(1, HORIZON)]
    assert all(value <= curve.limit for value in values)
    assert curve.limit is INFINITY or curve.limit in values
