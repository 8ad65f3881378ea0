"""What several releases promise together: each rule with its exact numbers, and what no theorem covers is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import Refused
from hubbub.guarantees.accountant.advanced_composition import FIXED
from hubbub.guarantees.composition import EXACT_CROWDS
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import ADAPTIVE_DELTA, UNCHANGED, Entered, Totals, admit, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.running_total import running_total_of
from hubbub.numeric.exact import Infinite
from hubbub.protocol.bound import Bound
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.privacy_unit import Unit
from tests.unit.ledger.charges import BY_ID, KINDS, NOTIONS, A, charge, releases, together, told


def refused(*names: str) -> str:
    *earlier, new = releases(*names)
    with pytest.raises(Refused) as error:
        admit(earlier, new, "town")
    return str(error.value)


# --- one by one -----------------------------------------------------------------------------------------------------


def test_differential_privacy_adds() -> None:
    found = together("plain", "plain by b", "two bins", "group", "sampled plain").differential.guarantee
    sampled = subsampled_loss(Fraction(1), Fraction(1, 10))  # of the two that a sample leaves, the smaller
    assert isinstance(sampled, Fraction)
    assert found == DifferentialPrivacy(
        epsilon=1 + Fraction(1, 4) + 1 + Fraction(1, 10) + sampled
    )  # of two bins, one in all


def test_deltas_add_too() -> None:
    found = together("sampled crowd", "sampled crowd by b", "curve").differential.guarantee
    assert isinstance(found, DifferentialPrivacy)
    assert found.delta == Fraction(2, 10**9)


def test_what_is_computed_from_a_first_noise_has_no_delta_for_everybody() -> None:
    found = together("example 4", "example 4", "curve").differential.guarantee
    assert found == DifferentialPrivacy(epsilon=Fraction(3))
    assert together("crowd", "example 4").crowd_blending.guarantee == CrowdBlending(k=20, epsilon=Fraction(2))


def test_fresh_samples_add_and_so_does_what_may_be_known() -> None:
    parts = [charge(name).zero_knowledge for name in ("sampled crowd", "sampled crowd by b", "sampled plain")]
    found = together("sampled crowd", "sampled crowd by b", "sampled plain").zero_knowledge.guarantee
    assert isinstance(found, ZeroKnowledge)
    assert found.epsilon == sum((part.epsilon for part in parts if part is not None), Fraction(0))
    assert found.delta == Fraction(2, 10**9)
    assert found.aggregate == BernoulliSample(p=1 - Fraction(9, 10) * Fraction(19, 20) * Fraction(9, 10))


def test_one_release_without_a_sample_ends_zero_knowledge() -> None:
    total = together("sampled crowd", "plain").zero_knowledge
    assert total.guarantee is None
    assert "release 2" in total.why


def test_a4_questions_on_one_collected_sample_are_composed_inside() -> None:
    total = together("collected plain", "plain by b", "plain")
    epsilon = subsampled_loss(Fraction(9, 4), Fraction(1, 20))
    assert total.zero_knowledge.guarantee == ZeroKnowledge(
        epsilon=epsilon, aggregate=BernoulliSample(p=Fraction(1, 20))
    )
    assert total.population.guarantee == DifferentialPrivacy(epsilon=epsilon)
    assert Fraction("0.3537413") < epsilon < Fraction("0.3537414")  # ln(1 + p (e^2.25 - 1))


def test_a_collected_sample_carries_crowds_of_one_partition() -> None:
    one = together("collected crowd")
    assert isinstance(one.zero_knowledge.guarantee, ZeroKnowledge)
    assert one.zero_knowledge.guarantee.aggregate == BernoulliSample(p=Fraction(1, 20))
    assert "Four ways out" in refused("collected crowd", "crowd by b")
    again = together("collected crowd", "collected crowd")
    assert again.crowd_blending.guarantee == one.crowd_blending.guarantee
    first, second = one.population.guarantee, again.population.guarantee
    assert isinstance(first, DifferentialPrivacy)
    assert isinstance(second, DifferentialPrivacy)
    assert first.epsilon <= second.epsilon  # by Theorem A for any crowds, no longer bin by bin


def test_beside_a_collected_crowd_there_is_room_for_noise() -> None:
    alone, both = together("collected crowd"), together("collected crowd", "plain by b")
    assert both.crowd_blending.guarantee == CrowdBlending(k=20, epsilon=Fraction(1, 2))
    first, second = alone.population.guarantee, both.population.guarantee
    assert isinstance(first, DifferentialPrivacy)
    assert isinstance(second, DifferentialPrivacy)
    assert first.delta == second.delta == Fraction(1, 10**9)
    assert first.epsilon < second.epsilon


def test_a_table_was_collected_in_one_way() -> None:
    assert "collected in one way" in refused("collected plain", "uneven crowd")
    assert "different ways" in together("collected plain", "uneven crowd").population.why


def test_proposition_8_crowd_blending_with_differential() -> None:
    # The crowds of a table of bins are exact: an exchange costs 2 E, a removal e + E, and not e + 2 E.
    assert together("noisy crowd", "plain").crowd_blending.guarantee == CrowdBlending(k=20, epsilon=Fraction(2))
    both = together("plain by b", "noisy crowd", "plain").crowd_blending.guarantee
    assert both == CrowdBlending(k=20, epsilon=2 * Fraction(5, 4))
    few = together("noisy crowd", "plain by b").crowd_blending
    assert few.guarantee == CrowdBlending(k=20, epsilon=Fraction(3, 4))
    assert few.derivation is not None
    assert EXACT_CROWDS in few.derivation.assumptions


def test_proposition_8_with_noise_on_a_sample_takes_the_smaller_loss() -> None:
    sampled = subsampled_loss(Fraction(1), Fraction(1, 10))
    assert isinstance(sampled, Fraction)
    assert together("crowd", "sampled plain").crowd_blending.guarantee == CrowdBlending(k=20, epsilon=2 * sampled)


def test_proposition_8_with_a_sampled_crowd_in_front() -> None:
    assert together("sampled crowd", "plain").crowd_blending.guarantee == CrowdBlending(k=20, epsilon=Fraction(2))


@pytest.mark.parametrize("second", ["sampled crowd by b", "endless", "crowd by b", "one row"])
def test_proposition_8_needs_a_pure_one_beside_it(second: str) -> None:
    assert together("crowd", second).crowd_blending.guarantee is None
    assert refused("crowd", second)
    assert refused(second, "crowd")


@pytest.mark.parametrize(
    ("names", "promise"),
    [
        (("crowd", "crowd"), CrowdBlending(k=20, epsilon=Fraction(0))),
        (("crowd", "noisy crowd", "noisy crowd"), CrowdBlending(k=20, epsilon=Fraction(1))),
        (("sampled crowd", "crowd"), CrowdBlending(k=20, epsilon=Fraction(0))),
        (("small crowd", "noisy crowd"), CrowdBlending(k=5, epsilon=Fraction(1, 2))),
        (("noisy crowd", "crowd", "plain by b"), CrowdBlending(k=20, epsilon=Fraction(3, 4))),
    ],
)
def test_composition_on_one_partition_crowd_blending(names: tuple[str, ...], promise: CrowdBlending) -> None:
    """Whatever the order, and whether all are looked at or stand-ins for them."""
    for order in permutations(names):
        *earlier, new = releases(*order)
        found = admit(earlier, new, "town")
        assert found.crowd_blending.guarantee == promise
        assert found.crowd_blending.derivation is not None
        assert any("did not change" in text for text in found.crowd_blending.derivation.all_assumptions())
    in_turn = running_total_of(releases(*names), len(names)).stand_ins
    assert totals(in_turn).crowd_blending.guarantee is not None


def test_crowds_of_other_bins_stay_refused_whatever_was_on_one_partition() -> None:
    assert "Four ways out" in refused("crowd", "crowd", "crowd by b")
    assert "Four ways out" in refused("crowd", "crowd by c", "crowd")
    in_turn = running_total_of(releases("crowd", "crowd by b", "crowd by c", "crowd by c"), 4).stand_ins
    assert totals(in_turn).crowd_blending.guarantee is None


@pytest.mark.parametrize("second", ["crowd by b", "endless by b", "one row"])
def test_proposition_7_a_second_crowd_is_refused_with_four_ways_out(second: str) -> None:
    sentence = refused("crowd", second)
    for words in (
        "town already has release 1 (histogram by a), which is (20, 0)-crowd-blending",
        "one can be subtracted from the other",
        "publish a function of release 1",
        "make this release differentially private",
        "(k, max(2 E, e + E))-crowd-blending (Prop. 8, exact crowds)",
        "draw a fresh secret sample",
        "publish both tables as one cube",
        "dataset=NAME",
    ):
        assert words in sentence


def test_what_noise_would_cost_beside_crowds_that_are_not_exact_is_told() -> None:
    """As it is then charged: points of one cell are interchangeable up to epsilon alone."""
    first = replace(charge("crowd"), exact_crowds=False)
    with pytest.raises(Refused, match=r"\(k, e \+ 2 E\)-crowd-blending \(Prop\. 8\)"):
        admit([Entered(number=1, charge=first)], Entered(number=2, charge=first), "town")


def test_what_no_theorem_covers_is_refused_with_each_reason() -> None:
    sentence = refused("sampled crowd", "crowd by b")
    assert all(words in sentence for words in ("differential privacy: release 2", "zero-knowledge: release 2"))


def test_curves_on_one_partition_add() -> None:
    total = together("curve", "endless", "plain", "example 4").outlier
    promise = total.guarantee
    assert isinstance(promise, OutlierPrivacy)
    assert total.derivation is not None
    # up to 20: 0.01 + 0 + 1 + 1/20; from 21 on nothing
    assert str(promise.curve) == "1:1.06,21:inf"
    assert promise.delta == getattr(charge("example 4").curve, "delta") <= Fraction(1, 10**6)  # noqa: B009
    assert UNCHANGED in total.derivation.assumptions


def test_curves_on_several_partitions_add_person_by_person() -> None:
    total = together("curve", "curve by b").outlier
    assert total.guarantee == OutlierPrivacy(curve=flat(Fraction(3, 2)))
    assert total.why == (
        "a person loses at most e1(c1) + e2(c2), where c is the person's crowd in each release: "
        "e1 = [1:0.01,101:1]; e2 = [1:0.02,51:0.5]"
    )


def test_one_partition_may_promise_nothing_to_large_crowds_and_says_what_is_left_to_them() -> None:
    total = together("endless", "plain by b", "endless").outlier
    assert isinstance(total.guarantee, OutlierPrivacy)
    assert isinstance(total.guarantee.curve.limit, Infinite)
    assert total.why.endswith("exchanging two people of the same crowd there changes at most 0.5")
    with_delta = together("endless by b", "example 4").outlier.why
    assert "changes at most (2, 0.00000138616" in with_delta  # (1 + e) 3.7e-7


def test_two_partitions_that_promise_nothing_to_large_crowds_are_refused() -> None:
    assert "alone in both together" in together("endless", "endless by b").outlier.why
    assert refused("endless", "endless by b")
    assert refused("endless", "one row, endless")
    assert refused("one row, endless", "one row, endless")  # rows are chosen anew, so it is another partition
    assert admit(releases("endless"), releases("endless", "endless")[1], "town").holds


def test_names_of_partitions_differ_where_people_may_stand_elsewhere() -> None:
    assert charge("crowd").partition == charge("plain").partition
    assert charge("one row").partition is None
    assert charge("two bins").partition is None
    by_row = histogram([A], epsilon=1)
    found = histogram(["a"], crowd=20, unit=BY_ID)
    names = {charge("plain").partition, charge_of(Bound(by_row)).partition, charge("plain by b").partition}
    assert len(names | {charge_of(Bound(found)).partition}) == 4


def test_deltas_that_add_up_to_one_promise_nothing() -> None:
    delta = Fraction(3, 20)
    promises = (OutlierPrivacy(curve=flat(1), delta=delta), DifferentialPrivacy(epsilon=Fraction(1), delta=delta))
    one = replace(charge("curve"), promises=promises)
    many = [Entered(number=i, charge=one) for i in range(1, 11)]
    assert totals(many[:5]).holds
    whole = totals(many)
    assert not whole.holds
    assert whole.differential.why == whole.outlier.why == "their deltas add up to 1, and that promises nothing"
    with pytest.raises(Refused):
        admit(many[:-1], many[-1], "town")


def test_a_charge_is_the_same_after_the_ledger() -> None:
    for name in KINDS:
        assert restored(Charge, plain(charge(name))) == charge(name)


def test_promises_about_unlike_people_do_not_add_up() -> None:
    """A row more is less than a person more, whose rows may be many: neither loss bounds the other's."""
    by_row, by_name = Unit(), Unit(person="name")
    for words in ({"epsilon": 1}, {"crowd": 20, "epsilon": 1, "sample": "0.1"}):
        for unit in (by_row, by_name):
            other = Entered(number=2, charge=charge_of(Bound(histogram([A], unit=unit, **words))))  # type: ignore[arg-type]
            with pytest.raises(Refused, match="promises about unlike people do not add up"):
                admit(releases("plain"), other, "town")


