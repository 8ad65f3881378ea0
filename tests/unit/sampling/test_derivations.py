"""Derivations through a sample: which promise comes out, with which numbers, under which assumptions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.channels.sampled import (
    BINS,
    ONE_RELEASE,
    PERSONS,
    collected_crowd_blending,
    distributional,
    sampled_crowd_blending,
)
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    Neighbours,
    OutlierPrivacy,
    RobustSample,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation, state_promise
from hubbub.guarantees.implications import simple_outlier_to_crowd_blending
from hubbub.numeric.exact import INFINITY, to_text
from hubbub.sampling.amplification import crowd_blending, delta_at, epsilon_at, noisy_below, robust

TENTH, HALF, MILLIONTH = Fraction(1, 10), Fraction(1, 2), Fraction(1, 10**6)


def crowd(k: int = 20, epsilon: Fraction = HALF) -> Derivation:
    return state_promise(CrowdBlending(k=k, epsilon=epsilon))


def number(step: Derivation, name: str) -> str:
    return dict(step.numbers)[name]


def test_a_sampled_crowd_is_zero_knowledge_and_differentially_private() -> None:
    knowledge, population = sampled_crowd_blending(crowd(), TENTH, at_delta="1e-6")
    epsilon = epsilon_at(crowd_blending(20, "0.5", "0.1"), "1e-6").epsilon
    assert knowledge.conclusion == ZeroKnowledge(epsilon=epsilon, delta=MILLIONTH, aggregate=BernoulliSample(p=TENTH))
    assert population.conclusion == DifferentialPrivacy(epsilon=epsilon, delta=MILLIONTH)
    assert isinstance(population.conclusion, DifferentialPrivacy)
    assert population.conclusion.neighbours is Neighbours.ADD_REMOVE
    for step in (knowledge, population):
        assert step.theorem.id == "sampled.crowd-blending"
        assert "CRYPTO 2012" in step.theorem.source
        assert step.premises[0].conclusion == CrowdBlending(k=20, epsilon=HALF)
        assert [each.id for each in step.assumptions] == ["sampled-secretly", ONE_RELEASE.id]
        assert str(step.assumptions[0]) == (
            "each person was sampled independently with probability 0.1 and the sample is secret"
        )
        assert number(step, "crowd") == "20"
        assert number(step, "rate") == number(step, "own_rate") == "0.1"
        assert number(step, "removal") == number(step, "blending") == "0.5"
        assert number(step, "epsilon_out") == to_text(epsilon)
        assert number(step, "delta_out") == "0.000001"
        assert number(step, "direction_out") == "joining"


def test_the_numbers_can_be_worked_out_again() -> None:
    step, _ = sampled_crowd_blending(crowd(), TENTH, at_delta="1e-6")
    again = delta_at(
        crowd_blending(number(step, "crowd"), number(step, "removal"), number(step, "rate")),
        number(step, "epsilon_out"),
    )
    assert again.delta <= Fraction(number(step, "delta_out"))
    assert str(again.worst_class_size) == number(step, "others_out")


def test_a_histogram_loses_less_and_says_why() -> None:
    general, _ = sampled_crowd_blending(crowd(), TENTH, at_delta="1e-6")
    histogram, _ = sampled_crowd_blending(crowd(), TENTH, at_delta="1e-6", bins=True)
    assert isinstance(general.conclusion, ZeroKnowledge)
    assert isinstance(histogram.conclusion, ZeroKnowledge)
    assert histogram.conclusion.epsilon < general.conclusion.epsilon
    assert histogram.conclusion.epsilon == epsilon_at(noisy_below(20, "0.5", "0.1"), "1e-6").epsilon
    assert BINS in histogram.assumptions
    assert BINS not in general.assumptions


def test_a_delta_below_the_floor_is_refused_with_the_reason() -> None:
    with pytest.raises(Refused, match=r"at every epsilon the delta is at least .* 1e-20.*lower the rate, or raise k"):
        sampled_crowd_blending(crowd(), TENTH, at_delta="1e-21")
    with pytest.raises(Refused, match="a whole crowd is sampled"):
        sampled_crowd_blending(crowd(), Fraction(1), at_delta="1e-6")


def test_nobody_sampled_loses_nothing() -> None:
    knowledge, _ = sampled_crowd_blending(crowd(), Fraction(0), at_delta="1e-6")
    assert knowledge.conclusion == ZeroKnowledge(
        epsilon=Fraction(0), delta=MILLIONTH, aggregate=BernoulliSample(p=Fraction(0))
    )


def test_only_crowd_blending_will_do() -> None:
    with pytest.raises(Refused, match="starts from crowd-blending privacy"):
        sampled_crowd_blending(state_promise(DifferentialPrivacy(epsilon=HALF)), TENTH, at_delta="1e-6")
    with pytest.raises(Refused, match="infinite"):
        sampled_crowd_blending(state_promise(CrowdBlending(k=5, epsilon=INFINITY)), TENTH, at_delta="1e-6")


def test_collected_data_drops_the_lower_limit_and_says_so() -> None:
    sample = RobustSample(low=Fraction(8, 100), high=Fraction(12, 100), highest=Fraction(1), exempt=5)
    knowledge, population = collected_crowd_blending(crowd(50), sample, at_delta="1e-6")
    epsilon = epsilon_at(robust(50, "0.5", "0.12", 1, 5), "1e-6").epsilon
    without = RobustSample(low=Fraction(0), high=Fraction(12, 100), highest=Fraction(1), exempt=5)
    assert knowledge.conclusion == ZeroKnowledge(epsilon=epsilon, delta=MILLIONTH, aggregate=without)
    assert population.conclusion == DifferentialPrivacy(epsilon=epsilon, delta=MILLIONTH)
    assert population.theorem.id == "sampled.unevenly"
    assert [each.id for each in population.assumptions] == ["sampled-secretly-unevenly", ONE_RELEASE.id]
    assert str(population.assumptions[0]) == (
        "each person was sampled independently, with a probability of at most 0.12, but for 5 with at most 1, and the "
        "sample is secret"
    )
    assert (number(knowledge, "crowd_1"), number(knowledge, "crowd_2")) == ("45", "46")
    assert (number(knowledge, "own_rate_1"), number(knowledge, "own_rate_2")) == ("0.12", "1")


def test_collected_at_one_rate_is_theorem_a() -> None:
    even = collected_crowd_blending(crowd(), BernoulliSample(p=TENTH), at_delta="1e-6")
    assert even == sampled_crowd_blending(crowd(), TENTH, at_delta="1e-6")
    plain = RobustSample(low=TENTH, high=TENTH, highest=TENTH, exempt=0)
    _, population = collected_crowd_blending(crowd(), plain, at_delta="1e-6")
    assert population.conclusion == even[1].conclusion


def test_outliers_are_hidden_by_not_knowing_the_data() -> None:
    premise = state_promise(SimpleOutlier(k=50, epsilon=Fraction(0)))
    step = distributional(premise, BernoulliSample(p=TENTH), at_delta="1e-6")
    assert isinstance(step.conclusion, DistributionalPrivacy)
    assert isinstance(step.conclusion.epsilon, Fraction)
    assert f"{float(step.conclusion.epsilon):.3f}" == "0.694"
    assert step.conclusion.sample == BernoulliSample(p=TENTH)
    assert step.theorem.id == "sampled.distributional"
    assert "TCC 2015" in step.theorem.source
    assert PERSONS in step.assumptions
    assert ONE_RELEASE in step.assumptions
    # Crowd-blending, derived from the same premise, says the same.
    again = distributional(simple_outlier_to_crowd_blending(premise), BernoulliSample(p=TENTH), at_delta="1e-6")
    assert again.conclusion == step.conclusion


def test_distributional_with_uneven_rates() -> None:
    sample = RobustSample(low=TENTH, high=Fraction(1, 5), highest=Fraction(1), exempt=3)
    step = distributional(state_promise(SimpleOutlier(k=50, epsilon=Fraction(1))), sample, at_delta="1e-6")
    assert isinstance(step.conclusion, DistributionalPrivacy)
    assert step.conclusion.sample == RobustSample(low=Fraction(0), high=Fraction(1, 5), highest=Fraction(1), exempt=3)
    assert (number(step, "crowd"), number(step, "own_rate")) == ("48", "1")
    assert (number(step, "removal"), number(step, "blending")) == ("0.02", "0")


def test_distributional_refuses_what_it_cannot_start_from() -> None:
    sample = BernoulliSample(p=TENTH)
    with pytest.raises(Refused, match="starts from delta = 0"):
        distributional(state_promise(SimpleOutlier(k=5, epsilon=HALF, delta=MILLIONTH)), sample, at_delta="1e-6")
    with pytest.raises(Refused, match="starts from crowd-blending privacy"):
        distributional(state_promise(OutlierPrivacy(curve=flat(HALF))), sample, at_delta="1e-6")
    with pytest.raises(WrongUse, match="promises nothing"):
        distributional(state_promise(SimpleOutlier(k=5, epsilon=HALF)), sample, at_delta=1)


def test_bins_that_blend_exactly_help_only_without_a_delta() -> None:
    def reached(delta: Fraction, *, bins: bool) -> float:
        premise = state_promise(CrowdBlending(k=20, epsilon=HALF, delta=delta))
        step = distributional(premise, BernoulliSample(p=TENTH), at_delta="1e-6", bins=bins)
        assert isinstance(step.conclusion, DistributionalPrivacy)
        return float(step.conclusion.epsilon)  # type: ignore[arg-type]

    assert reached(Fraction(0), bins=True) < 0.8 * reached(Fraction(0), bins=False)
    assert reached(MILLIONTH / 1000, bins=True) == reached(MILLIONTH / 1000, bins=False)
