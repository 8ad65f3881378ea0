"""Promises derived before any data is opened: the channel's own first, then what follows, by theorems with names."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import pytest

from hubbub.channels.catalogue import CHANNELS, cards
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.profile import checkable, decide, loss_curve
from hubbub.channels.subsample import Subsampled
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import (
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    RobustSample,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.implications import CURVE_OF_LAWS, CURVE_OF_WARPED
from hubbub.guarantees.implications import CURVE_ON_A_SAMPLE as THINNED
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.verdict import Refuted
from hubbub.kinds.histogram.discovery import discovery_cost
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.spec import Histogram
from hubbub.numeric.exact import Infinite, rounded
from hubbub.tables.privacy_unit import Unit

WORDS: dict[str, dict[str, Any]] = {
    "exact-or-suppressed": {"crowd": 20},
    "noisy-below": {"crowd": 20, "epsilon": "0.5"},
    "geometric": {"epsilon": 1},
    "gaussian": {"channel": "gaussian", "epsilon": 1, "options": {"variance": 18}},
    "group": {"channel": "group", "epsilon": 1, "options": {"k": 100}},
    "simple-suppressed": {"channel": "simple-suppressed", "options": {"k": 100}},
    "simple-noisy": {"channel": "simple-noisy", "epsilon": 4, "options": {"k": 20}},
    "outlier-suppressed": {"channel": "outlier-suppressed", "epsilon": 1, "options": {"k": 100, "alpha": 10}},
    "outlier-noisy": {"channel": "outlier-noisy", "epsilon": 1, "options": {"k": 100, "alpha": 10}},
    "staircase": {
        "channel": "staircase",
        "options": {"thresholds": "1000,100,10", "epsilons": "1,0.1,0.01,0", "alpha": 10},
    },
    "lower-bound": {
        "channel": "lower-bound",
        "options": {"curve": "1:0.01,101:1", "estimator": "count", "epsilon_a": "0.005", "alpha": 10},
    },
    "lecture": {"channel": "lecture", "epsilon": "0.2", "options": {"t": 50, "K": 200}},
    "warped": {"outlier": "1:0.01,101:1"},
}
HIDING = ("exact-or-suppressed", "simple-suppressed", "outlier-suppressed", "staircase")  # a hidden bin looks absent
CROWDS = ("exact-or-suppressed", "noisy-below", "simple-suppressed", "simple-noisy")  # promise something to crowds


def asked(name: str, by: tuple[str, ...] = ("a=x,y",), **more: Any) -> tuple[Histogram, tuple[Derivation, ...]]:
    spec = histogram(by, **WORDS[name], **more)
    return spec, tuple(each for each in spec.promises() if not isinstance(each.conclusion, ConcentratedPrivacy))


def test_every_channel_has_words_here_and_a_statement_behind_its_claim() -> None:
    assert set(WORDS) == set(CHANNELS)
    assert {card.statement.id for card in cards().values()} == {f"channel.{name}" for name in WORDS}


@pytest.mark.parametrize("name", WORDS)
def test_the_first_promise_is_the_channels_own(name: str) -> None:
    spec, (own, *following) = asked(name)
    assert own.conclusion == spec.channel.claim
    assert own.theorem == cards()[name].statement
    assert "the bins are a public partition" in own.all_assumptions()
    assert "every declared bin is published, empty ones too" in own.all_assumptions()
    assert spec.unit.assumption in own.assumptions
    assert any(text.startswith("a: missing values count as not listed") for text in own.all_assumptions())
    for step in following:  # the rest is differential privacy, where every crowd's loss is bounded
        assert isinstance(step.conclusion, DifferentialPrivacy | ConcentratedPrivacy)
        assert step.premises or isinstance(step.conclusion, ConcentratedPrivacy)


@pytest.mark.parametrize("name", ["warped", "outlier-suppressed", "geometric"])
def test_what_is_promised_holds_by_the_exact_checker(name: str) -> None:
    spec, derived = asked(name)
    for step in derived:
        assert not isinstance(decide(spec.channel, step.conclusion, limit=60), Refuted)


def test_the_exact_checker_refutes_a_promise_that_is_too_good() -> None:
    assert isinstance(decide(Geometric(Fraction(1)), DifferentialPrivacy(epsilon=Fraction(99, 100)), limit=60), Refuted)


# --- bins found in the data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORDS)
def test_bins_are_found_only_where_absent_means_hidden(name: str) -> None:
    if name not in HIDING:
        with pytest.raises(Refused, match="declare the values, like by"):
            asked(name, ("a",))
        return
    spec, (own, *_) = asked(name, ("a", "b=x"))
    price = rounded(discovery_cost(spec.channel), up=True)
    assert dict(own.numbers)["price_out"]
    assert own.theorem.id == "bins.found"
    delta = getattr(own.conclusion, "delta", Fraction(0))
    assert delta >= price
    assert delta >= getattr(spec.channel.claim, "delta", Fraction(0))


def test_a_price_is_added_to_what_follows() -> None:
    spec = histogram(["a"], outlier="1:1", show_above=3)
    own, bounded = spec.promises()
    price = rounded(discovery_cost(spec.channel), up=True)
    assert price > 0
    assert own.conclusion.delta == bounded.conclusion.delta == price  # type: ignore[union-attr]


# --- samples ------------------------------------------------------------------------------------------------------

P = Fraction(1, 20)


@pytest.mark.parametrize("name", WORDS)
def test_a_secret_sample_buys_zero_knowledge_and_privacy_for_the_population(name: str) -> None:
    spec, derived = asked(name, sample="0.05")
    if name in CROWDS:
        derived, last = derived[:-1], derived[-1]
        assert isinstance(last.conclusion, DistributionalPrivacy)
        assert last.conclusion.sample == BernoulliSample(p=P)
    knowledge, population = (step.conclusion for step in derived[-2:])
    assert isinstance(knowledge, ZeroKnowledge)
    assert isinstance(population, DifferentialPrivacy)
    assert knowledge.aggregate == BernoulliSample(p=P)
    assert (knowledge.epsilon, knowledge.delta) == (population.epsilon, population.delta)
    if name in CROWDS:
        theorem_a = Subsampled(P, spec.channel).claim
        assert population.delta == Fraction(1, 10**9)
        assert population.epsilon <= theorem_a.epsilon
        assert (population == theorem_a) == name.endswith("suppressed")  # noise that is not marked is more private
    else:
        _, unsampled = asked(name)
        bounded = unsampled[-1].conclusion
        assert isinstance(bounded, DifferentialPrivacy)
        assert (population.epsilon, population.delta) == (subsampled_loss(bounded.epsilon, P), P * bounded.delta)


@pytest.mark.parametrize("name", sorted({*WORDS} - {"geometric", "group", "gaussian"}))
def test_the_own_promise_of_a_sampled_release_is_that_of_the_sample(name: str) -> None:
    spec, (own, *_) = asked(name, sample="0.05")
    assert own.theorem in (THINNED, CURVE_OF_LAWS, CURVE_OF_WARPED)
    assert own.premises[0].conclusion == spec.channel.claim
    before, after = loss_curve(checkable(spec.channel.claim)), loss_curve(checkable(own.conclusion))
    for count in (1, 2, 19, 20, 21, 99, 100, 101, 149, 150, 1000, 1001, 5000):
        assert after.at(count) <= before.at(count)
        if own.theorem == CURVE_OF_WARPED:
            assert after.at(count) <= subsampled_loss(before.at(count), P)
            continue
        assert subsampled_loss(before.at(count), P) <= after.at(count)
        if before.piece(count).rate == 0:
            assert after.at(count) == subsampled_loss(before.at(count), P)


def test_a_sample_that_buys_nothing_is_refused_with_the_next_step() -> None:
    with pytest.raises(Refused, match="lower the rate, or raise k or delta"):
        asked("exact-or-suppressed", sample="0.9")
    spec = histogram(["a=x"], outlier="1:0.1,10:inf", sample="0.1")
    with pytest.raises(Refused, match="or leave out sample"):
        spec.promises()


@pytest.mark.parametrize("name", WORDS)
def test_a_sample_by_somebody_else_buys_something_for_crowds_and_at_one_rate_for_noise(name: str) -> None:
    if name not in CROWDS:
        _, derived = asked(name, collected="0.05")
        _, drawn = asked(name, sample="0.05")
        assert [step.conclusion for step in derived[-2:]] == [step.conclusion for step in drawn[-2:]]
        with pytest.raises(Refused, match="or leave out collected"):
            asked(name, collected_between=("0.03", "0.06"))
        return
    _, derived = asked(name, collected="0.05")
    assert isinstance(derived[-1].conclusion, DistributionalPrivacy)
    assert derived[-1].conclusion.sample == BernoulliSample(p=P)
    _, uneven = asked(name, collected_between=("0.03", "0.06"), exempt=5)
    sample = uneven[-1].conclusion.sample  # type: ignore[union-attr]
    assert isinstance(sample, RobustSample)
    assert (sample.high, sample.exempt) == (Fraction(3, 50), 5)
    for even, worse in zip(derived[-3:], uneven[-3:], strict=True):
        assert even.conclusion.epsilon < worse.conclusion.epsilon  # type: ignore[union-attr]


# --- a person in several bins -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORDS)
def test_a_person_in_several_bins_costs_so_many_times_as_much(name: str) -> None:
    unit = Unit(person="id", distinct=2)
    if name == "gaussian":
        with pytest.raises(WrongUse, match="like mechanism=gaussian"):
            asked(name, unit=unit)
        return
    if name not in ("geometric", "group"):
        with pytest.raises(Refused, match="one_row_per_person=True"):
            asked(name, unit=unit)
        return
    spec, (only,) = asked(name, unit=unit)
    claim = spec.channel.claim
    assert isinstance(claim, DifferentialPrivacy)
    assert only.conclusion == DifferentialPrivacy(epsilon=2 * claim.epsilon)  # type: ignore[operator]
    assert unit.assumption in only.assumptions


def test_one_row_per_person_keeps_the_claim() -> None:
    unit = Unit(person="id", one_row_per_person=True)
    _, (own,) = asked("exact-or-suppressed", unit=unit)
    assert own.conclusion == CrowdBlending(k=20, epsilon=Fraction(0))
    assert unit.assumption in own.assumptions


def test_promises_are_values_without_arrays() -> None:
    """What is derived before data is opened cannot hold any of it: numbers, texts and values made of them."""

    def walk(value: object) -> None:
        if is_dataclass(value):
            for field in fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, tuple):
            for part in value:
                walk(part)
        else:
            assert isinstance(value, str | int | Fraction | Infinite | Enum | None)

    for name in WORDS:
        for step in asked(name)[1]:
            walk(step)