def test_what_a_collected_sample_buys_is_bought_for_the_population() -> None:
    for names in (("collected crowd",), ("collected crowd", "plain by b"), ("collected plain", "plain")):
        total = together(*names)
        for part in (total.zero_knowledge, total.population):
            assert part.derivation is not None
            assert part.derivation.people == People(whose=Whose.POPULATION, person="id")
    fresh = together("sampled crowd").zero_knowledge.derivation
    assert fresh is not None
    assert fresh.people == People(person="id")


# --- all of them ----------------------------------------------------------------------------------------------------


def test_the_order_of_releases_changes_no_total() -> None:
    for pair in combinations_with_replacement(KINDS, 2):
        assert told(together(*pair)) == told(together(*reversed(pair))), pair
    for names in (
        ("plain", "noisy crowd", "curve by b"),
        ("sampled crowd", "crowd", "sampled plain"),
        ("endless",) * 3,
    ):
        for order in permutations(names):
            assert told(together(*order)) == told(together(*names)), order


def _loss(promise: object) -> tuple[Any, Fraction]:
    if isinstance(promise, OutlierPrivacy):
        return promise.curve.limit, promise.delta
    if hasattr(promise, "as_outlier"):
        return promise.as_outlier().curve.limit, promise.delta  # type: ignore[attr-defined]
    return getattr(promise, "epsilon"), getattr(promise, "delta", Fraction(0))  # noqa: B009


