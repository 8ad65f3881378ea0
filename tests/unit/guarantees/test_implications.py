"""Each implication at known numbers, and each refusal with its reason. Exact laws where the theorem is about laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from hubbub.channels.catalogue import channel
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.curve import flat, read
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    Neighbours,
    OutlierPrivacy,
    RandomSample,
    SimpleOutlier,
    StaircaseOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation, state_promise
from hubbub.guarantees.implications import (
    add_remove_to_replace,
    always_blending_to_differential,
    differential_to_crowd_blending,
    differential_to_outlier,
    differential_to_simple_outlier,
    differential_to_zero_knowledge,
    outlier_to_crowd_blending,
    outlier_to_differential,
    replacement_loss,
    sanitize_sample,
    simple_outlier_to_crowd_blending,
    to_outlier,
    zero_knowledge_to_differential,
)
from hubbub.numeric.exact import INFINITY, Loss, to_float

HALF, MILLIONTH = Fraction(1, 2), Fraction(1, 10**6)


def dp(epsilon: Loss, delta: Fraction = Fraction(0), *, replace: bool = False, group: int = 1) -> Derivation:
    neighbours = Neighbours.REPLACE if replace else Neighbours.ADD_REMOVE
    return state_promise(DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=neighbours, group=group))


def outlier(text: str, delta: Fraction = Fraction(0)) -> Derivation:
    return state_promise(OutlierPrivacy(curve=read(text).curve, delta=delta))


def near(value: Loss, expected: float) -> bool:
    return math.isclose(to_float(value, round_up=True), expected, rel_tol=1e-12)


def test_proposition_7_zero_knowledge_implies_differential_at_twice_epsilon() -> None:
    premise = state_promise(ZeroKnowledge(epsilon=HALF, delta=MILLIONTH, aggregate=RandomSample(k=3), group=4))
    result = zero_knowledge_to_differential(premise).conclusion
    assert isinstance(result, DifferentialPrivacy)
    assert (result.epsilon, result.neighbours, result.group) == (Fraction(1), Neighbours.REPLACE, 4)
    assert near(result.delta, (1 + math.exp(0.5)) * 1e-6)


def test_two_steps_from_add_remove_to_replace() -> None:
    result = add_remove_to_replace(dp(HALF, MILLIONTH, group=2)).conclusion
    assert isinstance(result, DifferentialPrivacy)
    assert (result.epsilon, result.neighbours, result.group) == (Fraction(1), Neighbours.REPLACE, 2)
    assert near(result.delta, (1 + math.exp(0.5)) * 1e-6)
    with pytest.raises(Refused, match="about replacement already"):
        add_remove_to_replace(dp(HALF, replace=True))


def test_proposition_8_differential_implies_zero_knowledge_for_the_whole_table() -> None:
    result = differential_to_zero_knowledge(dp(HALF, MILLIONTH, replace=True, group=2), n=50)
    whole = RandomSample(k=50, n=50)
    assert result.conclusion == ZeroKnowledge(epsilon=HALF, delta=MILLIONTH, aggregate=whole, group=2)
    assert any("blank row" in text for text in result.all_assumptions())
    with pytest.raises(Refused, match="add_remove_to_replace first"):
        differential_to_zero_knowledge(dp(HALF), n=50)


def test_there_and_back_costs_the_factor_two_of_propositions_7_and_8() -> None:
    there = differential_to_zero_knowledge(dp(HALF, replace=True), n=10)
    assert zero_knowledge_to_differential(there).conclusion == dp(Fraction(1), replace=True).conclusion


def test_theorem_a1_numbers_and_assumptions() -> None:
    result = sanitize_sample(dp(Fraction(1), MILLIONTH, replace=True), k=100, n=1000)
    promise = result.conclusion
    assert isinstance(promise, ZeroKnowledge)
    assert near(promise.epsilon, math.log(1 + 0.1 * (math.e - 1)))
    assert promise.delta == MILLIONTH / 10
    assert promise.aggregate == RandomSample(k=100, n=1000)
    assert dict(result.numbers)["p"] == "0.1"
    assert any("ignores the order" in text for text in result.all_assumptions())
    assert any("nobody learns who" in text for text in result.all_assumptions())


def test_theorem_a1_with_the_whole_table_changes_nothing() -> None:
    promise = sanitize_sample(dp(HALF, MILLIONTH, replace=True), k=10, n=10).conclusion
    assert promise == ZeroKnowledge(epsilon=HALF, delta=MILLIONTH, aggregate=RandomSample(k=10, n=10))


def test_theorem_a1_for_groups_is_linear_in_the_group() -> None:
    one = sanitize_sample(dp(Fraction(1), MILLIONTH, replace=True), k=1, n=10).conclusion
    three = sanitize_sample(dp(Fraction(1), MILLIONTH, replace=True), k=1, n=10, group=3).conclusion
    assert isinstance(one, ZeroKnowledge)
    assert isinstance(three, ZeroKnowledge)
    assert (three.epsilon, three.group) == (3 * Fraction(one.epsilon), 3)  # type: ignore[arg-type]
    e = float(one.epsilon)  # type: ignore[arg-type]
    assert near(three.delta, 1e-7 * (1 + math.exp(e) + math.exp(2 * e)))


def test_theorem_a1_refuses_add_remove_and_impossible_samples() -> None:
    with pytest.raises(Refused, match="compares data sets of one size"):
        sanitize_sample(dp(HALF), k=1, n=2)
    with pytest.raises(WrongUse, match="k at most n"):
        sanitize_sample(dp(HALF, replace=True), k=3, n=2)


def test_theorem_a1_is_never_exceeded_and_is_attained() -> None:
    """Noisy count of a k-sample with e^epsilon = 2, in rationals, over every 0/1 table of 5 rows and every k."""
    n, ratio = 5, 2
    for k in range(1, n + 1):
        bound, worst = 1 + Fraction(k, n) * (ratio - 1), Fraction(0)
        for table in itertools.product((0, 1), repeat=n):
            blanked = (0, *table[1:])
            real, simulated = sampled_count(table, k, ratio), sampled_count(blanked, k, ratio)
            worst = max(worst, *(max(p / q, q / p) for p, q in zip(real, simulated, strict=True)))
        assert worst == bound, f"k = {k}: worst {worst}, claimed {bound}"


def sampled_count(table: tuple[int, ...], k: int, ratio: int) -> list[Fraction]:
    """The law of a noisy count of k rows drawn without replacement."""
    samples = list(itertools.combinations(table, k))
    laws = [noisy(sum(sample), k, ratio) for sample in samples]
    return [sum(column, Fraction(0)) / len(samples) for column in zip(*laws, strict=True)]


def noisy(count: int, top: int, ratio: int) -> list[Fraction]:
    """The geometric law around `count` on 0..top whose neighbours differ by exactly `ratio` everywhere."""
    b = [Fraction(1)] + [Fraction(ratio, ratio + 1)] * top + [Fraction(1)]
    return [(b[j] + b[j + 1] - 1) / Fraction(ratio) ** abs(count - j) for j in range(top + 1)]


def test_the_noise_of_the_check_above_is_a_law_with_that_ratio() -> None:
    for top in (1, 3):
        laws = [noisy(count, top, 2) for count in range(top + 1)]
        assert all(sum(law) == 1 for law in laws)
        for low, high in itertools.pairwise(laws):
            assert {max(p / q, q / p) for p, q in zip(low, high, strict=True)} == {2}


@pytest.mark.parametrize("k", [1, 2, 50])
def test_proposition_5_differential_implies_crowd_blending_for_every_k(k: int) -> None:
    assert differential_to_crowd_blending(dp(HALF, group=3), k=k).conclusion == CrowdBlending(k=k, epsilon=HALF)


def test_proposition_5_is_refused_for_replacement_with_its_witness() -> None:
    with pytest.raises(Refused, match=r"needs add/remove neighbours: the mechanism that publishes \|D\| is 0-DP"):
        differential_to_crowd_blending(dp(HALF, replace=True), k=2)


def test_crowd_blending_has_no_delta() -> None:
    calls: list[Callable[[], Derivation]] = [
        lambda: differential_to_crowd_blending(dp(HALF, MILLIONTH), k=2),
        lambda: outlier_to_crowd_blending(outlier("1", MILLIONTH), k=2),
        lambda: simple_outlier_to_crowd_blending(state_promise(SimpleOutlier(k=2, epsilon=HALF, delta=MILLIONTH))),
    ]
    for call in calls:
        with pytest.raises(Refused, match="crowd-blending has no delta"):
            call()


def test_proposition_10_differential_implies_simple_outlier() -> None:
    result = differential_to_simple_outlier(dp(Fraction(1, 100), MILLIONTH), k=100).conclusion
    assert result == SimpleOutlier(k=100, epsilon=Fraction(1), delta=MILLIONTH)
    with pytest.raises(Refused, match="needs add/remove"):
        differential_to_simple_outlier(dp(HALF, replace=True), k=2)


def test_proposition_12_simple_outlier_implies_crowd_blending() -> None:
    result = simple_outlier_to_crowd_blending(state_promise(SimpleOutlier(k=100, epsilon=Fraction(1)))).conclusion
    assert result == CrowdBlending(k=101, epsilon=Fraction(1, 100))


def test_proposition_12_agrees_with_its_form_for_curves() -> None:
    simple = state_promise(SimpleOutlier(k=100, epsilon=Fraction(1)))
    by_curve = outlier_to_crowd_blending(to_outlier(simple), k=101)
    assert by_curve.conclusion == simple_outlier_to_crowd_blending(simple).conclusion


def test_proposition_12_for_any_curve_takes_the_loss_just_below_the_crowd() -> None:
    curve = outlier("1:0.1,5:0.5,9:inf")
    losses = [outlier_to_crowd_blending(curve, k=k).conclusion for k in (2, 5, 6, 9)]
    expected = [(2, "1/10"), (5, "1/10"), (6, "1/2"), (9, "1/2")]
    assert losses == [CrowdBlending(k=k, epsilon=Fraction(e)) for k, e in expected]
    with pytest.raises(Refused, match="promises nothing to a crowd of 9"):
        outlier_to_crowd_blending(curve, k=10)
    with pytest.raises(WrongUse, match="at least 2"):
        outlier_to_crowd_blending(curve, k=1)


def test_definition_5_outlier_implies_differential_at_the_top_of_the_curve() -> None:
    result = outlier_to_differential(outlier("slope:0.01<=2", MILLIONTH)).conclusion
    assert result == DifferentialPrivacy(epsilon=Fraction(2), delta=MILLIONTH)
    for unbounded in ("slope:0.01", "1:0,9:inf"):
        with pytest.raises(Refused, match="is unbounded"):
            outlier_to_differential(outlier(unbounded))


def test_definition_5_a_flat_curve_is_differential_privacy() -> None:
    there = differential_to_outlier(dp(HALF, MILLIONTH))
    assert there.conclusion == OutlierPrivacy(curve=flat(HALF), delta=MILLIONTH)
    assert outlier_to_differential(there).conclusion == dp(HALF, MILLIONTH).conclusion
    with pytest.raises(Refused, match="needs add/remove"):
        differential_to_outlier(dp(HALF, replace=True))


def test_definition_17_simple_and_staircase_are_curves() -> None:
    for guarantee in (
        SimpleOutlier(k=3, epsilon=HALF, delta=MILLIONTH),
        StaircaseOutlier(thresholds=(9, 3), epsilons=(INFINITY, HALF, Fraction(0))),
    ):
        assert to_outlier(state_promise(guarantee)).conclusion == guarantee.as_outlier()
    already = outlier("1")
    assert to_outlier(already) is already
    with pytest.raises(Refused, match="only simple and staircase"):
        to_outlier(dp(HALF))


IMPLICATIONS: list[tuple[Callable[[Derivation], Derivation], type[Guarantee]]] = [
    (add_remove_to_replace, DifferentialPrivacy),
    (zero_knowledge_to_differential, ZeroKnowledge),
    (lambda d: differential_to_zero_knowledge(d, n=3), DifferentialPrivacy),
    (lambda d: sanitize_sample(d, k=1, n=3), DifferentialPrivacy),
    (lambda d: differential_to_crowd_blending(d, k=2), DifferentialPrivacy),
    (lambda d: differential_to_simple_outlier(d, k=2), DifferentialPrivacy),
    (differential_to_outlier, DifferentialPrivacy),
    (simple_outlier_to_crowd_blending, SimpleOutlier),
    (lambda d: outlier_to_crowd_blending(d, k=2), OutlierPrivacy),
    (outlier_to_differential, OutlierPrivacy),
]

PREMISES = [
    dp(HALF),
    dp(HALF, replace=True),
    outlier("1"),
    state_promise(SimpleOutlier(k=2, epsilon=HALF)),
    state_promise(CrowdBlending(k=2, epsilon=HALF)),
    state_promise(ZeroKnowledge(epsilon=HALF, aggregate=BernoulliSample(p=HALF))),
]


@pytest.mark.parametrize(("implication", "kind"), IMPLICATIONS)
def test_an_implication_refuses_every_other_notion(
    implication: Callable[[Derivation], Derivation], kind: type[Guarantee]
) -> None:
    accepted = 0
    for premise in PREMISES:
        try:
            result = implication(premise)
        except Refused:
            continue
        accepted += 1
        assert isinstance(premise.conclusion, kind)
        assert result.premises == (premise,)
        assert result.theorem.source
    assert accepted >= 1


@pytest.mark.parametrize("people", [2, 3])
def test_proposition_6_always_blending_is_differential_privacy_by_replacement(people: int) -> None:
    """Mechanisms on all multisets of three values: the epsilon at which everybody always blends is that of replacing."""
    values = ("a", "b", "c")
    tables = list(itertools.combinations_with_replacement(values, people))
    for seed in range(20):
        law = {table: (1 + (7 * i + seed * (i + 1) ** 2) % 11) / 13 for i, table in enumerate(tables)}  # P(output 1)

        def apart(t: str, u: str, law: dict[tuple[str, ...], float] = law) -> float:
            """How far exchanging t for u moves the output, in every table."""
            pairs = ((sorted((t, *rest)), sorted((u, *rest))) for rest in itertools.product(values, repeat=people - 1))
            found = 0.0
            for one, two in pairs:
                p, q = law[tuple(one)], law[tuple(two)]
                found = max(found, abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
            return found

        replaced = max(apart(t, u) for t in values for u in values)
        blends = max(
            sorted(apart(table[i], other) for other in table)[1] for table in tables for i in range(people)
        )  # the crowd of two that is nearest, oneself included
        assert blends == pytest.approx(replaced)
    assert always_blending_to_differential(HALF, k=2) == dp(HALF, replace=True).conclusion
    with pytest.raises(WrongUse, match="no crowd"):
        always_blending_to_differential(HALF, k=1)


@pytest.mark.parametrize(("left", "joined"), [(1, 0), (3, 1), (2, 5)])
def test_replacing_somebody_costs_the_old_crowd_and_the_new_one(left: int, joined: int) -> None:
    """Two bins of the warped channel, outcome by outcome."""
    curve = read("1:0.2,3:0.5,5:1").curve
    made = channel("warped", curve="1:0.2,3:0.5,5:1")
    outcomes = range(left + joined + 30)

    def ratios(before: int, after: int) -> list[float]:
        return [float(abs((made.law(before).mass(x) / made.law(after).mass(x)).log())) for x in outcomes]

    worst = max(ratios(left, left - 1)) + max(ratios(joined, joined + 1))
    assert near(replacement_loss(curve, left, joined), worst)
    with pytest.raises(WrongUse, match="at least 1"):
        replacement_loss(curve, 0, 0)


def test_proposition_12_prints_the_numbers_that_it_concludes() -> None:
    step = simple_outlier_to_crowd_blending(state_promise(SimpleOutlier(k=100, epsilon=Fraction(1))))
    assert dict(step.numbers) == {"k": "100", "epsilon": "1", "k_out": "101", "epsilon_out": "0.01"}
    curve = outlier_to_crowd_blending(outlier("1:0.1,5:0.5"), k=6)
    assert dict(curve.numbers) == {"k": "6", "epsilon_out": "0.5"}