@given(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=4), st.sampled_from([*KINDS]), st.randoms())
def test_totals_never_shrink_and_never_come_back(names: list[str], more: str, draw: Any) -> None:
    before, after = together(*names), together(*names, more)
    for notion in NOTIONS:
        old, new = getattr(before, notion).guarantee, getattr(after, notion).guarantee
        if notion == "zero_knowledge" and charge(more).collected is not None:
            continue  # what a collected sample buys comes with the declaration of it
        if notion in ("crowd_blending", "outlier") and old is None:
            continue  # where there was none to tell, one release may bring the notion in
        assert old is not None or new is None, (notion, names, more)
        if new is not None:
            assert all(a <= b for a, b in zip(_loss(old), _loss(new), strict=True)), (notion, names, more)
    shuffled = [*names, more]
    draw.shuffle(shuffled)
    assert told(together(*shuffled)) == told(after)


def _fallen(names: Sequence[str]) -> bool:
    return not together(*names).holds


def test_what_was_refused_stays_refused_whatever_is_added() -> None:
    for names in combinations_with_replacement(KINDS, 2):
        if _fallen(names):
            assert all(_fallen((*names, more)) for more in KINDS), names


def many(name: str, times: int) -> Totals:
    return totals([Entered(number=i, charge=charge(name)) for i in range(1, times + 1)])


def test_many_releases_lose_less_at_a_delta_however_each_was_chosen() -> None:
    fifty = many("plain by b", 50)
    assert fifty.differential.guarantee == DifferentialPrivacy(epsilon=Fraction(50, 4))
    assert fifty.adaptive.derivation is not None
    found = fifty.adaptive.derivation.conclusion
    assert isinstance(found, DifferentialPrivacy)
    assert found.delta == ADAPTIVE_DELTA
    assert float(found.epsilon) == pytest.approx(11.548, rel=1e-3)
    assert FIXED not in fifty.adaptive.derivation.assumptions
    few = many("plain", 2).adaptive
    assert few.guarantee is None
    assert "the sum" in few.why


def test_noise_on_samples_composes_by_the_law_of_the_sample() -> None:
    fifty = many("sampled plain", 50)
    basic, adaptive = fifty.differential.guarantee, fifty.adaptive.guarantee
    assert isinstance(basic, DifferentialPrivacy)
    assert isinstance(adaptive, DifferentialPrivacy)
    assert float(basic.epsilon) == pytest.approx(7.928, rel=1e-3)  # type: ignore[arg-type]
    assert float(adaptive.epsilon) == pytest.approx(5.259, rel=1e-3)  # type: ignore[arg-type]
